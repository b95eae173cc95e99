/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm's own traces in binary, unpacked: read, or refused; as text and in binary again they say the same.
 * Packing takes long: only of some. */
#include "tests/fuzz/copy_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct copy text, binary, again;

	fuzz_trace("trace-binary", false, data, size);
	if (size % 16)
		return 0;
	text = copy_trace(data, size, "trace-binary", "trace");
	if (!text.at)
		return 0;
	binary = copy_trace(text.at, text.length, "trace", "trace-binary");
	FUZZ_EXPECT(binary.at, NULL);
	again = copy_trace(binary.at, binary.length, "trace-binary", "trace");
	expect_same_copy(text, again);
	free(text.at);
	free(binary.at);
	free(again.at);
	return 0;
}
