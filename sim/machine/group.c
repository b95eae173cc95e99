/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads in flight together.
 *
 * A group is kept in program order. A load gets its value when its data come (BOUND), and is safe
 * from invalidation once all before it have theirs (RETIRED); a value bound early is fetched again
 * (REPLAY) where its line is lost before that, since younger loads may not be seen to pass older
 * ones. Loads for which the machine has no room wait (LATER). */
#include "machine/thread_parts.h"

static struct group_load *at(struct thread *self, uint32_t k)
{
	return &self->loads[self->group[k]];
}

/* What is no longer wanted: lands unseen if it is flying. */
static void drop(struct group_load *load)
{
	load->state = load->state == LOAD_FLYING ? LOAD_ORPHAN : LOAD_FREE;
}

void thread_group_end(struct thread *self)
{
	for (uint32_t k = self->group_next; k < self->group_count; k++)
		drop(at(self, k));
	self->group_count = self->group_next = 0;
}

static void retire(struct thread *self)
{
	for (uint32_t k = self->group_next; k < self->group_count; k++) {
		struct group_load *load = at(self, k);

		if (load->state != LOAD_BOUND && load->state != LOAD_RETIRED)
			return;
		load->state = LOAD_RETIRED;
	}
}

static bool waits(struct thread *self)
{
	return self->blocked == BLOCKED_GROUP && self->group_next < self->group_count &&
	       at(self, self->group_next)->state != LOAD_RETIRED;
}

/* ---- issue ---------------------------------------------------------------------------------- */

/* Lines that are under way for loads, of this group or dropped ones; `line` itself not counted. */
static uint32_t lines_out(const struct thread *self, uint64_t line)
{
	uint64_t seen[GROUP_MAX];
	uint32_t count = 0;

	for (uint32_t k = 0; k < GROUP_MAX; k++) {
		const struct group_load *load = &self->loads[k];
		uint64_t address = thread_line(self, load->address);
		uint32_t s = 0;

		if (load->state != LOAD_FLYING && load->state != LOAD_ORPHAN)
			continue;
		/* cppcheck-suppress uninitvar ; only the first `count` are read */
		while (s < count && seen[s] != address)
			s++;
		if (s == count && address != line)
			seen[count++] = address;
	}
	return count;
}

/* Binds a load whose value is at hand, or asks for its line if the machine has room. Returns the
 * latency of a hit, 0 otherwise. */
static uint64_t issue(struct thread *self, struct group_load *load, uint64_t now)
{
	const struct origin *origin = &load->access.origin;
	uint64_t line = thread_line(self, load->address), cycles = 0;
	struct copy *copy;

	if (store_forward(self, load->address, origin->size, &load->value) == FORWARD_VALUE) {
		load->state = LOAD_BOUND;
		return self->machine->config.store_forward;
	}
	copy = cache_hit(self->machine->coherence, self->core, line, false, now, &cycles);
	if (copy) {
		load->value = thread_read(self, copy, origin);
		load->state = LOAD_BOUND;
		return cycles;
	}
	if (lines_out(self, line) >= self->machine->config.loads_in_flight) {
		load->state = LOAD_LATER;
		return 0;
	}
	load->state = LOAD_FLYING;
	load->stale = false;
	cache_wait(self->machine->coherence, self->core, line, &load->access, now);
	return 0;
}

/* A place in the group for a load, or NULL: there is none, or the store buffer holds only a part of
 * its value. */
static struct group_load *append(struct thread *self, const struct place *place)
{
	uint64_t unused;
	uint32_t k = 0;

	while (k < GROUP_MAX && self->loads[k].state != LOAD_FREE)
		k++;
	if (k == GROUP_MAX ||
	    store_forward(self, place->address, place->size, &unused) == FORWARD_PARTIAL)
		return NULL;
	struct group_load *load = &self->loads[k];

	load->address = place->address;
	load->access.client = self;
	load->access.write = false;
	load->access.origin = thread_origin(self, place->address, place->field, place->size, false);
	self->group[self->group_count++] = (uint8_t)k;
	return load;
}

void thread_together(struct thread *self, const struct place *const *places, uint32_t count)
{
	uint64_t longest = 0;

	thread_take_turn(self);
	thread_group_end(self);
	for (uint32_t k = 0; k < count; k++) {
		struct group_load *load = append(self, places[k]);
		uint64_t cycles = load ? issue(self, load, self->time) : 0;

		if (!load)
			break;
		longest = cycles > longest ? cycles : longest;
	}
	retire(self);
	self->time += longest;
	self->cycles[CYCLES_HIT] += longest;
	thread_look_ahead(self);
}

/* ---- consumption ---------------------------------------------------------------------------- */

bool group_consume(struct thread *self, const struct place *place, uint64_t *value)
{
	uint32_t k = self->group_next;

	while (k < self->group_count && (at(self, k)->address != place->address ||
					 at(self, k)->access.origin.size != place->size))
		k++;
	if (k == self->group_count) {
		thread_group_end(self);
		return false;
	}
	while (self->group_next < k)
		drop(at(self, self->group_next++));
	retire(self);
	struct group_load *load = at(self, k);

	if (load->state != LOAD_RETIRED)
		thread_take_turn(self);
	if (load->state == LOAD_LATER) {
		issue(self, load, self->time);
		retire(self);
		thread_look_ahead(self);
	}
	if (load->state != LOAD_RETIRED)
		thread_block(self, BLOCKED_GROUP);
	*value = load->value;
	load->state = LOAD_FREE;
	self->group_next++;
	self->time++;
	self->cycles[CYCLES_HIT]++;
	return true;
}

/* ---- when lines come and go ----------------------------------------------------------------- */

uint64_t group_perform(struct thread *self, struct group_load *load, struct copy *copy,
		       uint64_t now)
{
	bool orphan = load->state == LOAD_ORPHAN, waited = waits(self);

	machine_replay_later(self); /* there is room for one that waits */
	if (!orphan && load->stale) {
		load->state = LOAD_REPLAY;
		return 0;
	}
	load->state = orphan ? LOAD_FREE : LOAD_BOUND;
	if (orphan)
		return 0;
	load->value = thread_read(self, copy, &load->access.origin);
	retire(self);
	if (waited && !waits(self)) {
		thread_stalled(self, &load->access, copy, now);
		thread_ready(self, now);
	}
	return 0;
}

/* A value bound early is bound again; a load that is to be served from data older than the Inv too,
 * unless nothing before it is still waiting. */
void thread_lost(void *machine, uint32_t core, uint64_t line_address)
{
	for (struct thread *self = ((struct machine *)machine)->on_core[core]; self;
	     self = self->sibling)
		for (uint32_t k = self->group_next; k < self->group_count; k++) {
			struct group_load *load = at(self, k);

			if (thread_line(self, load->address) != line_address)
				continue;
			if (load->state == LOAD_BOUND) {
				load->state = LOAD_REPLAY;
				machine_replay_later(self);
			} else if (load->state == LOAD_FLYING) {
				load->stale = k != self->group_next;
			}
		}
}

/* No message tells the other threads of a core that one of them wrote the line, but it is here:
 * what they have read early they read again at once. */
void group_sibling_wrote(struct thread *self, struct copy *copy)
{
	for (struct thread *other = self->machine->on_core[self->core->number]; other;
	     other = other->sibling)
		for (uint32_t k = other->group_next; other != self && k < other->group_count; k++) {
			struct group_load *load = at(other, k);
			uint64_t own;

			if (load->state == LOAD_BOUND &&
			    thread_line(other, load->address) == copy->address &&
			    store_forward(other, load->address, load->access.origin.size, &own) ==
				    FORWARD_NONE)
				load->value = thread_read(other, copy, &load->access.origin);
		}
}

void thread_replay(struct thread *self)
{
	uint64_t now = self->machine->coherence->now;
	bool waited = waits(self);

	for (uint32_t k = self->group_next; k < self->group_count; k++)
		if (at(self, k)->state == LOAD_REPLAY || at(self, k)->state == LOAD_LATER)
			issue(self, at(self, k), now);
	retire(self);
	/* One that hits now waited for the line it lost: the time is booked as spent on hits. */
	if (waited && !waits(self)) {
		self->cycles[CYCLES_HIT] += now - self->blocked_since;
		thread_ready(self, now);
	}
}
