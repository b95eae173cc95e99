/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/replay_tally.h"
#include <stdlib.h>
#include <string.h>

struct counting {
	struct tally *tally;
	uint32_t *slots, slot_count; /* numbers + 1, open-addressed, at most half full */
	uint64_t peers, hitms;
};

static uint32_t *slot_of(const struct counting *counting, uint64_t address)
{
	uint32_t mask = counting->slot_count - 1;
	uint32_t slot = (uint32_t)(address * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (counting->slots[slot] &&
	       counting->tally->places[counting->slots[slot] - 1].address != address)
		slot = (slot + 1) & mask;
	return &counting->slots[slot];
}

static bool more_slots(struct counting *counting, struct error *error)
{
	struct tally *tally = counting->tally;
	uint32_t count = counting->slot_count ? 2 * counting->slot_count : 1 << 10;
	uint32_t *slots = calloc(count, sizeof(*slots));
	struct tally_place *places = realloc(tally->places, count / 2 * sizeof(*places));

	if (places)
		tally->places = places;
	if (!slots || !places) {
		free(slots);
		return error_set(error, "out of memory for the capture");
	}
	free(counting->slots);
	counting->slots = slots;
	counting->slot_count = count;
	for (uint32_t k = 0; k < tally->count; k++)
		*slot_of(counting, tally->places[k].address) = k + 1;
	return true;
}

/* NULL where there are too many already, or with *error set. */
static struct tally_place *place_of(struct counting *counting, uint64_t address,
				    struct error *error)
{
	struct tally *tally = counting->tally;
	uint32_t *slot;

	if (2 * (tally->count + 1) > counting->slot_count && !more_slots(counting, error))
		return NULL;
	slot = slot_of(counting, address);
	if (*slot)
		return &tally->places[*slot - 1];
	if (tally->count == TALLY_PLACES_MAX) {
		tally->crowded++;
		return NULL;
	}
	tally->places[tally->count] = (struct tally_place){ .address = address };
	*slot = ++tally->count;
	return &tally->places[*slot - 1];
}

/* At `ops` + 1 ... of a place's HITM: local, remote; else -1. Peers are kept apart until it is known
 * whether there is any HITM. */
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
	struct tally_place *place;
	bool peer;
	int across = hitm_of(record, &peer);

	if (!(record->known & KNOWN_ADDRESS))
		return true;
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
	free(counting.slots);
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
