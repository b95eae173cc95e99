/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs an experiment on one machine: the fits it may make, its variants, and the bands around them.
 *
 * Each value of an unknown of the band makes a *member*: a whole experiment of its own, fitted anew
 * on the same two published points. Member 0 is the experiment as it stands. Every simulation
 * depends on its own inputs alone, so jobs may run in any order. */
#include "measure/results.h"
#include "workload/experiment.h"
#include "workload/variant.h"
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 64, FIT_ROUNDS = 2, FIT_STEPS = 14, POINTS_MAX = 256 };

static const double FIT_TOLERANCE = 0.002;

struct member {
	struct setting setting;
	double fitted[2]; /* values of the reference's and the calibrated parameter */
	double value[VARIANTS_MAX],
		plain[VARIANTS_MAX]; /* with all fits, and without the calibration */
	struct error error;
};

/* A line is explained in the baseline alone: other variants may not have it. */
static struct run_options without_explanation(const struct run_options *options)
{
	struct run_options run = *options;

	run.explain = NULL;
	return run;
}

static double to_value(const struct experiment *experiment, double rate)
{
	return rate * experiment->per_operation / experiment->per;
}

/* ---- single runs ---------------------------------------------------------------------------- */

static bool apply_named(const struct experiment *experiment, uint32_t variant,
			const struct setting *from, struct setting *to, struct error *error)
{
	if (!setting_copy(to, from, error))
		return false;
	if (variant_apply(experiment->variants_node, experiment->variants[variant].node, to, error))
		return true;
	setting_free(to);
	return false;
}

static bool run_value(const struct experiment *experiment, uint32_t variant,
		      const struct setting *from, const struct run_options *options, double *value,
		      struct error *error)
{
	struct setting setting;
	struct simulation simulation;
	bool done;

	if (!apply_named(experiment, variant, from, &setting, error))
		return false;
	done = simulation_run(&simulation, &setting, options, error);
	if (done) {
		*value = to_value(experiment, simulation.rate);
		simulation_free(&simulation);
	}
	setting_free(&setting);
	return done;
}

/* ---- fits ----------------------------------------------------------------------------------- */

static bool set_fitted(struct setting *setting, const struct fit *fit, double value,
		       struct error *error)
{
	struct node node = *fit->node; /* a mistake in the path is one of the experiment's */
	char text[40];

	snprintf(text, sizeof(text), fit->is_time ? "%.2f ns" : "%.5f", value);
	node.text = text;
	return setting_override(setting, fit->path, &node, error);
}

static uint32_t variant_named(const struct experiment *experiment, const char *name)
{
	uint32_t k = 0;

	while (strcmp(experiment->variants[k].name, name))
		k++;
	return k;
}

/* Finds the parameter that gives the published value. Throughput falls as the parameter grows,
 * smoothly but for the noise of a finite run, so the interval is halved (in logarithms), and ends
 * where the value is close enough. The noise may lead it past that place: then the closest that it
 * came counts. */
static bool fit_one(const struct experiment *experiment, const struct fit *fit,
		    struct member *member, const struct run_options *options, double *fitted,
		    struct error *error)
{
	uint32_t variant = variant_named(experiment, fit->variant);
	double target = experiment->variants[variant].published, low = fit->from, high = fit->to,
	       start = *fitted, value = 0, miss, least = INFINITY;

	for (int step = 0; step < FIT_STEPS; step++) {
		double guess = step == 0 && start > 0 ? start : sqrt(low * high);

		if (!set_fitted(&member->setting, fit, guess, error) ||
		    !run_value(experiment, variant, &member->setting, options, &value, error))
			return false;
		miss = fabs(value / target - 1);
		*fitted = miss < least ? guess : *fitted;
		least = fmin(miss, least);
		if (miss < FIT_TOLERANCE)
			return true;
		if (value > target)
			low = guess;
		else
			high = guess;
	}
	return set_fitted(&member->setting, fit, *fitted, error);
}

/* The two fits disturb each other a little, so they take turns. */
static bool fit_member(const struct experiment *experiment, struct member *member,
		       const struct run_options *options, struct error *error)
{
	for (int round = 0; round < FIT_ROUNDS; round++) {
		if (experiment->reference.variant &&
		    !fit_one(experiment, &experiment->reference, member, options,
			     &member->fitted[0], error))
			return false;
		if (!experiment->calibrate.variant)
			return true;
		if (!fit_one(experiment, &experiment->calibrate, member, options,
			     &member->fitted[1], error))
			return false;
	}
	return true;
}

static bool run_all(const struct experiment *experiment, const struct setting *setting,
		    const struct run_options *options, double *values, struct error *error)
{
	for (uint32_t k = 0; k < experiment->variant_count; k++)
		if (!run_value(experiment, k, setting, options, &values[k], error))
			return false;
	return true;
}

/* The experiment without the calibration: the reference is fitted with the calibrated parameter at
 * its default. */
static bool run_plain(const struct experiment *experiment, const struct member *member,
		      const struct run_options *options, double *values, struct error *error)
{
	struct member plain = { .fitted = { 0 } };
	bool done = setting_copy(&plain.setting, &member->setting, error);

	if (done && experiment->uncalibrated)
		done = overrides_apply(experiment->uncalibrated, &plain.setting, error);
	done = done && (!experiment->reference.variant ||
			fit_one(experiment, &experiment->reference, &plain, options,
				&plain.fitted[0], error));
	done = done && run_all(experiment, &plain.setting, options, values, error);
	setting_free(&plain.setting);
	return done;
}

/* ---- members -------------------------------------------------------------------------------- */

/* Member 0 and one for each value of each unknown, moved by itself. */
static uint32_t member_count(const struct experiment *experiment)
{
	size_t count = 1;

	for (const struct node *axis = experiment->band ? experiment->band->first : NULL; axis;
	     axis = axis->next)
		count += node_count(axis);
	return count > MEMBERS_MAX ? MEMBERS_MAX + 1 : (uint32_t)count;
}

static bool move_unknown(const struct experiment *experiment, uint32_t k, struct setting *setting,
			 struct error *error)
{
	const struct node *axis = experiment->band->first, *value = axis->first;

	while (k--)
		if (!(value = value->next)) {
			axis = axis->next;
			value = axis->first;
		}
	return setting_override(setting, axis->key, value, error);
}

static bool make_member(const struct experiment *experiment, const struct document *machine,
			uint32_t k, const struct run_options *options, struct member *member)
{
	struct setting from = { experiment->document, (struct document *)(uintptr_t)machine };
	struct error *error = &member->error;

	if (!setting_copy(&member->setting, &from, error) ||
	    (k && !move_unknown(experiment, k - 1, &member->setting, error)))
		return false;
	if (k == 0 && experiment->calibrate.variant &&
	    !run_plain(experiment, member, options, member->plain, error))
		return false;
	return fit_member(experiment, member, options, error) &&
	       run_all(experiment, &member->setting, options, member->value, error);
}

static bool make_members(const struct experiment *experiment, const struct document *machine,
			 const struct experiment_options *options, struct member *members,
			 uint32_t count, struct error *error)
{
	const struct run_options run = without_explanation(&options->run);

#pragma omp parallel for schedule(dynamic) num_threads(options->jobs)
	for (uint32_t k = 0; k < count; k++)
		make_member(experiment, machine, k, &run, &members[k]);
	for (uint32_t k = 0; k < count; k++)
		if (members[k].error.text[0])
			return error_set(error, "%s", members[k].error.text);
	return true;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static double change(double value, double base)
{
	return base > 0 ? 100 * (value / base - 1) : NAN;
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static const char *role_of(const struct experiment *experiment, uint32_t k)
{
	const char *name = experiment->variants[k].name;

	if (experiment->reference.variant && !strcmp(name, experiment->reference.variant))
		return "reference";
	if (experiment->calibrate.variant && !strcmp(name, experiment->calibrate.variant))
		return "calibration";
	return "prediction";
}

static json_t *band_of(const struct experiment *experiment, const struct member *members,
		       uint32_t count, uint32_t k)
{
	double low = INFINITY, high = -INFINITY;

	for (uint32_t m = 0; m < count; m++) {
		double percent =
			change(members[m].value[k], members[m].value[experiment->baseline]);

		low = fmin(low, percent);
		high = fmax(high, percent);
	}
	return count > 1 ? json_pack("[f, f]", low, high) : json_null();
}

static void add_table(const struct experiment *experiment, const struct member *members,
		      uint32_t count, uint32_t k, json_t *variant)
{
	const struct variant *about = &experiment->variants[k];
	uint32_t base = experiment->baseline;
	double percent = change(members[0].value[k], members[0].value[base]);
	double published = isnan(about->published)
				   ? NAN
				   : change(about->published, experiment->variants[base].published);

	json_object_set_new(variant, "name", json_string(about->name));
	json_object_set_new(variant, "role", json_string(role_of(experiment, k)));
	json_object_set_new(variant, "value", json_real(members[0].value[k]));
	json_object_set_new(variant, "published", real_or_null(about->published));
	json_object_set_new(variant, "change_pct", real_or_null(percent));
	json_object_set_new(variant, "band_pct", band_of(experiment, members, count, k));
	json_object_set_new(variant, "published_change_pct", real_or_null(published));
	json_object_set_new(variant, "error_points", real_or_null(percent - published));
	json_object_set_new(variant, "uncalibrated_change_pct",
			    experiment->calibrate.variant
				    ? json_real(change(members[0].plain[k], members[0].plain[base]))
				    : json_null());
}

/* Only structs that the experiment chooses layouts for are worth a drawing. */
static json_t *drawn_layouts(const struct experiment *experiment,
			     const struct simulation *simulation, const char *variant)
{
	const struct node *chosen = node_get(document_root(experiment->document), "layouts");
	json_t *all = results_layouts(simulation->measure, &simulation->build->memory, variant),
	       *layout;
	json_t *drawn = json_array();
	size_t k;

	json_array_foreach(
		all, k,
		layout) if (node_get(chosen, json_string_value(json_object_get(layout, "struct"))))
		json_array_append(drawn, layout);
	json_decref(all);
	return drawn;
}

/* The variant once more, in full. */
static json_t *detail(const struct experiment *experiment, const struct member *member, uint32_t k,
		      const struct experiment_options *options, json_t **layouts,
		      struct error *error)
{
	struct setting setting;
	struct simulation simulation;
	struct run_options run;
	json_t *json;

	if (!apply_named(experiment, k, &member->setting, &setting, error))
		return NULL;
	run = k == experiment->baseline ? options->run : without_explanation(&options->run);
	if (!simulation_run(&simulation, &setting, &run, error)) {
		setting_free(&setting);
		return NULL;
	}
	json = results_variant(simulation.measure, &simulation.build->memory,
			       simulation.build->operations);
	if (!json)
		error_set(error, "out of memory");
	json_object_set_new(json, "ops_per_s", json_real(simulation.rate));
	json_t *timeline = results_timeline(simulation.measure, &simulation.build->memory);

	if (timeline)
		json_object_set_new(json, "timeline", timeline);
	*layouts = drawn_layouts(experiment, &simulation, experiment->variants[k].name);
	simulation_free(&simulation);
	setting_free(&setting);
	return json;
}

static bool add_ideal(const struct experiment *experiment, const struct member *member, uint32_t k,
		      const struct experiment_options *options, json_t *variant,
		      struct error *error)
{
	const bool wanted[2] = { options->ideal_layout, options->ideal_atomics };
	static const char *const names[2] = { "layout", "atomics" };
	json_t *ideal = json_object();

	for (int which = 0; which < 2; which++) {
		struct run_options run = without_explanation(&options->run);
		double value;

		run.ideal_layout = which == 0;
		run.ideal_atomics = which == 1;
		if (!wanted[which])
			continue;
		if (!run_value(experiment, k, &member->setting, &run, &value, error)) {
			json_decref(ideal);
			return false;
		}
		json_object_set_new(ideal, names[which],
				    json_pack("{s:f, s:f}", "value", value, "change_pct",
					      change(value, member->value[experiment->baseline])));
	}
	json_object_set_new(variant, "ideal", ideal);
	return true;
}

static bool add_variants(const struct experiment *experiment, const struct member *members,
			 uint32_t count, const struct experiment_options *options, json_t *results,
			 struct error *error)
{
	uint32_t n = experiment->variant_count;
	json_t *made[VARIANTS_MAX] = { 0 }, *layouts[VARIANTS_MAX] = { 0 };
	struct error errors[VARIANTS_MAX] = { 0 };
	json_t *variants = json_array(), *drawn = json_array();

#pragma omp parallel for schedule(dynamic) num_threads(options->jobs)
	for (uint32_t k = 0; k < n; k++) {
		made[k] = detail(experiment, &members[0], k, options, &layouts[k], &errors[k]);
		if (made[k])
			add_ideal(experiment, &members[0], k, options, made[k], &errors[k]);
	}
	for (uint32_t k = 0; k < n; k++) {
		json_t *variant = json_object();

		if (errors[k].text[0])
			error_set(error, "%s", errors[k].text);
		add_table(experiment, members, count, k, variant);
		if (made[k])
			json_object_update(variant, made[k]);
		json_array_append_new(variants, variant);
		if (layouts[k])
			json_array_extend(drawn, layouts[k]);
		json_decref(made[k]);
		json_decref(layouts[k]);
	}
	json_object_set_new(results, "variants", variants);
	json_object_set_new(results, "layouts", drawn);
	return !error->text[0];
}

/* ---- scaling -------------------------------------------------------------------------------- */

struct scaling {
	const struct node *variants, *values;
	const char *path, *unit;
	double cpus_each, per_operation;
};

#define SCALING(key, kind, member)                                                     \
	{                                                                              \
		.name = key, .type = kind, .offset = offsetof(struct scaling, member), \
		.required = true, .max = 1e6                                           \
	}
static const struct key scaling_keys[] = {
	{ .name = "variants",
	  .type = VALUE_NODE,
	  .offset = offsetof(struct scaling, variants),
	  .required = true },
	{ .name = "path",
	  .type = VALUE_STRING,
	  .offset = offsetof(struct scaling, path),
	  .required = true },
	{ .name = "values",
	  .type = VALUE_NODE,
	  .offset = offsetof(struct scaling, values),
	  .required = true },
	SCALING("cpus_each", VALUE_REAL, cpus_each),
	SCALING("unit", VALUE_STRING, unit),
	SCALING("per_operation", VALUE_REAL, per_operation),
	{ 0 },
};

struct point {
	double cpus, value, busiest;
	struct error error;
};

static void run_point(const struct experiment *experiment, const struct member *member,
		      const struct scaling *scaling, uint32_t variant, const struct node *at,
		      const struct run_options *options, struct point *point)
{
	struct setting setting;
	struct simulation simulation;

	if (!apply_named(experiment, variant, &member->setting, &setting, &point->error))
		return;
	if (setting_override(&setting, scaling->path, at, &point->error) &&
	    node_real(at, 0, 1e9, &point->cpus, &point->error) &&
	    simulation_run(&simulation, &setting, options, &point->error)) {
		point->cpus *= scaling->cpus_each;
		point->value = simulation.rate * scaling->per_operation;
		point->busiest = results_busiest(simulation.measure);
		simulation_free(&simulation);
	}
	setting_free(&setting);
}

static json_t *curve_json(const char *name, const struct point *points, uint32_t count)
{
	json_t *array = json_array();

	for (uint32_t k = 0; k < count; k++)
		json_array_append_new(
			array, json_pack("{s:f, s:f, s:f, s:o}", "cpus", points[k].cpus, "value",
					 points[k].value, "linear_bound",
					 points[0].value / points[0].cpus * points[k].cpus,
					 "saturation_bound",
					 points[k].busiest > 0
						 ? json_real(points[k].value / points[k].busiest)
						 : json_null()));
	return json_pack("{s:s, s:o}", "name", name, "points", array);
}

static bool run_curve(const struct experiment *experiment, const struct member *member,
		      const struct scaling *scaling, const struct node *name,
		      const struct experiment_options *options, json_t *curves, struct error *error)
{
	const struct node *at[POINTS_MAX];
	uint32_t count = 0;
	const struct run_options run = without_explanation(&options->run);
	struct point *points;

	if (name->kind != NODE_SCALAR || !node_get(experiment->variants_node, name->text))
		return node_error(name, error, "no variant '%s'",
				  name->kind == NODE_SCALAR ? name->text : "(not a name)");
	for (const struct node *value = scaling->values->first; value && count < POINTS_MAX;
	     value = value->next)
		at[count++] = value;
	points = calloc(count + 1, sizeof(*points));
	if (!points)
		return error_set(error, "out of memory");
#pragma omp parallel for schedule(dynamic) num_threads(options->jobs)
	for (uint32_t k = 0; k < count; k++)
		run_point(experiment, member, scaling, variant_named(experiment, name->text),
			  at[count - 1 - k], &run, &points[count - 1 - k]);
	for (uint32_t k = 0; k < count; k++)
		if (points[k].error.text[0])
			error_set(error, "%s", points[k].error.text);
	if (!error->text[0])
		json_array_append_new(curves, curve_json(name->text, points, count));
	free(points);
	return !error->text[0];
}

static bool add_scaling(const struct experiment *experiment, const struct member *member,
			const struct experiment_options *options, json_t *results,
			struct error *error)
{
	struct scaling scaling = { 0 };
	json_t *curves = json_array();

	json_object_set_new(results, "scaling", curves);
	if (!experiment->scaling)
		return true;
	if (!schema_read(experiment->scaling, scaling_keys, &scaling, error))
		return false;
	if (scaling.variants->kind != NODE_LIST || scaling.values->kind != NODE_LIST ||
	    !scaling.values->first)
		return node_error(experiment->scaling, error,
				  "'variants' and 'values' must be lists");
	json_object_set_new(results, "scaling_unit", json_string(scaling.unit));
	for (const struct node *name = scaling.variants->first; name; name = name->next)
		if (!run_curve(experiment, member, &scaling, name, options, curves, error))
			return false;
	return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static json_t *header(const struct experiment *experiment, const struct member *member,
		      const struct experiment_options *options, struct error *error)
{
	const struct node *name = node_get(document_root(member->setting.machine), "machine");
	json_t *effective = setting_json(&member->setting, error), *calibrated = json_object();

	if (!effective) {
		json_decref(calibrated);
		return NULL;
	}
	if (experiment->calibrate.variant)
		json_object_set_new(calibrated, experiment->calibrate.path,
				    json_real(member->fitted[1]));
	json_t *fitted = experiment->reference.variant
				 ? json_pack("{s:f}", experiment->reference.path, member->fitted[0])
				 : json_object();

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:o, s:o}", "schema",
			 "hitm-results/1", "hitm", HITM_VERSION, "experiment", experiment->name,
			 "about", experiment->about, "machine", name->text, "seed",
			 (json_int_t)options->run.seed, "unit", experiment->unit, "baseline",
			 experiment->variants[experiment->baseline].name, "calibrated", calibrated,
			 "reference", fitted, "effective", effective);
}

json_t *experiment_run(const struct experiment *experiment, const struct document *machine,
		       const struct experiment_options *options, struct error *error)
{
	uint32_t count = member_count(experiment);
	struct member *members;
	json_t *results = NULL;

	if (count > MEMBERS_MAX) {
		node_error(experiment->band, error, "a band of more than %d values",
			   MEMBERS_MAX - 1);
		return NULL;
	}
	members = calloc(count, sizeof(*members));
	if (!members) {
		error_set(error, "out of memory");
		return NULL;
	}
	if (make_members(experiment, machine, options, members, count, error))
		results = header(experiment, &members[0], options, error);
	if (results && (!add_variants(experiment, members, count, options, results, error) ||
			!add_scaling(experiment, &members[0], options, results, error))) {
		json_decref(results);
		results = NULL;
	}
	for (uint32_t k = 0; k < count; k++)
		setting_free(&members[k].setting);
	free(members);
	return results;
}
