/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Can the checker fail? Mistakes put into the protocol's table, one at a time: those that are known
 * to happen, and every single cell made wrong (another next state, an action dropped or added).
 *
 * A mistake is killed by the properties, or, if it breaks none of them, because the number of
 * states or rules is no longer the protocol's: it would be a wrong cost, not a wrong value. */
#ifndef CHECK_MUTATE_H
#define CHECK_MUTATE_H

#include "check/explore.h"

enum mutant_fate { MUTANT_KILLED, MUTANT_COUNTED, MUTANT_SURVIVED, MUTANT_ABSENT };

enum { PLANTED_COUNT = 20 };

/* The k-th planted mistake, 1 .. PLANTED_COUNT: what it is called, and which race it gets wrong. */
const char *planted_name(uint32_t k);
const char *planted_race(uint32_t k);

/* Plants it where `right`, explored with symmetry and so many caches, is what the variant's own rows
 * give. MUTANT_ABSENT: the variant has none of the rows. *found: what the checker says of it. */
enum mutant_fate planted_try(uint32_t k, const struct protocol_variant *variant, uint32_t caches,
			     const struct explore_result *right, struct explore_result *found);

struct mutants {
	uint32_t tried, killed, counted; /* counted: by the number of states alone */
	uint32_t unexplained;            /* of those that survive */
	char *survivors; /* a line each, "HM/PutOther: with leave: " and why that is harmless; the
			    caller frees it */
};

/* Every single-cell mutant of a variant, with so many caches, in parallel. `every`: only each so
 * many-th, 1 for all. False without memory. */
bool mutants_try(const struct protocol_variant *variant, uint32_t caches, uint32_t every,
		 struct mutants *mutants);

#endif
