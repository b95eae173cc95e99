/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/replay_tally.h"
#include "workload/numbering.h"
#include <stdlib.h>
#include <string.h>

struct counting {
	struct tally *tally;
	struct numbering numbers; /* of places, by address */
	uint32_t capacity;
	uint64_t peers, hitms;
};

static bool room(struct counting *counting, struct error *error)
{
	struct tally *tally = counting->tally;
	uint32_t wanted = counting->capacity ? 2 * counting->capacity : 64;
	struct tally_place *places;

	if (tally->count < counting->capacity)
		return true;
	places = realloc(tally->places, wanted * sizeof(*places));
	if (!places)
		return error_set(error, "out of memory for the capture");
	tally->places = places;
	counting->capacity = wanted;
	return true;
}

/* NULL where there are too many already, or with *error set. */
static struct tally_place *place_of(struct counting *counting, uint64_t address,
				    struct error *error)
{
	struct tally *tally = counting->tally;
	uint32_t number = numbering_find(&counting->numbers, address, 0);

	if (number != NUMBERING_NONE)
		return &tally->places[number];
	if (tally->count == TALLY_PLACES_MAX) {
		tally->crowded++;
		return NULL;
	}
	if (!room(counting, error))
		return NULL;
	number = numbering_add(&counting->numbers, address, 0);
	if (number == NUMBERING_NONE) {
		error_set(error, "out of memory for the capture");
		return NULL;
	}
	tally->places[tally->count++] = (struct tally_place){ .address = address };
	return &tally->places[number];
}

/* Of a record that hit a modified line, or a peer's, 0: near, or 1: far; else -1. */
static int hitm_of(const struct trace_record *record, bool *peer)
{
	*peer = record->source == SOURCE_PEER_LOCAL || record->source == SOURCE_PEER_REMOTE;
	switch (record->source) {
	case SOURCE_HITM_LOCAL:
	case SOURCE_PEER_LOCAL:
		return 0;
	case SOURCE_HITM_REMOTE:
	case SOURCE_PEER_REMOTE:
		return 1;
	default:
		return -1;
	}
}

static bool count_record(struct counting *counting, const struct trace_record *record,
			 struct error *error)
{
	struct tally *tally = counting->tally;
	struct tally_place *place;
	bool peer;
	int across = hitm_of(record, &peer);

	if (!(record->known & KNOWN_ADDRESS)) {
		tally->named++;
		return true;
	}
	place = place_of(counting, record->address, error);
	if (!place)
		return !error->text[0];
	place->ops[record->op] += record->weight;
	place->total += record->weight;
	if (across >= 0) {
		place->hitm[across] += record->weight;
		place->load_hitm += record->op == TRACE_LOAD ? record->weight : 0;
		*(peer ? &counting->peers : &counting->hitms) += record->weight;
	}
	if (record->size > place->size)
		place->size = record->size;
	return true;
}

static int by_address(const void *left, const void *right)
{
	const struct tally_place *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static bool keep_objects(struct tally *tally, const struct trace *trace, struct error *error)
{
	struct trace_object object;
	uint32_t count = 0;

	while (trace_object(trace, count, &object))
		count++;
	tally->objects = calloc(count + 1, sizeof(*tally->objects));
	if (!tally->objects)
		return error_set(error, "out of memory");
	for (; tally->object_count < count; tally->object_count++) {
		struct trace_object *kept = &tally->objects[tally->object_count];

		trace_object(trace, tally->object_count, kept);
		kept->name = strdup(kept->name);
		kept->layout = strdup(kept->layout);
		if (!kept->name || !kept->layout) {
			tally->object_count++;
			return error_set(error, "out of memory");
		}
	}
	return true;
}

static bool count_all(struct counting *counting, struct trace *trace, const char *path,
		      struct error *error)
{
	struct tally *tally = counting->tally;
	struct trace_record record;
	enum trace_step step;

	while ((step = trace_next(trace, &record, error)) == STEP_RECORD)
		if (!count_record(counting, &record, error))
			return false;
	if (step == STEP_FAILED)
		return false;
	tally->nothing = *error;
	error->text[0] = '\0';
	tally->summary = *trace_summary(trace);
	tally->summary.name = path;
	tally->peers = counting->peers && !counting->hitms;
	if (tally->count)
		qsort(tally->places, tally->count, sizeof(*tally->places), by_address);
	return keep_objects(tally, trace, error);
}

bool tally_read(struct tally *tally, const char *path, const char *format, struct error *error)
{
	struct counting counting = { .tally = tally };
	struct trace *trace = trace_open(path, format, error);
	bool done;

	*tally = (struct tally){ 0 };
	done = trace && count_all(&counting, trace, path, error);
	trace_close(trace);
	numbering_free(&counting.numbers);
	if (!done)
		tally_free(tally);
	return done;
}

void tally_free(struct tally *tally)
{
	for (uint32_t k = 0; k < tally->object_count; k++) {
		free((void *)(uintptr_t)tally->objects[k].name);
		free((void *)(uintptr_t)tally->objects[k].layout);
	}
	free(tally->objects);
	free(tally->places);
	*tally = (struct tally){ 0 };
}

uint32_t tally_from(const struct tally *tally, uint64_t address)
{
	uint32_t low = 0, high = tally->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tally->places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
