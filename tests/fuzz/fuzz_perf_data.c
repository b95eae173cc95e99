/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data files: whatever they hold, they are read to a consistent end, or refused. */
#include "tests/fuzz/fuzz.h"

static void expect_text(struct text text, uint32_t most)
{
	FUZZ_EXPECT(text.length <= most, NULL);
	for (uint32_t k = 0; k < text.length; k++)
		FUZZ_EXPECT(text.at[k], NULL);
}

static void expect_record(const struct trace_record *record)
{
	FUZZ_EXPECT(record->cpus == 1 && record->known & KNOWN_ADDRESS, NULL);
	expect_text(record->thread_name, 15);
	expect_text(record->event, 127);
}

static void expect_end(const struct trace *trace, enum trace_step step)
{
	const struct trace_summary *summary = trace_summary(trace);

	(void)step;
	FUZZ_EXPECT(summary->dropped[DROP_TRUNCATED] <= 1, NULL);
	FUZZ_EXPECT(summary->kind == KIND_COMPLETE || summary->kind == KIND_SAMPLED, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_more more = { expect_record, expect_end };

	fuzz_trace_with("perf-data", false, &more, data, size);
	return 0;
}
