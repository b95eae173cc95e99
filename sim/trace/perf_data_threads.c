/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/perf_data.h"
#include <stdlib.h>

static struct perf_thread *find(const struct perf_threads *threads, uint32_t tid)
{
	uint32_t slot = (tid * 2654435761u) & (threads->slots - 1); /* Fibonacci hashing */

	while (threads->all[slot].taken && threads->all[slot].tid != tid)
		slot = (slot + 1) & (threads->slots - 1);
	return &threads->all[slot];
}

static bool grow(struct perf_threads *threads)
{
	struct perf_threads larger = { .slots = threads->slots ? 2 * threads->slots : 64,
				       .count = threads->count };

	larger.all = calloc(larger.slots, sizeof(*larger.all));
	if (!larger.all)
		return false;
	for (uint32_t k = 0; k < threads->slots; k++)
		if (threads->all[k].taken)
			*find(&larger, threads->all[k].tid) = threads->all[k];
	free(threads->all);
	*threads = larger;
	return true;
}

bool perf_threads_name(struct perf_threads *threads, uint32_t tid, const char *name)
{
	struct perf_thread *thread = threads->slots ? find(threads, tid) : NULL;

	if (!thread || !thread->taken) {
		if (threads->count == TRACE_THREADS_MAX)
			return false;
		if (2 * threads->count >= threads->slots && !grow(threads))
			return false;
		thread = find(threads, tid);
		thread->taken = true;
		thread->tid = tid;
		threads->count++;
	}
	thread->length = (uint8_t)strnlen(name, THREAD_NAME - 1);
	memset(thread->name, 0, THREAD_NAME);
	memcpy(thread->name, name, thread->length);
	return true;
}

bool perf_threads_fork(struct perf_threads *threads, uint32_t tid, uint32_t parent)
{
	char name[THREAD_NAME] = "";

	if (threads->slots)
		memcpy(name, find(threads, parent)->name, THREAD_NAME);
	return perf_threads_name(threads, tid, name);
}

struct text perf_threads_find(const struct perf_threads *threads, uint32_t tid)
{
	const struct perf_thread *thread = threads->slots ? find(threads, tid) : NULL;

	return thread && thread->length ? (struct text){ thread->name, thread->length }
					: (struct text){ NULL, 0 };
}

void perf_threads_free(struct perf_threads *threads)
{
	free(threads->all);
}
