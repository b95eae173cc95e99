/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/export.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As little as will do of an access. */
struct kept {
	uint64_t end, address;
	uint32_t latency, number; /* cycles; in the order of being heard of */
	uint16_t thread, field;
	uint8_t size, op, source;
};

struct export
{
	struct simulation simulation;
	const struct machine *machine;
	struct kept *kept;
	uint64_t count, capacity;
	bool overflow;
	uint8_t *found; /* by core: what its next access to end has found, enum trace_source */
	struct trace_object *objects;
	uint32_t object_count;
	char field[256];
};

/* ---- listening ------------------------------------------------------------------------------ */

static bool room(struct export *export)
{
	uint64_t capacity = export->capacity ? 2 * export->capacity : 1 << 16;
	struct kept *more;

	if (export->count < export->capacity)
		return true;
	if (export->count == EXPORT_MOST)
		return false;
	more = realloc(export->kept, capacity * sizeof(*more));
	if (!more)
		return false;
	export->kept = more;
	export->capacity = capacity;
	return true;
}

static enum trace_source source_of(const struct machine *machine, uint8_t found, uint64_t cycles)
{
	if (found)
		return (enum trace_source)found;
	if (cycles <= machine->config.coherence.l1.latency)
		return SOURCE_L1;
	return cycles <= machine->config.coherence.l2.latency ? SOURCE_L2 : SOURCE_UNKNOWN;
}

static void accessed(void *context, struct thread *thread, const struct place *place,
		     enum access_kind kind, uint64_t begin)
{
	static const uint8_t ops[] = { [ACCESS_KIND_LOAD] = TRACE_LOAD,
				       [ACCESS_KIND_STORE] = TRACE_STORE,
				       [ACCESS_KIND_LOCKED] = TRACE_ATOMIC };
	struct export *export = context;
	uint64_t cycles = thread->time - begin;
	uint8_t *found = &export->found[thread->core->number];
	struct kept *kept;

	if (!room(export)) {
		export->overflow = true;
		thread->machine->stop = true;
		return;
	}
	kept = &export->kept[export->count];
	*kept = (struct kept){ .end = thread->time,
			       .address = place->address,
			       .latency = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX,
			       .number = (uint32_t) export->count++,
			       .thread = (uint16_t)thread->number,
			       .field = place->field,
			       .size = place->size,
			       .op = ops[kind] };
	if (kind == ACCESS_KIND_STORE)
		return;
	kept->source = (uint8_t)source_of(thread->machine, *found, cycles);
	*found = SOURCE_UNKNOWN;
}

static void hitm(void *context, uint32_t core, bool across)
{
	struct export *export = context;

	export->found[core] = across ? SOURCE_HITM_REMOTE : SOURCE_HITM_LOCAL;
}

/* ---- sorting, naming ------------------------------------------------------------------------ */

/* Threads run ahead of each other, so that what is heard is in order within each alone. */
static int by_end(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* What a trace may call an object; of the same names each but the first gets its number. */
static char *trace_name(const struct memory *memory, uint32_t number)
{
	const char *name = memory->objects[number].name;
	char *good = malloc(strlen(name) + 16);
	size_t length = strlen(name);

	if (!good)
		return NULL;
	strcpy(good, name);
	for (char *at = good; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
			*at = '-';
	for (uint32_t k = 0; k < number; k++)
		if (!strcmp(memory->objects[k].name, name)) {
			snprintf(good + length, 16, "-%u", number);
			break;
		}
	return good;
}

static bool name_objects(struct export *export)
{
	const struct memory *memory = &export->simulation.build->memory;

	export->objects = calloc(memory->object_count + 1, sizeof(*export->objects));
	if (!export->objects)
		return false;
	for (uint32_t k = 0; k < memory->object_count; k++) {
		export->objects[k] = (struct trace_object){ trace_name(memory, k),
							    memory->objects[k].layout->name,
							    memory->objects[k].address };
		if (!export->objects[k].name)
			return false;
		export->object_count++;
	}
	return true;
}

static bool finish(struct export *export, struct error *error)
{
	if (export->overflow)
		return error_set(error,
				 "more than %d accesses in the run, expected a shorter one: --set "
				 "measure.duration=TIME",
				 EXPORT_MOST);
	if (export->count)
		qsort(export->kept, export->count, sizeof(*export->kept), by_end);
	return name_objects(export) || error_set(error, "out of memory");
}

struct export *export_run(const struct setting *setting, const struct run_options *options,
			  struct error *error)
{
	struct export *export = calloc(1, sizeof(*export));
	struct listener listener = { export, accessed, hitm };
	struct run_options run = *options;

	run.listener = &listener;
	if (export)
		export->found = calloc(FABRIC_CORES_MAX, 1);
	if (!export || !export->found) {
		error_set(error, "out of memory");
		export_free(export);
		return NULL;
	}
	if (simulation_run(&export->simulation, setting, &run, error) && finish(export, error))
		return export;
	if (export->overflow) {
		error->text[0] = '\0';
		finish(export, error);
	}
	export_free(export);
	return NULL;
}

void export_free(struct export *export)
{
	if (!export)
		return;
	for (uint32_t k = 0; k < export->object_count; k++)
		free((void *)(uintptr_t) export->objects[k].name);
	simulation_free(&export->simulation);
	free(export->kept);
	free(export->found);
	free(export->objects);
	free(export);
}

const struct simulation *export_simulation(const struct export *export)
{
	return &export->simulation;
}

uint32_t export_objects(const struct export *export, const struct trace_object **objects)
{
	*objects = export->objects;
	return export->object_count;
}

bool export_record(struct export *export, uint64_t k, struct trace_record *record)
{
	const struct build *build = export->simulation.build;
	const struct kept *kept = &export->kept[k];
	const struct object *object;
	const struct layout_field *field;
	const struct layout *layout;
	int length = 0;

	if (k >= export->count)
		return false;
	*record = (struct trace_record){ .time = (uint64_t)((double)kept->end * 1e9 /
							    build->machine->config.clock),
					 .address = kept->address,
					 .weight = 1,
					 .pid = 1,
					 .tid = 1 + kept->thread,
					 .cpu = build->machine->threads[kept->thread]->cpu,
					 .cpus = 1,
					 .latency = kept->latency,
					 .size = kept->size,
					 .op = kept->op,
					 .source = kept->source,
					 .known = KNOWN_TIME | KNOWN_CPU | KNOWN_PID | KNOWN_TID |
						  KNOWN_SIZE | KNOWN_LATENCY | KNOWN_ADDRESS };
	object = memory_object(&build->memory, kept->address);
	field = memory_field(&build->memory, kept->field, &layout);
	if (object && field)
		length =
			snprintf(export->field, sizeof(export->field), "%s.%s",
				 export->objects[object - build->memory.objects].name, field->name);
	if (length > 0 && (size_t)length < sizeof(export->field))
		record->field = (struct text){ export->field, (uint32_t)length };
	return true;
}
