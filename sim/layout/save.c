/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout/layout.h"
#include <string.h>

/* As YAML, within { } too: quoted where it is not plain beyond doubt. */
static void print_string(FILE *file, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+()-";

	if (strspn(text, plain) == strlen(text) && *text && *text != '-') {
		fputs(text, file);
		return;
	}
	fputc('\'', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\'')
			fputc('\'', file);
		fputc(c < ' ' || c > '~' ? '?' : c, file);
	}
	fputc('\'', file);
}

static void print_comment(FILE *file, const char *comment)
{
	while (*comment) {
		size_t length = strcspn(comment, "\n");

		fprintf(file, "# %.*s\n", (int)length, comment);
		comment += length + (comment[length] == '\n');
	}
}

static const char *nested_layout(const struct layout_nested *nested, uint32_t count,
				 const char *field)
{
	for (uint32_t k = 0; k < count; k++)
		if (!strcmp(nested[k].field, field))
			return nested[k].layout;
	return NULL;
}

/* If a field lies in any before it, then in the one of them that reaches furthest; so all that overlap
 * are joined, directly or through others. */
void layout_save(FILE *file, const struct layout *layout, const struct layout_nested *nested,
		 uint32_t nested_count, const char *comment)
{
	const struct layout_field *furthest = NULL;

	print_comment(file, comment ? comment : "");
	fputs("layout: ", file);
	print_string(file, layout->name);
	fputs("\nstruct: ", file);
	print_string(file, layout->structure);
	fprintf(file, "\nsize: %u B\nalign: %u B\nsource: ", layout->size, layout->align);
	print_string(file, layout->source);
	fputs("\nfields:\n", file);
	for (uint32_t k = 0; k < layout->field_count; k++) {
		const struct layout_field *field = &layout->fields[k];
		const char *inner = nested_layout(nested, nested_count, field->name);

		fprintf(file, "  %s: {offset: %u, size: %u", field->name, field->offset,
			field->size);
		if (inner) {
			fputs(", layout: ", file);
			print_string(file, inner);
		}
		if (field->size && furthest && field->offset < furthest->offset + furthest->size) {
			fputs(", union_with: ", file);
			print_string(file, furthest->name);
		}
		fputs("}\n", file);
		if (field->size &&
		    (!furthest || field->offset + field->size > furthest->offset + furthest->size))
			furthest = field;
	}
}
