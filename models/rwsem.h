/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's reader-writer semaphore, as far as those who get it without sleeping: the writer's fast
 * path, optimistic spinning on the owner behind a queue of spinners (OSQ, an MCS lock by CPU number),
 * the downgrade, and the reader's fast path.
 *
 * Written from the order of accesses in kernel/locking/rwsem.c and kernel/locking/osq_lock.c of Linux
 * v5.13 (read there; no text is copied). Left out is what begins when a spinner gives up: no task is
 * ever preempted or wants to be, so nobody leaves the OSQ, joins wait_list, sets a flag in count or is
 * woken; a spinner outlasts readers however long they take. */
#ifndef MODELS_RWSEM_H
#define MODELS_RWSEM_H

#include "models/access.h"

enum {
	RWSEM_WRITER_LOCKED = 1 << 0, /* of count; from bit 8 on it is the number of readers */
	RWSEM_READER_BIAS = 1 << 8,
	RWSEM_READER_OWNED =
		1 << 0, /* of owner, beside the task; stays when the readers are gone */
};

struct rw_semaphore {
	struct place count, owner;
	struct place osq; /* its tail: number of the last spinner's CPU and one, or 0 */
};

/* One task on one CPU, for as long as it runs. */
struct rwsem_task {
	struct place on_cpu;                  /* struct task_struct */
	struct place next, prev, locked, cpu; /* struct optimistic_spin_node of its CPU */
	uint32_t number;                      /* of its CPU */
	struct rwsem_task *const *by_number;  /* all tasks; what per_cpu_ptr is to the kernel */
	double pause;                         /* cycles of cpu_relax() */
};

/* Lock for writing, and let go. The lock must be this task's for the latter. The owner is NULL then. */
void rwsem_down_write(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task);
void rwsem_up_write(struct thread *self, struct rw_semaphore *sem);

/* Turns a writer into a reader: others may read beside it. */
void rwsem_downgrade_write(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task);

/* Lock for reading where no writer is in the way, else false; and let go. */
bool rwsem_down_read_trylock(struct thread *self, struct rw_semaphore *sem,
			     struct rwsem_task *task);
void rwsem_up_read(struct thread *self, struct rw_semaphore *sem);

#endif
