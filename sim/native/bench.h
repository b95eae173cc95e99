/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Microbenchmarks of the host: the programs that workload/probe.h runs on a model, for real. Each
 * figure is a sample of so many batches, in ns. CPUs are indices of host->cpus. All return false
 * with *error set where threads or memory are lacking or do not get on. */
#ifndef NATIVE_BENCH_H
#define NATIVE_BENCH_H

#include "native/host.h"
#include "native/sample.h"

struct bench {
	const struct host *host;
	const struct host_clock *clock;
	uint32_t batches; /* of each figure, 1 to BENCH_BATCHES_MOST */
	double seconds;   /* that a figure of several threads may take to get them */
};

enum { BENCH_BATCHES_MOST = 200 };

/* ---- one thread ----------------------------------------------------------------------------- */

enum bench_operation {
	OPERATION_LOCKED_ADD, /* its result unused */
	OPERATION_FETCH_ADD,
	OPERATION_XCHG,
	OPERATION_CMPXCHG, /* that succeeds */
	OPERATION_FENCE,   /* with an empty store buffer */
	OPERATION_FORWARD, /* a store, and a load of it that the next store waits for */
};

/* An operation on a line that the core owns, each after the one before. */
bool bench_operation(const struct bench *bench, uint32_t cpu, enum bench_operation operation,
		     struct sample *sample, struct error *error);

/* A load of a line out of `size` bytes in random order, each after the one before; *huge is the part
 * of the memory that lay in huge pages. The memory is that of the node of CPU `home`. */
bool bench_walk(const struct bench *bench, uint32_t cpu, uint32_t home, uint64_t size,
		struct sample *sample, double *huge, struct error *error);

/* Lines that the thread waits for at once: how much more gets done when it follows several chains
 * through `size` bytes than when it follows one. */
bool bench_overlap(const struct bench *bench, uint32_t cpu, uint64_t size, struct sample *sample,
		   struct error *error);

/* ---- two threads ---------------------------------------------------------------------------- */

enum bench_duel {
	DUELS_DIRTY,    /* the second loads lines that the first has stored to */
	DUELS_CLEAN,    /* that the first has loaded from memory */
	DUELS_UPGRADE,  /* the second adds to lines that both have loaded, less the add itself */
	DUELS_CAS,      /* they alternate by compare-exchange alone; half a round */
	DUELS_LOAD_CAS, /* each loads until it is its turn, then compare-exchange; half a round */
	DUELS_RELOAD, /* the first loads lines again that it had stored to and the second loaded */
};

struct bench_pair {
	uint32_t first, second;
	bool home_at_second; /* the lines' home is the node of the second; else of the first */
	double token_ns;     /* see bout.h; 0: any */
};

/* The token is then what it was. */
bool bench_duel(const struct bench *bench, struct bench_pair *pair, enum bench_duel duel,
		struct sample *sample, struct error *error);

/* ---- many threads --------------------------------------------------------------------------- */

enum bench_contest {
	CONTESTS_FETCH_ADD,
	CONTESTS_CAS_LOOP,      /* goes on with the value it was given */
	CONTESTS_LOAD_CAS_LOOP, /* loads again */
	CONTESTS_PLAIN_ADD,     /* load, add, store: additions get lost */
	CONTESTS_TRACE,         /* fetch-add, results kept: they tell who had the line before */
};

/* Who did the operation before. */
enum bench_before { BEFORE_SELF, BEFORE_SIBLING, BEFORE_CLUSTER, BEFORE_SOCKET, BEFORE_ELSEWHERE };
enum { BEFORE_KINDS = BEFORE_ELSEWHERE + 1 };

struct bench_contest_result {
	struct sample ns; /* an operation of all threads; of a thread for CONTESTS_PLAIN_ADD */
	struct sample
		visit; /* of CONTESTS_TRACE: operations of a core before another has the line */
	struct sample fairness; /* operations of the luckiest thread to those of the least lucky */
	uint64_t before[BEFORE_KINDS]; /* of CONTESTS_TRACE */
};

/* `threads` of them, on the CPUs order[0], order[1], ...; the token as in bout.h. */
bool bench_contest(const struct bench *bench, const uint32_t *order, uint32_t threads,
		   double token_ns, enum bench_contest contest, struct bench_contest_result *result,
		   struct error *error);

#endif
