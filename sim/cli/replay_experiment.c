/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANT_LAYOUTS = 16 };

static const char captured[] = "captured";

static void set_text(json_t *map, const char *key, const char *value)
{
	if (value)
		json_object_set_new(map, key, json_string(value));
}

static json_t *objects_json(const struct replay_command *command)
{
	json_t *map = json_object();

	for (uint32_t k = 0; k < command->given_count; k++) {
		const struct given_object *object = &command->given[k];
		json_t *one = json_object();
		char text[32];

		set_text(one, "layout", object->layout_name);
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)object->address);
		set_text(one, "address", text);
		if (object->count > 1) {
			snprintf(text, sizeof(text), "%llu B", (unsigned long long)object->stride);
			set_text(one, "stride", text);
			snprintf(text, sizeof(text), "%u", object->count);
			set_text(one, "count", text);
		}
		json_object_set_new(map, object->name, one);
	}
	return map;
}

/* LEFT=RIGHT,...: each pair set in a map, under a prefix. False where one is none. */
static bool set_pairs(json_t *map, const char *prefix, const char *text)
{
	char *copy = strdup(text), *rest = copy, *pair;
	bool good = copy && *copy;

	while (good && (pair = strsep(&rest, ","))) {
		char *equals = strchr(pair, '='), key[512];

		good = equals && equals != pair && equals[1];
		if (!good)
			break;
		*equals = '\0';
		snprintf(key, sizeof(key), "%s%s", prefix, pair);
		set_text(map, key, equals + 1);
	}
	free(copy);
	return good;
}

/* --map: a way to place threads, or captured CPUs to simulated ones. */
static bool set_map(json_t *workload, const char *map, struct error *error)
{
	json_t *cpus;

	if (!map)
		return true;
	if (!strchr(map, '=')) {
		set_text(workload, "placement", map);
		return true;
	}
	cpus = json_object();
	json_object_set_new(workload, "cpus", cpus);
	return set_pairs(cpus, "", map) ||
	       error_set(error,
			 "hitm replay: --map '%.80s', expected recorded, compact, spread or "
			 "CPU=CPU,...",
			 map);
}

static bool set_lists(json_t *workload, const struct replay_command *command, struct error *error)
{
	json_t *atomics = json_array(), *stores = json_object();

	for (uint32_t k = 0; k < command->atomics.count; k++)
		json_array_append_new(atomics, json_string(command->atomics.all[k]));
	json_object_set_new(workload, "atomics", atomics);
	json_object_set_new(workload, "stores", stores);
	for (uint32_t k = 0; k < command->stores.count; k++)
		if (!set_pairs(stores, "", command->stores.all[k]))
			return error_set(error,
					 "hitm replay: --store '%.80s', expected "
					 "OBJECT.FIELD=WEIGHT,...",
					 command->stores.all[k]);
	return true;
}

static json_t *workload_json(const struct replay_command *command, struct error *error)
{
	json_t *workload = json_object();

	set_text(workload, "model", "replay");
	set_text(workload, "trace", command->trace);
	set_text(workload, "format", command->format);
	set_text(workload, "only", command->only);
	set_text(workload, "by", command->by);
	set_text(workload, "order", command->order);
	set_text(workload, "gaps", command->gaps);
	set_text(workload, "gap", command->gap);
	set_text(workload, "unknown", command->unknown);
	set_text(workload, "threads", command->threads);
	set_text(workload, "home", command->home);
	json_object_set_new(workload, "objects", objects_json(command));
	if (set_map(workload, command->map, error) && set_lists(workload, command, error))
		return workload;
	json_decref(workload);
	return NULL;
}

/* One variant an option: NAME=LAYOUT, of several objects with commas between. */
static bool add_variant(json_t *variants, const char *text, struct error *error)
{
	json_t *overrides = json_object();

	if (!set_pairs(overrides, "workload.replace.", text)) {
		json_decref(overrides);
		return error_set(
			error, "hitm replay: --layout '%.120s', expected OBJECT=LAYOUT,...", text);
	}
	json_object_set_new(variants, text, overrides);
	return true;
}

static json_t *variants_json(const struct replay_command *command, struct error *error)
{
	json_t *variants = json_object();

	json_object_set_new(variants, captured, json_object());
	for (uint32_t k = 0; k < command->layouts.count; k++)
		if (!add_variant(variants, command->layouts.all[k], error)) {
			json_decref(variants);
			return NULL;
		}
	return variants;
}

/* A profile's draws are chance: the band is over several seeds of them. */
static json_t *band_json(uint64_t seeds)
{
	json_t *list = json_array();
	char text[16];

	for (uint64_t k = 0; k < seeds; k++) {
		snprintf(text, sizeof(text), "%u", (unsigned)k);
		json_array_append_new(list, json_string(text));
	}
	return json_pack("{s:o}", "workload.seed", list);
}

static json_t *experiment_json(const struct replay_command *command, const struct tally *tally,
			       struct error *error)
{
	bool profile = tally->summary.kind == KIND_SAMPLED || tally->summary.kind == KIND_AGGREGATE;
	json_t *workload = workload_json(command, error), *variants, *machines = json_array();
	json_t *all;

	variants = workload ? variants_json(command, error) : NULL;
	for (uint32_t k = 0; k < command->machines.count; k++)
		json_array_append_new(machines, json_string(command->machines.all[k]));
	if (!variants) {
		json_decref(workload);
		json_decref(machines);
		return NULL;
	}
	all = json_pack("{s:s, s:o, s:o, s:o, s:s, s:{s:s}}", "experiment", "replay", "machines",
			machines, "workload", workload, "variants", variants, "baseline", captured,
			"published", "unit", "accesses/s");
	if (profile && command->seeds > 1)
		json_object_set_new(all, "band", band_json(command->seeds));
	return all;
}

struct document *replay_experiment(const struct replay_command *command, const struct tally *tally,
				   struct error *error)
{
	json_t *json = experiment_json(command, tally, error);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	struct document *document = NULL;

	if (text)
		document = document_parse(REPLAY_EXPERIMENT, text, strlen(text), error);
	else if (!error->text[0])
		error_set(error, "hitm replay: a path or name that is not UTF-8, or no memory");
	free(text);
	json_decref(json);
	return document;
}
