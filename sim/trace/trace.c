/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char trace_op_letters[TRACE_OPS + 1] = "RWAM?";

const char *const trace_source_names[SOURCES] = {
	[SOURCE_UNKNOWN] = "-",
	[SOURCE_L1] = "l1",
	[SOURCE_FILL_BUFFER] = "fill_buffer",
	[SOURCE_L2] = "l2",
	[SOURCE_LLC] = "llc",
	[SOURCE_HITM_LOCAL] = "hitm_local",
	[SOURCE_HITM_REMOTE] = "hitm_remote",
	[SOURCE_PEER_LOCAL] = "peer_local",
	[SOURCE_PEER_REMOTE] = "peer_remote",
	[SOURCE_CLEAN_REMOTE] = "clean_remote",
	[SOURCE_DRAM_LOCAL] = "dram_local",
	[SOURCE_DRAM_REMOTE] = "dram_remote",
	[SOURCE_UNCACHED] = "uncached",
};

/* Threads met, open-addressed, at most half full so that a search ends; and CPUs, a bit each. */
enum { OBJECTS_MAX = 4096 };

struct trace_sets {
	struct {
		uint64_t last; /* time of its last record */
		uint32_t tid;
		bool taken;
	} * threads; /* `slots` of them, a power of two */
	uint32_t slots;
	uint64_t cpus[TRACE_CPUS_MAX / 64];
	uint64_t last; /* time of the last record of any */
	struct trace_object *objects;
	uint32_t object_count;
};

/* ---- opening -------------------------------------------------------------------------------- */

/* The one format that fits these first bytes. NULL with *error set where none does, or several. */
static const struct trace_format *recognise(const char *name, const unsigned char *head,
					    size_t length, struct error *error)
{
	const struct trace_format *found = NULL;
	char names[256] = "";
	size_t used = 0;
	int count = 0;

	for (int k = 0; trace_formats[k]; k++) {
		if (!trace_formats[k]->recognise(head, length))
			continue;
		found = trace_formats[k];
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 count ? ", " : "", found->name);
		count++;
	}
	if (count == 1)
		return found;
	if (count)
		error_set(error, "%s: may be any of %s: say which with --from", name, names);
	else if (!length)
		error_set(error, "%s: empty, expected a capture", name);
	else
		error_set(error,
			  "%s: in none of the formats known, expected one that `hitm list "
			  "formats` shows",
			  name);
	return NULL;
}

static bool choose_format(struct trace *trace, const char *format, struct error *error)
{
	const char *name = input_name(trace->input);
	const unsigned char *head;
	size_t length = input_peek(trace->input, TRACE_HEAD, &head);

	if (!length && input_failed(trace->input, error))
		return false;
	if (format) {
		trace->format = trace_format_find(format);
		if (!trace->format)
			return error_set(error,
					 "no format '%.40s'; `hitm list formats` shows those "
					 "there are",
					 format);
	} else {
		trace->format = recognise(name, head, length, error);
		if (!trace->format)
			return false;
	}
	if (trace->format->refusal)
		return error_set(error, "%s: %s", name, trace->format->refusal);
	return true;
}

/* Takes over the input. */
static struct trace *open_input(struct input *input, const char *format, struct error *error)
{
	struct trace *trace = input ? calloc(1, sizeof(*trace)) : NULL;

	if (!trace) {
		if (input)
			error_set(error, "out of memory");
		input_close(input);
		return NULL;
	}
	trace->input = input;
	trace->sets = calloc(1, sizeof(*trace->sets));
	if (!trace->sets)
		error_set(error, "out of memory");
	else if (choose_format(trace, format, error)) {
		trace->summary.format = trace->format->name;
		trace->summary.name = input_name(input);
		trace->own = calloc(1, trace->format->size ? trace->format->size : 1);
		if (!trace->own)
			error_set(error, "out of memory");
		else if (!trace->format->begin || trace->format->begin(trace, error))
			return trace;
	}
	trace_close(trace);
	return NULL;
}

struct trace *trace_open(const char *path, const char *format, struct error *error)
{
	return open_input(input_open(path, error), format, error);
}

struct trace *trace_open_memory(const char *name, const void *bytes, size_t length,
				const char *format, struct error *error)
{
	return open_input(input_open_memory(name, bytes, length, error), format, error);
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->own && trace->format->end)
		trace->format->end(trace);
	for (uint32_t k = 0; trace->sets && k < trace->sets->object_count; k++) {
		free((void *)(uintptr_t)trace->sets->objects[k].name);
		free((void *)(uintptr_t)trace->sets->objects[k].layout);
	}
	if (trace->sets) {
		free(trace->sets->objects);
		free(trace->sets->threads);
	}
	free(trace->sets);
	free(trace->own);
	input_close(trace->input);
	free(trace);
}

/* ---- counting ------------------------------------------------------------------------------- */

static uint32_t thread_slot(const struct trace_sets *sets, uint32_t tid)
{
	uint32_t slot = (tid * 2654435761u) & (sets->slots - 1); /* Fibonacci hashing */

	while (sets->threads[slot].taken && sets->threads[slot].tid != tid)
		slot = (slot + 1) & (sets->slots - 1);
	return slot;
}

static bool more_slots(struct trace_sets *sets, struct error *error)
{
	struct trace_sets larger = { .slots = sets->slots ? 2 * sets->slots : 64 };

	larger.threads = calloc(larger.slots, sizeof(*larger.threads));
	if (!larger.threads)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < sets->slots; k++)
		if (sets->threads[k].taken)
			larger.threads[thread_slot(&larger, sets->threads[k].tid)] =
				sets->threads[k];
	free(sets->threads);
	sets->threads = larger.threads;
	sets->slots = larger.slots;
	return true;
}

static bool count_thread(struct trace *trace, const struct trace_record *record,
			 struct error *error)
{
	struct trace_sets *sets = trace->sets;
	struct trace_summary *summary = &trace->summary;
	uint32_t slot;

	if (2 * summary->threads >= sets->slots && !more_slots(sets, error))
		return false;
	slot = thread_slot(sets, record->tid);
	if (!sets->threads[slot].taken) {
		if (summary->threads == TRACE_THREADS_MAX)
			return error_set(error, "%s: more than %d threads", summary->name,
					 TRACE_THREADS_MAX);
		sets->threads[slot].taken = true;
		sets->threads[slot].tid = record->tid;
		summary->threads++;
	}
	if (!(record->known & KNOWN_TIME))
		return true;
	summary->backwards_in_thread += record->time < sets->threads[slot].last;
	sets->threads[slot].last = record->time;
	return true;
}

/* A number beyond all CPUs is none: perf, for one, writes -1 for what it does not know. */
static void settle_cpu(struct trace_record *record)
{
	if (record->cpu >= TRACE_CPUS_MAX) {
		record->cpu = 0;
		record->known &= (uint8_t)~KNOWN_CPU;
	}
	if (record->cpus > TRACE_CPUS_MAX)
		record->cpus = TRACE_CPUS_MAX;
}

static void count_cpu(struct trace *trace, const struct trace_record *record)
{
	uint64_t *word, bit;

	word = &trace->sets->cpus[record->cpu / 64];
	bit = 1ULL << record->cpu % 64;
	trace->summary.cpus += !(*word & bit);
	*word |= bit;
}

static void count_time(struct trace *trace, const struct trace_record *record)
{
	struct trace_summary *summary = &trace->summary;
	bool first = summary->without_time == summary->used;

	if (first || record->time < summary->first_time)
		summary->first_time = record->time;
	if (first || record->time > summary->last_time)
		summary->last_time = record->time;
	summary->backwards += !first && record->time < trace->sets->last;
	trace->sets->last = record->time;
}

static bool count(struct trace *trace, struct trace_record *record, struct error *error)
{
	struct trace_summary *summary = &trace->summary;

	settle_cpu(record);
	if (record->known & KNOWN_TIME)
		count_time(trace, record);
	else
		summary->without_time++;
	if (record->known & KNOWN_CPU)
		count_cpu(trace, record);
	else
		summary->without_cpu++;
	if (!(record->known & KNOWN_TID))
		summary->without_tid++;
	else if (!count_thread(trace, record, error))
		return false;
	summary->without_size += !(record->known & KNOWN_SIZE);
	summary->ops[record->op]++;
	summary->sources[record->source]++;
	if (__builtin_add_overflow(summary->weight, record->weight, &summary->weight))
		summary->weight = UINT64_MAX;
	if (!summary->used || record->weight < summary->weight_low)
		summary->weight_low = record->weight;
	if (record->weight > summary->weight_high)
		summary->weight_high = record->weight;
	summary->used++;
	return true;
}

static void sum_read(struct trace_summary *summary)
{
	summary->read = summary->used;
	for (int why = 0; why < DROPS; why++)
		summary->read += summary->dropped[why];
}

/* In two halves, that the compiler clears each by a few stores: the whole would be a loop in microcode,
 * which takes as long as much of the rest. */
static void blank(struct trace_record *record)
{
	enum { NUMBERS = offsetof(struct trace_record, thread_name) };

	memset(record, 0, NUMBERS);
	memset((char *)record + NUMBERS, 0, sizeof(*record) - NUMBERS);
	record->weight = 1;
	record->cpus = 1;
}

enum trace_step trace_next(struct trace *trace, struct trace_record *record, struct error *error)
{
	enum trace_step step;

	blank(record);
	step = trace->format->next(trace, record, error);
	if (step == STEP_RECORD && !count(trace, record, error))
		step = STEP_FAILED;
	if (step != STEP_RECORD)
		sum_read(&trace->summary);
	if (step == STEP_END && trace->summary.lost)
		trace_incomplete(trace);
	return step;
}

/* ---- what readers say ----------------------------------------------------------------------- */

const struct trace_summary *trace_summary(const struct trace *trace)
{
	return &trace->summary;
}

void trace_skip_unparsed(struct trace *trace, struct text line)
{
	struct trace_summary *summary = &trace->summary;
	int length = line.length > 120 ? 120 : (int)line.length;
	char text[SUMMARY_NOTE_SIZE];

	if (summary->skipped[SKIP_UNPARSED]++)
		return;
	snprintf(text, sizeof(text), "%llu: %.*s",
		 (unsigned long long)input_line_number(trace->input), length, line.at);
	text_escape(summary->first_unparsed, sizeof(summary->first_unparsed), text);
}

void trace_note(struct trace *trace, const char *format, ...)
{
	struct trace_summary *summary = &trace->summary;
	char text[SUMMARY_NOTE_SIZE], note[SUMMARY_NOTE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_escape(note, sizeof(note), text);
	for (uint32_t k = 0; k < summary->note_count; k++)
		if (!strcmp(summary->notes[k], note))
			return;
	if (summary->note_count < SUMMARY_NOTES)
		strcpy(summary->notes[summary->note_count++], note);
}

void trace_incomplete(struct trace *trace)
{
	if (trace->summary.kind != KIND_COMPLETE)
		return;
	trace->summary.kind = KIND_SAMPLED;
	trace_note(trace, "every access was to be recorded, but some were lost");
}

bool trace_declare(struct trace *trace, const char *name, const char *layout, uint64_t address,
		   struct error *error)
{
	struct trace_sets *sets = trace->sets;
	struct trace_object object = { strdup(name), strdup(layout), address };
	struct trace_object *more;

	if (sets->object_count == OBJECTS_MAX) {
		error_set(error, "%s: more than %d objects", trace->summary.name, OBJECTS_MAX);
	} else {
		more = realloc(sets->objects, (sets->object_count + 1) * sizeof(*more));
		if (more)
			sets->objects = more;
		if (more && object.name && object.layout) {
			sets->objects[sets->object_count++] = object;
			return true;
		}
		error_set(error, "out of memory");
	}
	free((void *)(uintptr_t)object.name);
	free((void *)(uintptr_t)object.layout);
	return false;
}

bool trace_object(const struct trace *trace, uint32_t k, struct trace_object *object)
{
	if (k >= trace->sets->object_count)
		return false;
	*object = trace->sets->objects[k];
	return true;
}
