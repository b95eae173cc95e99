/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/formats.h"
#include <string.h>

const struct trace_format *const trace_formats[] = {
	&trace_format_perf_script,
	&trace_format_perf_data,
	&trace_format_c2c,
	&trace_format_lackey,
	&trace_format_drmemtrace,
	&trace_format_pinatrace,
	&trace_format_din,
	&trace_format_gem5,
	&trace_format_trace,
	&trace_format_trace_binary,
	&trace_refused[REFUSED_PERF_DUMP],
	&trace_refused[REFUSED_PERF_REPORT],
	&trace_refused[REFUSED_PERF_TRACE],
	&trace_refused[REFUSED_PERF_COLUMNS],
	&trace_refused[REFUSED_PERF_JSON],
	&trace_refused[REFUSED_CTF],
	&trace_refused[REFUSED_FTRACE],
	&trace_refused[REFUSED_DRMEMTRACE_BINARY],
	&trace_refused[REFUSED_MEMGAZE],
	&trace_refused[REFUSED_MITOS],
	&trace_refused[REFUSED_IBS_CSV],
	&trace_refused[REFUSED_COURSE],
	&trace_refused[REFUSED_PAHOLE],
	NULL,
};

const struct trace_format *trace_format_find(const char *name)
{
	for (int k = 0; trace_formats[k]; k++)
		if (!strcmp(trace_formats[k]->name, name))
			return trace_formats[k];
	return NULL;
}
