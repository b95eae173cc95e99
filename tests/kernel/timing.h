/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same charges by the kernel's own counter and by the model of it, on real threads. What runs the
 * one may not see what builds the other (native/source.h). */
#ifndef TESTS_KERNEL_TIMING_H
#define TESTS_KERNEL_TIMING_H

#include "layout/layout.h"
#include "native/native.h"

enum { TIMING_LEVELS = 2, TIMING_HOLD = 4, TIMING_PROTECT = 2 };

/* Counters as the layout says, one leaf under TIMING_LEVELS others; charges of one page. False with
 * *error set where they cannot be run, or do not add up at the end. */
bool time_kernel(const struct layout *layout, uint32_t threads, const struct native_plan *plan,
		 struct native_result *result, struct error *error);

#endif
