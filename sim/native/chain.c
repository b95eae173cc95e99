/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/chain.h"
#include "engine/random.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, LINE_SIZE = 512 };

bool arena_new(struct arena *arena, size_t size, struct error *error)
{
	size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	*arena = (struct arena){ .size = size, .mapped = size + HUGE_PAGE };
	arena->mapping = mmap(NULL, arena->mapped, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena->mapping == MAP_FAILED)
		return error_set(error, "no %zu MiB of memory to measure with: %s", size >> 20,
				 strerror(errno));
	arena->base =
		(char *)(((uintptr_t)arena->mapping + HUGE_PAGE - 1) & ~((uintptr_t)HUGE_PAGE - 1));
	madvise(arena->base, size, MADV_HUGEPAGE); /* else arena_huge shows it */
	return true;
}

void arena_free(struct arena *arena)
{
	if (arena->base)
		munmap(arena->mapping, arena->mapped);
	arena->base = NULL;
}

double arena_huge(const struct arena *arena)
{
	uintptr_t first = (uintptr_t)arena->base, last = first + arena->size;
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0, kib, huge = 0;
	char line[LINE_SIZE];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			continue;
		if (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1 && from < last && to > first)
			huge += kib;
	}
	fclose(file);
	return (double)huge * 1024 < (double)arena->size ? (double)huge * 1024 / (double)arena->size
							 : 1;
}

static struct link *link_at(void *base, uint64_t index, size_t stride)
{
	return (struct link *)((char *)base + index * stride);
}

/* Sattolo's shuffle of a ring of one: in the end there is a single ring. */
struct link *chain_make(void *base, uint32_t count, size_t stride)
{
	struct random random = random_stream(1, "native.chain", count);

	for (uint32_t k = 0; k < count; k++) {
		struct link *link = link_at(base, k, stride);

		link->next = link;
		link->word = 0;
	}
	for (uint32_t k = count - 1; k > 0; k--) {
		struct link *a = link_at(base, k, stride),
			    *b = link_at(base, random_below(&random, k), stride);
		struct link *next = a->next;

		a->next = b->next;
		b->next = next;
	}
	return base;
}

bool chain_flush(struct link *first)
{
#if defined(__x86_64__) || defined(__aarch64__)
	struct link *at = first;

	do {
		struct link *next = at->next;

#if defined(__x86_64__)
		__asm__ volatile("clflush %0" : "+m"(*at));
#else
		__asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
#endif
		at = next;
	} while (at != first);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return true;
#else
	(void)first;
	return false;
#endif
}
