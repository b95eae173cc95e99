/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual microbenchmarks: on a machine of round numbers they must show what it was made of, and on
 * the machines kept for checking what was measured there. The tests read configs/machines and are
 * run in the root of the project. */
#include "tests/unit/suites.h"
#include "machine/machine_file.h"
#include "workload/probe.h"
#include <CUnit/CUnit.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- helpers -------------------------------------------------------------------------------- */

enum { LLC = 40, WAY = LLC / 2, RMW = 20, L1 = 4, L2 = 14, FORWARD = 5 };
enum { HAND_OFF = 100, HAND_OFF_ACROSS = 300, DIRTY = 111, DIRTY_AT_OWNER = 222 };
enum { DIRTY_AT_REQUESTER = 333, CLEAN = 90, CLEAN_ACROSS = 190, UPGRADE = 85 };
enum { UPGRADE_ACROSS = 185, DRAM = 200, DRAM_REMOTE = 400 };

/* At 1 GHz, so that cycles are nanoseconds; pairs of cores all alike. */
static struct machine_config round_machine(void)
{
	return (struct machine_config){
		.name = "round",
		.clock = 1e9,
		.sockets = 2,
		.cores_per_socket = 4,
		.smt = 2,
		.timing = { .scale = 1,
			    .llc = LLC,
			    .dram_local = DRAM,
			    .dram_remote = DRAM_REMOTE,
			    .hand_off = { [DISTANCE_SOCKET] = { HAND_OFF, HAND_OFF, HAND_OFF },
					  [DISTANCE_CROSS] = { HAND_OFF_ACROSS, HAND_OFF_ACROSS,
							       HAND_OFF_ACROSS } },
			    .dirty = { [DISTANCE_SOCKET] = { DIRTY, DIRTY },
				       [DISTANCE_CROSS] = { DIRTY_AT_OWNER, DIRTY_AT_REQUESTER } },
			    .clean = { [DISTANCE_SOCKET] = CLEAN, [DISTANCE_CROSS] = CLEAN_ACROSS },
			    .upgrade = { [DISTANCE_SOCKET] = UPGRADE,
					 [DISTANCE_CROSS] = UPGRADE_ACROSS } },
		.coherence = { .line = 64,
			       .l1 = { 8, 2, L1 },
			       .l2 = { 64, 4, L2 },
			       .llc_sets = 1000,
			       .llc_ways = 16,
			       .discipline = DISCIPLINE_FIFO,
			       .paranoid = true,
			       .seed = 1 },
		.locked_rmw = RMW,
		.store_forward = FORWARD,
		.store_buffer = 56,
		.loads_in_flight = 10,
		.smt_slowdown = 1,
		.run_ahead = true,
	};
}

static struct probe_value run(const char *name, const struct machine_config *config,
			      uint32_t threads)
{
	const struct probe *probe = probe_find(name);
	struct probe_value value = { 0 };
	struct error error = { "" };

	CU_ASSERT_PTR_NOT_NULL_FATAL(probe);
	CU_ASSERT_TRUE(probe_run(probe, config, threads, &value, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	return value;
}

static void expect_within(const char *name, double got, double expected, double part)
{
	bool within = fabs(got - expected) <= part * expected + 1e-9;

	CU_ASSERT_TRUE(within);
	if (!within)
		printf("\n  %s: got %g, want %g\n", name, got, expected);
}

static void expect_exactly(const char *name, double expected)
{
	const struct machine_config config = round_machine();

	expect_within(name, run(name, &config, 0).value, expected, 0);
}

static void expect_scaled(const char *name, uint32_t threads, double expected, double part)
{
	const struct machine_config config = round_machine();

	expect_within(name, run(name, &config, threads).value, expected, part);
}

/* A machine file, with one setting changed where `key` is not NULL. */
static struct machine_config machine_of(const char *path, const char *key, const char *setting)
{
	struct error error = { "" };
	struct document *document = document_load(path, &error);
	struct machine_config config = { 0 };

	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	CU_ASSERT_TRUE(!key || document_set(document, key, setting, "test", &error));
	CU_ASSERT_TRUE(machine_file_read(document_root(document), &config, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	config.name = "machine";
	document_free(document);
	return config;
}

/* ---- one thread ----------------------------------------------------------------------------- */

static void a_locked_add_on_an_owned_line_costs_itself(void)
{
	expect_exactly("locked_add", RMW);
}

/* More lines of an L1 set than it has ways, each owned: the way from the L2 beyond that from the
 * L1, which the operation contains, and the operation. */
static void adds_in_the_l2(struct thread *self, void *argument)
{
	uint64_t *cycles = argument, start = 0;

	for (uint32_t round = 0; round < 3; round++) {
		start = round == 2 ? self->time : start;
		for (uint64_t k = 0; k < 3; k++) {
			const struct place place = { .address = PROBE_MEMORY + k * 8 * 64,
						     .size = 8 };

			thread_rmw(self, &place, RMW_ADD, 1, 0);
		}
	}
	*cycles = self->time - start;
}

static void a_locked_add_in_the_l2_costs_the_way_from_there_too(void)
{
	const struct machine_config config = round_machine();
	struct error error = { "" };
	struct machine *machine = machine_new(&config, &error);
	uint64_t cycles = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(machine);
	CU_ASSERT_PTR_NOT_NULL(machine_thread(machine, 0, adds_in_the_l2, &cycles, &error));
	CU_ASSERT_TRUE(machine_run(machine, &error));
	CU_ASSERT_EQUAL(cycles, 3 * (L2 - L1 + RMW));
	machine_free(machine);
}

static void loads_cost_what_their_level_costs(void)
{
	expect_exactly("load_l1", L1);
	expect_exactly("load_l2", L2);
	expect_exactly("load_llc", LLC);
	expect_exactly("load_dram_local", DRAM);
	expect_exactly("load_dram_remote", DRAM_REMOTE);
}

/* ---- two threads ---------------------------------------------------------------------------- */

static void an_isolated_transfer_costs_its_figure(void)
{
	expect_exactly("load_dirty_same", DIRTY);
	expect_exactly("load_dirty_cross_at_owner", DIRTY_AT_OWNER);
	expect_exactly("load_dirty_cross_at_requester", DIRTY_AT_REQUESTER);
	expect_exactly("load_clean_same", CLEAN);
	expect_exactly("load_clean_cross", CLEAN_ACROSS);
}

static void an_upgrade_costs_its_figure(void)
{
	expect_exactly("upgrade_same", UPGRADE);
	expect_exactly("upgrade_cross", UPGRADE_ACROSS);
}

static void alternating_by_compare_exchange_costs_a_hand_off(void)
{
	expect_exactly("hand_off_same", HAND_OFF);
	expect_exactly("hand_off_cross", HAND_OFF_ACROSS);
}

/* The line never leaves the core. */
static void siblings_alternate_at_the_rate_of_locked_operations(void)
{
	expect_exactly("hand_off_smt", RMW);
}

/* The other's operation done, the answer brings the data (the request has waited there meanwhile),
 * and the upgrade is a whole transaction. */
static void a_load_before_the_compare_exchange_costs_an_upgrade_more(void)
{
	expect_exactly("load_cas_same", UPGRADE + RMW + DIRTY - WAY);
}

static void pairs_spread_as_far_as_the_machine_says(void)
{
	struct machine_config config = round_machine();
	struct probe_value value;

	config.timing.hand_off[DISTANCE_SOCKET] = (struct spread){ 80, 100, 140 };
	value = run("hand_off_same", &config, 0);
	expect_within("least", value.low, 80, 0);
	expect_within("most", value.high, 140, 0);
}

/* Two dies of two clusters a socket. */
static void each_distance_has_its_figures(void)
{
	struct machine_config config = round_machine();
	struct fabric_timing *t = &config.timing;

	config.cores_per_socket = 8;
	config.cores_per_die = 4;
	config.cores_per_cluster = 2;
	t->hand_off[DISTANCE_CLUSTER] = (struct spread){ 40, 40, 40 };
	t->hand_off[DISTANCE_DIE] = (struct spread){ 60, 60, 60 };
	t->away[DISTANCE_DIE] = t->away[DISTANCE_SOCKET] = 70;
	for (int d = DISTANCE_CLUSTER; d <= DISTANCE_DIE; d++) {
		t->dirty[d][0] = t->dirty[d][1] = 45 + 10 * d;
		t->clean[d] = 44 + 10 * d;
		t->upgrade[d] = 43 + 10 * d;
	}
	expect_within("cluster", run("hand_off_cluster", &config, 0).value, 40, 0);
	expect_within("die", run("hand_off_die", &config, 0).value, 60, 0);
	expect_within("die, away", run("hand_off_die_away", &config, 0).value, 130, 0);
	expect_within("socket, away", run("hand_off_same_away", &config, 0).value, HAND_OFF + 70,
		      0);
	expect_within("dirty", run("load_dirty_cluster", &config, 0).value, 45, 0);
	expect_within("dirty", run("load_dirty_die", &config, 0).value, 55, 0);
	expect_within("clean", run("load_clean_cluster", &config, 0).value, 44, 0);
	expect_within("upgrade", run("upgrade_cluster", &config, 0).value, 43, 0);
	expect_within("upgrade", run("upgrade_die", &config, 0).value, 53, 0);
}

/* Visits of three operations; those of the compare-exchange that fail are two of them. */
static void a_hand_off_contains_the_whole_visit(void)
{
	struct machine_config config = round_machine();

	config.timing.retain = 3 * RMW;
	expect_within("hand-off", run("hand_off_same", &config, 0).value, HAND_OFF, 0);
	expect_within("fetch-add", run("fetch_add", &config, 4).value, HAND_OFF / 3.0, 0.01);
}

static void siblings_alternate_at_the_rate_that_the_machine_says(void)
{
	struct machine_config config = round_machine();

	config.sibling_delay = 7;
	expect_within("siblings", run("hand_off_smt", &config, 0).value, RMW + 7, 0);
}

/* Alone, the line is owned; with others the home does one addition after the other. What wants the
 * old value fetches the line. */
static void far_additions_take_the_homes_time_and_others_a_hand_off(void)
{
	struct machine_config config = round_machine();

	config.coherence.atomics = ATOMICS_FAR;
	config.far_adds = true;
	config.timing.far_occupancy = 50;
	expect_within("alone", run("fetch_add", &config, 1).value, RMW, 0.005);
	expect_within("contended", run("fetch_add", &config, 4).value, 50, 0.005);
	expect_within("hand-off", run("hand_off_same", &config, 0).value, HAND_OFF, 0);
}

static void what_a_machine_does_not_have_has_no_figure(void)
{
	struct machine_config config = round_machine();

	config.sockets = 1;
	CU_ASSERT_TRUE(isnan(run("load_dram_remote", &config, 0).value));
	CU_ASSERT_TRUE(isnan(run("hand_off_cross", &config, 0).value));
	config.smt = 1;
	CU_ASSERT_TRUE(isnan(run("hand_off_smt", &config, 0).value));
	config.cores_per_socket = 1;
	CU_ASSERT_TRUE(isnan(run("hand_off_same", &config, 0).value));
}

/* ---- many threads --------------------------------------------------------------------------- */

static void a_fetch_add_alone_costs_a_locked_operation(void)
{
	expect_scaled("fetch_add", 1, RMW, 0.005);
}

/* One operation a hand-off, and requests wait where they are hidden. */
static void a_contended_fetch_add_costs_a_hand_off_however_many_wait(void)
{
	expect_scaled("fetch_add", 2, HAND_OFF, 0.005);
	expect_scaled("fetch_add", 3, HAND_OFF, 0.005);
	expect_scaled("fetch_add", 4, HAND_OFF, 0.005);
}

/* Two threads of each of four cores: the line is handed over after every operation, be it to a
 * sibling's core or another, since the other cores' requests are there first. */
static void siblings_do_not_make_a_contended_fetch_add_dearer(void)
{
	struct machine_config config = round_machine();

	config.sockets = 1;
	CU_ASSERT(run("fetch_add", &config, 8).value <= HAND_OFF * 1.005);
}

static void an_increment_alone_is_a_load_an_add_and_a_store(void)
{
	expect_scaled("plain_add", 1, L1 + 1 + 1, 0.005);
	expect_scaled("cas_loop", 1, L1 + RMW, 0.005);
}

/* Stores wait in the buffer and loads are served from there: two threads never see it full. */
static void plain_increments_of_two_threads_run_from_the_store_buffer(void)
{
	expect_scaled("plain_add", 2, FORWARD + 1 + 1, 0.05);
}

/* With nothing random, a thread may fall into step with the others and fail for ever. */
static void under_random_service_no_thread_is_much_luckier(void)
{
	struct machine_config config = round_machine();

	config.coherence.discipline = DISCIPLINE_RANDOM;
	CU_ASSERT(run("fairness", &config, 4).value < 1.1);
}

/* ---- the probes themselves ------------------------------------------------------------------ */

static void figures_do_not_depend_on_running_ahead(void)
{
	struct machine_config ahead = round_machine(), stepwise = round_machine();

	stepwise.run_ahead = false;
	for (const struct probe *probe = probes; probe->name; probe++) {
		uint32_t threads = probe->scales ? 3 : 0;

		double one = run(probe->name, &stepwise, threads).value;
		double two = run(probe->name, &ahead, threads).value;

		CU_ASSERT_EQUAL(isnan(one), isnan(two));
		if (!isnan(one)) /* the machine has such a thing */
			expect_within(probe->name, one, two, 0);
	}
}

static void figures_hardly_depend_on_the_seed(void)
{
	static const char *const names[] = { "fetch_add", "cas_loop", "plain_add" };
	struct machine_config config = round_machine();

	config.coherence.discipline = DISCIPLINE_RANDOM;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		double one, two;

		config.coherence.seed = 1;
		one = run(names[k], &config, 4).value;
		config.coherence.seed = 2;
		two = run(names[k], &config, 4).value;
		expect_within(names[k], two, one, 0.01);
	}
}

static void published_figures_are_figures_of_probes(void)
{
	glob_t found;

	CU_ASSERT_EQUAL_FATAL(glob("configs/machines/*.yaml", 0, NULL, &found), 0);
	for (size_t k = 0; k < found.gl_pathc; k++) {
		struct error error = { "" };
		struct document *document = document_load(found.gl_pathv[k], &error);
		const struct node *entry = machine_file_published(document_root(document));
		struct machine_figure figure;

		for (; entry; entry = entry->next) {
			CU_ASSERT_TRUE(machine_file_figure(entry, &figure, &error));
			CU_ASSERT_PTR_NOT_NULL(probe_find(figure.figure));
		}
		document_free(document);
	}
	globfree(&found);
}

/* ---- what was measured ---------------------------------------------------------------------- */

/* github.com/wtarreau/atomic-tests, results/lat-xeon.txt. */
static void the_xeon_w_2145_is_within_15_percent_of_its_measurements(void)
{
	const struct machine_config config =
		machine_of("configs/machines/xeon-w-2145.yaml", NULL, NULL);

	expect_within("hand_off_same", run("hand_off_same", &config, 0).value, 41, 0.15);
	expect_within("load_cas_same", run("load_cas_same", &config, 0).value, 88, 0.15);
}

/* github.com/nviennot/core-to-core-latency, results/Intel Core i7-6700K.csv. */
static void the_i7_6700k_keeps_its_hand_off(void)
{
	const struct machine_config config =
		machine_of("configs/machines/i7-6700k.yaml", NULL, NULL);

	expect_within("hand_off_same", run("hand_off_same", &config, 0).value, 19.7, 0.15);
}

/* github.com/travisdowns/concurrency-hierarchy-bench, results/skl/combined.csv. */
static void the_i7_6700hq_is_within_15_percent_of_its_measurements(void)
{
	const struct machine_config config =
		machine_of("configs/machines/i7-6700k.yaml", "clock", "2.6 GHz");

	expect_within("fetch_add", run("fetch_add", &config, 2).value, 22.05, 0.15);
	expect_within("fetch_add", run("fetch_add", &config, 4).value, 24.1, 0.15);
	expect_within("plain_add", run("plain_add", &config, 4).value, 3, 0.15);
}

void suite_probe(void)
{
	CU_pSuite suite = CU_add_suite("probe", NULL, NULL);

	CU_ADD_TEST(suite, a_locked_add_on_an_owned_line_costs_itself);
	CU_ADD_TEST(suite, a_locked_add_in_the_l2_costs_the_way_from_there_too);
	CU_ADD_TEST(suite, loads_cost_what_their_level_costs);
	CU_ADD_TEST(suite, an_isolated_transfer_costs_its_figure);
	CU_ADD_TEST(suite, an_upgrade_costs_its_figure);
	CU_ADD_TEST(suite, alternating_by_compare_exchange_costs_a_hand_off);
	CU_ADD_TEST(suite, siblings_alternate_at_the_rate_of_locked_operations);
	CU_ADD_TEST(suite, a_load_before_the_compare_exchange_costs_an_upgrade_more);
	CU_ADD_TEST(suite, pairs_spread_as_far_as_the_machine_says);
	CU_ADD_TEST(suite, each_distance_has_its_figures);
	CU_ADD_TEST(suite, a_hand_off_contains_the_whole_visit);
	CU_ADD_TEST(suite, siblings_alternate_at_the_rate_that_the_machine_says);
	CU_ADD_TEST(suite, far_additions_take_the_homes_time_and_others_a_hand_off);
	CU_ADD_TEST(suite, what_a_machine_does_not_have_has_no_figure);
	CU_ADD_TEST(suite, a_fetch_add_alone_costs_a_locked_operation);
	CU_ADD_TEST(suite, a_contended_fetch_add_costs_a_hand_off_however_many_wait);
	CU_ADD_TEST(suite, siblings_do_not_make_a_contended_fetch_add_dearer);
	CU_ADD_TEST(suite, an_increment_alone_is_a_load_an_add_and_a_store);
	CU_ADD_TEST(suite, plain_increments_of_two_threads_run_from_the_store_buffer);
	CU_ADD_TEST(suite, under_random_service_no_thread_is_much_luckier);
	CU_ADD_TEST(suite, figures_do_not_depend_on_running_ahead);
	CU_ADD_TEST(suite, figures_hardly_depend_on_the_seed);
	CU_ADD_TEST(suite, published_figures_are_figures_of_probes);
	CU_ADD_TEST(suite, the_xeon_w_2145_is_within_15_percent_of_its_measurements);
	CU_ADD_TEST(suite, the_i7_6700k_keeps_its_hand_off);
	CU_ADD_TEST(suite, the_i7_6700hq_is_within_15_percent_of_its_measurements);
}
