/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of `perf c2c report --stdio`, of any perf since 4.10 and the patches before it.
 *
 * A report is sums: the Pareto table has a row for each offset within a line and each instruction (and
 * each process or thread, as -c asked) with its shares of the line's totals. A row becomes up to four
 * records, each of which stands for `weight` samples: loads that hit a line modified in another socket,
 * and in another core of this socket (with -d peer: that came from a peer), stores, and the other loads,
 * which are what is left of the row's total. What a row says of atomics is nothing: they are in it twice,
 * as load and as store.
 *
 * Read = used + dropped counts these records. Dropped are rows of which no record comes, once: EMPTY where
 * all their shares round to nothing, NO_ADDRESS where no line heads them, TRUNCATED where the file ends
 * within. Lines that fit nothing are no records: SKIP_UNPARSED.
 *
 * Shares have two decimals, so that of a total of less than 10,000 the counts come out exact; of more,
 * within 0.005 % of the total. */
#ifndef TRACE_C2C_H
#define TRACE_C2C_H

#include "trace/trace.h"

enum {
	C2C_LINES_MAX = 4096, /* cache lines kept of a report */
	C2C_ROWS_MAX = 65536  /* rows of one line */
};

/* What is counted of a cache line, in samples. */
enum c2c_count {
	C2C_RECORDS,
	C2C_LOADS,
	C2C_STORES,
	C2C_HITM_LOCAL,
	C2C_HITM_REMOTE,
	C2C_PEER_LOCAL,
	C2C_PEER_REMOTE,
	C2C_STORE_L1_HIT,
	C2C_STORE_L1_MISS,
	C2C_STORE_NO_LEVEL,
	C2C_LOAD_FILL_BUFFER,
	C2C_LOAD_L1,
	C2C_LOAD_L2,
	C2C_LOAD_LLC, /* without those that hit a modified line */
	C2C_LOAD_REMOTE,
	C2C_DRAM_LOCAL,
	C2C_DRAM_REMOTE,
	C2C_COUNTS
};

struct c2c_line {
	uint64_t address;
	uint32_t counts[C2C_COUNTS]; /* 0 also where the report has no such column */
	uint32_t share;              /* of all lines' HITM, or peer loads, in 1/10,000 */
	uint32_t rows;               /* of the Pareto table; 0: not in it */
	bool listed;                 /* in the line table; else only what heads its rows is known */
};

/* The cache lines met so far, in the order of the report: all of them once trace_next has said STEP_END.
 * Returns how many *lines points to; 0 for a trace of another format. They last until the next
 * trace_next, or until trace_close once all is read. */
uint32_t c2c_lines(const struct trace *trace, const struct c2c_line **lines);

#endif
