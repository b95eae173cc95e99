/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that charge a page counter and give back what they charged, over and over: what is left of
 * a memory-cgroup benchmark when everything but the counters is taken away. */
#ifndef MODELS_CHARGE_H
#define MODELS_CHARGE_H

#include "models/page_counter.h"

struct charge_worker {
	const struct page_counter_rules *rules;
	struct page_counter *counter; /* the leaf */
	int64_t batch;                /* pages a charge */
	int64_t hold;                 /* charges that the thread keeps before it gives one back */
	bool watch;                   /* keeps `highest` */
	int64_t held;                 /* pages charged and not given back, by this thread */
	int64_t failures;
	int64_t highest; /* the most that this thread has seen in use at the leaf */
};

/* A thread's body; its argument is a struct charge_worker. Does not return. */
void charge_repeat(struct thread *self, void *worker);

#endif
