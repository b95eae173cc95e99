/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mm/page_counter.c of a kernel tree, compiled against shim/ into
 * build/kernel/VERSION/page_counter.o with its functions called kernel_*: after
 * tests/kernel/fetch VERSION, `make` that object. Its atomics are the processor's, so any number
 * of threads may call them at once; no sanitizer sees into it.
 *
 * A struct kernel_counter is that tree's struct page_counter. Its size and the offsets of its
 * fields are those of the layout file of that version (tests/kernel/versions.tsv), which `hitm
 * layout verify` has held against the object. A new one is zeroed; `max` is set, and `parent`,
 * and `protection_support` where there is such a field. */
#ifndef TESTS_KERNEL_KERNEL_COUNTER_H
#define TESTS_KERNEL_KERNEL_COUNTER_H

#include <stdbool.h>

struct kernel_counter;

bool kernel_page_counter_try_charge(struct kernel_counter *counter, unsigned long n,
				    struct kernel_counter **failed);
void kernel_page_counter_charge(struct kernel_counter *counter, unsigned long n);
void kernel_page_counter_cancel(struct kernel_counter *counter, unsigned long n);
void kernel_page_counter_uncharge(struct kernel_counter *counter, unsigned long n);

/* 0, or -EBUSY where more is charged already. */
int kernel_page_counter_set_max(struct kernel_counter *counter, unsigned long n);
void kernel_page_counter_set_min(struct kernel_counter *counter, unsigned long n);
void kernel_page_counter_set_low(struct kernel_counter *counter, unsigned long n);

#endif
