/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated runs written as traces, and these replayed: what comes back is what was done. The tests read
 * configs and are run in the root of the project. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include "trace/writer.h"
#include "workload/export.h"
#include "workload/replay_load.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool done, const struct error *error)
{
	if (done)
		return;
	printf("\n  %s\n", error->text);
	CU_FAIL_FATAL("it could not be done");
}

/* ---- the runs that are exported ------------------------------------------------------------- */

static const struct source {
	const char *file;
	const char *sets[5][2]; /* path, value */
} sources[] = {
	{ "memcg-2022",
	  { { "workload.pairs", "2" }, { "measure", "{warmup: 1 us, duration: 20 us}" } } },
	{ "charge",
	  { { "workload.threads", "3" }, { "measure", "{warmup: 1 us, duration: 10 us}" } } },
	{ "false-sharing", { { "measure", "{warmup: 1 us, duration: 20 us}" } } },
	{ "micro",
	  { { "workload.program", "increment" },
	    { "workload.slots", "own" },
	    { "measure", "{warmup: 1 us, duration: 10 us}" } } },
	{ "mmap-lock-2021", { { "measure", "{warmup: 1 us, duration: 10 us}" } } },
};

enum { SOURCES_COUNT = sizeof(sources) / sizeof(*sources) };

static struct export *export_of(const struct source *source)
{
	struct setting setting;
	struct error error = { "" };
	const struct run_options options = { .seed = 1, .layout_directory = "configs/layouts" };
	struct export *export;
	char path[256];
	bool done;

	snprintf(path, sizeof(path), "configs/experiments/%s.yaml", source->file);
	setting.experiment = document_load(path, &error);
	setting.machine = document_load("configs/machines/skx-2s-18c.yaml", &error);
	done = setting.experiment && setting.machine;
	for (int k = 0; done && source->sets[k][0]; k++)
		done = setting_override_text(&setting, source->sets[k][0], source->sets[k][1],
					     "test", &error);
	export = done ? export_run(&setting, &options, &error) : NULL;
	setting_free(&setting);
	must(export != NULL, &error);
	return export;
}

/* ---- what is done, access by access --------------------------------------------------------- */

/* An access, wherever its object lies. */
struct deed {
	uint32_t thread, offset;
	uint8_t size, op;
	char object[51];
};

struct deeds {
	struct deed *all;
	uint64_t count, capacity;
};

static struct deed *add_deed(struct deeds *deeds)
{
	if (deeds->count == deeds->capacity) {
		deeds->capacity = deeds->capacity ? 2 * deeds->capacity : 4096;
		deeds->all = realloc(deeds->all, deeds->capacity * sizeof(*deeds->all));
		CU_ASSERT_PTR_NOT_NULL_FATAL(deeds->all);
	}
	memset(&deeds->all[deeds->count], 0, sizeof(struct deed)); /* they are compared whole */
	return &deeds->all[deeds->count++];
}

/* From the records that are exported. */
static struct deeds exported(struct export *export)
{
	const struct trace_object *objects;
	const struct memory *memory = &export_simulation(export)->build->memory;
	struct trace_record record;
	struct deeds deeds = { 0 };
	uint64_t before = 0;

	export_objects(export, &objects);
	for (uint64_t k = 0; export_record(export, k, &record); k++) {
		const struct object *object = memory_object(memory, record.address);
		struct deed *deed = add_deed(&deeds);

		CU_ASSERT_PTR_NOT_NULL_FATAL(object);
		CU_ASSERT(record.time >= before);
		before = record.time;
		*deed = (struct deed){ .thread = record.tid - 1,
				       .offset = (uint32_t)(record.address - object->address),
				       .size = (uint8_t)record.size,
				       .op = record.op };
		snprintf(deed->object, sizeof(deed->object), "%s",
			 objects[object - memory->objects].name);
	}
	return deeds;
}

/* From a replay, as it is heard. */
struct hearing {
	const struct simulation *simulation;
	struct deeds deeds;
	uint32_t tids[64]; /* what they were in the capture, by thread */
};

static void hear(void *context, struct thread *thread, const struct place *place,
		 enum access_kind kind, uint64_t begin)
{
	static const uint8_t ops[] = { [ACCESS_KIND_LOAD] = TRACE_LOAD,
				       [ACCESS_KIND_STORE] = TRACE_STORE,
				       [ACCESS_KIND_LOCKED] = TRACE_ATOMIC };
	struct hearing *hearing = context;
	const struct object *object =
		memory_object(&hearing->simulation->build->memory, place->address);
	struct deed *deed = add_deed(&hearing->deeds);

	(void)begin;
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	*deed = (struct deed){ .thread = hearing->tids[thread->number],
			       .offset = (uint32_t)(place->address - object->address),
			       .size = place->size,
			       .op = ops[kind] };
	snprintf(deed->object, sizeof(deed->object), "%s", object->name);
}

/* ---- writing and replaying ------------------------------------------------------------------ */

static void write_trace(struct export *export, const char *form)
{
	const struct trace_object *objects;
	uint32_t count = export_objects(export, &objects);
	struct error error = { "" };
	FILE *file = fopen(path_of("trace"), "w");
	struct trace_writer *writer =
		file ? trace_writer_open(file, form, KIND_COMPLETE, objects, count, &error) : NULL;
	struct trace_record record;

	must(writer != NULL, &error);
	for (uint64_t k = 0; export_record(export, k, &record); k++)
		must(trace_write(writer, &record, &error), &error);
	must(trace_writer_close(writer, &error), &error);
	fclose(file);
}

/* The experiment that replays the trace in recorded order, on the layouts it had. */
static struct document *replay_document(const struct export *export)
{
	const struct trace_object *objects;
	uint32_t count = export_objects(export, &objects);
	struct document *document;
	struct error error = { "" };
	char *text;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, "workload:\n  model: replay\n  trace: %s\n  order: recorded\n  objects:\n",
		path_of("trace"));
	for (uint32_t k = 0; k < count; k++)
		fprintf(file, "    %s: {layout: %s, address: 0x%llx}\n", objects[k].name,
			objects[k].layout, (unsigned long long)objects[k].address);
	fclose(file);
	document = document_parse("t.yaml", text, length, &error);
	free(text);
	must(document != NULL, &error);
	return document;
}

/* Threads are numbered in the order in which they come. */
static void learn_tids(struct hearing *hearing, const struct deeds *deeds)
{
	uint32_t count = 0;

	for (uint64_t k = 0; k < deeds->count; k++) {
		uint32_t seen = 0;

		while (seen < count && hearing->tids[seen] != deeds->all[k].thread)
			seen++;
		CU_ASSERT_FATAL(seen < 64);
		hearing->tids[seen] = deeds->all[k].thread;
		count += seen == count;
	}
}

static void replay(const struct export *export, struct simulation *simulation,
		   struct hearing *hearing)
{
	struct setting setting = { .experiment = replay_document(export) };
	struct error error = { "" };
	const struct listener listener = { .context = hearing, .accessed = hear };
	const struct run_options options = { .seed = 1,
					     .paranoid = true,
					     .layout_directory = "configs/layouts",
					     .listener = &listener };

	hearing->simulation = simulation;
	setting.machine = document_load("configs/machines/skx-2s-18c.yaml", &error);
	must(setting.machine && simulation_run(simulation, &setting, &options, &error), &error);
	setting_free(&setting);
}

static bool same_deeds(const struct deeds *left, const struct deeds *right)
{
	for (uint64_t k = 0; k < left->count && k < right->count; k++) {
		const struct deed *a = &left->all[k], *b = &right->all[k];

		if (a->thread == b->thread && a->offset == b->offset && a->size == b->size &&
		    a->op == b->op && !strcmp(a->object, b->object))
			continue;
		printf("\n  access %llu: %u %s+%u %u %u, expected %u %s+%u %u %u\n",
		       (unsigned long long)k, b->thread, b->object, b->offset, b->size, b->op,
		       a->thread, a->object, a->offset, a->size, a->op);
		return false;
	}
	return left->count == right->count;
}

/* ---- round trips ---------------------------------------------------------------------------- */

static uint64_t hitms(const struct simulation *simulation)
{
	const struct coherence *coherence = simulation->build->machine->coherence;
	uint64_t sum = 0;

	for (size_t k = 0; k < coherence->table_size; k++)
		for (const struct line *line = coherence->table[k]; line; line = line->next)
			sum += line->counts.hitm[0] + line->counts.hitm[1];
	return sum;
}

/* HITM of accesses done one after the other: loads and locked operations that find a line which another
 * core was the last to write, and nobody has read since. */
static uint64_t hitms_in_order(struct export *export)
{
	enum { LINES = 1 << 12, NO_CORE = UINT16_MAX };
	static struct {
		uint64_t line;
		uint32_t writer;
	} lines[LINES];
	const struct machine_config *config = &export_simulation(export)->build->machine->config;
	uint32_t count = 0, k;
	uint64_t sum = 0;
	struct trace_record record;

	for (uint64_t n = 0; export_record(export, n, &record); n++) {
		uint32_t core = record.cpu % (config->sockets * config->cores_per_socket);

		for (k = 0; k < count && lines[k].line != record.address / 64; k++)
			;
		CU_ASSERT_FATAL(k < LINES);
		if (k == count) {
			lines[count].line = record.address / 64;
			lines[count++].writer = NO_CORE;
		}
		if (record.op != TRACE_STORE)
			sum += lines[k].writer != NO_CORE && lines[k].writer != core;
		if (record.op != TRACE_LOAD)
			lines[k].writer = core;
		else if (lines[k].writer != core)
			lines[k].writer = NO_CORE;
	}
	return sum;
}

/* Access by access, in the order recorded: what is exported is replayed, in either of hitm's own forms. */
static void replays_all(struct export *export, const char *form)
{
	struct deeds done = exported(export);
	struct hearing hearing = { 0 };
	struct simulation simulation;

	CU_ASSERT(done.count > 500);
	write_trace(export, form);
	learn_tids(&hearing, &done);
	replay(export, &simulation, &hearing);
	CU_ASSERT(same_deeds(&done, &hearing.deeds));
	CU_ASSERT_EQUAL(hitms(&simulation), hitms_in_order(export));
	simulation_free(&simulation);
	free(hearing.deeds.all);
	free(done.all);
}

/* As perf script prints them they are samples of weight 1, without sizes: as many of each operation at each address. */
static void loads_all(struct export *export)
{
	struct replay_choice choice = { .format = "perf-script", .clock = 1e9 };
	struct error error = { "" };
	struct replay *replay;
	struct trace_record record;
	uint64_t *counts;
	char path[256];

	write_trace(export, "perf-script");
	snprintf(path, sizeof(path), "%s", path_of("trace"));
	choice.path = path;
	replay = replay_load(&choice, &error);
	must(replay != NULL, &error);
	counts = calloc((size_t)replay->place_count * TRACE_OPS, sizeof(*counts));
	CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
	for (uint32_t k = 0; k < replay->lane_count; k++)
		for (uint32_t s = 0; s < replay->lanes[k].count; s++) {
			const struct replay_step *step = &replay->lanes[k].steps[s];

			counts[step_place(step->what) * TRACE_OPS + step_op(step->what)] +=
				step->amount;
		}
	for (uint64_t k = 0; export_record(export, k, &record); k++) {
		uint32_t p = 0;

		while (p < replay->place_count && replay->places[p].address != record.address)
			p++;
		CU_ASSERT_FATAL(p < replay->place_count);
		counts[p * TRACE_OPS + record.op]--;
	}
	for (uint32_t k = 0; k < replay->place_count * TRACE_OPS; k++)
		CU_ASSERT_EQUAL(counts[k], 0);
	free(counts);
	replay_free(replay);
}

static void round_trip(const struct source *source)
{
	struct export *export = export_of(source);

	replays_all(export, "trace");
	replays_all(export, "trace-binary");
	loads_all(export);
	export_free(export);
}

static void test_memcg_comes_back(void)
{
	round_trip(&sources[0]);
}

static void test_charges_come_back(void)
{
	round_trip(&sources[1]);
}

static void test_loops_come_back(void)
{
	round_trip(&sources[2]);
}

static void test_micro_programs_come_back(void)
{
	round_trip(&sources[3]);
}

static void test_mmap_lock_comes_back(void)
{
	round_trip(&sources[4]);
}

/* What was counted while it ran, by field of a struct: nothing is left out of the records, and nothing is in
 * them twice. Counters are of whole windows, which hold all accesses since each thread's start. */
static void test_records_are_what_was_counted(void)
{
	for (int s = 0; s < SOURCES_COUNT; s++) {
		struct export *export = export_of(&sources[s]);
		const struct simulation *simulation = export_simulation(export);
		uint64_t counted[3] = { 0 }, recorded[TRACE_OPS] = { 0 };
		struct trace_record record;

		for (uint32_t k = 1; k < simulation->measure->field_count; k++) {
			const struct field_counts *counts = &simulation->measure->fields[k].counts;

			counted[0] += counts->loads;
			counted[1] += counts->stores;
			counted[2] += counts->rmws;
		}
		for (uint64_t k = 0; export_record(export, k, &record); k++) {
			recorded[record.op]++;
			CU_ASSERT(record.field.length > 0);
			CU_ASSERT(record.weight == 1 && record.size >= 1 && record.size <= 8);
		}
		CU_ASSERT_EQUAL(recorded[TRACE_LOAD], counted[0]);
		CU_ASSERT_EQUAL(recorded[TRACE_STORE], counted[1]);
		CU_ASSERT_EQUAL(recorded[TRACE_ATOMIC], counted[2]);
		CU_ASSERT_EQUAL(recorded[TRACE_MODIFY] + recorded[TRACE_ACCESS], 0);
		export_free(export);
	}
}

/* A name that is in the header is some object's alone, and one that a trace may have. */
static void test_objects_have_names_of_their_own(void)
{
	struct export *export = export_of(&sources[0]);
	const struct trace_object *objects;
	uint32_t count = export_objects(export, &objects);

	CU_ASSERT(count > 4);
	for (uint32_t k = 0; k < count; k++) {
		CU_ASSERT(trace_name_is_good(
			(struct text){ objects[k].name, (uint32_t)strlen(objects[k].name) }));
		for (uint32_t before = 0; before < k; before++)
			CU_ASSERT_STRING_NOT_EQUAL(objects[k].name, objects[before].name);
	}
	export_free(export);
}

void suite_export(void)
{
	CU_pSuite suite = CU_add_suite("export", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, test_memcg_comes_back);
	CU_ADD_TEST(suite, test_charges_come_back);
	CU_ADD_TEST(suite, test_loops_come_back);
	CU_ADD_TEST(suite, test_micro_programs_come_back);
	CU_ADD_TEST(suite, test_mmap_lock_comes_back);
	CU_ADD_TEST(suite, test_records_are_what_was_counted);
	CU_ADD_TEST(suite, test_objects_have_names_of_their_own);
}
