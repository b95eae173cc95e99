/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that measure together, each bound to a CPU of its own. Whoever waits for another spins,
 * but yields now and then and gives up in the end: where the threads share one CPU, or a tool runs
 * them one by one, the measurement is slow or missing, and nothing hangs. */
#ifndef NATIVE_CREW_H
#define NATIVE_CREW_H

#include "native/host.h"

struct crew;

struct crewman {
	struct crew *crew;
	uint32_t index; /* from 0 */
	uint32_t spins;
};

typedef void crew_body(struct crewman *self, void *argument);

enum { CREW_SPINS = 1 << 14 };

/* Runs body in `count` threads on the CPUs order[0], order[1], ... of the host. True when all are
 * done; false with *error set where a thread cannot be made or bound, or some waited for longer than
 * `seconds` after the start. */
bool crew_run(const struct host *host, const uint32_t *order, uint32_t count, double seconds,
	      crew_body *body, void *argument, struct error *error);

/* Waits until every thread is here. False where the crew has given up: the body then returns. */
bool crew_meet(struct crewman *self);

/* For loops of one's own: false where the crew has given up. */
bool crew_yield(struct crewman *self);
static inline bool crew_spin(struct crewman *self)
{
	return ++self->spins % CREW_SPINS || crew_yield(self);
}

#endif
