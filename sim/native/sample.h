/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What repetitions of one measurement showed. */
#ifndef NATIVE_SAMPLE_H
#define NATIVE_SAMPLE_H

#include <stdint.h>

struct sample {
	double median, low, high; /* low and high: the tenth and the ninetieth of a hundred */
	uint32_t count;           /* 0: nothing was measured, and the rest is NaN */
};

/* Sorts the values. Of an even number of them the median is the mean of the middle two; low and high
 * are among the values, and are the least and the greatest where there are fewer than ten. */
struct sample sample_of(double *values, uint32_t count);

/* high - low as a part of the median. */
double sample_spread(const struct sample *sample);

#endif
