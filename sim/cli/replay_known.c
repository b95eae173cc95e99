/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct known *known_new(const struct replay_command *command, struct error *error)
{
	struct known *known = calloc(command->given_count + 1, sizeof(*known));

	if (!known)
		error_set(error, "out of memory");
	for (uint32_t k = 0; known && k < command->given_count; k++) {
		known[k].given = command->given[k];
		known[k].layout =
			layout_load(command->directory, command->given[k].layout, NULL, error);
		if (!known[k].layout)
			break;
	}
	return known;
}

void known_free(struct known *known, uint32_t count)
{
	for (uint32_t k = 0; known && k < count; k++)
		layout_free(known[k].layout);
	free(known);
}

/* Which of the objects, of an array which one, holds an address; NULL: none. */
static const struct known *known_at(const struct known *known, uint32_t count, uint64_t address,
				    uint64_t *number, uint32_t *offset)
{
	for (uint32_t k = 0; k < count; k++) {
		const struct given_object *given = &known[k].given;
		uint64_t size = known[k].layout->size;
		uint64_t stride = given->stride ? given->stride : size;
		uint64_t into = address - given->address;

		*number = into / stride;
		*offset = (uint32_t)(into % stride);
		if (address >= given->address && *number < given->count && *offset < size)
			return &known[k];
	}
	return NULL;
}

bool known_name(const struct known *all, uint32_t count, uint64_t address, const char *array,
		char *name, size_t size, uint64_t *start)
{
	const struct layout_field *field;
	const struct known *known;
	char element[32] = "";
	uint64_t number;
	uint32_t offset;

	known = known_at(all, count, address, &number, &offset);
	*start = address;
	if (!known) {
		snprintf(name, size, "0x%" PRIx64, address);
		return false;
	}
	if (known->given.count > 1)
		snprintf(element, sizeof(element), array, (uint32_t)number);
	field = layout_covering(known->layout, offset);
	if (field)
		*start -= offset - field->offset;
	snprintf(name, size, "%s%s.%s", known->given.name, element,
		 field ? field->name : "(padding)");
	return true;
}

bool known_touched(const struct known *known, const struct tally *tally)
{
	const struct given_object *given = &known->given;
	uint64_t size = known->layout->size, stride = given->stride ? given->stride : size;
	uint32_t place;

	for (uint32_t k = 0; k < given->count; k++) {
		uint64_t address = given->address + k * stride;

		place = tally_from(tally, address);
		if (place < tally->count && tally->places[place].address - address < size)
			return true;
	}
	return tally->crowded != 0;
}
