/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captured bytes as what a simulated machine can access at once. */
#include "workload/replay_parts.h"
#include <stdlib.h>

enum { PIECES_MAX = 1 << 26 };

/* Where a byte of an object that was accessed lies now, and what field it is of; and how many of the *size
 * bytes from it on (0: not known) lie with it. Bytes of no field stay where they are relative to the start. */
static bool moved(const struct replay_building *building, const struct replay_placed *placed,
		  uint32_t offset, uint64_t *address, uint16_t *number, uint32_t *size,
		  struct error *error)
{
	const struct layout_field *was = layout_covering(placed->was.layout, offset), *now;
	const struct object *object = &building->build->memory.objects[placed->number];

	*number = 0;
	*address = object->address + offset;
	if (!was) {
		uint32_t padding = 1;

		while (padding < *size && !layout_covering(placed->was.layout, offset + padding))
			padding++;
		*size = padding;
		return true;
	}
	now = layout_find(placed->now, was->name);
	if (!now)
		return error_set(error, "layout %s has no field %s, which the capture accesses",
				 placed->now->name, was->name);
	if (now->size != was->size)
		return error_set(error,
				 "field %s has %u bytes in layout %s and %u in %s, expected "
				 "the same",
				 was->name, now->size, placed->now->name, was->size,
				 placed->was.layout->name);
	*address = object->address + now->offset + (offset - was->offset);
	*number = (uint16_t)(object->first_field + (now - placed->now->fields));
	if (!*size)
		*size = offset == was->offset ? was->size : 1;
	if (*size > was->size - (offset - was->offset))
		*size = was->size - (offset - was->offset);
	return true;
}

static bool add_piece(struct replay_building *building, struct place piece, uint32_t *capacity,
		      struct error *error)
{
	struct replay_plan *plan = building->plan;

	if (plan->piece_count == PIECES_MAX)
		return error_set(error, "the capture accesses too many bytes at once");
	if (plan->piece_count == *capacity) {
		uint32_t wanted = *capacity ? 2 * *capacity : 1024;
		struct place *more = realloc(plan->pieces, wanted * sizeof(*more));

		if (!more)
			return error_set(error, "out of memory");
		plan->pieces = more;
		*capacity = wanted;
	}
	plan->pieces[plan->piece_count++] = piece;
	return true;
}

/* Cuts [address, address + size) into pieces that a machine can access at once. */
static bool cut(struct replay_building *building, uint64_t address, uint32_t size, uint16_t field,
		uint32_t *capacity, struct error *error)
{
	while (size) {
		uint32_t piece = 8;

		while (piece > size || address % piece)
			piece /= 2;
		if (!add_piece(building, (struct place){ address, field, (uint8_t)piece }, capacity,
			       error))
			return false;
		address += piece;
		size -= piece;
	}
	return true;
}

static bool cut_in_object(struct replay_building *building, const struct replay_place *place,
			  uint32_t *capacity, struct error *error)
{
	const struct replay_placed *placed = &building->placed[place->object - 1];
	uint32_t offset = (uint32_t)(place->address - placed->was.address);
	uint32_t left = place->size, most = placed->was.layout->size - offset;

	left = left > most ? most : left; /* what lies beyond the object is lost */
	do {
		uint64_t address;
		uint16_t field;
		uint32_t size = left;

		if (!moved(building, placed, offset, &address, &field, &size, error) ||
		    !cut(building, address, size, field, capacity, error))
			return false;
		offset += size;
		left = left > size ? left - size : 0;
	} while (left);
	return true;
}

/* The field of an address that no captured object holds: of a line that has been named. */
static uint16_t line_field(const struct object *const *lines, uint32_t count, uint64_t address)
{
	uint32_t low = 0, high = count;
	const struct layout_field *field;
	const struct object *object;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (lines[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - lines[low - 1]->address >= lines[low - 1]->layout->size)
		return 0;
	object = lines[low - 1];
	field = layout_covering(object->layout, (uint32_t)(address - object->address));
	return field ? (uint16_t)(object->first_field + (field - object->layout->fields)) : 0;
}

static int lines_by_address(const void *left, const void *right)
{
	const struct object *a = *(const struct object *const *)left;
	const struct object *b = *(const struct object *const *)right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* A word at a time, so that each piece finds its field. */
static bool cut_outside(struct replay_building *building, const struct replay_place *place,
			const struct object *const *lines, uint32_t count, uint32_t *capacity,
			struct error *error)
{
	uint64_t address = place->address;
	uint32_t left = place->size ? place->size : 1;

	while (left) {
		uint32_t size = 8 - (uint32_t)(address % 8);

		size = size > left ? left : size;
		if (!cut(building, address, size, line_field(lines, count, address), capacity,
			 error))
			return false;
		address += size;
		left -= size;
	}
	return true;
}

bool replay_cut_places(struct replay_building *building, struct error *error)
{
	const struct replay *replay = building->plan->replay;
	const struct memory *memory = &building->build->memory;
	uint32_t capacity = 0, count = memory->object_count - building->object_count;
	const struct object **lines = malloc((count + 1) * sizeof(struct object *));
	bool done = lines != NULL || error_set(error, "out of memory");

	for (uint32_t k = 0; done && k < count; k++)
		lines[k] = &memory->objects[building->object_count + k];
	if (done)
		qsort(lines, count, sizeof(struct object *), lines_by_address);
	for (uint32_t k = 0; done && k < replay->place_count; k++) {
		const struct replay_place *place = &replay->places[k];
		struct replay_pieces *pieces = &building->plan->of_place[k];

		pieces->first = building->plan->piece_count;
		done = place->object ? cut_in_object(building, place, &capacity, error)
				     : cut_outside(building, place, lines, count, &capacity, error);
		pieces->count = building->plan->piece_count - pieces->first;
	}
	free(lines);
	return done;
}
