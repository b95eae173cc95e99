/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/rwsem.h"

/* A count without any of these bits is that of a lock that is free; v5.13 has no others here, since
 * nobody waits. */
enum { RWSEM_LOCKED = ~(RWSEM_READER_BIAS - 1) | RWSEM_WRITER_LOCKED };

static void relax(struct thread *self, const struct rwsem_task *task)
{
	WORK(task->pause);
}

/* ---- the queue of spinners ------------------------------------------------------------------ */

static int64_t encode(const struct rwsem_task *task)
{
	return (int64_t)task->number + 1;
}

static struct rwsem_task *decode(const struct rwsem_task *task, int64_t code)
{
	return task->by_number[code - 1];
}

/* Behind another it waits on a line of its own, but looks at the other's CPU too, each time: is that
 * one preempted? */
static void osq_lock(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task)
{
	struct rwsem_task *prev;
	int64_t old;

	STORE(task, locked, 0);
	STORE(task, next, 0);
	STORE(task, cpu, encode(task));
	old = XCHG(sem, osq, encode(task));
	if (!old)
		return;
	prev = decode(task, old);
	STORE(task, prev, (uintptr_t)prev);
	STORE(prev, next, (uintptr_t)task);
	while (!LOAD(task, locked)) {
		(void)LOAD(FOLLOW(struct rwsem_task, task, prev), cpu);
		relax(self, task);
	}
}

/* Who is behind? NULL, with the queue empty, where nobody is; one that has changed the tail and not
 * yet told us is waited for. */
static struct rwsem_task *osq_next(struct thread *self, struct rw_semaphore *sem,
				   struct rwsem_task *task)
{
	for (;;) {
		if (LOAD(sem, osq) == encode(task) &&
		    CMPXCHG(sem, osq, encode(task), 0) == encode(task))
			return NULL;
		if (LOAD(task, next))
			return (struct rwsem_task *)(uintptr_t)XCHG(task, next, 0);
		relax(self, task);
	}
}

static void osq_unlock(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task)
{
	struct rwsem_task *next;

	if (CMPXCHG(sem, osq, encode(task), 0) == encode(task))
		return;
	next = (struct rwsem_task *)(uintptr_t)XCHG(task, next, 0);
	if (!next)
		next = osq_next(self, sem, task);
	if (next)
		STORE(next, locked, 1);
}

/* ---- writers -------------------------------------------------------------------------------- */

static void set_owner(struct thread *self, struct rw_semaphore *sem, const struct rwsem_task *task)
{
	STORE(sem, owner, (uintptr_t)task);
}

/* Takes the line whether or not it gets the lock. */
static bool write_trylock(struct thread *self, struct rw_semaphore *sem,
			  const struct rwsem_task *task)
{
	if (CMPXCHG(sem, count, 0, RWSEM_WRITER_LOCKED) != 0)
		return false;
	set_owner(self, sem, task);
	return true;
}

/* Looks first. */
static bool try_write_lock_unqueued(struct thread *self, struct rw_semaphore *sem,
				    const struct rwsem_task *task)
{
	int64_t count = LOAD(sem, count);

	while (!(count & RWSEM_LOCKED)) {
		int64_t old = CMPXCHG(sem, count, count, count | RWSEM_WRITER_LOCKED);

		if (old == count) {
			set_owner(self, sem, task);
			return true;
		}
		count = old;
	}
	return false;
}

static bool is_writer(int64_t owner)
{
	return owner && !(owner & RWSEM_READER_OWNED);
}

static void look_at_cpu(struct thread *self, int64_t owner)
{
	const struct rwsem_task *task = (struct rwsem_task *)(uintptr_t)owner;

	(void)LOAD(task, on_cpu);
}

/* Until the lock is another's, readers' or nobody's. */
static void spin_on_owner(struct thread *self, struct rw_semaphore *sem,
			  const struct rwsem_task *task)
{
	int64_t owner = LOAD(sem, owner);

	if (!is_writer(owner))
		return;
	while (LOAD(sem, owner) == owner) {
		look_at_cpu(self, owner);
		relax(self, task);
	}
}

/* The first of the queue tries whenever the owner changes; while readers own the lock, all the time. */
static void optimistic_spin(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task)
{
	osq_lock(self, sem, task);
	for (;;) {
		spin_on_owner(self, sem, task);
		if (try_write_lock_unqueued(self, sem, task))
			break;
		relax(self, task);
	}
	osq_unlock(self, sem, task);
}

void rwsem_down_write(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task)
{
	int64_t owner;

	if (write_trylock(self, sem, task))
		return;
	/* Is it worth spinning? It is: owners run. */
	owner = LOAD(sem, owner);
	if (is_writer(owner))
		look_at_cpu(self, owner);
	optimistic_spin(self, sem, task);
}

/* The owner is cleared first: whoever sees it change will look at the count. */
void rwsem_up_write(struct thread *self, struct rw_semaphore *sem)
{
	STORE(sem, owner, 0);
	(void)ADD_RETURN(sem, count, -RWSEM_WRITER_LOCKED);
}

/* ---- readers -------------------------------------------------------------------------------- */

static void set_reader_owned(struct thread *self, struct rw_semaphore *sem,
			     const struct rwsem_task *task)
{
	(void)LOAD(sem, owner); /* for a flag that spinners leave when they give up */
	STORE(sem, owner, (uintptr_t)task | RWSEM_READER_OWNED);
}

void rwsem_downgrade_write(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task)
{
	(void)ADD_RETURN(sem, count, RWSEM_READER_BIAS - RWSEM_WRITER_LOCKED);
	set_reader_owned(self, sem, task);
}

bool rwsem_down_read_trylock(struct thread *self, struct rw_semaphore *sem, struct rwsem_task *task)
{
	int64_t count = LOAD(sem, count);

	while (!(count & RWSEM_WRITER_LOCKED)) {
		int64_t old = CMPXCHG(sem, count, count, count + RWSEM_READER_BIAS);

		if (old == count) {
			set_reader_owned(self, sem, task);
			return true;
		}
		count = old;
	}
	return false;
}

/* The owner stays as it is: a hint, and a stale one from now on. */
void rwsem_up_read(struct thread *self, struct rw_semaphore *sem)
{
	(void)ADD_RETURN(sem, count, -RWSEM_READER_BIAS);
}
