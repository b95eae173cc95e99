/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/storm.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 /* bytes that no line divides */, GROUP_LOADS = 6 };

struct cell {
	struct place place;
	enum storm_role role;
	uint32_t writer; /* of a STAMP or SHADOW */
	uint64_t first;  /* value before the storm */
};

/* What a thread knows of a cell. COUNTER: `value` it has added. STAMP: `value` is the least that it
 * may see; what it wrote last, if it is the writer. SHADOW: what it wrote last. TOKEN: the sum over
 * all values it has put in, less those it has taken out, each mixed. TICKET: the sum over the
 * `count` numbers it has drawn, each mixed. */
struct known {
	uint64_t value, count;
};

struct storm_thread {
	struct storm *storm;
	uint32_t number;
	struct known *known;  /* by cell */
	uint32_t *horizon;    /* by thread: the highest of its stamps seen */
	uint16_t *stamped;    /* by stamp, less one: the cell it went to */
	uint32_t stamp_count; /* stamps given out */
	uint64_t hash;
};

struct storm {
	struct storm_plan plan;
	struct machine *machine;
	struct cell *cells;
	uint32_t cell_count;
	uint16_t *cell_at; /* by byte of all objects */
	struct storm_thread *threads;
	struct field_counts *counts; /* by field */
	struct error mistake;
	/* what the threads' pointers point into */
	struct known *known;
	uint32_t *horizon;
	uint16_t *stamped;
};

static uint64_t mask(uint8_t size)
{
	return size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
}

/* A bijection under which a sum tells one multiset of values from another. */
static uint64_t mixed(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
	return x ^ (x >> 32);
}

/* Cheap, and nearly without bias for what is drawn here. */
static uint32_t draw(struct random *random, uint32_t bound)
{
	return (uint32_t)((random_next(random) >> 32) * bound >> 32);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static enum storm_role draw_role(const struct storm *storm, struct random *random, uint8_t size)
{
	enum storm_role role;

	do /* a stamp has no room for its numbers in one byte */
		role = (enum storm_role)draw(random, STORM_ROLES);
	while (!(storm->plan.roles >> role & 1) || (role == STORM_STAMP && size == 1));
	return role;
}

/* The cell that storms of locked operations go to. */
static enum storm_role hot_role(const struct storm *storm, struct random *random, uint8_t size)
{
	uint32_t locked = 1u << STORM_COUNTER | 1u << STORM_TOKEN | 1u << STORM_TICKET;
	enum storm_role role;

	do
		role = draw_role(storm, random, size);
	while (storm->plan.roles & locked && !(locked >> role & 1));
	return role;
}

static void add_cell(struct storm *storm, struct random *random, uint32_t object, uint8_t offset,
		     uint8_t size)
{
	struct cell *cell = &storm->cells[storm->cell_count];
	bool zero;

	cell->place.address = storm->plan.base + object * storm->plan.stride + offset;
	cell->place.size = size;
	cell->place.field = (uint16_t)(object * (STORM_OBJECT / 8) + offset / 8);
	cell->role =
		storm->cell_count ? draw_role(storm, random, size) : hot_role(storm, random, size);
	cell->writer = draw(random, storm->plan.threads);
	zero = cell->role == STORM_STAMP || cell->role == STORM_TICKET;
	cell->first = zero ? 0 : random_next(random) & mask(size);
	for (uint8_t k = 0; k < size; k++)
		storm->cell_at[object * STORM_OBJECT + offset + k] = (uint16_t)storm->cell_count;
	coherence_poke(storm->machine->coherence, cell->place.address, &cell->first, size);
	storm->cell_count++;
}

/* Cuts 8 bytes in two, and those, until chance or the smallest size ends it. */
static void cut_word(struct storm *storm, struct random *random, uint32_t object, uint8_t offset)
{
	uint8_t least = storm->plan.roles == 1u << STORM_STAMP ? 2 : 1, size;

	for (uint8_t at = 0; at < 8; at = (uint8_t)(at + size)) {
		for (size = 8; size > least && (at % size || draw(random, 2));)
			size /= 2;
		add_cell(storm, random, object, (uint8_t)(offset + at), size);
	}
}

static void cut_objects(struct storm *storm)
{
	for (uint32_t object = 0; object < storm->plan.objects; object++) {
		struct random random = random_stream(storm->machine->config.coherence.seed,
						     "storm.object", object);

		for (uint8_t offset = 0; offset < STORM_OBJECT; offset = (uint8_t)(offset + 8))
			cut_word(storm, &random, object, offset);
	}
}

/* ---- judging -------------------------------------------------------------------------------- */

static void judge(struct storm_thread *me, const struct place *place, uint64_t value, bool right,
		  const char *what)
{
	me->hash = me->hash * 31 + value;
	if (!right)
		error_set(&me->storm->mistake, "thread %u reads %#llx at %#llx, %u bytes: %s",
			  me->number, (unsigned long long)value, (unsigned long long)place->address,
			  place->size, what);
}

static bool has_one_writer(const struct cell *cell)
{
	return cell->role == STORM_STAMP || cell->role == STORM_SHADOW;
}

static bool writes(const struct storm_thread *me, const struct cell *cell)
{
	return has_one_writer(cell) && cell->writer == me->number;
}

/* Another thread's stamp: a number that its writer stored here, and no older than any that is known
 * to have come before one seen already. */
static void judge_stamp(struct storm_thread *me, uint32_t k, uint64_t value)
{
	const struct cell *cell = &me->storm->cells[k];
	const struct storm_thread *writer = &me->storm->threads[cell->writer];
	uint32_t *horizon = &me->horizon[cell->writer];
	bool stored = !value || (value <= writer->stamp_count && writer->stamped[value - 1] == k);

	judge(me, &cell->place, value, stored, "a number that was never stored there");
	judge(me, &cell->place, value, value >= me->known[k].value,
	      "older than another stamp seen before");
	for (; stored && *horizon < value; ++*horizon)
		me->known[writer->stamped[*horizon]].value = *horizon + 1;
}

static uint64_t load(struct thread *self, struct storm_thread *me, uint32_t k)
{
	const struct cell *cell = &me->storm->cells[k];
	uint64_t value = thread_load(self, &cell->place);

	if (writes(me, cell))
		judge(me, &cell->place, value, value == me->known[k].value,
		      "not what it stored last");
	else if (cell->role == STORM_STAMP)
		judge_stamp(me, k, value);
	else
		judge(me, &cell->place, value, true, "");
	return value;
}

/* ---- operations ----------------------------------------------------------------------------- */

static void count_up(struct thread *self, struct storm_thread *me, uint32_t k)
{
	const struct cell *cell = &me->storm->cells[k];
	uint64_t amount = random_next(&self->random);

	me->known[k].value += amount;
	judge(me, &cell->place, thread_rmw(self, &cell->place, RMW_ADD, amount, 0), true, "");
}

static void stamp(struct thread *self, struct storm_thread *me, uint32_t k)
{
	const struct cell *cell = &me->storm->cells[k];
	uint64_t old = me->known[k].value, got;

	me->stamped[me->stamp_count++] = (uint16_t)k;
	me->known[k].value = me->stamp_count;
	if (draw(&self->random, 8)) {
		thread_store(self, &cell->place, me->stamp_count);
		return;
	}
	got = thread_rmw(self, &cell->place, RMW_XCHG, me->stamp_count, 0);
	judge(me, &cell->place, got, got == old, "not what it stored last");
}

/* A piece of a shadowed cell, at any offset. */
static void write_piece(struct thread *self, struct storm_thread *me, uint32_t k)
{
	const struct cell *cell = &me->storm->cells[k];
	struct place place = cell->place;
	uint64_t *shadow = &me->known[k].value, old, value, expected;
	uint32_t how = draw(&self->random, 8), at;

	do
		place.size = (uint8_t)(1u << draw(&self->random, 4));
	while (place.size > cell->place.size);
	at = draw(&self->random, (uint32_t)(cell->place.size - place.size + 1));
	place.address += at;
	old = expected = *shadow >> (8 * at) & mask(place.size);
	value = random_next(&self->random) & mask(place.size);
	if (how < 6) {
		thread_store(self, &place, value);
	} else {
		expected += how == 7;
		uint64_t got = thread_rmw(self, &place, RMW_CMPXCHG, value, expected);

		judge(me, &place, got, got == old, "not what it stored last");
		value = how == 7 ? old : value;
	}
	*shadow = (*shadow & ~(mask(place.size) << (8 * at))) | value << (8 * at);
}

static void exchange(struct thread *self, struct storm_thread *me, uint32_t k)
{
	const struct cell *cell = &me->storm->cells[k];
	uint64_t in = random_next(&self->random) & mask(cell->place.size);
	uint64_t out = thread_rmw(self, &cell->place, RMW_XCHG, in, 0);

	judge(me, &cell->place, out, true, "");
	me->known[k].value += mixed(in) - mixed(out);
}

static void draw_ticket(struct thread *self, struct storm_thread *me, uint32_t k)
{
	const struct cell *cell = &me->storm->cells[k];
	uint64_t next = load(self, me, k);
	uint64_t old = thread_rmw(self, &cell->place, RMW_CMPXCHG, next + 1, next);

	judge(me, &cell->place, old, true, "");
	if (old != next)
		return;
	me->known[k].value += mixed(next);
	me->known[k].count++;
}

static void operate(struct thread *self, struct storm_thread *me, uint32_t k)
{
	static void (*const operation[STORM_ROLES])(struct thread *, struct storm_thread *,
						    uint32_t) = {
		[STORM_COUNTER] = count_up,   [STORM_STAMP] = stamp,
		[STORM_SHADOW] = write_piece, [STORM_TOKEN] = exchange,
		[STORM_TICKET] = draw_ticket,
	};
	const struct cell *cell = &me->storm->cells[k];
	bool may = !has_one_writer(cell) || (writes(me, cell) && me->stamp_count < STORM_STEPS_MAX);

	if (may && draw(&self->random, 4))
		operation[cell->role](self, me, k);
	else
		load(self, me, k);
}

/* ---- deeds ---------------------------------------------------------------------------------- */

static uint32_t any_cell(struct thread *self, const struct storm_thread *me)
{
	return draw(&self->random, me->storm->cell_count);
}

/* One that a thread writes, its own or all threads', in so far as a few draws find one. */
static uint32_t cell_written_by(struct thread *self, const struct storm_thread *me, uint32_t writer)
{
	uint32_t k = any_cell(self, me);

	for (int tries = 0; tries < 4; tries++, k = any_cell(self, me)) {
		const struct cell *cell = &me->storm->cells[k];

		if (!has_one_writer(cell) || cell->writer == writer)
			break;
	}
	return k;
}

/* A load of any size, anywhere, over cells of any writers: of its own the thread knows each byte. */
static void look(struct thread *self, struct storm_thread *me)
{
	const struct storm *storm = me->storm;
	uint32_t object = draw(&self->random, storm->plan.objects);
	uint32_t size = 1u << draw(&self->random, 4);
	uint32_t offset = draw(&self->random, STORM_OBJECT / BLOCK) * BLOCK +
			  draw(&self->random, BLOCK - size + 1);
	struct place place = { storm->plan.base + object * storm->plan.stride + offset,
			       (uint16_t)(object * (STORM_OBJECT / 8) + offset / 8),
			       (uint8_t)size };
	uint64_t value = thread_load(self, &place);
	bool right = true;

	for (uint32_t k = 0; k < size; k++) {
		uint16_t at = storm->cell_at[object * STORM_OBJECT + offset + k];
		const struct cell *cell = &storm->cells[at];
		uint64_t into = place.address + k - cell->place.address;

		right &= !writes(me, cell) || (uint8_t)(value >> (8 * k)) ==
						      (uint8_t)(me->known[at].value >> (8 * into));
	}
	judge(me, &place, value, right, "a byte is not what it stored last");
}

/* Loads that are announced, many of them of one writer's cells, so that the order of its stores can
 * be seen; some are not done after all, or an operation comes between. */
static void load_group(struct thread *self, struct storm_thread *me)
{
	const struct storm *storm = me->storm;
	const struct place *places[GROUP_LOADS];
	uint32_t count = 2 + draw(&self->random, GROUP_LOADS - 1), cells[GROUP_LOADS];

	for (uint32_t k = 0; k < count; k++) {
		cells[k] = k ? cell_written_by(self, me, storm->cells[cells[0]].writer)
			     : any_cell(self, me);
		places[k] = &storm->cells[cells[k]].place;
	}
	thread_together(self, places, count);
	for (uint32_t k = 0; k < count; k++) {
		uint32_t how = draw(&self->random, 16);

		if (how < 2)
			continue;
		if (how == 2 && me->stamp_count < STORM_STEPS_MAX)
			operate(self, me, any_cell(self, me));
		load(self, me, cells[k]);
	}
}

static void step(struct thread *self, struct storm_thread *me)
{
	const struct storm_plan *plan = &me->storm->plan;
	uint32_t what = draw(&self->random, 32), deeds = plan->deeds;

	if (what < 4 && deeds >> STORM_LOOK & 1)
		look(self, me);
	else if (what >= 4 && what < 7 && deeds >> STORM_GROUP & 1)
		load_group(self, me);
	else if (what >= 7 && what < 9 && deeds >> STORM_WORK & 1)
		thread_work(self, draw(&self->random, plan->work + 1));
	else if (what == 9 && deeds >> STORM_FENCE & 1)
		thread_fence(self);
	else if (draw(&self->random, 8) < plan->hot)
		operate(self, me, 0);
	else if (draw(&self->random, 2))
		operate(self, me, cell_written_by(self, me, me->number));
	else
		operate(self, me, any_cell(self, me));
}

static void body(struct thread *self, void *argument)
{
	struct storm_thread *me = argument;

	for (uint32_t k = 0; k < me->storm->plan.steps; k++) {
		if (me->storm->mistake.text[0]) {
			self->machine->stop = true;
			return;
		}
		step(self, me);
	}
}

/* ---- from the beginning to the end ---------------------------------------------------------- */

static bool allocate(struct storm *storm)
{
	const struct storm_plan *plan = &storm->plan;
	size_t bytes = (size_t)plan->objects * STORM_OBJECT, n = plan->threads;

	storm->cells = calloc(bytes, sizeof(*storm->cells));
	storm->cell_at = calloc(bytes, sizeof(*storm->cell_at));
	storm->counts = calloc(bytes / 8, sizeof(*storm->counts));
	storm->threads = calloc(n, sizeof(*storm->threads));
	storm->horizon = calloc(n * n, sizeof(*storm->horizon));
	return storm->cells && storm->cell_at && storm->counts && storm->threads && storm->horizon;
}

/* The stamps of a thread: one a step, and those between the loads of a group. */
static size_t stamps_of(const struct storm_plan *plan)
{
	size_t most = (size_t)plan->steps * GROUP_LOADS;

	return most < STORM_STEPS_MAX ? most : STORM_STEPS_MAX;
}

static bool start_thread(struct storm *storm, uint32_t number, uint32_t cpu, struct error *error)
{
	struct storm_thread *me = &storm->threads[number];
	struct thread *thread = machine_thread(storm->machine, cpu, body, me, error);

	if (!thread)
		return false;
	thread->counts = storm->counts;
	me->storm = storm;
	me->number = number;
	me->known = storm->known + (size_t)number * storm->cell_count;
	me->horizon = storm->horizon + (size_t)number * storm->plan.threads;
	me->stamped = storm->stamped + number * stamps_of(&storm->plan);
	for (uint32_t k = 0; k < storm->cell_count; k++)
		if (writes(me, &storm->cells[k]))
			me->known[k].value = storm->cells[k].first;
	return true;
}

struct storm *storm_new(const struct storm_plan *plan, struct machine *machine, struct error *error)
{
	struct storm *storm = calloc(1, sizeof(*storm));
	uint32_t cpus = machine->coherence->fabric->cores * machine->config.smt, cpu = 0, round = 0;

	if (!storm)
		goto no_memory;
	storm->plan = *plan;
	storm->machine = machine;
	if (!allocate(storm))
		goto no_memory;
	cut_objects(storm);
	storm->known = calloc((size_t)plan->threads * storm->cell_count, sizeof(*storm->known));
	storm->stamped = calloc(plan->threads * stamps_of(plan), sizeof(*storm->stamped));
	if (!storm->known || !storm->stamped)
		goto no_memory;
	for (uint32_t k = 0; k < plan->threads; k++) {
		if (!start_thread(storm, k, cpu, error)) {
			storm_free(storm);
			return NULL;
		}
		cpu += plan->cpu_step;
		if (cpu >= cpus)
			cpu = ++round;
	}
	return storm;
no_memory:
	error_set(error, "out of memory");
	storm_free(storm);
	return NULL;
}

void storm_free(struct storm *storm)
{
	if (!storm)
		return;
	free(storm->cells);
	free(storm->cell_at);
	free(storm->counts);
	free(storm->threads);
	free(storm->known);
	free(storm->horizon);
	free(storm->stamped);
	free(storm);
}

/* What all threads together did to a cell. */
static struct known sum_over_threads(const struct storm *storm, uint32_t k)
{
	struct known sum = { 0 };

	for (uint32_t t = 0; t < storm->plan.threads; t++) {
		sum.value += storm->threads[t].known[k].value;
		sum.count += storm->threads[t].known[k].count;
	}
	return sum;
}

static uint64_t tickets_mixed(uint64_t count, uint8_t size)
{
	uint64_t sum = 0;

	for (uint64_t number = 0; number < count; number++)
		sum += mixed(number & mask(size));
	return sum;
}

/* What is wrong with what a cell holds in the end; NULL: nothing. */
static const char *wrong_end(const struct storm *storm, uint32_t k, uint64_t value)
{
	const struct cell *cell = &storm->cells[k];
	struct known sum = sum_over_threads(storm, k);
	uint8_t size = cell->place.size;

	switch (cell->role) {
	case STORM_COUNTER:
		return value == ((cell->first + sum.value) & mask(size)) ? NULL : "not the sum";
	case STORM_TOKEN:
		return mixed(value) - mixed(cell->first) == sum.value
			       ? NULL
			       : "what was put in did not come out once each";
	case STORM_TICKET:
		return value == (sum.count & mask(size)) &&
				       sum.value == tickets_mixed(sum.count, size)
			       ? NULL
			       : "numbers were drawn twice or not at all";
	default:
		return value == storm->threads[cell->writer].known[k].value
			       ? NULL
			       : "not what its writer stored last";
	}
}

bool storm_held(struct storm *storm, struct error *error)
{
	for (uint32_t k = 0; k < storm->cell_count && !storm->mistake.text[0]; k++) {
		const struct place *place = &storm->cells[k].place;
		uint64_t value = 0;

		coherence_peek(storm->machine->coherence, place->address, &value, place->size);
		const char *wrong = wrong_end(storm, k, value);

		if (wrong)
			error_set(&storm->mistake, "%#llx is left at %#llx, %u bytes: %s",
				  (unsigned long long)value, (unsigned long long)place->address,
				  place->size, wrong);
	}
	return !storm->mistake.text[0] || error_set(error, "%s", storm->mistake.text);
}

uint64_t storm_hash(const struct storm *storm)
{
	uint64_t hash = 0;

	for (uint32_t k = 0; k < storm->plan.threads; k++)
		hash = hash * 0x100000001b3u ^ storm->threads[k].hash;
	return hash;
}

uint64_t storm_accesses(const struct storm *storm)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < storm->plan.objects * (STORM_OBJECT / 8); k++)
		sum += storm->counts[k].loads + storm->counts[k].stores + storm->counts[k].rmws;
	return sum;
}
