/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet traces of gem5: read to a consistent end, or refused. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace("gem5", false, data, size);
	return 0;
}
