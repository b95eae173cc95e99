/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a captured program: where they lay, and where they are replayed. */
#include "workload/replay_parts.h"
#include "trace/scan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OBJECT_COUNT_MAX = 4096,
	OBJECT_REGION = 62, /* objects lie from 2^62 on, where no captured address does */
	PAGE = REPLAY_PAGE,
	FIELD_NUMBERS = 50000, /* of the 65,535 that there are */
};

struct object_setting {
	const char *layout, *address;
	uint64_t stride;
	uint32_t count;
};

#define OBJECT(key, kind, member, ...)                                                        \
	{                                                                                     \
		.name = key, .type = kind, .offset = offsetof(struct object_setting, member), \
		__VA_ARGS__                                                                   \
	}
static const struct key object_keys[] = {
	OBJECT("layout", VALUE_STRING, layout, .required = true),
	OBJECT("address", VALUE_STRING, address, .required = true),
	OBJECT("stride", VALUE_SIZE, stride, .min = 1, .max = 1 << 30),
	OBJECT("count", VALUE_COUNT, count, .min = 1, .max = OBJECT_COUNT_MAX),
	{ 0 },
};

static bool read_address(const struct node *node, const char *text, uint64_t *address,
			 struct error *error)
{
	struct scan scan = { text, text + strlen(text) };

	return (scan_hex(&scan, address) && scan_ended(&scan)) ||
	       node_error(node_get(node, "address"), error,
			  "'%.40s' is no address, expected hexadecimal digits such as 0x4040c0",
			  text);
}

static const char *object_name(struct build *build, const char *base, uint32_t k, bool several,
			       struct error *error)
{
	size_t size = strlen(base) + 16;
	char *name = build_memory(build, size, error);

	if (name)
		snprintf(name, size, several ? "%s[%u]" : "%s", base, k);
	return name;
}

static bool add_objects(struct replay_building *building, const struct node *node,
			struct error *error)
{
	struct object_setting setting = { .count = 1 };
	struct replay_object object;
	uint64_t address;

	if (strpbrk(node->key, ".[]: "))
		return node_key_error(node, error,
				      "'%.60s' is no name, expected one without '.', ':', brackets "
				      "and space",
				      node->key);
	if (!schema_read(node, object_keys, &setting, error) ||
	    !read_address(node, setting.address, &address, error))
		return false;
	/* The captured layout as it was, also where the replay spreads fields. */
	struct layout *layout = layout_load(building->build->layout_directory, setting.layout,
					    node_get(node, "layout"), error);
	char key[64];

	snprintf(key, sizeof(key), "captured %s", node->key);
	object.layout = build_keep_layout(building->build, key, layout, error);
	if (!object.layout)
		return false;
	if (!setting.stride)
		setting.stride = object.layout->size;
	for (uint32_t k = 0; k < setting.count; k++) {
		if (building->object_count == REPLAY_OBJECTS_MAX)
			return node_error(node, error, "more than %d objects", REPLAY_OBJECTS_MAX);
		object.name = object_name(building->build, node->key, k, setting.count > 1, error);
		if (!object.name)
			return false;
		if (__builtin_add_overflow(address, k * setting.stride, &object.address))
			return node_key_error(node, error, "%s goes beyond the last address",
					      object.name);
		building->placed[building->object_count++] =
			(struct replay_placed){ .was = object, .node = node, .base = node->key };
	}
	return true;
}

static int by_address(const void *left, const void *right)
{
	const struct replay_placed *a = left, *b = right;

	return a->was.address < b->was.address ? -1 : a->was.address > b->was.address;
}

/* Sorted, and none within another. */
static bool sort_objects(struct replay_building *building, struct error *error)
{
	struct replay_placed *placed = building->placed;

	qsort(placed, building->object_count, sizeof(*placed), by_address);
	for (uint32_t k = 0; k < building->object_count; k++) {
		building->objects[k] = placed[k].was;
		if (k && placed[k].was.address - placed[k - 1].was.address <
				 placed[k - 1].was.layout->size)
			return node_key_error(placed[k].node, error,
					      "%s lies within %s, expected objects apart",
					      placed[k].was.name, placed[k - 1].was.name);
		if (UINT64_MAX - placed[k].was.address < placed[k].was.layout->size)
			return node_key_error(placed[k].node, error,
					      "%s goes beyond the last address",
					      placed[k].was.name);
	}
	return true;
}

bool replay_read_objects(struct replay_building *building, struct error *error)
{
	const struct node *map = building->settings->objects;

	building->placed = build_memory(building->build,
					REPLAY_OBJECTS_MAX * sizeof(struct replay_placed), error);
	building->objects =
		building->placed
			? build_memory(building->build,
				       REPLAY_OBJECTS_MAX * sizeof(struct replay_object), error)
			: NULL;
	if (!building->objects)
		return false;
	if (map && map->kind != NODE_MAP)
		return node_error(map, error,
				  "expected a map of NAME: {layout: ..., address: ...}");
	for (const struct node *node = map ? map->first : NULL; node; node = node->next)
		if (!add_objects(building, node, error))
			return false;
	return sort_objects(building, error);
}

/* The layout that an object is replayed on. */
static const struct layout *new_layout(struct replay_building *building,
				       const struct replay_placed *placed, struct error *error)
{
	const struct node *choice = node_get(building->settings->replace, placed->base);
	const struct layout *layout;

	if (!choice)
		choice = node_get(placed->node, "layout");
	if (choice->kind != NODE_SCALAR) {
		node_error(choice, error, "expected a layout's name");
		return NULL;
	}
	layout = build_layout_named(building->build, choice->text, choice, error);
	if (layout && strcmp(layout->structure, placed->was.layout->structure)) {
		node_error(choice, error, "layout %s is of struct %s, expected one of struct %s",
			   layout->name, layout->structure, placed->was.layout->structure);
		return NULL;
	}
	return layout;
}

/* The same with the object's name before each field's, so that objects of one struct are told apart;
 * or as it is, where there are too many for field numbers. */
static const struct layout *own_layout(struct replay_building *building,
				       const struct replay_placed *placed, struct error *error)
{
	const struct layout *layout = placed->now;
	struct layout *own;
	char key[64];

	if ((uint64_t)building->object_count * layout->field_count > FIELD_NUMBERS)
		return layout;
	own = layout_new(layout->name, layout->structure, layout->source);
	for (uint32_t k = 0; own && k < layout->field_count; k++)
		if (!layout_add(own, placed->was.name, layout->fields[k].name,
				layout->fields[k].offset, layout->fields[k].size)) {
			layout_free(own);
			own = NULL;
		}
	if (!own) {
		error_set(error, "out of memory");
		return NULL;
	}
	own->size = layout->size;
	own->align = layout->align;
	snprintf(key, sizeof(key), "replayed %s", placed->was.name);
	return build_keep_layout(building->build, key, own, error);
}

static bool check_replaced(const struct replay_building *building, struct error *error)
{
	const struct node *map = building->settings->replace;

	if (map && map->kind != NODE_MAP)
		return node_error(map, error, "expected a map of objects to layouts");
	for (const struct node *node = map ? map->first : NULL; node; node = node->next)
		if (!node_get(building->settings->objects, node->key))
			return node_key_error(
				node, error,
				"no object '%.60s', expected one that --object or the trace names",
				node->key);
	return true;
}

/* Where an object is replayed. In a page it lies as it did, unless the new layout's alignment forbids it;
 * and beside its neighbour as it did, where both are as they were. */
static uint64_t new_address(const struct replay_building *building, uint32_t k, uint64_t next)
{
	const struct replay_placed *placed = &building->placed[k], *before = placed - 1;
	uint64_t align = placed->now->align ? placed->now->align : 1;
	const struct memory *memory = &building->build->memory;

	if (k && !node_get(building->settings->replace, placed->base) &&
	    !node_get(building->settings->replace, before->base) &&
	    placed->was.address - before->was.address < PAGE && !building->build->spread_layouts)
		return memory->objects[before->number].address +
		       (placed->was.address - before->was.address);
	next = (next + PAGE - 1) / PAGE * PAGE + placed->was.address % PAGE;
	return (next + align - 1) / align * align;
}

/* Objects move to a region of their own: another layout may be larger. */
bool replay_place_objects(struct replay_building *building, struct error *error)
{
	struct memory *memory = &building->build->memory;

	memory->next = 1ull << OBJECT_REGION;
	if (!check_replaced(building, error))
		return false;
	for (uint32_t k = 0; k < building->object_count; k++) {
		struct replay_placed *placed = &building->placed[k];
		const struct layout *layout;

		placed->now = new_layout(building, placed, error);
		layout = placed->now ? own_layout(building, placed, error) : NULL;
		if (!layout)
			return false;
		memory->next = new_address(building, k, memory->next);
		placed->number =
			memory_place_at(memory, layout, placed->was.name, memory->next, 0, error);
		if (error->text[0])
			return false;
		memory->next += layout->size;
	}
	return true;
}
