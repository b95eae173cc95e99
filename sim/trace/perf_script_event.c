/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "trace/perf_script_event.h"
#include "trace/scan.h"
#include <ctype.h>
#include <string.h>

enum { NAME_MOST = 192 };

/* The first row that fits decides. */
static const struct {
	const char *part; /* of the name in small letters */
	const char *also; /* and this one, or NULL */
	bool whole;       /* `part` is all of it */
	enum script_event_kind kind;
	enum trace_op op;
	bool threshold;
} rows[] = {
	{ "memory", NULL, true, EVENT_MEMORY, TRACE_ACCESS, false },
	{ "l1d-access", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "l1d-miss", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "llc-access", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "llc-miss", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "tlb-access", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "tlb-miss", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "remote-access", NULL, true, EVENT_ECHO, TRACE_ACCESS, false },
	{ "mem-loads-aux", NULL, false, EVENT_OTHER, TRACE_ACCESS, false },
	{ "mem-loads", NULL, false, EVENT_MEMORY, TRACE_LOAD, true },
	{ "mem-stores", NULL, false, EVENT_MEMORY, TRACE_STORE, false },
	{ "mem-ldst", NULL, false, EVENT_MEMORY, TRACE_ACCESS, false },
	{ "load_latency", NULL, false, EVENT_MEMORY, TRACE_LOAD, true },
	{ "ldlat=", NULL, false, EVENT_MEMORY, TRACE_LOAD, true },
	{ "ibs_op", NULL, false, EVENT_MEMORY, TRACE_ACCESS, false },
	{ "arm_spe", NULL, false, EVENT_MEMORY, TRACE_ACCESS, false },
	{ "mem_", "load", false, EVENT_MEMORY, TRACE_LOAD, false },
	{ "mem_", "store", false, EVENT_MEMORY, TRACE_STORE, false },
	{ "mem_", NULL, false, EVENT_MEMORY, TRACE_ACCESS, false },
	{ "fault", NULL, false, EVENT_FAULT, TRACE_ACCESS, false },
};

/* FNV-1a. */
static uint64_t hash(struct text name)
{
	uint64_t sum = 14695981039346656037ULL;

	for (uint32_t k = 0; k < name.length; k++)
		sum = (sum ^ (unsigned char)name.at[k]) * 1099511628211ULL;
	return sum;
}

/* `:rw`, `:w`, `:r`, `:x`; anything else is a modifier such as `:u`. */
static void parse_access(struct scan *scan, struct script_event *event)
{
	static const struct {
		const char *word;
		enum trace_op op;
		bool execute;
	} accesses[] = { { ":rw", TRACE_ACCESS, false },
			 { ":w", TRACE_STORE, false },
			 { ":r", TRACE_LOAD, false },
			 { ":x", TRACE_ACCESS, true } };

	for (size_t k = 0; k < sizeof(accesses) / sizeof(*accesses); k++) {
		if (!scan_word(scan, accesses[k].word))
			continue;
		event->op = accesses[k].op;
		event->reads_and_writes = k == 0;
		if (accesses[k].execute)
			event->kind = EVENT_OTHER;
		return;
	}
}

/* `mem:0xADDRESS[/LENGTH][:ACCESS][:MODIFIERS]` */
static bool parse_breakpoint(struct text name, struct script_event *event)
{
	struct scan scan = scan_text(name);
	uint64_t length;

	if (!scan_word(&scan, "mem:") || !scan_hex(&scan, &event->address))
		return false;
	event->kind = EVENT_BREAKPOINT;
	event->has_address = !memchr(name.at, ',', name.length);
	if (scan_char(&scan, '/') && scan_decimal(&scan, &length) && length && length <= 4096)
		event->size = (uint16_t)length;
	parse_access(&scan, event);
	return true;
}

static uint32_t threshold_of(const char *name)
{
	static const char key[] = "ldlat=";
	const char *at = strstr(name, key);
	struct scan scan;
	uint64_t cycles;

	if (!at)
		return 0;
	scan = (struct scan){ at + strlen(key), name + strlen(name) };
	if (memchr(scan.at, 'x', 2) ? scan_hex(&scan, &cycles) : scan_decimal(&scan, &cycles))
		return cycles <= UINT32_MAX ? (uint32_t)cycles : 0;
	return 0;
}

struct script_event script_event_of(struct text name)
{
	struct script_event event = { .op = TRACE_ACCESS, .name_hash = hash(name) };
	char small[NAME_MOST] = "";
	uint32_t length = name.length < NAME_MOST ? name.length : NAME_MOST - 1;

	if (!name.length || parse_breakpoint(name, &event))
		return event;
	for (uint32_t k = 0; k < length; k++)
		small[k] = (char)tolower((unsigned char)name.at[k]);
	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		if (rows[k].whole ? strcmp(small, rows[k].part) != 0 : !strstr(small, rows[k].part))
			continue;
		if (rows[k].also && !strstr(small, rows[k].also))
			continue;
		event.kind = rows[k].kind;
		event.op = rows[k].op;
		event.threshold = rows[k].threshold;
		event.ldlat = event.threshold ? threshold_of(small) : 0;
		break;
	}
	return event;
}
