/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_verbs.h"
#include "layout/layout.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- holes ---------------------------------------------------------------------------------- */

/* A walk over the fields, in order of offset. */
struct walk {
	const struct layout *layout;
	uint32_t next; /* field */
	uint32_t end;  /* of all bytes so far that belong to a field */
	uint32_t holes, hole_bytes;
};

/* Goes on to the next field. Returns the bytes between it and those before. */
static uint32_t walk_on(struct walk *walk)
{
	const struct layout_field *field = &walk->layout->fields[walk->next++];
	uint32_t hole = field->offset > walk->end ? field->offset - walk->end : 0;

	walk->holes += hole > 0;
	walk->hole_bytes += hole;
	if (field->offset + field->size > walk->end)
		walk->end = field->offset + field->size;
	return hole;
}

static uint32_t line_count(const struct layout *layout, uint32_t line)
{
	return (layout->size + line - 1) / line;
}

/* ---- show ----------------------------------------------------------------------------------- */

static int name_width(const struct layout *layout)
{
	size_t width = strlen(layout->structure) + 1; /* the heading is indented less, by 8 */

	for (uint32_t k = 0; k < layout->field_count; k++)
		if (strlen(layout->fields[k].name) > width)
			width = strlen(layout->fields[k].name);
	return (int)width;
}

static void print_boundary(uint32_t offset, uint32_t line)
{
	uint32_t ago = offset % line;

	printf("\n\t/* --- cacheline %u boundary (%u bytes) ", offset / line, offset - ago);
	if (ago)
		printf("was %u bytes ago ", ago);
	puts("--- */");
}

static void print_totals(const struct walk *walk, uint32_t line)
{
	const struct layout *layout = walk->layout;

	printf("\n\t/* size: %u, align: %u, cachelines: %u, fields: %u */\n", layout->size,
	       layout->align, line_count(layout, line), layout->field_count);
	if (walk->holes)
		printf("\t/* holes: %u, sum holes: %u */\n", walk->holes, walk->hole_bytes);
	if (layout->size > walk->end)
		printf("\t/* padding: %u */\n", layout->size - walk->end);
	if (layout->size % line)
		printf("\t/* last cacheline: %u bytes */\n", layout->size % line);
	puts("};");
}

static void show_text(const struct layout *layout, uint32_t line)
{
	struct walk walk = { .layout = layout };
	int width = name_width(layout);
	uint32_t last = 0; /* line */

	printf("/* %s: %s */\n", layout->name, layout->source);
	printf("struct %s {%*s/* offset   size   line */\n", layout->structure,
	       width - (int)strlen(layout->structure) + 1, "");
	for (uint32_t k = 0; k < layout->field_count; k++) {
		const struct layout_field *field = &layout->fields[k];
		bool shared = field->size && field->offset < walk.end;
		uint32_t hole = walk_on(&walk);

		if (hole)
			printf("\n\t/* XXX %u bytes hole */\n", hole);
		if (field->offset / line > last)
			print_boundary(field->offset, line);
		else if (hole)
			putchar('\n');
		last = field->offset / line;
		printf("\t%s;%*s /* %6u %6u %6u */%s\n", field->name,
		       width - (int)strlen(field->name), "", field->offset, field->size, last,
		       shared ? " /* union */" : "");
	}
	print_totals(&walk, line);
}

static void show_csv(const struct layout *layout, uint32_t line)
{
	puts("field,offset,size,line");
	for (uint32_t k = 0; k < layout->field_count; k++)
		printf("%s,%u,%u,%u\n", layout->fields[k].name, layout->fields[k].offset,
		       layout->fields[k].size, layout->fields[k].offset / line);
}

static void show_json(const struct layout *layout, uint32_t line)
{
	struct walk walk = { .layout = layout };
	json_t *fields = json_array(), *holes = json_array(), *json;

	for (uint32_t k = 0; k < layout->field_count; k++) {
		const struct layout_field *field = &layout->fields[k];
		uint32_t end = walk.end, hole = walk_on(&walk);

		if (hole)
			json_array_append_new(holes,
					      json_pack("{s:I, s:I}", "offset", (json_int_t)end,
							"size", (json_int_t)hole));
		json_array_append_new(fields, json_pack("{s:s, s:I, s:I, s:I}", "name", field->name,
							"offset", (json_int_t)field->offset, "size",
							(json_int_t)field->size, "line",
							(json_int_t)(field->offset / line)));
	}
	json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "schema",
			 "hitm-layout/1", "layout", layout->name, "struct", layout->structure,
			 "source", layout->source, "size", (json_int_t)layout->size, "align",
			 (json_int_t)layout->align, "line", (json_int_t)line, "lines",
			 (json_int_t)line_count(layout, line), "padding",
			 (json_int_t)(layout->size - walk.end), "fields", fields, "holes", holes);
	output_json(stdout, json, &(struct error){ "" });
	json_decref(json);
}

int layout_show(struct layout_command *command, int count, char **names, struct error *error)
{
	static void (*const shows[])(const struct layout *, uint32_t) = {
		[OUTPUT_TEXT] = show_text, [OUTPUT_JSON] = show_json, [OUTPUT_CSV] = show_csv
	};
	struct layout *layout;

	if (count != 1) {
		error_set(error,
			  "hitm layout show: one layout was expected; hitm layout -h shows how");
		return STATUS_REFUSED;
	}
	layout = layout_load(command->directory, names[0], NULL, error);
	if (!layout)
		return STATUS_REFUSED;
	shows[command->format](layout, command->line);
	layout_free(layout);
	return STATUS_DONE;
}
