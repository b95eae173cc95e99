/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/charge.h"

static void watch(struct thread *self, struct charge_worker *worker)
{
	int64_t usage = LOAD(worker->counter, usage);

	if (usage > worker->highest)
		worker->highest = usage;
}

/* An operation is a charge, and a give-back once the thread holds enough, or cannot have more. */
void charge_repeat(struct thread *self, void *argument)
{
	struct charge_worker *worker = argument;
	struct page_counter *failed = NULL;

	for (;;) {
		bool charged;

		BEGIN(0);
		charged = page_counter_try_charge(self, worker->rules, worker->counter,
						  worker->batch, &failed);
		if (charged)
			worker->held += worker->batch;
		else
			worker->failures++;
		if (worker->watch)
			watch(self, worker);
		if (worker->held > 0 && (!charged || worker->held > worker->hold * worker->batch)) {
			page_counter_uncharge(self, worker->rules, worker->counter, worker->batch);
			worker->held -= worker->batch;
		}
		END(0);
	}
}
