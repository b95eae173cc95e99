/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the name of an event of perf says of its samples. */
#ifndef TRACE_PERF_SCRIPT_EVENT_H
#define TRACE_PERF_SCRIPT_EVENT_H

#include "trace/record.h"
#include <stdbool.h>

enum script_event_kind {
	EVENT_OTHER,      /* cycles, instructions, branches, ... */
	EVENT_MEMORY,     /* loads, stores or both, sampled with their address */
	EVENT_BREAKPOINT, /* mem:ADDRESS/LENGTH:rw */
	EVENT_FAULT,      /* page faults: the address that faulted */
	EVENT_ECHO        /* Arm SPE's other names for an access that it also calls `memory` */
};

struct script_event {
	enum script_event_kind kind;
	enum trace_op op;   /* TRACE_ACCESS: the name does not say */
	uint64_t name_hash; /* tells events apart */
	uint32_t ldlat;     /* cycles below which loads are not sampled; 0: not named */
	bool threshold;     /* there is such a limit, named or not */
	/* Of a breakpoint. */
	bool has_address; /* the name is one event's: perf 6.1 runs those of a list together */
	uint64_t address;
	uint16_t size;         /* bytes; 0: not said */
	bool reads_and_writes; /* the name says :rw */
};

struct script_event script_event_of(struct text name);

#endif
