/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of hitm check. Each prints a line of figures, and says first what is wrong, if anything
 * is. */
#ifndef CLI_CHECK_PARTS_H
#define CLI_CHECK_PARTS_H

#include "config/error.h"
#include <stdbool.h>
#include <stdint.h>

/* How much of each. */
struct check_effort {
	bool every_variant; /* whatever has been pinned; mistakes and litmus tests in all variants */
	uint32_t litmus_limit; /* states of a litmus test with evictions; 0: without them */
	uint64_t timed;        /* executions of litmus tests */
	uint64_t accesses;
	uint64_t mangled; /* inputs of each kind */
	double seconds;   /* after so many no storm is begun; 0: no end */
};

struct check_run {
	struct check_effort effort;
	uint64_t seed;
	bool verbose;
	double begun; /* seconds, of the wall clock */
};

/* True where all is well. Each runs on all threads that OpenMP has. */
bool check_protocol(const struct check_run *run);
bool check_mistakes(const struct check_run *run);
bool check_litmus(const struct check_run *run);
bool check_timed(const struct check_run *run);
bool check_storms(const struct check_run *run);
bool check_inputs(const struct check_run *run);

/* Seconds of the wall clock. */
double check_clock(void);

/* One litmus test of the user's: what x86-TSO allows, what the protocol's table and the timed
 * machine show. False with *error set where the file cannot be read, or where *wrong is set. */
bool check_one_litmus(const struct check_run *run, const char *path, bool *wrong,
		      struct error *error);

/* A storm of the user's. True if it holds. */
bool check_one_storm(int argc, char **argv, bool *wrong, struct error *error);

#endif
