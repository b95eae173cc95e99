/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every reachable state of the protocol, over every order of messages that the networks allow.
 *
 * Data are one bit, and a store writes either value, so that a stale copy is a wrong value in some
 * state. Properties: those of model_sound and model_agrees; every event has a row; from every state
 * the line can fall silent again, so that nothing deadlocks and, if messages are delivered fairly,
 * every request completes. */
#ifndef CHECK_EXPLORE_H
#define CHECK_EXPLORE_H

#include "check/model.h"

struct explore_options {
	struct protocol_variant variant;
	const struct protocol *rows; /* NULL: the variant's; else these in their place */
	uint32_t caches;             /* 2 .. MODEL_CACHES_MAX */
	uint32_t lines;              /* 1; or 2, which share one way of each cache */
	bool symmetry;               /* states that differ in the caches' names alone are one */
	enum model_mistake mistake;
	uint64_t limit; /* states; 0: none */
};

enum explore_verdict {
	EXPLORE_HOLDS,
	EXPLORE_VIOLATED,
	EXPLORE_LIMIT, /* more states than the limit; no violation among them */
	EXPLORE_NO_MEMORY
};

struct explore_result {
	enum explore_verdict verdict;
	uint64_t states, rules; /* rules: moves made, counted once for each value written */
	/* How many these are without symmetry: each state stands for all that it can be renamed
	 * to. */
	uint64_t raw_states, raw_rules;
	uint32_t rows, rows_reached;
	char property[200];  /* what was violated */
	char trace[4000];    /* the shortest way there, a line a move */
	char unreached[400]; /* rows never reached */
};

enum explore_verdict explore(const struct explore_options *options, struct explore_result *result);

#endif
