/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements of several threads, in batches, each between two rounds of a token that the threads
 * pass on. A hypervisor may move its CPUs about, now two threads of a core, now cores of different
 * clusters, without telling: how long the token took tells what a batch was measured on. */
#ifndef NATIVE_BOUT_H
#define NATIVE_BOUT_H

#include "native/bench.h"
#include "native/crew.h"

/* One batch, done by every thread of the bout between two meetings. */
typedef void bout_batch(struct crewman *self, void *argument, uint32_t batch);
/* By one thread, when the others are done: false where the batch is no good. */
typedef bool bout_judge(void *argument, uint32_t batch);

enum { BOUT_BATCHES_MOST = 1024 };

struct bout {
	const struct bench *bench;
	const uint32_t *order; /* CPUs of the host */
	uint32_t threads;
	double token_ns; /* what a hand-over of the token has to take, within BOUT_TOLERANCE; 0: as
			    long as it mostly did */
	bout_batch *batch;
	bout_judge *judge; /* may be NULL */
	void *argument;
	/* what came out: */
	uint32_t batches, accepted;
	bool good[BOUT_BATCHES_MOST];
	double token[BOUT_BATCHES_MOST]; /* the slower of two */
	/* within: */
	uint64_t word;
	double before, after;
	bool more;
};

#define BOUT_TOLERANCE 0.3

/* Batches until bench->batches are accepted, or bench->seconds have passed, or there are
 * BOUT_BATCHES_MOST. The token, if it was 0, is then what it mostly was. */
bool bout_run(struct bout *bout, struct error *error);

/* Of the values of all batches, those accepted. */
struct sample bout_sample(const struct bout *bout, const double *values);

/* The value that the most lie about, within BOUT_TOLERANCE: their median. *share is their part of
 * all. NaN values do not count. */
double bout_mode(const double *values, uint32_t count, double *share);

#endif
