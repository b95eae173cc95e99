/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of `perf script`: each line becomes a record, or is counted among what became none. */
#include "tests/fuzz/fuzz.h"
#include "trace/trace.h"
#include <string.h>

static void expect_readable(struct text text)
{
	volatile char sum = 0;

	FUZZ_EXPECT(text.length <= INPUT_LINE_MOST && (text.at || !text.length), NULL);
	for (uint32_t k = 0; k < text.length; k++)
		sum ^= text.at[k]; /* the sanitizer looks on */
	(void)sum;
}

static void expect_sound(const struct trace_record *record)
{
	FUZZ_EXPECT(record->op < TRACE_OPS && record->source < SOURCES, NULL);
	FUZZ_EXPECT(record->weight >= 1 && record->cpus == 1, NULL);
	FUZZ_EXPECT(record->known & KNOWN_ADDRESS && record->address, NULL);
	FUZZ_EXPECT(!(record->known & KNOWN_SIZE) == !record->size, NULL);
	FUZZ_EXPECT(!(record->known & KNOWN_LATENCY) == !record->latency, NULL);
	FUZZ_EXPECT(record->known & KNOWN_TIME || !record->time, NULL);
	FUZZ_EXPECT(record->known & KNOWN_TID || !record->tid, NULL);
	FUZZ_EXPECT(record->known & KNOWN_IP || !record->ip, NULL);
	expect_readable(record->thread_name);
	expect_readable(record->event);
	expect_readable(record->symbol);
}

static void expect_summed(const struct trace_summary *summary, uint64_t records, uint64_t lines)
{
	uint64_t read = summary->used, all;

	FUZZ_EXPECT(summary->used == records, NULL);
	for (int why = 0; why < DROPS; why++)
		read += summary->dropped[why];
	FUZZ_EXPECT(summary->read == read, NULL);
	all = read;
	for (int what = 0; what < SKIPS; what++)
		all += summary->skipped[what];
	FUZZ_EXPECT(all == lines, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct trace *trace = trace_open_memory(FUZZ_NAME, data, size, "perf-script", &error);
	struct trace_record record;
	enum trace_step step;
	uint64_t records = 0, lines = 0;

	if (!trace) { /* packed, it may seem, and corrupt */
		fuzz_expect_message(&error);
		return 0;
	}
	while ((step = trace_next(trace, &record, &error)) == STEP_RECORD) {
		expect_sound(&record);
		records++;
	}
	lines = input_line_number(trace->input);
	if (step == STEP_FAILED || !records)
		fuzz_expect_message(&error);
	else
		FUZZ_EXPECT(!error.text[0], &error);
	if (step == STEP_END)
		expect_summed(trace_summary(trace), records, lines);
	trace_close(trace);
	return 0;
}
