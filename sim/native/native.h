/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads run for real: the code and the layouts of a simulation, on the CPUs of this host. */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include "native/host.h"
#include <stddef.h>

struct build;

struct native_plan {
	const struct host *host;
	const uint32_t *order; /* CPUs of the host by thread, see host_order */
	uint32_t cpus;         /* in it */
	double ms;             /* of a repetition */
	uint32_t repeats;      /* that count, at least 1; one more comes first, to warm up */
};

enum { NATIVE_NOISE_SIZE = 160 };

struct native_result {
	uint32_t threads;     /* of the workload */
	uint32_t doing;       /* of these, that do the operation that counts */
	double rate;          /* of it, a second, by all threads: median of the repetitions */
	double ns, low, high; /* of one, by a thread: median, tenth and ninetieth of a hundred */
	uint32_t repeats;     /* that were not disturbed, of those that count */
	uint32_t disturbed;   /* repetitions, done again or, where it never was quiet, counted */
	char noise[NATIVE_NOISE_SIZE]; /* what disturbed the last of them */
};

/* Runs what has been built, each thread bound to a CPU, in repetitions that go on from one another.
 * One that was disturbed (stolen time, another clock, other tasks) is done again, up to three times
 * as many in all. What the threads did is in the build's memory and objects then. False with *error
 * set: more threads than CPUs, no memory, no such code, or threads that did not come to an end. */
bool native_run(struct build *build, const struct native_plan *plan, struct native_result *result,
		struct error *error);

/* The same for code that is in no build: so many threads, each with its body, its argument and its
 * stream. `base` is where address 0 of their places is; NULL: their bodies use no places. */
struct native_source;
bool native_run_bodies(const struct native_source *sources, uint32_t count, unsigned char *base,
		       const struct native_plan *plan, struct native_result *result,
		       struct error *error);

/* The q-th of n sorted numbers, 0 <= q <= 1, between two where it falls there. */
double native_quantile(const double *sorted, size_t n, double q);

#endif
