/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for what comes, in the order in which it first comes: 0, 1, 2 ... */
#ifndef WORKLOAD_NUMBERING_H
#define WORKLOAD_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBERING_NONE = UINT32_MAX };

/* Empty when zeroed. */
struct numbering {
	uint32_t count;
	struct numbering_key {
		uint64_t major;
		uint32_t minor;
	} * keys;        /* by number */
	uint32_t *slots; /* hash table of numbers + 1, at most half full; a power of two */
	uint32_t slot_count;
};

/* The number of a key, or NUMBERING_NONE. */
uint32_t numbering_find(const struct numbering *numbering, uint64_t major, uint32_t minor);
/* Numbers a key that has none yet. NUMBERING_NONE without memory. */
uint32_t numbering_add(struct numbering *numbering, uint64_t major, uint32_t minor);
void numbering_free(struct numbering *numbering);

#endif
