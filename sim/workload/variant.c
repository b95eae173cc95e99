/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/variant.h"

/* `budget` counts the names that may still be followed: a tower of lists could ask for any number.
 */
static bool check(const struct node *variants, const struct node *variant, int depth, int *budget,
		  struct error *error)
{
	if (variant->kind == NODE_MAP || (variant->kind == NODE_SCALAR && !*variant->text))
		return true;
	if (variant->kind != NODE_LIST)
		return node_error(variant, error,
				  "expected a map of overrides, or a list of variants");
	if (depth == VARIANT_DEPTH)
		return node_error(variant, error,
				  "variants refer to each other in a circle, or more than %d deep",
				  VARIANT_DEPTH);
	for (const struct node *name = variant->first; name; name = name->next) {
		const struct node *other =
			name->kind == NODE_SCALAR ? node_get(variants, name->text) : NULL;

		if (!other)
			return node_error(name, error, "no variant '%s'",
					  name->kind == NODE_SCALAR ? name->text : "(not a name)");
		if (--*budget < 0)
			return node_error(name, error, "a variant made of more than %d others",
					  VARIANT_NAMES_MAX);
		if (!check(variants, other, depth + 1, budget, error))
			return false;
	}
	return true;
}

bool variant_check(const struct node *variants, const struct node *variant, struct error *error)
{
	int budget = VARIANT_NAMES_MAX;

	return check(variants, variant, 0, &budget, error);
}

bool overrides_apply(const struct node *map, struct setting *setting, struct error *error)
{
	for (const struct node *value = map->first; value; value = value->next)
		if (!setting_override(setting, value->key, value, error))
			return false;
	return true;
}

bool variant_apply(const struct node *variants, const struct node *variant, struct setting *setting,
		   struct error *error)
{
	if (variant->kind != NODE_LIST)
		return overrides_apply(variant, setting, error);
	for (const struct node *name = variant->first; name; name = name->next)
		if (!variant_apply(variants, node_get(variants, name->text), setting, error))
			return false;
	return true;
}
