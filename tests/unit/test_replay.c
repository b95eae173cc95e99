/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays of small captures whose every count and time can be said beforehand. The tests read
 * configs/machines and are run in the root of the project. */
#include "engine/random.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include "workload/replay_parts.h"
#include "workload/simulation.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 1 << 20 };

/* ---- captures, loaded ----------------------------------------------------------------------- */

#define COMPLETE  "# hitm-trace 1\n# kind complete\n"
#define SAMPLED   "# hitm-trace 1\n# kind sampled\n"
#define AGGREGATE "# hitm-trace 1\n# kind aggregate\n"

static struct replay *load_with(struct replay_choice choice, const char *text)
{
	struct error error = { "" };
	struct replay *replay;
	char path[256];

	file_write("trace", text);
	snprintf(path, sizeof(path), "%s", path_of("trace"));
	choice.path = path;
	if (choice.clock <= 0)
		choice.clock = 1e9;
	replay = replay_load(&choice, &error);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(replay);
	CU_ASSERT_EQUAL(replay->summary.read,
			replay->summary.used + replay->summary.dropped[DROP_NO_ADDRESS]);
	return replay;
}

static const struct replay_lane *lane_of(const struct replay *replay, uint32_t id)
{
	for (uint32_t k = 0; k < replay->lane_count; k++)
		if (replay->lanes[k].id == id)
			return &replay->lanes[k];
	CU_FAIL_FATAL("no such lane");
	return NULL;
}

static void expect_amounts(const struct replay_lane *lane, const uint32_t *amounts, uint32_t count)
{
	CU_ASSERT_EQUAL_FATAL(lane->count, count);
	for (uint32_t k = 0; k < count; k++)
		CU_ASSERT_EQUAL(lane->steps[k].amount, amounts[k]);
}

/* time, cpu, thread, operation, address, size, weight, field, source, latency in cycles */
static const char two_threads[] = COMPLETE "1000 0 10 R 0x1000 8 1 - - 100\n"
					   "2000 1 20 W 0x1008 8 1 - - 200\n"
					   "2500 1 10 R 0x1000 8 1 - - 300\n"
					   "2600 0 20 A 0x1008 8 1 - - 900\n"
					   "9000000000000 0 10 R 0x1000 8 1\n";

/* From the end of a thread's access to the begin of its next; of its first from the first record's time.
 * 900 cycles before 2600 is before the end at 2000. */
static void test_gaps_are_what_accesses_do_not_fill(void)
{
	struct replay *replay = load_with((struct replay_choice){ 0 }, two_threads);

	CU_ASSERT_EQUAL(replay->kind, KIND_COMPLETE);
	CU_ASSERT_EQUAL(replay->lane_count, 2);
	CU_ASSERT_EQUAL(replay->step_count, 5);
	expect_amounts(lane_of(replay, 10),
		       (uint32_t[]){ 0, 2500 - 300 - 1000, UINT32_MAX /* clipped */ }, 3);
	expect_amounts(lane_of(replay, 20), (uint32_t[]){ 2000 - 200 - 1000, 0 }, 2);
	CU_ASSERT_EQUAL(lane_of(replay, 10)->cpu, 0);
	CU_ASSERT_EQUAL(lane_of(replay, 20)->cpu, 1);
	replay_free(replay);
}

static void test_latencies_are_cycles_of_the_clock(void)
{
	struct replay *replay = load_with((struct replay_choice){ .clock = 4e9 }, two_threads);

	expect_amounts(lane_of(replay, 20), (uint32_t[]){ 2000 - 50 - 1000, 2600 - 225 - 2000 }, 2);
	replay_free(replay);
}

static void test_lanes_by_cpu(void)
{
	struct replay *replay =
		load_with((struct replay_choice){ .by = REPLAY_BY_CPU }, two_threads);

	CU_ASSERT_EQUAL(replay->lane_count, 2);
	expect_amounts(lane_of(replay, 0), (uint32_t[]){ 0, 2600 - 900 - 1000, UINT32_MAX }, 3);
	expect_amounts(lane_of(replay, 1), (uint32_t[]){ 2000 - 200 - 1000, 2500 - 300 - 2000 }, 2);
	replay_free(replay);
}

/* A thread whose first accesses have no time does not wait since time 0. */
static void test_accesses_without_time_leave_no_gap(void)
{
	struct replay *replay =
		load_with((struct replay_choice){ 0 }, COMPLETE "- 0 10 R 0x1000 8 1\n"
								"5000000 0 10 R 0x1000 8 1\n"
								"5000400 0 10 R 0x1000 8 1\n"
								"- 0 10 R 0x1000 8 1\n"
								"5000500 0 10 R 0x1000 8 1\n");

	expect_amounts(lane_of(replay, 10), (uint32_t[]){ 0, 0, 400, 0, 100 }, 5);
	CU_ASSERT_EQUAL(replay->lanes[0].first, 5000000);
	CU_ASSERT_EQUAL(replay->lanes[0].last, 5000500);
	replay_free(replay);
}

static void test_the_recorded_order_is_kept(void)
{
	static const uint16_t order[] = { 0, 1, 0, 1, 0 };
	struct replay *replay =
		load_with((struct replay_choice){ .fixed_order = true }, two_threads);

	for (uint32_t k = 0; k < 5; k++)
		CU_ASSERT_EQUAL(replay->order[k], order[k]);
	replay_free(replay);
}

/* A breakpoint's hit is one of all accesses, what follows is a sample: the first one has its weight all the same. */
static void test_a_kind_that_changes_is_taken_from_the_start(void)
{
	struct replay *replay =
		load_with((struct replay_choice){ 0 },
			  "a 17/17 [003] 12.000001000: 1 mem:0x1000:w: 1000 0 401260 f (/x)\n"
			  "a 17/17 [003] 12.000002000: 7 cpu/mem-loads/P: 2000 68100142 |OP "
			  "LOAD|LVL L1 hit|SNP None|TLB "
			  "L1 or L2 hit|LCK No|BLK  N/A 30 401260 f (/x)\n");

	CU_ASSERT_EQUAL(replay->kind, KIND_SAMPLED);
	CU_ASSERT_EQUAL(replay->summary.kind, KIND_SAMPLED);
	expect_amounts(&replay->lanes[0], (uint32_t[]){ 1, 7 }, 2);
	CU_ASSERT_EQUAL(replay->step_count, 2);
	replay_free(replay);
}

static void test_objects_are_found_from_their_first_to_their_last_byte(void)
{
	static const struct {
		uint64_t address;
		uint16_t object;
	} cases[] = { { 0xfff, 0 },  { 0x1000, 1 }, { 0x103f, 1 }, { 0x1040, 2 },
		      { 0x1067, 2 }, { 0x1068, 0 }, { 0x1fff, 0 }, { 0x2000, 3 },
		      { 0x203f, 3 }, { 0x2040, 0 }, { 0, 0 },      { UINT64_MAX, 0 } };
	enum { CASES = sizeof(cases) / sizeof(*cases) };
	struct layout line = { .name = "l", .structure = "l", .size = 64 };
	struct layout odd = { .name = "o", .structure = "o", .size = 40 };
	const struct replay_object objects[] = { { "a", &line, 0x1000 },
						 { "b", &odd, 0x1040 },
						 { "c", &line, 0x2000 } };
	struct replay_choice choice = { .objects = objects, .object_count = 3 };
	char text[2048] = COMPLETE;
	struct replay *replay;

	for (size_t k = 0; k < CASES; k++)
		sprintf(text + strlen(text), "%zu 0 1 W 0x%llx 1 1\n", k,
			(unsigned long long)cases[k].address);
	replay = load_with(choice, text);
	CU_ASSERT_EQUAL_FATAL(replay->place_count, CASES);
	for (size_t k = 0; k < CASES; k++) {
		CU_ASSERT_EQUAL(replay->places[k].address, cases[k].address);
		CU_ASSERT_EQUAL(replay->places[k].object, cases[k].object);
	}
	CU_ASSERT_EQUAL(replay->outside, 0);
	CU_ASSERT_EQUAL(replay->stores, CASES);
	replay_free(replay);
	choice.only = REPLAY_OBJECTS;
	replay = load_with(choice, text);
	CU_ASSERT_EQUAL(replay->step_count, 6);
	CU_ASSERT_EQUAL(replay->place_count, 6);
	CU_ASSERT_EQUAL(replay->outside, 6);
	CU_ASSERT_EQUAL(replay->stores, 6);
	replay_free(replay);
}

/* Numbered in the order in which they come, whatever the hash table does: 40,000 of two sizes each, twice. */
static void test_a_place_is_an_address_and_a_size(void)
{
	enum { PLACES = 40000 };
	char *text = malloc(2 * PLACES * 40 + sizeof(COMPLETE));
	struct replay *replay;
	size_t length = (size_t)sprintf(text, "%s", COMPLETE), wrong = 0;

	for (uint32_t k = 0; k < 2 * PLACES; k++)
		length += (size_t)sprintf(text + length, "%u 0 1 R 0x%x %u 1\n", k,
					  k % PLACES / 2 * 64, 4 + k % 2 * 4);
	replay = load_with((struct replay_choice){ 0 }, text);
	CU_ASSERT_EQUAL(replay->place_count, PLACES);
	for (uint32_t k = 0; k < 2 * PLACES; k++)
		wrong += step_place(replay->lanes[0].steps[k].what) != k % PLACES;
	CU_ASSERT_EQUAL(wrong, 0);
	replay_free(replay);
	free(text);
}

/* ---- aggregates ----------------------------------------------------------------------------- */

/* Weights by row, over all lanes: places are numbered as rows are. The most of a lane less the least of
 * those that have any. */
static uint64_t dealt(const struct replay *replay, uint32_t row, uint32_t *lanes, uint32_t *spread)
{
	uint64_t sum = 0;
	uint32_t least = UINT32_MAX, most = 0;

	*lanes = 0;
	for (uint32_t k = 0; k < replay->lane_count; k++)
		for (uint32_t s = 0; s < replay->lanes[k].count; s++) {
			const struct replay_step *step = &replay->lanes[k].steps[s];

			if (step_place(step->what) != row)
				continue;
			CU_ASSERT(step->amount > 0);
			least = step->amount < least ? step->amount : least;
			most = step->amount > most ? step->amount : most;
			sum += step->amount;
			++*lanes;
		}
	*spread = most - least;
	return sum;
}

static void test_rows_are_dealt_to_lanes_in_equal_parts(void)
{
	static const struct {
		uint64_t weight;
		uint32_t cpus;
	} rows[] = { { 10, 4 }, { 1000003, 6 }, { 2, 5 }, { 1, 1 }, { 77, 3 } };
	static const uint32_t choices[] = { 0, 3, 64 }; /* 0: as the busiest row, 6 */
	char text[1024] = AGGREGATE;

	for (size_t k = 0; k < 5; k++)
		sprintf(text + strlen(text), "- x%u - W 0x%zx 8 %llu\n", rows[k].cpus,
			0x1000 + 64 * k, (unsigned long long)rows[k].weight);
	for (size_t c = 0; c < 3; c++) {
		uint32_t most = choices[c] ? choices[c] : 6, lanes, spread;
		struct replay *replay =
			load_with((struct replay_choice){ .lanes = choices[c] }, text);

		CU_ASSERT_EQUAL(replay->kind, KIND_AGGREGATE);
		CU_ASSERT(replay->lane_count <= most);
		for (uint32_t row = 0; row < 5; row++) {
			uint32_t wanted = rows[row].cpus < most ? rows[row].cpus : most;

			CU_ASSERT_EQUAL(dealt(replay, row, &lanes, &spread), rows[row].weight);
			if (rows[row].weight < wanted)
				wanted = (uint32_t)rows[row].weight;
			CU_ASSERT_EQUAL(lanes, wanted);
			CU_ASSERT(spread <= 1);
		}
		replay_free(replay);
	}
}

static void test_rows_of_a_thread_are_its_own(void)
{
	uint32_t lanes, spread;
	struct replay *replay = load_with((struct replay_choice){ 0 },
					  AGGREGATE "- x1 30 W 0x1000 8 5\n- x4 31 R 0x1040 8 9\n"
						    "- x1 30 R 0x1080 8 2\n");

	CU_ASSERT_EQUAL(replay->lane_count, 2);
	expect_amounts(lane_of(replay, 30), (uint32_t[]){ 5, 2 }, 2);
	CU_ASSERT_EQUAL(dealt(replay, 1, &lanes, &spread), 9);
	CU_ASSERT_EQUAL(lanes, 1);
	replay_free(replay);
}

static void test_stores_are_added_to_all_lanes_alike(void)
{
	struct replay *replay =
		load_with((struct replay_choice){ 0 },
			  SAMPLED "1 0 1 R 0x1000 8 5\n2 1 2 R 0x1000 8 5\n3 2 3 R 0x1000 8 5\n");
	struct error error = { "" };
	uint32_t lanes, spread;

	CU_ASSERT_EQUAL(replay->stores, 0);
	CU_ASSERT(replay_add_stores(replay, 1, 0x2000, 4, 11, &error));
	CU_ASSERT_EQUAL(replay->stores, 11);
	CU_ASSERT_EQUAL(replay->place_count, 2);
	CU_ASSERT_EQUAL(replay->places[1].address, 0x2000);
	CU_ASSERT_EQUAL(replay->places[1].size, 4);
	CU_ASSERT_EQUAL(replay->places[1].object, 1);
	CU_ASSERT_EQUAL(dealt(replay, 1, &lanes, &spread), 11);
	CU_ASSERT_EQUAL(lanes, 3);
	CU_ASSERT_EQUAL(spread, 1);
	CU_ASSERT_EQUAL(step_op(replay->lanes[2].steps[1].what), TRACE_STORE);
	/* Fewer than lanes: none of weight 0. */
	CU_ASSERT(replay_add_stores(replay, 1, 0x3000, 4, 2, &error));
	CU_ASSERT_EQUAL(dealt(replay, 2, &lanes, &spread), 2);
	CU_ASSERT_EQUAL(lanes, 2);
	replay_free(replay);
}

/* ---- replays -------------------------------------------------------------------------------- */

/* A struct of which the same fields lie near each other and apart; with padding after `small`, and bytes
 * in `buffer` that are accessed in every way. */
static const char near_yaml[] =
	"layout: near\nstruct: pair\nsize: 512 B\nalign: 64 B\nsource: test\nfields:\n"
	"  a: {offset: 0, size: 8}\n  b: {offset: 8, size: 8}\n"
	"  small: {offset: 16, size: 4}\n  c: {offset: 24, size: 8}\n"
	"  buffer: {offset: 128, size: 256}\n";
static const char apart_yaml[] =
	"layout: apart\nstruct: pair\nsize: 1024 B\nalign: 64 B\nsource: test\nfields:\n"
	"  b: {offset: 0, size: 8}\n  a: {offset: 64, size: 8}\n"
	"  c: {offset: 128, size: 8}\n  small: {offset: 140, size: 4}\n"
	"  buffer: {offset: 259, size: 256}\n";
static const char lacking_yaml[] =
	"layout: lacking\nstruct: pair\nsize: 64 B\nalign: 64 B\nsource: test\nfields:\n"
	"  b: {offset: 0, size: 8}\n";
static const char narrow_yaml[] =
	"layout: narrow\nstruct: pair\nsize: 64 B\nalign: 64 B\nsource: test\nfields:\n"
	"  a: {offset: 0, size: 4}\n  b: {offset: 8, size: 8}\n";
static const char other_yaml[] =
	"layout: other\nstruct: else\nsize: 64 B\nalign: 64 B\nsource: test\nfields:\n"
	"  a: {offset: 0, size: 8}\n  b: {offset: 8, size: 8}\n";

/* Where nothing may be asserted yet. */
static int make_layouts(void)
{
	static const struct {
		const char *name, *text;
	} files[] = { { "near.yaml", near_yaml },
		      { "apart.yaml", apart_yaml },
		      { "lacking.yaml", lacking_yaml },
		      { "narrow.yaml", narrow_yaml },
		      { "other.yaml", other_yaml } };

	if (scratch_make())
		return 1;
	for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++) {
		FILE *file = fopen(path_of(files[k].name), "w");

		if (!file || fputs(files[k].text, file) < 0 || fclose(file))
			return 1;
	}
	return 0;
}

#define OBJECT "objects: {x: {layout: near, address: 0x10000}}"

/* The machine at 1 GHz, so that its nanoseconds are cycles. */
static bool settings_of(const char *trace, const char *workload, struct setting *setting,
			struct error *error)
{
	char text[4096], path[256];

	if (trace)
		file_write("trace", trace);
	snprintf(path, sizeof(path), "%s", path_of("trace"));
	snprintf(text, sizeof(text),
		 "workload: {model: replay, trace: %s%s%s}\n"
		 "measure: {warmup: 1 us, duration: 2 ms}\n",
		 path, *workload ? ", " : "", workload);
	setting->experiment = document_parse("t.yaml", text, strlen(text), error);
	setting->machine = document_load("configs/machines/skx-2s-18c.yaml", error);
	return setting->experiment && setting->machine &&
	       setting_override_text(setting, "machine.clock", "1 GHz", "test", error);
}

static bool start(bool run, const char *trace, const char *workload, uint64_t seed,
		  struct simulation *simulation, struct error *error)
{
	struct setting setting = { NULL, NULL };
	const struct run_options options = { .seed = seed,
					     .paranoid = true,
					     .layout_directory = scratch_directory() };
	bool done = settings_of(trace, workload, &setting, error);

	if (done)
		done = run ? simulation_run(simulation, &setting, &options, error)
			   : simulation_build(simulation, &setting, &options, error);
	setting_free(&setting);
	return done;
}

static struct simulation run_seed(const char *trace, const char *workload, uint64_t seed)
{
	struct simulation simulation;
	struct error error = { "" };

	if (!start(true, trace, workload, seed, &simulation, &error)) {
		printf("\n  %s\n", error.text);
		CU_FAIL_FATAL("the replay could not be run");
	}
	return simulation;
}

static struct simulation run(const char *trace, const char *workload)
{
	return run_seed(trace, workload, 1);
}

static struct simulation build_only(const char *trace, const char *workload)
{
	struct simulation simulation;
	struct error error = { "" };

	if (!start(false, trace, workload, 1, &simulation, &error)) {
		printf("\n  %s\n", error.text);
		CU_FAIL_FATAL("the replay could not be built");
	}
	return simulation;
}

/* What was counted of a field, summed over objects that have one of this name; none: all are 0. */
static struct field_counts counts_of(const struct simulation *simulation, const char *name)
{
	const struct memory *memory = &simulation->build->memory;
	struct field_counts sum = { 0 };

	for (uint32_t k = 1; k < memory->field_count; k++) {
		const struct layout *layout;
		const struct layout_field *field = memory_field(memory, (uint16_t)k, &layout);
		const struct field_counts *counts = &simulation->measure->fields[k].counts;

		if (strcmp(field->name, name))
			continue;
		sum.loads += counts->loads;
		sum.stores += counts->stores;
		sum.rmws += counts->rmws;
	}
	return sum;
}

static void expect_counts(const struct simulation *simulation, const char *name, uint64_t loads,
			  uint64_t stores, uint64_t rmws)
{
	struct field_counts counts = counts_of(simulation, name);

	CU_ASSERT_EQUAL(counts.loads, loads);
	CU_ASSERT_EQUAL(counts.stores, stores);
	CU_ASSERT_EQUAL(counts.rmws, rmws);
	if (counts.loads != loads || counts.stores != stores || counts.rmws != rmws)
		printf("\n  %s: %llu %llu %llu\n", name, (unsigned long long)counts.loads,
		       (unsigned long long)counts.stores, (unsigned long long)counts.rmws);
}

static uint64_t cycles_of_pairs(const struct simulation *simulation, enum verdict verdict)
{
	uint32_t count;
	const struct pair *pairs = sharing_pairs(simulation->measure->sharing, &count);
	uint64_t sum = 0;

	for (uint32_t k = 0; k < count; k++)
		sum += pairs[k].verdict == verdict ? pairs[k].cycles : 0;
	return sum;
}

/* How often a line moved from one cache to another. */
static uint64_t moves_of(const struct simulation *simulation, uint64_t address)
{
	const struct line *line =
		coherence_line(simulation->build->machine->coherence, address / 64 * 64);

	return line->counts.transfers[0] + line->counts.transfers[1];
}

static uint64_t address_of(const struct simulation *simulation, const char *object)
{
	const struct memory *memory = &simulation->build->memory;

	for (uint32_t k = 0; k < memory->object_count; k++)
		if (!strcmp(memory->objects[k].name, object))
			return memory->objects[k].address;
	CU_FAIL_FATAL("no such object");
	return 0;
}

/* ---- what is counted ------------------------------------------------------------------------ */

static const char mixed[] = COMPLETE "100 0 1 R 0x10000 8 1\n" /* a */
				     "110 1 2 R 0x10000 8 1\n"
				     "120 0 1 W 0x10008 8 1\n" /* b */
				     "130 0 1 W 0x10008 8 1\n"
				     "140 1 2 A 0x10010 4 1\n" /* small */
				     "150 1 2 M 0x10018 8 1\n" /* c */
				     "160 0 1 ? 0x10018 8 1\n"
				     "170 0 1 R 0x1000c 4 1\n"  /* half of b */
				     "180 1 2 R 0x10020 4 1\n"  /* padding */
				     "190 1 2 R 0x20000 8 1\n"; /* elsewhere */

static void test_each_access_is_counted_at_its_field(void)
{
	static const char *const orders[] = { "own", "recorded" };
	static const char *const layouts[] = { "", ", replace: {x: apart}" };
	char settings[256];

	for (int k = 0; k < 4; k++) {
		struct simulation simulation;

		snprintf(settings, sizeof(settings), "%s, order: %s%s", OBJECT, orders[k / 2],
			 layouts[k % 2]);
		simulation = run(mixed, settings);
		expect_counts(&simulation, "x.a", 2, 0, 0);
		expect_counts(&simulation, "x.b", 1, 2, 0);
		expect_counts(&simulation, "x.small", 0, 0, 1);
		expect_counts(&simulation, "x.c", 2, 2, 0); /* M and ? */
		CU_ASSERT_EQUAL(simulation.measure->operations[0], 10);
		simulation_free(&simulation);
	}
}

static void test_what_is_unknown_is_done_as_told(void)
{
	static const struct {
		const char *op;
		uint64_t loads, stores, rmws; /* of c, with one M and one ? */
	} cases[] = { { "load", 2, 1, 0 },
		      { "store", 1, 2, 0 },
		      { "modify", 2, 2, 0 },
		      { "atomic", 1, 1, 1 } };

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct simulation simulation;
		char settings[256];

		snprintf(settings, sizeof(settings), "%s, unknown: %s", OBJECT, cases[k].op);
		simulation = run(mixed, settings);
		expect_counts(&simulation, "x.c", cases[k].loads, cases[k].stores, cases[k].rmws);
		expect_counts(&simulation, "x.a", 2, 0, 0);
		simulation_free(&simulation);
	}
}

static void test_stores_to_fields_named_atomic_are_locked(void)
{
	struct simulation simulation = run(mixed, OBJECT ", atomics: [x.b, x.c]");

	expect_counts(&simulation, "x.b", 1, 0, 2);
	expect_counts(&simulation, "x.c", 0, 0, 2);
	expect_counts(&simulation, "x.a", 2, 0, 0);
	simulation_free(&simulation);
}

static void test_only_objects_leaves_the_rest_out(void)
{
	struct simulation simulation = run(mixed, OBJECT ", only: objects");

	CU_ASSERT_EQUAL(simulation.measure->operations[0], 9);
	expect_counts(&simulation, "x.c", 2, 2, 0);
	simulation_free(&simulation);
}

static void test_objects_in_an_array_are_apart(void)
{
	struct simulation simulation =
		run(COMPLETE "1 0 1 R 0x10000 8 1\n2 0 1 W 0x10408 8 1\n3 0 1 W 0x10808 8 1\n"
			     "4 0 1 W 0x10c08 8 1\n5 0 1 R 0x10200 8 1\n",
		    "objects: {x: {layout: near, address: 0x10000, stride: 1024 B, count: 3}}");

	expect_counts(&simulation, "x[0].a", 1, 0, 0);
	expect_counts(&simulation, "x[0].b", 0, 0, 0);
	expect_counts(&simulation, "x[1].b", 0, 1, 0);
	expect_counts(&simulation, "x[2].b", 0, 1, 0);
	CU_ASSERT_EQUAL(simulation.build->memory.object_count, 3);
	simulation_free(&simulation);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* A lone thread's loads: the first comes from memory, the others from its L1. */
enum { DRAM = 88, L1 = 4 };

static uint64_t time_alone(const char *trace, const char *more)
{
	struct simulation simulation = run(trace, more);
	const struct thread *thread = simulation.build->machine->threads[0];
	/* What replay_body does at its end is no access. */
	uint64_t time = thread->time - simulation.build->machine->config.fence;

	CU_ASSERT_EQUAL(simulation.threads, 1);
	simulation_free(&simulation);
	return time;
}

static void test_a_lone_thread_takes_its_gaps_and_its_latencies(void)
{
	static const char trace[] =
		COMPLETE "5000 0 1 R 0x10000 8 1 - - 300\n"
			 "6000 0 1 R 0x10008 8 1 - - 250\n" /* a gap of 750 */
			 "6500 0 1 R 0x10000 8 1\n"         /* 500 */
			 "6500 0 1 R 0x10010 4 1\n"         /* 0 */
			 "6600 0 1 R 0x10018 8 1 - - 700\n" /* 0: it began before */
			 "8003 0 1 R 0x10000 8 1 - - 3\n";  /* 1400 */
	const uint64_t accesses = DRAM + 5 * L1, gaps = 750 + 500 + 1400;

	CU_ASSERT_EQUAL(time_alone(trace, OBJECT), accesses + gaps);
	CU_ASSERT_EQUAL(time_alone(trace, OBJECT ", gaps: 0"), accesses);
	CU_ASSERT_EQUAL(time_alone(trace, OBJECT ", gaps: 3"), accesses + 3 * gaps);
	CU_ASSERT_EQUAL(time_alone(trace, OBJECT ", gaps: 0.5"), accesses + gaps / 2);
	CU_ASSERT_EQUAL(time_alone(trace, OBJECT ", order: recorded"), accesses);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Threads store to one word in an order that is drawn: the line moves each time that the thread is another. */
static void test_in_recorded_order_a_line_moves_with_its_writers(void)
{
	enum { STORES = 500 };
	char *text = malloc(TEXT_SIZE);
	struct random random = random_stream(7, "test", 0);

	for (int threads = 1; threads <= 5; threads++) {
		uint64_t changes = 0, before = 0;
		size_t length = (size_t)sprintf(text, "%s", COMPLETE);
		struct simulation simulation;

		for (uint32_t k = 0; k < STORES; k++) {
			uint64_t thread =
				threads == 2 ? k % 2 : random_below(&random, (uint64_t)threads);

			changes += k && thread != before;
			before = thread;
			length += (size_t)sprintf(text + length, "%u %u %u %c 0x10000 8 1\n",
						  10 * k, (unsigned)thread * 5, (unsigned)thread,
						  k % 3 ? 'W' : 'A');
		}
		if (threads == 2)
			CU_ASSERT_EQUAL(changes, STORES - 1);
		simulation = run(text, OBJECT ", order: recorded");
		CU_ASSERT_EQUAL(moves_of(&simulation, address_of(&simulation, "x")), changes);
		CU_ASSERT_EQUAL(simulation.measure->operations[0], STORES);
		simulation_free(&simulation);
	}
	free(text);
}

/* ---- layouts -------------------------------------------------------------------------------- */

/* One thread counts in a, the other in b. */
static const char *two_counters(const char *from, const char *to)
{
	static char text[TEXT_SIZE];
	size_t length = (size_t)sprintf(text, "%s", COMPLETE);

	for (uint32_t k = 0; k < 1000; k++)
		length += (size_t)sprintf(text + length, "%u %u %u W %s 8 1\n%u %u %u R %s 8 1\n",
					  50 * k, k % 2, k % 2, k % 2 ? to : from, 50 * k + 5,
					  k % 2, k % 2, k % 2 ? to : from);
	return text;
}

static void test_fields_apart_share_nothing_falsely(void)
{
	static const char *const orders[] = { "own", "recorded" };
	const char *trace = two_counters("0x10000", "0x10008");
	char settings[256];

	for (int k = 0; k < 4; k++) {
		struct simulation simulation;
		bool apart = k % 2;

		snprintf(settings, sizeof(settings), "%s, order: %s%s", OBJECT, orders[k / 2],
			 apart ? ", replace: {x: apart}" : "");
		simulation = run(trace, settings);
		CU_ASSERT_EQUAL(cycles_of_pairs(&simulation, VERDICT_TRUE), 0);
		CU_ASSERT_EQUAL(cycles_of_pairs(&simulation, VERDICT_FALSE) == 0, apart);
		expect_counts(&simulation, "x.a", 500, 500, 0);
		expect_counts(&simulation, "x.b", 500, 500, 0);
		simulation_free(&simulation);
	}
}

/* Without any object: the two addresses are named, and nothing else is. */
static void test_raw_lines_that_threads_share_are_named(void)
{
	struct simulation simulation = run(two_counters("0x7f0010", "0x7f0018"), "");
	uint32_t count;
	const struct pair *pairs = sharing_pairs(simulation.measure->sharing, &count);
	const struct layout *layout;

	CU_ASSERT_EQUAL(simulation.build->memory.object_count, 1);
	CU_ASSERT_EQUAL(address_of(&simulation, "0x7f0000"), 0x7f0000);
	expect_counts(&simulation, "0x7f0010", 500, 500, 0);
	expect_counts(&simulation, "0x7f0018", 500, 500, 0);
	CU_ASSERT(cycles_of_pairs(&simulation, VERDICT_FALSE) > 0);
	CU_ASSERT_EQUAL(cycles_of_pairs(&simulation, VERDICT_TRUE), 0);
	for (uint32_t k = 0; k < count; k++) {
		if (pairs[k].verdict != VERDICT_FALSE)
			continue;
		CU_ASSERT_NOT_EQUAL(pairs[k].victim, pairs[k].culprit);
		CU_ASSERT_PTR_NOT_NULL(
			memory_field(&simulation.build->memory, pairs[k].victim, &layout));
		CU_ASSERT_PTR_NOT_NULL(
			memory_field(&simulation.build->memory, pairs[k].culprit, &layout));
	}
	simulation_free(&simulation);
}

/* Lines of one thread, and lines that nobody writes, move nothing by themselves. */
static void test_raw_lines_that_are_not_shared_or_not_written_have_no_name(void)
{
	struct simulation simulation = build_only(
		COMPLETE
		"1 0 1 W 0x1000 8 1\n2 0 1 W 0x1008 8 1\n3 0 1 R 0x2000 8 1\n"
		"4 1 2 R 0x2000 8 1\n5 1 2 R 0x2008 8 1\n6 0 1 R 0x3000 8 1\n7 1 2 W 0x3020 8 1\n",
		"");

	CU_ASSERT_EQUAL(simulation.build->memory.object_count, 1);
	CU_ASSERT_EQUAL(simulation.build->memory.objects[0].address, 0x3000);
	simulation_free(&simulation);
}

/* [0, 8), of two accesses, and [16, 18). */
static void test_raw_accesses_that_overlap_make_one_field(void)
{
	struct simulation simulation = build_only(
		COMPLETE "1 0 1 W 0x3000 4 1\n2 1 2 R 0x3002 6 1\n3 0 1 R 0x3010 2 1\n", "");
	const struct layout *layout = simulation.build->memory.objects[0].layout;

	CU_ASSERT_EQUAL_FATAL(layout->field_count, 2);
	CU_ASSERT_STRING_EQUAL(layout->fields[0].name, "0x3000");
	CU_ASSERT_EQUAL(layout->fields[0].size, 8);
	CU_ASSERT_STRING_EQUAL(layout->fields[1].name, "0x3010");
	CU_ASSERT_EQUAL(layout->fields[1].offset, 16);
	CU_ASSERT_EQUAL(layout->fields[1].size, 2);
	simulation_free(&simulation);
}

/* Of more lines than are named the busiest ones are, also where the capture does not say what it is. */
static void test_the_busiest_raw_lines_are_named(void)
{
	static const char *const heads[] = { COMPLETE, "# hitm-trace 1\n# kind unknown\n",
					     SAMPLED };
	char *text = malloc(TEXT_SIZE);

	for (int h = 0; h < 3; h++) {
		size_t length = (size_t)sprintf(text, "%s", heads[h]);
		struct simulation simulation;
		bool named = false;

		for (uint32_t k = 0; k < 400; k++)
			length += (size_t)sprintf(
				text + length, "%u 0 1 W 0x%x 8 1\n%u 1 2 W 0x%x 8 1\n", 1000 * k,
				0x10000 + 64 * k, 1000 * k, 0x10000 + 64 * k);
		for (int k = 0; k < 20; k++)
			length += (size_t)sprintf(
				text + length,
				"400000 0 1 W 0x90000 8 1\n400000 1 2 W 0x90008 8 1\n");
		simulation = build_only(text, "");
		CU_ASSERT_EQUAL(simulation.build->memory.object_count, 256);
		for (uint32_t k = 0; k < simulation.build->memory.object_count; k++)
			named |= simulation.build->memory.objects[k].address == 0x90000;
		CU_ASSERT(named);
		simulation_free(&simulation);
	}
	free(text);
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Bytes of captured memory at which an access ends up, one by one. */
static bool covers_once(const struct replay_plan *plan, uint32_t place, uint64_t address,
			uint32_t size)
{
	const struct replay_pieces *pieces = &plan->of_place[place];
	uint64_t at = address;

	for (uint32_t k = 0; k < pieces->count; k++) {
		const struct place *piece = &plan->pieces[pieces->first + k];

		if (piece->address != at || !piece->size || piece->size > 8 ||
		    piece->size & (piece->size - 1) || piece->address % piece->size)
			return false;
		at += piece->size;
	}
	return at == address + size;
}

/* Every size at every place of a line, in a field of 256 bytes and outside all objects; on the other layout
 * the field lies at an odd address. Naturally aligned pieces cross no line. */
static void test_accesses_are_cut_without_loss(void)
{
	static const char *const layouts[] = { OBJECT, OBJECT ", replace: {x: apart}" };
	char *text = malloc(TEXT_SIZE);
	size_t length = (size_t)sprintf(text, "%s", COMPLETE);

	for (uint32_t offset = 0; offset < 128; offset += 1 + offset % 5)
		for (uint32_t size = 1; size <= 64; size++)
			length += (size_t)sprintf(
				text + length, "1 0 1 R 0x%x %u 1\n1 0 1 R 0x%x %u 1\n",
				0x10000 + 128 + offset, size, 0x20000 + offset, size);
	for (int k = 0; k < 2; k++) {
		struct simulation simulation = build_only(text, layouts[k]);
		const struct replay_plan *plan = simulation.build->at_end_of;
		uint64_t object = address_of(&simulation, "x");
		uint32_t wrong = 0;

		for (uint32_t p = 0; p < plan->replay->place_count; p++) {
			const struct replay_place *place = &plan->replay->places[p];
			uint64_t now = place->object ? place->address - (0x10000 + 128) + object +
							       (k ? 259 : 128)
						     : place->address;

			wrong += !covers_once(plan, p, now, place->size);
		}
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT(plan->replay->place_count > 3000);
		simulation_free(&simulation);
	}
	free(text);
}

struct wanted {
	uint32_t offset; /* in layout "apart" */
	uint32_t size;
	const char *field; /* "": none */
};

static void expect_parts(const struct simulation *simulation, uint32_t place,
			 const struct wanted *parts)
{
	const struct replay_plan *plan = simulation->build->at_end_of;
	const struct replay_pieces *pieces = &plan->of_place[place];
	uint32_t count = 0;

	for (; count < pieces->count && parts[count].size; count++) {
		const struct place *piece = &plan->pieces[pieces->first + count];
		const struct layout *layout;
		const struct layout_field *field =
			memory_field(&simulation->build->memory, piece->field, &layout);

		CU_ASSERT_EQUAL(piece->address, address_of(simulation, "x") + parts[count].offset);
		CU_ASSERT_EQUAL(piece->size, parts[count].size);
		CU_ASSERT_STRING_EQUAL(field ? field->name : "", parts[count].field);
	}
	CU_ASSERT_EQUAL(count, pieces->count);
	CU_ASSERT_EQUAL(parts[count].size, 0);
}

/* Wide accesses go to each field where it lies now; padding stays where it was. */
static void test_accesses_over_several_fields_are_taken_apart(void)
{
	struct simulation simulation =
		build_only(COMPLETE "1 0 1 W 0x10000 16 1\n" /* a and b */
				    "2 0 1 W 0x10010 16 1\n" /* small, 4 of padding, c */
				    "3 0 1 W 0x10014 4 1\n"  /* the padding */
				    "4 0 1 W 0x10006 4 1\n"  /* the ends of a and b */
				    "5 0 1 W 0x1001c 16 1\n" /* half of c, and 12 of padding */
				    "6 0 1 W 0x101fc 8 1\n", /* the last 4 bytes, and 4 beyond */
			   OBJECT ", replace: {x: apart}");

	expect_parts(&simulation, 0, (struct wanted[]){ { 64, 8, "x.a" }, { 0, 8, "x.b" }, { 0 } });
	expect_parts(&simulation, 1,
		     (struct wanted[]){
			     { 140, 4, "x.small" }, { 20, 4, "" }, { 128, 8, "x.c" }, { 0 } });
	expect_parts(&simulation, 2, (struct wanted[]){ { 20, 4, "" }, { 0 } });
	expect_parts(&simulation, 3, (struct wanted[]){ { 70, 2, "x.a" }, { 0, 2, "x.b" }, { 0 } });
	expect_parts(&simulation, 4,
		     (struct wanted[]){ { 132, 4, "x.c" }, { 32, 8, "" }, { 40, 4, "" }, { 0 } });
	expect_parts(&simulation, 5, (struct wanted[]){ { 508, 4, "" }, { 0 } });
	simulation_free(&simulation);
}

/* At a field's start it is the field's; within one, in padding and elsewhere a byte. */
static void test_unknown_sizes_are_the_fields(void)
{
	struct simulation simulation =
		build_only(COMPLETE "1 0 1 W 0x10000 - 1\n2 0 1 W 0x10010 - 1\n"
				    "3 0 1 W 0x1000b - 1\n4 0 1 W 0x10015 - 1\n",
			   OBJECT ", replace: {x: apart}");

	expect_parts(&simulation, 0, (struct wanted[]){ { 64, 8, "x.a" }, { 0 } });
	expect_parts(&simulation, 1, (struct wanted[]){ { 140, 4, "x.small" }, { 0 } });
	expect_parts(&simulation, 2, (struct wanted[]){ { 3, 1, "x.b" }, { 0 } });
	expect_parts(&simulation, 3, (struct wanted[]){ { 21, 1, "" }, { 0 } });
	simulation_free(&simulation);
}

/* ---- where objects lie ---------------------------------------------------------------------- */

/* Two objects that share a line share it in the replay too; 0x10fc0 is 0xfc0 within its page. */
static void test_objects_lie_in_their_pages_as_they_did(void)
{
	struct simulation simulation = build_only(COMPLETE "1 0 1 W 0x10fc0 8 1\n",
						  "objects: {p: {layout: near, address: 0x10fc0}, "
						  "q: {layout: near, address: 0x111e0}, "
						  "r: {layout: near, address: 0x50040}}");

	CU_ASSERT_EQUAL(address_of(&simulation, "p") % 4096, 0xfc0);
	CU_ASSERT_EQUAL(address_of(&simulation, "q") - address_of(&simulation, "p"), 0x220);
	CU_ASSERT_EQUAL(address_of(&simulation, "r") % 4096, 0x40);
	CU_ASSERT(address_of(&simulation, "r") >= address_of(&simulation, "q") + 512);
	simulation_free(&simulation);
}

static uint32_t home_of(const struct simulation *simulation, uint64_t address)
{
	return coherence_line(simulation->build->machine->coherence, address)->socket;
}

static void test_homes_are_where_lines_were_touched_first_or_in_turn(void)
{
	static const char trace[] = COMPLETE "1 0 1 R 0x10000 8 1\n2 20 2 W 0x10080 8 1\n"
					     "3 20 2 W 0x10000 8 1\n4 0 1 R 0x10080 8 1\n"
					     "5 20 2 W 0x30000 8 1\n6 0 1 W 0x41000 8 1\n"
					     "7 0 1 W 0x60000 8 1\n8 20 2 W 0x60008 8 1\n"
					     "9 20 2 W 0x70008 8 1\n10 0 1 W 0x70000 8 1\n"
					     "11 0 1 W 0x70008 8 1\n";
	struct simulation simulation = build_only(trace, OBJECT);
	uint64_t object = address_of(&simulation, "x");

	CU_ASSERT_EQUAL(home_of(&simulation, object), 0);
	CU_ASSERT_EQUAL(home_of(&simulation, 0x30000), 1);
	CU_ASSERT_EQUAL(home_of(&simulation, 0x41000), 0);
	CU_ASSERT_EQUAL(home_of(&simulation, 0x60000), 0);
	CU_ASSERT_EQUAL(home_of(&simulation, 0x70000),
			1); /* the other thread appeared first, but not here */
	simulation_free(&simulation);
	simulation = build_only(trace, OBJECT ", home: interleave");
	CU_ASSERT_EQUAL(home_of(&simulation, 0x30000), 0);
	CU_ASSERT_EQUAL(home_of(&simulation, 0x41000), 1);
	simulation_free(&simulation);
}

/* ---- where threads run ---------------------------------------------------------------------- */

/* Threads were on cpus 3, 40, 100 (the machine has 72), 3 once more, and where nobody knows. */
static void test_threads_are_put_on_cpus_as_told(void)
{
	static const char trace[] = COMPLETE "1 3 11 W 0x10000 8 1\n2 40 12 W 0x10000 8 1\n"
					     "3 100 13 W 0x10000 8 1\n4 3 14 W 0x10000 8 1\n"
					     "5 - 15 W 0x10000 8 1\n";
	static const struct {
		const char *settings;
		uint32_t cpus[5];
	} cases[] = {
		{ "", { 3, 40, 0, 1, 2 } },
		{ ", placement: compact", { 0, 1, 2, 3, 4 } },
		{ ", placement: spread", { 0, 18, 1, 19, 2 } },
		{ ", cpus: {100: 50, 15: 7}", { 3, 40, 50, 0, 7 } },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct simulation simulation;
		char settings[256];

		snprintf(settings, sizeof(settings), "%s%s", OBJECT, cases[c].settings);
		simulation = build_only(trace, settings);
		CU_ASSERT_EQUAL_FATAL(simulation.threads, 5);
		for (uint32_t k = 0; k < 5; k++)
			CU_ASSERT_EQUAL(simulation.build->machine->threads[k]->cpu,
					cases[c].cpus[k]);
		simulation_free(&simulation);
	}
}

/* ---- profiles ------------------------------------------------------------------------------- */

static const char profile[] =
	SAMPLED "1 0 1 R 0x10000 8 60\n2 0 1 W 0x10008 8 10\n3 0 1 R 0x10018 8 30\n"
		"4 1 2 A 0x10010 4 50\n5 1 2 R 0x10000 8 50\n";

static uint64_t sum(struct field_counts counts)
{
	return counts.loads + counts.stores + counts.rmws;
}

/* A binomial of n draws deviates by more than 3 sigma once in 370; the seed is fixed. */
static void expect_share(uint64_t part, uint64_t whole, double share)
{
	double off = (double)part - (double)whole * share;

	CU_ASSERT(off * off <= 9 * (double)whole * share * (1 - share));
}

static void test_profiles_are_drawn_by_weight(void)
{
	struct simulation simulation = run(profile, OBJECT ", gap: 50 ns");
	uint64_t b = sum(counts_of(&simulation, "x.b")), c = sum(counts_of(&simulation, "x.c"));
	uint64_t small = sum(counts_of(&simulation, "x.small"));
	uint64_t first = 0, second = 0;

	for (uint32_t k = 0; k < simulation.build->memory.field_count; k++) {
		const struct window *windows = simulation.measure->windows;
		const struct field_counts *counts = &windows[0].counts[k];

		first += sum(*counts);
		second += sum(windows[1].counts[k]);
	}
	CU_ASSERT(first > 5000);
	CU_ASSERT(second > 5000);
	expect_share(b, first, 0.1);
	expect_share(c, first, 0.3);
	expect_share(small, second, 0.5);
	expect_counts(&simulation, "x.b", 0, b, 0);
	expect_counts(&simulation, "x.small", 0, 0, small);
	simulation_free(&simulation);
}

static uint64_t fingerprint(const char *settings, uint64_t seed)
{
	struct simulation simulation = run_seed(NULL, settings, seed);
	uint64_t mark = simulation.measure->total;

	for (uint32_t k = 1; k < simulation.build->memory.field_count; k++)
		mark = mark * 31 + sum(simulation.measure->fields[k].counts);
	simulation_free(&simulation);
	return mark;
}

static void test_draws_follow_the_seed(void)
{
	uint64_t mark;

	file_write("trace", profile);
	mark = fingerprint(OBJECT, 1);
	CU_ASSERT_EQUAL(fingerprint(OBJECT, 1), mark);
	CU_ASSERT_NOT_EQUAL(fingerprint(OBJECT, 2), mark);
	CU_ASSERT_NOT_EQUAL(fingerprint(OBJECT ", seed: 1", 1), mark);
	CU_ASSERT_EQUAL(fingerprint(OBJECT ", seed: 0", 1), mark);
}

/* Loads that hit their line come after what brought it: 3 follow each store of a on average, and none follows
 * where nothing comes first at the line. */
static void test_loads_that_hit_follow_their_line(void)
{
	struct simulation simulation = run(SAMPLED "1 0 1 W 0x10000 8 20\n2 0 1 R 0x10008 8 60 - "
						   "l1\n3 0 1 R 0x10080 8 80 - dram_local\n"
						   "4 1 2 R 0x10000 8 40 - l1\n",
					   OBJECT ", gap: 50 ns");
	uint64_t a = counts_of(&simulation, "x.a").stores, b = sum(counts_of(&simulation, "x.b"));
	uint64_t buffer = sum(counts_of(&simulation, "x.buffer"));

	CU_ASSERT(a > 1000);
	CU_ASSERT_DOUBLE_EQUAL((double)b, 3 * (double)a, 4);
	expect_share(a, a + buffer, 0.2);
	CU_ASSERT(counts_of(&simulation, "x.a").loads > 5000);
	simulation_free(&simulation);
}

/* Four samples that stand for 100,000 accesses within 4 ms: one in 40 ns. */
static void test_a_profile_with_times_goes_at_its_pace(void)
{
	struct simulation simulation =
		run(SAMPLED "1000000 0 1 R 0x10000 8 25000\n2000000 0 1 W 0x10000 8 25000\n"
			    "4000000 0 1 R 0x10000 8 25000\n5000000 0 1 R 0x10000 8 25000\n",
		    OBJECT);
	double apart = 2e6 / (double)simulation.measure->operations[0];

	/* Besides, a load or store takes some cycles of an L1 that is never lost. */
	CU_ASSERT_DOUBLE_EQUAL(apart, 40 + L1 * 0.75, 1.5);
	simulation_free(&simulation);
}

static void test_stores_that_a_profile_lacks_are_added(void)
{
	struct simulation simulation = run(SAMPLED "1 0 1 R 0x10000 8 30\n2 1 2 R 0x10000 8 30\n",
					   OBJECT ", stores: {x.b: 20}, gap: 50 ns");
	uint64_t reads = sum(counts_of(&simulation, "x.a")),
		 writes = sum(counts_of(&simulation, "x.b"));

	expect_counts(&simulation, "x.b", 0, writes, 0);
	expect_share(writes, reads + writes, 0.25);
	simulation_free(&simulation);
}

/* ---- refused -------------------------------------------------------------------------------- */

#define ONE_STORE COMPLETE "1 0 1 W 0x10000 8 1\n"
#define NO_STORE  SAMPLED "1 0 1 R 0x10000 8 1\n"
#define X         "x: {layout: near, address: 0x10000}"

static const struct {
	const char *trace, *settings, *error;
} mistakes[] = {
	{ ONE_STORE, OBJECT ", replace: {x: lacking}",
	  "layout lacking has no field a, which the capture accesses" },
	{ ONE_STORE, OBJECT ", replace: {x: narrow}",
	  "field a has 4 bytes in layout narrow and 8 in near" },
	{ ONE_STORE, OBJECT ", replace: {x: other}",
	  "layout other is of struct else, expected one of struct pair" },
	{ ONE_STORE, OBJECT ", replace: {y: apart}", "no object 'y'" },
	{ ONE_STORE, OBJECT ", replace: apart", "expected a map of objects to layouts" },
	{ ONE_STORE, OBJECT ", replace: {x: [apart]}", "expected a layout's name" },
	{ ONE_STORE, OBJECT ", replace: {x: nowhere}", "nowhere" },
	{ ONE_STORE, "objects: {x: {layout: near}}", "address" },
	{ ONE_STORE, "objects: {x: {layout: near, address: here}}", "'here' is no address" },
	{ ONE_STORE, "objects: {x.y: {layout: near, address: 0x1}}", "'x.y' is no name" },
	{ ONE_STORE, "objects: [x]", "expected a map of NAME" },
	{ ONE_STORE, "objects: {" X ", y: {layout: near, address: 0x101ff}}", "y lies within x" },
	{ ONE_STORE, "objects: {" X ", y: {layout: near, address: 0x10000}}", "lies within" },
	{ ONE_STORE, "objects: {x: {layout: near, address: 0x10000, stride: 8 B, count: 2}}",
	  "x[1] lies within x[0]" },
	{ ONE_STORE, "objects: {x: {layout: near, address: 0xffffffffffffff00}}",
	  "x goes beyond the last address" },
	{ ONE_STORE,
	  "objects: {x: {layout: near, address: 0xfffffffffffff000, stride: 4096 B, count: 2}}",
	  "x[1] goes beyond the last address" },
	{ ONE_STORE, "objects: {y: {layout: near, address: 0x50000}}, only: objects",
	  "no access to replay" },
	{ ONE_STORE, OBJECT ", atomics: [x.nothing]", "no 'x.nothing', expected OBJECT.FIELD" },
	{ ONE_STORE, OBJECT ", atomics: x.a", "expected a list of OBJECT.FIELD" },
	{ ONE_STORE, OBJECT ", stores: {x.a: 5}",
	  "is no profile, expected stores for profiles alone" },
	{ NO_STORE, OBJECT, "has no store, so that no line would ever move" },
	{ NO_STORE, OBJECT ", stores: {x.nothing: 5}", "no 'x.nothing', expected OBJECT.FIELD" },
	{ NO_STORE, OBJECT ", stores: {x.a: 0}", "expected" },
	{ NO_STORE, OBJECT ", stores: {x.a: 5}, order: recorded", "a profile has no order" },
	{ COMPLETE "1 0 1 W 0x10000 8 1\n1 1 2 W 0x10000 8 1\n", "cpus: {0: 5, 1: 5}",
	  "two threads on cpu 5" },
	{ COMPLETE "1 0 1 W 0x10000 8 1\n1 1 2 W 0x10000 8 1\n",
	  "cpus: {0: 1}, placement: recorded", NULL },
	{ ONE_STORE, "cpus: {0: 72}", "72" },
	{ COMPLETE, "", "no access to replay" },
	{ ONE_STORE, "by: nobody", "nobody" },
	{ ONE_STORE, "order: any", "any" },
	{ ONE_STORE, "gaps: -1", "-1" },
	{ ONE_STORE, "placement: anywhere", "anywhere" },
};

static void test_mistakes_are_one_line(void)
{
	for (size_t k = 0; k < sizeof(mistakes) / sizeof(*mistakes); k++) {
		struct simulation simulation;
		struct error error = { "" };
		bool done = start(false, mistakes[k].trace, mistakes[k].settings, 1, &simulation,
				  &error);

		CU_ASSERT_EQUAL(done, !mistakes[k].error);
		if (done)
			simulation_free(&simulation);
		CU_ASSERT(done || strstr(error.text, mistakes[k].error));
		CU_ASSERT_PTR_NULL(strchr(error.text, '\n'));
		if (done != !mistakes[k].error || (!done && !strstr(error.text, mistakes[k].error)))
			printf("\n  %s\n   got: %s\n  want: %s\n", mistakes[k].settings, error.text,
			       mistakes[k].error ? mistakes[k].error : "");
	}
}

static void test_more_threads_than_cpus_are_refused(void)
{
	char text[4096] = COMPLETE;
	struct simulation simulation;
	struct error error = { "" };

	for (uint32_t k = 0; k < 73; k++)
		sprintf(text + strlen(text), "%u %u %u W 0x10000 8 1\n", k, k / 2, k);
	CU_ASSERT_FALSE(start(false, text, OBJECT, 1, &simulation, &error));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(error.text, "has 73 threads, and machine skx-2s-18c has 72 cpus"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "--by cpu"));
	error.text[0] = '\0';
	CU_ASSERT(start(false, text, OBJECT ", by: cpu", 1, &simulation, &error));
	CU_ASSERT_EQUAL(simulation.threads, 37);
	simulation_free(&simulation);
}

void suite_replay(void)
{
	CU_pSuite suite = CU_add_suite("replay", make_layouts, scratch_remove);

	CU_ADD_TEST(suite, test_gaps_are_what_accesses_do_not_fill);
	CU_ADD_TEST(suite, test_latencies_are_cycles_of_the_clock);
	CU_ADD_TEST(suite, test_lanes_by_cpu);
	CU_ADD_TEST(suite, test_accesses_without_time_leave_no_gap);
	CU_ADD_TEST(suite, test_the_recorded_order_is_kept);
	CU_ADD_TEST(suite, test_a_kind_that_changes_is_taken_from_the_start);
	CU_ADD_TEST(suite, test_objects_are_found_from_their_first_to_their_last_byte);
	CU_ADD_TEST(suite, test_a_place_is_an_address_and_a_size);
	CU_ADD_TEST(suite, test_rows_are_dealt_to_lanes_in_equal_parts);
	CU_ADD_TEST(suite, test_rows_of_a_thread_are_its_own);
	CU_ADD_TEST(suite, test_stores_are_added_to_all_lanes_alike);
	CU_ADD_TEST(suite, test_each_access_is_counted_at_its_field);
	CU_ADD_TEST(suite, test_what_is_unknown_is_done_as_told);
	CU_ADD_TEST(suite, test_stores_to_fields_named_atomic_are_locked);
	CU_ADD_TEST(suite, test_only_objects_leaves_the_rest_out);
	CU_ADD_TEST(suite, test_objects_in_an_array_are_apart);
	CU_ADD_TEST(suite, test_a_lone_thread_takes_its_gaps_and_its_latencies);
	CU_ADD_TEST(suite, test_in_recorded_order_a_line_moves_with_its_writers);
	CU_ADD_TEST(suite, test_fields_apart_share_nothing_falsely);
	CU_ADD_TEST(suite, test_raw_lines_that_threads_share_are_named);
	CU_ADD_TEST(suite, test_raw_lines_that_are_not_shared_or_not_written_have_no_name);
	CU_ADD_TEST(suite, test_raw_accesses_that_overlap_make_one_field);
	CU_ADD_TEST(suite, test_the_busiest_raw_lines_are_named);
	CU_ADD_TEST(suite, test_accesses_are_cut_without_loss);
	CU_ADD_TEST(suite, test_accesses_over_several_fields_are_taken_apart);
	CU_ADD_TEST(suite, test_unknown_sizes_are_the_fields);
	CU_ADD_TEST(suite, test_objects_lie_in_their_pages_as_they_did);
	CU_ADD_TEST(suite, test_homes_are_where_lines_were_touched_first_or_in_turn);
	CU_ADD_TEST(suite, test_threads_are_put_on_cpus_as_told);
	CU_ADD_TEST(suite, test_profiles_are_drawn_by_weight);
	CU_ADD_TEST(suite, test_draws_follow_the_seed);
	CU_ADD_TEST(suite, test_loads_that_hit_follow_their_line);
	CU_ADD_TEST(suite, test_a_profile_with_times_goes_at_its_pace);
	CU_ADD_TEST(suite, test_stores_that_a_profile_lacks_are_added);
	CU_ADD_TEST(suite, test_mistakes_are_one_line);
	CU_ADD_TEST(suite, test_more_threads_than_cpus_are_refused);
}
