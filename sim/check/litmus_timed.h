/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Litmus tests on the timed machine, many times over.
 *
 * Each execution draws where threads run and variables lie, who holds which line beforehand, when
 * threads start and how long they pause, what else happens to the lines meanwhile, and how the
 * machine is built. Every outcome must be one that the oracle allows; in addition the machine
 * compares every value that it reads with the last one stored (coherence_config.paranoid). */
#ifndef CHECK_LITMUS_TIMED_H
#define CHECK_LITMUS_TIMED_H

#include "check/tso.h"
#include "coherence/coherence.h"

/* Alternatives to draw from, a bit each. */
enum litmus_threads {
	LITMUS_SIBLINGS = 1, /* two threads a core */
	LITMUS_SOCKET = 2,   /* cores of one socket */
	LITMUS_ACROSS = 4,   /* sockets in turn */
	LITMUS_ANYWHERE = 8
};
enum litmus_variables {
	LITMUS_APART = 1, /* a line each */
	LITMUS_TOGETHER = 2,
	LITMUS_PAIRED = 4 /* two a line */
};
enum litmus_switch { LITMUS_OFF = 1, LITMUS_ON = 2 };

struct litmus_timed_config {
	/* All but the sizes of caches, which are drawn, `paranoid`, which is always on, and the
	 * seed. */
	struct coherence_config coherence;
	uint64_t executions;
	uint64_t seed;
	/* What may be drawn: masks of the alternatives above; 0 is any. */
	uint8_t threads, variables;
	uint8_t evictions;  /* caches of a few lines, and loads of others between instructions */
	uint8_t prefetches; /* the test's lines are read or owned ahead, by its threads or others */
	uint8_t groups;     /* loads in a row are announced and read together */
};

struct litmus_timed_result {
	uint64_t executions;
	uint64_t filtered;  /* that the test's filter sets aside */
	uint64_t forbidden; /* that ended as the oracle does not allow */
	uint64_t *seen;     /* that ended in the k-th of the expected outcomes */
	/* The first forbidden one: its number, and its values in the order of the test's names. */
	uint64_t first;
	uint64_t values[LITMUS_NAMES_MAX];
};

/* Executes a test so many times, and counts how it ended, `expected` being what the oracle allows
 * (with the same names). The same configuration gives the same counts. On success the result is to
 * be freed with litmus_timed_free. False with *error set where the machine cannot be built, or has
 * found a defect in itself. */
bool litmus_timed(const struct litmus *litmus, const struct litmus_timed_config *config,
		  const struct tso_result *expected, struct litmus_timed_result *result,
		  struct error *error);
void litmus_timed_free(struct litmus_timed_result *result);

#endif
