/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who held one line, when, and who waited: the story behind a pair of fields. */
#ifndef MEASURE_TIMELINE_H
#define MEASURE_TIMELINE_H

#include "machine/machine.h"

enum moment_kind { MOMENT_GAINED, MOMENT_LOST, MOMENT_WAITED };

struct moment {
	uint64_t time;
	enum moment_kind kind;
	uint16_t core, thread; /* thread: of MOMENT_WAITED */
	uint8_t state, loss;
	struct origin origin; /* the access that waited, or that took the line away */
	uint64_t waited;
};

struct timeline {
	uint64_t line; /* address */
	uint64_t from; /* cycle */
	uint32_t count, capacity;
	struct moment moments[];
};

/* Keeps the first `capacity` moments of a line from a cycle on. */
struct timeline *timeline_new(uint64_t line, uint64_t from, uint32_t capacity);
void timeline_free(struct timeline *timeline);

void timeline_gained(struct timeline *timeline, uint32_t core, const struct copy *copy,
		     uint64_t now);
void timeline_lost(struct timeline *timeline, uint32_t core, const struct copy *copy,
		   enum loss loss, const struct origin *by, uint64_t now);
void timeline_stalled(struct timeline *timeline, const struct thread *thread,
		      const struct stall *stall);

#endif
