/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timing wheel of one-cycle slots for what is near, a binary heap for what is far.
 *
 * Invariants: the wheel holds the events of [base, base + SLOTS), the heap all later ones; a slot's
 * list is in order; bit k of `used` is set iff slot k has events. `base` is the time of the last
 * event taken. Most latencies are a few hundred cycles, so nearly every event goes straight to a
 * slot and costs a bit scan to find. */
#include "engine/queue.h"
#include <stdlib.h>

enum { SLOTS = 4096, WORDS = SLOTS / 64 };

struct queue {
	uint64_t base;
	uint64_t summary; /* bit w: used[w] is not 0 */
	uint64_t used[WORDS];
	struct event *slot[SLOTS];
	struct event **heap; /* heap[0] is the earliest */
	uint32_t heap_count, heap_capacity;
};

struct queue *queue_new(void)
{
	return calloc(1, sizeof(struct queue));
}

void queue_free(struct queue *queue)
{
	if (queue)
		free(queue->heap);
	free(queue);
}

static void wheel_insert(struct queue *queue, struct event *event)
{
	uint32_t k = event->time % SLOTS;
	struct event **at = &queue->slot[k];

	while (*at && event_before(*at, event))
		at = &(*at)->next;
	event->next = *at;
	*at = event;
	queue->used[k / 64] |= 1ull << (k % 64);
	queue->summary |= 1ull << (k / 64);
}

static bool heap_insert(struct queue *queue, struct event *event)
{
	if (queue->heap_count == queue->heap_capacity) {
		uint32_t capacity = queue->heap_capacity ? queue->heap_capacity * 2 : 256;
		struct event **heap = realloc(queue->heap, capacity * sizeof(*heap));

		if (!heap)
			return false;
		queue->heap = heap;
		queue->heap_capacity = capacity;
	}
	uint32_t k = queue->heap_count++;

	for (; k > 0 && event_before(event, queue->heap[(k - 1) / 2]); k = (k - 1) / 2)
		queue->heap[k] = queue->heap[(k - 1) / 2];
	queue->heap[k] = event;
	return true;
}

static struct event *heap_take(struct queue *queue)
{
	struct event *first = queue->heap[0];
	struct event *last = queue->heap[--queue->heap_count];
	uint32_t k = 0, child;

	while ((child = 2 * k + 1) < queue->heap_count) {
		if (child + 1 < queue->heap_count &&
		    event_before(queue->heap[child + 1], queue->heap[child]))
			child++;
		if (!event_before(queue->heap[child], last))
			break;
		queue->heap[k] = queue->heap[child];
		k = child;
	}
	queue->heap[k] = last;
	return first;
}

/* Moves `base` forward and the events that thereby come near from the heap to the wheel. */
static void advance(struct queue *queue, uint64_t base)
{
	queue->base = base;
	while (queue->heap_count && queue->heap[0]->time - base < SLOTS)
		wheel_insert(queue, heap_take(queue));
}

bool queue_push(struct queue *queue, struct event *event)
{
	if (event->time - queue->base >= SLOTS)
		return heap_insert(queue, event);
	wheel_insert(queue, event);
	return true;
}

/* The first used slot at or after base, going round. The wheel must not be empty. */
static uint32_t wheel_first(const struct queue *queue)
{
	uint32_t start = queue->base % SLOTS, word = start / 64;
	uint64_t here = queue->used[word] & (~0ull << (start % 64));

	if (here)
		return word * 64 + (uint32_t)__builtin_ctzll(here);

	uint64_t later = word == 63 ? 0 : queue->summary & (~0ull << (word + 1));

	word = (uint32_t)__builtin_ctzll(later ? later : queue->summary);
	return word * 64 + (uint32_t)__builtin_ctzll(queue->used[word]);
}

uint64_t queue_next_time(struct queue *queue)
{
	if (queue->summary)
		return queue->slot[wheel_first(queue)]->time;
	return queue->heap_count ? queue->heap[0]->time : UINT64_MAX;
}

struct event *queue_pop(struct queue *queue)
{
	if (!queue->summary) {
		if (!queue->heap_count)
			return NULL;
		advance(queue, queue->heap[0]->time);
	}
	uint32_t k = wheel_first(queue);
	struct event *event = queue->slot[k];

	queue->slot[k] = event->next;
	if (!event->next) {
		queue->used[k / 64] &= ~(1ull << (k % 64));
		if (!queue->used[k / 64])
			queue->summary &= ~(1ull << (k / 64));
	}
	if (event->time != queue->base)
		advance(queue, event->time);
	return event;
}
