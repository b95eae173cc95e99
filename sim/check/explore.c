/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/explore.h"
#include "check/states.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 2, PACKED_MAX = LINES_MAX * MODEL_PACKED_MAX };

struct point {
	struct model_line line[LINES_MAX];
};

struct search {
	const struct explore_options *options;
	struct explore_result *result;
	struct protocol rows;
	struct model model;
	uint32_t places; /* in a cache's queue of messages from the home that may be next */
	uint16_t value;  /* what a store writes */
	struct states states;
	uint32_t *parent;
	size_t parent_room;
	uint32_t *next; /* numbers of the successors of each state, state by state */
	size_t next_count, next_room;
	uint64_t *first; /* into next; one more than there are */
	size_t first_room;
	bool no_memory;
};

static uint16_t write_value(void *context, uint32_t cache, uint16_t data)
{
	(void)cache;
	(void)data;
	return ((struct search *)context)->value;
}

/* ---- one form for all states that differ in names alone ------------------------------------- */

struct signed_cache {
	uint8_t cache;
	size_t size;
	uint8_t bytes[MODEL_PACKED_MAX];
};

static int compare_signed(const void *a, const void *b)
{
	const struct signed_cache *x = a, *y = b;
	int order = memcmp(x->bytes, y->bytes, x->size < y->size ? x->size : y->size);

	return order ? order : (x->size > y->size) - (x->size < y->size);
}

struct least {
	const struct model *model;
	const struct model_line *line;
	const struct signed_cache *sorted;
	uint8_t to[MODEL_CACHES_MAX];
	uint8_t *bytes;
	size_t size;
	uint32_t ways; /* of naming the caches that give the least bytes */
};

static void consider(struct least *least)
{
	struct model_line renamed;
	uint8_t bytes[MODEL_PACKED_MAX];
	size_t size;

	model_rename(least->model, least->line, least->to, &renamed);
	size = model_pack(least->model, &renamed, bytes);
	int order = least->size ? memcmp(bytes, least->bytes, size) : -1;

	least->size = size;
	least->ways = order < 0 ? 1 : least->ways + !order;
	if (order < 0)
		memcpy(least->bytes, bytes, size);
}

/* Gives the place `at` to each cache in turn whose signature stands there. Names do not change how
 * long a packed line is. */
static void place(struct least *least, uint32_t at, uint32_t taken)
{
	const struct signed_cache *sorted = least->sorted;

	if (at == least->model->caches) {
		consider(least);
		return;
	}
	for (uint32_t k = 0; k < least->model->caches; k++) {
		if (taken >> k & 1 || compare_signed(&sorted[k], &sorted[at]))
			continue;
		least->to[sorted[k].cache] = (uint8_t)at;
		place(least, at + 1, taken | 1u << k);
	}
}

/* *orbit: how many lines the same can be renamed to. */
static size_t pack_least(const struct model *model, const struct model_line *line, uint8_t *bytes,
			 uint32_t *orbit)
{
	struct signed_cache sorted[MODEL_CACHES_MAX];
	struct least least = { .model = model, .line = line, .sorted = sorted, .bytes = bytes };

	for (uint8_t p = 0; p < model->caches; p++) {
		sorted[p].cache = p;
		sorted[p].size = model_signature(model, line, p, sorted[p].bytes);
	}
	/* cppcheck-suppress uninitvar ; those of the model's caches are filled in */
	qsort(sorted, model->caches, sizeof(*sorted), compare_signed);
	place(&least, 0, 0);
	for (uint32_t k = 1, all = 1; k <= model->caches; k++) {
		all *= k;
		*orbit = all / least.ways;
	}
	return least.size;
}

static size_t pack(const struct search *search, const struct point *point, uint8_t *bytes,
		   uint32_t *orbit)
{
	size_t size = 0;

	*orbit = 1;
	if (search->options->symmetry)
		return pack_least(&search->model, &point->line[0], bytes, orbit);
	for (uint32_t l = 0; l < search->options->lines; l++)
		size += model_pack(&search->model, &point->line[l], bytes + size);
	return size;
}

static void unpack(const struct search *search, uint32_t number, struct point *point)
{
	size_t size;
	const uint8_t *bytes = states_at(&search->states, number, &size);

	for (uint32_t l = 0; l < search->options->lines; l++)
		bytes += model_unpack(&search->model, bytes, &point->line[l]);
}

/* ---- moves ---------------------------------------------------------------------------------- */

/* The line is in the cache's set. */
static bool in_set(enum cache_state state)
{
	return state != STATE_I && (cache_stable(state) || cache_readable(state));
}

/* Two lines share one way: one that comes in evicts the other at once, as the simulator does. While
 * the other is under way itself, a further way takes it: a set has more ways than its core has
 * threads, and so writes under way. Were there none, two caches could wait for each other for ever,
 * each with data that have no place and an Inv behind them. */
static enum model_outcome make_room(struct search *search, struct point *point, uint32_t line,
				    uint32_t cache, bool was_in)
{
	enum cache_state here = point->line[line].cache[cache].state;
	struct model_line *other = &point->line[1 - line];

	if (search->options->lines == 1 || was_in || !in_set(here) ||
	    other->cache[cache].state == STATE_I || !cache_stable(other->cache[cache].state))
		return MODEL_MOVED;
	return model_move(&search->model, other, MOVE_EVICT, cache, 0);
}

struct step {
	uint32_t line, cache, at;
	enum model_move move;
};

static enum model_outcome take_step(struct search *search, struct point *point,
				    const struct step *step)
{
	struct model_line *line = &point->line[step->line];
	bool was_in = in_set(line->cache[step->cache].state), wrote;
	enum model_outcome outcome;

	if ((step->move == MOVE_FAR && search->options->variant.atomics == ATOMICS_NEAR) ||
	    (step->move != MOVE_FORWARD && step->at))
		return MODEL_NOT_NOW;
	search->model.wrote = false;
	outcome = model_move(&search->model, line, step->move, step->cache, step->at);
	wrote = search->model.wrote;
	if (outcome == MODEL_MOVED && !model_move_is_home(step->move))
		outcome = make_room(search, point, step->line, step->cache, was_in);
	search->model.wrote = wrote;
	return outcome;
}

/* The k-th thing that might happen; false beyond the last. */
static bool step_at(const struct search *search, uint32_t k, struct step *step)
{
	uint32_t caches = search->options->caches, places = search->places;
	uint32_t at_caches = MOVE_WRITE_BACK * caches * places;
	uint32_t a_line = at_caches + MOVE_COUNT - MOVE_WRITE_BACK;

	step->line = k / a_line;
	k %= a_line;
	step->move = k < at_caches ? k / (caches * places) : MOVE_WRITE_BACK + (k - at_caches);
	step->cache = k < at_caches ? k / places % caches : 0;
	step->at = k < at_caches ? k % places : 0;
	return step->line < search->options->lines;
}

/* A locked operation that is done here, or that fetches the line, is a store once more. */
static bool counts(const struct point *point, const struct step *step)
{
	return step->move != MOVE_FAR ||
	       point->line[step->line].cache[step->cache].request == EVENT_Atomic + 1;
}

/* ---- what is found -------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

/* Which step led from one state to the next: they are tried again. */
static void trace_step(struct search *search, uint32_t from, uint32_t to)
{
	struct explore_result *result = search->result;
	struct step step;
	char text[100];

	for (uint32_t k = 0; step_at(search, k, &step); k++)
		for (search->value = 0; search->value < 2; search->value++) {
			struct point before, after;
			uint8_t bytes[PACKED_MAX];
			size_t size, wanted;
			uint32_t orbit;

			unpack(search, from, &before);
			after = before;
			if (take_step(search, &after, &step) != MODEL_MOVED)
				continue;
			size = pack(search, &after, bytes, &orbit);
			const uint8_t *known = states_at(&search->states, to, &wanted);

			if (size != wanted || memcmp(bytes, known, size))
				continue;
			model_describe(&before.line[step.line], step.move, step.cache, text,
				       sizeof(text));
			append(result->trace, sizeof(result->trace), "%s%.*s%s\n", text, 0, "",
			       search->options->lines > 1 ? (step.line ? " (line 1)" : " (line 0)")
							  : "");
			return;
		}
}

static void trace(struct search *search, uint32_t state)
{
	uint32_t depth = 0, at = state;

	while (at) {
		depth++;
		at = search->parent[at];
	}
	for (uint32_t k = depth; k > 0; k--) {
		uint32_t to = state;

		for (uint32_t n = 1; n < k; n++)
			to = search->parent[to];
		trace_step(search, search->parent[to], to);
	}
}

static enum explore_verdict violated(struct search *search, uint32_t state, const struct step *step)
{
	struct explore_result *result = search->result;
	struct point point;
	char text[100];

	snprintf(result->property, sizeof(result->property), "%s", search->model.broken);
	search->model.broken[0] = '\0';
	trace(search, state);
	search->model.broken[0] = '\0';
	if (step) {
		unpack(search, state, &point);
		model_describe(&point.line[step->line], step->move, step->cache, text,
			       sizeof(text));
		append(result->trace, sizeof(result->trace), "%s\n", text);
	}
	return EXPLORE_VIOLATED;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Every state reached is sound, and agrees with the home's record when it is quiet. */
static bool holds(struct search *search, const struct point *point)
{
	bool exact = search->options->variant.eviction == EVICTION_EXACT;

	for (uint32_t l = 0; l < search->options->lines; l++)
		if (!model_sound(&search->model, &point->line[l]) ||
		    (model_quiet(&search->model, &point->line[l]) &&
		     !model_agrees(&search->model, &point->line[l], exact)))
			return false;
	return true;
}

/* Adds a state that follows `from`. False with model.broken, or no_memory, set. */
static bool reach(struct search *search, const struct point *point, uint32_t from)
{
	uint8_t bytes[PACKED_MAX];
	uint32_t orbit;
	size_t size = pack(search, point, bytes, &orbit);
	uint32_t known = search->states.count, number = states_add(&search->states, bytes, size);

	search->no_memory = number == STATES_FULL ||
			    !states_room((void **)&search->parent, &search->parent_room,
					 search->states.count, sizeof(*search->parent)) ||
			    !states_room((void **)&search->next, &search->next_room,
					 search->next_count + 1, sizeof(*search->next));
	if (search->no_memory)
		return false;
	search->next[search->next_count++] = number;
	if (number < known)
		return true;
	search->result->raw_states += orbit;
	search->parent[number] = from;
	return holds(search, point);
}

/* All successors of one state. */
static enum explore_verdict expand(struct search *search, uint32_t number)
{
	struct point before, after;
	struct step step;
	uint8_t bytes[PACKED_MAX];
	uint32_t orbit;

	unpack(search, number, &before);
	pack(search, &before, bytes, &orbit);
	for (uint32_t k = 0; step_at(search, k, &step); k++) {
		bool wrote = true;

		for (search->value = 0; search->value < 2 && wrote; search->value++) {
			after = before;
			enum model_outcome outcome = take_step(search, &after, &step);

			wrote = outcome == MODEL_MOVED && search->model.wrote;
			if (outcome == MODEL_NOT_NOW)
				continue;
			if (outcome == MODEL_BROKEN)
				return violated(search, number, &step);
			search->result->rules += counts(&after, &step);
			search->result->raw_rules += counts(&after, &step) * orbit;
			if (!reach(search, &after, number))
				return search->no_memory ? EXPLORE_NO_MEMORY
							 : violated(search, number, &step);
		}
	}
	return EXPLORE_HOLDS;
}

static bool quiet(const struct search *search, uint32_t number)
{
	struct point point;

	unpack(search, number, &point);
	for (uint32_t l = 0; l < search->options->lines; l++)
		if (!model_quiet(&search->model, &point.line[l]))
			return false;
	return true;
}

/* Marks the states with a successor that is marked, over and over. */
static bool spread(const struct search *search, uint8_t *good)
{
	bool changed = false;

	for (uint32_t s = search->states.count; s-- > 0;) {
		uint64_t e = search->first[s];

		if (good[s])
			continue;
		while (!good[s] && e < search->first[s + 1])
			good[s] = good[search->next[e++]];
		changed |= good[s];
	}
	return changed;
}

/* From every state a quiet one can be reached. */
static enum explore_verdict can_fall_silent(struct search *search)
{
	uint32_t count = search->states.count, s = 0;
	uint8_t *good = calloc(count, 1);

	if (!good)
		return EXPLORE_NO_MEMORY;
	for (uint32_t k = 0; k < count; k++)
		good[k] = quiet(search, k);
	while (spread(search, good))
		;
	while (s < count && good[s])
		s++;
	free(good);
	if (s == count)
		return EXPLORE_HOLDS;
	snprintf(search->model.broken, sizeof(search->model.broken),
		 "a request never completes: the line cannot fall silent any more");
	return violated(search, s, NULL);
}

static enum explore_verdict run(struct search *search)
{
	struct point start;
	enum explore_verdict verdict = EXPLORE_HOLDS;

	memset(&start, 0, sizeof(start));
	model_start(&start.line[0]);
	model_start(&start.line[1]);
	if (!states_init(&search->states) || !reach(search, &start, 0))
		return EXPLORE_NO_MEMORY;
	search->next_count = 0; /* the start follows nothing */
	for (uint32_t at = 0; at < search->states.count && verdict == EXPLORE_HOLDS; at++) {
		if (search->options->limit && search->states.count > search->options->limit)
			return EXPLORE_LIMIT;
		if (!states_room((void **)&search->first, &search->first_room, at + 2u,
				 sizeof(*search->first)))
			return EXPLORE_NO_MEMORY;
		search->first[at] = search->next_count;
		verdict = expand(search, at);
		search->first[at + 1] = search->next_count;
	}
	return verdict == EXPLORE_HOLDS ? can_fall_silent(search) : verdict;
}

static void count_rows(struct search *search)
{
	const struct model *model = &search->model;
	struct explore_result *result = search->result;

	for (int s = 0; s < CACHE_STATE_COUNT; s++)
		for (int e = 0; e < CACHE_EVENT_COUNT; e++) {
			if (!model->rows->cache[s][e].valid)
				continue;
			result->rows++;
			result->rows_reached += model->cache_visits[s][e] != 0;
			if (!model->cache_visits[s][e])
				append(result->unreached, sizeof(result->unreached), " %s/%s",
				       cache_state_name((enum cache_state)s),
				       cache_event_name((enum cache_event)e));
		}
	for (int s = 0; s < HOME_STATE_COUNT; s++)
		for (int e = 0; e < HOME_EVENT_COUNT; e++) {
			if (!model->rows->home[s][e].valid)
				continue;
			result->rows++;
			result->rows_reached += model->home_visits[s][e] != 0;
			if (!model->home_visits[s][e])
				append(result->unreached, sizeof(result->unreached), " %s/%s",
				       home_state_name((enum home_state)s),
				       home_event_name((enum home_event)e));
		}
}

enum explore_verdict explore(const struct explore_options *options, struct explore_result *result)
{
	struct search search = { .options = options,
				 .result = result,
				 .places = options->mistake == MISTAKE_UNORDERED
						   ? MODEL_FORWARDS_MAX
						   : 1 };

	memset(result, 0, sizeof(*result));
	protocol_select(&search.rows, &options->variant);
	search.model = (struct model){ .caches = options->caches,
				       .mistake = options->mistake,
				       .data_bytes = 1,
				       .rows = options->rows ? options->rows : &search.rows,
				       .write = write_value,
				       .context = &search };
	result->verdict = run(&search);
	result->states = search.states.count;
	count_rows(&search);
	states_free(&search.states);
	free(search.parent);
	free(search.next);
	free(search.first);
	return result->verdict;
}
