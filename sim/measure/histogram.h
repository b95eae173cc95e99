/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Latencies in log-linear buckets, as fio keeps them: 64 buckets a power of two, so within 1.6 %.
 */
#ifndef MEASURE_HISTOGRAM_H
#define MEASURE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BITS = 6, HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS };

struct histogram {
	uint64_t count, sum, max;
	uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* The smallest value that at least `share` (0 .. 1) of all values do not exceed, to the upper edge
 * of its bucket; 0 of none. */
uint64_t histogram_percentile(const struct histogram *histogram, double share);

double histogram_mean(const struct histogram *histogram);

#endif
