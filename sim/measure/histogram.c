/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/histogram.h"
#include <math.h>

enum { LINEAR = 1 << HISTOGRAM_BITS };

static uint32_t bucket_of(uint64_t value)
{
	uint32_t shift;

	if (value < LINEAR)
		return (uint32_t)value;
	shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_BITS;
	return (shift + 1) * LINEAR + (uint32_t)((value >> shift) - LINEAR);
}

static uint64_t upper_edge(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < LINEAR)
		return bucket;
	shift = bucket / LINEAR - 1;
	return ((uint64_t)(bucket % LINEAR + LINEAR) << shift) + (1ull << shift) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram->bucket[bucket_of(value)]++;
	histogram->count++;
	histogram->sum += value;
	if (value > histogram->max)
		histogram->max = value;
}

uint64_t histogram_percentile(const struct histogram *histogram, double share)
{
	uint64_t wanted = (uint64_t)ceil(share * (double)histogram->count), seen = 0;

	for (uint32_t k = 0; k < HISTOGRAM_BUCKETS; k++) {
		seen += histogram->bucket[k];
		if (seen && seen >= wanted)
			return upper_edge(k) < histogram->max ? upper_edge(k) : histogram->max;
	}
	return 0;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}
