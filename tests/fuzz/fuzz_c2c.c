/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of perf c2c: whatever is in them, each record has an address and a weight, and what the rows of a
 * cache line stand for is no more than the line's totals. */
#include "tests/fuzz/fuzz.h"
#include "trace/c2c_rows.h"
#include <string.h>

static void expect_record(const struct trace_record *record)
{
	const struct text texts[] = { record->symbol, record->thread_name };

	FUZZ_EXPECT(record->weight >= 1 && record->cpus >= 1, NULL);
	FUZZ_EXPECT(record->known & KNOWN_ADDRESS, NULL);
	FUZZ_EXPECT(record->op == TRACE_LOAD || record->op == TRACE_STORE, NULL);
	FUZZ_EXPECT(!record->latency == !(record->known & KNOWN_LATENCY), NULL);
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
		char copy[256];

		FUZZ_EXPECT(texts[k].length < sizeof(copy), NULL);
		if (texts[k].length)
			memcpy(copy, texts[k].at, texts[k].length);
	}
}

static void expect_summary(const struct trace_summary *summary)
{
	uint64_t dropped = 0, ops = 0;

	for (int why = 0; why < DROPS; why++)
		dropped += summary->dropped[why];
	for (int op = 0; op < TRACE_OPS; op++)
		ops += summary->ops[op];
	FUZZ_EXPECT(summary->read == summary->used + dropped, NULL);
	FUZZ_EXPECT(summary->used == ops, NULL);
	FUZZ_EXPECT(summary->note_count <= SUMMARY_NOTES, NULL);
}

static void expect_lines(const struct trace *trace)
{
	const struct c2c_line *lines;
	uint32_t count = c2c_lines(trace, &lines);

	FUZZ_EXPECT(count <= C2C_LINES_MAX, NULL);
	for (uint32_t k = 0; k < count; k++) {
		FUZZ_EXPECT(lines[k].share <= 10000, NULL);
		for (uint32_t before = 0; before < k && k < 8; before++)
			FUZZ_EXPECT(lines[before].address != lines[k].address, NULL);
	}
}

/* The bytes as a total and the shares of it, two bytes each. */
static void expect_shares(const uint8_t *data, size_t size)
{
	struct c2c_heading heading = { .shares = C2C_SHARES };
	struct c2c_rows rows = { 0 };
	struct error error = { "" };
	uint32_t shares = 0;
	uint64_t sum = 0;
	bool sound;

	if (size < 8 || size > 100)
		return;
	memcpy(&heading.totals[0], data, sizeof(heading.totals[0]));
	heading.totals[0] >>= data[4] & 31;
	for (size_t at = 6; at + 1 < size; at += 2) {
		struct c2c_row row = { .share = { (data[at] + 256u * data[at + 1]) % 10001 } };

		shares += row.share[0];
		FUZZ_EXPECT(c2c_rows_add(&rows, &row, at, &error), &error);
	}
	sound = c2c_rows_settle(&rows, &heading);
	FUZZ_EXPECT(sound == (!heading.totals[0] || shares <= 10000 + rows.count), NULL);
	for (uint32_t k = 0; k < rows.count; k++) {
		uint64_t exact = (uint64_t)rows.all[k].row.share[0] * heading.totals[0];
		uint64_t weight = rows.all[k].weight[PIECE_REMOTE];

		sum += weight;
		FUZZ_EXPECT(weight * 10000 < exact + 10000, NULL);
		FUZZ_EXPECT(shares > 10000 || weight * 10000 + 10000 > exact, NULL);
	}
	FUZZ_EXPECT(sum <= heading.totals[0], NULL);
	FUZZ_EXPECT(shares < 10000 || sum + rows.count >= heading.totals[0], NULL);
	c2c_rows_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct trace *trace = trace_open_memory(FUZZ_NAME, data, size, "c2c", &error);
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
	FUZZ_EXPECT(step == STEP_END || step == STEP_FAILED, NULL);
	FUZZ_EXPECT((step == STEP_FAILED) == (error.text[0] != '\0'), &error);
	if (step == STEP_FAILED)
		fuzz_expect_message(&error);
	expect_summary(trace_summary(trace));
	FUZZ_EXPECT(trace_summary(trace)->used == records, NULL);
	expect_lines(trace);
	trace_format_find("c2c")->recognise(data, size < TRACE_HEAD ? size : TRACE_HEAD);
	trace_close(trace);
	expect_shares(data, size);
	return 0;
}
