/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run tells: throughput and latency per operation, where every cycle went, which field cost
 * which.
 *
 * A thread is measured from the end of its first operation after the warm-up to the end of its
 * first operation after that plus the duration; the machine stops when all windows are closed. So
 * windows hold whole operations, and the cycles of a window are exactly those that its thread
 * spent. Or, of bodies that end, each thread is measured from its start to its end. */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include "measure/histogram.h"
#include "measure/sharing.h"

/* In the order in which they are printed. The first four are the threads' own account, the others
 * come from stalls. */
enum part {
	PART_WORK,
	PART_HIT,
	PART_COLD,
	PART_CAPACITY,
	PART_TRUE,
	PART_FALSE,
	PART_ATOMIC,
	PART_QUEUE,
	PART_IDLE,
	PART_COUNT
};

/* Names as in results files: "work", "true_sharing", ... */
const char *part_name(enum part part);

struct field_total {
	struct field_counts counts;
	uint64_t misses, stall;
	uint64_t hitm[2][2]; /* loads, and locked RMWs, that found it modified: [locked][across] */
	uint32_t writers;    /* threads that wrote it */
};

struct window {
	bool open, closed;
	uint64_t begin, end;
	uint64_t operations[OPERATION_MAX];
	uint64_t cycles[CYCLES_COUNT]; /* at the begin; then what the window holds */
	uint64_t wait;
	struct field_counts *counts; /* by field */
};

struct timeline;

/* Hears of each access of a thread that is being measured, when it is done, and of what a core finds
 * modified elsewhere. */
struct listener {
	void *context;
	void (*accessed)(void *context, struct thread *thread, const struct place *place,
			 enum access_kind kind, uint64_t begin);
	void (*hitm)(void *context, uint32_t core, bool across);
};

struct measure {
	struct machine *machine;
	uint64_t warmup, duration; /* cycles */
	bool to_end;               /* instead of `duration`: until bodies end */
	uint32_t field_count;
	struct window *windows; /* by thread */
	uint32_t open, closed;
	uint64_t steady_since; /* when the last window opened: lines are counted from here */
	uint64_t ended;
	struct field_counts *scratch;
	struct field_total *fields;
	struct histogram latency[OPERATION_MAX];
	uint64_t operations[OPERATION_MAX];
	double rate[OPERATION_MAX]; /* a second, all threads */
	uint64_t parts[PART_COUNT], total;
	struct sharing *sharing;
	struct timeline *timeline;
	struct listener listener;
};

/* Puts itself into the machine, before it runs; windows in cycles. Frees nothing of the machine. */
struct measure *measure_new(struct machine *machine, uint32_t field_count, uint64_t warmup,
			    uint64_t duration);
void measure_free(struct measure *measure);

/* Before the run: measures each thread from its start, and, with `to_end`, to its end. A body's last act
 * is then to wait until all it did is visible and its turn has come: thread_fence, thread_in_order. */
void measure_from_start(struct measure *measure, bool to_end);

/* Before the run. */
void measure_listen(struct measure *measure, const struct listener *listener);

/* After the run: adds up. False with *error set where the parts do not sum to the total, which
 * would be a defect of the simulator, or where a thread ended no operation. */
bool measure_finish(struct measure *measure, struct error *error);

#endif
