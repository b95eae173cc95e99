/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text as pahole prints it, or not: each struct has members that lie within it, or there is a message;
 * and what layout is made of them is read back as it was. */
#include "layout/pahole.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_read_back(const struct layout *layout)
{
	struct error error = { "" };
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	struct layout *back;

	layout_save(file, layout, NULL, 0, NULL);
	fclose(file);
	back = layout_parse("absent", "layout", text, length, &error);
	FUZZ_EXPECT(back || strstr(error.text, "is no field"), &error); /* gcc takes a$b */
	if (back) {
		FUZZ_EXPECT(back->size == layout->size && back->align == layout->align, NULL);
		FUZZ_EXPECT(back->field_count == layout->field_count, NULL);
		for (uint32_t k = 0; k < back->field_count; k++)
			FUZZ_EXPECT(!strcmp(back->fields[k].name, layout->fields[k].name) &&
					    back->fields[k].offset == layout->fields[k].offset &&
					    back->fields[k].size == layout->fields[k].size,
				    NULL);
	}
	layout_free(back);
	free(text);
}

/* The alignment that __aligned__ asks for may be any. Layouts take long. */
static void expect_consistent(const struct members *members, bool with_layout)
{
	struct error error = { "" };
	struct layout *layout;

	FUZZ_EXPECT(members->count <= MEMBERS_LIMIT && members->line, NULL);
	FUZZ_EXPECT(members->align && !(members->size % members->align), NULL);
	for (uint32_t k = 0; k < members->count; k++)
		FUZZ_EXPECT(members->all[k].offset + members->all[k].size <= members->size, NULL);
	if (!with_layout)
		return;
	layout = members_layout(members, "layout", "fuzzing", &error);
	FUZZ_EXPECT(layout || error.text[0], NULL);
	if (layout && layout->align <= 4096 && layout->field_count < 64)
		expect_read_back(layout);
	layout_free(layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct pahole *pahole = pahole_parse(FUZZ_NAME, (const char *)data, size, &error);
	const char *name;

	if (!pahole)
		fuzz_expect_message(&error);
	for (uint32_t k = 0; pahole && k < 8 && (name = pahole_name(pahole, k)); k++) {
		struct error refusal = { "" };
		struct members *members = pahole_members(pahole, *name ? name : "s", 0, &refusal);

		FUZZ_EXPECT(!members == (refusal.text[0] != '\0'), &refusal);
		if (members)
			expect_consistent(members, size % 16 == 0);
		members_free(members);
	}
	pahole_close(pahole);
	return 0;
}
