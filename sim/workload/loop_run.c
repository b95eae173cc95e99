/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of the loop workload do. */
#include "workload/loop.h"

static uint64_t in_width(const struct place *place, uint64_t value)
{
	return place->size == 8 ? value : value & ((1ull << (8 * place->size)) - 1);
}

static void read_together(struct thread *self, struct worker *me, const struct step *step)
{
	const struct place *together[GROUP_MAX];

	for (uint32_t k = 0; k < step->count; k++)
		together[k] = &me->places[step->first + k];
	if (step->count > 1)
		thread_together(self, together, step->count);
	for (uint32_t k = 0; k < step->count; k++)
		me->seen[me->group->operands[step->first + k].slot] =
			thread_load(self, together[k]);
}

static void write_one(struct thread *self, struct worker *me, const struct step *step,
		      uint32_t operand)
{
	const struct place *place = &me->places[operand];
	uint64_t *seen = &me->seen[me->group->operands[operand].slot], old;

	switch (step->operation) {
	case ADD:
		old = thread_rmw(self, place, RMW_ADD, (uint64_t)step->by, 0);
		*seen = in_width(place, old + (uint64_t)step->by);
		break;
	case XCHG:
		thread_rmw(self, place, RMW_XCHG, me->pass, 0);
		*seen = in_width(place, me->pass);
		break;
	case CMPXCHG:
		old = thread_rmw(self, place, RMW_CMPXCHG, *seen + 1, *seen);
		*seen = old == *seen ? in_width(place, *seen + 1) : old;
		break;
	default:
		thread_store(self, place, me->pass);
		*seen = in_width(place, me->pass);
	}
}

static void compute(struct thread *self, const struct step *step)
{
	double cycles = step->cycles;

	if (step->exponential)
		cycles = random_exponential(&self->random, cycles);
	else if (step->jitter > 0)
		cycles *= 1 + step->jitter * (2 * random_real(&self->random) - 1);
	thread_work(self, cycles);
}

static void step_do(struct thread *self, struct worker *me, const struct step *step)
{
	if (step->operation == WORK)
		compute(self, step);
	else if (step->operation == FENCE)
		thread_fence(self);
	else if (step->operation == READ)
		read_together(self, me, step);
	else
		for (uint32_t k = 0; k < step->count; k++)
			write_one(self, me, step, step->first + k);
}

/* One pass. A thread that touches no memory would never let others run, and one that does nothing
 * would never get on: so each pass takes a cycle or more, and waits its turn if nothing in it has.
 */
static void pass(struct thread *self, struct worker *me)
{
	const struct group *group = me->group;
	uint64_t begin = self->time;
	bool touched = false;

	me->pass++;
	thread_begin(self, group->number);
	for (uint32_t k = 0; k < group->step_count; k++) {
		const struct step *step = &group->steps[k];

		if (step->chance < 1 && random_real(&self->random) >= step->chance)
			continue;
		step_do(self, me, step);
		touched |= step->count > 0;
	}
	if (self->time == begin)
		thread_work(self, 1);
	if (!touched)
		thread_in_order(self);
	thread_end(self, group->number);
	if (self->time < begin + group->every)
		thread_work(self, (double)(begin + group->every - self->time) / self->smt);
}

/* A thread that nothing can disturb runs ahead without end, so it looks by itself whether it may
 * stop. */
void loop_repeat(struct thread *self, void *argument)
{
	while (!self->machine->stop)
		pass(self, argument);
}
