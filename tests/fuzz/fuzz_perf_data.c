/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data files: whatever they hold, they are read to a consistent end, or refused. */
#include "tests/fuzz/fuzz.h"
#include "trace/trace.h"

static void expect_text(struct text text, uint32_t most)
{
	FUZZ_EXPECT(text.length <= most && (text.at || !text.length), NULL);
	for (uint32_t k = 0; k < text.length; k++)
		FUZZ_EXPECT(text.at[k], NULL);
}

static void expect_record(const struct trace_record *record)
{
	FUZZ_EXPECT(record->weight >= 1 && record->cpus == 1, NULL);
	FUZZ_EXPECT(record->op < TRACE_OPS && record->source < SOURCES, NULL);
	FUZZ_EXPECT(record->known & KNOWN_ADDRESS, NULL);
	FUZZ_EXPECT(!record->size == !(record->known & KNOWN_SIZE), NULL);
	FUZZ_EXPECT(record->known & KNOWN_TIME || !record->time, NULL);
	FUZZ_EXPECT(record->known & KNOWN_TID || !record->tid, NULL);
	FUZZ_EXPECT(record->known & KNOWN_CPU || !record->cpu, NULL);
	FUZZ_EXPECT(record->known & KNOWN_LATENCY || !record->latency, NULL);
	expect_text(record->thread_name, 15);
	expect_text(record->event, 127);
}

/* No record takes less than its header of 8 bytes, but for those that were compressed. */
static void expect_summary(const struct trace_summary *summary, uint64_t records)
{
	uint64_t sum = summary->used, ops = 0;

	for (int why = 0; why < DROPS; why++)
		sum += summary->dropped[why];
	for (int op = 0; op < TRACE_OPS; op++)
		ops += summary->ops[op];
	FUZZ_EXPECT(summary->read == sum, NULL);
	FUZZ_EXPECT(summary->used == records && ops == records, NULL);
	FUZZ_EXPECT(summary->dropped[DROP_TRUNCATED] <= 1, NULL);
	FUZZ_EXPECT(summary->kind == KIND_COMPLETE || summary->kind == KIND_SAMPLED, NULL);
	FUZZ_EXPECT(summary->kind != KIND_COMPLETE || !summary->lost, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct trace *trace = trace_open_memory(FUZZ_NAME, data, size, "perf-data", &error);
	struct trace_record record;
	enum trace_step step;
	uint64_t records = 0;

	if (!trace) {
		fuzz_expect_message(&error);
		return 0;
	}
	while ((step = trace_next(trace, &record, &error)) == STEP_RECORD) {
		expect_record(&record);
		records++;
	}
	if (step == STEP_FAILED)
		fuzz_expect_message(&error);
	else
		FUZZ_EXPECT(!error.text[0], &error);
	expect_summary(trace_summary(trace), records);
	trace_close(trace);
	return 0;
}
