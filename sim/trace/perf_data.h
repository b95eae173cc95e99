/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of perf.data files, in pieces that follow each other: events (what the header says),
 * stream (records, those of compressed ones included), sample (their fields), order (by time), pairs
 * (two breakpoints on one place), threads (their names). perf_data.c puts them together. */
#ifndef TRACE_PERF_DATA_H
#define TRACE_PERF_DATA_H

#include "trace/perf_data_format.h"
#include "trace/trace.h"

/* ---- events --------------------------------------------------------------------------------- */

enum {
	EVENTS_MOST = 1 << 12,
	EVENT_IDS_MOST = 1 << 18, /* each event has one a CPU, or a thread */
	EVENT_NAME_SIZE = 128
};

/* What the records of an event are. */
enum perf_role {
	ROLE_NONE,       /* no accesses to data */
	ROLE_BREAKPOINT, /* the address is the watched one */
	ROLE_FAULT,      /* of a page */
	ROLE_MEMORY      /* of a PMU: the data_src word, if any, says what was done */
};

/* Where the fields of a sample are. Those up to PERIOD have fixed places, counted from the record's
 * first byte behind its header; then may come some that vary in size; those behind are counted from
 * the end of these. */
enum { NOWHERE = 0xff };
struct perf_layout {
	uint8_t ip, tid, time, address, id, cpu, period, head_size;
	uint8_t weight, data_src, tail_size;
};

/* What a data_src word means for a sample; of the few that occur, the last ones are kept. */
enum { OUTCOMES = 64 };
struct perf_outcome {
	uint64_t word;
	int8_t dropped; /* -1, or enum trace_drop */
	uint8_t op, source;
	bool known; /* this is one */
};

struct perf_event {
	uint64_t sample_type, read_format, branch_type;
	uint64_t bp_address;
	uint64_t period; /* where samples do not say; 0: not known */
	struct perf_layout layout;
	uint16_t user_registers; /* that samples may hold */
	uint16_t size;           /* of the accesses; 0: not known */
	uint16_t partner;     /* the event that watches the same place for the rest, or NO_EVENT */
	uint8_t role;         /* enum perf_role */
	uint8_t op;           /* enum trace_op where data_src does not say; TRACE_OPS: not known */
	bool repeats_atomics; /* the store event beside a load event that has them too */
	bool sample_id_all;
	uint32_t type, bp_type;
	uint64_t config, config1, bp_length, flags;
	uint32_t name_length;
	char name[EVENT_NAME_SIZE];
	struct perf_outcome outcomes[OUTCOMES];
};

enum { NO_EVENT = 0xffff };

struct perf_events {
	struct perf_event *all;
	uint32_t count;
	bool big;        /* byte order */
	bool paired;     /* some event has a partner */
	bool identified; /* several events, told apart by an identifier at this place: */
	uint8_t id_at;
	struct perf_event_id {
		uint64_t id;
		uint32_t event; /* NO_EVENT: empty */
	} * ids;                /* open-addressed, at most half full */
	uint32_t id_slots, id_count;
	uint64_t data_offset, data_size; /* of the records */
	uint64_t unpacked_most;          /* bytes that a compressed record may hold */
};

/* Reads the header, and the events with their names. False with *error set. */
bool perf_events_read(struct perf_events *events, struct trace *trace, struct error *error);
void perf_events_free(struct perf_events *events);
/* The event of this identifier, or NO_EVENT. */
uint32_t perf_events_find(const struct perf_events *events, uint64_t id);

/* ---- stream --------------------------------------------------------------------------------- */

struct perf_stream;
enum perf_stream_step { STREAM_RECORD, STREAM_END, STREAM_CUT, STREAM_FAILED };

/* The records of `events`' file, which is at their start. NULL: out of memory. */
struct perf_stream *perf_stream_new(struct input *input, const struct perf_events *events);
void perf_stream_free(struct perf_stream *stream);
/* The next record, header and all, its size checked; until the next call. STREAM_CUT: the file ends
 * in the middle of one, or too soon (*record is NULL then). */
enum perf_stream_step perf_stream_next(struct perf_stream *stream, const unsigned char **record,
				       struct error *error);
/* Where the last record is, or the compressed one that held it. */
uint64_t perf_stream_offset(const struct perf_stream *stream);

/* ---- sample --------------------------------------------------------------------------------- */

/* What waits for its turn: an access, or what changes the names of threads. */
enum perf_item_kind { ITEM_ACCESS, ITEM_NAME, ITEM_FORK };
enum { THREAD_NAME = 16 }; /* bytes, an ending NUL included, in the kernel */

struct perf_item {
	uint64_t time;
	union {
		struct {
			uint64_t address, ip;
		};
		char name[THREAD_NAME];
	};
	uint64_t weight;
	uint32_t tid;
	union {
		uint32_t pid, parent; /* thread that forked */
	};
	uint32_t cpu, latency;
	uint16_t event;
	uint8_t kind; /* enum perf_item_kind */
	uint8_t op, source, known;
};

/* Finds the places of an event's fields. */
void perf_sample_layout(struct perf_event *event);
/* Decodes a sample (body: behind the record's header) of this event. Returns -1 where it can be
 * used, else enum trace_drop. */
int perf_sample_decode(struct perf_events *events, uint32_t event, const unsigned char *body,
		       size_t size, struct perf_item *item);

/* ---- order ---------------------------------------------------------------------------------- */

enum { ORDER_MOST = 1 << 20 }; /* items that wait; with what sorts them, some 96 MiB */

/* Items come out by time, and as they came where that is the same. perf takes what each CPU has
 * recorded in turn: what was recorded before a round began is in the file when the round ends. */
struct perf_order {
	struct perf_item *items;
	uint32_t *free; /* a stack */
	struct perf_key {
		uint64_t time;
		uint32_t item;
	} * keys, *scratch; /* those that wait: [first, count); [first, ready) are to come out,
				[0, sorted) in order */
	uint32_t room, free_count, first, ready, sorted, count;
	uint64_t latest, flush; /* the latest time so far, and at the end of the last round */
};

/* A place for one more item, for perf_order_add. NULL: out of memory. */
struct perf_item *perf_order_place(struct perf_order *order);
/* All below, but for perf_order_take, only where nothing is ready. */
/* Puts there what perf_order_place gave. */
void perf_order_add(struct perf_order *order, uint64_t time);
/* Is there no more room? Then half of what waits is let out. */
void perf_order_spill(struct perf_order *order);
void perf_order_round(struct perf_order *order);
void perf_order_all(struct perf_order *order);
/* The next item that is ready, until the next call of any of these; NULL: none. */
const struct perf_item *perf_order_take(struct perf_order *order);
void perf_order_free(struct perf_order *order);

/* ---- pairs ---------------------------------------------------------------------------------- */

enum { PAIRS_WAIT = 256, PAIR_APART = 5000 /* ns */ };

/* A place watched by two events, for stores and for any access: a store gives a record of each, a
 * load one of the second. A record waits for its partner until its thread does something else,
 * within PAIR_APART; or until PAIRS_WAIT others wait behind it. */
struct perf_pairs {
	struct perf_pair {
		struct perf_item item;
		bool open;     /* may still meet its partner */
		bool passed;   /* its thread has a later record */
	} waiting[PAIRS_WAIT]; /* a ring */
	uint32_t first, count;
	uint64_t now;
};

/* True where the item is the other half of one that waits: to be dropped. */
bool perf_pairs_put(struct perf_pairs *pairs, const struct perf_events *events,
		    const struct perf_item *item);
/* The oldest whose fate is known, or any with `all`. False: none. */
bool perf_pairs_take(struct perf_pairs *pairs, bool all, struct perf_item *item);
static inline bool perf_pairs_full(const struct perf_pairs *pairs)
{
	return pairs->count == PAIRS_WAIT;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Names by thread, of at most TRACE_THREADS_MAX. */
struct perf_threads {
	struct perf_thread {
		uint32_t tid;
		bool taken;
		uint8_t length;
		char name[THREAD_NAME]; /* empty: not known */
	} * all;                        /* open-addressed, at most half full */
	uint32_t slots, count;
};

/* False: no more room, or no memory; the name is not kept. */
bool perf_threads_name(struct perf_threads *threads, uint32_t tid, const char *name);
/* A new thread has the name of the one that made it. */
bool perf_threads_fork(struct perf_threads *threads, uint32_t tid, uint32_t parent);
/* None where not known. Lasts until a thread is added. */
struct text perf_threads_find(const struct perf_threads *threads, uint32_t tid);
void perf_threads_free(struct perf_threads *threads);

#endif
