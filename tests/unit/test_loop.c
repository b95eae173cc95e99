/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop workload: what its steps do, counted by hand, and what it refuses. The tests read
 * configs/machines and are run in the root of the project. */
#include "tests/unit/suites.h"
#include "machine/machine_file.h"
#include "workload/simulation.h"
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOCK_MHZ = 2000 };

/* ---- helpers ---- */

static char directory[] = "/tmp/hitm-loop-XXXXXX", layout_path[64];

static const char pair_layout[] = "layout: pair\n"
				  "struct: pair\n"
				  "size: 192 B\n"
				  "align: 64 B\n"
				  "source: test\n"
				  "fields:\n"
				  "  a: {offset: 0, size: 8}\n"
				  "  b: {offset: 8, size: 8}\n"
				  "  other: {offset: 64, size: 8}\n"
				  "  tiny: {offset: 72, size: 1}\n"
				  "  wide: {offset: 80, size: 16}\n"
				  "  astride: {offset: 124, size: 8}\n";

static int directory_make(void)
{
	FILE *file;

	if (!mkdtemp(directory))
		return -1;
	snprintf(layout_path, sizeof(layout_path), "%s/pair.yaml", directory);
	file = fopen(layout_path, "w");
	if (!file)
		return -1;
	fputs(pair_layout, file);
	return fclose(file);
}

static int directory_remove(void)
{
	unlink(layout_path);
	return rmdir(directory);
}

/* The workload's settings from line 5 on, indented by two. */
static bool run(struct simulation *simulation, const char *workload, struct error *error)
{
	char text[4096];
	int length = snprintf(text, sizeof(text),
			      "layouts: {pair: pair}\n"
			      "measure: {warmup: 10 us, duration: 200 us}\n"
			      "workload:\n"
			      "  model: loop\n"
			      "%s",
			      workload);
	struct setting setting = { document_parse("t.yaml", text, (size_t)length, error),
				   document_load("configs/machines/skx-2s-18c.yaml", error) };
	const struct run_options options = { .seed = 1, .layout_directory = directory };
	bool done = setting.experiment && setting.machine &&
		    setting_override_text(&setting, "machine.clock", "2 GHz", "test", error) &&
		    setting_override_text(&setting, "machine.core.locked_rmw", "18 cycles", "test",
					  error) &&
		    simulation_run(simulation, &setting, &options, error);

	setting_free(&setting);
	return done;
}

static struct simulation run_well(const char *workload)
{
	struct simulation simulation;
	struct error error = { "" };
	bool done = run(&simulation, workload, &error);

	if (!done)
		printf("\n  %s\n", error.text);
	CU_ASSERT_FATAL(done);
	return simulation;
}

static void expect_refused(const char *workload, const char *expected)
{
	struct simulation simulation;
	struct error error = { "" };
	bool done = run(&simulation, workload, &error);

	CU_ASSERT_FALSE(done);
	if (done)
		simulation_free(&simulation);
	CU_ASSERT_STRING_EQUAL(error.text, expected);
	if (strcmp(error.text, expected))
		printf("\n   got: %s\n  want: %s\n", error.text, expected);
}

/* One object `x` of struct pair, one group of `threads` that repeats the steps. */
static struct simulation run_steps(uint32_t threads, const char *steps)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "  objects: {x: {struct: pair}}\n"
		 "  groups: {g: {threads: %u, each: [%s]}}\n",
		 threads, steps);
	return run_well(text);
}

static void refuse_steps(const char *steps, const char *expected)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "  objects: {x: {struct: pair}}\n"
		 "  groups:\n"
		 "    g:\n"
		 "      threads: 2\n"
		 "      each: [%s]\n",
		 steps);
	expect_refused(text, expected);
}

static struct place place_of(const struct simulation *simulation, const char *name,
			     const char *field)
{
	const struct memory *memory = &simulation->build->memory;
	const struct binding binding[] = { { field, NULL, 0 }, { 0 } };
	struct error error = { "" };
	struct place place = { 0 };
	uint32_t k = 0;

	while (k < memory->object_count && strcmp(memory->objects[k].name, name))
		k++;
	CU_ASSERT_FATAL(k < memory->object_count);
	CU_ASSERT_FATAL(memory_bind(memory, k, binding, &place, &error) && place.size);
	return place;
}

static uint64_t value_of(const struct simulation *simulation, const char *object, const char *field)
{
	struct place place = place_of(simulation, object, field);

	return memory_get(&simulation->build->memory, &place);
}

static struct field_total total_of(const struct simulation *simulation, const char *field)
{
	return simulation->measure->fields
		[place_of(simulation, simulation->build->memory.objects[0].name, field).field];
}

static uint64_t passes(const struct simulation *simulation)
{
	return simulation->measure->operations[0];
}

/* ---- what steps do ---- */

static void a_pass_does_each_of_its_steps_once(void)
{
	struct simulation s = run_steps(3, "{read: x.a}, {read: [x.b, x.other]}, {write: x.b}, "
					   "{add: x.a}, {xchg: [x.a, x.b]}, {cmpxchg: x.other}");
	struct field_counts a = total_of(&s, "a").counts, b = total_of(&s, "b").counts,
			    other = total_of(&s, "other").counts;
	uint64_t n = passes(&s);

	CU_ASSERT(n > 100);
	CU_ASSERT_EQUAL(a.loads, n);
	CU_ASSERT_EQUAL(a.stores, 0);
	CU_ASSERT_EQUAL(a.rmws, 2 * n);
	CU_ASSERT_EQUAL(b.loads, n);
	CU_ASSERT_EQUAL(b.stores, n);
	CU_ASSERT_EQUAL(b.rmws, n);
	CU_ASSERT_EQUAL(other.loads, n);
	CU_ASSERT_EQUAL(other.rmws, n);
	simulation_free(&s);
}

/* 18 cycles of a locked addition and 82 of work, at 2 GHz: 20 million passes a second. */
static void a_pass_takes_the_sum_of_its_steps(void)
{
	struct simulation cycles = run_steps(1, "{add: x.a}, {work: 82 cycles}"),
			  time = run_steps(1, "{add: x.a}, {work: 41 ns}");

	CU_ASSERT_DOUBLE_EQUAL(cycles.rate, 20e6, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(time.rate, 20e6, 1e-3);
	simulation_free(&cycles);
	simulation_free(&time);
}

static void an_addition_adds_what_by_says(void)
{
	struct simulation s = run_steps(1, "{add: x.a, by: 3}, {add: x.b}, {add: x.other, by: -1}");
	uint64_t a = value_of(&s, "x", "a"), b = value_of(&s, "x", "b");

	CU_ASSERT(b > passes(&s));
	CU_ASSERT_EQUAL(a, 3 * b);
	CU_ASSERT_EQUAL(value_of(&s, "x", "other"), -b);
	simulation_free(&s);
}

/* In rounds: a round is long over when the next begins, so a run ends with a whole one. */
static struct simulation run_rounds(uint32_t threads, const char *steps)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "  objects: {x: {struct: pair}}\n"
		 "  groups: {g: {threads: %u, every: 4 us, each: [%s]}}\n",
		 threads, steps);
	return run_well(text);
}

static void additions_of_many_threads_are_not_lost(void)
{
	struct simulation s = run_rounds(8, "{add: x.a}, {add: x.other, by: 5}");
	uint64_t a = value_of(&s, "x", "a");

	CU_ASSERT(a > passes(&s) && a % 8 == 0);
	CU_ASSERT_EQUAL(value_of(&s, "x", "other"), 5 * a);
	simulation_free(&s);
}

static void a_narrow_field_wraps(void)
{
	struct simulation s = run_steps(1, "{add: x.tiny}, {add: x.a}");
	uint64_t a = value_of(&s, "x", "a"), tiny = value_of(&s, "x", "tiny");

	CU_ASSERT(a > 256);
	CU_ASSERT_EQUAL(tiny, a & 255);
	simulation_free(&s);
}

static void stores_and_exchanges_leave_the_number_of_the_pass(void)
{
	struct simulation s = run_steps(1, "{add: x.a}, {write: x.b}, fence, {xchg: x.other}");
	uint64_t a = value_of(&s, "x", "a");

	CU_ASSERT(a > 0);
	CU_ASSERT_EQUAL(value_of(&s, "x", "b"), a);
	CU_ASSERT_EQUAL(value_of(&s, "x", "other"), a);
	simulation_free(&s);
}

static void a_compare_exchange_without_rivals_always_succeeds(void)
{
	struct simulation s = run_steps(1, "{cmpxchg: x.a}, {cmpxchg: x.tiny}, {add: x.b}");
	uint64_t b = value_of(&s, "x", "b");

	CU_ASSERT(b > 256);
	CU_ASSERT_EQUAL(value_of(&s, "x", "a"), b);
	CU_ASSERT_EQUAL(value_of(&s, "x", "tiny"), b & 255);
	simulation_free(&s);
}

/* All four know the value that the round before has left; the first to come changes it. */
static void a_compare_exchange_fails_where_others_came_between(void)
{
	struct simulation s = run_rounds(4, "{cmpxchg: x.a}, {add: x.other}");
	uint64_t succeeded = value_of(&s, "x", "a"), tried = value_of(&s, "x", "other");

	CU_ASSERT(succeeded > 0);
	CU_ASSERT_EQUAL(tried, 4 * succeeded);
	simulation_free(&s);
}

static void a_compare_exchange_expects_what_was_last_read(void)
{
	struct simulation s =
		run_well("  objects: {x: {struct: pair}}\n"
			 "  groups:\n"
			 "    one: {threads: 1, every: 4 us, each: [{add: x.a}, {add: x.b}]}\n"
			 "    two:\n"
			 "      threads: 1\n"
			 "      every: 4 us\n"
			 "      each: [{work: 2 us}, {read: x.a}, {cmpxchg: x.a}, {add: x.b}]\n");

	CU_ASSERT(value_of(&s, "x", "a") > passes(&s));
	CU_ASSERT_EQUAL(value_of(&s, "x", "a"), value_of(&s, "x", "b"));
	simulation_free(&s);
}

static void a_step_with_a_chance_is_done_so_often(void)
{
	struct simulation s = run_steps(4, "{add: x.a, chance: 0.25}, {read: x.a, chance: 0.5}, "
					   "{work: 30 cycles}");
	struct field_counts a = total_of(&s, "a").counts;
	double n = (double)passes(&s);

	CU_ASSERT(n > 2000);
	CU_ASSERT_DOUBLE_EQUAL((double)a.rmws, 0.25 * n, 5 * sqrt(n * 0.25 * 0.75));
	CU_ASSERT_DOUBLE_EQUAL((double)a.loads, 0.5 * n, 5 * sqrt(n * 0.5 * 0.5));
	simulation_free(&s);
}

/* 18 cycles and 282 on average; 1333 passes, whose work varies by 0.5/sqrt(3), or by itself. */
static void jitter_and_exponential_work_keep_the_mean(void)
{
	struct simulation even = run_steps(1, "{add: x.a}, {work: 282 cycles, jitter: 0.5}"),
			  exponential =
				  run_steps(1, "{add: x.a}, {work: 282 cycles, exponential: true}");
	double expected = CLOCK_MHZ * 1e6 / 300, sigma = 282 / 300.0 / sqrt(200e3 * 2 / 300);

	CU_ASSERT_DOUBLE_EQUAL(even.rate / expected, 1, 5 * sigma / sqrt(12));
	CU_ASSERT_DOUBLE_EQUAL(exponential.rate / expected, 1, 5 * sigma);
	CU_ASSERT_NOT_EQUAL(even.rate, exponential.rate);
	simulation_free(&even);
	simulation_free(&exponential);
}

static double mean_latency(const char *reads)
{
	char text[512];
	struct simulation s;
	double mean;

	snprintf(text, sizeof(text),
		 "  objects: {x: {struct: pair}}\n"
		 "  groups:\n"
		 "    reader: {threads: 1, every: 1 us, each: [%s]}\n"
		 "    writer: {threads: 1, every: 1 us, each: [{work: 1000 cycles}, "
		 "{write: [x.a, x.other]}]}\n",
		 reads);
	s = run_well(text);
	mean = histogram_mean(&s.measure->latency[0]);
	simulation_free(&s);
	return mean;
}

static void reads_of_a_list_are_in_flight_together(void)
{
	double together = mean_latency("{read: [x.a, x.other]}"),
	       apart = mean_latency("{read: x.a}, {read: x.other}"),
	       one = mean_latency("{read: x.a}");

	CU_ASSERT(one > 50);
	CU_ASSERT_DOUBLE_EQUAL(apart / one, 2, 0.1);
	CU_ASSERT(together < 1.3 * one);
}

/* ---- groups ---- */

static void passes_begin_as_often_as_every_says(void)
{
	struct simulation s =
		run_well("  objects: {x: {struct: pair}}\n"
			 "  groups:\n"
			 "    often: {threads: 1, every: 1 us, each: [{add: x.a}]}\n"
			 "    seldom: {threads: 2, every: 4 us, each: [{add: x.a}]}\n");

	CU_ASSERT_DOUBLE_EQUAL(s.measure->rate[0], 1e6, 1e3);
	CU_ASSERT_DOUBLE_EQUAL(s.measure->rate[1], 2 * 0.25e6, 1e3);
	simulation_free(&s);
}

static void throughput_counts_the_first_groups_passes(void)
{
	struct simulation s = run_well("  objects: {x: {struct: pair}}\n"
				       "  groups:\n"
				       "    first: {threads: 2, each: [{add: x.a}]}\n"
				       "    second: {threads: 1, each: [{read: x.a}]}\n");

	CU_ASSERT(s.measure->operations[0] > 0 && s.measure->operations[1] > 0);
	CU_ASSERT_EQUAL(s.rate, s.measure->rate[0]);
	CU_ASSERT_EQUAL(total_of(&s, "a").counts.rmws, s.measure->operations[0]);
	CU_ASSERT_EQUAL(total_of(&s, "a").counts.loads, s.measure->operations[1]);
	simulation_free(&s);
}

static void threads_that_only_compute_let_others_run(void)
{
	struct simulation s =
		run_well("  objects: {x: {struct: pair}}\n"
			 "  groups:\n"
			 "    memory: {threads: 1, each: [{add: x.a}]}\n"
			 "    work: {threads: 1, each: [{work: 100 cycles}]}\n"
			 "    nothing: {threads: 1, each: [{work: 0 cycles}]}\n"
			 "    seldom: {threads: 1, each: [{add: x.a, chance: 1e-6}]}\n"
			 "    fences: {threads: 1, each: [fence]}\n");

	CU_ASSERT_DOUBLE_EQUAL(s.measure->rate[1], CLOCK_MHZ * 1e4, 1);
	CU_ASSERT_DOUBLE_EQUAL(s.measure->rate[2], CLOCK_MHZ * 1e6, 1);
	simulation_free(&s);
}

static void threads_are_placed_group_after_group(void)
{
	static const uint32_t compact[4] = { 0, 1, 2, 3 }, spread[4] = { 0, 18, 1, 19 };
	const char *const text = "  placement: %s\n"
				 "  objects: {x: {struct: pair}}\n"
				 "  groups:\n"
				 "    one: {threads: 3, each: [{add: x.a}]}\n"
				 "    two: {threads: 1, each: [{add: x.a}]}\n";

	for (int way = 0; way < 2; way++) {
		char workload[512];
		struct simulation s;

		snprintf(workload, sizeof(workload), text, way ? "spread" : "compact");
		s = run_well(workload);
		CU_ASSERT_EQUAL_FATAL(s.threads, 4);
		for (int k = 0; k < 4; k++)
			CU_ASSERT_EQUAL(s.build->machine->threads[k]->cpu,
					(way ? spread : compact)[k]);
		simulation_free(&s);
	}
}

/* ---- objects ---- */

static void each_thread_may_have_an_object_of_its_own(void)
{
	struct simulation s = run_well("  placement: spread\n"
				       "  objects: {own: {struct: pair, per_thread: true}}\n"
				       "  groups: {g: {threads: 2, each: [{add: own.a}]}}\n");
	uint64_t address[2] = { place_of(&s, "own 0", "a").address,
				place_of(&s, "own 1", "a").address };

	CU_ASSERT_EQUAL(s.build->memory.object_count, 2);
	CU_ASSERT_EQUAL(total_of(&s, "a").misses, 0);
	CU_ASSERT_EQUAL(coherence_line(s.build->machine->coherence, address[0])->socket, 0);
	CU_ASSERT_EQUAL(coherence_line(s.build->machine->coherence, address[1])->socket, 1);
	simulation_free(&s);
}

/* Thread 2 comes back to number 0. */
static void threads_share_several_objects_in_turn(void)
{
	struct simulation s =
		run_well("  objects: {x: {struct: pair, count: 2}, y: {struct: pair}}\n"
			 "  groups:\n"
			 "    one: {threads: 1, each: [{add: x.a}]}\n"
			 "    two: {threads: 1, each: [{add: x.b}]}\n"
			 "    three: {threads: 1, each: [{add: x.other}]}\n");

	CU_ASSERT(value_of(&s, "x 0", "a") > 0);
	CU_ASSERT_EQUAL(value_of(&s, "x 0", "b"), 0);
	CU_ASSERT(value_of(&s, "x 1", "b") > 0);
	CU_ASSERT(value_of(&s, "x 0", "other") > 0);
	CU_ASSERT_EQUAL(value_of(&s, "x 1", "other"), 0);
	simulation_free(&s);
}

static void an_object_lies_where_at_and_socket_say(void)
{
	struct simulation s =
		run_well("  objects: {x: {struct: pair}, y: {struct: pair, at: 4 KiB, socket: 1}}\n"
			 "  groups: {g: {threads: 1, each: [{add: y.a}]}}\n");
	uint64_t address = place_of(&s, "y", "a").address;

	CU_ASSERT_EQUAL(address % 4096, 0);
	CU_ASSERT_EQUAL(coherence_line(s.build->machine->coherence, address)->socket, 1);
	simulation_free(&s);
}

/* ---- what is refused ---- */

static void an_unknown_object_or_field_names_the_nearest(void)
{
	refuse_steps("{read: [x.a, x.othr]}",
		     "t.yaml:9:27: layout pair has no field 'othr', did you mean 'other'?");
	expect_refused("  objects: {stats: {struct: pair}}\n"
		       "  groups: {g: {threads: 1, each: [{add: stat.a}]}}\n",
		       "t.yaml:6:41: no object 'stat', did you mean 'stats'?");
}

static void an_unknown_step_names_the_nearest(void)
{
	refuse_steps("{reed: x.a}",
		     "t.yaml:9:15: unknown key 'reed', did you mean 'read'? expected one of: read, "
		     "write, add, xchg, cmpxchg, fence, work, chance, by, jitter, exponential");
}

static void a_step_has_one_operation(void)
{
	static const char names[] = "expected one of read, write, add, xchg, cmpxchg, fence, work";
	char expected[200];

	snprintf(expected, sizeof(expected), "t.yaml:9:14: 2 operations, %s", names);
	refuse_steps("{read: x.a, add: x.a}", expected);
	snprintf(expected, sizeof(expected), "t.yaml:9:14: 0 operations, %s", names);
	refuse_steps("{chance: 0.5}", expected);
}

static void modifiers_stand_with_what_they_modify(void)
{
	refuse_steps("{read: x.a, by: 2}", "t.yaml:9:26: 'by' with read, expected it with add");
	refuse_steps("{add: x.a, jitter: 0.1}",
		     "t.yaml:9:25: 'jitter' with add, expected it with work");
	refuse_steps("{work: 1 us, jitter: 0.1, exponential: true}",
		     "t.yaml:9:14: jitter and exponential, expected one of them");
}

static void a_field_is_named_with_its_object(void)
{
	refuse_steps("{read: a}", "t.yaml:9:21: 'a', expected OBJECT.FIELD");
	refuse_steps("{read: []}", "t.yaml:9:21: an empty list, expected OBJECT.FIELD");
	refuse_steps("{add: {x: a}}", "t.yaml:9:20: '(no name)', expected OBJECT.FIELD");
}

static void a_field_must_fit_one_access(void)
{
	refuse_steps("{add: x.wide}", "t.yaml:9:20: 'x.wide' has 16 bytes, expected 1, 2, 4 or 8");
	refuse_steps("{add: x.astride}",
		     "t.yaml:9:20: 'x.astride' lies across two lines, expected it within one");
}

static void a_group_has_threads_and_steps(void)
{
	expect_refused("  objects: {x: {struct: pair}}\n"
		       "  groups: {g: {threads: 0, each: [fence]}}\n",
		       "t.yaml:6:25: 0 is out of range, expected 1 to 2048");
	expect_refused("  objects: {x: {struct: pair}}\n"
		       "  groups: {g: {threads: 1, each: []}}\n",
		       "t.yaml:6:34: no steps, expected a list such as [{read: OBJECT.FIELD}]");
	expect_refused("  objects: {x: {struct: pair}}\n"
		       "  groups: {g: {each: [fence]}}\n",
		       "t.yaml:6:15: key 'threads' is missing, expected it here");
}

static void more_threads_than_cpus_are_refused(void)
{
	expect_refused("  objects: {x: {struct: pair}}\n"
		       "  groups:\n"
		       "    g: {threads: 70, each: [fence]}\n"
		       "    h: {threads: 3, each: [fence]}\n",
		       "t.yaml:8:18: 73 threads up to this group, expected at most 72, as the "
		       "machine has cpus");
}

static void a_struct_needs_a_layout(void)
{
	expect_refused("  objects: {x: {struct: pear}}\n"
		       "  groups: {g: {threads: 1, each: [fence]}}\n",
		       "t.yaml:5:25: no layout for struct 'pear', expected one under 'layouts'");
}

static void an_object_must_be_placeable(void)
{
	const char *const groups = "  groups: {g: {threads: 1, each: [fence]}}\n";
	static const struct {
		const char *object, *expected;
	} cases[] = {
		{ "at: 48 B", "t.yaml:5:35: not a power of two, expected one" },
		{ "socket: 2", "t.yaml:5:39: 2, expected less than 2, as the machine has sockets" },
		{ "per_thread: true, count: 2",
		  "t.yaml:5:16: per_thread with count or socket, expected one or the other" },
		{ "count: 4096, at: 4 KiB",
		  "t.yaml:5:13: objects up to this one take 17563648 bytes, expected at most "
		  "4194304" },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		char text[256];

		snprintf(text, sizeof(text), "  objects: {x: {struct: pair, %s}}\n%s",
			 cases[k].object, groups);
		expect_refused(text, cases[k].expected);
	}
}

/* Memory of a machine, and a layout with as many fields as one may have. */
static struct build *build_with(struct layout **layout)
{
	struct error error = { "" };
	struct document *document = document_load("configs/machines/skx-2s-18c.yaml", &error);
	struct machine_config config;
	struct machine *machine;
	char name[16];

	CU_ASSERT_FATAL(document && machine_file_read(document_root(document), &config, &error));
	machine = machine_new(&config, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(machine);
	document_free(document);
	*layout = layout_new("full", "full", "test");
	CU_ASSERT_PTR_NOT_NULL_FATAL(*layout);
	for (uint32_t k = 0; k < LAYOUT_FIELD_LIMIT; k++) {
		snprintf(name, sizeof(name), "f%u", k);
		CU_ASSERT_FATAL(layout_add(*layout, "", name, 8 * k, 8));
	}
	(*layout)->size = 8 * LAYOUT_FIELD_LIMIT;
	(*layout)->align = 64;
	return build_new(machine, NULL, directory);
}

/* Fields are counted in 16 bits: of layouts with 4,096 fields each, 15 have numbers left. */
static void fields_beyond_the_last_number_are_refused(void)
{
	struct layout *layouts[16], *full;
	struct build *build = build_with(&full);
	struct error error = { "" };

	CU_ASSERT_PTR_NOT_NULL_FATAL(build);
	for (uint32_t k = 0; k < 16; k++) {
		layouts[k] = layout_spread(full, 64);
		CU_ASSERT_PTR_NOT_NULL_FATAL(layouts[k]);
		CU_ASSERT_STRING_EQUAL(error.text, "");
		memory_place(&build->memory, layouts[k], "object", 64, 0, &error);
	}
	CU_ASSERT_STRING_EQUAL(error.text, "out of memory, or of field numbers, for object");
	CU_ASSERT_EQUAL(build->memory.object_count, 15);
	build_free(build);
	for (uint32_t k = 0; k < 16; k++)
		layout_free(layouts[k]);
	layout_free(full);
}

void suite_loop(void)
{
	CU_pSuite suite = CU_add_suite("loop", directory_make, directory_remove);

	CU_ADD_TEST(suite, a_pass_does_each_of_its_steps_once);
	CU_ADD_TEST(suite, a_pass_takes_the_sum_of_its_steps);
	CU_ADD_TEST(suite, an_addition_adds_what_by_says);
	CU_ADD_TEST(suite, additions_of_many_threads_are_not_lost);
	CU_ADD_TEST(suite, a_narrow_field_wraps);
	CU_ADD_TEST(suite, stores_and_exchanges_leave_the_number_of_the_pass);
	CU_ADD_TEST(suite, a_compare_exchange_without_rivals_always_succeeds);
	CU_ADD_TEST(suite, a_compare_exchange_fails_where_others_came_between);
	CU_ADD_TEST(suite, a_compare_exchange_expects_what_was_last_read);
	CU_ADD_TEST(suite, a_step_with_a_chance_is_done_so_often);
	CU_ADD_TEST(suite, jitter_and_exponential_work_keep_the_mean);
	CU_ADD_TEST(suite, reads_of_a_list_are_in_flight_together);
	CU_ADD_TEST(suite, passes_begin_as_often_as_every_says);
	CU_ADD_TEST(suite, throughput_counts_the_first_groups_passes);
	CU_ADD_TEST(suite, threads_that_only_compute_let_others_run);
	CU_ADD_TEST(suite, threads_are_placed_group_after_group);
	CU_ADD_TEST(suite, each_thread_may_have_an_object_of_its_own);
	CU_ADD_TEST(suite, threads_share_several_objects_in_turn);
	CU_ADD_TEST(suite, an_object_lies_where_at_and_socket_say);
	CU_ADD_TEST(suite, an_unknown_object_or_field_names_the_nearest);
	CU_ADD_TEST(suite, an_unknown_step_names_the_nearest);
	CU_ADD_TEST(suite, a_step_has_one_operation);
	CU_ADD_TEST(suite, modifiers_stand_with_what_they_modify);
	CU_ADD_TEST(suite, a_field_is_named_with_its_object);
	CU_ADD_TEST(suite, a_field_must_fit_one_access);
	CU_ADD_TEST(suite, a_group_has_threads_and_steps);
	CU_ADD_TEST(suite, more_threads_than_cpus_are_refused);
	CU_ADD_TEST(suite, a_struct_needs_a_layout);
	CU_ADD_TEST(suite, an_object_must_be_placeable);
	CU_ADD_TEST(suite, fields_beyond_the_last_number_are_refused);
}
