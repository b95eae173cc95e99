/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of `perf script`: each line becomes a record, or is counted among what became none. */
#include "tests/fuzz/fuzz.h"

static void expect_record(const struct trace_record *record)
{
	FUZZ_EXPECT(record->cpus == 1 && record->known & KNOWN_ADDRESS && record->address, NULL);
	FUZZ_EXPECT(!(record->known & KNOWN_LATENCY) == !record->latency, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_more more = { expect_record, NULL };

	fuzz_trace_with("perf-script", true, &more, data, size);
	return 0;
}
