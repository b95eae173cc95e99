/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/litmus_explore.h"
#include "check/states.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line's data hold four locations of four bits: the number of a value among those that the test
 * has come to so far. The last would look like no data at all. */
enum { THREADS_MAX = LITMUS_EXPLORE_THREADS_MAX, LINES_MAX = 4, SLOTS = 4, VALUES_MAX = 15 };

enum {
	PACKED_MAX = THREADS_MAX * (2 + LITMUS_REGISTERS_MAX + LITMUS_STEPS_MAX) +
		     LINES_MAX * MODEL_PACKED_MAX
};

struct buffered {
	uint8_t location, value; /* value: its number, as everywhere below */
};

struct program_thread {
	uint8_t at; /* next step */
	bool waits; /* for the line that this step needs */
	uint8_t stores;
	uint8_t registers[LITMUS_REGISTERS_MAX];
	struct buffered store[LITMUS_STEPS_MAX]; /* the oldest first */
};

struct scene {
	struct program_thread thread[THREADS_MAX];
	struct model_line line[LINES_MAX];
};

struct litmus_search {
	const struct litmus *litmus;
	const struct tso_result *expected;
	const struct litmus_explore_options *options;
	struct litmus_explore_result *result;
	struct protocol rows;
	struct model model;
	uint32_t lines;
	struct states states;
	uint8_t *seen;       /* which of the outcomes expected */
	struct scene *scene; /* of the move being made */
	bool draining;       /* it is the oldest store, not the thread's step */
	uint64_t values[VALUES_MAX];
	uint32_t value_count;
	bool unfit; /* it would take more of them */
};

/* ---- places --------------------------------------------------------------------------------- */

static uint32_t line_of(const struct litmus_search *search, uint32_t location)
{
	switch (search->options->variables) {
	case LITMUS_TOGETHER:
		return 0;
	case LITMUS_PAIRED:
		return location / 2;
	default:
		return location;
	}
}

static uint32_t slot_of(const struct litmus_search *search, uint32_t location)
{
	switch (search->options->variables) {
	case LITMUS_TOGETHER:
		return location;
	case LITMUS_PAIRED:
		return location % 2;
	default:
		return 0;
	}
}

/* ---- values --------------------------------------------------------------------------------- */

static uint8_t number_of(struct litmus_search *search, uint64_t value)
{
	uint8_t k = 0;

	while (k < search->value_count && search->values[k] != value)
		k++;
	if (k == VALUES_MAX) {
		search->unfit = true;
		return 0;
	}
	if (k == search->value_count)
		search->values[search->value_count++] = value;
	return k;
}

static uint64_t get_slot(const struct litmus_search *search, uint16_t data, uint32_t location)
{
	return search->values[data >> (4 * slot_of(search, location)) & 15];
}

static uint16_t set_slot(struct litmus_search *search, uint16_t data, uint32_t location,
			 uint64_t value)
{
	uint32_t shift = 4 * slot_of(search, location);

	return (uint16_t)((data & ~(15u << shift)) | (uint32_t)number_of(search, value) << shift);
}

static uint64_t get_register(const struct litmus_search *search,
			     const struct program_thread *thread, uint8_t which)
{
	return search->values[thread->registers[which]];
}

static void set_register(struct litmus_search *search, struct program_thread *thread, uint8_t which,
			 uint64_t value, uint8_t size)
{
	uint64_t old = get_register(search, thread, which);

	thread->registers[which] =
		number_of(search, litmus_merge(old, litmus_cut(value, size), size));
}

/* ---- steps of a thread ---------------------------------------------------------------------- */

static const struct litmus_step *step_of(const struct litmus_search *search, uint32_t p)
{
	uint8_t at = search->scene->thread[p].at;

	return at < search->litmus->threads[p].count ? &search->litmus->threads[p].steps[at] : NULL;
}

static bool is_locked(const struct litmus_step *step)
{
	return step->operation == LITMUS_EXCHANGE || step->operation == LITMUS_ADD ||
	       step->operation == LITMUS_FETCH_ADD || step->operation == LITMUS_COMPARE_EXCHANGE;
}

static uint64_t operand_of(const struct litmus_search *search, const struct program_thread *thread,
			   const struct litmus_step *step)
{
	return step->immediate ? step->value
			       : litmus_cut(get_register(search, thread, step->source), step->size);
}

/* What the cache's oldest store, or its thread's locked operation, makes of a line. */
static uint16_t write_line(void *context, uint32_t p, uint16_t data)
{
	struct litmus_search *search = context;
	struct program_thread *thread = &search->scene->thread[p];
	const struct litmus_step *step = step_of(search, p);
	uint64_t operand, old;

	if (search->draining)
		return set_slot(search, data, thread->store[0].location,
				search->values[thread->store[0].value]);
	if (!step)
		return data;
	operand = operand_of(search, thread, step);
	old = get_slot(search, data, step->location);
	if (step->operation == LITMUS_COMPARE_EXCHANGE &&
	    old == litmus_cut(get_register(search, thread, step->target), step->size))
		return set_slot(search, data, step->location, operand);
	if (step->operation == LITMUS_ADD || step->operation == LITMUS_FETCH_ADD)
		data = set_slot(search, data, step->location,
				litmus_cut(old + operand, step->size));
	else if (step->operation == LITMUS_EXCHANGE)
		data = set_slot(search, data, step->location, operand);
	if (step->operation != LITMUS_ADD)
		set_register(search, thread, step->target, old, step->size);
	return data;
}

/* The value of the youngest store to the location, if there is one. */
static bool forwarded(const struct litmus_search *search, const struct program_thread *thread,
		      uint32_t location, uint64_t *value)
{
	for (uint32_t k = thread->stores; k-- > 0;)
		if (thread->store[k].location == location) {
			*value = search->values[thread->store[k].value];
			return true;
		}
	return false;
}

static void step_done(struct program_thread *thread)
{
	thread->at++;
	thread->waits = false;
}

static enum model_outcome drain(struct litmus_search *search, uint32_t p)
{
	struct program_thread *thread = &search->scene->thread[p];
	struct model_line *line;
	bool writes;
	enum model_outcome outcome;

	if (!thread->stores)
		return MODEL_NOT_NOW;
	line = &search->scene->line[line_of(search, thread->store[0].location)];
	writes = cache_writable(line->cache[p].state);
	search->draining = true;
	outcome = model_move(&search->model, line, MOVE_STORE, p, 0);
	search->draining = false;
	if (outcome != MODEL_MOVED || !writes)
		return outcome;
	thread->stores--;
	memmove(thread->store, thread->store + 1, thread->stores * sizeof(*thread->store));
	thread->store[thread->stores] = (struct buffered){ 0, 0 };
	return outcome;
}

/* A locked operation, once the store buffer is empty: done where the line is owned, else the line,
 * or the operation, is asked for. */
static enum model_outcome lock_step(struct litmus_search *search, uint32_t p,
				    const struct litmus_step *step)
{
	struct program_thread *thread = &search->scene->thread[p];
	struct model_line *line = &search->scene->line[line_of(search, step->location)];
	bool writes = cache_writable(line->cache[p].state);
	bool far = search->options->variant.atomics == ATOMICS_FAR;
	enum model_outcome outcome;

	if (thread->stores && !search->options->undrained)
		return MODEL_NOT_NOW;
	outcome = model_move(&search->model, line, far ? MOVE_FAR : MOVE_STORE, p, 0);
	if (outcome != MODEL_MOVED)
		return outcome;
	if (writes)
		step_done(thread);
	else
		thread->waits = true;
	return outcome;
}

static enum model_outcome load_step(struct litmus_search *search, uint32_t p,
				    const struct litmus_step *step)
{
	struct program_thread *thread = &search->scene->thread[p];
	struct model_line *line = &search->scene->line[line_of(search, step->location)];
	const struct model_cache *cache = &line->cache[p];
	enum model_outcome outcome;
	uint64_t value;

	if (forwarded(search, thread, step->location, &value) || cache_readable(cache->state)) {
		if (!forwarded(search, thread, step->location, &value))
			value = get_slot(search, cache->data, step->location);
		set_register(search, thread, step->target, value, step->size);
		step_done(thread);
		return MODEL_MOVED;
	}
	/* A load that comes when an Inv has been acknowledged (IS_D_I) may not use data that are
	 * older. */
	if (cache->state == STATE_IS_D && !thread->waits) {
		thread->waits = true;
		return MODEL_MOVED;
	}
	if (cache->state != STATE_I)
		return MODEL_NOT_NOW;
	outcome = model_move(&search->model, line, MOVE_LOAD, p, 0);
	thread->waits = true;
	return outcome;
}

static enum model_outcome thread_step(struct litmus_search *search, uint32_t p)
{
	struct program_thread *thread = &search->scene->thread[p];
	const struct litmus_step *step = step_of(search, p);

	if (!step)
		return MODEL_NOT_NOW;
	if (is_locked(step))
		return lock_step(search, p, step);
	switch (step->operation) {
	case LITMUS_LOAD:
		return load_step(search, p, step);
	case LITMUS_STORE:
		thread->store[thread->stores++] =
			(struct buffered){ step->location,
					   number_of(search, operand_of(search, thread, step)) };
		break;
	case LITMUS_SET:
		set_register(search, thread, step->target, operand_of(search, thread, step),
			     step->size);
		break;
	case LITMUS_FENCE:
		if (thread->stores)
			return MODEL_NOT_NOW;
		break;
	default:
		break;
	}
	step_done(thread);
	return MODEL_MOVED;
}

/* ---- arrivals ------------------------------------------------------------------------------- */

/* The step that waits for a line, if this is the line. */
static const struct litmus_step *waiting_step(const struct litmus_search *search, uint32_t p,
					      uint32_t line)
{
	const struct litmus_step *step = step_of(search, p);
	bool memory = step && (step->operation == LITMUS_LOAD || is_locked(step));

	return memory && search->scene->thread[p].waits && line_of(search, step->location) == line
		       ? step
		       : NULL;
}

/* Data have come: a load that waits for them is done with them, and of a line that may be written
 * the oldest store, or else the locked operation that waits, before anyone can take it away. */
static enum model_outcome arrived(struct litmus_search *search, uint32_t p, uint32_t l,
				  enum cache_state old, uint16_t data)
{
	struct scene *scene = search->scene;
	struct program_thread *thread = &scene->thread[p];
	const struct litmus_step *step = waiting_step(search, p, l);
	enum cache_state now = scene->line[l].cache[p].state;
	uint64_t value;

	if ((old == STATE_IS_D || old == STATE_IS_D_I) && old != now && data != MODEL_NO_DATA) {
		if (step && step->operation == LITMUS_LOAD &&
		    !forwarded(search, thread, step->location, &value)) {
			set_register(search, thread, step->target,
				     get_slot(search, data, step->location), step->size);
			step_done(thread);
		}
	} else if (old == STATE_II_R && now == STATE_I && step) {
		step_done(thread);
	} else if (now == STATE_M && old != STATE_M) {
		if (thread->stores && line_of(search, thread->store[0].location) == l)
			return drain(search, p);
		if (!thread->stores && step && is_locked(step))
			return lock_step(search, p, step);
	}
	return MODEL_MOVED;
}

static enum model_outcome message(struct litmus_search *search, uint32_t l, enum model_move move,
				  uint32_t p)
{
	struct model_line *line = &search->scene->line[l];
	enum cache_state old = line->cache[p].state;
	uint16_t data = line->cache[p].answer_data;
	enum model_outcome outcome = model_move(&search->model, line, move, p, 0);

	if (outcome != MODEL_MOVED || move == MOVE_REQUEST || model_move_is_home(move))
		return outcome;
	return arrived(search, p, l, old, move == MOVE_ANSWER ? data : MODEL_NO_DATA);
}

/* ---- scenes --------------------------------------------------------------------------------- */

static size_t pack(const struct litmus_search *search, const struct scene *scene, uint8_t *bytes)
{
	uint8_t *at = bytes;

	for (uint32_t p = 0; p < search->model.caches; p++) {
		const struct program_thread *thread = &scene->thread[p];

		*at++ = thread->at;
		*at++ = (uint8_t)(thread->stores << 1 | thread->waits);
		memcpy(at, thread->registers, LITMUS_REGISTERS_MAX);
		at += LITMUS_REGISTERS_MAX;
		for (uint32_t k = 0; k < thread->stores; k++)
			*at++ = (uint8_t)(thread->store[k].location << 4 | thread->store[k].value);
	}
	for (uint32_t l = 0; l < search->lines; l++)
		at += model_pack(&search->model, &scene->line[l], at);
	return (size_t)(at - bytes);
}

static void unpack(const struct litmus_search *search, uint32_t number, struct scene *scene)
{
	size_t size;
	const uint8_t *at = states_at(&search->states, number, &size);

	memset(scene->thread, 0, sizeof(scene->thread));
	for (uint32_t p = 0; p < search->model.caches; p++) {
		struct program_thread *thread = &scene->thread[p];

		thread->at = *at++;
		thread->waits = *at & 1;
		thread->stores = *at++ >> 1;
		memcpy(thread->registers, at, LITMUS_REGISTERS_MAX);
		at += LITMUS_REGISTERS_MAX;
		for (uint32_t k = 0; k < thread->stores; k++, at++)
			thread->store[k] = (struct buffered){ *at >> 4, *at & 15 };
	}
	for (uint32_t l = 0; l < search->lines; l++)
		at += model_unpack(&search->model, at, &scene->line[l]);
}

static void start(struct litmus_search *search, struct scene *scene)
{
	const struct litmus *litmus = search->litmus;

	memset(scene, 0, sizeof(*scene));
	for (uint32_t l = 0; l < search->lines; l++)
		model_start(&scene->line[l]);
	for (uint32_t k = 0; k < litmus->location_count; k++) {
		struct model_home *home = &scene->line[line_of(search, k)].home;

		home->memory = set_slot(search, home->memory, k, litmus->locations[k].initial);
		home->latest = home->memory;
	}
	for (uint32_t p = 0; p < litmus->thread_count; p++)
		for (uint8_t r = 0; r < LITMUS_REGISTERS_MAX; r++)
			set_register(search, &scene->thread[p], r, litmus->threads[p].initial[r],
				     sizeof(uint64_t));
}

static bool finished(const struct litmus_search *search, const struct scene *scene)
{
	for (uint32_t p = 0; p < search->litmus->thread_count; p++)
		if (scene->thread[p].stores ||
		    scene->thread[p].at < search->litmus->threads[p].count)
			return false;
	return true;
}

static enum litmus_verdict wrong(struct litmus_search *search, enum litmus_verdict verdict,
				 const char *what)
{
	snprintf(search->result->what, sizeof(search->result->what), "%s", what);
	return verdict;
}

static void describe_outcome(const struct litmus *litmus, const uint64_t *values, char *text,
			     size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t k = 0; k < litmus->name_count && length < size; k++) {
		char name[LITMUS_LOCATION_SIZE + 16];

		litmus_name_text(litmus, k, name, sizeof(name));
		length += (size_t)snprintf(text + length, size - length, "%s%s=%llu", k ? " " : "",
					   name, (unsigned long long)values[k]);
	}
}

/* How the test has ended, held against what is expected. */
static enum litmus_verdict note_outcome(struct litmus_search *search, const struct scene *scene)
{
	const struct litmus *litmus = search->litmus;
	uint64_t values[LITMUS_NAMES_MAX];
	char text[160];
	size_t row;

	for (uint32_t k = 0; k < litmus->name_count; k++) {
		const struct litmus_name *name = &litmus->names[k];

		values[k] =
			name->is_location
				? get_slot(search,
					   scene->line[line_of(search, name->index)].home.latest,
					   name->index)
				: litmus_cut(get_register(search, &scene->thread[name->thread],
							  name->index),
					     name->size);
	}
	if (!litmus_holds(&litmus->filter, values))
		return LITMUS_EQUAL;
	row = tso_find(search->expected, values);
	if (row == SIZE_MAX) {
		describe_outcome(litmus, values, text, sizeof(text));
		return wrong(search, LITMUS_FORBIDDEN, text);
	}
	search->result->outcomes += !search->seen[row];
	search->seen[row] = 1;
	return LITMUS_EQUAL;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* The k-th thing that might happen. MODEL_NOT_NOW for what cannot; *last beyond the last. */
static enum model_outcome happen(struct litmus_search *search, uint32_t k, bool *last)
{
	uint32_t caches = search->model.caches;
	uint32_t moves = MOVE_WRITE_BACK * caches + MOVE_COUNT - MOVE_WRITE_BACK;
	uint32_t l, p, m;
	enum model_move move;

	*last = false;
	if (k < caches)
		return thread_step(search, k);
	if (k < 2 * caches)
		return drain(search, k - caches);
	l = (k - 2 * caches) / moves;
	m = (k - 2 * caches) % moves;
	*last = l >= search->lines;
	if (*last)
		return MODEL_NOT_NOW;
	move = m < MOVE_WRITE_BACK * caches ? m / caches
					    : MOVE_WRITE_BACK + (m - MOVE_WRITE_BACK * caches);
	p = m < MOVE_WRITE_BACK * caches ? m % caches : 0;
	if (move == MOVE_STORE || move == MOVE_FAR ||
	    (move == MOVE_EVICT && !search->options->evictions) ||
	    (move == MOVE_LOAD && !search->options->prefetches))
		return MODEL_NOT_NOW;
	return message(search, l, move, p);
}

static bool sound(struct litmus_search *search, const struct scene *scene)
{
	for (uint32_t l = 0; l < search->lines; l++)
		if (!model_sound(&search->model, &scene->line[l]))
			return false;
	return true;
}

static enum litmus_verdict expand(struct litmus_search *search, uint32_t number)
{
	struct scene before, after;
	uint8_t bytes[PACKED_MAX];
	bool last = false, any = false;

	unpack(search, number, &before);
	/* cppcheck-suppress autoVariables ; only while this state is expanded */
	search->scene = &after;
	for (uint32_t k = 0; !last; k++) {
		after = before;
		enum model_outcome outcome = happen(search, k, &last);

		if (search->unfit)
			return wrong(search, LITMUS_UNFIT,
				     "more values than the model has numbers");
		if (outcome == MODEL_NOT_NOW)
			continue;
		if (outcome == MODEL_BROKEN || !sound(search, &after))
			return wrong(search, LITMUS_BROKEN, search->model.broken);
		any = true;
		if (states_add(&search->states, bytes, pack(search, &after, bytes)) == STATES_FULL)
			return wrong(search, LITMUS_LIMIT, "out of memory");
	}
	if (finished(search, &before))
		return note_outcome(search, &before);
	return any ? LITMUS_EQUAL : wrong(search, LITMUS_BROKEN, "deadlock");
}

static enum litmus_verdict run(struct litmus_search *search)
{
	struct scene first;
	uint8_t bytes[PACKED_MAX];
	enum litmus_verdict verdict = LITMUS_EQUAL;

	if (!states_init(&search->states))
		return wrong(search, LITMUS_LIMIT, "out of memory");
	start(search, &first);
	if (search->unfit)
		return wrong(search, LITMUS_UNFIT, "more values than the model has numbers");
	states_add(&search->states, bytes, pack(search, &first, bytes));
	for (uint32_t at = 0; at < search->states.count && verdict == LITMUS_EQUAL; at++) {
		if (search->options->limit && search->states.count > search->options->limit)
			return wrong(search, LITMUS_LIMIT, "more states than the limit");
		verdict = expand(search, at);
	}
	if (verdict == LITMUS_EQUAL && search->result->outcomes < search->expected->count)
		return wrong(search, LITMUS_MISSING,
			     "an outcome that x86-TSO allows is never seen");
	return verdict;
}

enum litmus_verdict litmus_explore(const struct litmus *litmus, const struct tso_result *expected,
				   const struct litmus_explore_options *options,
				   struct litmus_explore_result *result)
{
	struct litmus_search search = {
		.litmus = litmus, .expected = expected, .options = options, .result = result
	};

	memset(result, 0, sizeof(*result));
	if (litmus->thread_count > THREADS_MAX || litmus->location_count > SLOTS)
		return result->verdict = wrong(&search, LITMUS_UNFIT,
					       "more threads or locations than the model has");
	protocol_select(&search.rows, &options->variant);
	search.model = (struct model){ .caches = litmus->thread_count,
				       .data_bytes = 2,
				       .rows = options->rows ? options->rows : &search.rows,
				       .write = write_line,
				       .context = &search };
	search.value_count = 1; /* 0, which memory starts with */
	search.lines = 1;
	for (uint32_t k = 0; k < litmus->location_count; k++)
		if (line_of(&search, k) >= search.lines)
			search.lines = line_of(&search, k) + 1;
	search.seen = calloc(expected->count + 1, 1);
	result->verdict =
		search.seen ? run(&search) : wrong(&search, LITMUS_LIMIT, "out of memory");
	result->states = search.states.count;
	states_free(&search.states);
	free(search.seen);
	return result->verdict;
}

const char *litmus_verdict_name(enum litmus_verdict verdict)
{
	static const char *const names[] = { "equal",           "forbidden outcome",
					     "missing outcome", "violated",
					     "unfit",           "limit" };

	return names[verdict];
}
