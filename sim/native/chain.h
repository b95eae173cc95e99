/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory to measure with, and dependent loads through it. */
#ifndef NATIVE_CHAIN_H
#define NATIVE_CHAIN_H

#include "config/error.h"
#include <stddef.h>
#include <stdint.h>

/* In huge pages where the kernel gives them. Whoever writes a page first decides on which NUMA node
 * it is. */
struct arena {
	char *base;
	size_t size;
	void *mapping;
	size_t mapped;
};

/* `size`, rounded up to whole huge pages; not yet touched. False with *error set where there is no memory. */
bool arena_new(struct arena *arena, size_t size, struct error *error);
void arena_free(struct arena *arena);
/* The part of what was touched that lies in huge pages: 0 to 1. */
double arena_huge(const struct arena *arena);

/* What is at the start of each line of a chain. */
struct link {
	struct link *next;
	uint64_t word; /* to be written */
};

/* Links `count` lines `stride` bytes apart into one ring, in random order (the same each time), so
 * that no prefetcher can tell what comes next. `stride` is at least sizeof(struct link). Returns the
 * first. */
struct link *chain_make(void *base, uint32_t count, size_t stride);

/* Follows `steps` links; each load needs the one before. */
static inline struct link *chain_walk(struct link *at, uint64_t steps)
{
	for (; steps; steps--) {
		at = *(struct link *volatile *)&at->next;
		__asm__ volatile("" : "+r"(at));
	}
	return at;
}

/* Drops from all caches every line of a ring. False where a user program cannot. */
bool chain_flush(struct link *first);

#endif
