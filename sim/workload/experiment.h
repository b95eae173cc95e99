/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An experiment file: a machine, a workload, variants of both, what is published about them, and what may
 * be fitted to what.
 *
 *   experiment: NAME
 *   about: one line
 *   machines: [NAME, ...]          files of configs/machines; each gives a table of its own
 *   layouts: {STRUCT: LAYOUT}      which layout stands for a struct
 *   workload: {model: NAME, ...}   settings of the model
 *   measure: {warmup: TIME, duration: TIME}
 *   variants: {NAME: {PATH: VALUE, ...} or [NAME, ...]}   overrides, or other variants' together
 *   baseline: NAME                 changes are against it
 *   published: {unit: TEXT, per_operation: X, per: THREADS, source: TEXT, values: {NAME: X}}
 *                                  value = operations a second * per_operation / per
 *   reference: {variant: NAME, fit: PATH, from: VALUE, to: VALUE}
 *                                  work that is not under study, from the variant without it
 *   calibrate: {variant: NAME, fit: PATH, from: VALUE, to: VALUE}
 *                                  the one parameter that may be fitted, on the baseline
 *   uncalibrated: {PATH: VALUE}    values beside the defaults for the column without calibration
 *   band: {PATH: [VALUE, ...]}     unknowns: each value by itself, fitted anew; the band is the least and
 *                                  the most of all
 *   scaling: {variants: [NAME, ...], path: PATH, values: [N, ...], cpus_each: N, unit: TEXT,
 *             per_operation: X}    throughput over a setting, all threads together
 *   ablations: {NAME: {PATH: VALUE}}   the whole experiment again with something left out
 */
#ifndef WORKLOAD_EXPERIMENT_H
#define WORKLOAD_EXPERIMENT_H

#include "workload/simulation.h"

struct variant {
	const char *name;
	const struct node *node;
	double published; /* NAN: nothing */
};

struct fit {
	const char *variant, *path;
	const struct node *node; /* that names the path */
	double from, to;
	bool is_time; /* values are ns */
};

struct experiment {
	struct document *document;
	const char *name, *about, *unit;
	const struct node *machines, *variants_node, *band, *scaling, *ablations, *uncalibrated;
	uint32_t variant_count, baseline;
	struct variant *variants;
	double per_operation, per;
	struct fit reference, calibrate; /* variant NULL: none */
};

/* Takes over the document. False with *error at the place of the mistake. */
bool experiment_read(struct experiment *experiment, struct document *document, struct error *error);
void experiment_free(struct experiment *experiment);

struct experiment_options {
	struct run_options run;
	int jobs;
	bool ideal_layout, ideal_atomics, quiet;
};

/* Runs everything on one machine: fits, predicts, bands, counterfactuals, scaling. The result is
 * one results file's JSON
 * ("hitm-results/1"), owned by the caller; NULL with *error set. Same inputs, same result, whatever
 * `jobs`. */
json_t *experiment_run(const struct experiment *experiment, const struct document *machine,
		       const struct experiment_options *options, struct error *error);

#endif
