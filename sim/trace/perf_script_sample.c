/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "trace/perf_script_sample.h"
#include "trace/data_src.h"
#include <string.h>

/* Of a tracepoint or probe: `address=0x...` or `addr=0x...`, and of a page fault its error code. */
static bool argument(struct text rest, const char *key, uint64_t *value)
{
	const char *at = memmem(rest.at, rest.length, key, strlen(key));
	struct scan scan;

	if (!at || (at > rest.at && at[-1] != ' '))
		return false;
	scan = (struct scan){ at + strlen(key), rest.at + rest.length };
	return scan_hex(&scan, value);
}

enum { FAULT_WRITE = 2, FAULT_FETCH = 16 }; /* of x86's error code */

static enum trace_drop judge_tracepoint(const struct script_line *line,
					const struct script_event *event,
					struct trace_record *record)
{
	uint64_t code;

	if (!argument(line->rest, "address=", &record->address) &&
	    !argument(line->rest, "addr=", &record->address))
		return DROP_NOT_DATA;
	if (!record->address)
		return DROP_NO_ADDRESS;
	record->known |= KNOWN_ADDRESS;
	if (argument(line->rest, "ip=", &record->ip))
		record->known |= KNOWN_IP;
	if (event->kind != EVENT_FAULT)
		return DROPS;
	if (!argument(line->rest, "error_code=", &code))
		return DROPS;
	record->op = code & FAULT_WRITE ? TRACE_STORE : TRACE_LOAD;
	return code & FAULT_FETCH ? DROP_NOT_DATA : DROPS;
}

/* A locked instruction is sampled by the load event and by the store event, each on its own: where
 * the load event yields some, those of the store event tell of the same ones. */
static enum trace_drop judge_data_src(const struct script_line *line,
				      const struct script_event *event,
				      const struct script_locked *locked,
				      struct trace_record *record)
{
	struct data_src word = data_src_decode(line->data_src);
	bool load = word.load, store = word.store;

	record->source = (uint8_t)word.source;
	if (!load && !store) {
		if (word.prefetch)
			return DROP_PREFETCH;
		if (word.execute || event->kind == EVENT_OTHER)
			return DROP_NOT_DATA;
		load = event->op == TRACE_LOAD;
		store = event->op == TRACE_STORE;
	}
	if (word.locked && (load || store))
		record->op = TRACE_ATOMIC;
	else if (load && store)
		record->op = TRACE_MODIFY;
	else if (load || store)
		record->op = load ? TRACE_LOAD : TRACE_STORE;
	if (word.source == SOURCE_UNCACHED)
		return DROP_UNCACHED;
	if (word.locked && store && !load && locked->loads && locked->event != event->name_hash)
		return DROP_DUPLICATE;
	return DROPS;
}

/* The samples of an event that perf names itself, or of no named event. DROPS: it is to be used. */
static enum trace_drop judge_columns(const struct script_line *line,
				     const struct script_event *event,
				     const struct script_locked *locked,
				     struct trace_record *record)
{
	bool named = line->event.length > 0;
	enum trace_drop why = DROPS;

	if (event->kind == EVENT_ECHO)
		return DROP_DUPLICATE;
	if (line->columns & COLUMN_DATA_SRC && event->kind != EVENT_BREAKPOINT)
		why = judge_data_src(line, event, locked, record);
	else if (event->kind == EVENT_OTHER && named)
		why = DROP_NOT_DATA;
	if (why == DROP_NOT_DATA || why == DROP_PREFETCH)
		return why;
	if (!(record->known & KNOWN_ADDRESS) || !record->address)
		return DROP_NO_ADDRESS;
	return why;
}

static void fill(const struct script_line *line, const struct script_event *event,
		 struct trace_record *record)
{
	*record = (struct trace_record){
		.time = line->time,
		.address = line->address,
		.ip = line->ip,
		.weight = line->period ? line->period : 1,
		.pid = line->known & KNOWN_PID ? line->pid : 0,
		.tid = line->known & KNOWN_TID ? line->tid : 0,
		.cpu = line->known & KNOWN_CPU ? line->cpu : 0,
		.cpus = 1,
		.size = event->size,
		.op = (uint8_t)event->op,
		.known = (uint8_t)line->known,
		.thread_name = line->comm,
		.event = line->event,
		.symbol = line->symbol,
	};
	if (line->columns & COLUMN_ADDRESS)
		record->known |= KNOWN_ADDRESS;
	else if (event->has_address) {
		record->known |= KNOWN_ADDRESS;
		record->address = event->address;
	}
	if (line->columns & COLUMN_IP)
		record->known |= KNOWN_IP;
	if (event->size)
		record->known |= KNOWN_SIZE;
	if (line->weight && line->weight <= UINT32_MAX) {
		record->known |= KNOWN_LATENCY;
		record->latency = (uint32_t)line->weight;
	}
}

bool script_is_tracepoint(const struct script_line *line, const struct script_event *event)
{
	unsigned columns = COLUMN_DATA_SRC | COLUMN_ADDRESS | COLUMN_IP | COLUMN_WEIGHT;

	return line->rest.length && !(line->columns & columns) && event->kind != EVENT_BREAKPOINT &&
	       event->kind != EVENT_MEMORY;
}

enum trace_drop script_sample(const struct script_line *line, const struct script_event *event,
			      const struct script_locked *locked, struct trace_record *record)
{
	fill(line, event, record);
	if (script_is_tracepoint(line, event))
		return judge_tracepoint(line, event, record);
	return judge_columns(line, event, locked, record);
}

void script_locked_learn(struct script_locked *locked, const struct script_line *line,
			 const struct script_event *event)
{
	struct data_src word;

	if (locked->loads || !(line->columns & COLUMN_DATA_SRC))
		return;
	word = data_src_decode(line->data_src);
	if (word.locked && word.load) {
		locked->loads = true;
		locked->event = event->name_hash;
	}
}
