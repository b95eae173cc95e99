/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/formats.h"
#include <string.h>

const struct trace_format *const trace_formats[] = {
	&trace_format_perf_script,
	&trace_format_perf_data,
	&trace_format_c2c,
	NULL,
};

const struct trace_format *trace_format_find(const char *name)
{
	for (int k = 0; trace_formats[k]; k++)
		if (!strcmp(trace_formats[k]->name, name))
			return trace_formats[k];
	return NULL;
}
