/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/simulation.h"
#include "machine/machine_file.h"
#include "measure/timeline.h"
#include <stdlib.h>
#include <string.h>

enum { TIMELINE_MOMENTS = 4000 };

/* ---- settings ------------------------------------------------------------------------------- */

bool setting_copy(struct setting *copy, const struct setting *from, struct error *error)
{
	copy->experiment = document_copy(from->experiment);
	copy->machine = document_copy(from->machine);
	if (copy->experiment && copy->machine)
		return true;
	setting_free(copy);
	return error_set(error, "out of memory");
}

void setting_free(struct setting *setting)
{
	document_free(setting->experiment);
	document_free(setting->machine);
	setting->experiment = setting->machine = NULL;
}

/* The document that a path belongs to; *path is moved to what it is called there. */
static struct document *target(const struct setting *setting, const char **path)
{
	static const char machine[] = "machine.";

	if (strncmp(*path, machine, sizeof(machine) - 1))
		return setting->experiment;
	*path += sizeof(machine) - 1;
	return setting->machine;
}

bool setting_override(struct setting *setting, const char *path, const struct node *value,
		      struct error *error)
{
	struct document *document = target(setting, &path);

	return document_set_node(document, path, value, error);
}

bool setting_override_text(struct setting *setting, const char *path, const char *value,
			   const char *source, struct error *error)
{
	struct document *document = target(setting, &path);

	return document_set(document, path, value, source, error);
}

json_t *setting_json(const struct setting *setting, struct error *error)
{
	const struct workload_model *model;
	const struct node *root = document_root(setting->experiment);
	void *settings = workload_settings(node_get(root, "workload"), &model, error);
	json_t *machine =
		settings ? machine_file_json(document_root(setting->machine), error) : NULL;
	json_t *json = machine ? json_pack("{s:o, s:o}", "machine", machine, "workload",
					   schema_json(model->keys, settings))
			       : NULL;
	const struct node *layouts = node_get(root, "layouts");

	free(settings);
	if (json && layouts)
		json_object_set_new(json, "layouts", node_json(layouts));
	return json;
}

/* ---- explaining a line ---------------------------------------------------------------------- */

static const struct object *object_named(const struct memory *memory, const char *name,
					 size_t length)
{
	for (uint32_t k = 0; k < memory->object_count; k++)
		if (strlen(memory->objects[k].name) == length &&
		    !strncmp(memory->objects[k].name, name, length))
			return &memory->objects[k];
	return NULL;
}

/* OBJECT.FIELD or OBJECT:LINE as an address. */
static bool explained_address(const struct simulation *simulation, const char *what,
			      uint64_t *address, struct error *error)
{
	size_t length = strcspn(what, ".:");
	const struct memory *memory = &simulation->build->memory;
	const struct object *object = object_named(memory, what, length);
	const struct layout_field *field;
	uint32_t line = simulation->build->machine->config.coherence.line, last;
	char *end;

	if (!object)
		return error_set(
			error,
			"--explain %s: no such object, expected one of this workload, such as %s",
			what, memory->object_count ? memory->objects[0].name : "(none)");
	if (what[length] == '.') {
		field = layout_find(object->layout, what + length + 1);
		if (!field)
			return error_set(error, "--explain %s: layout %s has no field %s", what,
					 object->layout->name, what + length + 1);
		*address = (object->address + field->offset) / line * line;
		return true;
	}
	last = (object->layout->size - 1) / line;
	unsigned long number = what[length] ? strtoul(what + length + 1, &end, 10) : 0;

	if (what[length] && (end == what + length + 1 || *end || number > last))
		return error_set(error, "--explain %s: line %s of %s, expected a number up to %u",
				 what, what + length + 1, object->name,
				 object->layout->size / line);
	*address = object->address / line * line + number * line;
	return true;
}

static bool start_timeline(struct simulation *simulation, const struct run_options *options,
			   struct error *error)
{
	uint64_t address = 0;

	if (!options->explain)
		return true;
	if (!explained_address(simulation, options->explain, &address, error))
		return false;
	simulation->measure->timeline =
		timeline_new(address, simulation->measure->warmup, TIMELINE_MOMENTS);
	return simulation->measure->timeline || error_set(error, "out of memory");
}

/* ---- running -------------------------------------------------------------------------------- */

struct spans {
	struct duration warmup, duration;
};

static const struct key span_keys[] = {
	{ .name = "warmup",
	  .type = VALUE_DURATION,
	  .offset = offsetof(struct spans, warmup),
	  .max = 1e8 },
	{ .name = "duration",
	  .type = VALUE_DURATION,
	  .offset = offsetof(struct spans, duration),
	  .min = 1,
	  .max = 1e8 },
	{ 0 },
};

static bool read_spans(const struct node *root, struct spans *spans, struct error *error)
{
	const struct node *map = node_get(root, "measure");

	*spans = (struct spans){ { .value = 300e3 }, { .value = 1500e3 } };
	return !map || schema_read(map, span_keys, spans, error);
}

/* A struct that the workload does not have would be a choice without effect. */
static bool check_layouts(const struct workload_model *model, const struct node *layouts,
			  struct error *error)
{
	if (layouts && layouts->kind != NODE_MAP)
		return node_error(layouts, error, "expected a map of structs to layouts");
	for (const struct node *choice = layouts ? layouts->first : NULL; choice && model->structs;
	     choice = choice->next) {
		int k = 0;

		while (model->structs[k] && strcmp(model->structs[k], choice->key))
			k++;
		if (!model->structs[k])
			return node_unknown(choice, true, choice->key, model->structs, error);
	}
	return true;
}

static struct build *make_build(const struct setting *setting, const struct run_options *options,
				struct error *error)
{
	struct machine_config config;
	struct machine *machine;
	struct build *build;

	if (!machine_file_read(document_root(setting->machine), &config, error))
		return NULL;
	config.coherence.seed = options->seed;
	config.coherence.paranoid = options->paranoid;
	config.run_ahead = !options->take_turns;
	config.free_atomics = options->ideal_atomics;
	machine = machine_new(&config, error);
	if (!machine)
		return NULL;
	build = build_new(machine, node_get(document_root(setting->experiment), "layouts"),
			  options->layout_directory);
	if (!build) {
		machine_free(machine);
		error_set(error, "out of memory");
		return NULL;
	}
	build->spread_layouts = options->ideal_layout;
	return build;
}

/* Builds with the settings of the workload, which are read anew. */
static bool build_it(struct simulation *simulation, const struct setting *setting,
		     const struct run_options *options, struct error *error)
{
	const struct node *root = document_root(setting->experiment);
	const struct node *workload = node_get(root, "workload");
	void *settings;
	bool done;

	if (!workload)
		return node_error(root, error,
				  "an experiment without 'workload', expected a map with 'model'");
	settings = workload_settings(workload, &simulation->model, error);
	if (!settings)
		return false;
	done = check_layouts(simulation->model, node_get(root, "layouts"), error);
	if (done)
		simulation->build = make_build(setting, options, error);
	for (int k = 0; simulation->build && simulation->model->operations[k]; k++)
		simulation->build->operations[k] = simulation->model->operations[k];
	done = done && simulation->build &&
	       simulation->model->build(simulation->build, settings, error);
	free(settings);
	if (done)
		simulation->threads = simulation->build->machine->thread_count;
	return done;
}

bool simulation_build(struct simulation *simulation, const struct setting *setting,
		      const struct run_options *options, struct error *error)
{
	*simulation = (struct simulation){ 0 };
	if (build_it(simulation, setting, options, error))
		return true;
	simulation_free(simulation);
	return false;
}

static bool run_it(struct simulation *simulation, const struct setting *setting,
		   const struct run_options *options, struct error *error)
{
	struct machine *machine = simulation->build->machine;
	struct spans spans;

	if (!read_spans(document_root(setting->experiment), &spans, error))
		return false;
	simulation->measure = measure_new(machine, simulation->build->memory.field_count,
					  duration_cycles(spans.warmup, machine->config.clock),
					  duration_cycles(spans.duration, machine->config.clock));
	if (!simulation->measure)
		return error_set(error, "out of memory");
	if (simulation->build->whole || options->listener)
		measure_from_start(simulation->measure, simulation->build->whole);
	if (options->listener)
		measure_listen(simulation->measure, options->listener);
	return start_timeline(simulation, options, error) && machine_run(machine, error) &&
	       measure_finish(simulation->measure, error);
}

bool simulation_run(struct simulation *simulation, const struct setting *setting,
		    const struct run_options *options, struct error *error)
{
	if (!simulation_build(simulation, setting, options, error))
		return false;
	if (!run_it(simulation, setting, options, error)) {
		simulation_free(simulation);
		return false;
	}
	simulation->rate = simulation->measure->rate[0];
	return true;
}

void simulation_free(struct simulation *simulation)
{
	measure_free(simulation->measure);
	build_free(simulation->build);
	*simulation = (struct simulation){ 0 };
}
