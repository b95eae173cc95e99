/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/perf_data.h"

static struct perf_pair *nth(struct perf_pairs *pairs, uint32_t k)
{
	return &pairs->waiting[(pairs->first + k) % PAIRS_WAIT];
}

static bool apart(uint64_t earlier, uint64_t later)
{
	return later > earlier && later - earlier > PAIR_APART;
}

static bool are_halves(const struct perf_events *events, const struct perf_pair *waiting,
		       const struct perf_item *item)
{
	return waiting->open && waiting->item.event == events->all[item->event].partner &&
	       waiting->item.ip == item->ip && waiting->item.address == item->address;
}

/* The other half of an item is the last record of its thread, however long ago (a thread may lose its
 * CPU between the two); or, where one instruction meets several watched places, near in time. */
static bool join(struct perf_pairs *pairs, const struct perf_events *events,
		 const struct perf_item *item)
{
	bool last = true;

	for (uint32_t k = pairs->count; k--;) {
		struct perf_pair *waiting = nth(pairs, k);

		if (waiting->item.kind != ITEM_ACCESS || waiting->item.tid != item->tid)
			continue;
		if (!last && apart(waiting->item.time, item->time))
			return false;
		if (are_halves(events, waiting, item)) {
			waiting->open = false;
			waiting->item.op = TRACE_STORE;
			return true;
		}
		waiting->passed = true;
		last = false;
	}
	return false;
}

bool perf_pairs_put(struct perf_pairs *pairs, const struct perf_events *events,
		    const struct perf_item *item)
{
	bool open = item->kind == ITEM_ACCESS && events->all[item->event].partner != NO_EVENT;

	if (item->time > pairs->now)
		pairs->now = item->time;
	if (item->kind == ITEM_ACCESS && join(pairs, events, item))
		return true;
	*nth(pairs, pairs->count++) = (struct perf_pair){ .item = *item, .open = open };
	return false;
}

bool perf_pairs_take(struct perf_pairs *pairs, bool all, struct perf_item *item)
{
	const struct perf_pair *oldest = nth(pairs, 0);

	if (!pairs->count)
		return false;
	if (!all && oldest->open && !(oldest->passed && apart(oldest->item.time, pairs->now)))
		return false;
	*item = oldest->item;
	pairs->first = (pairs->first + 1) % PAIRS_WAIT;
	pairs->count--;
	return true;
}
