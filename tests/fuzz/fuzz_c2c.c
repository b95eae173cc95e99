/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of perf c2c: whatever is in them, each record has an address and a weight, and what the rows of a
 * cache line stand for is no more than the line's totals. */
#include "tests/fuzz/fuzz.h"
#include "trace/c2c_rows.h"
#include <string.h>

static void expect_record(const struct trace_record *record)
{
	FUZZ_EXPECT(record->known & KNOWN_ADDRESS, NULL);
	FUZZ_EXPECT(record->op == TRACE_LOAD || record->op == TRACE_STORE, NULL);
	FUZZ_EXPECT(!record->latency == !(record->known & KNOWN_LATENCY), NULL);
	FUZZ_EXPECT(record->symbol.length < 256 && record->thread_name.length < 256, NULL);
}

static void expect_lines(const struct trace *trace, enum trace_step step)
{
	const struct c2c_line *lines;
	uint32_t count = c2c_lines(trace, &lines);

	(void)step;
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
	static const struct fuzz_more more = { expect_record, expect_lines };

	fuzz_trace_with("c2c", false, &more, data, size);
	trace_format_find("c2c")->recognise(data, size < TRACE_HEAD ? size : TRACE_HEAD);
	expect_shares(data, size);
	return 0;
}
