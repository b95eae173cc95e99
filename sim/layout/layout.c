/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* asprintf */
#include "layout/layout.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void layout_free(struct layout *layout)
{
	if (!layout)
		return;
	for (uint32_t i = 0; i < layout->field_count; i++)
		free((char *)layout->fields[i].name);
	free(layout->fields);
	free((char *)layout->name);
	free((char *)layout->structure);
	free((char *)layout->source);
	free(layout);
}

struct layout *layout_new(const char *name, const char *structure, const char *source)
{
	struct layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return NULL;
	layout->name = strdup(name);
	layout->structure = strdup(structure);
	layout->source = strdup(source);
	layout->fields = calloc(LAYOUT_FIELD_LIMIT, sizeof(*layout->fields));
	if (layout->name && layout->structure && layout->source && layout->fields)
		return layout;
	layout_free(layout);
	return NULL;
}

bool layout_add(struct layout *layout, const char *prefix, const char *name, uint32_t offset,
		uint32_t size)
{
	struct layout_field *field = layout->fields + layout->field_count;
	char *full;

	if (layout->field_count == LAYOUT_FIELD_LIMIT ||
	    asprintf(&full, "%s%s%s", prefix, *prefix ? "." : "", name) < 0)
		return false;
	for (; field > layout->fields && field[-1].offset > offset; field--)
		field[0] = field[-1];
	*field = (struct layout_field){ full, offset, size };
	layout->field_count++;
	return true;
}

const struct layout_field *layout_find(const struct layout *layout, const char *name)
{
	for (uint32_t i = 0; i < layout->field_count; i++)
		if (!strcmp(layout->fields[i].name, name))
			return &layout->fields[i];
	return NULL;
}

const struct layout_field *layout_covering(const struct layout *layout, uint32_t offset)
{
	for (uint32_t i = 0; i < layout->field_count; i++)
		if (offset - layout->fields[i].offset < layout->fields[i].size)
			return &layout->fields[i];
	return NULL;
}

struct layout *layout_spread(const struct layout *layout, uint32_t line)
{
	struct layout *spread = layout_new(layout->name, layout->structure, layout->source);
	uint32_t start = 0, end = 0, moved = 0; /* of fields that overlap; and where they go */

	for (uint32_t i = 0; spread && i < layout->field_count; i++) {
		const struct layout_field *field = &layout->fields[i];
		uint32_t last = field->offset + (field->size ? field->size : 1);

		if (field->offset >= end) {
			moved += (end - start + line - 1) / line * line;
			start = end = field->offset;
		}
		end = last > end ? last : end;
		if (!layout_add(spread, "", field->name, moved + field->offset - start,
				field->size)) {
			layout_free(spread);
			return NULL;
		}
	}
	if (spread) {
		spread->size = moved + (end - start + line - 1) / line * line;
		spread->align = layout->align > line ? layout->align : line;
	}
	return spread;
}
