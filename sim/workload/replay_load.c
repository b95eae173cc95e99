/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/replay_load.h"
#include "workload/numbering.h"
#include <stdlib.h>
#include <string.h>

static const uint64_t NO_TIME = UINT64_MAX; /* of a lane whose accesses have had none */

/* An aggregate's record, until it is known how many lanes there are. */
struct row {
	uint64_t weight;
	uint32_t what, cpus, tid;
	bool has_tid;
};

struct loading {
	const struct replay_choice *choice;
	struct replay *replay;
	enum trace_kind kind;           /* that records are taken to be of */
	struct numbering places, lanes; /* by address and size; by id */
	uint32_t place_capacity, lane_capacity;
	struct row *rows;
	uint32_t row_count, row_capacity;
	uint64_t origin; /* time of the first record */
	bool started;
	uint64_t order_capacity;
};

/* ---- growing -------------------------------------------------------------------------------- */

/* Room for one more of `size` bytes in an array; false without memory. */
static bool room(void *array, uint32_t count, uint32_t *capacity, size_t size, struct error *error)
{
	void **at = array, *more;
	uint32_t wanted = *capacity ? 2 * *capacity : 64;

	if (count < *capacity)
		return true;
	more = realloc(*at, wanted * size);
	if (!more)
		return error_set(error, "out of memory for the capture");
	*at = more;
	*capacity = wanted;
	return true;
}

/* ---- places --------------------------------------------------------------------------------- */

static const struct replay_object *object_at(const struct replay_choice *choice, uint64_t address)
{
	uint32_t low = 0, high = choice->object_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (choice->objects[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low ||
	    address - choice->objects[low - 1].address >= choice->objects[low - 1].layout->size)
		return NULL;
	return &choice->objects[low - 1];
}

/* The number of the place of a record; NUMBERING_NONE with *error set. */
static uint32_t place_number(struct loading *loading, uint64_t address, uint16_t size,
			     const struct replay_object *object, struct error *error)
{
	struct replay *replay = loading->replay;
	uint32_t number = numbering_find(&loading->places, address, size);

	if (number != NUMBERING_NONE)
		return number;
	if (replay->place_count == REPLAY_PLACES_MAX) {
		error_set(error,
			  "%s: more than %d different places, expected fewer: --only objects "
			  "leaves out what no --object holds",
			  loading->choice->path, REPLAY_PLACES_MAX);
		return NUMBERING_NONE;
	}
	if (!room(&replay->places, replay->place_count, &loading->place_capacity,
		  sizeof(*replay->places), error))
		return NUMBERING_NONE;
	number = numbering_add(&loading->places, address, size);
	if (number == NUMBERING_NONE) {
		error_set(error, "out of memory for the capture");
		return number;
	}
	replay->places[replay->place_count++] = (struct replay_place){
		.address = address,
		.size = size,
		.object =
			object ? (uint16_t)(1 + (object - loading->choice->objects)) : (uint16_t)0,
		.first = REPLAY_NO_LANE
	};
	return number;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* The lane with this id, a new one if need be; NULL with *error set. */
static struct replay_lane *lane_of(struct loading *loading, uint32_t id, struct error *error)
{
	struct replay *replay = loading->replay;
	uint32_t number = numbering_find(&loading->lanes, id, 0);

	if (number != NUMBERING_NONE)
		return &replay->lanes[number];
	if (replay->lane_count == REPLAY_LANES_MAX) {
		error_set(error, "%s: more than %d threads or CPUs", loading->choice->path,
			  REPLAY_LANES_MAX);
		return NULL;
	}
	if (!room(&replay->lanes, replay->lane_count, &loading->lane_capacity,
		  sizeof(*replay->lanes), error))
		return NULL;
	number = numbering_add(&loading->lanes, id, 0);
	if (number == NUMBERING_NONE) {
		error_set(error, "out of memory for the capture");
		return NULL;
	}
	replay->lanes[number] =
		(struct replay_lane){ .id = id, .cpu = UINT32_MAX, .first = NO_TIME };
	replay->lane_count++;
	return &replay->lanes[number];
}

static bool lane_add(struct loading *loading, struct replay_lane *lane, struct replay_step step,
		     struct error *error)
{
	struct replay *replay = loading->replay;
	struct replay_place *place = &replay->places[step_place(step.what)];

	if (replay->step_count == REPLAY_STEPS_MAX)
		return error_set(error, "%s: more than %d records to replay", loading->choice->path,
				 REPLAY_STEPS_MAX);
	if (!room(&lane->steps, lane->count, &lane->capacity, sizeof(step), error))
		return false;
	if (loading->choice->fixed_order && replay->step_count == loading->order_capacity) {
		uint64_t capacity = replay->step_count ? 2 * replay->step_count : 1 << 16;
		uint16_t *order = realloc(replay->order, capacity * sizeof(*order));

		if (!order)
			return error_set(error, "out of memory for the capture");
		replay->order = order;
		loading->order_capacity = capacity;
	}
	if (replay->order)
		replay->order[replay->step_count] = (uint16_t)(lane - replay->lanes);
	if (place->first == REPLAY_NO_LANE)
		place->first = (uint32_t)(lane - replay->lanes);
	replay->step_count++;
	lane->steps[lane->count++] = step;
	return true;
}

/* ---- records -------------------------------------------------------------------------------- */

static uint32_t clipped(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* How long the lane did something else before this access. A record's time is that of its end. */
static uint32_t gap(struct loading *loading, struct replay_lane *lane,
		    const struct trace_record *record)
{
	bool timed = lane->first != NO_TIME;
	uint64_t took = 0, before, begin;

	if (!(record->known & KNOWN_TIME))
		return 0;
	if (!loading->started) {
		loading->started = true;
		loading->origin = record->time;
	}
	before = timed ? lane->last : loading->origin;
	if (record->known & KNOWN_LATENCY)
		took = (uint64_t)((double)record->latency * 1e9 / loading->choice->clock);
	begin = record->time > took ? record->time - took : 0;
	if (!timed)
		lane->first = record->time;
	if (record->time > lane->last)
		lane->last = record->time;
	return begin > before ? clipped(begin - before) : 0;
}

static uint32_t lane_id(const struct replay_choice *choice, const struct trace_record *record)
{
	bool by_cpu = choice->by == REPLAY_BY_CPU || !(record->known & KNOWN_TID);

	if (by_cpu && record->known & KNOWN_CPU)
		return record->cpu;
	return record->tid; /* 0 where it is not known: all the same thread */
}

static bool add_row(struct loading *loading, const struct trace_record *record, uint32_t what,
		    struct error *error)
{
	if (!room(&loading->rows, loading->row_count, &loading->row_capacity,
		  sizeof(*loading->rows), error))
		return false;
	if (loading->row_count == REPLAY_PLACES_MAX)
		return error_set(error, "%s: more than %d rows", loading->choice->path,
				 REPLAY_PLACES_MAX);
	loading->rows[loading->row_count++] =
		(struct row){ record->weight, what, record->cpus, record->tid,
			      record->known & KNOWN_TID };
	return true;
}

/* The address of "OBJECT.FIELD", for a record that has nothing else. */
static bool address_of(const struct replay_choice *choice, struct text name, uint64_t *address)
{
	for (uint32_t k = 0; k < choice->object_count; k++) {
		const struct replay_object *object = &choice->objects[k];
		uint32_t length = (uint32_t)strlen(object->name);

		if (name.length <= length + 1 || memcmp(name.at, object->name, length) ||
		    name.at[length] != '.')
			continue;
		for (uint32_t f = 0; f < object->layout->field_count; f++) {
			const struct layout_field *field = &object->layout->fields[f];
			struct text rest = { name.at + length + 1, name.length - length - 1 };

			if (strlen(field->name) == rest.length &&
			    !memcmp(field->name, rest.at, rest.length)) {
				*address = object->address + field->offset;
				return true;
			}
		}
	}
	return false;
}

/* Of an aggregate's loads the source is told only where it was a modified line, or a peer. */
static bool follows(const struct trace_record *record, enum trace_kind kind)
{
	if (record->op != TRACE_LOAD)
		return false;
	if (kind == KIND_AGGREGATE)
		return record->source == SOURCE_UNKNOWN;
	return kind == KIND_SAMPLED &&
	       (record->source == SOURCE_L1 || record->source == SOURCE_FILL_BUFFER ||
		record->source == SOURCE_L2);
}

static bool add_record(struct loading *loading, const struct trace_record *record,
		       struct error *error)
{
	const struct replay_choice *choice = loading->choice;
	const struct replay_object *object;
	uint64_t address = record->address;
	struct replay_lane *lane;
	uint32_t place, what;

	if (!(record->known & KNOWN_ADDRESS) && !address_of(choice, record->field, &address)) {
		loading->replay->outside++;
		return true;
	}
	object = object_at(choice, address);
	if (!object && choice->only == REPLAY_OBJECTS) {
		loading->replay->outside++;
		return true;
	}
	place = place_number(loading, address, record->size, object, error);
	if (place == NUMBERING_NONE)
		return false;
	what = step_what(place, (enum trace_op)record->op, follows(record, loading->kind));
	if (record->op != TRACE_LOAD)
		loading->replay->stores += record->weight;
	if (loading->kind == KIND_AGGREGATE)
		return add_row(loading, record, what, error);
	lane = lane_of(loading, lane_id(choice, record), error);
	if (!lane)
		return false;
	if (lane->cpu == UINT32_MAX && record->known & KNOWN_CPU)
		lane->cpu = record->cpu;

	uint32_t amount = gap(loading, lane, record);

	if (loading->kind == KIND_SAMPLED)
		amount = clipped(record->weight);
	return lane_add(loading, lane, (struct replay_step){ amount, what }, error);
}

/* ---- aggregates ----------------------------------------------------------------------------- */

/* A row that so many CPUs did together goes to as many lanes, in equal parts. Which ones, nobody
 * knows: rows start one lane further each, so that all lanes are used alike. */
static bool deal_row(struct loading *loading, uint32_t number, uint32_t lanes, struct error *error)
{
	const struct row *row = &loading->rows[number];
	uint32_t cpus = row->cpus < lanes ? row->cpus : lanes;
	uint64_t part = row->weight / cpus, rest = row->weight % cpus;

	if (row->has_tid) {
		struct replay_lane *lane = lane_of(loading, row->tid, error);
		struct replay_step step = { clipped(row->weight), row->what };

		return lane && lane_add(loading, lane, step, error);
	}
	for (uint32_t k = 0; k < cpus; k++) {
		struct replay_lane *lane = lane_of(loading, (number + k) % lanes, error);
		struct replay_step step = { clipped(part + (k < rest)), row->what };

		if (!lane || (step.amount && !lane_add(loading, lane, step, error)))
			return false;
	}
	return true;
}

static bool deal_rows(struct loading *loading, struct error *error)
{
	uint32_t lanes = loading->choice->lanes;

	for (uint32_t k = 0; !loading->choice->lanes && k < loading->row_count; k++)
		lanes = loading->rows[k].cpus > lanes ? loading->rows[k].cpus : lanes;
	for (uint32_t k = 0; k < loading->row_count; k++)
		if (!deal_row(loading, k, lanes, error))
			return false;
	return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool load_records(struct loading *loading, struct trace *trace, struct error *error)
{
	struct trace_record record;
	enum trace_step step;

	while ((step = trace_next(trace, &record, error)) == STEP_RECORD) {
		if (loading->kind == KIND_UNKNOWN)
			loading->kind = trace_summary(trace)->kind;
		if (!add_record(loading, &record, error))
			return false;
	}
	if (step == STEP_FAILED)
		return false;
	loading->replay->summary = *trace_summary(trace);
	loading->replay->summary.name = loading->choice->path;
	return deal_rows(loading, error);
}

/* Reads the capture as one of this kind; KIND_UNKNOWN: as what it says at its first record. */
static struct replay *load_as(const struct replay_choice *choice, enum trace_kind kind,
			      struct error *error)
{
	struct loading loading = { .choice = choice,
				   .replay = calloc(1, sizeof(struct replay)),
				   .kind = kind };
	struct trace *trace = NULL;
	bool done = false;

	if (!loading.replay)
		error_set(error, "out of memory");
	else
		trace = trace_open(choice->path, choice->format, error);
	if (trace)
		done = load_records(&loading, trace, error);
	trace_close(trace);
	numbering_free(&loading.places);
	numbering_free(&loading.lanes);
	free(loading.rows);
	if (!done) {
		replay_free(loading.replay);
		return NULL;
	}
	loading.replay->kind = loading.kind;
	return loading.replay;
}

/* A capture of which only a later record shows that it is no complete one is read once more. */
struct replay *replay_load(const struct replay_choice *choice, struct error *error)
{
	struct replay *replay = load_as(choice, KIND_UNKNOWN, error);
	enum trace_kind kind;

	if (!replay || replay->kind == replay->summary.kind)
		return replay;
	kind = replay->summary.kind;
	replay_free(replay);
	return load_as(choice, kind, error);
}

bool replay_add_stores(struct replay *replay, uint16_t object, uint64_t address, uint16_t size,
		       uint64_t weight, struct error *error)
{
	struct replay_place *places =
		realloc(replay->places, (replay->place_count + 1) * sizeof(*places));

	if (!places)
		return error_set(error, "out of memory");
	replay->places = places;
	places[replay->place_count] = (struct replay_place){ address, size, object, 0 };
	for (uint32_t k = 0; k < replay->lane_count; k++) {
		struct replay_lane *lane = &replay->lanes[k];
		uint64_t part = weight / replay->lane_count + (k < weight % replay->lane_count);

		if (!part)
			continue;
		if (!room(&lane->steps, lane->count, &lane->capacity, sizeof(*lane->steps), error))
			return false;
		lane->steps[lane->count++] =
			(struct replay_step){ clipped(part),
					      step_what(replay->place_count, TRACE_STORE, false) };
		replay->step_count++;
	}
	replay->place_count++;
	replay->stores += weight;
	return true;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	for (uint32_t k = 0; k < replay->lane_count; k++)
		free(replay->lanes[k].steps);
	free(replay->lanes);
	free(replay->places);
	free(replay->order);
	free(replay);
}
