/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Litmus tests over the protocol's table: threads with a store buffer each, every interleaving of
 * threads, drains and messages in every order. How a test can end here is compared with x86-TSO's
 * oracle, which knows no caches. */
#ifndef CHECK_LITMUS_EXPLORE_H
#define CHECK_LITMUS_EXPLORE_H

#include "check/litmus_timed.h"
#include "check/model.h"

enum { LITMUS_EXPLORE_THREADS_MAX = MODEL_CACHES_MAX };

struct litmus_explore_options {
	struct protocol_variant variant;
	const struct protocol *rows;     /* NULL: the variant's; else these in their place */
	enum litmus_variables variables; /* one of them */
	bool evictions, prefetches;      /* at any time */
	bool undrained;                  /* a mistake: locked operations pass the store buffer */
	uint64_t limit;                  /* states; 0: none */
};

enum litmus_verdict {
	LITMUS_EQUAL,     /* ends in just the ways that the oracle allows */
	LITMUS_FORBIDDEN, /* ends in one that it does not allow */
	LITMUS_MISSING,   /* does not end in one that it allows */
	LITMUS_BROKEN,    /* a row is missing, or a property of the protocol does not hold */
	LITMUS_UNFIT,     /* too many threads, locations or values for this model */
	LITMUS_LIMIT      /* more states than the limit, or no memory; nothing wrong among them */
};

struct litmus_explore_result {
	enum litmus_verdict verdict;
	uint64_t states;
	uint32_t outcomes; /* that the oracle allows, seen */
	char what[200];    /* is wrong */
};

enum litmus_verdict litmus_explore(const struct litmus *litmus, const struct tso_result *expected,
				   const struct litmus_explore_options *options,
				   struct litmus_explore_result *result);

const char *litmus_verdict_name(enum litmus_verdict verdict);

#endif
