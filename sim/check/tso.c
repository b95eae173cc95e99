/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A state is a row of 64-bit words: where each thread is (a byte each), how many of its stores have
 * reached memory (a byte each), the locations, the registers that threads use, and the values of
 * buffered stores. A buffer is first in, first out, so that the stores issued and those that have
 * drained tell what is in it. All states that were found stand in one array, which is also the list
 * of those still to be visited. */
#define _GNU_SOURCE /* qsort_r */
#include "check/tso.h"
#include <stdlib.h>
#include <string.h>

enum { WORD_STEPS, WORD_DRAINED, WORD_MEMORY };

/* What a thread's part of a state looks like, and which step is its k-th store. */
struct part {
	uint32_t registers, stored;          /* first words */
	uint8_t place[LITMUS_REGISTERS_MAX]; /* of a register among the thread's */
	uint16_t used;                       /* registers, a bit each */
	uint8_t store_count, store_step[LITMUS_STEPS_MAX];
	uint8_t store_before[LITMUS_STEPS_MAX + 1]; /* stores among the first k steps */
};

struct explorer {
	const struct litmus *litmus;
	uint32_t buffer, words; /* of a state */
	struct part parts[LITMUS_THREADS_MAX];
	uint64_t *states;
	size_t count, room, limit;
	uint32_t *table; /* 1 + index of a state, 0: free */
	size_t slots;
	uint64_t *next; /* the state being made */
	struct tso_result *result;
	size_t outcomes_room;
	struct error *error;
};

/* ---- layout --------------------------------------------------------------------------------- */

static void use(struct part *part, uint8_t number)
{
	part->used |= (uint16_t)(1u << number);
}

static void part_scan(struct part *part, const struct litmus_thread *thread)
{
	for (uint8_t k = 0; k < LITMUS_REGISTERS_MAX; k++)
		if (thread->initial[k])
			use(part, k);
	for (uint8_t k = 0; k < thread->count; k++) {
		const struct litmus_step *step = &thread->steps[k];

		part->store_before[k] = part->store_count;
		if (step->operation == LITMUS_STORE)
			part->store_step[part->store_count++] = k;
		if (step->operation != LITMUS_FENCE && step->operation != LITMUS_NOTHING) {
			use(part, step->target);
			use(part, step->source);
		}
	}
	part->store_before[thread->count] = part->store_count;
}

static void lay_out(struct explorer *explorer)
{
	const struct litmus *litmus = explorer->litmus;
	uint32_t word = WORD_MEMORY + litmus->location_count;

	for (uint32_t t = 0; t < litmus->thread_count; t++) {
		struct part *part = &explorer->parts[t];

		part_scan(part, &litmus->threads[t]);
		part->registers = word;
		for (uint32_t k = 0; k < LITMUS_REGISTERS_MAX; k++) {
			part->place[k] = (uint8_t)(word - part->registers);
			word += part->used >> k & 1;
		}
		part->stored = word;
		word += part->store_count;
	}
	explorer->words = word;
}

static uint32_t byte_of(uint64_t word, uint32_t k)
{
	return word >> (8 * k) & 0xff;
}

/* ---- the set of states ---------------------------------------------------------------------- */

static uint64_t hash(const uint64_t *words, uint32_t count)
{
	uint64_t h = 0;

	for (uint32_t k = 0; k < count; k++) {
		h = (h ^ words[k]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

static bool no_memory(struct explorer *explorer)
{
	return error_set(explorer->error, "%s: out of memory", explorer->litmus->name);
}

static uint64_t *state_at(const struct explorer *explorer, size_t k)
{
	return explorer->states + k * explorer->words;
}

static bool table_grow(struct explorer *explorer)
{
	size_t slots = explorer->slots ? explorer->slots * 2 : 1024;
	uint32_t *table = calloc(slots, sizeof(*table));

	if (!table)
		return no_memory(explorer);
	for (size_t k = 0; k < explorer->count; k++) {
		size_t slot = hash(state_at(explorer, k), explorer->words) & (slots - 1);

		while (table[slot])
			slot = (slot + 1) & (slots - 1);
		table[slot] = (uint32_t)(k + 1);
	}
	free(explorer->table);
	explorer->table = table;
	explorer->slots = slots;
	return true;
}

static bool states_grow(struct explorer *explorer)
{
	size_t room = explorer->room ? explorer->room * 2 : 512;
	uint64_t *states;

	if (explorer->count == explorer->limit)
		return error_set(explorer->error,
				 "%s: more than %zu states, expected a smaller test",
				 explorer->litmus->name, explorer->limit);
	room = room < explorer->limit ? room : explorer->limit;
	states = realloc(explorer->states, room * explorer->words * sizeof(*states));
	if (!states)
		return no_memory(explorer);
	explorer->states = states;
	explorer->room = room;
	return true;
}

/* Adds `next` unless it is there. */
static bool found(struct explorer *explorer)
{
	size_t bytes = explorer->words * sizeof(*explorer->next), slot;

	if (2 * explorer->count >= explorer->slots && !table_grow(explorer))
		return false;
	slot = hash(explorer->next, explorer->words) & (explorer->slots - 1);
	for (; explorer->table[slot]; slot = (slot + 1) & (explorer->slots - 1))
		if (!memcmp(state_at(explorer, explorer->table[slot] - 1), explorer->next, bytes))
			return true;
	if (explorer->count == explorer->room && !states_grow(explorer))
		return false;
	memcpy(state_at(explorer, explorer->count), explorer->next, bytes);
	explorer->table[slot] = (uint32_t)++explorer->count;
	return true;
}

/* ---- the abstract machine ------------------------------------------------------------------- */

/* The thread's registers, wherever the state keeps them. */
static uint64_t *reg(const struct explorer *explorer, uint64_t *state, uint32_t t, uint8_t number)
{
	const struct part *part = &explorer->parts[t];

	return &state[part->registers + part->place[number]];
}

static uint64_t operand(const struct explorer *explorer, uint64_t *state, uint32_t t,
			const struct litmus_step *step)
{
	return step->immediate ? step->value
			       : litmus_cut(*reg(explorer, state, t, step->source), step->size);
}

static void set_target(const struct explorer *explorer, uint64_t *state, uint32_t t,
		       const struct litmus_step *step, uint64_t value)
{
	uint64_t *target = reg(explorer, state, t, step->target);

	*target = litmus_merge(*target, value, step->size);
}

/* The youngest buffered store to the location, else memory. */
static uint64_t load(const struct explorer *explorer, const uint64_t *state, uint32_t t,
		     uint8_t location)
{
	const struct part *part = &explorer->parts[t];
	uint32_t issued = part->store_before[byte_of(state[WORD_STEPS], t)];
	uint32_t drained = byte_of(state[WORD_DRAINED], t);

	for (uint32_t k = issued; k-- > drained;)
		if (explorer->litmus->threads[t].steps[part->store_step[k]].location == location)
			return state[part->stored + k];
	return state[WORD_MEMORY + location];
}

/* A locked operation, the buffer being empty. */
static void locked(const struct explorer *explorer, uint64_t *state, uint32_t t,
		   const struct litmus_step *step)
{
	uint64_t *memory = &state[WORD_MEMORY + step->location], old = *memory;
	uint64_t value = operand(explorer, state, t, step);

	switch (step->operation) {
	case LITMUS_COMPARE_EXCHANGE:
		if (litmus_cut(*reg(explorer, state, t, step->target), step->size) == old)
			*memory = value;
		else
			set_target(explorer, state, t, step, old);
		break;
	case LITMUS_EXCHANGE:
		*memory = value;
		set_target(explorer, state, t, step, old);
		break;
	case LITMUS_FETCH_ADD:
		set_target(explorer, state, t, step, old);
		/* fallthrough */
	default:
		*memory = litmus_cut(old + value, step->size);
	}
}

/* Does the thread's next step in `state`, if it may: the step's effect, but for its count. */
static bool perform(const struct explorer *explorer, uint64_t *state, uint32_t t,
		    const struct litmus_step *step)
{
	const struct part *part = &explorer->parts[t];
	uint32_t issued = part->store_before[byte_of(state[WORD_STEPS], t)];
	uint32_t buffered = issued - byte_of(state[WORD_DRAINED], t);

	switch (step->operation) {
	case LITMUS_LOAD:
		set_target(explorer, state, t, step, load(explorer, state, t, step->location));
		return true;
	case LITMUS_SET:
		set_target(explorer, state, t, step, operand(explorer, state, t, step));
		return true;
	case LITMUS_NOTHING:
		return true;
	case LITMUS_STORE:
		if (explorer->buffer && buffered == explorer->buffer)
			return false;
		state[part->stored + issued] = operand(explorer, state, t, step);
		return true;
	case LITMUS_FENCE:
		return !buffered;
	default:
		if (!buffered)
			locked(explorer, state, t, step);
		return !buffered;
	}
}

/* The thread's oldest buffered store reaches memory. What a state does not need is 0, so that equal
 * states look alike. */
static bool drain(const struct explorer *explorer, uint64_t *state, uint32_t t)
{
	const struct part *part = &explorer->parts[t];
	uint32_t drained = byte_of(state[WORD_DRAINED], t);
	const struct litmus_step *step;

	if (drained == part->store_before[byte_of(state[WORD_STEPS], t)])
		return false;
	step = &explorer->litmus->threads[t].steps[part->store_step[drained]];
	state[WORD_MEMORY + step->location] = state[part->stored + drained];
	state[part->stored + drained] = 0;
	state[WORD_DRAINED] += 1ull << (8 * t);
	return true;
}

/* ---- final states --------------------------------------------------------------------------- */

static bool conclude(struct explorer *explorer, uint64_t *state)
{
	const struct litmus *litmus = explorer->litmus;
	struct tso_result *result = explorer->result;
	uint64_t values[LITMUS_NAMES_MAX];

	for (uint32_t k = 0; k < litmus->name_count; k++) {
		const struct litmus_name *name = &litmus->names[k];
		bool used =
			name->is_location || explorer->parts[name->thread].used >> name->index & 1;
		const uint64_t *at = name->is_location
					     ? &state[WORD_MEMORY + name->index]
					     : reg(explorer, state, name->thread, name->index);

		values[k] = used ? litmus_cut(*at, name->size) : 0;
	}
	if (!litmus_holds(&litmus->filter, values))
		return true;
	if (result->count == explorer->outcomes_room) {
		size_t room = explorer->outcomes_room ? explorer->outcomes_room * 2 : 64;
		uint64_t *outcomes =
			realloc(result->outcomes, room * (result->width + 1) * sizeof(*outcomes));

		if (!outcomes)
			return no_memory(explorer);
		result->outcomes = outcomes;
		explorer->outcomes_room = room;
	}
	memcpy(result->outcomes + result->count++ * result->width, values,
	       result->width * sizeof(*values));
	return true;
}

static int compare(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	for (uint32_t k = 0; k < width; k++)
		if (a[k] != b[k])
			return a[k] < b[k] ? -1 : 1;
	return 0;
}

static int compare_rows(const void *a, const void *b, void *width)
{
	return compare(a, b, *(const uint32_t *)width);
}

static void sort_outcomes(struct tso_result *result)
{
	size_t kept = 0, row = result->width * sizeof(*result->outcomes);

	qsort_r(result->outcomes, result->count, row, compare_rows, &result->width);
	for (size_t k = 0; k < result->count; k++) {
		const uint64_t *values = result->outcomes + k * result->width;

		if (kept && !compare(values - result->width, values, result->width))
			continue;
		memmove(result->outcomes + kept++ * result->width, values, row);
	}
	result->count = kept;
}

static void judge(const struct litmus *litmus, struct tso_result *result)
{
	bool forall = litmus->quantifier == LITMUS_FORALL;

	for (size_t k = 0; k < result->count; k++)
		result->matching +=
			litmus_holds(&litmus->condition, result->outcomes + k * result->width);
	if (forall)
		result->verdict = result->matching == result->count ? TSO_REQUIRED : TSO_VIOLATED;
	else
		result->verdict = result->matching ? TSO_ALLOWED : TSO_FORBIDDEN;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool start(struct explorer *explorer)
{
	const struct litmus *litmus = explorer->litmus;

	explorer->next = calloc(explorer->words, sizeof(*explorer->next));
	if (!explorer->next)
		return no_memory(explorer);
	for (uint32_t k = 0; k < litmus->location_count; k++)
		explorer->next[WORD_MEMORY + k] = litmus->locations[k].initial;
	for (uint32_t t = 0; t < litmus->thread_count; t++)
		for (uint8_t k = 0; k < LITMUS_REGISTERS_MAX; k++)
			if (explorer->parts[t].used >> k & 1)
				*reg(explorer, explorer->next, t, k) =
					litmus->threads[t].initial[k];
	return found(explorer);
}

/* Everything that may happen next in the k-th state. */
static bool visit(struct explorer *explorer, size_t k)
{
	const struct litmus *litmus = explorer->litmus;
	size_t bytes = explorer->words * sizeof(*explorer->next);
	bool final = true;

	for (uint32_t t = 0; t < litmus->thread_count; t++) {
		const struct litmus_thread *thread = &litmus->threads[t];
		uint32_t at;

		memcpy(explorer->next, state_at(explorer, k), bytes);
		at = byte_of(explorer->next[WORD_STEPS], t);
		if (drain(explorer, explorer->next, t)) {
			final = false;
			if (!found(explorer))
				return false;
		}
		if (at == thread->count)
			continue;
		final = false;
		memcpy(explorer->next, state_at(explorer, k), bytes);
		if (!perform(explorer, explorer->next, t, &thread->steps[at]))
			continue;
		explorer->next[WORD_STEPS] += 1ull << (8 * t);
		if (!explorer->buffer)
			drain(explorer, explorer->next, t);
		if (!found(explorer))
			return false;
	}
	return !final || conclude(explorer, state_at(explorer, k));
}

bool tso_explore(const struct litmus *litmus, uint32_t buffer, size_t states_max,
		 struct tso_result *result, struct error *error)
{
	struct explorer explorer = {
		.litmus = litmus, .buffer = buffer, .result = result, .error = error
	};
	size_t most;
	bool good;

	*result = (struct tso_result){ .width = litmus->name_count };
	lay_out(&explorer);
	most = TSO_BYTES_MAX / (explorer.words * sizeof(*explorer.states));
	explorer.limit = states_max < most ? states_max : most;
	good = start(&explorer);
	for (size_t k = 0; good && k < explorer.count; k++)
		good = visit(&explorer, k);
	result->explored = explorer.count;
	free(explorer.states);
	free(explorer.table);
	free(explorer.next);
	if (!good) {
		tso_free(result);
		return false;
	}
	sort_outcomes(result);
	judge(litmus, result);
	return true;
}

void tso_free(struct tso_result *result)
{
	free(result->outcomes);
	result->outcomes = NULL;
	result->count = 0;
}

size_t tso_find(const struct tso_result *result, const uint64_t *values)
{
	size_t low = 0, high = result->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order =
			compare(result->outcomes + middle * result->width, values, result->width);

		if (!order)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

const char *tso_verdict_name(enum tso_verdict verdict)
{
	static const char *const names[] = { "Allowed", "Forbidden", "Required", "Violated" };

	return names[verdict];
}
