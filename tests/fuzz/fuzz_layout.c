/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layouts, one or several in one input, with "---" lines between: the first is read, and may nest
 * the others by the names under `layout:`. Accepted ones are consistent. */
#define _GNU_SOURCE /* memmem */
#include "layout/layout.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

struct input {
	const char *text;
	size_t size;
};

/* Cuts off the first part. */
static struct input part_next(struct input *rest)
{
	static const char between[] = "\n---\n";
	const char *end = memmem(rest->text, rest->size, between, sizeof(between) - 1);
	struct input part = { rest->text, end ? (size_t)(end + 1 - rest->text) : rest->size };
	size_t used = end ? part.size + sizeof(between) - 2 : part.size;

	*rest = (struct input){ rest->text + used, rest->size - used };
	return part;
}

static bool has_name(struct input part, const char *name)
{
	static const char key[] = "layout: ";
	const char *at = memmem(part.text, part.size, key, sizeof(key) - 1);
	size_t length = strlen(name), left;

	if (!at)
		return false;
	at += sizeof(key) - 1;
	left = part.size - (size_t)(at - part.text);
	return left > length && !memcmp(at, name, length) && at[length] == '\n';
}

/* Without a node, the first. */
static struct document *find(const void *context, const char *name, const struct node *at,
			     struct error *error)
{
	struct input rest = *(const struct input *)context, part;

	do {
		part = part_next(&rest);
		if (!at || has_name(part, name))
			return document_parse(FUZZ_NAME, part.text, part.size, error);
	} while (rest.size);
	node_error(at, error, "no layout '%.60s'", name);
	return NULL;
}

static void expect_consistent(const struct layout *layout)
{
	uint32_t count = layout->field_count;

	FUZZ_EXPECT(count >= 1 && count <= LAYOUT_FIELD_LIMIT, NULL);
	FUZZ_EXPECT(layout->size >= 1 && layout->size <= 1 << 20, NULL);
	FUZZ_EXPECT(layout->align && !(layout->align & (layout->align - 1)), NULL);
	for (uint32_t k = 0; k < count; k++) {
		const struct layout_field *field = &layout->fields[k], *covering;

		FUZZ_EXPECT(field->offset <= layout->size, NULL);
		FUZZ_EXPECT(field->size <= layout->size - field->offset, NULL);
		FUZZ_EXPECT(!k || field[-1].offset <= field->offset, NULL);
		if (count > 64)
			continue; /* what follows looks at all fields */
		FUZZ_EXPECT(layout_find(layout, field->name) == field, NULL);
		covering = field->size ? layout_covering(layout, field->offset) : field;
		FUZZ_EXPECT(covering && covering <= field, NULL);
	}
}

/* In a spread layout a field that overlaps none before it starts a line. */
static void expect_spread(const struct layout *layout)
{
	const uint32_t line = 64;
	struct layout *spread = layout_spread(layout, line);
	uint32_t end = 0;

	FUZZ_EXPECT(spread && spread->field_count == layout->field_count, NULL);
	for (uint32_t k = 0; k < spread->field_count; k++) {
		const struct layout_field *field = &spread->fields[k];
		uint32_t last = field->offset + (field->size ? field->size : 1);

		FUZZ_EXPECT(last <= spread->size, NULL);
		FUZZ_EXPECT(field->offset < end || field->offset % line == 0, NULL);
		end = last > end ? last : end;
	}
	FUZZ_EXPECT(spread->size % line == 0, NULL);
	layout_free(spread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct input input = { (const char *)data, size };
	struct layout_source source = { find, &input };
	struct layout *layout = layout_read(&source, FUZZ_NAME ".yaml", NULL, &error);

	if (layout) {
		FUZZ_EXPECT(!error.text[0], &error);
		expect_consistent(layout);
		expect_spread(layout);
	} else {
		fuzz_expect_refusal(&error);
	}
	layout_free(layout);
	return 0;
}
