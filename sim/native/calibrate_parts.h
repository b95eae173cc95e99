/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that calibrate. */
#ifndef NATIVE_CALIBRATE_PARTS_H
#define NATIVE_CALIBRATE_PARTS_H

#include "native/bout.h"
#include "native/calibrate.h"

/* How long it may take and how often things are repeated. */
struct effort {
	uint32_t batches; /* of a figure of several threads */
	uint32_t walks;   /* batches of a walk */
	uint32_t rounds;  /* over all pairs, at most */
	uint32_t tries;   /* of what one thread measures */
	uint64_t dram_most;
	double matrix_s, duels_s, contests_s, bout_most_s, all_s;
};

struct calibrating {
	struct calibration *c;
	const struct calibrate_options *options;
	const struct effort *effort;
	struct bench bench;
};

/* Adds a figure. NULL where nothing was measured, or there is no room. */
struct calibrate_figure *calibrate_add(struct calibrating *all, const char *name, uint32_t threads,
				       const char *unit, struct sample value, const char *format,
				       ...) __attribute__((format(printf, 6, 7)));
/* Says what is measured next. */
void calibrate_tell(struct calibrating *all, const char *what);
/* Records what was not measured. */
void calibrate_lacks(struct calibrating *all, const char *what, const char *why);

/* What one thread measures. */
void calibrate_alone(struct calibrating *all);
/* The hand-offs of all pairs of cores; false with *error set where there is no memory. */
bool calibrate_matrix(struct calibrating *all, struct error *error);
/* What two threads measure, at each level. */
void calibrate_duels(struct calibrating *all);
/* What many threads measure. */
void calibrate_contests(struct calibrating *all);

/* Where the matrix has a pair of cores. */
static inline size_t calibrate_cell(const struct calibration *c, uint32_t a, uint32_t b)
{
	return (size_t)a * c->host->cores + b;
}

/* How long the token takes between two CPUs, which the matrix knows; 0 between siblings. */
double calibrate_token(const struct calibration *c, uint32_t first, uint32_t second);

#endif
