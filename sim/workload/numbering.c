/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/numbering.h"
#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 10 };

/* Where a key's number is, or would be: open addressing, which ends since half of the slots are free. */
static uint32_t *slot_of(const struct numbering *numbering, uint64_t major, uint32_t minor)
{
	uint64_t hash = (major * 31 + minor) * 0x9e3779b97f4a7c15u; /* Fibonacci hashing */
	uint32_t mask = numbering->slot_count - 1, slot = (uint32_t)(hash >> 32) & mask;

	for (;; slot = (slot + 1) & mask) {
		uint32_t *number = &numbering->slots[slot];

		if (!*number || (numbering->keys[*number - 1].major == major &&
				 numbering->keys[*number - 1].minor == minor))
			return number;
	}
}

uint32_t numbering_find(const struct numbering *numbering, uint64_t major, uint32_t minor)
{
	/* Of an empty slot 0 - 1 is NUMBERING_NONE. */
	return numbering->slot_count ? *slot_of(numbering, major, minor) - 1 : NUMBERING_NONE;
}

static bool grow(struct numbering *numbering)
{
	uint32_t count = numbering->slot_count ? 2 * numbering->slot_count : FIRST_SLOTS;
	uint32_t *slots = calloc(count, sizeof(*slots));
	void *keys = realloc(numbering->keys, count / 2 * sizeof(*numbering->keys));

	if (keys)
		numbering->keys = keys;
	if (!slots || !keys) {
		free(slots);
		return false;
	}
	free(numbering->slots);
	numbering->slots = slots;
	numbering->slot_count = count;
	for (uint32_t k = 0; k < numbering->count; k++)
		*slot_of(numbering, numbering->keys[k].major, numbering->keys[k].minor) = k + 1;
	return true;
}

uint32_t numbering_add(struct numbering *numbering, uint64_t major, uint32_t minor)
{
	if (2 * (numbering->count + 1) > numbering->slot_count && !grow(numbering))
		return NUMBERING_NONE;
	*slot_of(numbering, major, minor) = numbering->count + 1;
	numbering->keys[numbering->count] = (struct numbering_key){ major, minor };
	return numbering->count++;
}

void numbering_free(struct numbering *numbering)
{
	free(numbering->keys);
	free(numbering->slots);
	*numbering = (struct numbering){ 0 };
}
