/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `perf script` prints: samples of memory events, breakpoints, page faults, probes. */
#define _GNU_SOURCE
#include "trace/formats.h"
#include "trace/perf_script_event.h"
#include "trace/perf_script_line.h"
#include "trace/perf_script_sample.h"
#include "trace/perf_script_watch.h"
#include <stdio.h>
#include <string.h>

enum {
	EVENTS = 16,     /* names remembered */
	NAME_MOST = 160, /* of one; longer ones are looked at anew each time */
	WAITING = 64,    /* records */
	TEXT_MOST = 448, /* of a waiting record's three texts; what exceeds it is cut */
	COMM_KEPT = 64,
	RECOGNISED_LINES = 400
};

/* A record that the lines behind it may still change. */
struct waiting {
	struct trace_record record;
	bool wants_ip;   /* the first frame of its call chain has it */
	bool wants_twin; /* of a breakpoint: whether another record tells of the same access */
	char text[TEXT_MOST];
};

struct script {
	struct {
		char name[NAME_MOST];
		uint32_t length;
		struct script_event event;
	} events[EVENTS];
	uint32_t event_count;
	uint64_t noted[EVENTS]; /* hashes of names of which the notes are made */
	uint32_t noted_count;

	struct waiting waiting[WAITING];
	uint32_t first, count;
	uint64_t newest; /* time of the last one */

	struct watch watch;
	struct script_locked locked;
	bool address_column;
	bool cut; /* the line read is the last one, and not ended */
	bool ended;
};

/* ---- events --------------------------------------------------------------------------------- */

/* By value: an entry may be replaced by the next name. */
static struct script_event event_of(struct script *script, struct text name)
{
	uint32_t known = script->event_count < EVENTS ? script->event_count : EVENTS, slot;

	for (uint32_t k = 0; k < known; k++)
		if (script->events[k].length == name.length &&
		    !memcmp(script->events[k].name, name.at, name.length))
			return script->events[k].event;
	if (!name.length || name.length > NAME_MOST)
		return script_event_of(name);
	slot = script->event_count++ % EVENTS;
	memcpy(script->events[slot].name, name.at, name.length);
	script->events[slot].length = name.length;
	return script->events[slot].event = script_event_of(name);
}

/* ---- the first part, before it is read ------------------------------------------------------- */

/* The next whole line of what lies ahead; false where there is none. */
static bool line_ahead(struct scan *scan, struct text *line)
{
	const char *end = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));

	if (!end)
		return false;
	*line = (struct text){ scan->at, (uint32_t)(end - scan->at) };
	if (line->length && end[-1] == '\r')
		line->length--;
	scan->at = end + 1;
	return true;
}

struct learning {
	struct watch_runs runs;
	struct script_event event; /* of a breakpoint's record that lacks its ip */
	struct trace_record record;
	bool wants_ip;
};

static void learn_sample(struct script *script, struct learning *learning,
			 const struct script_line *line)
{
	struct script_event event = event_of(script, line->event);
	struct trace_record record;

	learning->wants_ip = false;
	if (script_sample(line, &event, &script->locked, &record) != DROPS)
		return;
	script_locked_learn(&script->locked, line, &event);
	if (event.kind != EVENT_BREAKPOINT)
		return;
	learning->event = event;
	learning->record = record;
	learning->wants_ip = !(record.known & KNOWN_IP);
	if (!learning->wants_ip)
		watch_learn(&script->watch, &learning->runs, &event, &record);
}

static void learn_line(struct script *script, struct learning *learning, struct text text)
{
	struct script_line line;

	script_line_parse(text, &line);
	if (line.shape == SCRIPT_COMMENT)
		watch_learn_header(&script->watch, text);
	if (line.shape == SCRIPT_SAMPLE)
		learn_sample(script, learning, &line);
	if (line.shape == SCRIPT_FRAME && learning->wants_ip) {
		learning->wants_ip = false;
		learning->record.ip = line.ip;
		watch_learn(&script->watch, &learning->runs, &learning->event, &learning->record);
	}
}

static bool script_begin(struct trace *trace, struct error *error)
{
	struct script *script = trace->own;
	const unsigned char *bytes;
	size_t length = input_peek(trace->input, INPUT_PEEK_MOST, &bytes);
	struct scan scan = { (const char *)bytes, (const char *)bytes + length };
	struct learning learning = { 0 };
	struct text line;

	(void)error;
	while (line_ahead(&scan, &line))
		learn_line(script, &learning, line);
	watch_decide(&script->watch, &learning.runs);
	return true;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void note_dropped(struct trace *trace, const struct script_line *line,
			 const struct script_event *event, enum trace_drop why)
{
	if (why == DROP_NOT_DATA && script_is_tracepoint(line, event))
		trace_note(trace, "tracepoints and probes say what they access only by an argument "
				  "called addr or address; probes never hit locked instructions");
	if (why == DROP_DUPLICATE && event->kind == EVENT_ECHO)
		trace_note(trace, "of an access that Arm SPE reports by several names the record "
				  "called 'memory' was taken");
	else if (why == DROP_DUPLICATE)
		trace_note(trace, "locked accesses, which the store event samples once more, were "
				  "counted by the load event");
}

/* Once an event: to compare notes takes longer than to read a line. */
static bool already_noted(struct script *script, const struct script_event *event)
{
	uint32_t known = script->noted_count < EVENTS ? script->noted_count : EVENTS;

	for (uint32_t k = 0; k < known; k++)
		if (script->noted[k] == event->name_hash)
			return true;
	script->noted[script->noted_count++ % EVENTS] = event->name_hash;
	return false;
}

static void note_event(struct trace *trace, const struct script_line *line,
		       const struct script_event *event, enum trace_drop why)
{
	if (why != DROPS) {
		note_dropped(trace, line, event, why);
		return;
	}
	if (already_noted(trace->own, event))
		return;
	if (!(line->columns & COLUMN_PERIOD) && event->kind != EVENT_BREAKPOINT)
		trace_note(trace, "samples have no period: each counts as one access");
	if (event->ldlat)
		trace_note(trace, "loads faster than %u cycles were not sampled (ldlat=%u)",
			   event->ldlat, event->ldlat);
	else if (event->threshold)
		trace_note(trace, "loads faster than a threshold were not sampled; perf mem and "
				  "perf c2c set it to 30 cycles");
	if (event->kind == EVENT_FAULT)
		trace_note(trace, "page faults are the first accesses to pages only");
	if (event->kind == EVENT_BREAKPOINT && !(line->columns & COLUMN_ADDRESS))
		trace_note(trace, "addresses of breakpoints were taken from their names");
}

static void note_header(struct trace *trace, struct text line)
{
	static const char *const keys[] = { "# cmdline", "# cpudesc" };

	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
		if (line.length > strlen(keys[k]) && !memcmp(line.at, keys[k], strlen(keys[k])))
			trace_note(trace, "%.*s", (int)line.length - 2, line.at + 2);
}

/* ---- records that wait ----------------------------------------------------------------------- */

static struct text keep(char **to, const char *end, struct text text, size_t most)
{
	size_t room = (size_t)(end - *to), length = text.length;
	struct text kept = { *to, 0 };

	if (length > most)
		length = most;
	if (length > room)
		length = room;
	if (!length)
		return (struct text){ NULL, 0 };
	memcpy(*to, text.at, length);
	*to += length;
	kept.length = (uint32_t)length;
	return kept;
}

static struct waiting *waiting_at(struct script *script, uint32_t k)
{
	return &script->waiting[(script->first + k) % WAITING];
}

static void wait_for_more(struct script *script, const struct trace_record *record, bool ip,
			  bool twin)
{
	struct waiting *waiting = waiting_at(script, script->count++);
	char *to = waiting->text, *end = to + TEXT_MOST;

	waiting->record = *record;
	waiting->record.thread_name = keep(&to, end, record->thread_name, COMM_KEPT);
	waiting->record.event = keep(&to, end, record->event, NAME_MOST);
	waiting->record.symbol = keep(&to, end, record->symbol, TEXT_MOST);
	waiting->wants_ip = ip;
	waiting->wants_twin = twin;
	script->newest = record->time;
}

static bool same_access(const struct trace_record *a, const struct trace_record *b)
{
	return a->tid == b->tid && a->address == b->address && a->ip == b->ip &&
	       b->time - a->time <= WATCH_TWIN;
}

/* The newest record is whole: is it the twin of one that waits for it? */
static void match_twin(struct trace *trace)
{
	struct script *script = trace->own;
	uint32_t last = script->count - 1;
	struct waiting *newest = waiting_at(script, last), *other;

	for (uint32_t k = last; newest->wants_twin && k-- > 0;) {
		other = waiting_at(script, k);
		if (!other->wants_twin || !same_access(&other->record, &newest->record))
			continue;
		other->record.op = TRACE_STORE;
		other->wants_twin = false;
		script->count--;
		trace_drop(trace, DROP_DUPLICATE);
		return;
	}
}

/* No frame follows that would tell the newest record its ip. */
static void stop_wanting_ip(struct trace *trace)
{
	struct script *script = trace->own;
	struct waiting *newest = script->count ? waiting_at(script, script->count - 1) : NULL;

	if (newest && newest->wants_ip) {
		newest->wants_ip = false;
		match_twin(trace);
	}
}

static void take_frame(struct trace *trace, const struct script_line *line)
{
	struct script *script = trace->own;
	struct waiting *newest = script->count ? waiting_at(script, script->count - 1) : NULL;
	char *to;

	if (!newest || !newest->wants_ip)
		return;
	newest->record.ip = line->ip;
	newest->record.known |= KNOWN_IP;
	to = newest->text + newest->record.thread_name.length + newest->record.event.length;
	newest->record.symbol = keep(&to, newest->text + TEXT_MOST, line->symbol, TEXT_MOST);
	stop_wanting_ip(trace);
}

/* Takes out the oldest record once nothing can change it. */
static bool release(struct script *script, struct trace_record *record)
{
	struct waiting *oldest = waiting_at(script, 0);
	bool last = script->ended || script->count == WAITING;

	if (!script->count || (oldest->wants_ip && !last))
		return false;
	if (oldest->wants_twin && !last && script->newest - oldest->record.time <= WATCH_TWIN)
		return false;
	if (oldest->wants_twin && oldest->record.op == TRACE_ACCESS)
		oldest->record.op = TRACE_LOAD;
	*record = oldest->record;
	script->first = (script->first + 1) % WAITING;
	script->count--;
	return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void note_used(struct trace *trace, const struct script_line *line,
		      const struct script_event *event, const struct trace_record *record)
{
	bool watched = event->kind == EVENT_BREAKPOINT ||
		       (script_is_tracepoint(line, event) && event->kind != EVENT_FAULT);

	if (!watched || record->weight > 1)
		trace->summary.kind = KIND_SAMPLED;
	else if (trace->summary.kind == KIND_UNKNOWN)
		trace->summary.kind = KIND_COMPLETE;
}

/* What the breakpoint's name leaves open and the header said. */
static void complete_breakpoint(const struct script *script, struct trace_record *record)
{
	const struct watch_place *place = watch_place(&script->watch, record->address);

	if (!place)
		return;
	if (place->size && !(record->known & KNOWN_SIZE)) {
		record->known |= KNOWN_SIZE;
		record->size = place->size;
	}
	if (place->writes && !place->reads_writes)
		record->op = TRACE_STORE;
}

/* A sample of which all is known is filled into *record: true. Else it waits, or was dropped. */
static bool take_sample(struct trace *trace, const struct script_line *line,
			struct trace_record *record)
{
	struct script *script = trace->own;
	struct script_event event = event_of(script, line->event);
	bool breakpoint = event.kind == EVENT_BREAKPOINT, ip, twin;
	enum trace_drop why;

	stop_wanting_ip(trace);
	script->address_column |= (line->columns & COLUMN_ADDRESS) != 0;
	script_locked_learn(&script->locked, line, &event);
	why = script->cut ? DROP_TRUNCATED : script_sample(line, &event, &script->locked, record);
	note_event(trace, line, &event, why);
	if (why != DROPS) {
		trace_drop(trace, why);
		return false;
	}
	note_used(trace, line, &event, record);
	if (breakpoint)
		complete_breakpoint(script, record);
	ip = !(record->known & KNOWN_IP);
	twin = breakpoint && record->known & KNOWN_TIME && record->known & KNOWN_TID &&
	       watch_has_twins(&script->watch, record->address);
	if (!ip && !twin && !script->count)
		return true;
	wait_for_more(script, record, ip, twin);
	if (!ip)
		match_twin(trace);
	return false;
}

static bool take_line(struct trace *trace, struct text text, struct trace_record *record)
{
	static const enum trace_skip skips[] = {
		[SCRIPT_EMPTY] = SKIP_COMMENT,
		[SCRIPT_COMMENT] = SKIP_COMMENT,
		[SCRIPT_TASK] = SKIP_TASK,
		[SCRIPT_FRAME] = SKIP_CONTINUATION,
		[SCRIPT_DUMP] = SKIP_CONTINUATION,
		[SCRIPT_MESSAGE] = SKIP_MESSAGE,
		[SCRIPT_INDENTED] = SKIP_CONTINUATION,
	};
	struct script_line line;

	script_line_parse(text, &line);
	if (line.shape == SCRIPT_SAMPLE)
		return take_sample(trace, &line, record);
	trace->summary.lost += line.lost;
	if (line.shape == SCRIPT_FRAME && !((struct script *)trace->own)->cut)
		take_frame(trace, &line);
	else if (line.shape != SCRIPT_EMPTY)
		stop_wanting_ip(trace);
	if (line.shape == SCRIPT_COMMENT)
		note_header(trace, text);
	if (line.shape == SCRIPT_OTHER)
		trace_skip_unparsed(trace, text);
	else
		trace_skip(trace, skips[line.shape]);
	return false;
}

static void refuse_if_unused(struct trace *trace, struct error *error)
{
	const struct trace_summary *summary = &trace->summary;
	const struct script *script = trace->own;

	if (summary->used)
		return;
	if (summary->dropped[DROP_NO_ADDRESS] && !script->address_column)
		error_set(error,
			  "%s: no data address in any of %llu samples, expected the columns of "
			  "`perf script -G --ns -F comm,pid,tid,cpu,time,period,event,addr,"
			  "phys_addr,data_src,weight,ip,sym,symoff,dso`",
			  summary->name, (unsigned long long)summary->dropped[DROP_NO_ADDRESS]);
	else
		error_set(error,
			  "%s: no sample of an access to data, expected some of memory events, "
			  "as `perf mem record` and `perf record -e mem:ADDRESS` take",
			  summary->name);
}

/* A last line without its end may be cut anywhere, an address too; unless it shows its last column. */
static bool next_line(struct trace *trace, struct text *line, struct error *error)
{
	struct script *script = trace->own;
	uint64_t start = input_offset(trace->input);

	if (!input_line(trace->input, line, error))
		return false;
	script->cut = line->length && input_offset(trace->input) - start == line->length &&
		      line->at[line->length - 1] != ')';
	return true;
}

static enum trace_step script_next(struct trace *trace, struct trace_record *record,
				   struct error *error)
{
	struct script *script = trace->own;
	struct text line;

	while (!release(script, record)) {
		if (script->ended) {
			watch_note(&script->watch, trace);
			refuse_if_unused(trace, error);
			return STEP_END;
		}
		if (!next_line(trace, &line, error)) {
			if (error->text[0])
				return STEP_FAILED;
			script->ended = true;
			stop_wanting_ip(trace);
		} else if (take_line(trace, line, record)) {
			return STEP_RECORD;
		}
	}
	return STEP_RECORD;
}

/* ---- recognition ---------------------------------------------------------------------------- */

/* A line with a pid, a time and the name of an event is perf's alone; so are the words of data_src. */
static bool script_recognise(const unsigned char *head, size_t length)
{
	struct scan scan = { (const char *)head, (const char *)head + length };
	struct script_line line;
	struct text text;
	bool timed;

	for (int k = 0; k < RECOGNISED_LINES && line_ahead(&scan, &text); k++) {
		if (text.length > INPUT_LINE_MOST || memchr(text.at, '\0', text.length))
			return false;
		script_line_parse(text, &line);
		timed = line.known & KNOWN_TIME && line.known & KNOWN_TID;
		if (line.shape == SCRIPT_TASK && timed)
			return true;
		if (line.shape == SCRIPT_SAMPLE &&
		    (line.columns & COLUMN_DATA_SRC || (timed && line.event.length)))
			return true;
	}
	return false;
}

const struct trace_format trace_format_perf_script = {
	.name = "perf-script",
	.about = "text of `perf script`: samples of memory events, breakpoints, page faults",
	.size = sizeof(struct script),
	.recognise = script_recognise,
	.begin = script_begin,
	.next = script_next,
};
