/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The word in which perf says what a memory access was and where its data came from, decoded from
 * its bits: union perf_mem_data_src of include/uapi/linux/perf_event.h, whose layout only ever grew. */
#ifndef TRACE_DATA_SRC_H
#define TRACE_DATA_SRC_H

#include "trace/record.h"
#include <stdbool.h>

struct data_src {
	bool load, store, prefetch, execute; /* none: not known */
	bool locked;
	enum trace_source source;
};

struct data_src data_src_decode(uint64_t bits);

#endif
