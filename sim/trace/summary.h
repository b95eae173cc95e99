/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture turned out to be, once read: nothing that was left out goes unsaid. */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include "trace/record.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Why a record was not used, and why what is no record was passed over: name, words. */
#define TRACE_DROPS(DROP)                                                                      \
	DROP(NO_ADDRESS, "no_address", "without a data address")                               \
	DROP(NOT_DATA, "not_data", "no access to data (instructions, branches, other events)") \
	DROP(PREFETCH, "prefetch", "prefetches")                                               \
	DROP(DUPLICATE, "duplicate", "said again what another record says")                    \
	DROP(UNCACHED, "uncached", "to I/O or uncached memory")                                \
	DROP(REJECTED, "rejected", "that the capturing tool itself could not tell")            \
	DROP(FILTERED, "filtered", "not asked for")                                            \
	DROP(EMPTY, "empty", "that stand for no access")                                       \
	DROP(TRUNCATED, "truncated", "cut off by the end of the file")

enum trace_drop {
#define DROP(name, key, words) DROP_##name,
	TRACE_DROPS(DROP)
#undef DROP
		DROPS
};

#define TRACE_SKIPS(SKIP)                                                       \
	SKIP(COMMENT, "comments", "comments, headings and empty lines")         \
	SKIP(CONTINUATION, "continuations", "lines of call chains and sources") \
	SKIP(TASK, "task_events", "events about tasks and mappings")            \
	SKIP(MESSAGE, "messages", "messages of the capturing tool")             \
	SKIP(UNPARSED, "unparsed", "that fit no known form")

enum trace_skip {
#define SKIP(name, key, words) SKIP_##name,
	TRACE_SKIPS(SKIP)
#undef SKIP
		SKIPS
};

enum trace_kind {
	KIND_UNKNOWN,
	KIND_COMPLETE,  /* every access of the places watched, in order within a thread */
	KIND_SAMPLED,   /* one in so many, each with its thread */
	KIND_AGGREGATE, /* sums over a run, by place and code */
};

enum { SUMMARY_NOTES = 16, SUMMARY_NOTE_SIZE = 200 };

struct trace_summary {
	const char *format; /* name of the reader */
	const char *name;   /* of the file */
	enum trace_kind kind;
	uint64_t read, used; /* records; read = used + the sum of dropped */
	uint64_t dropped[DROPS];
	uint64_t skipped[SKIPS]; /* lines, or records of a binary file, that are none of these */
	uint64_t lost;           /* records that the capture says it lost */
	uint64_t ops[TRACE_OPS]; /* used records */
	uint64_t sources[SOURCES];
	uint64_t weight; /* sum over used records, at most 2^64 - 1 */
	uint64_t weight_low, weight_high;
	uint64_t without_time, without_cpu, without_tid, without_size; /* used records */
	uint32_t threads, cpus;         /* distinct, among used records */
	uint64_t first_time, last_time; /* ns; both 0 where no record has a time */
	uint64_t backwards;             /* used records earlier than the one before */
	uint64_t backwards_in_thread;   /* ... than the thread's one before */
	char first_unparsed
		[SUMMARY_NOTE_SIZE]; /* "LINE: text", of the first line that fits nothing */
	uint32_t note_count;
	char notes[SUMMARY_NOTES][SUMMARY_NOTE_SIZE];
};

/* The note made last, which says why there is nothing where that is so; "" of none. */
const char *summary_last_note(const struct trace_summary *summary);

/* For people, some ten lines; and every member as JSON, owned by the caller. */
void summary_print(FILE *out, const struct trace_summary *summary);
json_t *summary_json(const struct trace_summary *summary);

#endif
