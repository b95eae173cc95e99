/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with debug information: whatever is in them, there is a struct whose members lie within
 * it, or a message. */
#define _GNU_SOURCE /* memfd_create */
#include "layout/btf.h"
#include "layout/dwarf.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void expect_consistent(struct members *members, const struct error *error)
{
	struct error none = { "" };
	struct layout *layout;

	if (!members)
		return;
	FUZZ_EXPECT(!error->text[0], error);
	FUZZ_EXPECT(members->count <= MEMBERS_LIMIT, NULL);
	FUZZ_EXPECT(members->align && !(members->size % members->align), NULL);
	for (uint32_t k = 0; k < members->count; k++)
		FUZZ_EXPECT(members->all[k].offset + members->all[k].size <= members->size, NULL);
	layout = members_layout(members, "layout", "fuzzing", &none);
	FUZZ_EXPECT(layout || none.text[0], NULL);
	layout_free(layout);
	members_free(members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("input", 0);
	struct error error = { "" };
	struct dwarf *dwarf;
	struct btf_file *btf;
	char path[40];

	FUZZ_EXPECT(file >= 0 && write(file, data, size) == (ssize_t)size, NULL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	dwarf = dwarf_open(path, &error);
	FUZZ_EXPECT(dwarf || !strncmp(error.text, path, strlen(path)), &error);
	if (dwarf)
		expect_consistent(dwarf_members(dwarf, "s", &error), &error);
	dwarf_close(dwarf);
	error.text[0] = '\0';
	btf = btf_file_open(path, NULL, &error);
	FUZZ_EXPECT(btf || !strncmp(error.text, path, strlen(path)), &error);
	if (btf)
		expect_consistent(btf_file_members(btf, "s", &error), &error);
	btf_file_close(btf);
	close(file);
	return 0;
}
