/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_binary.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PENDING = 64 << 10, INDEX_BITS = 13 };

/* Where to look for what has been told: a hash leads to two slots, the one used last first, plus 1. Slots
 * are given out in turn, and again once all are; an entry may then lead to what it did not mean. */
struct slot_index {
	uint16_t slots[1 << INDEX_BITS][2];
	uint32_t count, next;
};

struct binary_writer {
	struct place places[SLOTS];
	struct thread threads[SLOTS];
	struct slot_index place_index, thread_index;
	struct history history;
	uint64_t count;
	ZSTD_CStream *zstd;
	size_t pending;
	unsigned char bytes[PENDING + 3 * ENTRY_MOST], packed[PENDING];
};

/* Packs what is pending, and writes what comes out; all of it at the end. */
static bool drain(struct trace_writer *writer, ZSTD_EndDirective directive, struct error *error)
{
	struct binary_writer *own = writer->own;
	ZSTD_inBuffer in = { own->bytes, own->pending, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { own->packed, sizeof(own->packed), 0 };

		left = ZSTD_compressStream2(own->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			return error_set(error, "cannot compress the trace: %s",
					 ZSTD_getErrorName(left));
		fwrite(own->packed, 1, out.pos, writer->out);
	} while (in.pos < in.size || (directive == ZSTD_e_end && left));
	own->pending = 0;
	return !ferror(writer->out) || error_set(error, "cannot write the trace");
}

static void put(struct binary_writer *own, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		own->bytes[own->pending++] = (unsigned char)(value | 0x80);
	own->bytes[own->pending++] = (unsigned char)value;
}

static void put_text(struct binary_writer *own, struct text text)
{
	put(own, text.length);
	if (text.length)
		memcpy(own->bytes + own->pending, text.at, text.length);
	own->pending += text.length;
}

static void put_change(struct binary_writer *own, uint64_t *before, uint64_t now)
{
	uint64_t change = now - *before;

	put(own, change << 1 ^ -(change >> 63));
	*before = now;
}

static bool binary_heading(struct trace_writer *writer, enum trace_kind kind,
			   const struct trace_object *objects, uint32_t object_count,
			   struct error *error)
{
	struct binary_writer *own = writer->own;

	own->zstd = ZSTD_createCStream();
	if (!own->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(own->zstd, ZSTD_c_checksumFlag, 1)))
		return error_set(error, "out of memory");
	memcpy(own->bytes, trace_binary_magic, sizeof(trace_binary_magic));
	own->pending = sizeof(trace_binary_magic);
	put(own, kind);
	put(own, object_count);
	for (uint32_t k = 0; k < object_count; k++) {
		const char *name = objects[k].name, *layout = objects[k].layout;

		put_text(own, (struct text){ name, (uint32_t)strlen(name) });
		put_text(own, (struct text){ layout, (uint32_t)strlen(layout) });
		put(own, objects[k].address);
		if (own->pending >= PENDING && !drain(writer, ZSTD_e_continue, error))
			return false;
	}
	return true;
}

static uint16_t *index_entry(struct slot_index *index, uint64_t hash)
{
	/* Fibonacci hashing */
	return index->slots[hash * 0x9e3779b97f4a7c15 >> (64 - INDEX_BITS)];
}

/* The second becomes the first. */
static void index_swap(uint16_t *entry)
{
	uint16_t first = entry[0];

	entry[0] = entry[1];
	entry[1] = first;
}

/* A slot for what has not been told, or no longer. */
static uint32_t index_add(struct slot_index *index, uint16_t *entry)
{
	uint32_t slot = index->next;

	index->next = (slot + 1) % SLOTS;
	index->count += index->count < SLOTS;
	entry[1] = entry[0];
	entry[0] = (uint16_t)(slot + 1);
	return slot;
}

static bool same_text(struct text a, struct text b)
{
	return a.length == b.length && (!a.length || !memcmp(a.at, b.at, a.length));
}

static bool is_place(const struct place *place, const struct trace_record *record)
{
	return place->ip == record->ip && place->known == (record->known & KNOWN_OF_PLACE) &&
	       place->op == record->op && place->size == record->size &&
	       place->source == record->source && same_text(place->field, record->field) &&
	       same_text(place->symbol, record->symbol);
}

static bool is_thread(const struct thread *thread, const struct trace_record *record)
{
	return thread->tid == record->tid && thread->cpu == record->cpu &&
	       thread->known == (record->known & KNOWN_OF_THREAD) && thread->pid == record->pid &&
	       thread->cpus == record->cpus;
}

static void put_place(struct binary_writer *own, uint32_t slot, const struct place *place)
{
	const uint64_t numbers[] = { TAG_PLACE,   slot,          place->known, place->op,
				     place->size, place->source, place->ip };

	for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
		put(own, numbers[k]);
	put_text(own, place->field);
	put_text(own, place->symbol);
}

static uint64_t place_hash(const struct trace_record *record)
{
	uint64_t hash = record->ip ^ (uint64_t)record->op << 56 ^ (uint64_t)record->source << 48;

	for (uint32_t k = 0; k < record->field.length; k++)
		hash = hash * 31 + (unsigned char)record->field.at[k];
	return hash;
}

/* The slot of the record's place, which is told to the reader where it is new. SLOTS: out of memory. */
static uint32_t place_slot(struct binary_writer *own, const struct trace_record *record)
{
	uint16_t *entry = index_entry(&own->place_index, place_hash(record));
	struct place *place;
	uint32_t slot;

	for (int way = 0; way < 2 && entry[way]; way++)
		if (is_place(&own->places[entry[way] - 1], record)) {
			if (way)
				index_swap(entry);
			return entry[0] - 1u;
		}
	slot = index_add(&own->place_index, entry);
	place = &own->places[slot];
	if (!trace_binary_keep(&place->field, record->field) ||
	    !trace_binary_keep(&place->symbol, record->symbol))
		return SLOTS;
	place->ip = record->ip;
	place->size = record->size;
	place->op = record->op;
	place->source = record->source;
	place->known = record->known & KNOWN_OF_PLACE;
	put_place(own, slot, place);
	return slot;
}

static uint32_t thread_slot(struct binary_writer *own, const struct trace_record *record)
{
	uint8_t known = record->known & KNOWN_OF_THREAD;
	uint16_t *entry =
		index_entry(&own->thread_index, record->tid + ((uint64_t)record->cpu << 32));
	uint32_t slot;

	for (int way = 0; way < 2 && entry[way]; way++)
		if (is_thread(&own->threads[entry[way] - 1], record)) {
			if (way)
				index_swap(entry);
			return entry[0] - 1u;
		}
	slot = index_add(&own->thread_index, entry);
	own->threads[slot] =
		(struct thread){ record->pid, record->tid, record->cpu, record->cpus, known };
	put(own, TAG_THREAD);
	put(own, slot);
	put(own, known);
	put(own, record->pid);
	put(own, record->tid);
	put(own, record->cpu);
	put(own, record->cpus);
	return slot;
}

static bool binary_write(struct trace_writer *writer, const struct trace_record *record,
			 struct error *error)
{
	struct binary_writer *own = writer->own;
	struct history *history = &own->history;
	uint32_t place, thread;

	own->count++;
	place = place_slot(own, record);
	if (place == SLOTS)
		return error_set(error, "out of memory");
	thread = thread_slot(own, record);
	put(own, TAG_RECORD + place);
	put(own, thread);
	if (record->known & KNOWN_TIME)
		put_change(own, &history->time, record->time);
	if (record->known & KNOWN_ADDRESS)
		put_change(own, last_address(history, place, thread), record->address);
	put_change(own, &history->weights[place], record->weight);
	if (record->known & KNOWN_LATENCY)
		put_change(own, &history->latencies[place], record->latency);
	return own->pending < PENDING || drain(writer, ZSTD_e_continue, error);
}

static bool binary_finish(struct trace_writer *writer, struct error *error)
{
	struct binary_writer *own = writer->own;

	put(own, TAG_END);
	put(own, own->count);
	return drain(writer, ZSTD_e_end, error);
}

static void binary_writer_end(struct trace_writer *writer)
{
	struct binary_writer *own = writer->own;

	for (uint32_t k = 0; k < own->place_index.count; k++) {
		free((void *)(uintptr_t)own->places[k].field.at);
		free((void *)(uintptr_t)own->places[k].symbol.at);
	}
	ZSTD_freeCStream(own->zstd);
}

const struct trace_form trace_form_binary = {
	.name = "trace-binary",
	.size = sizeof(struct binary_writer),
	.begin = binary_heading,
	.write = binary_write,
	.finish = binary_finish,
	.end = binary_writer_end,
};
