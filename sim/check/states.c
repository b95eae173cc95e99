/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/states.h"
#include <stdlib.h>
#include <string.h>

enum { TABLE_START = 1 << 12, BYTES_START = 1 << 16 };

bool states_init(struct states *states)
{
	*states = (struct states){ .room = BYTES_START,
				   .mask = TABLE_START - 1,
				   .start_room = TABLE_START };
	states->bytes = malloc(states->room);
	states->table = calloc(TABLE_START, sizeof(*states->table));
	states->start = calloc(TABLE_START, sizeof(*states->start));
	return states->bytes && states->table && states->start;
}

void states_free(struct states *states)
{
	free(states->bytes);
	free(states->table);
	free(states->start);
}

/* Eight bytes at a time, each mixed as in splitmix64's finaliser. */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = size * 0x9e3779b97f4a7c15u;

	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
		hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
		hash ^= hash >> 29;
	}
	return hash ^ hash >> 32;
}

bool states_room(void **array, size_t *room, size_t needed, size_t item)
{
	size_t more = *room;
	void *larger;

	if (needed <= *room)
		return true;
	while (more < needed)
		more += more / 2 + 1;
	larger = realloc(*array, more * item);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

static bool table_grow(struct states *states)
{
	size_t mask = states->mask * 2 + 1;
	uint32_t *table;

	if ((size_t)states->count * 3 < states->mask * 2)
		return true;
	table = calloc(mask + 1, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t k = 0; k < states->count; k++) {
		size_t size;
		const uint8_t *bytes = states_at(states, k, &size);
		size_t slot = hash_of(bytes, size) & mask;

		while (table[slot])
			slot = (slot + 1) & mask;
		table[slot] = k + 1;
	}
	free(states->table);
	states->table = table;
	states->mask = mask;
	return true;
}

uint32_t states_add(struct states *states, const uint8_t *bytes, size_t size)
{
	size_t slot, length;

	if (!table_grow(states))
		return STATES_FULL;
	for (slot = hash_of(bytes, size) & states->mask; states->table[slot];
	     slot = (slot + 1) & states->mask) {
		const uint8_t *known = states_at(states, states->table[slot] - 1, &length);

		if (length == size && !memcmp(known, bytes, size))
			return states->table[slot] - 1;
	}
	if (states->count >= STATES_FULL - 2 ||
	    !states_room((void **)&states->bytes, &states->room, states->used + size, 1) ||
	    !states_room((void **)&states->start, &states->start_room, states->count + 2u,
			 sizeof(*states->start)))
		return STATES_FULL;
	memcpy(states->bytes + states->used, bytes, size);
	states->used += size;
	states->table[slot] = ++states->count;
	states->start[states->count] = states->used;
	return states->count - 1;
}
