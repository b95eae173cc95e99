/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The replay workload: a captured program's accesses, in fields where objects are known, so that other
 * layouts can be tried.
 *
 *   workload:
 *     model: replay
 *     trace: FILE                  in any format of trace/formats.h
 *     format: NAME                 unless it is to be recognised
 *     objects:                     where structs lay in the captured program
 *       root: {layout: page_counter-5.15, address: 0x4040c0}
 *       cpu: {layout: stock, address: 0xff00, stride: 128 B, count: 8}     cpu[0] to cpu[7]
 *     replace: {root: page_counter-6.12}    other layouts to replay them on, by name
 *     only: all, objects           leave out what no object holds
 *     by: thread, cpu              whose accesses make one simulated thread's
 *     order: own, recorded         each thread in its own order; or all in the one that was recorded,
 *                                  one access after the other
 *     gaps: 1                      recorded gaps are multiplied by this
 *     gap: 100 ns                  from one access to the next, where a profile does not tell
 *     unknown: modify              what is done where the capture does not say: load, store, modify, atomic
 *     atomics: [root.usage]        fields whose stores are locked operations, as a capture may not tell
 *     stores: {root.usage: 1000}   stores that a profile lacks, with their weights
 *     placement: recorded, compact, spread
 *     cpus: {0: 0, 1: 18}          captured CPUs, or threads where these are not known, to simulated ones
 *     threads: N                   of an aggregate
 *     home: touch, interleave      a line's home: the socket that touched it first; or in turn
 *     seed: N                      of the draws from a profile
 */
#include "workload/replay_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP_MAX = 100 * 1000 * 1000 };

static const char *const only_choices[] = { "all", "objects", NULL };
static const char *const by_choices[] = { "thread", "cpu", NULL };
static const char *const order_choices[] = { "own", "recorded", NULL };
/* In the order of enum trace_op. */
static const char *const unknown_choices[] = { "load", "store", "atomic", "modify", NULL };
static const char *const placement_choices[] = { "recorded", "compact", "spread", NULL };
static const char *const home_choices[] = { "touch", "interleave", NULL };

#define SETTING(key, kind, member, ...)                                                        \
	{                                                                                      \
		.name = key, .type = kind, .offset = offsetof(struct replay_settings, member), \
		__VA_ARGS__                                                                    \
	}
static const struct key keys[] = {
	SETTING("model", VALUE_STRING, model),
	SETTING("trace", VALUE_STRING, trace, .required = true),
	SETTING("format", VALUE_STRING, format),
	SETTING("objects", VALUE_NODE, objects),
	SETTING("replace", VALUE_NODE, replace),
	SETTING("only", VALUE_CHOICE, only, .choices = only_choices),
	SETTING("by", VALUE_CHOICE, by, .choices = by_choices),
	SETTING("order", VALUE_CHOICE, order, .choices = order_choices),
	SETTING("gaps", VALUE_REAL, gaps, .max = 1000),
	SETTING("gap", VALUE_DURATION, gap, .max = GAP_MAX),
	SETTING("unknown", VALUE_CHOICE, unknown, .choices = unknown_choices),
	SETTING("atomics", VALUE_NODE, atomics),
	SETTING("stores", VALUE_NODE, stores),
	SETTING("placement", VALUE_CHOICE, placement, .choices = placement_choices),
	SETTING("cpus", VALUE_NODE, cpus),
	SETTING("threads", VALUE_COUNT, threads, .min = 1, .max = MACHINE_CPUS_MAX),
	SETTING("home", VALUE_CHOICE, home, .choices = home_choices),
	SETTING("seed", VALUE_COUNT, seed),
	{ 0 },
};

static const struct replay_settings defaults = { .gaps = 1,
						 .gap = { .value = 100 },
						 .unknown = TRACE_MODIFY };

/* ---- all of it ------------------------------------------------------------------------------ */

static void plan_free(void *from)
{
	struct replay_plan *plan = from;

	replay_free(plan->replay);
	free(plan->of_place);
	free(plan->pieces);
	free(plan->threads);
}

static bool load(struct replay_building *building, struct error *error)
{
	const struct replay_settings *settings = building->settings;
	const struct machine_config *config = &building->build->machine->config;
	struct replay_plan *plan = building->plan;
	const struct replay_choice choice = {
		.path = settings->trace,
		.format = settings->format,
		.objects = building->objects,
		.object_count = building->object_count,
		.by = (enum replay_by)settings->by,
		.only = (enum replay_only)settings->only,
		.fixed_order = settings->order != 0,
		.clock = config->clock,
		.lanes = settings->threads,
	};

	plan->replay = replay_load(&choice, error);
	if (!plan->replay)
		return false;
	if (!plan->replay->step_count)
		return error_set(error, "%s: no access to replay, expected some%s", settings->trace,
				 plan->replay->outside ? " in the objects" : "");
	return true;
}

static bool make_room(struct replay_plan *plan, struct error *error)
{
	plan->of_place = calloc(plan->replay->place_count, sizeof(*plan->of_place));
	plan->threads = calloc(plan->replay->lane_count, sizeof(struct thread *));
	return (plan->of_place && plan->threads) || error_set(error, "out of memory");
}

static bool set_plan(struct replay_building *building, struct error *error)
{
	const struct replay_settings *settings = building->settings;
	const struct machine_config *config = &building->build->machine->config;
	struct replay_plan *plan = building->plan;

	plan->profile = plan->replay->kind == KIND_SAMPLED || plan->replay->kind == KIND_AGGREGATE;
	plan->in_order = settings->order != 0;
	if (plan->profile && plan->in_order)
		return error_set(error, "%s: a profile has no order, expected order: own",
				 settings->trace);
	plan->unknown = (uint8_t)settings->unknown;
	plan->cycles_per_ns = config->clock / 1e9 * settings->gaps;
	plan->gap = (double)duration_cycles(settings->gap, config->clock);
	plan->seed = config->coherence.seed + ((uint64_t)settings->seed << 32);
	building->build->whole = !plan->profile;
	building->build->placement =
		settings->placement == REPLAY_PLACE_SPREAD ? PLACEMENT_SPREAD : PLACEMENT_COMPACT;
	return true;
}

static bool build_replay(struct build *build, const void *from, struct error *error)
{
	struct replay_building building = { .build = build, .settings = from };

	building.plan = build_memory(build, sizeof(*building.plan), error);
	if (!building.plan)
		return false;
	build->at_end = plan_free;
	build->at_end_of = building.plan;
	return replay_read_objects(&building, error) && load(&building, error) &&
	       set_plan(&building, error) && replay_complete_profile(&building, error) &&
	       make_room(building.plan, error) && replay_lock_fields(&building, error) &&
	       replay_place_objects(&building, error) &&
	       replay_name_lines(build, building.plan->replay, error) &&
	       replay_cut_places(&building, error) && replay_add_threads(&building, error);
}

static const char *const operations[] = { "access", NULL };

const struct workload_model workload_replay = {
	.name = "replay",
	.about = "what a captured program did, on this machine and other layouts",
	.keys = keys,
	.size = sizeof(struct replay_settings),
	.defaults = &defaults,
	.operations = operations,
	.build = build_replay,
};
