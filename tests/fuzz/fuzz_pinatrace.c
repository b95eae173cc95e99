/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of pinatrace: each line is a record, dropped, or skipped. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace("pinatrace", true, data, size);
	return 0;
}
