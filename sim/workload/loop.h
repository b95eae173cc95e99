/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the loop workload: loop.c reads what loop_run.c repeats. */
#ifndef WORKLOAD_LOOP_H
#define WORKLOAD_LOOP_H

#include "workload/workload.h"

enum {
	STEPS_MAX = 64,
	OPERANDS_MAX = 256 /* fields named in a group */
};

/* An entry under `objects`. */
struct object_set {
	const struct node *node;
	const struct layout *layout;
	const char *structure;
	uint64_t at;
	uint32_t count, socket;
	bool per_thread;
	uint32_t first; /* number of its first object; the others follow */
};

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

/* The body of a thread; its argument is a struct worker. */
void loop_repeat(struct thread *self, void *argument);

#endif
