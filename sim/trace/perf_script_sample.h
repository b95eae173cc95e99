/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sample of perf's means: an access to data, or why it is none that can be used. */
#ifndef TRACE_PERF_SCRIPT_SAMPLE_H
#define TRACE_PERF_SCRIPT_SAMPLE_H

#include "trace/perf_script_event.h"
#include "trace/perf_script_line.h"
#include "trace/summary.h"

/* Intel samples a locked instruction by the load event and by the store event, each on its own. Where a
 * load event yields some, those of another event tell of the same instructions. */
struct script_locked {
	bool loads;
	uint64_t event; /* hash of the name of the load event that yields them */
};

void script_locked_learn(struct script_locked *locked, const struct script_line *line,
			 const struct script_event *event);

/* Fills *record with what the line says; its texts are the line's. Returns DROPS where it is to be used,
 * else why not. */
enum trace_drop script_sample(const struct script_line *line, const struct script_event *event,
			      const struct script_locked *locked, struct trace_record *record);

/* The line has a tracepoint's text in place of columns. */
bool script_is_tracepoint(const struct script_line *line, const struct script_event *event);

#endif
