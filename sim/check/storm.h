/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A storm: threads that access a few objects at random, in pieces of all sizes, so that each value
 * they see can be judged without knowing anything of the protocol below.
 *
 * Memory is cut into objects of 64 bytes, and those, at random, into cells of 1, 2, 4 or 8 bytes,
 * each of one role:
 *   COUNTER  all add to it; the sum must be exact in the end
 *   STAMP    one thread stores its next number, which it counts over all its stamps. Stores are seen
 *            in order: whoever has seen a number may see none older in any stamp of that thread
 *   SHADOW   one thread writes it, in pieces, and must always read back what it wrote last
 *   TOKEN    all exchange what is there for something new: what was put in comes out, once
 *   TICKET   all draw numbers by compare-and-exchange: each number goes to one thread, none is left
 *            out */
#ifndef CHECK_STORM_H
#define CHECK_STORM_H

#include "machine/machine.h"

enum storm_role {
	STORM_COUNTER,
	STORM_STAMP,
	STORM_SHADOW,
	STORM_TOKEN,
	STORM_TICKET,
	STORM_ROLES
};

/* What threads do beside operations on single cells. */
enum storm_deed { STORM_LOOK, STORM_GROUP, STORM_WORK, STORM_FENCE, STORM_DEEDS };

enum { STORM_OBJECT = 64, STORM_OBJECTS_MAX = 64, STORM_STEPS_MAX = 60000 };

struct storm_plan {
	uint32_t threads, objects;
	uint32_t steps;    /* a thread, of one access or a few */
	uint64_t base;     /* address of the first object, a multiple of 64 */
	uint64_t stride;   /* from one object to the next, a multiple of 64 */
	uint32_t roles;    /* a bit for each role that cells may have; not 0 */
	uint32_t deeds;    /* a bit for each deed */
	uint32_t hot;      /* of 8 operations so many go to the first cell */
	uint32_t work;     /* cycles of STORM_WORK, at most */
	uint32_t cpu_step; /* threads go to cpu 0, cpu_step, ..., then 1, 1 + cpu_step, ... */
};

struct storm;

/* Sets up a storm on a machine and adds its threads. The machine's seed fixes all that is random.
 * NULL with *error set where the machine has no room for the threads, or without memory. */
struct storm *storm_new(const struct storm_plan *plan, struct machine *machine,
			struct error *error);
void storm_free(struct storm *storm);

/* After machine_run and machine_rest: are all values right, and memory too? False with *error set
 * to the first mistake: the storm ends with it. */
bool storm_held(struct storm *storm, struct error *error);

/* Of all values that were read, in the order of the threads. */
uint64_t storm_hash(const struct storm *storm);
/* Loads, stores and locked operations so far. */
uint64_t storm_accesses(const struct storm *storm);

#endif
