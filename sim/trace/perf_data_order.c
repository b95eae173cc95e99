/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/perf_data.h"
#include <stdlib.h>

/* False with what there was where memory is short. */
#define RESIZE(array, room)                                               \
	({                                                                \
		void *larger = realloc(array, (room) * sizeof(*(array))); \
		if (larger)                                               \
			(array) = larger;                                 \
		larger != NULL;                                           \
	})

/* Called where no item is free, hence with all of them waiting. */
static bool grow(struct perf_order *order)
{
	uint32_t room = order->room ? 2 * order->room : 64;

	if (!RESIZE(order->items, room) || !RESIZE(order->free, room) ||
	    !RESIZE(order->keys, room) || !RESIZE(order->scratch, room))
		return false;
	while (order->room < room)
		order->free[order->free_count++] = order->room++;
	return true;
}

struct perf_item *perf_order_place(struct perf_order *order)
{
	if (!order->free_count && !grow(order))
		return NULL;
	return &order->items[order->free[order->free_count - 1]];
}

void perf_order_add(struct perf_order *order, uint64_t time)
{
	if (time > order->latest)
		order->latest = time;
	order->keys[order->count++] = (struct perf_key){ time, order->free[--order->free_count] };
}

/* ---- sorting -------------------------------------------------------------------------------- */

/* Is it in order but for what differs in no key? Returns the bits that differ; 0: in order. */
static uint64_t out_of_order(const struct perf_key *keys, uint32_t count)
{
	uint64_t bits = 0;
	bool found = false;

	for (uint32_t k = 1; k < count; k++) {
		found |= keys[k].time < keys[k - 1].time;
		bits |= keys[k].time ^ keys[0].time;
	}
	return found ? bits : 0;
}

/* By 8 bits of the time from `shift` on; those that have the same stay as they were. */
static void sort_by_digit(const struct perf_key *from, struct perf_key *to, uint32_t count,
			  unsigned shift)
{
	uint32_t places[256] = { 0 }, place = 0;

	for (uint32_t k = 0; k < count; k++)
		places[from[k].time >> shift & 0xff]++;
	for (uint32_t digit = 0; digit < 256; digit++) {
		uint32_t next = place + places[digit];

		places[digit] = place;
		place = next;
	}
	for (uint32_t k = 0; k < count; k++)
		to[places[from[k].time >> shift & 0xff]++] = from[k];
}

enum { FEW = 32 }; /* keys, for which counting digits would take longer */

static void insert_each(struct perf_key *keys, uint32_t count)
{
	for (uint32_t k = 1; k < count; k++) {
		struct perf_key key = keys[k];
		uint32_t place = k;

		for (; place && keys[place - 1].time > key.time; place--)
			keys[place] = keys[place - 1];
		keys[place] = key;
	}
}

/* Digit by digit, the lowest first. Of a round, whose times lie close together, few differ; comparing
 * would be slower, as which of two is earlier is chance. */
static void sort_keys(struct perf_key *keys, struct perf_key *scratch, uint32_t count)
{
	uint64_t differ = count > FEW ? out_of_order(keys, count) : 0;
	struct perf_key *from = keys, *to = scratch;

	if (count <= FEW)
		insert_each(keys, count);
	for (unsigned shift = 0; shift < 64 && differ >> shift; shift += 8) {
		struct perf_key *sorted = to;

		if (!(differ >> shift & 0xff))
			continue;
		sort_by_digit(from, to, count, shift);
		to = from;
		from = sorted;
	}
	if (from == scratch)
		memcpy(keys, scratch, count * sizeof(*keys));
}

static void merge(const struct perf_key *left, const struct perf_key *right,
		  const struct perf_key *end, struct perf_key *out)
{
	const struct perf_key *middle = right;

	while (left < middle && right < end)
		*out++ = right->time < left->time ? *right++ : *left++;
	memcpy(out, left, (size_t)((const char *)middle - (const char *)left));
	out += middle - left;
	memcpy(out, right, (size_t)((const char *)end - (const char *)right));
}

/* What was left waiting is in order. */
static void sort(struct perf_order *order)
{
	struct perf_key *keys = order->keys, *scratch = order->scratch;
	uint32_t sorted = order->sorted, count = order->count;

	order->sorted = count;
	if (sorted == count)
		return;
	sort_keys(keys + sorted, scratch, count - sorted);
	if (!sorted || keys[sorted - 1].time <= keys[sorted].time)
		return;
	merge(keys, keys + sorted, keys + count, scratch);
	order->keys = scratch;
	order->scratch = keys;
}

/* ---- letting out ---------------------------------------------------------------------------- */

void perf_order_spill(struct perf_order *order)
{
	if (order->free_count || order->room < ORDER_MOST)
		return;
	sort(order);
	order->ready = order->count / 2;
}

void perf_order_round(struct perf_order *order)
{
	sort(order);
	while (order->ready < order->count && order->keys[order->ready].time <= order->flush)
		order->ready++;
	order->flush = order->latest;
}

void perf_order_all(struct perf_order *order)
{
	sort(order);
	order->ready = order->count;
}

enum { AHEAD = 8 }; /* items lie anywhere: they are asked for before their turn */

/* Keys start at 0 whenever nothing is ready, so that there are never more than items. */
static void forget_taken(struct perf_order *order)
{
	if (!order->first)
		return;
	order->count -= order->first;
	memmove(order->keys, order->keys + order->first, order->count * sizeof(*order->keys));
	order->sorted -= order->first;
	order->first = order->ready = 0;
}

const struct perf_item *perf_order_take(struct perf_order *order)
{
	uint32_t item;

	if (order->first == order->ready) {
		forget_taken(order);
		return NULL;
	}
	item = order->keys[order->first++].item;
	if (order->first + AHEAD < order->ready)
		__builtin_prefetch(&order->items[order->keys[order->first + AHEAD].item]);
	order->free[order->free_count++] = item;
	return &order->items[item];
}

void perf_order_free(struct perf_order *order)
{
	free(order->items);
	free(order->free);
	free(order->keys);
	free(order->scratch);
}
