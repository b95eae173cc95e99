/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* strcasestr */
#include "trace/perf_data.h"
#include <stdio.h>
#include <stdlib.h>

/* Where something is in the file. */
struct section {
	uint64_t offset, size;
};

enum { UNPACKED_MOST = 64 << 20 }; /* of a compressed record, where the header does not say */

/* Bytes at an offset, until the next call; NULL: not there, or behind the first INPUT_PEEK_MOST of an
 * input that can only be read on. */
static const unsigned char *bytes_at(struct input *input, uint64_t offset, size_t size)
{
	const unsigned char *bytes;
	struct error none = { "" };
	size_t got;

	if (!input_offset(input) && offset <= INPUT_PEEK_MOST && size <= INPUT_PEEK_MOST - offset) {
		got = input_peek(input, (size_t)offset + size, &bytes);
		return got == offset + size ? bytes + offset : NULL;
	}
	if (offset > input_size(input) || size > input_size(input) - offset ||
	    !input_seek(input, offset, &none))
		return NULL;
	return input_peek(input, size, &bytes) == size ? bytes : NULL;
}

static struct section section_at(const unsigned char *at, bool big)
{
	return (struct section){ get64(at, big), get64(at + 8, big) };
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* A host of the other byte order numbers the bits of a flag word from the other end of each byte. */
static uint64_t flags_at(const unsigned char *at, bool big)
{
	uint64_t flags = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		unsigned within = big ? 7 - bit % 8 : bit % 8;

		flags |= (uint64_t)(at[bit / 8] >> within & 1) << bit;
	}
	return flags;
}

static void take_attr(struct perf_event *event, const unsigned char *attr, bool big)
{
	event->type = get32(attr + ATTR_TYPE_AT, big);
	event->config = get64(attr + ATTR_CONFIG_AT, big);
	event->sample_type = get64(attr + ATTR_SAMPLE_TYPE_AT, big);
	event->read_format = get64(attr + ATTR_READ_FORMAT_AT, big);
	event->flags = flags_at(attr + ATTR_FLAGS_AT, big);
	event->sample_id_all = event->flags & FLAG_SAMPLE_ID_ALL;
	if (!(event->flags & FLAG_FREQUENCY))
		event->period = get64(attr + ATTR_PERIOD_AT, big);
	event->bp_type = get32(attr + ATTR_BP_TYPE_AT, big);
	event->config1 = event->bp_address = get64(attr + ATTR_CONFIG1_AT, big);
	event->bp_length = get64(attr + ATTR_BP_LENGTH_AT, big);
	event->branch_type = get64(attr + ATTR_BRANCH_TYPE_AT, big);
	event->user_registers =
		(uint16_t)__builtin_popcountll(get64(attr + ATTR_REGS_USER_AT, big));
	event->partner = NO_EVENT;
	event->op = TRACE_OPS;
}

/* The attribute in an entry of `stride` bytes, and where the identifiers are that follow it there. */
static bool read_attr(struct perf_event *event, struct input *input, uint64_t offset,
		      uint64_t stride, struct section *ids, bool big, struct error *error)
{
	unsigned char attr[ATTR_KNOWN] = { 0 };
	const unsigned char *at = bytes_at(input, offset, (size_t)stride);
	uint32_t size;

	if (!at)
		return input_byte_error(input, offset, error,
					"attributes of events that are not there, expected a whole "
					"file (or, of a compressed one, the file itself)");
	size = get32(at + ATTR_SIZE_AT, big);
	if (!size)
		size = ATTR_SMALLEST;
	if (size < ATTR_SMALLEST || size > stride - FILE_SECTION)
		return input_byte_error(input, offset + ATTR_SIZE_AT, error,
					"attributes of %u bytes, expected %d to %llu", size,
					ATTR_SMALLEST, (unsigned long long)stride - FILE_SECTION);
	memcpy(attr, at, size < ATTR_KNOWN ? size : ATTR_KNOWN);
	take_attr(event, attr, big);
	*ids = section_at(at + size, big);
	return true;
}

/* ---- identifiers ---------------------------------------------------------------------------- */

static struct perf_event_id *id_slot(const struct perf_events *events, uint64_t id)
{
	uint32_t slot = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & (events->id_slots - 1);

	while (events->ids[slot].event != NO_EVENT && events->ids[slot].id != id)
		slot = (slot + 1) & (events->id_slots - 1);
	return &events->ids[slot];
}

uint32_t perf_events_find(const struct perf_events *events, uint64_t id)
{
	return events->id_slots ? id_slot(events, id)->event : NO_EVENT;
}

static bool make_ids(struct perf_events *events, uint32_t count, struct error *error)
{
	events->id_slots = 2;
	while (events->id_slots < 2 * count)
		events->id_slots *= 2;
	events->ids = malloc(events->id_slots * sizeof(*events->ids));
	if (!events->ids)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < events->id_slots; k++)
		events->ids[k] = (struct perf_event_id){ 0, NO_EVENT };
	return true;
}

static bool read_ids(struct perf_events *events, uint32_t event, struct input *input,
		     struct section ids, struct error *error)
{
	for (uint64_t k = 0; k < ids.size / 8; k++) {
		const unsigned char *at = bytes_at(input, ids.offset + 8 * k, 8);
		uint64_t id;

		if (!at)
			return input_byte_error(
				input, ids.offset, error,
				"identifiers of events that are not there, expected "
				"a whole file");
		id = get64(at, events->big);
		*id_slot(events, id) = (struct perf_event_id){ id, event };
	}
	return true;
}

static bool read_all_ids(struct perf_events *events, struct input *input, const struct section *ids,
			 struct error *error)
{
	uint64_t count = 0;

	for (uint32_t k = 0; k < events->count; k++) {
		if (ids[k].size / 8 > EVENT_IDS_MOST || ids[k].offset > UINT64_MAX - ids[k].size)
			count = EVENT_IDS_MOST;
		count += ids[k].size / 8;
	}
	if (count > EVENT_IDS_MOST)
		return error_set(error, "%s: more than %d identifiers of events", input_name(input),
				 EVENT_IDS_MOST);
	if (input_size(input) && count > input_size(input) / 8)
		return error_set(
			error,
			"%s: more identifiers of events than fit into it, expected a whole "
			"file",
			input_name(input));
	if (!make_ids(events, (uint32_t)count, error))
		return false;
	for (uint32_t k = 0; k < events->count; k++)
		if (!read_ids(events, k, input, ids[k], error))
			return false;
	return true;
}

/* Several events: how a sample says of which it is. */
static bool find_identifier(struct perf_events *events, struct input *input, struct error *error)
{
	events->identified = events->count > 1;
	events->id_at = events->all[0].layout.id;
	for (uint32_t k = 0; events->identified && k < events->count; k++)
		if (events->all[k].layout.id != events->id_at || events->id_at == NOWHERE)
			return error_set(error,
					 "%s: %u events, and samples that do not say of which they "
					 "are, expected a file made by perf record",
					 input_name(input), events->count);
	return true;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Where the header says that no name is to be had: as perf itself would write it. */
static void name_by_type(struct perf_event *event)
{
	static const char *const access[] = { "?", "r", "w", "rw", "x" };
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",
	};

	if (event->type == TYPE_BREAKPOINT)
		snprintf(event->name, EVENT_NAME_SIZE, "mem:0x%llx/%llu:%s",
			 (unsigned long long)event->bp_address,
			 (unsigned long long)event->bp_length,
			 access[event->bp_type <= BREAKPOINT_CODE ? event->bp_type : 0]);
	else if (event->type == TYPE_SOFTWARE && event->config <= SOFTWARE_DUMMY)
		snprintf(event->name, EVENT_NAME_SIZE, "%s", software[event->config]);
	else
		snprintf(event->name, EVENT_NAME_SIZE, "%s%llx",
			 event->type == TYPE_RAW ? "r" : "event ",
			 (unsigned long long)event->config);
}

/* Names of breakpoints, as perf writes them, say neither how long nor of what kind they are. */
static void take_name(struct perf_event *event, const unsigned char *name, size_t length)
{
	length = strnlen((const char *)name, length);
	if (!length || (event->type == TYPE_BREAKPOINT && length >= 4 && !memcmp(name, "mem:", 4)))
		return;
	if (length > EVENT_NAME_SIZE - 1)
		length = EVENT_NAME_SIZE - 1;
	memcpy(event->name, name, length);
	event->name[length] = '\0';
}

/* The section: a count, the size of an attribute, and of each event attribute, count of identifiers,
 * length of the name, name, and identifiers. False where it does not fit the events. */
static bool read_names(struct perf_events *events, struct input *input, struct section section)
{
	const unsigned char *at = bytes_at(input, section.offset, 8);
	uint64_t offset = section.offset + 8, attr_size;

	if (!at || get32(at, events->big) != events->count)
		return false;
	attr_size = get32(at + 4, events->big);
	for (uint32_t k = 0; k < events->count; k++) {
		uint32_t ids, length;

		at = bytes_at(input, offset + attr_size, 8);
		if (!at)
			return false;
		ids = get32(at, events->big);
		length = get32(at + 4, events->big);
		offset += attr_size + 8;
		at = length <= INPUT_PEEK_MOST ? bytes_at(input, offset, length) : NULL;
		if (!at)
			return false;
		take_name(&events->all[k], at, length);
		offset += length + 8 * (uint64_t)ids;
	}
	return true;
}

/* ---- features ------------------------------------------------------------------------------- */

/* A feature's section is found by its place among those that are there, behind the data. */
static bool feature(const struct perf_events *events, struct input *input, const uint64_t *bits,
		    unsigned number, struct section *section)
{
	uint64_t before = 0, table = events->data_offset + events->data_size;
	const unsigned char *at;

	if (!(bits[number / 64] >> number % 64 & 1))
		return false;
	for (unsigned k = 0; k < number; k++)
		before += bits[k / 64] >> k % 64 & 1;
	at = bytes_at(input, table + before * FILE_SECTION, FILE_SECTION);
	if (at)
		*section = section_at(at, events->big);
	return at;
}

static bool read_features(struct perf_events *events, struct trace *trace, const uint64_t *bits,
			  struct error *error)
{
	struct input *input = trace->input;
	struct section section;
	const unsigned char *at;

	if (bits[0] >> FEATURE_AUXTRACE & 1)
		return error_set(
			error,
			"%s: perf.data with an AUX trace (Arm SPE, Intel PT), expected what "
			"'perf script --itrace=M --ns -F comm,pid,tid,cpu,time,period,event,"
			"addr,data_src,weight,ip,sym,symoff,dso' prints of it",
			input_name(input));
	if (events->data_size == UINT64_MAX) {
		trace_note(trace, "perf record has not finished this file: it has no names of "
				  "events");
		return true;
	}
	if (!feature(events, input, bits, FEATURE_EVENT_DESC, &section) ||
	    !read_names(events, input, section))
		trace_note(trace, "the file has no names of events, or not where they can be read");
	/* Version, type, level, ratio, and bytes of a buffer that is compressed at once. */
	if (feature(events, input, bits, FEATURE_COMPRESSED, &section)) {
		at = bytes_at(input, section.offset, 20);
		if (at && get32(at + 16, events->big) < UNPACKED_MOST)
			events->unpacked_most = get32(at + 16, events->big);
	}
	return true;
}

/* ---- what events mean ----------------------------------------------------------------------- */

/* Events that sample accesses of one kind, as Intel's cores number them. */
static const struct {
	uint16_t config;
	uint8_t op;
	bool threshold; /* config1: the least latency, in cycles, of a load that is sampled */
} numbered[] = {
	{ 0x01cd, TRACE_LOAD, true },   /* MEM_TRANS_RETIRED.LOAD_LATENCY */
	{ 0x05d0, TRACE_LOAD, true },   /* the same on small cores */
	{ 0x81d0, TRACE_LOAD, false },  /* MEM_INST_RETIRED.ALL_LOADS */
	{ 0x02cd, TRACE_STORE, false }, /* MEM_TRANS_RETIRED.PRECISE_STORE */
	{ 0x06d0, TRACE_STORE, false }, /* stores on small cores */
	{ 0x82d0, TRACE_STORE, false }, /* MEM_INST_RETIRED.ALL_STORES */
};

/* What the event samples, TRACE_OPS where that is not known; and the least latency, or 0. */
static uint8_t sampled_op(const struct perf_event *event, uint64_t *threshold)
{
	*threshold = 0;
	for (size_t k = 0; event->type == TYPE_RAW && k < sizeof(numbered) / sizeof(*numbered); k++)
		if (numbered[k].config == (event->config & 0xffff)) {
			*threshold = numbered[k].threshold ? event->config1 : 0;
			return numbered[k].op;
		}
	if (!strcasestr(event->name, "mem"))
		return TRACE_OPS;
	return strcasestr(event->name, "load")    ? TRACE_LOAD
	       : strcasestr(event->name, "store") ? TRACE_STORE
						  : TRACE_OPS;
}

static void understand_breakpoint(struct perf_event *event)
{
	if (event->bp_type < 1 || event->bp_type > BREAKPOINT_ACCESS)
		return;
	event->role = ROLE_BREAKPOINT;
	event->op = event->bp_type == BREAKPOINT_WRITE ? TRACE_STORE : TRACE_ACCESS;
	if (event->bp_length <= UINT16_MAX)
		event->size = (uint16_t)event->bp_length;
}

static void understand(struct perf_event *event, struct trace *trace)
{
	uint64_t threshold;

	if (event->type == TYPE_BREAKPOINT) {
		understand_breakpoint(event);
		return;
	}
	if (!(event->sample_type & SAMPLE_ADDR) || event->type == TYPE_TRACEPOINT)
		return;
	if (event->type == TYPE_SOFTWARE) {
		if (event->config != SOFTWARE_FAULTS && event->config != SOFTWARE_FAULTS_MINOR &&
		    event->config != SOFTWARE_FAULTS_MAJOR)
			return;
		event->role = ROLE_FAULT;
		event->op = TRACE_ACCESS;
		trace_note(trace, "page faults are the first accesses to each page, no others");
		return;
	}
	event->role = ROLE_MEMORY;
	event->op = sampled_op(event, &threshold);
	if (threshold > 1)
		trace_note(trace, "loads faster than %llu cycles were not sampled (ldlat=%llu)",
			   (unsigned long long)threshold, (unsigned long long)threshold);
}

/* A place with one breakpoint for stores and one for all accesses. */
static void find_partners(struct perf_events *events)
{
	for (uint32_t k = 0; k < events->count; k++) {
		struct perf_event *store = &events->all[k];

		if (store->role != ROLE_BREAKPOINT || store->bp_type != BREAKPOINT_WRITE)
			continue;
		for (uint32_t m = 0; m < events->count; m++) {
			struct perf_event *any = &events->all[m];

			if (any->role != ROLE_BREAKPOINT || any->bp_type != BREAKPOINT_ACCESS ||
			    any->partner != NO_EVENT || any->bp_address != store->bp_address ||
			    any->bp_length != store->bp_length)
				continue;
			store->partner = (uint16_t)m;
			any->partner = (uint16_t)k;
			any->op = TRACE_LOAD; /* unless the partner says otherwise */
			events->paired = true;
			break;
		}
	}
}

/* Intel's cores sample a locked instruction by the event of loads and by that of stores. */
static void find_repeaters(struct perf_events *events, struct trace *trace)
{
	bool loads = false, repeats = false;

	for (uint32_t k = 0; k < events->count; k++)
		loads |= events->all[k].role == ROLE_MEMORY && events->all[k].op == TRACE_LOAD;
	for (uint32_t k = 0; loads && k < events->count; k++) {
		struct perf_event *event = &events->all[k];

		event->repeats_atomics = event->role == ROLE_MEMORY && event->op == TRACE_STORE;
		repeats |= event->repeats_atomics;
	}
	if (repeats)
		trace_note(trace,
			   "atomics are counted by the event of loads; by that of stores they "
			   "are duplicates");
}

static void find_kind(const struct perf_events *events, struct trace *trace)
{
	trace->summary.kind = KIND_COMPLETE;
	for (uint32_t k = 0; k < events->count; k++) {
		const struct perf_event *event = &events->all[k];

		if (event->role == ROLE_NONE)
			continue;
		if (event->role != ROLE_BREAKPOINT || event->period != 1)
			trace->summary.kind = KIND_SAMPLED;
		if (event->role == ROLE_BREAKPOINT)
			trace_note(trace,
				   "a breakpoint does not tell an atomic from a store, and ip "
				   "is, on x86, of the instruction after the access");
		if (event->flags & FLAG_FREQUENCY && event->layout.period == NOWHERE)
			trace_note(trace,
				   "%s: its period varies and is not recorded: each sample "
				   "counts as one access",
				   event->name);
	}
}

static bool has_accesses(const struct perf_events *events, struct input *input, struct error *error)
{
	char names[160] = "";
	size_t used = 0;

	for (uint32_t k = 0; k < events->count; k++) {
		if (events->all[k].role != ROLE_NONE)
			return true;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 k ? ", " : "", events->all[k].name);
	}
	return error_set(error,
			 "%s: no event with addresses of data, only %s%s; expected a file of 'perf "
			 "mem record -- COMMAND', or of 'perf record -d -c 1 -e mem:ADDRESS/8:w -e "
			 "mem:ADDRESS/8:rw -- COMMAND' where there is no PMU",
			 input_name(input), names, used >= sizeof(names) ? "..." : "");
}

/* ---- the header ----------------------------------------------------------------------------- */

static bool check_magic(struct perf_events *events, struct input *input, struct error *error)
{
	const unsigned char *head = bytes_at(input, 0, FILE_PIPE_HEADER);
	uint64_t size;

	if (!head || (memcmp(head, "PERFILE2", 8) && memcmp(head, "2ELIFREP", 8))) {
		if (head && (!memcmp(head, "PERFFILE", 8) || !memcmp(head, "ELIFFREP", 8)))
			return error_set(
				error,
				"%s: perf.data of version 1, expected version 2: record it "
				"anew, with perf of Linux 3.8 or later",
				input_name(input));
		return error_set(error, "%s: no perf.data file: it does not start with PERFILE2",
				 input_name(input));
	}
	events->big = head[0] == '2';
	size = get64(head + FILE_HEADER_SIZE_AT, events->big);
	if (size == FILE_PIPE_HEADER)
		return error_set(
			error,
			"%s: perf.data as perf record writes it into a pipe, expected a file: "
			"'perf record -o FILE', or 'perf inject -i THIS -o FILE' first",
			input_name(input));
	if (size < FILE_HEADER)
		return input_byte_error(input, FILE_HEADER_SIZE_AT, error,
					"a header of %llu bytes, expected %d",
					(unsigned long long)size, FILE_HEADER);
	return true;
}

static bool read_attrs(struct perf_events *events, struct input *input, struct section attrs,
		       uint64_t stride, struct error *error)
{
	struct section *ids;
	bool right = true;

	if (stride < ATTR_SMALLEST + FILE_SECTION || stride > ATTR_LARGEST)
		return input_byte_error(input, FILE_ATTR_SIZE_AT, error,
					"attributes of %llu bytes, expected %d to %d",
					(unsigned long long)stride, ATTR_SMALLEST + FILE_SECTION,
					ATTR_LARGEST);
	if (attrs.size < stride || attrs.size / stride > EVENTS_MOST ||
	    attrs.offset > UINT64_MAX - attrs.size)
		return input_byte_error(input, FILE_ATTRS_AT, error,
					"%llu events, expected 1 to %d",
					(unsigned long long)(attrs.size / stride), EVENTS_MOST);
	events->count = (uint32_t)(attrs.size / stride);
	events->all = calloc(events->count, sizeof(*events->all));
	ids = calloc(events->count, sizeof(*ids));
	if (!events->all || !ids)
		right = error_set(error, "out of memory");
	for (uint32_t k = 0; right && k < events->count; k++) {
		right = read_attr(&events->all[k], input, attrs.offset + k * stride, stride,
				  &ids[k], events->big, error);
		perf_sample_layout(&events->all[k]);
		name_by_type(&events->all[k]);
	}
	right = right && find_identifier(events, input, error) &&
		read_all_ids(events, input, ids, error);
	free(ids);
	return right;
}

/* Leaves the input at the first record. */
static bool go_to_data(const struct perf_events *events, struct input *input, struct error *error)
{
	if (input_size(input))
		return input_seek(input, events->data_offset, error);
	return input_skip(input, events->data_offset, error);
}

bool perf_events_read(struct perf_events *events, struct trace *trace, struct error *error)
{
	struct input *input = trace->input;
	const unsigned char *head;
	struct section attrs, data;
	uint64_t stride, bits[FEATURES / 64];

	if (!check_magic(events, input, error))
		return false;
	head = bytes_at(input, 0, FILE_HEADER);
	if (!head)
		return error_set(error, "%s: ends in its header of %d bytes", input_name(input),
				 FILE_HEADER);
	stride = get64(head + FILE_ATTR_SIZE_AT, events->big);
	attrs = section_at(head + FILE_ATTRS_AT, events->big);
	data = section_at(head + FILE_DATA_AT, events->big);
	for (int k = 0; k < FEATURES / 64; k++)
		bits[k] = get64(head + FILE_FEATURES_AT + 8 * k, events->big);
	events->data_offset = data.offset;
	events->data_size = data.size ? data.size : UINT64_MAX; /* to the end of the file */
	events->unpacked_most = UNPACKED_MOST;
	if ((data.offset | data.size) >> 62)
		return input_byte_error(input, FILE_DATA_AT, error,
					"records beyond any file's end: the file is damaged");
	if (!read_attrs(events, input, attrs, stride, error) ||
	    !read_features(events, trace, bits, error))
		return false;
	for (uint32_t k = 0; k < events->count; k++)
		understand(&events->all[k], trace);
	for (uint32_t k = 0; k < events->count; k++)
		events->all[k].name_length = (uint32_t)strlen(events->all[k].name);
	find_partners(events);
	find_repeaters(events, trace);
	find_kind(events, trace);
	return has_accesses(events, input, error) && go_to_data(events, input, error);
}

void perf_events_free(struct perf_events *events)
{
	free(events->all);
	free(events->ids);
}
