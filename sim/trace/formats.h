/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats that can be read, each in a file of its own. */
#ifndef TRACE_FORMATS_H
#define TRACE_FORMATS_H

#include "trace/trace.h"

extern const struct trace_format trace_format_perf_script;
extern const struct trace_format trace_format_perf_data;
extern const struct trace_format trace_format_c2c;
extern const struct trace_format trace_format_lackey;
extern const struct trace_format trace_format_drmemtrace;
extern const struct trace_format trace_format_pinatrace;
extern const struct trace_format trace_format_din;
extern const struct trace_format trace_format_gem5;
extern const struct trace_format trace_format_trace;        /* hitm's own, as text */
extern const struct trace_format trace_format_trace_binary; /* ... and in binary */

/* Those that are recognised but not read: refused.c. */
enum trace_refused {
	REFUSED_PERF_DUMP,
	REFUSED_PERF_REPORT,
	REFUSED_PERF_TRACE,
	REFUSED_PERF_COLUMNS,
	REFUSED_PERF_JSON,
	REFUSED_CTF,
	REFUSED_FTRACE,
	REFUSED_DRMEMTRACE_BINARY,
	REFUSED_MEMGAZE,
	REFUSED_MITOS,
	REFUSED_IBS_CSV,
	REFUSED_COURSE,
	REFUSED_PAHOLE,
	REFUSED_FORMATS
};
extern const struct trace_format trace_refused[REFUSED_FORMATS];

#endif
