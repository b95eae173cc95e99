/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/sample.h"
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct sample sample_of(double *values, uint32_t count)
{
	uint32_t tenth = count / 10;

	if (!count)
		return (struct sample){ NAN, NAN, NAN, 0 };
	qsort(values, count, sizeof(*values), by_value);
	return (struct sample){ .median = (values[(count - 1) / 2] + values[count / 2]) / 2,
				.low = values[tenth],
				.high = values[count - 1 - tenth],
				.count = count };
}

double sample_spread(const struct sample *sample)
{
	return (sample->high - sample->low) / sample->median;
}
