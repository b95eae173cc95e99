/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/workload.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const placement_names[] = { "compact", "spread", NULL };

const struct workload_model *const *workload_models(void)
{
	static const struct workload_model *const models[] = {
		&workload_netperf_sendfile,
		&workload_loop,
		&workload_charge,
		&workload_micro,
		&workload_mmap_lock,
		&workload_replay,
		NULL,
	};

	return models;
}

const struct workload_model *workload_find(const char *name)
{
	for (const struct workload_model *const *model = workload_models(); *model; model++)
		if (!strcmp((*model)->name, name))
			return *model;
	return NULL;
}

void *workload_settings(const struct node *map, const struct workload_model **model,
			struct error *error)
{
	const struct node *name = node_get(map, "model");
	void *settings;

	*model = name && name->kind == NODE_SCALAR ? workload_find(name->text) : NULL;
	if (!*model) {
		char known[200] = "";

		for (const struct workload_model *const *m = workload_models(); *m; m++)
			snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
				 *known ? ", " : "", (*m)->name);
		if (name)
			node_error(name, error, "no workload model '%s', expected one of %s",
				   name->kind == NODE_SCALAR ? name->text : "(not a word)", known);
		else
			node_error(map, error, "a workload without 'model', expected one of %s",
				   known);
		return NULL;
	}
	settings = malloc((*model)->size);
	if (!settings) {
		error_set(error, "out of memory");
		return NULL;
	}
	memcpy(settings, (*model)->defaults, (*model)->size);
	if (!schema_read(map, (*model)->keys, settings, error) ||
	    ((*model)->check && !(*model)->check(settings, map, error))) {
		free(settings);
		return NULL;
	}
	return settings;
}

/* ---- building ------------------------------------------------------------------------------- */

struct block {
	struct block *next;
	_Alignas(LINE_MAX) unsigned char memory[];
};

struct build *build_new(struct machine *machine, const struct node *layouts,
			const char *layout_directory)
{
	struct build *build = calloc(1, sizeof(*build));

	if (!build)
		return NULL;
	build->machine = machine;
	build->layouts = layouts;
	build->layout_directory = layout_directory;
	memory_init(&build->memory, machine);
	return build;
}

void build_free(struct build *build)
{
	if (!build)
		return;
	if (build->at_end)
		build->at_end(build->at_end_of);
	machine_free(build->machine);
	memory_release(&build->memory);
	for (uint32_t k = 0; k < build->loaded_count; k++)
		layout_free(build->loaded[k].layout);
	free(build->loaded);
	for (struct block *block = build->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(build);
}

void *build_memory(struct build *build, size_t size, struct error *error)
{
	size_t lines = (size + LINE_MAX - 1) / LINE_MAX;
	struct block *block = lines < SIZE_MAX / LINE_MAX - 1
				      ? aligned_alloc(LINE_MAX, sizeof(*block) + lines * LINE_MAX)
				      : NULL;

	if (!block) {
		error_set(error, "out of memory");
		return NULL;
	}
	memset(block, 0, sizeof(*block) + lines * LINE_MAX);
	block->next = build->blocks;
	build->blocks = block;
	return block->memory;
}

/* Loads a layout, spread out where the build says so. */
static struct layout *load_layout(struct build *build, const char *name, const struct node *at,
				  struct error *error)
{
	uint32_t line = build->machine->config.coherence.line;
	struct layout *layout = layout_load(build->layout_directory, name, at, error), *spread;

	if (!layout || !build->spread_layouts)
		return layout;
	spread = layout_spread(layout, line);
	layout_free(layout);
	if (!spread)
		error_set(error, "out of memory");
	return spread;
}

static const struct layout *kept_layout(const struct build *build, const char *key)
{
	for (uint32_t k = 0; k < build->loaded_count; k++)
		if (!strcmp(build->loaded[k].structure, key))
			return build->loaded[k].layout;
	return NULL;
}

const struct layout *build_keep_layout(struct build *build, const char *key, struct layout *layout,
				       struct error *error)
{
	void *loaded;

	if (!layout)
		return NULL;
	loaded = realloc(build->loaded, (build->loaded_count + 1) * sizeof(*build->loaded));
	if (!loaded) {
		layout_free(layout);
		error_set(error, "out of memory");
		return NULL;
	}
	build->loaded = loaded;
	snprintf(build->loaded[build->loaded_count].structure, sizeof(build->loaded->structure),
		 "%s", key);
	build->loaded[build->loaded_count++].layout = layout;
	return layout;
}

const struct layout *build_layout(struct build *build, const char *structure, const char *otherwise,
				  struct error *error)
{
	const struct node *choice = node_get(build->layouts, structure);
	const struct layout *kept = kept_layout(build, structure);
	struct layout *layout;

	if (kept)
		return kept;
	if (choice && choice->kind != NODE_SCALAR) {
		node_error(choice, error,
			   "not a layout's name for %s, expected one of `hitm list layouts`",
			   structure);
		return NULL;
	}
	layout = load_layout(build, choice ? choice->text : otherwise, choice, error);
	if (layout && choice && strcmp(layout->structure, structure)) {
		node_error(choice, error, "layout %s is of struct %s, expected one of struct %s",
			   layout->name, layout->structure, structure);
		layout_free(layout);
		return NULL;
	}
	return build_keep_layout(build, structure, layout, error);
}

const struct layout *build_layout_named(struct build *build, const char *name,
					const struct node *at, struct error *error)
{
	const struct layout *kept = kept_layout(build, name);

	return kept ? kept
		    : build_keep_layout(build, name, load_layout(build, name, at, error), error);
}

uint32_t build_cpu(const struct build *build, uint32_t k)
{
	uint32_t sockets = build->machine->config.sockets,
		 per = build->machine->config.cores_per_socket;
	uint32_t cores = sockets * per, core = k % cores;

	if (build->placement == PLACEMENT_SPREAD)
		core = core % sockets * per + core / sockets;
	return k / cores * cores + core;
}

uint32_t build_socket(const struct build *build, uint32_t cpu)
{
	const struct machine_config *config = &build->machine->config;

	return cpu % (config->sockets * config->cores_per_socket) / config->cores_per_socket;
}
