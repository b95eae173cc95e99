/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm's own traces as text: read, or refused in their place; a copy is read as what it is a copy of. */
#include "tests/fuzz/copy_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct copy first, second;

	fuzz_trace("trace", true, data, size);
	first = copy_trace(data, size, "trace", "trace");
	if (!first.at)
		return 0;
	second = copy_trace(first.at, first.length, "trace", "trace");
	expect_same_copy(first, second);
	free(first.at);
	free(second.at);
	return 0;
}
