/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models/micro.c set up.
 *
 *   model: micro
 *   threads: N
 *   program: add, xadd, xchg, cmpxchg, load_add, store, increment or load
 *   others: the same choice           what all threads but the first do; default: what it does
 *   slots: shared, own                default shared: all threads use slot0; own: thread k uses slot k mod 8
 *   placement: compact or spread
 *
 * The struct is `micro`, of eight slots; its layout says which of them share a line. An operation is
 * sixteen of the program; what others do is counted by itself. */
#include "models/micro.h"
#include "workload/workload.h"
#include <stdio.h>

enum { SLOTS = 8, OTHERS_ALIKE = MICRO_LOAD + 1 };

struct settings {
	uint32_t threads;
	int program, others, slots, placement;
	const char *model;
};

enum { SLOTS_SHARED, SLOTS_OWN };

/* In the order of enum micro_program. */
static const char *const programs[] = { "add",   "xadd",      "xchg", "cmpxchg", "load_add",
					"store", "increment", "load", NULL };
static const char *const slot_choices[] = { "shared", "own", NULL };

#define SETTING(key, kind, member, ...)                                                 \
	{                                                                               \
		.name = key, .type = kind, .offset = offsetof(struct settings, member), \
		__VA_ARGS__                                                             \
	}
static const struct key keys[] = {
	SETTING("model", VALUE_STRING, model),
	SETTING("threads", VALUE_COUNT, threads, .min = 1, .max = MACHINE_CPUS_MAX),
	SETTING("program", VALUE_CHOICE, program, .choices = programs),
	SETTING("others", VALUE_CHOICE, others, .choices = programs),
	SETTING("slots", VALUE_CHOICE, slots, .choices = slot_choices),
	SETTING("placement", VALUE_CHOICE, placement, .choices = placement_names),
	{ 0 },
};

static const struct settings defaults = {
	.threads = 1, .program = MICRO_ADD, .others = MICRO_ADD, .placement = PLACEMENT_COMPACT
};

/* Where the settings do not say what the others do. */
static bool check(const void *from, const struct node *at, struct error *error)
{
	struct settings *settings = (struct settings *)(uintptr_t)from;

	(void)error;
	if (!node_get(at, "others"))
		settings->others = settings->program;
	return true;
}

static bool add_thread(struct build *build, const struct settings *settings, uint32_t object,
		       uint32_t k, struct error *error)
{
	struct micro_worker *worker = build_memory(build, sizeof(*worker), error);
	struct micro_object *handle = build_memory(build, sizeof(*handle), error);
	char slot[16];
	const struct binding bindings[] = { { slot, NULL, offsetof(struct micro_object, slot) },
					    { 0 } };

	if (!worker || !handle)
		return false;
	snprintf(slot, sizeof(slot), "slot%u", settings->slots == SLOTS_OWN ? k % SLOTS : 0);
	if (!memory_bind(&build->memory, object, bindings, handle, error))
		return false;
	if (!handle->slot.size)
		return error_set(error, "the layout of micro has no %s", slot);
	worker->object = handle;
	worker->program = (enum micro_program)(k ? settings->others : settings->program);
	worker->operation = worker->program == (enum micro_program)settings->program ? 0 : 1;
	return machine_thread(build->machine, build_cpu(build, k), micro_repeat, worker, error);
}

static bool build_micro(struct build *build, const void *from, struct error *error)
{
	const struct settings *settings = from;
	const struct layout *layout = build_layout(build, "micro", "micro-together", error);
	uint32_t object;

	if (!layout)
		return false;
	build->placement = (enum placement)settings->placement;
	object = memory_place(&build->memory, layout, "slots", LINE_MAX, 0, error);
	for (uint32_t k = 0; k < settings->threads && !error->text[0]; k++)
		add_thread(build, settings, object, k, error);
	return !error->text[0];
}

static const char *const operations[] = { "operation", "other's", NULL };
static const char *const structs[] = { "micro", NULL };

const struct workload_model workload_micro = {
	.name = "micro",
	.about = "threads that repeat one operation on a shared line, or on lines of their own",
	.keys = keys,
	.size = sizeof(struct settings),
	.defaults = &defaults,
	.operations = operations,
	.structs = structs,
	.check = check,
	.build = build_micro,
};
