/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses that breakpoints watch, and by which events, as far as the first part of a text
 * tells.
 *
 * An event :rw reports loads and stores alike. Where an event :w watches the same address, a store (or
 * atomic) is reported twice and a load once, but perf gives both events one name. The header lists them;
 * without it, records in twos betray them. */
#ifndef TRACE_PERF_SCRIPT_WATCH_H
#define TRACE_PERF_SCRIPT_WATCH_H

#include "trace/perf_script_event.h"
#include "trace/trace.h"

enum {
	WATCH_PLACES = 16, /* x86 has 4 breakpoints, Arm at most 16 */
	WATCH_RUNS = 64
};

/* ns within which two events report one access; a trap takes longer. */
#define WATCH_TWIN UINT64_C(5000)

struct watch_place {
	uint64_t address;
	uint16_t size;      /* 0: not said */
	uint32_t in_header; /* events listed there */
	bool writes;        /* an event :w watches it */
	bool reads_writes;  /* an event :rw does */
	bool met_twins;
};

struct watch {
	struct watch_place places[WATCH_PLACES];
	uint32_t count;
	bool listed; /* by the header: nothing is guessed */
	bool twins;  /* guessed: two events watch every place */
};

/* Records of one thread, instruction and address that follow each other closely. */
struct watch_runs {
	struct {
		uint64_t address, ip, time;
		uint32_t tid, length;
	} all[WATCH_RUNS];
	uint32_t twos, longer;
};

/* Takes what a line of the header says of breakpoints. */
void watch_learn_header(struct watch *watch, struct text line);
/* Takes a breakpoint's record, in the order of the text. */
void watch_learn(struct watch *watch, struct watch_runs *runs, const struct script_event *event,
		 const struct trace_record *record);
/* Ends the learning. A run of two shows two events; longer ones show an instruction that is repeated
 * faster than runs can tell, and then nothing is guessed. */
void watch_decide(struct watch *watch, struct watch_runs *runs);

/* NULL: not met while learning. */
const struct watch_place *watch_place(const struct watch *watch, uint64_t address);
/* Whether both events watch the address. */
bool watch_has_twins(const struct watch *watch, uint64_t address);
void watch_note(const struct watch *watch, struct trace *trace);

#endif
