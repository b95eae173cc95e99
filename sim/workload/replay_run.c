/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/thread.h"
#include "workload/replay_parts.h"

/* ---- one access ----------------------------------------------------------------------------- */

static void access_piece(struct thread *self, const struct place *piece, enum trace_op op)
{
	switch (op) {
	case TRACE_LOAD:
		thread_load(self, piece);
		return;
	case TRACE_STORE:
		thread_store(self, piece, self->time);
		return;
	case TRACE_ATOMIC:
		thread_rmw(self, piece, RMW_ADD, 1, 0);
		return;
	case TRACE_MODIFY:
	default:
		thread_store(self, piece, thread_load(self, piece) + 1);
		return;
	}
}

static void replay_access(struct thread *self, const struct replay_plan *plan, uint32_t what)
{
	const struct replay_pieces *pieces = &plan->of_place[step_place(what)];
	enum trace_op op = step_op(what);

	if (op == TRACE_ACCESS)
		op = (enum trace_op)plan->unknown;
	thread_begin(self, 0);
	for (uint32_t k = 0; k < pieces->count; k++)
		access_piece(self, &plan->pieces[pieces->first + k], op);
	thread_end(self, 0);
}

/* ---- a complete capture --------------------------------------------------------------------- */

/* No access begins earlier than its predecessor ended, plus the recorded gap. */
static void replay_steps(struct thread *self, const struct replay_worker *worker)
{
	const struct replay_plan *plan = worker->plan;
	const struct replay_lane *lane = worker->lane;

	for (uint32_t k = 0; k < lane->count; k++) {
		uint64_t gap = (uint64_t)(lane->steps[k].amount * plan->cycles_per_ns);

		if (gap)
			thread_pace(self, self->time + gap);
		replay_access(self, plan, lane->steps[k].what);
	}
}

/* One step of all at a time, in the order in which they were recorded, each visible before the next. Whoever
 * has done the step before another's signals it: once for each time that the turn comes to it. */
static void replay_in_order(struct thread *self, const struct replay_worker *worker)
{
	const struct replay_plan *plan = worker->plan;
	const uint16_t *order = plan->replay->order;
	uint16_t own = (uint16_t)(worker->lane - plan->replay->lanes);
	uint64_t turn = 0;

	for (uint32_t k = 0; k < worker->lane->count; k++, turn++) {
		while (order[turn] != own)
			turn++;
		if (turn && order[turn - 1] != own)
			thread_await(self);
		replay_access(self, plan, worker->lane->steps[k].what);
		if (turn + 1 == plan->replay->step_count || order[turn + 1] == own)
			continue;
		thread_fence(self);
		thread_signal(self, plan->threads[order[turn + 1]]);
	}
}

/* ---- a profile ------------------------------------------------------------------------------ */

static uint32_t draw(const struct replay_draws *draws, struct random *random)
{
	uint32_t low = 0, high = draws->count - 1;
	uint64_t at = random_below(random, draws->sums[high]);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (draws->sums[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return draws->what[low];
}

static const struct replay_followers *followers_of(const struct replay_worker *worker,
						   uint64_t line)
{
	uint32_t low = 0, high = worker->follower_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (worker->followers[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < worker->follower_count && worker->followers[low].line == line
		       ? &worker->followers[low]
		       : NULL;
}

static void replay_followers(struct thread *self, const struct replay_worker *worker, uint32_t what,
			     struct random *random)
{
	const struct replay_place *place = &worker->plan->replay->places[step_place(what)];
	const struct replay_followers *followers =
		followers_of(worker, replay_captured_line(place->address));
	uint32_t count;

	if (!followers)
		return;
	count = (uint32_t)(followers->each_time + random_real(random));
	while (count--)
		replay_access(self, worker->plan, draw(&followers->draws, random));
}

static void replay_mix(struct thread *self, const struct replay_worker *worker)
{
	struct random random =
		random_stream(worker->plan->seed, "replay.mix",
			      (uint64_t)(worker->lane - worker->plan->replay->lanes));

	for (;;) {
		uint64_t begin = self->time;
		uint32_t what = draw(&worker->first, &random);

		thread_pace(self, begin + (uint64_t)random_exponential(&random, worker->interval));
		replay_access(self, worker->plan, what);
		replay_followers(self, worker, what, &random);
		thread_move_on(self, begin, true);
	}
}

void replay_body(struct thread *self, void *argument)
{
	const struct replay_worker *worker = argument;

	if (worker->plan->profile) {
		replay_mix(self, worker);
		return;
	}
	if (worker->plan->in_order)
		replay_in_order(self, worker);
	else
		replay_steps(self, worker);
	/* measure_whole wants it. */
	thread_fence(self);
	thread_in_order(self);
}
