/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event queue: what happens next, in exact order.
 *
 * Events are ordered by (time, cause, source, count): the cycle at which an event happens, the
 * cycle at which it was decided, who decided it, and that source's own count of decisions. The last
 * three are the event's *sequence*. They do not depend on the order in which the host happened to
 * run the sources, so a core that ran ahead leaves the same order as one that took its turn at
 * every access. No two events are equal. */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct event {
	uint64_t time;  /* cycle at which it happens; later than `cause` or equal */
	uint64_t cause; /* cycle at which it was decided */
	uint32_t source;
	uint32_t count;
	struct event *next; /* the queue's */
};

struct queue;

/* An empty queue, or NULL without memory. Events stay the caller's. */
struct queue *queue_new(void);
void queue_free(struct queue *queue);

/* Adds an event. Its time must not be before that of the last event taken. False without memory. */
bool queue_push(struct queue *queue, struct event *event);

/* Takes the earliest event, or NULL from an empty queue. */
struct event *queue_pop(struct queue *queue);

/* The time of the earliest event; UINT64_MAX of an empty queue. */
uint64_t queue_next_time(struct queue *queue);

/* Does `a` happen before `b`? */
static inline bool event_before(const struct event *a, const struct event *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->cause != b->cause)
		return a->cause < b->cause;
	if (a->source != b->source)
		return a->source < b->source;
	return a->count < b->count;
}

#endif
