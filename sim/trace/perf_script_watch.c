/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "trace/perf_script_watch.h"
#include "trace/scan.h"
#include <string.h>

const struct watch_place *watch_place(const struct watch *watch, uint64_t address)
{
	for (uint32_t k = 0; k < watch->count; k++)
		if (watch->places[k].address == address)
			return &watch->places[k];
	return NULL;
}

/* NULL: there are more than any processor can watch. */
static struct watch_place *place_for(struct watch *watch, uint64_t address)
{
	const struct watch_place *place = watch_place(watch, address);

	if (place)
		return &watch->places[place - watch->places];
	if (watch->count == WATCH_PLACES)
		return NULL;
	watch->places[watch->count].address = address;
	return &watch->places[watch->count++];
}

/* ---- the header ----------------------------------------------------------------------------- */

/* The next breakpoint's name in the line; `scan` goes on behind it. */
static bool take_breakpoint(struct scan *scan, struct script_event *event)
{
	static const char key[] = "mem:";
	const char *at;

	while ((at = memmem(scan->at, (size_t)(scan->end - scan->at), key, strlen(key)))) {
		struct text name = { at, 0 };

		for (scan->at = at; !scan_ended(scan) && !strchr(" ,\t'\"", *scan->at); scan->at++)
			name.length++;
		*event = script_event_of(name);
		if (event->kind == EVENT_BREAKPOINT)
			return true;
	}
	return false;
}

/* `# event : name = mem:0x..., , id = ...`; `# cmdline : perf record -e mem:0x.../8:rw:u ...`. Only
 * the command line has access and length in every version. */
void watch_learn_header(struct watch *watch, struct text line)
{
	struct scan scan = scan_text(line);
	bool command = line.length > 9 && !memcmp(line.at, "# cmdline", 9);
	bool list = line.length > 7 && !memcmp(line.at, "# event", 7);
	struct script_event event;

	while ((command || list) && take_breakpoint(&scan, &event)) {
		struct watch_place *place = place_for(watch, event.address);

		if (!place)
			return;
		watch->listed = true;
		place->in_header += list;
		if (!command)
			continue;
		place->writes |= event.op == TRACE_STORE;
		place->reads_writes |= event.op == TRACE_ACCESS;
		place->size = event.size;
	}
}

/* ---- records -------------------------------------------------------------------------------- */

static void end_run(struct watch *watch, struct watch_runs *runs, uint32_t k)
{
	struct watch_place *place;

	runs->twos += runs->all[k].length == 2;
	runs->longer += runs->all[k].length > 2;
	place = runs->all[k].length == 2 ? place_for(watch, runs->all[k].address) : NULL;
	if (place)
		place->met_twins = true;
	runs->all[k].length = 0;
}

static void learn_run(struct watch *watch, struct watch_runs *runs,
		      const struct trace_record *record)
{
	uint64_t key = (record->address ^ record->ip << 7) + record->tid;
	uint32_t k = (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 58); /* Fibonacci hashing */

	if (runs->all[k].length &&
	    (runs->all[k].address != record->address || runs->all[k].ip != record->ip ||
	     runs->all[k].tid != record->tid || record->time - runs->all[k].time > WATCH_TWIN))
		end_run(watch, runs, k);
	runs->all[k].address = record->address;
	runs->all[k].ip = record->ip;
	runs->all[k].tid = record->tid;
	runs->all[k].time = record->time;
	runs->all[k].length++;
}

void watch_learn(struct watch *watch, struct watch_runs *runs, const struct script_event *event,
		 const struct trace_record *record)
{
	struct watch_place *place = place_for(watch, record->address);

	if (place) {
		place->writes |= event->op == TRACE_STORE;
		place->reads_writes |= event->reads_and_writes;
	}
	if (record->known & KNOWN_TIME && record->known & KNOWN_TID)
		learn_run(watch, runs, record);
}

void watch_decide(struct watch *watch, struct watch_runs *runs)
{
	for (uint32_t k = 0; k < WATCH_RUNS; k++)
		end_run(watch, runs, k);
	watch->twins = !watch->listed && runs->twos > runs->longer;
}

/* ---- what was learnt ------------------------------------------------------------------------ */

static bool place_has_twins(const struct watch_place *place)
{
	if (place->writes || place->reads_writes)
		return place->writes && place->reads_writes;
	return place->in_header > 1;
}

bool watch_has_twins(const struct watch *watch, uint64_t address)
{
	const struct watch_place *place = watch_place(watch, address);

	return (place && place_has_twins(place)) || watch->twins;
}

void watch_note(const struct watch *watch, struct trace *trace)
{
	bool twins = watch->twins;

	for (uint32_t k = 0; k < watch->count; k++) {
		const struct watch_place *place = &watch->places[k];

		twins |= place_has_twins(place);
		if (watch->twins && !place->met_twins)
			trace_note(trace,
				   "at 0x%llx no access came as two records: if no event :w "
				   "watched it, its stores were taken for loads",
				   (unsigned long long)place->address);
	}
	if (twins)
		trace_note(trace, "two records of a breakpoint within 5 us were taken as one store "
				  "(or atomic), single ones as a load");
	if (watch->count && trace->summary.ops[TRACE_ACCESS])
		trace_note(trace, "whether a breakpoint's record is a load or a store is not in "
				  "this text: perf.data has it");
}
