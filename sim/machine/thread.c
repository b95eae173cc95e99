/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses of a thread: loads, locked operations, work, and taking turns. The store buffer is in
 * store.c, loads in flight together in group.c. */
#include "machine/thread_parts.h"
#include <math.h>

/* ---- turns ---------------------------------------------------------------------------------- */

void thread_look_ahead(struct thread *self)
{
	const struct machine *machine = self->machine;
	bool alone = machine->config.run_ahead &&
		     !machine->ready; /* no sibling may go on at this very cycle */

	self->horizon = alone ? core_horizon(machine->coherence, self->core) : 0;
}

void thread_block(struct thread *self, enum blocked why)
{
	self->blocked = why;
	self->blocked_since = self->time;
	coroutine_yield(self->coroutine);
}

void thread_wake_at(struct thread *self, uint64_t time, uint64_t cause)
{
	struct coherence *coherence = self->machine->coherence;
	struct message *message = message_new(coherence);

	message->kind = WAKE;
	message->core = (uint16_t)self->core->number;
	message->thread = self;
	message->event.source = self->source;
	message->event.count = self->count++;
	message->event.cause = cause;
	core_schedule(coherence, self->core, message, time);
}

void thread_ready(struct thread *self, uint64_t now)
{
	struct thread **at = &self->machine->ready;

	self->time = self->last = now;
	self->blocked = BLOCKED_NOT;
	while (*at)
		at = &(*at)->next_ready;
	self->next_ready = NULL;
	*at = self;
}

void thread_wait_turn(struct thread *self)
{
	thread_wake_at(self, self->time, self->last);
	thread_block(self, BLOCKED_TURN);
}

/* After a message was sent, the horizon may be nearer. */
static void wait_for_line(struct thread *self, uint64_t address, struct access *access)
{
	self->blocked_since = self->time; /* the line may come at once */
	cache_wait(self->machine->coherence, self->core, thread_line(self, address), access,
		   self->time);
	thread_look_ahead(self);
}

void thread_run(struct thread *self)
{
	if (self->time == self->settle_time)
		cache_settle(self->machine->coherence, self->core, self->settle, self->time);
	thread_look_ahead(self);
	self->machine->current = self;
	coroutine_resume(self->coroutine);
	self->machine->current = NULL;
	if (self->machine->coherence->defect.text[0])
		machine_give_up(self->machine);
	if (coroutine_finished(self->coroutine) && !self->finished) {
		self->finished = true;
		self->machine->running--;
		if (self->machine->meter.finished)
			self->machine->meter.finished(self->machine->meter.context, self);
	}
}

void thread_wake(struct thread *self)
{
	self->time = self->machine->coherence->now;
	self->blocked = BLOCKED_NOT;
	thread_run(self);
}

/* ---- accounting ----------------------------------------------------------------------------- */

static inline void spend(struct thread *self, enum cycles what, uint64_t cycles)
{
	self->time += cycles;
	self->cycles[what] += cycles;
}

/* The thread has waited from `blocked_since` to now for this access. Of the access's whole life,
 * which may be longer, the queueing share is taken in proportion. */
void thread_stalled(struct thread *self, const struct access *access, struct copy *copy,
		    uint64_t now)
{
	uint64_t cycles = now - self->blocked_since, life = now - access->since;
	bool local = copy->filled && access->since >= copy->filled && copy->state != STATE_IS_D_I &&
		     copy->state != STATE_II_R;
	uint64_t queued = local || copy->queued > life ? life : copy->queued;
	struct stall stall = { .thread = self->number,
			       .core = self->core->number,
			       .copy = copy,
			       .origin = access->origin,
			       .cycles = cycles,
			       .local = local,
			       .upgrade = access->write && copy->upgraded,
			       .queued = life ? cycles * queued / life : 0,
			       .until = now };

	if (now < self->blocked_since) {
		coherence_defect(self->machine->coherence, copy->line,
				 "thread %u ends a wait before it began", self->number);
		return;
	}
	if (!cycles)
		return;
	self->wait_cycles += cycles;
	self->blocked_since = now;
	if (self->machine->meter.stalled)
		self->machine->meter.stalled(self->machine->meter.context, self, &stall);
}

void thread_touch(struct thread *self, struct copy *copy, const struct origin *origin)
{
	if (copy->watched && self->machine->meter.touched)
		self->machine->meter.touched(self->machine->meter.context, self->core->number, copy,
					     origin);
}

/* ---- loads ---------------------------------------------------------------------------------- */

uint64_t thread_read(struct thread *self, struct copy *copy, const struct origin *origin)
{
	thread_touch(self, copy, origin);
	return copy_read(self->machine->coherence, copy, origin);
}

static inline __attribute__((always_inline)) uint64_t load(struct thread *self,
							   const struct place *place)
{
	struct coherence *coherence = self->machine->coherence;
	uint64_t value, cycles = 0;

	self->counts[place->field].loads++;
	if (self->group_next < self->group_count && group_consume(self, place, &value))
		return value;
	thread_take_turn(self);
	if (self->store_count) {
		switch (store_forward(self, place->address, place->size, &value)) {
		case FORWARD_VALUE:
			spend(self, CYCLES_HIT, self->machine->config.store_forward);
			return value;
		case FORWARD_PARTIAL:
			store_wait_empty(self);
			thread_take_turn(self);
			break;
		case FORWARD_NONE:
			break;
		}
	}
	struct origin origin =
		thread_origin(self, place->address, place->field, place->size, false);
	struct copy *copy = cache_hit(coherence, self->core, place->address - origin.offset, false,
				      self->time, &cycles);

	if (copy) {
		spend(self, CYCLES_HIT, cycles);
		return thread_read(self, copy, &origin);
	}
	self->load.origin = origin;
	wait_for_line(self, place->address, &self->load);
	thread_block(self, BLOCKED_LOAD);
	return self->result;
}

/* Twice, so that a thread which nobody listens to has one branch more and no call. */
static __attribute__((noinline)) uint64_t heard_load(struct thread *self, const struct place *place)
{
	uint64_t begin = self->time, value = load(self, place);

	thread_accessed(self, place, ACCESS_KIND_LOAD, begin);
	return value;
}

uint64_t thread_load(struct thread *self, const struct place *place)
{
	return __builtin_expect(self->heard, 0) ? heard_load(self, place) : load(self, place);
}

/* ---- locked operations ---------------------------------------------------------------------- */

static uint64_t rmw_apply(struct thread *self, struct copy *copy, const struct origin *origin)
{
	uint64_t old, mask = origin->size == 8 ? ~0ull : (1ull << (8 * origin->size)) - 1;

	old = thread_read(self, copy, origin);
	switch (self->locked.rmw) {
	case RMW_ADD:
	case RMW_STADD:
		copy_write(self->machine->coherence, copy, origin, old + self->locked.operand);
		break;
	case RMW_CMPXCHG:
		if (old != (self->locked.expected & mask))
			break;
		/* fallthrough */
	case RMW_XCHG:
		copy_write(self->machine->coherence, copy, origin, self->locked.operand);
		break;
	}
	group_sibling_wrote(self, copy);
	return old;
}

/* What a locked operation and a fence wait for: every earlier store visible. Older loads are done,
 * since the thread has their values; what is left of the group lies beyond the operation, and no
 * load may pass it. */
static void wait_for_older(struct thread *self)
{
	store_wait_empty(self);
	thread_group_end(self);
}

/* For how long the operation holds the line; it is the last one that changed it then. */
static uint64_t hold_line(struct thread *self, struct copy *copy)
{
	bool sibling = copy->changed_by && copy->changed_by != self->number + 1;

	copy->changed_by = self->number + 1;
	self->locked.held = self->locked.hold;
	if (self->locked.rmw == RMW_CMPXCHG)
		self->locked.held += self->locked.cmpxchg_more;
	if (sibling)
		self->locked.held += self->machine->config.sibling_delay;
	return self->locked.held;
}

static inline __attribute__((always_inline)) uint64_t locked_rmw(struct thread *self,
								 const struct place *place,
								 enum rmw rmw, uint64_t operand,
								 uint64_t expected)
{
	uint64_t cycles = 0, hold;
	struct origin origin = thread_origin(self, place->address, place->field, place->size, true);
	uint64_t line = place->address - origin.offset;

	origin.write = ORIGIN_LOCKED;
	self->counts[place->field].rmws++;
	wait_for_older(self);
	thread_take_turn(self);
	self->locked.rmw = rmw;
	self->locked.operand = operand;
	self->locked.expected = expected;

	struct copy *copy =
		cache_hit(self->machine->coherence, self->core, line, true, self->time, &cycles);

	self->settle = line;
	if (copy) {
		uint64_t beyond_l1 = cycles - self->machine->config.coherence.l1.latency;

		hold = hold_line(self, copy);
		copy->locked_until = self->time + beyond_l1 + hold;
		self->settle_time = copy->locked_until;
		self->result = rmw_apply(self, copy, &origin);
		spend(self, CYCLES_HIT, beyond_l1);
		spend(self, CYCLES_ATOMIC, hold);
		return self->result;
	}
	self->locked.access.origin = origin;
	self->locked.access.locked = !self->machine->config.far_adds || rmw == RMW_STADD;
	wait_for_line(self, line, &self->locked.access);
	thread_block(self, BLOCKED_RMW);
	/* What was done at the home held nothing here. */
	self->cycles[CYCLES_ATOMIC] += self->time == self->settle_time ? self->locked.held : 0;
	return self->result;
}

static __attribute__((noinline)) uint64_t heard_rmw(struct thread *self, const struct place *place,
						    enum rmw rmw, uint64_t operand,
						    uint64_t expected)
{
	uint64_t begin = self->time, old = locked_rmw(self, place, rmw, operand, expected);

	thread_accessed(self, place, ACCESS_KIND_LOCKED, begin);
	return old;
}

uint64_t thread_rmw(struct thread *self, const struct place *place, enum rmw rmw, uint64_t operand,
		    uint64_t expected)
{
	return __builtin_expect(self->heard, 0) ? heard_rmw(self, place, rmw, operand, expected)
						: locked_rmw(self, place, rmw, operand, expected);
}

void thread_fence(struct thread *self)
{
	wait_for_older(self);
	thread_take_turn(self);
	spend(self, CYCLES_ATOMIC, self->machine->config.fence);
}

/* ---- when lines arrive ---------------------------------------------------------------------- */

uint64_t thread_perform(void *machine, struct access *access, struct copy *copy, uint64_t now)
{
	struct thread *self = access->client;
	uint64_t hold;

	(void)machine;
	if (access == &self->drain)
		return store_perform(self, copy, now);
	if (access == &self->load) {
		self->result = thread_read(self, copy, &access->origin);
		thread_stalled(self, access, copy, now);
		thread_ready(self, now);
		return 0;
	}
	if (access != &self->locked.access)
		return group_perform(self, (struct group_load *)access, copy, now);
	if (copy->state == STATE_II_R) {
		thread_stalled(self, access, copy, now);
		thread_ready(self, now);
		return 0;
	}
	self->result = rmw_apply(self, copy, &access->origin);
	thread_stalled(self, access, copy, now);
	hold = hold_line(self, copy);
	self->settle_time = now + hold;
	thread_wake_at(self, now + hold, now);
	return hold;
}

void thread_operate(void *machine, struct access *access, struct copy *at_home)
{
	struct thread *self = access->client;

	(void)machine;
	self->result = rmw_apply(self, at_home, &access->origin);
}

/* ---- work, operations, signals -------------------------------------------------------------- */

void thread_work(struct thread *self, double cycles)
{
	if (cycles > 0)
		spend(self, CYCLES_WORK, (uint64_t)llround(cycles * self->smt));
}

void thread_begin(struct thread *self, uint32_t operation)
{
	self->operation_begin[operation] = self->time;
}

void thread_end(struct thread *self, uint32_t operation)
{
	const struct meter *meter = &self->machine->meter;

	if (meter->operation)
		meter->operation(meter->context, self, operation, self->operation_begin[operation],
				 self->time);
	/* Enough has been seen: a thread that nothing disturbs would run ahead for ever. */
	if (self->machine->stop)
		thread_block(self, BLOCKED_TURN);
}

void thread_in_order(struct thread *self)
{
	thread_wait_turn(self);
	self->last = self->time;
}

void thread_pace(struct thread *self, uint64_t until)
{
	if (self->time < until)
		thread_work(self, (double)(until - self->time) / self->smt);
}

void thread_move_on(struct thread *self, uint64_t begin, bool touched)
{
	if (self->time == begin)
		thread_work(self, 1);
	if (!touched)
		thread_in_order(self);
}

void thread_signal(struct thread *self, struct thread *other)
{
	struct coherence *coherence = self->machine->coherence;
	struct message *message = message_new(coherence);

	thread_take_turn(self);
	message->kind = SIGNAL;
	message->core = (uint16_t)other->core->number;
	message->thread = other;
	message->event.source = self->source;
	message->event.count = self->count++;
	message->event.cause = self->time;
	core_schedule(coherence, other->core, message, self->time + coherence->fabric->lookahead);
	thread_look_ahead(self);
}

void thread_await(struct thread *self)
{
	thread_take_turn(self);
	if (!self->signals)
		thread_block(self, BLOCKED_SIGNAL);
	self->signals--;
}

void thread_signalled(struct thread *self)
{
	uint64_t now = self->machine->coherence->now;

	self->signals++;
	if (self->blocked != BLOCKED_SIGNAL)
		return;
	self->cycles[CYCLES_IDLE] += now - self->blocked_since;
	thread_ready(self, now);
}
