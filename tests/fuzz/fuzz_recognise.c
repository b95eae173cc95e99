/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of any kind: recognised and read, or refused. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace(NULL, false, data, size);
	return 0;
}
