/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/loop.h"

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
		ACCESS_TOGETHER(together, step->count);
	for (uint32_t k = 0; k < step->count; k++)
		me->seen[me->group->operands[step->first + k].slot] = ACCESS_LOAD(together[k]);
}

static void write_one(struct thread *self, struct worker *me, const struct step *step,
		      uint32_t operand)
{
	const struct place *place = &me->places[operand];
	uint64_t *seen = &me->seen[me->group->operands[operand].slot], old;

	switch (step->operation) {
	case ADD:
		old = ACCESS_RMW(place, RMW_ADD, (uint64_t)step->by, 0);
		*seen = in_width(place, old + (uint64_t)step->by);
		break;
	case XCHG:
		ACCESS_RMW(place, RMW_XCHG, me->pass, 0);
		*seen = in_width(place, me->pass);
		break;
	case CMPXCHG:
		old = ACCESS_RMW(place, RMW_CMPXCHG, *seen + 1, *seen);
		*seen = old == *seen ? in_width(place, *seen + 1) : old;
		break;
	default:
		ACCESS_STORE(place, me->pass);
		*seen = in_width(place, me->pass);
	}
}

static void compute(struct thread *self, const struct step *step)
{
	double cycles = step->cycles;

	if (step->exponential)
		cycles = random_exponential(&self->random, cycles);
	else if (step->jitter > 0)
		cycles *= 1 + step->jitter * (2 * RANDOM() - 1);
	WORK(cycles);
}

static void step_do(struct thread *self, struct worker *me, const struct step *step)
{
	if (step->operation == WORK)
		compute(self, step);
	else if (step->operation == FENCE)
		FULL_FENCE();
	else if (step->operation == READ)
		read_together(self, me, step);
	else
		for (uint32_t k = 0; k < step->count; k++)
			write_one(self, me, step, step->first + k);
}

static void pass(struct thread *self, struct worker *me)
{
	const struct group *group = me->group;
	uint64_t begin = group->every || ACCESS_SIMULATED ? NOW() : 0; /* a real clock costs */
	bool touched = false;

	me->pass++;
	BEGIN(group->number);
	for (uint32_t k = 0; k < group->step_count; k++) {
		const struct step *step = &group->steps[k];

		if (step->chance < 1 && RANDOM() >= step->chance)
			continue;
		step_do(self, me, step);
		touched |= step->count > 0;
	}
	MOVE_ON(begin, touched);
	END(group->number);
	if (group->every)
		PACE(begin + group->every);
}

void loop_repeat(struct thread *self, void *argument)
{
	for (;;)
		pass(self, argument);
}
