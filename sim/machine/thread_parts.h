/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make up a thread: thread.c, group.c, store.c, machine.c. */
#ifndef MACHINE_THREAD_PARTS_H
#define MACHINE_THREAD_PARTS_H

#include "machine/machine.h"

/* The line that holds an address, and what an access to it is about. */
static inline uint64_t thread_line(const struct thread *self, uint64_t address)
{
	return address & ~(uint64_t)(self->machine->config.coherence.line - 1);
}

static inline struct origin thread_origin(const struct thread *self, uint64_t address,
					  uint16_t field, uint8_t size, bool write)
{
	return (struct origin){ .field = field,
				.offset = (uint8_t)(address &
						    (self->machine->config.coherence.line - 1)),
				.size = size,
				.write = write };
}

/* Stops the coroutine until something makes the thread ready or wakes it. */
void thread_block(struct thread *self, enum blocked why);
/* Lets it go on at `now`, once the event being handled is over. */
void thread_ready(struct thread *self, uint64_t now);
/* Lets it go on at a later time, as an event. */
void thread_wake_at(struct thread *self, uint64_t time, uint64_t cause);
/* Books the wait that has ended now. */
void thread_stalled(struct thread *self, const struct access *access, struct copy *copy,
		    uint64_t now);
/* A copy's value, seen by the observers. */
uint64_t thread_read(struct thread *self, struct copy *copy, const struct origin *origin);
void thread_touch(struct thread *self, struct copy *copy, const struct origin *origin);
/* Computes again how far the thread may run ahead; after it has sent a message. */
void thread_look_ahead(struct thread *self);
void thread_wait_turn(struct thread *self);
/* The group is over: what was not consumed is dropped. */
void thread_group_end(struct thread *self);
/* The value of a load that the group holds; waits for it. False where the group does not hold it,
 * which ends the group. */
bool group_consume(struct thread *self, const struct place *place, uint64_t *value);
uint64_t group_perform(struct thread *self, struct group_load *load, struct copy *copy,
		       uint64_t now);
/* The thread wrote a line: its siblings' early loads of it are done again. */
void group_sibling_wrote(struct thread *self, struct copy *copy);
void machine_replay_later(struct thread *self);

/* Every access happens at an exact time: at once where nothing can reach the core before, else as
 * an event. */
static inline void thread_take_turn(struct thread *self)
{
	if (self->time >= self->horizon)
		thread_wait_turn(self);
	self->last = self->time;
}

/* Tells who listens that an access is done; of a thread that is heard. */
static inline void thread_accessed(struct thread *self, const struct place *place,
				   enum access_kind kind, uint64_t begin)
{
	const struct meter *meter = &self->machine->meter;

	meter->accessed(meter->context, self, place, kind, begin);
}

enum forward { FORWARD_NONE, FORWARD_VALUE, FORWARD_PARTIAL };

/* What the store buffer holds for a load: nothing, its value, or only a part of it. */
enum forward store_forward(const struct thread *self, uint64_t address, uint8_t size,
			   uint64_t *value);
/* Waits until the buffer is empty. */
void store_wait_empty(struct thread *self);
/* The line of the oldest store has come: all stores to it that stand first in the buffer become
 * visible, one a cycle. */
uint64_t store_perform(struct thread *self, struct copy *copy, uint64_t now);

#endif
