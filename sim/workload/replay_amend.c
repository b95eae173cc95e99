/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture does not tell and its user does: which stores are locked, and stores that are missing. */
#include "workload/replay_parts.h"
#include <stdlib.h>
#include <string.h>

/* OBJECT.FIELD: the captured object, of several of that name each, and the field there. */
static const struct layout_field *named_field(const struct replay_building *building, uint32_t k,
					      const char *text)
{
	const struct replay_placed *placed = &building->placed[k];
	size_t length = strlen(placed->base), whole = strlen(placed->was.name);

	if (!strncmp(text, placed->was.name, whole) && text[whole] == '.')
		return layout_find(placed->was.layout, text + whole + 1);
	if (!strncmp(text, placed->base, length) && text[length] == '.')
		return layout_find(placed->was.layout, text + length + 1);
	return NULL;
}

static bool no_field(const struct node *node, const char *text, struct error *error)
{
	return node_error(node, error, "no '%.80s', expected OBJECT.FIELD with one of 'objects'",
			  text);
}

/* Stores and unknown accesses to these fields become locked. */
static bool lock_field(struct replay_building *building, const struct node *node,
		       struct error *error)
{
	struct replay *replay = building->plan->replay;
	uint8_t *locked = calloc(replay->place_count + 1, 1);
	bool found = false;

	if (!locked)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < building->object_count; k++) {
		const struct layout_field *field = named_field(building, k, node->text);
		const struct replay_placed *placed = &building->placed[k];

		found |= field != NULL;
		for (uint32_t p = 0; field && p < replay->place_count; p++)
			locked[p] |=
				replay->places[p].object == k + 1 &&
				replay->places[p].address - placed->was.address - field->offset <
					field->size;
	}
	for (uint32_t k = 0; found && k < replay->lane_count; k++)
		for (uint32_t s = 0; s < replay->lanes[k].count; s++) {
			uint32_t *what = &replay->lanes[k].steps[s].what;

			if (locked[step_place(*what)] && step_op(*what) != TRACE_LOAD)
				*what = step_what(step_place(*what), TRACE_ATOMIC, false);
		}
	free(locked);
	return found || no_field(node, node->text, error);
}

/* Stores that a profile lacks: to the first object of the name. */
static bool add_stores(struct replay_building *building, const struct node *node,
		       struct error *error)
{
	uint32_t weight;

	if (!node_count_value(node, 1, UINT32_MAX, &weight, error))
		return false;
	for (uint32_t k = 0; k < building->object_count; k++) {
		const struct layout_field *field = named_field(building, k, node->key);

		if (field)
			return replay_add_stores(building->plan->replay, (uint16_t)(k + 1),
						 building->placed[k].was.address + field->offset,
						 (uint16_t)(field->size < 8 ? field->size : 8),
						 weight, error);
	}
	return no_field(node, node->key, error);
}

/* Without a store nothing would ever move between caches. */
bool replay_complete_profile(struct replay_building *building, struct error *error)
{
	const struct node *map = building->settings->stores;
	const struct replay *replay = building->plan->replay;

	if (map && map->kind != NODE_MAP)
		return node_error(map, error, "expected a map of OBJECT.FIELD to weights");
	if (map && map->first && !building->plan->profile)
		return node_error(map, error,
				  "%s is no profile, expected stores for profiles alone",
				  building->settings->trace);
	for (const struct node *node = map ? map->first : NULL; node; node = node->next)
		if (!add_stores(building, node, error))
			return false;
	return replay->stores || !building->plan->profile ||
	       error_set(error,
			 "%s has no store, so that no line would ever move, expected --store "
			 "OBJECT.FIELD=WEIGHT for whatever is written",
			 building->settings->trace);
}

bool replay_lock_fields(struct replay_building *building, struct error *error)
{
	const struct node *list = building->settings->atomics;

	if (list && list->kind != NODE_LIST)
		return node_error(list, error, "expected a list of OBJECT.FIELD");
	for (const struct node *node = list ? list->first : NULL; node; node = node->next)
		if (node->kind != NODE_SCALAR)
			return node_error(node, error, "expected OBJECT.FIELD");
		else if (!lock_field(building, node, error))
			return false;
	return true;
}
