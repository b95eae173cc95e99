/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's page counter: hierarchical usage of pages with limits and protection.
 *
 * Written from the order of accesses in mm/page_counter.c of Linux v4.0, v6.0-rc1, v6.1, v6.12 and
 * v6.18 (read there; no text is copied). Which version runs is a matter of the layout (fields that
 * it has) and of `struct page_counter_rules`. */
#ifndef MODELS_PAGE_COUNTER_H
#define MODELS_PAGE_COUNTER_H

#include "models/access.h"

struct page_counter {
	struct place usage, min, low, high, max;
	struct place emin, min_usage, children_min_usage;
	struct place elow, low_usage, children_low_usage;
	struct place watermark, local_watermark, failcnt, parent;
	struct place protection_support, track_failcnt;
	/* What a branch predictor has learned about this counter: it has min or low, so that an
	 * exchange, which no load may pass, comes before most of the reads. */
	bool has_protection;
};

/* When a changed usage updates the protected part of it that the parent adds up. */
enum propagate {
	PROPAGATE_ALWAYS,    /* up to v6.0: stores the protected part whether or not it changed */
	PROPAGATE_ON_CHANGE, /* v6.1, "mm: page_counter: remove unneeded atomic ops for low/min",
				August 2022 */
	PROPAGATE_NEVER,     /* v4.0 */
};

struct page_counter_rules {
	enum propagate propagate;
};

/* Charges n pages to the counter and all above it. False, with nothing charged, where a limit would
 * be passed; the first counter whose limit it is goes to *failed. */
bool page_counter_try_charge(struct thread *self, const struct page_counter_rules *rules,
			     struct page_counter *counter, int64_t n, struct page_counter **failed);
/* Charges without regard to limits. */
void page_counter_charge(struct thread *self, const struct page_counter_rules *rules,
			 struct page_counter *counter, int64_t n);
/* Gives n pages back at one level. */
void page_counter_cancel(struct thread *self, const struct page_counter_rules *rules,
			 struct page_counter *counter, int64_t n);
/* Gives n pages back at the counter and all above it. */
void page_counter_uncharge(struct thread *self, const struct page_counter_rules *rules,
			   struct page_counter *counter, int64_t n);

/* Sets the limit. False, with nothing changed, where more is charged already: the count is looked
 * at again after the limit is in place, as a charge looks at the limit after it has counted. */
bool page_counter_set_max(struct thread *self, struct page_counter *counter, int64_t n);
/* Set a protection, and pass on at all levels what it changes. Calls for one counter must not run
 * at once. */
void page_counter_set_min(struct thread *self, const struct page_counter_rules *rules,
			  struct page_counter *counter, int64_t n);
void page_counter_set_low(struct thread *self, const struct page_counter_rules *rules,
			  struct page_counter *counter, int64_t n);

#endif
