/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models/charge.c set up.
 *
 *   model: charge
 *   threads: N
 *   levels: N                  counters above the leaf
 *   leaves: one or own         all threads charge one leaf, or each has its own under one parent
 *   batch: N                   pages a charge
 *   hold: N                    charges that a thread keeps before it gives one back
 *   limit: N                   pages that the uppermost counter allows; 0: no limit
 *   propagate: always, on_change or never
 *   protect: PAGES             min and low of the leaf
 *   watch: BOOL                each thread looks at the leaf's usage after each charge
 *   placement: compact or spread
 *
 * The struct is page_counter. */
#include "models/charge.h"
#include "workload/workload.h"
#include <inttypes.h>
#include <stdio.h>

enum { LEVELS_MAX = 64, UNLIMITED_SHIFT = 40, START_PAGES = 1 << 20 };

struct settings {
	uint32_t threads, levels, batch, hold, limit, protect;
	int leaves, propagate, placement;
	bool watch;
	const char *model;
};

enum { LEAF_ONE, LEAF_OWN };

static const char *const leaf_choices[] = { "one", "own", NULL };
static const char *const propagate_choices[] = { "always", "on_change", "never", NULL };

#define SETTING(key, kind, member, ...)                                                 \
	{                                                                               \
		.name = key, .type = kind, .offset = offsetof(struct settings, member), \
		__VA_ARGS__                                                             \
	}
static const struct key keys[] = {
	SETTING("model", VALUE_STRING, model),
	SETTING("threads", VALUE_COUNT, threads, .min = 1, .max = MACHINE_CPUS_MAX),
	SETTING("levels", VALUE_COUNT, levels, .max = LEVELS_MAX),
	SETTING("leaves", VALUE_CHOICE, leaves, .choices = leaf_choices),
	SETTING("batch", VALUE_COUNT, batch, .min = 1, .max = 1 << 20),
	SETTING("hold", VALUE_COUNT, hold, .max = 1 << 20),
	SETTING("limit", VALUE_COUNT, limit, .max = 1u << 31),
	SETTING("propagate", VALUE_CHOICE, propagate, .choices = propagate_choices),
	SETTING("protect", VALUE_COUNT, protect, .max = 1u << 31),
	SETTING("watch", VALUE_BOOL, watch),
	SETTING("placement", VALUE_CHOICE, placement, .choices = placement_names),
	{ 0 },
};

static const struct settings defaults = { .threads = 1,
					  .levels = 2,
					  .batch = 1,
					  .propagate = PROPAGATE_ON_CHANGE,
					  .placement = PLACEMENT_COMPACT };

/* ---- counters ------------------------------------------------------------------------------- */

#define FIELD(field, or_else)                                         \
	{                                                             \
#field, or_else, offsetof(struct page_counter, field) \
	}
static const struct binding bindings[] = {
	FIELD(usage, "count"),
	FIELD(max, "limit"),
	FIELD(min, NULL),
	FIELD(low, NULL),
	FIELD(high, NULL),
	FIELD(emin, NULL),
	FIELD(min_usage, NULL),
	FIELD(children_min_usage, NULL),
	FIELD(elow, NULL),
	FIELD(low_usage, NULL),
	FIELD(children_low_usage, NULL),
	FIELD(watermark, NULL),
	FIELD(local_watermark, NULL),
	FIELD(failcnt, NULL),
	FIELD(parent, NULL),
	FIELD(protection_support, NULL),
	FIELD(track_failcnt, NULL),
	{ 0 },
};

/* What is kept for the verification at the end. */
struct charge {
	uint32_t counters, leaves, workers, limit, batch;
	bool never;                    /* protected parts are left alone */
	struct page_counter **counter; /* from the uppermost down; the leaves last */
	struct charge_worker **worker;
};

static bool has_fields(const struct page_counter *counter, const struct settings *settings,
		       struct error *error)
{
	const struct {
		const char *name;
		const struct place *place;
		bool needed;
	} fields[] = {
		{ "usage", &counter->usage, true },
		{ "max", &counter->max, true },
		{ "parent", &counter->parent, true },
		{ "watermark", &counter->watermark, true },
		{ "failcnt", &counter->failcnt, true },
		{ "min", &counter->min, settings->propagate != PROPAGATE_NEVER },
		{ "low", &counter->low, settings->propagate != PROPAGATE_NEVER },
		{ "min_usage", &counter->min_usage, settings->propagate != PROPAGATE_NEVER },
		{ "low_usage", &counter->low_usage, settings->propagate != PROPAGATE_NEVER },
		{ "children_min_usage", &counter->children_min_usage,
		  settings->propagate != PROPAGATE_NEVER },
		{ "children_low_usage", &counter->children_low_usage,
		  settings->propagate != PROPAGATE_NEVER },
	};

	for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++)
		if (fields[k].needed && !fields[k].place->size)
			return error_set(error,
					 "the layout of page_counter has no %s, which propagate: "
					 "%s asks for",
					 fields[k].name, propagate_choices[settings->propagate]);
	return true;
}

static struct page_counter *add_counter(struct build *build, const struct settings *settings,
					const char *name, struct page_counter *parent,
					struct error *error)
{
	const struct layout *layout =
		build_layout(build, "page_counter", "page_counter-6.1", error);
	struct page_counter *counter = layout ? build_memory(build, sizeof(*counter), error) : NULL;
	struct memory *memory = &build->memory;
	uint32_t number;

	if (!counter)
		return NULL;
	number = memory_place(memory, layout, name, LINE_MAX, 0, error);
	if (error->text[0] || !memory_bind(memory, number, bindings, counter, error) ||
	    !has_fields(counter, settings, error))
		return NULL;
	memory_set(memory, &counter->max,
		   parent || !settings->limit ? 1ull << UNLIMITED_SHIFT : settings->limit);
	memory_set(memory, &counter->parent, (uintptr_t)parent);
	if (counter->protection_support.size)
		memory_set(memory, &counter->protection_support, 1);
	/* In steady state: nothing rises above the watermark. */
	memory_set(memory, &counter->watermark, 1u << 30);
	if (counter->local_watermark.size)
		memory_set(memory, &counter->local_watermark, 1u << 30);
	return counter;
}

static void protect(struct build *build, struct page_counter *counter, uint32_t pages)
{
	counter->has_protection = pages > 0;
	if (!pages || !counter->min.size)
		return;
	memory_set(&build->memory, &counter->min, pages);
	memory_set(&build->memory, &counter->low, pages);
}

static bool add_leaf(struct build *build, const struct settings *settings, struct charge *charge,
		     struct page_counter *parent, struct error *error)
{
	char name[24];
	struct page_counter *leaf;

	snprintf(name, sizeof(name), "leaf %u", charge->leaves);
	leaf = add_counter(build, settings, name, parent, error);
	if (!leaf)
		return false;
	protect(build, leaf, settings->protect);
	charge->counter[charge->counters++] = leaf;
	charge->leaves++;
	return true;
}

static bool add_counters(struct build *build, const struct settings *settings,
			 struct charge *charge, struct error *error)
{
	uint32_t leaves = settings->leaves == LEAF_OWN ? settings->threads : 1;
	struct page_counter *parent = NULL;

	for (uint32_t level = 0; level < settings->levels; level++) {
		char name[24];

		snprintf(name, sizeof(name), "level %u", level);
		parent = add_counter(build, settings, name, parent, error);
		if (!parent)
			return false;
		charge->counter[charge->counters++] = parent;
	}
	for (uint32_t k = 0; k < leaves; k++)
		if (!add_leaf(build, settings, charge, parent, error))
			return false;
	return true;
}

static bool build_charge(struct build *build, const void *from, struct error *error)
{
	const struct settings *settings = from;
	struct page_counter_rules *rules = build_memory(build, sizeof(*rules), error);
	struct charge *charge = build_memory(build, sizeof(*charge), error);

	if (!rules || !charge)
		return false;
	build->placement = (enum placement)settings->placement;
	build->own = charge;
	rules->propagate = (enum propagate)settings->propagate;
	charge->limit = settings->limit;
	charge->batch = settings->batch;
	charge->never = settings->propagate == PROPAGATE_NEVER;
	charge->counter = build_memory(
		build, (settings->levels + settings->threads) * sizeof(*charge->counter), error);
	charge->worker = build_memory(build, settings->threads * sizeof(*charge->worker), error);
	if (!charge->counter || !charge->worker || !add_counters(build, settings, charge, error))
		return false;
	for (uint32_t k = 0; k < settings->threads; k++) {
		struct charge_worker *worker = build_memory(build, sizeof(*worker), error);

		if (!worker)
			return false;
		*worker = (struct charge_worker){
			.rules = rules,
			.counter = charge->counter[settings->levels + k % charge->leaves],
			.batch = settings->batch,
			.hold = settings->hold,
			.watch = settings->watch,
		};
		charge->worker[charge->workers++] = worker;
		if (!machine_thread(build->machine, build_cpu(build, k), charge_repeat, worker,
				    error))
			return false;
	}
	return true;
}

/* ---- at rest -------------------------------------------------------------------------------- */

static bool expect(struct error *error, const char *what, int64_t got, int64_t expected)
{
	return got == expected || error_set(error, "charge: %s is %" PRId64 ", expected %" PRId64,
					    what, got, expected);
}

/* What a counter's children have under protection. Each exchange of a child's protected part hands
 * the difference on, so that the sum is exact once all is at rest, whatever raced. */
static bool verify_children(const struct build *build, const struct charge *charge, uint32_t parent,
			    uint32_t first, uint32_t count, struct error *error)
{
	const struct page_counter *counter = charge->counter[parent];
	int64_t min = 0, low = 0;

	if (!counter->children_min_usage.size)
		return true;
	for (uint32_t k = first; k < first + count; k++) {
		min += (int64_t)memory_get(&build->memory, &charge->counter[k]->min_usage);
		low += (int64_t)memory_get(&build->memory, &charge->counter[k]->low_usage);
	}
	return expect(error, "children_min_usage",
		      (int64_t)memory_get(&build->memory, &counter->children_min_usage), min) &&
	       expect(error, "children_low_usage",
		      (int64_t)memory_get(&build->memory, &counter->children_low_usage), low);
}

/* With one thread nothing is in flight: the protected part of each leaf is that of its usage. */
static bool verify_protected(const struct build *build, const struct charge *charge,
			     const struct page_counter *leaf, struct error *error)
{
	int64_t usage, bound;

	if (charge->workers > 1 || charge->never || !leaf->min.size)
		return true;
	usage = (int64_t)memory_get(&build->memory, &leaf->usage);
	bound = (int64_t)memory_get(&build->memory, &leaf->min);
	return expect(error, "min_usage", (int64_t)memory_get(&build->memory, &leaf->min_usage),
		      usage < bound ? usage : bound) &&
	       expect(error, "low_usage", (int64_t)memory_get(&build->memory, &leaf->low_usage),
		      usage < bound ? usage : bound);
}

/* Every counter holds what was charged below it less what was given back. A charge adds, looks, and
 * takes back what it may not have: so usage at rest is within the limit, and while threads run at most
 * each of them is a charge beyond it. */
static bool verify(const struct build *build, struct error *error)
{
	const struct charge *charge = build->own;
	uint32_t levels = charge->counters - charge->leaves;
	int64_t all = 0, bound = charge->limit + (int64_t)charge->workers * charge->batch;

	for (uint32_t k = 0; k < charge->leaves; k++) {
		const struct page_counter *leaf = charge->counter[levels + k];
		int64_t held = 0;

		for (uint32_t w = k; w < charge->workers; w += charge->leaves)
			held += charge->worker[w]->held;
		all += held;
		if (!expect(error, "usage of a leaf",
			    (int64_t)memory_get(&build->memory, &leaf->usage), held) ||
		    !verify_protected(build, charge, leaf, error))
			return false;
	}
	for (uint32_t k = 0; k < levels; k++) {
		uint32_t children = k + 1 < levels ? 1 : charge->leaves;

		if (!expect(error, "usage of a counter above",
			    (int64_t)memory_get(&build->memory, &charge->counter[k]->usage), all) ||
		    !verify_children(build, charge, k, k + 1, children, error))
			return false;
	}
	if (charge->limit && all > charge->limit)
		return error_set(error, "charge: %" PRId64 " pages at rest, with a limit of %u",
				 all, charge->limit);
	for (uint32_t w = 0; charge->limit && w < charge->workers; w++)
		if (charge->worker[w]->highest > bound)
			return error_set(error,
					 "charge: %" PRId64 " pages were in use, expected at most "
					 "%" PRId64 ": the limit and a charge of each thread",
					 charge->worker[w]->highest, bound);
	return true;
}

static const char *const operations[] = { "charge", NULL };
static const char *const structs[] = { "page_counter", NULL };

const struct workload_model workload_charge = {
	.name = "charge",
	.about = "threads that charge a page counter and all above it, and give back",
	.keys = keys,
	.size = sizeof(struct settings),
	.defaults = &defaults,
	.operations = operations,
	.structs = structs,
	.build = build_charge,
	.verify = verify,
};
