/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads experiment files. What is done with them is in predict.c. */
#include "workload/experiment.h"
#include "workload/variant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct top {
	const char *name, *about, *baseline;
	const struct node *machines, *layouts, *workload, *measure, *variants, *published,
		*reference, *calibrate, *band, *scaling, *ablations, *uncalibrated;
};

#define TOP(key, kind, must, member)                                               \
	{                                                                          \
		.name = key, .type = kind, .offset = offsetof(struct top, member), \
		.required = must                                                   \
	}
static const struct key top_keys[] = {
	TOP("experiment", VALUE_STRING, true, name),
	TOP("about", VALUE_STRING, false, about),
	TOP("machines", VALUE_NODE, true, machines),
	TOP("layouts", VALUE_NODE, false, layouts),
	TOP("workload", VALUE_NODE, true, workload),
	TOP("measure", VALUE_NODE, false, measure),
	TOP("variants", VALUE_NODE, true, variants),
	TOP("baseline", VALUE_STRING, true, baseline),
	TOP("published", VALUE_NODE, false, published),
	TOP("reference", VALUE_NODE, false, reference),
	TOP("calibrate", VALUE_NODE, false, calibrate),
	TOP("band", VALUE_NODE, false, band),
	TOP("scaling", VALUE_NODE, false, scaling),
	TOP("ablations", VALUE_NODE, false, ablations),
	TOP("uncalibrated", VALUE_NODE, false, uncalibrated),
	{ 0 },
};

struct published {
	const char *unit, *source;
	double per_operation, per;
	const struct node *values;
};

#define PUBLISHED(key, kind, member, most)                                               \
	{                                                                                \
		.name = key, .type = kind, .offset = offsetof(struct published, member), \
		.max = most                                                              \
	}
static const struct key published_keys[] = {
	PUBLISHED("unit", VALUE_STRING, unit, 0),
	PUBLISHED("source", VALUE_STRING, source, 0),
	PUBLISHED("per_operation", VALUE_REAL, per_operation, 1e12),
	PUBLISHED("per", VALUE_REAL, per, 1e6),
	PUBLISHED("values", VALUE_NODE, values, 0),
	{ 0 },
};

struct fit_map {
	const char *variant, *path, *why;
	const struct node *from, *to;
};

#define FIT(key, kind, must, member)                                                   \
	{                                                                              \
		.name = key, .type = kind, .offset = offsetof(struct fit_map, member), \
		.required = must                                                       \
	}
static const struct key fit_keys[] = {
	FIT("variant", VALUE_STRING, true, variant),
	FIT("fit", VALUE_STRING, true, path),
	FIT("why", VALUE_STRING, false, why),
	FIT("from", VALUE_NODE, true, from),
	FIT("to", VALUE_NODE, true, to),
	{ 0 },
};

/* A bound of a fit: a number, or a time. */
static bool read_bound(const struct node *node, double *value, bool *is_time, struct error *error)
{
	struct error ignored = { 0 };
	struct duration duration;

	if (node_real(node, 1e-9, 1e12, value, &ignored)) {
		*is_time = false;
		return true;
	}
	if (!node_duration(node, &duration, error))
		return false;
	if (duration.cycles)
		return node_error(node, error,
				  "a bound in cycles, expected a number or a time in ns, us or ms");
	*value = duration.value;
	*is_time = true;
	return true;
}

static bool read_fit(const struct experiment *experiment, const struct node *node, struct fit *fit,
		     struct error *error)
{
	struct fit_map map = { 0 };
	bool from_is_time, to_is_time;

	if (!node)
		return true;
	if (!schema_read(node, fit_keys, &map, error) ||
	    !read_bound(map.from, &fit->from, &from_is_time, error) ||
	    !read_bound(map.to, &fit->to, &to_is_time, error))
		return false;
	if (from_is_time != to_is_time || fit->from >= fit->to)
		return node_error(map.to, error, "'to' must be above 'from', and of the same kind");
	for (uint32_t k = 0; k < experiment->variant_count; k++)
		if (!strcmp(experiment->variants[k].name, map.variant) &&
		    !isnan(experiment->variants[k].published)) {
			fit->variant = experiment->variants[k].name;
			fit->path = map.path;
			fit->node = node_get(node, "fit");
			fit->is_time = from_is_time;
			return true;
		}
	return node_error(node_get(node, "variant"), error,
			  "variant '%s' has no published value to fit to", map.variant);
}

static bool read_variants(struct experiment *experiment, const struct node *node,
			  struct error *error)
{
	uint32_t k = 0;

	if (node->kind != NODE_MAP || !node->first)
		return node_error(node, error, "no variants, expected a map of at least one");
	experiment->variants_node = node;
	experiment->variant_count = (uint32_t)node_count(node);
	if (experiment->variant_count > VARIANTS_MAX)
		return node_error(node, error, "%u variants, expected at most %d",
				  experiment->variant_count, VARIANTS_MAX);
	experiment->variants = calloc(experiment->variant_count, sizeof(*experiment->variants));
	if (!experiment->variants)
		return error_set(error, "out of memory");
	for (const struct node *child = node->first; child; child = child->next, k++) {
		experiment->variants[k] = (struct variant){ child->key, child, NAN };
		if (!variant_check(node, child, error))
			return false;
	}
	return true;
}

static bool read_published(struct experiment *experiment, const struct node *node,
			   struct error *error)
{
	struct published published = { .unit = "operations/s", .per_operation = 1, .per = 1 };

	if (node && !schema_read(node, published_keys, &published, error))
		return false;
	if (!(published.per > 0 && published.per_operation > 0))
		return node_error(node, error, "'per' and 'per_operation' must be above 0");
	experiment->unit = published.unit;
	experiment->per_operation = published.per_operation;
	experiment->per = published.per;
	if (published.values && published.values->kind != NODE_MAP)
		return node_error(published.values, error, "expected a map of variants to numbers");
	for (const struct node *value = published.values ? published.values->first : NULL; value;
	     value = value->next) {
		uint32_t k = 0;

		while (k < experiment->variant_count &&
		       strcmp(experiment->variants[k].name, value->key))
			k++;
		if (k == experiment->variant_count)
			return node_key_error(value, error, "no variant '%s'", value->key);
		if (!node_real(value, 1e-12, 1e18, &experiment->variants[k].published, error))
			return false;
	}
	return true;
}

static bool find_baseline(struct experiment *experiment, const struct top *top, struct error *error)
{
	for (uint32_t k = 0; k < experiment->variant_count; k++)
		if (!strcmp(experiment->variants[k].name, top->baseline)) {
			experiment->baseline = k;
			return true;
		}
	return node_error(node_get(document_root(experiment->document), "baseline"), error,
			  "no variant '%s'", top->baseline);
}

static bool check_lists(const struct experiment *experiment, struct error *error)
{
	if (experiment->band && experiment->band->kind != NODE_MAP)
		return node_error(experiment->band, error,
				  "expected a map of paths to lists of values");
	for (const struct node *axis = experiment->band ? experiment->band->first : NULL; axis;
	     axis = axis->next)
		if (axis->kind != NODE_LIST || !axis->first)
			return node_error(axis, error, "expected a list of values for '%s'",
					  axis->key ? axis->key : "?");
	if (experiment->machines->kind != NODE_LIST || !experiment->machines->first)
		return node_error(experiment->machines, error, "expected a list of machines");
	for (const struct node *name = experiment->machines->first; name; name = name->next)
		if (name->kind != NODE_SCALAR)
			return node_error(name, error, "expected a machine's name");
	return true;
}

bool experiment_read(struct experiment *experiment, struct document *document, struct error *error)
{
	struct top top = { 0 };

	*experiment = (struct experiment){ .document = document };
	if (!schema_read(document_root(document), top_keys, &top, error))
		return false;
	experiment->name = top.name;
	experiment->about = top.about ? top.about : "";
	experiment->machines = top.machines;
	experiment->band = top.band;
	experiment->scaling = top.scaling;
	experiment->ablations = top.ablations;
	experiment->uncalibrated = top.uncalibrated;
	return read_variants(experiment, top.variants, error) &&
	       read_published(experiment, top.published, error) &&
	       find_baseline(experiment, &top, error) && check_lists(experiment, error) &&
	       read_fit(experiment, top.reference, &experiment->reference, error) &&
	       read_fit(experiment, top.calibrate, &experiment->calibrate, error);
}

void experiment_free(struct experiment *experiment)
{
	free(experiment->variants);
	document_free(experiment->document);
	*experiment = (struct experiment){ 0 };
}
