/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variants: what one differs in, by path; or others put together. */
#ifndef WORKLOAD_VARIANT_H
#define WORKLOAD_VARIANT_H

#include "workload/simulation.h"

enum { VARIANTS_MAX = 64, VARIANT_DEPTH = 8, VARIANT_NAMES_MAX = 256 };

/* Is the variant a map of overrides, or a list of variants that there are, without going in
 * circles? */
bool variant_check(const struct node *variants, const struct node *variant, struct error *error);

/* Applies its overrides to a setting, those of a list in its order. */
bool variant_apply(const struct node *variants, const struct node *variant, struct setting *setting,
		   struct error *error);

/* Applies a map of paths to values. */
bool overrides_apply(const struct node *map, struct setting *setting, struct error *error);

#endif
