/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A finished simulation as JSON: the one form of a result, from which the text and CSV reports are
 * made. */
#ifndef MEASURE_RESULTS_H
#define MEASURE_RESULTS_H

#include "measure/measure.h"
#include "workload/memory.h"
#include <jansson.h>

enum { RESULTS_PAIRS = 200, RESULTS_LINES = 40 };

/* "latency_ns", "cycles", "pairs", "lines", "fields" and "c2c" of one variant; `operations` are the
 * names of the workload's. The caller owns the reference. NULL without memory. */
json_t *results_variant(const struct measure *measure, const struct memory *memory,
			const char *const *operations);

/* The layouts in use, and who reads and writes each field, for the drawing: an array. */
json_t *results_layouts(const struct measure *measure, const struct memory *memory,
			const char *variant);

/* The timeline of the line that was explained, as an array; NULL where none was. */
json_t *results_timeline(const struct measure *measure, const struct memory *memory);

/* The most that any one line was busy, as a share of the time measured: throughput over it is the
 * bound 1/S. */
double results_busiest(const struct measure *measure);

#endif
