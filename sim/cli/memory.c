/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/memory.h"
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Enough to get out of what is under way. */
enum { RESERVE = 1 << 20 };

/* The command's alone: the library has no such state. */
static atomic_bool refused;
static _Atomic(void *) reserve;

/* Never NULL, for not all of jansson expects it. */
static void *watched_malloc(size_t size)
{
	void *memory = malloc(size);

	if (memory || !size)
		return memory;
	atomic_store(&refused, true);
	free(atomic_exchange(&reserve, NULL));
	memory = malloc(size);
	if (!memory) {
		fputs("hitm: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

void memory_watch(void)
{
	atomic_store(&reserve, malloc(RESERVE));
	json_set_alloc_funcs(watched_malloc, free);
}

bool memory_sufficed(struct error *error)
{
	return !atomic_load(&refused) || error_set(error, "out of memory");
}

void memory_release_reserve(void)
{
	free(atomic_exchange(&reserve, NULL));
}
