/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm's own form of a trace, in binary: one zstd frame of what follows. Numbers are of 7 bits a byte,
 * the lowest first, with the top bit set where more follow; signed ones are folded (0 -1 1 -2 ...).
 *
 *     "hitmtrc" 1  kind  objects  { name layout address }       a text is its length and its bytes
 *     0  records                                                the end, and how many there were
 *     1  slot known op size source ip field symbol              a place, the next one or in place of another
 *     2  slot known pid tid cpu cpus                            a thread, likewise
 *     3 + place  thread  time address weight latency            a record
 *
 * Of a record, each number is the difference to the one before: the time to that of the record before,
 * weight and latency to the place's, and the address to the last of this place and thread; what is not
 * known is left out. A tight loop so repeats a few bytes, which zstd shortens. */
#ifndef TRACE_TRACE_BINARY_H
#define TRACE_TRACE_BINARY_H

#include "trace/writer.h"

enum { TAG_END, TAG_PLACE, TAG_THREAD, TAG_RECORD };

enum {
	SLOTS = 4096,
	NUMBER_MOST = 10, /* bytes */
	ENTRY_MOST = 8 * NUMBER_MOST + 2 * TRACE_TEXT_MOST,
	KNOWN_OF_PLACE = KNOWN_TIME | KNOWN_SIZE | KNOWN_IP | KNOWN_LATENCY | KNOWN_ADDRESS,
	KNOWN_OF_THREAD = KNOWN_CPU | KNOWN_PID | KNOWN_TID
};

static const unsigned char trace_binary_magic[] = { 'h', 'i', 't', 'm', 't', 'r', 'c', 1 };

struct place {
	uint64_t ip;
	uint16_t size;
	uint8_t op, source, known;
	struct text field, symbol; /* owned */
};

struct thread {
	uint32_t pid, tid, cpu, cpus;
	uint8_t known;
};

/* What the next record is told against; both sides keep it alike. */
struct history {
	uint64_t time;
	uint64_t weights[SLOTS], latencies[SLOTS]; /* by place */
	uint64_t addresses[SLOTS];                 /* by place and thread */
};

static inline uint64_t *last_address(struct history *history, uint32_t place, uint32_t thread)
{
	return &history->addresses[(place + 61 * thread) % SLOTS];
}

/* Replaces a text of a place by a copy. False without memory. */
bool trace_binary_keep(struct text *kept, struct text text);

#endif
