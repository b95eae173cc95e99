/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop workload: groups of threads that repeat steps on fields of structs. Enough to study a
 * struct of one's own without writing C:
 *
 *   workload:
 *     model: loop
 *     placement: compact          or spread; threads are numbered group after group
 *     objects:                    what lies in memory, in this order
 *       stats: {struct: stats}    its layout is the one that the experiment's `layouts:` names
 *       local: {struct: counter, per_thread: true}
 *     groups:
 *       writers: {threads: 8, each: [{add: stats.packets}, {work: 200 cycles}]}
 *       readers: {threads: 8, each: [{read: [stats.limit, stats.flags]}, {work: 1 us}]}
 *
 * An object: `at`, a size, makes its address a multiple of that (else of a line); `count` makes
 * several, and thread k uses number k modulo count; with `per_thread` each thread has its own, in
 * its socket's memory; others are in that of `socket`, 0 unless said.
 *
 * A group: `each` is one pass, repeated without end; passes begin `every` so often, or, if that is
 * too fast or not said, one upon the other. Throughput counts the passes of the first group.
 *
 * A step does one thing to a field or, in order, to each of a list:
 *   read     a list of reads is in flight together
 *   write    a plain store
 *   add      a locked addition of 1, or `by` so much
 *   xchg     a locked exchange
 *   cmpxchg  a locked compare-exchange with what this thread last saw there, for that plus 1: it
 *            fails where others came between
 *   fence    `- fence`, or `{fence: true}`
 *   work     computes for a time, give or take a share of it (`jitter: 0.2`, evenly spread), or
 *            with that mean (`exponential: true`)
 * and with `chance: 0.1` only in one pass of ten. Fields start at 0; write and xchg store the
 * number of the thread's pass, from 1. */
#include "models/loop.h"
#include "workload/workload.h"
#include <stdio.h>
#include <string.h>

enum {
	OBJECTS_MAX = 32,    /* entries under `objects` */
	COUNT_MAX = 4096,    /* of one entry */
	BYTES_MAX = 4 << 20, /* of all: a line takes some hundred bytes of the host's */
	ALIGN_MAX = 4096,
	TIME_MAX = 10 * 1000 * 1000 /* ns or cycles */
};

struct settings {
	const char *model;
	int placement;
	const struct node *objects, *groups;
};

#define SETTING(key, kind, member, ...)                                                 \
	{                                                                               \
		.name = key, .type = kind, .offset = offsetof(struct settings, member), \
		__VA_ARGS__                                                             \
	}
static const struct key keys[] = {
	SETTING("model", VALUE_STRING, model),
	SETTING("placement", VALUE_CHOICE, placement, .choices = placement_names),
	SETTING("objects", VALUE_NODE, objects, .required = true),
	SETTING("groups", VALUE_NODE, groups, .required = true),
	{ 0 },
};

static const struct settings defaults = { .placement = PLACEMENT_COMPACT };

/* An entry under `objects`. */
struct object_set {
	const struct node *node;
	const struct layout *layout;
	const char *structure;
	uint64_t at;
	uint32_t count, socket;
	bool per_thread;
	uint32_t first; /* number of its first object; the others follow */
};

/* ---- objects -------------------------------------------------------------------------------- */

struct loop {
	struct build *build;
	const struct settings *settings;
	double clock;
	uint32_t set_count, group_count, threads;
	struct object_set sets[OBJECTS_MAX];
	const char *set_names[OBJECTS_MAX + 1];
	struct group *groups[OPERATION_MAX];
};

#define OBJECT(key, kind, member, ...)                                                    \
	{                                                                                 \
		.name = key, .type = kind, .offset = offsetof(struct object_set, member), \
		__VA_ARGS__                                                               \
	}
static const struct key object_keys[] = {
	OBJECT("struct", VALUE_STRING, structure, .required = true),
	OBJECT("at", VALUE_SIZE, at, .min = 1, .max = ALIGN_MAX),
	OBJECT("count", VALUE_COUNT, count, .min = 1, .max = COUNT_MAX),
	OBJECT("socket", VALUE_COUNT, socket, .max = 255),
	OBJECT("per_thread", VALUE_BOOL, per_thread),
	{ 0 },
};

/* Entries of a map that must have some, and at most so many. */
static bool entries_expected(const struct node *node, const char *what, uint32_t most,
			     struct error *error)
{
	if (node->kind != NODE_MAP || !node->first)
		return node_error(node, error, "no %s, expected a map of NAME: {...}", what);
	return node_count(node) <= most ||
	       node_error(node, error, "%zu %s, expected at most %u", node_count(node), what, most);
}

static bool set_check(const struct loop *loop, const struct object_set *set, struct error *error)
{
	const struct machine_config *config = &loop->build->machine->config;

	if (!*set->node->key || strpbrk(set->node->key, ".: "))
		return node_key_error(set->node, error,
				      "'%.60s' is no name, expected one without '.', ':' and space",
				      set->node->key);
	if (set->at & (set->at - 1))
		return node_error(node_get(set->node, "at"), error,
				  "not a power of two, expected one");
	if (set->socket >= config->sockets)
		return node_error(node_get(set->node, "socket"), error,
				  "%u, expected less than %u, as the machine has sockets",
				  set->socket, config->sockets);
	if (set->per_thread && (node_get(set->node, "count") || node_get(set->node, "socket")))
		return node_error(set->node, error,
				  "per_thread with count or socket, expected one or the other");
	return node_get(loop->build->layouts, set->structure) ||
	       node_error(node_get(set->node, "struct"), error,
			  "no layout for struct '%.60s', expected one under 'layouts'",
			  set->structure);
}

static bool read_objects(struct loop *loop, struct error *error)
{
	const struct node *objects = loop->settings->objects;

	if (!entries_expected(objects, "objects", OBJECTS_MAX, error))
		return false;
	for (const struct node *node = objects->first; node; node = node->next) {
		struct object_set *set = &loop->sets[loop->set_count];

		*set = (struct object_set){ .node = node,
					    .count = 1,
					    .at = loop->build->machine->config.coherence.line };
		if (!schema_read(node, object_keys, set, error) || !set_check(loop, set, error))
			return false;
		set->layout = build_layout(loop->build, set->structure, NULL, error);
		if (!set->layout)
			return false;
		loop->set_names[loop->set_count++] = node->key;
	}
	return true;
}

static bool place_set(struct loop *loop, struct object_set *set, struct error *error)
{
	struct memory *memory = &loop->build->memory;

	set->first = memory->object_count;
	for (uint32_t k = 0; k < set->count; k++) {
		uint32_t cpu = build_cpu(loop->build, k);
		uint32_t socket = set->per_thread ? build_socket(loop->build, cpu) : set->socket;
		struct error cause = { "" };
		char name[80];

		snprintf(name, sizeof(name), set->count > 1 ? "%.60s %u" : "%.60s", set->node->key,
			 k);
		memory_place(memory, set->layout, name, (uint32_t)set->at, socket, &cause);
		if (cause.text[0])
			return node_key_error(set->node, error, "%s", cause.text);
	}
	return true;
}

static bool place_objects(struct loop *loop, struct error *error)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < loop->set_count; k++) {
		struct object_set *set = &loop->sets[k];
		uint64_t unit = set->at > set->layout->align ? set->at : set->layout->align;

		set->count = set->per_thread ? loop->threads : set->count;
		bytes += set->count * (set->layout->size + unit);
		if (bytes > BYTES_MAX)
			return node_key_error(set->node, error,
					      "objects up to this one take %llu bytes, expected at "
					      "most %d",
					      (unsigned long long)bytes, BYTES_MAX);
		if (!place_set(loop, set, error))
			return false;
	}
	return true;
}

/* ---- steps ---------------------------------------------------------------------------------- */

struct step_map {
	const struct node *operation[OPERATIONS];
	double chance, jitter;
	bool exponential;
	int64_t by;
};

#define STEP(key, kind, member, ...)                                                    \
	{                                                                               \
		.name = key, .type = kind, .offset = offsetof(struct step_map, member), \
		__VA_ARGS__                                                             \
	}
/* The operations come first, in their order. */
static const struct key step_keys[] = {
	STEP("read", VALUE_NODE, operation[READ]),
	STEP("write", VALUE_NODE, operation[WRITE]),
	STEP("add", VALUE_NODE, operation[ADD]),
	STEP("xchg", VALUE_NODE, operation[XCHG]),
	STEP("cmpxchg", VALUE_NODE, operation[CMPXCHG]),
	STEP("fence", VALUE_NODE, operation[FENCE]),
	STEP("work", VALUE_NODE, operation[WORK]),
	STEP("chance", VALUE_REAL, chance, .min = 1e-6, .max = 1),
	STEP("by", VALUE_INT, by, .min = -1e15, .max = 1e15),
	STEP("jitter", VALUE_REAL, jitter, .max = 1),
	STEP("exponential", VALUE_BOOL, exponential),
	{ 0 },
};

static bool no_object(const struct loop *loop, const struct node *node, const char *name,
		      struct error *error)
{
	const char *near = nearest(name, loop->set_names);

	return node_error(node, error, "no object '%.60s', %s'%.60s'%s", name,
			  near ? "did you mean " : "expected one under 'objects', such as ",
			  near ? near : loop->set_names[0], near ? "?" : "");
}

static bool no_field(const struct layout *layout, const struct node *node, const char *name,
		     struct error *error)
{
	const char *names[LAYOUT_FIELD_LIMIT + 1], *near;

	for (uint32_t k = 0; k < layout->field_count; k++)
		names[k] = layout->fields[k].name;
	names[layout->field_count] = NULL;
	near = nearest(name, names);
	return node_error(node, error, "layout %.60s has no field '%.60s', %s'%.60s'%s",
			  layout->name, name, near ? "did you mean " : "expected one such as ",
			  near ? near : names[0], near ? "?" : "");
}

static bool find_field(const struct loop *loop, const struct node *node, struct operand *operand,
		       struct error *error)
{
	const char *dot = node->kind == NODE_SCALAR ? strchr(node->text, '.') : NULL;
	char name[64];
	uint32_t k = 0;

	if (!dot)
		return node_error(node, error, "'%.60s', expected OBJECT.FIELD",
				  node->kind == NODE_SCALAR ? node->text : "(no name)");
	while (k < loop->set_count &&
	       (strncmp(loop->set_names[k], node->text, (size_t)(dot - node->text)) ||
		loop->set_names[k][dot - node->text]))
		k++;
	snprintf(name, sizeof(name), "%.*s", (int)(dot - node->text), node->text);
	if (k == loop->set_count)
		return no_object(loop, node, name, error);
	*operand = (struct operand){ .node = node, .set = &loop->sets[k] };
	operand->field = layout_find(operand->set->layout, dot + 1);
	if (!operand->field)
		return no_field(operand->set->layout, node, dot + 1, error);

	uint32_t size = operand->field->size;

	return (size && size <= 8 && !(size & (size - 1))) ||
	       node_error(node, error, "'%.60s' has %u bytes, expected 1, 2, 4 or 8", node->text,
			  size);
}

static bool add_operand(const struct loop *loop, struct group *group, const struct node *node,
			struct error *error)
{
	struct operand *operand = &group->operands[group->operand_count];

	if (group->operand_count == OPERANDS_MAX)
		return node_error(node, error, "too many fields, expected at most %d a group",
				  OPERANDS_MAX);
	if (!find_field(loop, node, operand, error))
		return false;
	while (group->operands[operand->slot].set != operand->set ||
	       group->operands[operand->slot].field != operand->field)
		operand->slot++;
	group->operand_count++;
	return true;
}

static bool add_operands(const struct loop *loop, struct group *group, struct step *step,
			 const struct node *node, struct error *error)
{
	step->first = group->operand_count;
	if (node->kind == NODE_LIST && !node->first)
		return node_error(node, error, "an empty list, expected OBJECT.FIELD");
	if (node->kind != NODE_LIST) {
		if (!add_operand(loop, group, node, error))
			return false;
	} else {
		for (const struct node *one = node->first; one; one = one->next)
			if (!add_operand(loop, group, one, error))
				return false;
	}
	step->count = group->operand_count - step->first;
	return step->operation != READ || step->count <= GROUP_MAX ||
	       node_error(node, error, "%u reads in flight together, expected at most %d",
			  step->count, GROUP_MAX);
}

/* Modifiers that stand with an operation which they say nothing about. */
static bool modifiers_check(const struct node *node, enum operation operation, struct error *error)
{
	static const struct {
		const char *name;
		enum operation of;
	} modifiers[] = { { "by", ADD }, { "jitter", WORK }, { "exponential", WORK } };

	for (size_t k = 0; k < sizeof(modifiers) / sizeof(*modifiers); k++) {
		const struct node *modifier = node_get(node, modifiers[k].name);

		if (modifier && modifiers[k].of != operation)
			return node_key_error(modifier, error, "'%s' with %s, expected it with %s",
					      modifiers[k].name, step_keys[operation].name,
					      step_keys[modifiers[k].of].name);
	}
	return true;
}

/* The one operation of a step. */
static bool find_operation(const struct node *node, const struct step_map *map,
			   enum operation *operation, struct error *error)
{
	uint32_t found = 0;

	for (uint32_t k = 0; k < OPERATIONS; k++)
		if (map->operation[k]) {
			*operation = (enum operation)k;
			found++;
		}
	return found == 1 ||
	       node_error(node, error,
			  "%u operations, expected one of read, write, add, xchg, cmpxchg, fence, "
			  "work",
			  found);
}

static bool read_work(const struct loop *loop, const struct node *node, double *cycles,
		      struct error *error)
{
	static const struct key key = { .type = VALUE_DURATION, .max = TIME_MAX };
	struct duration duration;

	if (!scalar_read(node, &key, &duration, error))
		return false;
	*cycles = (double)duration_cycles(duration, loop->clock);
	return true;
}

static bool read_step(const struct loop *loop, struct group *group, const struct node *node,
		      struct error *error)
{
	struct step_map map = { .chance = 1, .by = 1 };
	struct step *step = &group->steps[group->step_count++];
	bool fence = false;

	*step = (struct step){ .operation = FENCE, .chance = 1 };
	if (node->kind == NODE_SCALAR && !strcmp(node->text, "fence"))
		return true;
	if (!schema_read(node, step_keys, &map, error) ||
	    !find_operation(node, &map, &step->operation, error) ||
	    !modifiers_check(node, step->operation, error))
		return false;
	step->chance = map.chance;
	step->by = map.by;
	step->jitter = map.jitter;
	step->exponential = map.exponential;
	if (map.jitter > 0 && map.exponential)
		return node_error(node, error, "jitter and exponential, expected one of them");
	node = map.operation[step->operation];
	if (step->operation == WORK)
		return read_work(loop, node, &step->cycles, error);
	if (step->operation == FENCE)
		return (scalar_read(node, &(struct key){ .type = VALUE_BOOL }, &fence, error) &&
			fence) ||
		       node_error(node, error, "'false', expected fence: true");
	return add_operands(loop, group, step, node, error);
}

/* ---- groups --------------------------------------------------------------------------------- */

struct group_map {
	uint32_t threads;
	struct duration every;
	const struct node *each;
};

#define GROUP(key, kind, member, ...)                                                    \
	{                                                                                \
		.name = key, .type = kind, .offset = offsetof(struct group_map, member), \
		__VA_ARGS__                                                              \
	}
static const struct key group_keys[] = {
	GROUP("threads", VALUE_COUNT, threads, .required = true, .min = 1, .max = MACHINE_CPUS_MAX),
	GROUP("every", VALUE_DURATION, every, .max = TIME_MAX),
	GROUP("each", VALUE_NODE, each, .required = true),
	{ 0 },
};

static bool read_group(struct loop *loop, struct group *group, struct error *error)
{
	const struct machine_config *config = &loop->build->machine->config;
	uint32_t cpus = config->sockets * config->cores_per_socket * config->smt;
	struct group_map map = { 0 };

	if (!schema_read(group->node, group_keys, &map, error))
		return false;
	loop->threads += group->threads = map.threads;
	group->every = duration_cycles(map.every, loop->clock);
	if (loop->threads > cpus)
		return node_error(node_get(group->node, "threads"), error,
				  "%u threads up to this group, expected at most %u, as the "
				  "machine has cpus",
				  loop->threads, cpus);
	if (map.each->kind != NODE_LIST || !map.each->first)
		return node_error(map.each, error,
				  "no steps, expected a list such as [{read: OBJECT.FIELD}]");
	if (node_count(map.each) > STEPS_MAX)
		return node_error(map.each, error, "too many steps, expected at most %d",
				  STEPS_MAX);
	for (const struct node *node = map.each->first; node; node = node->next)
		if (!read_step(loop, group, node, error))
			return false;
	return true;
}

static bool read_groups(struct loop *loop, struct error *error)
{
	const struct node *groups = loop->settings->groups;

	if (!entries_expected(groups, "groups", OPERATION_MAX, error))
		return false;
	for (const struct node *node = groups->first; node; node = node->next) {
		struct group *group = build_memory(loop->build, sizeof(*group), error);

		if (!group)
			return false;
		group->node = node;
		group->number = loop->group_count;
		loop->build->operations[loop->group_count] = node->key;
		loop->groups[loop->group_count++] = group;
		if (!read_group(loop, group, error))
			return false;
	}
	return true;
}

/* ---- threads -------------------------------------------------------------------------------- */

static bool find_place(const struct loop *loop, const struct operand *operand, uint32_t thread,
		       struct place *place, struct error *error)
{
	const struct object *object =
		&loop->build->memory.objects[operand->set->first + thread % operand->set->count];
	const struct layout_field *field = operand->field;
	uint32_t line = loop->build->machine->config.coherence.line;

	*place = (struct place){
		.address = object->address + field->offset,
		.field = (uint16_t)(object->first_field + (field - object->layout->fields)),
		.size = (uint8_t)field->size,
	};
	return place->address % line + place->size <= line ||
	       node_error(operand->node, error,
			  "'%.60s' lies across two lines, expected it within one",
			  operand->node->text);
}

static bool add_thread(struct loop *loop, const struct group *group, uint32_t number,
		       struct error *error)
{
	struct worker *worker = build_memory(loop->build, sizeof(*worker), error);
	uint32_t count = group->operand_count + 1; /* there may be none */
	struct error cause = { "" };

	if (!worker)
		return false;
	worker->group = group;
	worker->places = build_memory(loop->build, count * sizeof(*worker->places), error);
	worker->seen = build_memory(loop->build, count * sizeof(*worker->seen), error);
	if (!worker->places || !worker->seen)
		return false;
	for (uint32_t k = 0; k < group->operand_count; k++)
		if (!find_place(loop, &group->operands[k], number, &worker->places[k], error))
			return false;
	return machine_thread(loop->build->machine, build_cpu(loop->build, number), loop_repeat,
			      worker, &cause) ||
	       node_key_error(group->node, error, "%s", cause.text);
}

static bool build_loop(struct build *build, const void *settings, struct error *error)
{
	struct loop *loop = build_memory(build, sizeof(*loop), error);
	uint32_t number = 0;

	if (!loop)
		return false;
	loop->build = build;
	loop->settings = settings;
	loop->clock = build->machine->config.clock;
	build->placement = (enum placement)loop->settings->placement;
	if (!read_objects(loop, error) || !read_groups(loop, error) || !place_objects(loop, error))
		return false;
	for (uint32_t k = 0; k < loop->group_count; k++)
		for (uint32_t of = 0; of < loop->groups[k]->threads; of++)
			if (!add_thread(loop, loop->groups[k], number++, error))
				return false;
	return true;
}

static const char *const operations[] = { "pass 1", "pass 2", "pass 3", "pass 4", "pass 5",
					  "pass 6", "pass 7", "pass 8", NULL };

const struct workload_model workload_loop = {
	.name = "loop",
	.about = "groups of threads that repeat reads, writes and atomics on fields, written in "
		 "YAML",
	.keys = keys,
	.size = sizeof(struct settings),
	.defaults = &defaults,
	.operations = operations,
	.build = build_loop,
};
