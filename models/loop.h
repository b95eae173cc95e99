/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of the loop workload repeat, as workload/loop.c has read it from YAML. */
#ifndef MODELS_LOOP_H
#define MODELS_LOOP_H

#include "models/access.h"

enum {
	STEPS_MAX = 64,
	OPERANDS_MAX = 256 /* fields named in a group */
};

struct node;
struct object_set;
struct layout_field;

enum operation { READ, WRITE, ADD, XCHG, CMPXCHG, FENCE, WORK, OPERATIONS };

struct step {
	enum operation operation;
	uint32_t first, count; /* of the group's operands */
	double chance, cycles, jitter;
	bool exponential;
	int64_t by;
};

/* A field that a step names. */
struct operand {
	const struct node *node;
	const struct object_set *set;
	const struct layout_field *field;
	uint32_t slot; /* the first operand of the group that names the same */
};

struct group {
	const struct node *node;
	uint32_t number, threads, step_count, operand_count;
	uint64_t every; /* cycles */
	struct step steps[STEPS_MAX];
	struct operand operands[OPERANDS_MAX];
};

struct worker {
	const struct group *group;
	uint64_t pass;
	struct place *places; /* by operand */
	uint64_t *seen;       /* by slot: the value that this thread knows to have been there */
};

/* The body of a thread; its argument is a struct worker. Does not return. */
void loop_repeat(struct thread *self, void *worker);

#endif
