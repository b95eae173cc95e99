/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store buffer: first in, first out, one line asked for at a time.
 *
 * Invariant: while the buffer holds stores, `drain` waits for the line of the oldest. A store whose
 * line is owned and that finds the buffer empty becomes visible at once. */
#include "machine/thread_parts.h"

static struct store *store_at(struct thread *self, uint32_t k)
{
	return &self->stores[(self->store_head + k) % STORES_MAX];
}

static void commit(struct thread *self, struct copy *copy, const struct store *store)
{
	struct origin origin = thread_origin(self, store->address, store->field, store->size, true);

	thread_touch(self, copy, &origin);
	copy_write(self->machine->coherence, copy, &origin, store->value);
	group_sibling_wrote(self, copy);
}

static void pop(struct thread *self)
{
	self->store_head = (self->store_head + 1) % STORES_MAX;
	self->store_count--;
}

/* Makes stores visible as long as their lines are owned, then asks for the next line. */
static void drain(struct thread *self, uint64_t now)
{
	while (self->store_count) {
		const struct store *store = store_at(self, 0);
		uint64_t line = thread_line(self, store->address), cycles = 0;
		struct copy *copy =
			cache_hit(self->machine->coherence, self->core, line, true, now, &cycles);

		if (!copy) {
			self->drain.origin = thread_origin(self, store->address, store->field,
							   store->size, true);
			cache_wait(self->machine->coherence, self->core, line, &self->drain, now);
			return;
		}
		commit(self, copy, store);
		pop(self);
	}
}

uint64_t store_perform(struct thread *self, struct copy *copy, uint64_t now)
{
	uint64_t burst = 0;

	for (; self->store_count && thread_line(self, store_at(self, 0)->address) == copy->address;
	     burst++) {
		commit(self, copy, store_at(self, 0));
		pop(self);
	}
	if (self->blocked == BLOCKED_FULL || self->blocked == BLOCKED_DRAIN)
		thread_stalled(self, &self->drain, copy, now);
	drain(self, now);
	if (self->blocked == BLOCKED_FULL) {
		thread_ready(self, now);
	} else if (self->blocked == BLOCKED_DRAIN && !self->store_count) {
		self->cycles[CYCLES_HIT] += burst;
		thread_wake_at(self, now + burst, now);
	}
	return burst;
}

enum forward store_forward(const struct thread *self, uint64_t address, uint8_t size,
			   uint64_t *value)
{
	for (uint32_t k = self->store_count; k-- > 0;) {
		const struct store *store = &self->stores[(self->store_head + k) % STORES_MAX];
		uint64_t into = address - store->address;

		if (address + size <= store->address || store->address + store->size <= address)
			continue;
		if (address < store->address || into + size > store->size)
			return FORWARD_PARTIAL;
		*value = store->value >> (8 * into);
		*value &= size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
		return FORWARD_VALUE;
	}
	return FORWARD_NONE;
}

void store_wait_empty(struct thread *self)
{
	/* Work may have taken the local time past the event being run: a wait begins at its exact time. */
	if (self->store_count)
		thread_take_turn(self);
	if (self->store_count)
		thread_block(self, BLOCKED_DRAIN);
}

/* Puts the value into the youngest store that waits, if that is to the same place. Nobody can have
 * seen the one it replaces. */
static bool merged(struct thread *self, const struct place *place, uint64_t value)
{
	struct store *youngest = self->store_count ? store_at(self, self->store_count - 1) : NULL;

	if (!youngest || youngest->address != place->address || youngest->size != place->size)
		return false;
	youngest->value = value;
	return true;
}

static inline __attribute__((always_inline)) void
buffer_store(struct thread *self, const struct place *place, uint64_t value)
{
	const struct machine_config *config = &self->machine->config;

	self->counts[place->field].stores++;
	thread_take_turn(self);
	thread_group_end(self);
	if (config->merge_stores && merged(self, place, value)) {
		self->time++;
		self->cycles[CYCLES_HIT]++;
		return;
	}
	if (self->store_count == config->store_buffer) {
		thread_block(self, BLOCKED_FULL);
		thread_take_turn(self);
	}
	*store_at(self, self->store_count) = (struct store){ .address = place->address,
							     .value = value,
							     .field = place->field,
							     .size = place->size };
	if (self->store_count++ == 0) {
		drain(self, self->time);
		thread_look_ahead(self);
	}
	self->time++;
	self->cycles[CYCLES_HIT]++;
}

static __attribute__((noinline)) void heard_store(struct thread *self, const struct place *place,
						  uint64_t value)
{
	uint64_t begin = self->time;

	buffer_store(self, place, value);
	thread_accessed(self, place, ACCESS_KIND_STORE, begin);
}

void thread_store(struct thread *self, const struct place *place, uint64_t value)
{
	if (__builtin_expect(self->heard, 0))
		heard_store(self, place, value);
	else
		buffer_store(self, place, value);
}
