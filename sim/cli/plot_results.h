/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results files (schema hitm-results/1) as the pictures need them: typed, checked, everything else
 * left out. */
#ifndef CLI_PLOT_RESULTS_H
#define CLI_PLOT_RESULTS_H

#include "config/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plot_role { PLOT_PREDICTION, PLOT_CALIBRATION, PLOT_REFERENCE };
/* Why a thread waited: the kinds of sharing come first. */
enum plot_sharing {
	PLOT_TRUE_SHARING,
	PLOT_FALSE_SHARING,
	PLOT_SHARING_KINDS,
	PLOT_COLD = PLOT_SHARING_KINDS,
	PLOT_CAPACITY
};

/* A number that the file leaves out, or gives as null, is NAN; a text is "". */
struct plot_pair {
	const char *victim, *culprit;
	unsigned sharing; /* enum plot_sharing */
	double cycles;
	double share_pct; /* of all CPU time of the variant */
};

struct plot_cycles {
	double total;
};

struct plot_variant {
	const char *name;
	unsigned role;           /* enum plot_role */
	double value, published; /* in the unit of the results */
	double change_pct, published_change_pct, error_points;
	double band_pct[2]; /* lowest and highest change */
	struct plot_cycles cycles;
	struct plot_pair *pairs;
	size_t pair_count;
};

struct plot_point {
	double cpus, value, linear_bound, saturation_bound;
};

struct plot_curve {
	const char *name;
	struct plot_point *points;
	size_t point_count;
};

struct plot_field {
	const char *name;
	uint64_t offset, size;           /* bytes; inside the struct */
	uint64_t reads, writes, writers; /* writers: how many CPUs wrote it */
};

struct plot_layout {
	const char *variant, *structure, *layout;
	uint64_t line, size; /* bytes; line is a power of two in 8..4096 */
	struct plot_field *fields;
	size_t field_count;
};

struct plot_results {
	const char *file; /* as the caller named it */
	const char *schema, *experiment, *machine, *unit, *scaling_unit;
	struct plot_variant *variants;
	size_t variant_count;
	struct plot_curve *curves;
	size_t curve_count;
	struct plot_layout *layouts;
	size_t layout_count;
	struct json_t *root;       /* owns the texts */
	struct plot_block *blocks; /* own the lists */
};

/* Reads a results file of at most 8 MiB. False with *error set, one line `file: place: what was
 * expected`, where it cannot be read, is no JSON, or holds a wrong type, a missing key or a number
 * out of range; then nothing is left to free. `file` must outlive the results. */
bool plot_results_read(const char *file, struct plot_results *results, struct error *error);
/* The same from memory; `file` stands for the file in messages. */
bool plot_results_parse(const char *file, const char *text, size_t length,
			struct plot_results *results, struct error *error);
void plot_results_free(struct plot_results *results);

#endif
