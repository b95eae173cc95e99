/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of states, each a string of bytes, numbered in the order in which they were first seen. */
#ifndef CHECK_STATES_H
#define CHECK_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct states {
	uint8_t *bytes;
	size_t used, room;
	uint64_t *start; /* of each state; one more than there are */
	uint32_t *table; /* hash: number + 1 */
	size_t mask, start_room;
	uint32_t count;
};

static const uint32_t STATES_FULL = UINT32_MAX;

/* False without memory. */
bool states_init(struct states *states);
void states_free(struct states *states);

/* The number of a state; a new one gets the next. STATES_FULL without memory or beyond 2^32 - 2. */
uint32_t states_add(struct states *states, const uint8_t *bytes, size_t size);

/* Gives an array of `*room` items of `item` bytes room for so many; NULL and 0 is an empty one. False
 * without memory, and the array as it was. Also for what is kept beside each state. */
bool states_room(void **array, size_t *room, size_t needed, size_t item);

static inline const uint8_t *states_at(const struct states *states, uint32_t number, size_t *size)
{
	*size = (size_t)(states->start[number + 1] - states->start[number]);
	return states->bytes + states->start[number];
}

#endif
