/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm's own form of a trace, in binary: one zstd frame of what follows. Numbers are of 7 bits a byte,
 * the lowest first, with the top bit set where more follow; signed ones are folded (0 -1 1 -2 ...).
 *
 *     "hitmtrc" 1  kind  objects  { name layout address }       a text is its length and its bytes
 *     0  records                                                the end, and how many there were
 *     1  slot known op size source ip field symbol              a place, the next one or in place of another
 *     2  slot known pid tid cpu cpus                            a thread, likewise
 *     3 + place  thread  time address weight latency            a record
 *
 * Of a record, each number is the difference to the one before: the time to that of the record before,
 * weight and latency to the place's, and the address to the last of this place and thread; what is not
 * known is left out. A tight loop so repeats a few bytes, which zstd shortens. */
#include "trace/formats.h"
#include "trace/writer.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { TAG_END, TAG_PLACE, TAG_THREAD, TAG_RECORD };

enum {
	SLOTS = 4096,
	NUMBER_MOST = 10, /* bytes */
	ENTRY_MOST = 8 * NUMBER_MOST + 2 * TRACE_TEXT_MOST,
	KNOWN_OF_PLACE = KNOWN_TIME | KNOWN_SIZE | KNOWN_IP | KNOWN_LATENCY | KNOWN_ADDRESS,
	KNOWN_OF_THREAD = KNOWN_CPU | KNOWN_PID | KNOWN_TID
};

static const unsigned char magic[] = { 'h', 'i', 't', 'm', 't', 'r', 'c', 1 };

/* What the next record is told against; both sides keep it alike. */
struct history {
	uint64_t time;
	uint64_t weights[SLOTS], latencies[SLOTS]; /* by place */
	uint64_t addresses[SLOTS];                 /* by place and thread */
};

static uint64_t *last_address(struct history *history, uint32_t place, uint32_t thread)
{
	return &history->addresses[(place + 61 * thread) % SLOTS];
}

/* ---- reading -------------------------------------------------------------------------------- */

struct place {
	uint64_t ip;
	uint16_t size;
	uint8_t op, source, known;
	struct text field, symbol; /* owned */
};

struct thread {
	uint32_t pid, tid, cpu, cpus;
	uint8_t known;
};

struct reader {
	struct place places[SLOTS];
	struct thread threads[SLOTS];
	uint32_t place_count, thread_count;
	struct history history;
	uint64_t count;
};

/* An entry as it is taken apart: bytes that are ahead, of which `at` have been taken. */
struct entry {
	const struct input *input;
	const unsigned char *bytes;
	size_t at, length;
	struct error *error;
};

static struct entry entry_ahead(struct input *input, struct error *error)
{
	struct entry entry = { .input = input, .error = error };

	entry.length = input_peek(input, ENTRY_MOST, &entry.bytes);
	return entry;
}

static bool entry_error(struct entry *entry, size_t at, const char *what)
{
	return input_byte_error(entry->input, input_offset(entry->input) + at, entry->error, "%s",
				what);
}

/* A number of at most `most`. */
static bool take(struct entry *entry, const char *name, uint64_t most, uint64_t *value)
{
	size_t from = entry->at;
	unsigned shift = 0;
	unsigned char byte;
	char what[80];

	*value = 0;
	do {
		if (entry->at == entry->length)
			return entry_error(entry, entry->at,
					   "the file is cut off, expected more of the trace");
		byte = entry->bytes[entry->at++];
		if (shift == 63 && byte > 1)
			return entry_error(entry, from, "a number of more than 64 bits");
		*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (*value <= most)
		return true;
	snprintf(what, sizeof(what), "bad %s, expected at most %llu", name,
		 (unsigned long long)most);
	return entry_error(entry, from, what);
}

static bool take_text(struct entry *entry, const char *name, struct text *text)
{
	uint64_t length;

	if (!take(entry, name, TRACE_TEXT_MOST, &length))
		return false;
	if (entry->length - entry->at < length)
		return entry_error(entry, entry->length,
				   "the file is cut off, expected more of the trace");
	*text = (struct text){ (const char *)entry->bytes + entry->at, (uint32_t)length };
	entry->at += length;
	return true;
}

/* The difference to `*before`, which becomes the new value. */
static bool take_change(struct entry *entry, const char *name, uint64_t *before)
{
	uint64_t folded;

	if (!take(entry, name, UINT64_MAX, &folded))
		return false;
	*before += folded >> 1 ^ -(folded & 1);
	return true;
}

static bool take_object(struct trace *trace, struct entry *entry)
{
	char name_room[TRACE_TEXT_MOST + 1], layout_room[TRACE_TEXT_MOST + 1];
	struct text name, layout;
	uint64_t address;

	if (!take_text(entry, "name", &name) || !take_text(entry, "layout", &layout) ||
	    !take(entry, "address", UINT64_MAX, &address))
		return false;
	if (!trace_name_is_good(name) || !trace_layout_is_good(layout))
		return entry_error(entry, 0, "bad name or layout of an object");
	snprintf(name_room, sizeof(name_room), "%.*s", (int)name.length, name.at);
	snprintf(layout_room, sizeof(layout_room), "%.*s", (int)layout.length, layout.at);
	return trace_declare(trace, name_room, layout_room, address, entry->error);
}

static bool binary_begin(struct trace *trace, struct error *error)
{
	struct entry entry = entry_ahead(trace->input, error);
	uint64_t kind, objects;

	if (entry.length < sizeof(magic) || memcmp(entry.bytes, magic, sizeof(magic)))
		return entry_error(&entry, 0,
				   "no heading, expected that of a binary trace of version 1");
	entry.at = sizeof(magic);
	if (!take(&entry, "kind", KIND_AGGREGATE, &kind) ||
	    !take(&entry, "number of objects", UINT32_MAX, &objects) ||
	    !input_skip(trace->input, entry.at, error))
		return false;
	trace->summary.kind = (enum trace_kind)kind;
	for (uint64_t k = 0; k < objects; k++) {
		entry = entry_ahead(trace->input, error);
		if (!take_object(trace, &entry) || !input_skip(trace->input, entry.at, error))
			return false;
	}
	return true;
}

static bool keep_text(struct text *kept, struct text text)
{
	char *copy = text.length ? malloc(text.length) : NULL;

	free((void *)(uintptr_t)kept->at);
	*kept = (struct text){ copy, copy ? text.length : 0 };
	if (copy)
		memcpy(copy, text.at, text.length);
	return copy || !text.length;
}

static uint64_t last_slot(uint32_t count)
{
	return count < SLOTS ? count : SLOTS - 1;
}

static bool take_place(struct reader *reader, struct entry *entry)
{
	uint64_t slot, known, op, size, source, ip;
	struct text field, symbol;
	struct place *place;

	if (!take(entry, "place", last_slot(reader->place_count), &slot) ||
	    !take(entry, "set of what is known", KNOWN_OF_PLACE, &known) ||
	    !take(entry, "operation", TRACE_OPS - 1, &op) ||
	    !take(entry, "size", UINT16_MAX, &size) ||
	    !take(entry, "source", SOURCES - 1, &source) ||
	    !take(entry, "instruction", UINT64_MAX, &ip) || !take_text(entry, "field", &field) ||
	    !take_text(entry, "symbol", &symbol))
		return false;
	if (known & KNOWN_OF_THREAD || !(known & KNOWN_SIZE) != !size ||
	    (ip && !(known & KNOWN_IP)))
		return entry_error(entry, 0, "a place that contradicts itself");
	place = &reader->places[slot];
	if (!keep_text(&place->field, field) || !keep_text(&place->symbol, symbol))
		return error_set(entry->error, "out of memory");
	place->known = (uint8_t)known;
	place->op = (uint8_t)op;
	place->size = (uint16_t)size;
	place->source = (uint8_t)source;
	place->ip = ip;
	reader->place_count += slot == reader->place_count;
	return true;
}

static bool take_thread(struct reader *reader, struct entry *entry)
{
	uint64_t slot, known, pid, tid, cpu, cpus;

	if (!take(entry, "thread", last_slot(reader->thread_count), &slot) ||
	    !take(entry, "set of what is known", KNOWN_OF_THREAD, &known) ||
	    !take(entry, "process", UINT32_MAX, &pid) || !take(entry, "thread", UINT32_MAX, &tid) ||
	    !take(entry, "cpu", TRACE_CPUS_MAX - 1, &cpu) ||
	    !take(entry, "number of cpus", TRACE_CPUS_MAX, &cpus))
		return false;
	if (known & KNOWN_OF_PLACE || !cpus || (pid && !(known & KNOWN_PID)) ||
	    (tid && !(known & KNOWN_TID)) || (cpu && !(known & KNOWN_CPU)))
		return entry_error(entry, 0, "a thread that contradicts itself");
	reader->threads[slot] = (struct thread){ (uint32_t)pid, (uint32_t)tid, (uint32_t)cpu,
						 (uint32_t)cpus, (uint8_t)known };
	reader->thread_count += slot == reader->thread_count;
	return true;
}

/* What places and threads say of a record. */
static void fill_record(struct trace_record *record, const struct place *place,
			const struct thread *thread)
{
	record->known = place->known | thread->known;
	record->op = place->op;
	record->size = place->size;
	record->source = place->source;
	record->ip = place->ip;
	record->field = place->field;
	record->symbol = place->symbol;
	record->pid = thread->pid;
	record->tid = thread->tid;
	record->cpu = thread->cpu;
	record->cpus = thread->cpus;
}

static bool take_record(struct reader *reader, struct entry *entry, uint32_t place,
			struct trace_record *record)
{
	struct history *history = &reader->history;
	uint64_t thread, *address;

	if (!take(entry, "thread", SLOTS - 1, &thread))
		return false;
	if (place >= reader->place_count || thread >= reader->thread_count)
		return entry_error(entry, 0,
				   "a record of a place or a thread that was not told before");
	fill_record(record, &reader->places[place], &reader->threads[thread]);
	address = last_address(history, place, (uint32_t)thread);
	if ((record->known & KNOWN_TIME && !take_change(entry, "time", &history->time)) ||
	    (record->known & KNOWN_ADDRESS && !take_change(entry, "address", address)) ||
	    !take_change(entry, "weight", &history->weights[place]) ||
	    (record->known & KNOWN_LATENCY &&
	     !take_change(entry, "latency", &history->latencies[place])))
		return false;
	if (!history->weights[place] || history->latencies[place] > UINT32_MAX)
		return entry_error(
			entry, 0,
			"a record with no weight, or with a latency of more than 32 bits");
	record->time = record->known & KNOWN_TIME ? history->time : 0;
	record->address = record->known & KNOWN_ADDRESS ? *address : 0;
	record->weight = history->weights[place];
	record->latency = record->known & KNOWN_LATENCY ? (uint32_t)history->latencies[place] : 0;
	return true;
}

static bool take_end(struct trace *trace, struct reader *reader, struct entry *entry)
{
	struct text more;
	uint64_t count, end;

	if (!take(entry, "number of records", UINT64_MAX, &count))
		return false;
	if (count != reader->count)
		return entry_error(entry, 0, "not as many records as it says at its end");
	if (!input_skip(trace->input, entry->at, entry->error))
		return false;
	end = input_offset(trace->input);
	/* To the very end, where a compressed file has its checksum. */
	if (input_line(trace->input, &more, entry->error))
		return input_byte_error(trace->input, end, entry->error,
					"more after the end of the trace");
	return !entry->error->text[0];
}

static enum trace_step binary_next(struct trace *trace, struct trace_record *record,
				   struct error *error)
{
	struct reader *reader = trace->own;
	bool done = true;

	while (done) {
		struct entry entry = entry_ahead(trace->input, error);
		uint64_t tag;

		if (!take(&entry, "entry", TAG_RECORD + SLOTS - 1, &tag))
			break;
		if (tag == TAG_END)
			return take_end(trace, reader, &entry) ? STEP_END : STEP_FAILED;
		if (tag == TAG_PLACE)
			done = take_place(reader, &entry);
		else if (tag == TAG_THREAD)
			done = take_thread(reader, &entry);
		else
			done = take_record(reader, &entry, (uint32_t)(tag - TAG_RECORD), record);
		done = done && input_skip(trace->input, entry.at, error);
		if (!done || tag < TAG_RECORD)
			continue;
		reader->count++;
		if (record->known & KNOWN_ADDRESS || record->field.length)
			return STEP_RECORD;
		trace_drop(trace, DROP_NO_ADDRESS);
	}
	return STEP_FAILED;
}

static void binary_end(struct trace *trace)
{
	struct reader *reader = trace->own;

	for (uint32_t k = 0; k < reader->place_count; k++) {
		free((void *)(uintptr_t)reader->places[k].field.at);
		free((void *)(uintptr_t)reader->places[k].symbol.at);
	}
}

static bool binary_recognise(const unsigned char *head, size_t length)
{
	return length >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

const struct trace_format trace_format_trace_binary = {
	.name = "trace-binary",
	.about = "hitm's own, in a few bytes a record: `hitm replay --write`",
	.size = sizeof(struct reader),
	.recognise = binary_recognise,
	.begin = binary_begin,
	.next = binary_next,
	.end = binary_end,
};

/* ---- writing -------------------------------------------------------------------------------- */

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
	memcpy(own->bytes, magic, sizeof(magic));
	own->pending = sizeof(magic);
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
	if (!keep_text(&place->field, record->field) || !keep_text(&place->symbol, record->symbol))
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
