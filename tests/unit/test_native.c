/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models/ on real threads: that every counter is right in the end, whatever raced. How long anything
 * took is nobody's business here. The tests read configs and are run in the root of the project. */
#include "tests/unit/suites.h"
#include "native/native.h"
#include "workload/simulation.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers -------------------------------------------------------------------------------- */

static struct document *parse(const char *name, const char *text)
{
	struct error error = { "" };
	struct document *document = document_parse(name, text, strlen(text), &error);

	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	return document;
}

/* A workload, in one line of YAML, on the machine that has CPUs enough for it. */
static struct setting setting_of(const char *layouts, const char *workload)
{
	struct error error = { "" };
	char text[1024];
	struct setting setting;

	snprintf(text, sizeof(text), "layouts: {%s}\nworkload: {%s}\n", layouts, workload);
	setting.experiment = parse("test", text);
	setting.machine = document_load("configs/machines/skx-2s-18c.yaml", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(setting.machine);
	return setting;
}

static struct simulation built(const char *layouts, const char *workload)
{
	const struct run_options options = { .seed = 1, .layout_directory = "configs/layouts" };
	struct setting setting = setting_of(layouts, workload);
	struct simulation simulation;
	struct error error = { "" };

	CU_ASSERT_TRUE_FATAL(simulation_build(&simulation, &setting, &options, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	setting_free(&setting);
	return simulation;
}

struct real {
	struct host *host;
	uint32_t *order, count;
};

static struct real real_new(void)
{
	struct error error = { "" };
	struct real real = { .host = host_new(&error) };

	CU_ASSERT_PTR_NOT_NULL_FATAL(real.host);
	real.order = host_order(real.host, "spread", &real.count, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(real.order);
	return real;
}

static void real_free(struct real *real)
{
	free(real->order);
	host_free(real->host);
}

static bool run(const struct real *real, struct simulation *simulation, double ms,
		struct native_result *result, struct error *error)
{
	const struct native_plan plan = { .host = real->host,
					  .order = real->order,
					  .cpus = real->count,
					  .ms = ms,
					  .repeats = 1 };

	return native_run(simulation->build, &plan, result, error);
}

/* ---- charges -------------------------------------------------------------------------------- */

/* Two threads race on one leaf, or under one parent, with a limit or without, while their protected
 * parts change all the time; then all adds up. Where there is one CPU, the threads are one. */
static void charge(const char *layout, const char *propagate, const char *more)
{
	struct real real = real_new();
	struct native_result result;
	struct error error = { "" };
	char layouts[128], workload[256];

	snprintf(layouts, sizeof(layouts), "page_counter: %s", layout);
	snprintf(
		workload, sizeof(workload),
		"model: charge, threads: %d, levels: 2, hold: 3, batch: 2, watch: true, propagate: "
		"%s, %s",
		real.count > 1 ? 2 : 1, propagate, more);
	struct simulation simulation = built(layouts, workload);

	CU_ASSERT_TRUE(run(&real, &simulation, 15, &result, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_TRUE(result.rate > 0);
	CU_ASSERT_TRUE(simulation.model->verify(simulation.build, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	if (error.text[0])
		printf("\n  %s, %s, %s: %s\n", layout, propagate, more, error.text);
	simulation_free(&simulation);
	real_free(&real);
}

static void charges_add_up_in_every_layout(void)
{
	static const char *const layouts[] = { "page_counter-5.10", "page_counter-5.15",
					       "page_counter-6.1", "page_counter-6.12",
					       "page_counter-6.18" };

	charge("page_counter-4.0", "never", "protect: 0");
	for (size_t k = 0; k < sizeof(layouts) / sizeof(*layouts); k++) {
		charge(layouts[k], "always", "protect: 5");
		charge(layouts[k], "on_change", "protect: 5");
	}
}

static void protected_parts_of_children_add_up_at_their_parent(void)
{
	charge("page_counter-6.1", "always", "protect: 5, leaves: own");
	charge("page_counter-6.1", "on_change", "protect: 5, leaves: own");
	charge("page_counter-6.12", "on_change", "protect: 3, leaves: own");
}

static void a_limit_holds_but_for_charges_on_their_way_back(void)
{
	charge("page_counter-6.1", "on_change", "protect: 5, limit: 9");
	charge("page_counter-5.15", "always", "protect: 5, limit: 9");
	charge("page_counter-6.1", "on_change", "protect: 5, limit: 9, leaves: own");
}

/* One thread, so that nothing is in flight: what is protected follows what is in use. */
static void protected_parts_follow_usage(void)
{
	struct real real = real_new();
	struct native_result result;
	struct error error = { "" };
	struct simulation simulation =
		built("page_counter: page_counter-6.1",
		      "model: charge, threads: 1, hold: 3, protect: 100, propagate: always");

	CU_ASSERT_TRUE(run(&real, &simulation, 2, &result, &error));
	CU_ASSERT_TRUE(simulation.model->verify(simulation.build, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	simulation_free(&simulation);
	real_free(&real);
}

/* The verification can fail. */
static void a_page_too_many_is_found(void)
{
	struct real real = real_new();
	struct simulation simulation =
		built("page_counter: page_counter-6.1", "model: charge, threads: 1, hold: 3");
	struct memory *memory = &simulation.build->memory;
	struct native_result result;
	struct error error = { "" };
	const struct object *leaf = &memory->objects[2];

	CU_ASSERT_TRUE(run(&real, &simulation, 2, &result, &error));
	CU_ASSERT_TRUE(simulation.model->verify(simulation.build, &error));
	memory->real[leaf->address - memory->objects[0].address] ^= 64;
	CU_ASSERT_FALSE(simulation.model->verify(simulation.build, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "usage of a leaf"));
	simulation_free(&simulation);
	real_free(&real);
}

/* ---- the other workloads -------------------------------------------------------------------- */

static void runs(const char *layouts, const char *workload)
{
	struct real real = real_new();
	struct simulation simulation = built(layouts, workload);
	struct native_result result;
	struct error error = { "" };

	CU_ASSERT_TRUE(run(&real, &simulation, 5, &result, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_TRUE(result.rate > 0 && result.low <= result.ns && result.ns <= result.high);
	simulation_free(&simulation);
	real_free(&real);
}

static void every_program_of_micro_runs(void)
{
	static const char *const programs[] = { "add",      "xadd",  "xchg",      "cmpxchg",
						"load_add", "store", "increment", "load" };

	for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++) {
		char workload[100];

		snprintf(workload, sizeof(workload), "model: micro, program: %s", programs[k]);
		runs("micro: micro-together", workload);
	}
}

static void a_loop_in_yaml_runs(void)
{
	runs("example_stats: example-stats-together",
	     "model: loop, objects: {s: {struct: example_stats}}, groups: {g: {threads: 1, each: "
	     "[{read: [s.limit, s.flags]}, {work: 100 ns, jitter: 0.5}, {add: s.packets, chance: "
	     "0.5}, {xchg: s.bytes}, {cmpxchg: s.packets}, {write: s.limit}, fence]}}");
	runs("example_stats: example-stats-together",
	     "model: loop, objects: {s: {struct: example_stats}}, groups: {g: {threads: 1, every: "
	     "1 "
	     "us, each: [{add: s.packets}]}}");
}

/* A sender and a receiver, which wait for each other. */
static void a_pair_of_netperf_runs(void)
{
	struct real real = real_new();
	bool two = real.count > 1;

	real_free(&real);
	if (!two) {
		test_skip("one CPU only: a pair needs two");
		return;
	}
	runs("mem_cgroup: mem_cgroup-6.0-rc1",
	     "model: netperf_sendfile, pairs: 1, levels: 2, work: 200 ns");
}

static void more_threads_than_cpus_are_refused(void)
{
	struct real real = real_new();
	struct native_result result;
	struct error error = { "" };
	char workload[64];

	if (real.count >= 72) {
		real_free(&real);
		test_skip("72 CPUs or more: the machine to build on has no more");
		return;
	}
	snprintf(workload, sizeof(workload), "model: micro, threads: %u", real.count + 1);
	struct simulation simulation = built("micro: micro-together", workload);

	CU_ASSERT_FALSE(run(&real, &simulation, 1, &result, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "CPUs to run them on"));
	simulation_free(&simulation);
	real_free(&real);
}

/* Of 1, 2, 4, 8: in the middle between 2 and 4; a tenth is 0.3 of the way from 1 to 2. */
static void quantiles_lie_between_their_neighbours(void)
{
	const double sorted[] = { 1, 2, 4, 8 };

	CU_ASSERT_DOUBLE_EQUAL(native_quantile(sorted, 4, 0.5), 3, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(native_quantile(sorted, 4, 0.1), 1.3, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(native_quantile(sorted, 4, 1), 8, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(native_quantile(sorted, 1, 0.9), 1, 1e-12);
}

void suite_native(void)
{
	CU_pSuite suite = CU_add_suite("native", NULL, NULL);

	CU_ADD_TEST(suite, charges_add_up_in_every_layout);
	CU_ADD_TEST(suite, protected_parts_of_children_add_up_at_their_parent);
	CU_ADD_TEST(suite, a_limit_holds_but_for_charges_on_their_way_back);
	CU_ADD_TEST(suite, protected_parts_follow_usage);
	CU_ADD_TEST(suite, a_page_too_many_is_found);
	CU_ADD_TEST(suite, every_program_of_micro_runs);
	CU_ADD_TEST(suite, a_loop_in_yaml_runs);
	CU_ADD_TEST(suite, a_pair_of_netperf_runs);
	CU_ADD_TEST(suite, more_threads_than_cpus_are_refused);
	CU_ADD_TEST(suite, quantiles_lie_between_their_neighbours);
}
