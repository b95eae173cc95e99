/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of `perf script` text, taken apart by its shape alone.
 *
 * perf prints its columns in one order whatever -F asks for, quotes nothing and leaves out what an event
 * does not have:
 *
 *   comm pid/tid [cpu] time: period event: addr sym (dso) data_src |words weight... ip sym (dso)
 *
 * so that a column is known by its neighbours. */
#ifndef TRACE_PERF_SCRIPT_LINE_H
#define TRACE_PERF_SCRIPT_LINE_H

#include "trace/scan.h"

enum script_shape {
	SCRIPT_EMPTY,
	SCRIPT_COMMENT, /* # ... */
	SCRIPT_SAMPLE,
	SCRIPT_TASK,     /* PERF_RECORD_..., and `lost` of one that says so */
	SCRIPT_FRAME,    /* of a call chain: `ip` */
	SCRIPT_DUMP,     /* details of -D */
	SCRIPT_MESSAGE,  /* of perf's, on its way to a terminal */
	SCRIPT_INDENTED, /* after a sample: of its source or chain */
	SCRIPT_OTHER
};

/* Columns that a line has, beside those of enum trace_known. */
enum script_column {
	COLUMN_DATA_SRC = 1,
	COLUMN_PERIOD = 2,
	COLUMN_ADDRESS = 4,
	COLUMN_IP = 8,
	COLUMN_WEIGHT = 16,
	COLUMN_SECOND_SYMBOL = 32, /* one for the address and one for the ip */
};

struct script_line {
	enum script_shape shape;
	unsigned columns; /* of enum script_column */
	unsigned known;   /* of KNOWN_TIME, CPU, PID, TID */
	uint32_t pid, tid, cpu;
	uint64_t time; /* ns */
	uint64_t period, address, data_src, weight, ip, lost;
	struct text comm, event, symbol;
	struct text rest; /* what follows the event, for tracepoints */
};

/* Fills *line; texts in it are pieces of `text`. */
void script_line_parse(struct text text, struct script_line *line);

#endif
