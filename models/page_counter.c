/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/page_counter.h"

static struct page_counter *parent_of(struct thread *self, struct page_counter *counter)
{
	return FOLLOW(struct page_counter, counter, parent);
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One of the two protections: the part of the usage that it covers, and its sum over the parent's
 * children. The exchange is a locked operation whether or not the value changes, and takes the line
 * with it. */
#define PROPAGATE_ALWAYS_ONE(limit, protected, children)                                          \
	do {                                                                                      \
		int64_t bound = LOAD(counter, limit);                                             \
		if (bound || LOAD(counter, protected)) {                                          \
			int64_t now = smaller(usage, bound), old = XCHG(counter, protected, now); \
			if (now != old)                                                           \
				ADD(parent, children, now - old);                                 \
		}                                                                                 \
	} while (0)

#define PROPAGATE_ON_CHANGE_ONE(limit, protected, children)          \
	do {                                                         \
		int64_t now = smaller(usage, LOAD(counter, limit));  \
		if (now != LOAD(counter, protected)) {               \
			int64_t old = XCHG(counter, protected, now); \
			if (now != old)                              \
				ADD(parent, children, now - old);    \
		}                                                    \
	} while (0)

static void propagate_always(struct thread *self, struct page_counter *counter, int64_t usage)
{
	struct page_counter *parent = parent_of(self, counter);

	if (!parent)
		return;
	PROPAGATE_ALWAYS_ONE(min, min_usage, children_min_usage);
	PROPAGATE_ALWAYS_ONE(low, low_usage, children_low_usage);
	if (counter->has_protection)
		TOGETHER(PLACE(counter, watermark), PLACE(counter, parent));
}

static void propagate_on_change(struct thread *self, struct page_counter *counter, int64_t usage)
{
	struct page_counter *parent = parent_of(self, counter);

	if (!parent)
		return;
	PROPAGATE_ON_CHANGE_ONE(min, min_usage, children_min_usage);
	PROPAGATE_ON_CHANGE_ONE(low, low_usage, children_low_usage);
}

static void propagate(struct thread *self, const struct page_counter_rules *rules,
		      struct page_counter *counter, int64_t usage)
{
	switch (rules->propagate) {
	case PROPAGATE_ALWAYS:
		propagate_always(self, counter, usage);
		break;
	case PROPAGATE_ON_CHANGE:
		propagate_on_change(self, counter, usage);
		break;
	case PROPAGATE_NEVER:
		break;
	}
}

/* From v6.12 on only counters that have protection (memory on the unified hierarchy) look at it. */
static bool is_protected(struct thread *self, struct page_counter *counter)
{
	return !HAS(counter, protection_support) || LOAD(counter, protection_support);
}

/* Racy plain stores, as in the kernel: in steady state one read and no write. */
static void raise_watermark(struct thread *self, struct page_counter *counter, int64_t usage)
{
	if (HAS(counter, local_watermark)) {
		if (usage <= LOAD(counter, local_watermark))
			return;
		STORE(counter, local_watermark, usage);
	}
	if (usage > LOAD(counter, watermark))
		STORE(counter, watermark, usage);
}

/* What a core has in flight at one level after the locked addition: all reads up to the next
 * exchange. */
static void read_ahead(struct thread *self, const struct page_counter_rules *rules,
		       struct page_counter *counter)
{
	if (rules->propagate == PROPAGATE_NEVER)
		TOGETHER(PLACE(counter, max), PLACE(counter, watermark), PLACE(counter, parent));
	else if (rules->propagate == PROPAGATE_ALWAYS && counter->has_protection)
		TOGETHER(PLACE(counter, max), PLACE(counter, parent), PLACE(counter, min));
	else
		TOGETHER(PLACE(counter, max), PLACE(counter, parent), PLACE(counter, min),
			 PLACE(counter, min_usage), PLACE(counter, low), PLACE(counter, low_usage),
			 PLACE(counter, watermark), PLACE(counter, parent));
}

static void count_failure(struct thread *self, struct page_counter *counter, bool track)
{
	if (track)
		STORE(counter, failcnt, LOAD(counter, failcnt) + 1);
}

bool page_counter_try_charge(struct thread *self, const struct page_counter_rules *rules,
			     struct page_counter *counter, int64_t n, struct page_counter **failed)
{
	bool protection = is_protected(self, counter);
	bool track = !HAS(counter, track_failcnt) || LOAD(counter, track_failcnt);

	/* Add, then check: that order is what makes the test safe against a limit lowered
	 * meanwhile. */
	for (struct page_counter *c = counter; c; c = parent_of(self, c)) {
		int64_t usage = ADD_RETURN(c, usage, n);

		read_ahead(self, rules, c);
		if (usage > LOAD(c, max)) {
			ADD(c, usage, -n);
			count_failure(self, c, track);
			*failed = c;
			for (struct page_counter *done = counter; done != c;
			     done = parent_of(self, done))
				page_counter_cancel(self, rules, done, n);
			return false;
		}
		if (protection)
			propagate(self, rules, c, usage);
		raise_watermark(self, c, usage);
	}
	return true;
}

void page_counter_charge(struct thread *self, const struct page_counter_rules *rules,
			 struct page_counter *counter, int64_t n)
{
	bool protection = is_protected(self, counter);

	for (struct page_counter *c = counter; c; c = parent_of(self, c)) {
		int64_t usage = ADD_RETURN(c, usage, n);

		read_ahead(self, rules, c);
		if (protection)
			propagate(self, rules, c, usage);
		raise_watermark(self, c, usage);
	}
}

void page_counter_cancel(struct thread *self, const struct page_counter_rules *rules,
			 struct page_counter *counter, int64_t n)
{
	bool protection = is_protected(self, counter);
	int64_t usage = ADD_RETURN(counter, usage, -n);

	if (usage < 0) {
		STORE(counter, usage, 0);
		usage = 0;
	}
	read_ahead(self, rules, counter);
	if (protection)
		propagate(self, rules, counter, usage);
}

void page_counter_uncharge(struct thread *self, const struct page_counter_rules *rules,
			   struct page_counter *counter, int64_t n)
{
	for (struct page_counter *c = counter; c; c = parent_of(self, c))
		page_counter_cancel(self, rules, c, n);
}

bool page_counter_set_max(struct thread *self, struct page_counter *counter, int64_t n)
{
	for (;;) {
		int64_t usage = LOAD(counter, usage), old;

		if (usage > n)
			return false;
		old = XCHG(counter, max, n);
		if (LOAD(counter, usage) <= usage || n >= old)
			return true;
		STORE(counter, max, old);
	}
}

/* Whether or not the counter has protection: only one that has is ever given any. */
static void propagate_up(struct thread *self, const struct page_counter_rules *rules,
			 struct page_counter *counter)
{
	for (struct page_counter *c = counter; c; c = parent_of(self, c))
		propagate(self, rules, c, LOAD(c, usage));
}

void page_counter_set_min(struct thread *self, const struct page_counter_rules *rules,
			  struct page_counter *counter, int64_t n)
{
	STORE(counter, min, n);
	propagate_up(self, rules, counter);
}

void page_counter_set_low(struct thread *self, const struct page_counter_rules *rules,
			  struct page_counter *counter, int64_t n)
{
	STORE(counter, low, n);
	propagate_up(self, rules, counter);
}
