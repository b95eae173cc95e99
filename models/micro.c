/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/micro.h"

#define REPEAT(statement)         \
	for (;;) {                \
		BEGIN(operation); \
		statement;        \
		END(operation);   \
	}

static void add_with_cmpxchg(struct thread *self, struct micro_object *object)
{
	int64_t seen = LOAD(object, slot), old;

	while ((old = CMPXCHG(object, slot, seen, seen + 1)) != seen)
		seen = old;
}

static uint64_t load_and_add(struct thread *self, struct micro_object *object)
{
	int64_t seen = LOAD(object, slot);

	return (uint64_t)(seen + ADD_RETURN(object, slot, 1));
}

static void store_often(struct thread *self, struct micro_object *object)
{
	for (int k = 0; k < MICRO_TIMES; k++)
		STORE(object, slot, k);
}

static void increment_often(struct thread *self, struct micro_object *object)
{
	for (int k = 0; k < MICRO_TIMES; k++)
		STORE(object, slot, LOAD(object, slot) + 1);
}

/* The value read is part of the next address. It is far below a line's size divided by the bound,
 * so it is masked to nothing; the compiler does not know. */
static uint64_t load_often(struct thread *self, struct micro_object *object, uint64_t none)
{
	uint64_t value = 0;

	for (int k = 0; k < MICRO_TIMES; k++) {
		struct place place = object->slot;

		place.address += value & none;
		value = ACCESS_LOAD(&place);
	}
	return value;
}

void micro_repeat(struct thread *self, void *argument)
{
	struct micro_worker *worker = argument;
	struct micro_object *object = worker->object;
	uint32_t operation = worker->operation;
	uint64_t none = 0;

	__asm__ volatile("" : "+r"(none));
	switch (worker->program) {
	case MICRO_ADD:
		REPEAT(ADD(object, slot, 1))
	case MICRO_XADD:
		REPEAT(worker->sum += (uint64_t)ADD_RETURN(object, slot, 1))
	case MICRO_XCHG:
		REPEAT(worker->sum += (uint64_t)XCHG(object, slot, 1))
	case MICRO_CMPXCHG:
		REPEAT(add_with_cmpxchg(self, object))
	case MICRO_LOAD_ADD:
		REPEAT(worker->sum += load_and_add(self, object))
	case MICRO_STORE:
		REPEAT(store_often(self, object))
	case MICRO_INCREMENT:
		REPEAT(increment_often(self, object))
	case MICRO_LOAD:
		REPEAT(worker->sum += load_often(self, object, none))
	}
}
