/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/timeline.h"
#include <stdlib.h>

struct timeline *timeline_new(uint64_t line, uint64_t from, uint32_t capacity)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline) + capacity * sizeof(struct moment));

	if (timeline) {
		timeline->line = line;
		timeline->from = from;
		timeline->capacity = capacity;
	}
	return timeline;
}

void timeline_free(struct timeline *timeline)
{
	free(timeline);
}

static struct moment *next_moment(struct timeline *timeline, const struct copy *copy,
				  enum moment_kind kind, uint64_t now)
{
	struct moment *moment;

	if (copy->address != timeline->line || now < timeline->from ||
	    timeline->count == timeline->capacity)
		return NULL;
	moment = &timeline->moments[timeline->count++];
	moment->kind = kind;
	moment->time = now;
	moment->state = copy->state;
	return moment;
}

void timeline_gained(struct timeline *timeline, uint32_t core, const struct copy *copy,
		     uint64_t now)
{
	struct moment *moment = next_moment(timeline, copy, MOMENT_GAINED, now);

	if (moment)
		moment->core = (uint16_t)core;
}

void timeline_lost(struct timeline *timeline, uint32_t core, const struct copy *copy,
		   enum loss loss, const struct origin *by, uint64_t now)
{
	struct moment *moment = next_moment(timeline, copy, MOMENT_LOST, now);

	if (!moment)
		return;
	moment->core = (uint16_t)core;
	moment->loss = (uint8_t)loss;
	if (by)
		moment->origin = *by;
}

void timeline_stalled(struct timeline *timeline, const struct thread *thread,
		      const struct stall *stall)
{
	struct moment *moment = next_moment(timeline, stall->copy, MOMENT_WAITED, stall->until);

	if (!moment)
		return;
	moment->core = (uint16_t)stall->core;
	moment->thread = (uint16_t)thread->number;
	moment->origin = stall->origin;
	moment->waited = stall->cycles;
}
