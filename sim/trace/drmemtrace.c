/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view tool of DynamoRIO's drmemtrace. Versions number records and perhaps instructions, and name
 * the thread as W0.T12, T12 or 12:
 *
 *     10  2: W0.T12 write        8 byte(s) @ 0x00007fff9a9e3528 by PC 0x00007fc205a61943
 *     11  2: W0.T12 <marker: timestamp 13312410768080478>         microseconds since 1601
 *     12  2: W0.T12 <marker: W0.T12 on core 7>
 *
 * Time and core are those of the thread's last markers. */
#define _GNU_SOURCE /* memmem */
#include "trace/formats.h"
#include "trace/lines.h"

enum { THREADS = 1024 };

/* A thread that shares its slot with another forgets its markers when that one comes. */
struct drmemtrace {
	struct thread {
		uint64_t time; /* ns */
		uint32_t tid, core;
		uint8_t known; /* KNOWN_TID: the slot is taken; KNOWN_TIME, KNOWN_CPU */
	} threads[THREADS];
};

static struct thread *thread_of(struct drmemtrace *own, uint32_t tid)
{
	struct thread *thread = &own->threads[tid % THREADS];

	if (!thread->known || thread->tid != tid)
		*thread = (struct thread){ .tid = tid, .known = KNOWN_TID };
	return thread;
}

static bool scan_thread(struct scan *scan, uint32_t *tid)
{
	uint64_t number;

	if (scan_char(scan, 'W') && !(scan_decimal(scan, &number) && scan_char(scan, '.')))
		return false;
	scan_char(scan, 'T');
	if (!scan_decimal(scan, &number) || number > UINT32_MAX)
		return false;
	*tid = (uint32_t)number;
	return true;
}

/* "RECORD [INSTRUCTION]: THREAD ", which leaves the details. */
static bool scan_prefix(struct scan *scan, uint32_t *tid)
{
	uint64_t number;

	scan_blanks(scan);
	if (!scan_decimal(scan, &number))
		return false;
	if (scan_gap(scan) && !scan_decimal(scan, &number))
		return false;
	return scan_char(scan, ':') && scan_gap(scan) && scan_thread(scan, tid) && scan_gap(scan) &&
	       !scan_ended(scan);
}

/* A marker's words, after "<marker: ". */
static bool take_marker(struct trace *trace, struct text line, struct scan scan,
			struct thread *thread, struct error *error)
{
	uint32_t same_tid;
	uint64_t value;

	if (scan_word(&scan, "timestamp ")) {
		const char *number = scan.at;

		if (!scan_decimal(&scan, &value) || value > UINT64_MAX / 1000)
			return input_line_error(trace->input, (unsigned)(number - line.at) + 1,
						error, "bad timestamp, expected microseconds");
		thread->time = value * 1000;
		thread->known |= KNOWN_TIME;
		return true;
	}
	if (scan_word(&scan, "window "))
		trace_note(trace, "the trace has windows; what was done between them is not in it");
	scan_word(&scan, "tid ");
	if (!scan_thread(&scan, &same_tid) || !scan_word(&scan, " on core ") ||
	    !scan_decimal(&scan, &value) || value >= TRACE_CPUS_MAX)
		return true;
	thread->core = (uint32_t)value;
	thread->known |= KNOWN_CPU;
	return true;
}

/* "NAME SIZE byte(s) @ 0xADDRESS by PC 0xPC"; the last is not there for instructions. */
static bool scan_access(struct scan *scan, struct text *name, struct trace_record *record)
{
	uint64_t size;

	if (!scan_token(scan, name) || !scan_gap(scan) || !scan_decimal(scan, &size) ||
	    !scan_word(scan, " byte(s) @ 0x") || !scan_hex(scan, &record->address))
		return false;
	record->known = KNOWN_ADDRESS | KNOWN_TID;
	if (size && size <= UINT16_MAX) {
		record->size = (uint16_t)size;
		record->known |= KNOWN_SIZE;
	}
	if (scan_word(scan, " by PC 0x") && scan_hex(scan, &record->ip))
		record->known |= KNOWN_IP;
	return true;
}

static bool take_access(struct trace *trace, struct text name, const struct thread *thread,
			struct trace_record *record)
{
	bool load = text_is(name, "read");

	if (!load && !text_is(name, "write")) {
		trace_drop(trace, name.length >= 4 && !memcmp(name.at, "pref", 4) ? DROP_PREFETCH
										  : DROP_NOT_DATA);
		return false;
	}
	record->op = load ? TRACE_LOAD : TRACE_STORE;
	record->tid = thread->tid;
	record->time = thread->time;
	record->cpu = thread->core;
	record->known |= thread->known;
	return true;
}

/* What stands around the records. */
static bool is_heading(struct text line)
{
	static const char *const starts[] = { "---", "Output format:", "<--record",
					      "View tool results:" };

	for (size_t k = 0; k < sizeof(starts) / sizeof(*starts); k++) {
		struct scan scan = scan_text(line);

		scan_blanks(&scan);
		if (scan_ended(&scan) || scan_word(&scan, starts[k]))
			return true;
	}
	return memmem(line.at, line.length, " : total ", 9);
}

/* The bytes of an instruction that needs a second line. */
static bool is_spill(struct scan scan)
{
	struct text token;
	uint64_t byte;

	return scan_token(&scan, &token) && token.length == 2 &&
	       (scan = scan_text(token), scan_hex(&scan, &byte) && scan_ended(&scan));
}

static bool take(struct trace *trace, struct text line, struct trace_record *record,
		 struct error *error)
{
	struct scan scan = scan_text(line);
	struct text name;
	uint32_t tid;

	if (!scan_prefix(&scan, &tid)) {
		if (is_heading(line))
			trace_skip(trace, SKIP_COMMENT);
		else
			trace_skip_unparsed(trace, line);
		return false;
	}
	if (scan_word(&scan, "<marker: ")) {
		trace_skip(trace, SKIP_TASK);
		take_marker(trace, line, scan, thread_of(trace->own, tid), error);
	} else if (*scan.at == '<') {
		trace_skip(trace, SKIP_TASK);
	} else if (is_spill(scan)) {
		trace_skip(trace, SKIP_CONTINUATION);
	} else if (!scan_access(&scan, &name, record)) {
		trace_skip_unparsed(trace, line);
	} else {
		return take_access(trace, name, thread_of(trace->own, tid), record);
	}
	return false;
}

static enum trace_step drmemtrace_next(struct trace *trace, struct trace_record *record,
				       struct error *error)
{
	return lines_next(trace, record, error, take);
}

static bool drmemtrace_begin(struct trace *trace, struct error *error)
{
	(void)error;
	trace->summary.kind = KIND_COMPLETE;
	trace_note(trace,
		   "drmemtrace tells the time at some records only, and locked instructions as "
		   "a load and a store");
	return true;
}

/* One line of this shape is not met elsewhere, and may come after much else. */
static enum line_verdict judge(struct text line)
{
	struct scan scan = scan_text(line);
	struct trace_record record;
	struct text name;
	uint32_t tid;

	if (!scan_prefix(&scan, &tid))
		return LINE_IGNORED;
	return scan_word(&scan, "<marker: ") || scan_access(&scan, &name, &record) ? LINE_FITS
										   : LINE_IGNORED;
}

static bool drmemtrace_recognise(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge);
}

const struct trace_format trace_format_drmemtrace = {
	.name = "drmemtrace",
	.about = "DynamoRIO: text of drmemtrace -tool view",
	.size = sizeof(struct drmemtrace),
	.recognise = drmemtrace_recognise,
	.begin = drmemtrace_begin,
	.next = drmemtrace_next,
};
