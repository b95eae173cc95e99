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
	MICRO_STORE,     /* plain store */
	MICRO_INCREMENT, /* load, add, plain store */
	MICRO_LOAD       /* load, which waits for the one before */
};

/* Of the program, in an operation. */
enum { MICRO_TIMES = 16 };

struct micro_object {
	struct place slot;
};

struct micro_worker {
	struct micro_object *object;
	enum micro_program program;
	uint32_t operation; /* that it counts as */
};

/* A thread's body; its argument is a struct micro_worker. Does not return. */
void micro_repeat(struct thread *self, void *worker);

#endif
