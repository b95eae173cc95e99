/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/micro.h"

/* An operation is sixteen of them, so that counting operations costs little beside them. */
#define REPEAT(statement)                               \
	for (;;) {                                      \
		BEGIN(operation);                       \
		for (int k = 0; k < MICRO_TIMES; k++) { \
			statement;                      \
		}                                       \
		END(operation);                         \
	}

static void add_with_cmpxchg(struct thread *self, const struct micro_object *at)
{
	int64_t seen = LOAD(at, slot), old;

	while ((old = CMPXCHG(at, slot, seen, seen + 1)) != seen)
		seen = old;
}

static uint64_t load_and_add(struct thread *self, const struct micro_object *at)
{
	int64_t seen = LOAD(at, slot);

	return (uint64_t)(seen + ADD_RETURN(at, slot, 1));
}

/* The value read is part of the next address: masked to nothing, which the compiler does not know. */
static uint64_t load_next(struct thread *self, struct place *place, uint64_t none)
{
	uint64_t value = ACCESS_LOAD(place);

	place->address += value & none;
	return value;
}

void micro_repeat(struct thread *self, void *argument)
{
	struct micro_worker *worker = argument;
	/* A copy on the stack, which natively stays in registers: what is timed is the access, not
	 * finding out where it goes. */
	const struct micro_object copy = *worker->object, *at = &copy;
	uint32_t operation = worker->operation;
	struct place place = at->slot;
	uint64_t none = 0, sum = 0;

	__asm__ volatile("" : "+r"(none), "+r"(sum));
	switch (worker->program) {
	case MICRO_ADD:
		REPEAT(ADD(at, slot, 1))
	case MICRO_XADD:
		REPEAT(sum += (uint64_t)ADD_RETURN(at, slot, 1))
	case MICRO_XCHG:
		REPEAT(sum += (uint64_t)XCHG(at, slot, 1))
	case MICRO_CMPXCHG:
		REPEAT(add_with_cmpxchg(self, at))
	case MICRO_LOAD_ADD:
		REPEAT(sum += load_and_add(self, at))
	case MICRO_STORE:
		REPEAT(STORE(at, slot, k))
	case MICRO_INCREMENT:
		REPEAT(STORE(at, slot, LOAD(at, slot) + 1))
	case MICRO_LOAD:
		REPEAT(sum += load_next(self, &place, none))
	}
}
