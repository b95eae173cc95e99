/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_binary.h"
#include "trace/formats.h"
#include <stdlib.h>
#include <string.h>

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

	if (entry.length < sizeof(trace_binary_magic) ||
	    memcmp(entry.bytes, trace_binary_magic, sizeof(trace_binary_magic)))
		return entry_error(&entry, 0,
				   "no heading, expected that of a binary trace of version 1");
	entry.at = sizeof(trace_binary_magic);
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

bool trace_binary_keep(struct text *kept, struct text text)
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
	if (!trace_binary_keep(&place->field, field) || !trace_binary_keep(&place->symbol, symbol))
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
	return length >= sizeof(trace_binary_magic) &&
	       !memcmp(head, trace_binary_magic, sizeof(trace_binary_magic));
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
