/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The smallest things that threads do to a line, in loops as tight as a benchmark's. */
#ifndef MODELS_MICRO_H
#define MODELS_MICRO_H

#include "models/access.h"

enum micro_program {
	MICRO_ADD,       /* lock add */
	MICRO_XADD,      /* lock xadd: the old value is used */
	MICRO_XCHG,      /* exchange */
	MICRO_CMPXCHG,   /* load, then compare-exchange until it succeeds */
	MICRO_LOAD_ADD,  /* load, then lock xadd */
	MICRO_STORE,     /* sixteen plain stores */
	MICRO_INCREMENT, /* load, add, plain store, sixteen times */
	MICRO_LOAD       /* sixteen loads, each waiting for the one before */
};

enum { MICRO_TIMES = 16 };

struct micro_object {
	struct place slot;
};

struct micro_worker {
	struct micro_object *object;
	enum micro_program program;
	uint32_t operation; /* that it counts as */
	uint64_t sum;       /* of what was loaded, so that it is used */
};

/* A thread's body; its argument is a struct micro_worker. Does not return. */
void micro_repeat(struct thread *self, void *worker);

#endif
