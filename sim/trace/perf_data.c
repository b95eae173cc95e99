/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/formats.h"
#include "trace/perf_data.h"
#include <stdlib.h>

struct perf_data {
	struct perf_events events;
	struct perf_stream *stream;
	struct perf_order order;
	struct perf_pairs pairs;
	struct perf_threads threads;
	bool ended;            /* all records have been read */
	uint64_t lost_records; /* counted where the ring buffer was full */
	uint64_t lost_samples; /* counted by each event */
	uint64_t throttled;
	bool names_left_out;
};

/* What to do with a record, by its type. */
enum action {
	ACT_UNKNOWN,
	ACT_TASK,
	ACT_MESSAGE,
	ACT_NAME,
	ACT_FORK,
	ACT_LOST,
	ACT_LOST_SAMPLES,
	ACT_THROTTLE,
	ACT_SAMPLE,
	ACT_ROUND,
	ACT_REFUSE /* has more behind it than its size says */
};

static const uint8_t actions[RECORD_TYPES] = {
	[RECORD_MMAP] = ACT_TASK,
	[RECORD_LOST] = ACT_LOST,
	[RECORD_COMM] = ACT_NAME,
	[RECORD_EXIT] = ACT_TASK,
	[RECORD_THROTTLE] = ACT_THROTTLE,
	[RECORD_UNTHROTTLE] = ACT_MESSAGE,
	[RECORD_FORK] = ACT_FORK,
	[RECORD_READ] = ACT_MESSAGE,
	[RECORD_SAMPLE] = ACT_SAMPLE,
	[RECORD_MMAP2] = ACT_TASK,
	[RECORD_AUX... RECORD_ITRACE_START] = ACT_MESSAGE,
	[RECORD_LOST_SAMPLES] = ACT_LOST_SAMPLES,
	[RECORD_SWITCH... RECORD_CALLCHAIN_DEFERRED] = ACT_TASK,
	[RECORD_TOOL... RECORD_TRACING_DATA - 1] = ACT_MESSAGE,
	[RECORD_TRACING_DATA] = ACT_REFUSE,
	[RECORD_TRACING_DATA + 1] = ACT_MESSAGE,
	[RECORD_FINISHED_ROUND] = ACT_ROUND,
	[RECORD_FINISHED_ROUND + 1 ... RECORD_AUXTRACE - 1] = ACT_MESSAGE,
	[RECORD_AUXTRACE] = ACT_REFUSE,
	[RECORD_AUXTRACE + 1 ... RECORD_TYPES - 1] = ACT_MESSAGE,
};

/* ---- threads -------------------------------------------------------------------------------- */

enum { COMM_TID_AT = 4, COMM_NAME_AT = 8, FORK_TID_AT = 8, FORK_PARENT_AT = 12, FORK_TIME_AT = 16 };

/* What a record other than a sample is followed by, where the event's sample_id_all says so: of the
 * fields below those that its samples have, in this order. */
static const uint64_t behind_time =
	SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER;

/* The time in what follows it; 0: none, or written by perf when it began. */
static uint64_t trailing_time(const struct perf_events *events, const unsigned char *body,
			      size_t size)
{
	uint32_t number = 0;
	const struct perf_event *event;
	size_t from_end;

	if (events->identified && events->all[0].sample_type & SAMPLE_IDENTIFIER && size >= 8)
		number = perf_events_find(events, get64(body + size - 8, events->big));
	event = &events->all[number == NO_EVENT ? 0 : number];
	from_end = 8 * (size_t)__builtin_popcountll(event->sample_type & behind_time);
	if (!event->sample_id_all || !(event->sample_type & SAMPLE_TIME) || from_end > size)
		return 0;
	return get64(body + size - from_end, events->big);
}

/* Without a time it is true from the start. */
static void apply(struct perf_data *data, const struct perf_item *item)
{
	bool kept = item->kind == ITEM_NAME
			    ? perf_threads_name(&data->threads, item->tid, item->name)
			    : perf_threads_fork(&data->threads, item->tid, item->parent);

	data->names_left_out |= !kept;
}

static bool out_of_memory(struct error *error)
{
	return error_set(error, "out of memory");
}

static bool wait(struct perf_data *data, const struct perf_item *item, struct error *error)
{
	struct perf_item *place = perf_order_place(&data->order);

	if (!place)
		return out_of_memory(error);
	*place = *item;
	perf_order_add(&data->order, item->time);
	return true;
}

static bool take_name(struct perf_data *data, const unsigned char *body, size_t size,
		      struct error *error)
{
	struct perf_item item = { .kind = ITEM_NAME };
	size_t room = size > COMM_NAME_AT ? size - COMM_NAME_AT : 0;

	if (!room)
		return true;
	item.tid = get32(body + COMM_TID_AT, data->events.big);
	memcpy(item.name, body + COMM_NAME_AT, room < THREAD_NAME - 1 ? room : THREAD_NAME - 1);
	item.time = trailing_time(&data->events, body, size);
	if (item.time)
		return wait(data, &item, error);
	apply(data, &item);
	return true;
}

static bool take_fork(struct perf_data *data, const unsigned char *body, size_t size,
		      struct error *error)
{
	struct perf_item item = { .kind = ITEM_FORK };

	if (size < FORK_TIME_AT + 8)
		return true;
	item.tid = get32(body + FORK_TID_AT, data->events.big);
	item.parent = get32(body + FORK_PARENT_AT, data->events.big);
	item.time = get64(body + FORK_TIME_AT, data->events.big);
	if (item.time && item.tid != item.parent)
		return wait(data, &item, error);
	if (item.tid != item.parent)
		apply(data, &item);
	return true;
}

/* ---- records -------------------------------------------------------------------------------- */

static bool take_sample(struct trace *trace, const unsigned char *body, size_t size,
			struct error *error)
{
	struct perf_data *data = trace->own;
	struct perf_events *events = &data->events;
	struct perf_item *place = perf_order_place(&data->order);
	uint32_t event = 0;
	int dropped;

	if (!place)
		return out_of_memory(error);
	if (events->identified)
		event = size >= events->id_at + 8u
				? perf_events_find(events, get64(body + events->id_at, events->big))
				: NO_EVENT;
	dropped = event == NO_EVENT ? DROP_REJECTED
				    : perf_sample_decode(events, event, body, size, place);
	if (dropped >= 0) {
		trace_drop(trace, (enum trace_drop)dropped);
		if (dropped == DROP_REJECTED)
			trace_note(trace, "some samples are of no known event, or shorter than "
					  "their event's");
		return true;
	}
	perf_order_add(&data->order, place->known & KNOWN_TIME ? place->time : data->order.latest);
	return true;
}

static void take_lost(struct perf_data *data, enum action action, const unsigned char *record,
		      size_t size)
{
	bool big = data->events.big;
	bool by_ring = action == ACT_LOST; /* an identifier comes before the number */
	size_t at = RECORD_HEADER + (by_ring ? 8 : 0);
	uint64_t *sum = by_ring ? &data->lost_records : &data->lost_samples;

	if (size < at + 8 || get16(record + RECORD_MISC_AT, big) & MISC_LOST_BY_FILTER)
		return;
	if (__builtin_add_overflow(*sum, get64(record + at, big), sum))
		*sum = UINT64_MAX;
}

static bool refuse(struct trace *trace, uint32_t type, struct error *error)
{
	struct perf_data *data = trace->own;

	return input_byte_error(
		trace->input, perf_stream_offset(data->stream), error,
		type == RECORD_AUXTRACE
			? "an AUX trace (Arm SPE, Intel PT), expected what 'perf script "
			  "--itrace=M' prints of it"
			: "a record of perf.data in a pipe, expected a file: 'perf "
			  "inject -i THIS -o FILE' first");
}

static bool take_record(struct trace *trace, const unsigned char *record, struct error *error)
{
	struct perf_data *data = trace->own;
	bool big = data->events.big;
	uint32_t type = get32(record, big);
	size_t size = get16(record + RECORD_SIZE_AT, big);
	enum action action = type < RECORD_TYPES ? actions[type] : ACT_UNKNOWN;
	const unsigned char *body = record + RECORD_HEADER;

	if (action == ACT_SAMPLE)
		return take_sample(trace, body, size - RECORD_HEADER, error);
	trace_skip(trace, action == ACT_UNKNOWN ? SKIP_UNPARSED
			  : action == ACT_TASK || action == ACT_NAME || action == ACT_FORK
				  ? SKIP_TASK
				  : SKIP_MESSAGE);
	switch (action) {
	case ACT_NAME:
		return take_name(data, body, size - RECORD_HEADER, error);
	case ACT_FORK:
		return take_fork(data, body, size - RECORD_HEADER, error);
	case ACT_LOST:
	case ACT_LOST_SAMPLES:
		take_lost(data, action, record, size);
		return true;
	case ACT_THROTTLE:
		data->throttled++;
		return true;
	case ACT_ROUND:
		perf_order_round(&data->order);
		return true;
	case ACT_REFUSE:
		return refuse(trace, type, error);
	default:
		return true;
	}
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Events whose read_format has it count what the ring buffer lost once more. */
static uint64_t lost(const struct perf_data *data)
{
	uint64_t records = data->lost_records, samples = data->lost_samples, sum;
	bool twice = false;

	for (uint32_t k = 0; k < data->events.count; k++)
		twice |= data->events.all[k].read_format & READ_LOST;
	if (twice)
		return records > samples ? records : samples;
	return __builtin_add_overflow(records, samples, &sum) ? UINT64_MAX : sum;
}

static void conclude(struct trace *trace)
{
	struct perf_data *data = trace->own;
	struct trace_summary *summary = &trace->summary;

	data->ended = true;
	perf_order_all(&data->order);
	summary->lost = lost(data);
	if (data->throttled)
		trace_note(trace, "the kernel held events back %llu times: they came too often",
			   (unsigned long long)data->throttled);
	if (data->throttled)
		trace_incomplete(trace);
	if (data->names_left_out)
		trace_note(trace, "more than %d threads: some have no names", TRACE_THREADS_MAX);
}

/* Reads on until something is ready. */
static bool read_on(struct trace *trace, struct error *error)
{
	struct perf_data *data = trace->own;
	const unsigned char *record;

	while (data->order.first == data->order.ready) {
		enum perf_stream_step step = perf_stream_next(data->stream, &record, error);

		if (step == STREAM_FAILED ||
		    (step == STREAM_RECORD && !take_record(trace, record, error)))
			return false;
		if (step == STREAM_CUT) {
			trace_note(trace, "the file ends before its records do");
			if (record)
				trace_drop(trace, DROP_TRUNCATED);
		}
		if (step != STREAM_RECORD) {
			conclude(trace);
			return true;
		}
		perf_order_spill(&data->order);
	}
	return true;
}

/* ---- the reader ----------------------------------------------------------------------------- */

static bool recognise(const unsigned char *head, size_t length)
{
	static const char magic[][9] = { "PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP" };

	for (size_t k = 0; k < sizeof(magic) / sizeof(*magic); k++)
		if (length >= 8 && !memcmp(head, magic[k], 8))
			return true;
	return false;
}

static bool begin(struct trace *trace, struct error *error)
{
	struct perf_data *data = trace->own;

	if (!perf_events_read(&data->events, trace, error))
		return false;
	data->stream = perf_stream_new(trace->input, &data->events);
	if (!data->stream || !perf_threads_name(&data->threads, 0, "swapper"))
		return out_of_memory(error);
	return true;
}

static void end(struct trace *trace)
{
	struct perf_data *data = trace->own;

	perf_events_free(&data->events);
	perf_stream_free(data->stream);
	perf_order_free(&data->order);
	perf_threads_free(&data->threads);
}

static void fill(struct perf_data *data, const struct perf_item *item, struct trace_record *record)
{
	const struct perf_event *event = &data->events.all[item->event];

	record->time = item->time;
	record->address = item->address;
	record->ip = item->ip;
	record->weight = item->weight;
	record->pid = item->known & KNOWN_PID ? item->pid : 0;
	record->tid = item->known & KNOWN_TID ? item->tid : 0;
	record->cpu = item->cpu;
	record->latency = item->latency;
	record->size = event->size;
	record->op = item->op;
	record->source = item->source;
	record->known = item->known;
	if (item->known & KNOWN_TID)
		record->thread_name = perf_threads_find(&data->threads, item->tid);
	record->event = (struct text){ event->name, event->name_length };
}

/* The next item, by time, paired where it has to be: then in `room`. NULL: read on. */
static const struct perf_item *item_next(struct trace *trace, struct perf_item *room)
{
	struct perf_data *data = trace->own;
	const struct perf_item *ready;

	if (!data->events.paired)
		return perf_order_take(&data->order);
	while (!perf_pairs_take(&data->pairs, perf_pairs_full(&data->pairs), room)) {
		ready = perf_order_take(&data->order);
		if (!ready)
			return data->ended && perf_pairs_take(&data->pairs, true, room) ? room
											: NULL;
		if (perf_pairs_put(&data->pairs, &data->events, ready))
			trace_drop(trace, DROP_DUPLICATE);
	}
	return room;
}

static enum trace_step next(struct trace *trace, struct trace_record *record, struct error *error)
{
	struct perf_data *data = trace->own;
	const struct perf_item *item;
	struct perf_item room;

	for (;;) {
		item = item_next(trace, &room);
		if (!item) {
			if (data->ended)
				return STEP_END;
			if (!read_on(trace, error))
				return STEP_FAILED;
		} else if (item->kind == ITEM_ACCESS) {
			fill(data, item, record);
			return STEP_RECORD;
		} else {
			apply(data, item);
		}
	}
}

const struct trace_format trace_format_perf_data = {
	.name = "perf-data",
	.about = "perf record's own files, perf.data: PEBS and other memory events, breakpoints",
	.size = sizeof(struct perf_data),
	.recognise = recognise,
	.begin = begin,
	.next = next,
	.end = end,
};
