/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/perf_data.h"
#include "trace/data_src.h"

/* Between the fixed fields, in the order of their bits. */
static const uint64_t varying = SAMPLE_READ | SAMPLE_CALLCHAIN | SAMPLE_RAW | SAMPLE_BRANCH_STACK |
				SAMPLE_REGS_USER | SAMPLE_STACK_USER;

/* The next place, where the sample has such a field. */
static uint8_t place(uint64_t sample_type, uint64_t bits, uint8_t *size)
{
	uint8_t at = *size;

	if (!(sample_type & bits))
		return NOWHERE;
	*size = (uint8_t)(at + 8);
	return at;
}

void perf_sample_layout(struct perf_event *event)
{
	struct perf_layout *layout = &event->layout;
	uint64_t type = event->sample_type;
	uint8_t head = 0, tail = 0, identifier = place(type, SAMPLE_IDENTIFIER, &head), id;

	layout->ip = place(type, SAMPLE_IP, &head);
	layout->tid = place(type, SAMPLE_TID, &head);
	layout->time = place(type, SAMPLE_TIME, &head);
	layout->address = place(type, SAMPLE_ADDR, &head);
	id = place(type, SAMPLE_ID, &head);
	layout->id = identifier == NOWHERE ? id : identifier;
	place(type, SAMPLE_STREAM_ID, &head);
	layout->cpu = place(type, SAMPLE_CPU, &head);
	layout->period = place(type, SAMPLE_PERIOD, &head);
	layout->head_size = head;
	layout->weight = place(type, SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, &tail);
	layout->data_src = place(type, SAMPLE_DATA_SRC, &tail);
	layout->tail_size = tail;
}

/* ---- fields that vary in size --------------------------------------------------------------- */

/* Bytes of `count` things of so many bytes, at most UINT32_MAX: more than any record. */
static uint64_t bytes_of(uint64_t count, uint64_t each)
{
	return count < 1 << 16 ? count * each : UINT32_MAX;
}

static uint64_t has(uint64_t bits, uint64_t bit)
{
	return bits & bit ? 1 : 0;
}

static uint64_t read_size(uint64_t format, uint64_t first)
{
	uint64_t times = has(format, READ_TIME_ENABLED) + has(format, READ_TIME_RUNNING);
	uint64_t each = 1 + has(format, READ_ID) + has(format, READ_LOST);

	return format & READ_GROUP ? 8 + 8 * times + bytes_of(first, 8 * each)
				   : 8 * times + 8 * each;
}

static uint64_t branches_size(uint64_t type, uint64_t first)
{
	return 8 + 8 * has(type, BRANCH_HW_INDEX) +
	       bytes_of(first, 24 + 8 * has(type, BRANCH_COUNTERS));
}

/* Of one of the fields, whose first 8 bytes are there. */
static uint64_t field_size(const struct perf_event *event, uint64_t bit, const unsigned char *at,
			   bool big)
{
	uint64_t first = get64(at, big);

	switch (bit) {
	case SAMPLE_READ:
		return read_size(event->read_format, first);
	case SAMPLE_CALLCHAIN:
		return 8 + bytes_of(first, 8);
	case SAMPLE_RAW:
		return 4 + (uint64_t)get32(at, big);
	case SAMPLE_BRANCH_STACK:
		return branches_size(event->branch_type, first);
	case SAMPLE_REGS_USER:
		return 8 + (first ? 8 * (uint64_t)event->user_registers : 0);
	default: /* SAMPLE_STACK_USER: the bytes, and how many of them are meant */
		return 8 + (first ? bytes_of(first, 1) + 8 : 0);
	}
}

/* Passes over them. NULL where the sample is too short. */
static const unsigned char *behind_varying(const struct perf_event *event, const unsigned char *at,
					   const unsigned char *end, bool big)
{
	for (uint64_t left = event->sample_type & varying; left; left &= left - 1) {
		uint64_t size;

		if (end - at < 8)
			return NULL;
		size = field_size(event, left & -left, at, big);
		if (size > (uint64_t)(end - at))
			return NULL;
		at += size;
	}
	return at;
}

/* ---- what they mean ------------------------------------------------------------------------- */

static uint64_t word(const unsigned char *from, uint8_t place, bool big)
{
	return place == NOWHERE ? 0 : get64(from + place, big);
}

static void take_head(const struct perf_event *event, const unsigned char *body, bool big,
		      struct perf_item *item)
{
	const struct perf_layout *layout = &event->layout;
	uint64_t weight = word(body, layout->period, big);

	item->time = word(body, layout->time, big);
	item->address = word(body, layout->address, big);
	item->ip = word(body, layout->ip, big);
	item->known = (uint8_t)((layout->time != NOWHERE ? KNOWN_TIME : 0) |
				(layout->ip != NOWHERE ? KNOWN_IP : 0));
	if (!weight)
		weight = event->period;
	item->weight = weight ? weight : 1;
	if (layout->tid != NOWHERE) {
		item->pid = get32(body + layout->tid, big);
		item->tid = get32(body + layout->tid + 4, big);
		/* A task that is gone, or of another name space, is -1. */
		item->known |= item->pid != UINT32_MAX ? KNOWN_PID : 0;
		item->known |= item->tid != UINT32_MAX ? KNOWN_TID : 0;
	}
	if (layout->cpu != NOWHERE) {
		item->cpu = get32(body + layout->cpu, big);
		item->known |= KNOWN_CPU;
	}
}

/* The load latency: the lower half of the word, also where that is a struct of three. */
static void take_latency(const struct perf_event *event, const unsigned char *tail, bool big,
			 struct perf_item *item)
{
	uint64_t weight = word(tail, event->layout.weight, big);

	item->latency = event->sample_type & SAMPLE_WEIGHT_STRUCT || weight <= UINT32_MAX
				? (uint32_t)weight
				: UINT32_MAX;
	if (item->latency)
		item->known |= KNOWN_LATENCY;
}

static int drop_by(const struct perf_event *event, const struct data_src *source)
{
	if (source->prefetch)
		return DROP_PREFETCH;
	if (source->execute)
		return DROP_NOT_DATA;
	if (source->source == SOURCE_UNCACHED)
		return DROP_UNCACHED;
	return source->locked && source->store && event->repeats_atomics ? DROP_DUPLICATE : -1;
}

static struct perf_outcome outcome_of(const struct perf_event *event, uint64_t word)
{
	struct data_src source = data_src_decode(word);
	struct perf_outcome outcome = { .word = word,
					.dropped = (int8_t)drop_by(event, &source),
					.op = event->op,
					.source = (uint8_t)source.source,
					.known = true };

	if (source.locked && (source.load || source.store))
		outcome.op = TRACE_ATOMIC;
	else if (source.load && source.store)
		outcome.op = TRACE_MODIFY;
	else if (source.load || source.store)
		outcome.op = source.load ? TRACE_LOAD : TRACE_STORE;
	if (outcome.op == TRACE_OPS && outcome.dropped < 0)
		outcome.dropped = DROP_NOT_DATA;
	return outcome;
}

static int take_data_src(struct perf_event *event, uint64_t word, struct perf_item *item)
{
	struct perf_outcome *outcome =
		&event->outcomes[word * 0x9e3779b97f4a7c15u >> 32 & (OUTCOMES - 1)];

	if (!outcome->known || outcome->word != word)
		*outcome = outcome_of(event, word);
	item->op = outcome->op;
	item->source = outcome->source;
	return outcome->dropped;
}

int perf_sample_decode(struct perf_events *events, uint32_t number, const unsigned char *body,
		       size_t size, struct perf_item *item)
{
	struct perf_event *event = &events->all[number];
	const unsigned char *tail = body + event->layout.head_size, *end = body + size;
	bool big = events->big;

	if (event->role == ROLE_NONE)
		return DROP_NOT_DATA;
	if (size < event->layout.head_size)
		return DROP_REJECTED;
	*item = (struct perf_item){ .kind = ITEM_ACCESS,
				    .event = (uint16_t)number,
				    .op = event->op };
	take_head(event, body, big, item);
	if (event->role == ROLE_BREAKPOINT) {
		item->address = event->bp_address;
		item->known |= KNOWN_ADDRESS | (event->size ? KNOWN_SIZE : 0);
		return -1;
	}
	tail = event->sample_type & varying ? behind_varying(event, tail, end, big) : tail;
	if (!tail || end - tail < event->layout.tail_size)
		return DROP_REJECTED;
	if (!item->address)
		return DROP_NO_ADDRESS;
	item->known |= KNOWN_ADDRESS;
	if (event->role == ROLE_FAULT)
		return -1;
	take_latency(event, tail, big, item);
	return take_data_src(event, word(tail, event->layout.data_src, big), item);
}
