/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile tells how often, and of a load whether its line was there; not in which order. What is made of
 * it: accesses that came first at their line are drawn by their weights, and after each, those loads
 * that the capture saw hit this line, as often as the profile has them. On the layout of the capture
 * they hit again; on another they may miss. */
#include "workload/replay_parts.h"
#include <stdlib.h>

enum { FOLLOWERS_MOST = 64 }; /* after one access */

/* A step, and where it goes. */
struct item {
	uint64_t line;
	uint32_t what, amount;
	bool follows;
};

static int by_line(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->follows != b->follows)
		return a->follows - b->follows;
	return a->what < b->what ? -1 : a->what > b->what;
}

static bool draws_new(struct build *build, struct replay_draws *draws, uint32_t most,
		      struct error *error)
{
	*draws = (struct replay_draws){ 0 };
	draws->sums = build_memory(build, most * sizeof(*draws->sums), error);
	draws->what = draws->sums ? build_memory(build, most * sizeof(*draws->what), error) : NULL;
	return draws->what != NULL;
}

static void draws_add(struct replay_draws *draws, const struct item *item)
{
	draws->sums[draws->count] =
		(draws->count ? draws->sums[draws->count - 1] : 0) + item->amount;
	draws->what[draws->count++] = item->what;
}

static uint64_t draws_sum(const struct replay_draws *draws)
{
	return draws->count ? draws->sums[draws->count - 1] : 0;
}

/* The items of one line: those that come first, then those that follow. Where none comes first all do. */
static bool add_line(struct build *build, struct replay_worker *worker, const struct item *items,
		     uint32_t count, struct error *error)
{
	struct replay_followers *followers = &worker->followers[worker->follower_count];
	uint64_t before = draws_sum(&worker->first);
	uint32_t leading = 0;
	double each_time;

	while (leading < count && !items[leading].follows)
		leading++;
	leading = leading ? leading : count;
	for (uint32_t k = 0; k < leading; k++)
		draws_add(&worker->first, &items[k]);
	if (leading == count)
		return true;
	if (!draws_new(build, &followers->draws, count - leading, error))
		return false;
	for (uint32_t k = leading; k < count; k++)
		draws_add(&followers->draws, &items[k]);
	each_time =
		(double)draws_sum(&followers->draws) / (double)(draws_sum(&worker->first) - before);
	followers->line = items->line;
	followers->each_time = each_time < FOLLOWERS_MOST ? each_time : FOLLOWERS_MOST;
	worker->follower_count++;
	return true;
}

static struct item *sorted_items(const struct replay *replay, const struct replay_lane *lane,
				 struct error *error)
{
	struct item *items = malloc(lane->count * sizeof(*items));

	if (!items) {
		error_set(error, "out of memory");
		return NULL;
	}
	for (uint32_t k = 0; k < lane->count; k++) {
		uint32_t what = lane->steps[k].what;

		items[k] = (struct item){ replay_captured_line(
						  replay->places[step_place(what)].address),
					  what, lane->steps[k].amount, step_follows(what) };
	}
	qsort(items, lane->count, sizeof(*items), by_line);
	return items;
}

bool replay_profile(struct build *build, struct replay_worker *worker, struct error *error)
{
	const struct replay_lane *lane = worker->lane;
	struct item *items = sorted_items(worker->plan->replay, lane, error);
	uint32_t lines = 0;
	bool done;

	for (uint32_t k = 0; items && k < lane->count; k++)
		lines += !k || items[k].line != items[k - 1].line;
	done = items && draws_new(build, &worker->first, lane->count, error);
	if (done)
		worker->followers = build_memory(build, lines * sizeof(*worker->followers), error);
	done = done && worker->followers;
	for (uint32_t k = 0, end; done && k < lane->count; k = end) {
		for (end = k; end < lane->count && items[end].line == items[k].line; end++)
			;
		done = add_line(build, worker, &items[k], end - k, error);
	}
	free(items);
	if (done && lane->last > lane->first)
		worker->interval = (double)(lane->last - lane->first) *
				   worker->plan->cycles_per_ns / (double)draws_sum(&worker->first);
	return done;
}
