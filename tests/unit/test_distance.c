/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines of clusters and dies, homes in a third place, owners that keep a line for several
 * operations, service with a bias, and operations at the home. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

enum { RMW = 18, CLUSTER = 2, DIE = 4, SOCKET = 8, AWAY = 100 };

#define X rig_line(0)

/* 2 sockets of 2 dies of 2 clusters of 2 cores, with no two distances alike. */
static struct machine_config nested(void)
{
	struct machine_config config = rig_config_of(2, SOCKET, 1);
	struct fabric_timing *t = &config.timing;

	config.cores_per_die = DIE;
	config.cores_per_cluster = CLUSTER;
	t->hand_off[DISTANCE_CLUSTER] = (struct spread){ 35, 35, 35 };
	t->hand_off[DISTANCE_DIE] = (struct spread){ 45, 45, 45 };
	t->dirty[DISTANCE_CLUSTER][0] = t->dirty[DISTANCE_CLUSTER][1] = 31;
	t->dirty[DISTANCE_DIE][0] = t->dirty[DISTANCE_DIE][1] = 41;
	t->clean[DISTANCE_CLUSTER] = 29;
	t->clean[DISTANCE_DIE] = 39;
	t->upgrade[DISTANCE_CLUSTER] = 24;
	t->upgrade[DISTANCE_DIE] = 34;
	t->away[DISTANCE_DIE] = t->away[DISTANCE_SOCKET] = AWAY;
	return config;
}

/* Cycles of the last of some steps, the line homed in a socket. */
static uint64_t cycles_of(uint32_t home, struct rig_step *steps, uint32_t count)
{
	struct machine_config config = nested();
	struct machine *machine = rig_machine(&config);

	coherence_set_home(machine->coherence, X.address, home);
	rig_serial(machine, steps, count);
	machine_free(machine);
	return steps[count - 1].cycles;
}

static struct rig_step step(uint32_t cpu, enum rig_operation operation)
{
	return (struct rig_step){ .cpu = cpu, .operation = operation, .place = X, .operand = 1 };
}

static uint64_t second_after(uint32_t home, uint32_t owner, uint32_t reader)
{
	struct rig_step steps[] = { step(owner, RIG_ADD), step(reader, RIG_LOAD) };

	return cycles_of(home, steps, 2);
}

/* ---- distances ------------------------------------------------------------------------------ */

static void a_load_costs_the_nearest_level_that_both_cores_share(void)
{
	CU_ASSERT_EQUAL(second_after(0, 0, 1), 31);
	CU_ASSERT_EQUAL(second_after(0, 0, 2), 41);
	CU_ASSERT_EQUAL(second_after(0, 0, 4), 52);
	CU_ASSERT_EQUAL(second_after(0, 0, 8), 115);
	CU_ASSERT_EQUAL(second_after(0, 9, 8), 31);
}

static void a_home_in_neither_socket_costs_more_but_within_a_cluster(void)
{
	CU_ASSERT_EQUAL(second_after(1, 0, 1), 31);
	CU_ASSERT_EQUAL(second_after(1, 0, 2), 41 + AWAY);
	CU_ASSERT_EQUAL(second_after(1, 0, 4), 50 + AWAY);
}

static void a_clean_line_comes_from_the_nearest_sharer(void)
{
	struct rig_step by_cluster[] = { step(8, RIG_LOAD), step(4, RIG_LOAD), step(1, RIG_LOAD),
					 step(0, RIG_LOAD) };
	struct rig_step by_die[] = { step(8, RIG_LOAD), step(4, RIG_LOAD), step(2, RIG_LOAD),
				     step(0, RIG_LOAD) };

	CU_ASSERT_EQUAL(cycles_of(0, by_cluster, 4), 29);
	CU_ASSERT_EQUAL(cycles_of(0, by_die, 4), 39);
}

static void an_upgrade_costs_the_way_to_the_farthest_sharer(void)
{
	struct rig_step cluster[] = { step(0, RIG_LOAD), step(1, RIG_LOAD), step(0, RIG_ADD) };
	struct rig_step die[] = { step(0, RIG_LOAD), step(2, RIG_LOAD), step(0, RIG_ADD) };
	struct rig_step both[] = { step(0, RIG_LOAD), step(1, RIG_LOAD), step(2, RIG_LOAD),
				   step(0, RIG_ADD) };

	CU_ASSERT_EQUAL(cycles_of(0, cluster, 3), 24 + RMW);
	CU_ASSERT_EQUAL(cycles_of(0, die, 3), 34 + RMW);
	CU_ASSERT_EQUAL(cycles_of(0, both, 4), 34 + 3 + RMW); /* and one sharer more */
}

static void a_level_is_one_where_it_has_pairs_of_its_own(void)
{
	static const struct {
		struct topology topology;
		bool has[DISTANCES]; /* cluster, die, socket, cross */
	} cases[] = {
		{ { 1, 1, 0, 0 }, { false, false, false, false } },
		{ { 1, 4, 0, 0 }, { false, false, true, false } },
		{ { 2, 1, 0, 0 }, { false, false, false, true } },
		{ { 2, 8, 4, 2 }, { true, true, true, true } },
		{ { 1, 8, 8, 4 }, { true, true, false, false } },
		{ { 1, 4, 0, 4 }, { true, false, false, false } },
		{ { 1, 4, 4, 1 }, { false, true, false, false } },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
		for (int d = 0; d < DISTANCES; d++)
			CU_ASSERT_EQUAL(topology_has(&cases[k].topology, (enum distance)d),
					cases[k].has[d]);
}

/* ---- many threads on one line --------------------------------------------------------------- */

struct adder {
	uint32_t operations;
	uint64_t end;
};

static void adder_body(struct thread *self, void *argument)
{
	struct adder *adder = argument;
	const struct place place = X;

	for (uint32_t k = 0; k < adder->operations; k++)
		thread_rmw(self, &place, RMW_ADD, 1, 0);
	adder->end = self->time;
}

/* All cores of a machine add so often each. Returns when the last is done; *crossed: the part of
 * the hand-overs that went from socket to socket. */
static uint64_t contend(const struct machine_config *config, uint32_t operations, double *crossed)
{
	struct machine *machine = rig_machine(config);
	struct adder adders[16] = { { 0 } };
	uint32_t cores = config->sockets * config->cores_per_socket;
	const struct line_counts *counts = rig_counts(machine, X);
	uint64_t end = 0;

	for (uint32_t k = 0; k < cores; k++) {
		adders[k] = (struct adder){ .operations = operations };
		rig_thread(machine, k, adder_body, &adders[k]);
	}
	rig_run(machine);
	CU_ASSERT_EQUAL(rig_value(machine, X), (uint64_t)operations * cores);
	for (uint32_t k = 0; k < cores; k++)
		end = adders[k].end > end ? adders[k].end : end;
	if (crossed)
		*crossed = (double)counts->transfers[1] /
			   (double)(counts->transfers[0] + counts->transfers[1]);
	machine_free(machine);
	return end;
}

/* A visit is retained for 40 cycles: three operations of 18, the last begun at 36. The hand-off
 * contains them, so that four cores do 4 x 300 operations in 400 hand-offs. */
static void an_owner_that_retains_a_line_does_several_operations_a_visit(void)
{
	enum { HAND_OFF = 100, VISITS = 400 };
	struct machine_config config = rig_config_of(1, 4, 1);
	uint64_t end;

	config.timing.hand_off[DISTANCE_SOCKET] = (struct spread){ HAND_OFF, HAND_OFF, HAND_OFF };
	config.timing.retain = 40;
	end = contend(&config, 3 * VISITS / 4, NULL);
	CU_ASSERT_EQUAL(end, 80 + 3 * RMW + (VISITS - 1) * HAND_OFF);
}

static void a_retention_shorter_than_an_operation_changes_nothing(void)
{
	struct machine_config config = rig_config_of(1, 4, 1);
	uint64_t without = contend(&config, 100, NULL);

	config.timing.retain = RMW;
	CU_ASSERT_EQUAL(contend(&config, 100, NULL), without);
}

/* The data come at 80; the load, asked for at 100, is at the owner at 110 and answered once the line
 * has been kept: 42 of the 52 cycles of a transfer are the answer's way. */
static void load_body(struct thread *self, void *argument)
{
	const struct place place = X;

	thread_work(self, 100);
	thread_load(self, &place);
	*(uint64_t *)argument = self->time;
}

static void a_load_waits_until_a_retained_line_may_leave(void)
{
	enum { RETAIN = 500 };
	struct machine_config config = rig_config_of(1, 4, 1);
	struct adder owner = { .operations = 1 };
	uint64_t end = 0;

	config.timing.hand_off[DISTANCE_SOCKET] = (struct spread){ 600, 600, 600 };
	config.timing.retain = RETAIN;
	struct machine *machine = rig_machine(&config);

	rig_thread(machine, 0, adder_body, &owner);
	rig_thread(machine, 1, load_body, &end);
	rig_run(machine);
	CU_ASSERT_EQUAL(owner.end, 80 + RMW);
	CU_ASSERT_EQUAL(end, 80 + RETAIN + 42);
	machine_free(machine);
}

/* Two sockets of four cores; two cores are served or about to be, six wait. Of those near the next
 * one there are two if it is near the one before, else three, so for the part p of the hand-overs
 * that cross: p = (1 - p) 4 / (2 w + 4) + p 3 / (3 w + 3), w being the bias. */
static double crossing(double w)
{
	double from_near = 4 / (2 * w + 4), from_far = 3 / (3 * w + 3);

	return from_near / (1 + from_near - from_far);
}

static void a_bias_is_the_weight_of_those_who_are_near(void)
{
	static const double biases[] = { 0.2, 1, 10, 1000 };
	struct machine_config config = rig_config_of(2, 4, 1);

	config.coherence.discipline = DISCIPLINE_BIASED;
	for (size_t k = 0; k < sizeof(biases) / sizeof(*biases); k++) {
		double crossed;

		config.coherence.bias = biases[k];
		contend(&config, 5000, &crossed);
		/* 40,000 hand-overs: three standard deviations are below 0.008 */
		CU_ASSERT_DOUBLE_EQUAL(crossed, crossing(biases[k]), 0.01);
	}
}

/* Clusters are what is near where there are any, here of 4 cores. */
static void with_clusters_the_bias_is_for_those_of_the_cluster(void)
{
	struct machine_config config = nested();
	uint64_t biased, random;

	config.cores_per_cluster = 4;
	config.coherence.discipline = DISCIPLINE_BIASED;
	config.coherence.bias = 1;
	random = contend(&config, 1000, NULL);
	config.coherence.bias = 1000;
	biased = contend(&config, 1000, NULL);
	/* Of 15 others 3 are 35 cycles away, 4 are 60 (160 in the socket without the home) and
	 * 8 are 130: 105.6 in the mean; or nearly every hand-over stays in a cluster. */
	CU_ASSERT_DOUBLE_EQUAL((double)random, 16 * 1000 * 105.6, 16 * 1000 * 3);
	CU_ASSERT_DOUBLE_EQUAL((double)biased, 16 * 1000 * 35, 16 * 1000 * 2);
}

/* The home begins one operation after the other, each in its time; the last one's request took 5
 * cycles to it, and its result takes 15 back. */
static void operations_at_the_home_take_its_time_for_them(void)
{
	enum { FAR = 40, OPERATIONS = 100, CORES = 8 };
	struct machine_config config = rig_config_of(1, CORES, 1);

	config.coherence.atomics = ATOMICS_FAR;
	config.timing.far_occupancy = FAR;
	CU_ASSERT_EQUAL(contend(&config, OPERATIONS, NULL),
			5 + FAR * (OPERATIONS * CORES - 1) + 15);
}

/* The line is elsewhere for good while a core stores to it: merged, its stores take one entry, and
 * the core never waits. */
static void store_often(struct thread *self, void *argument)
{
	const struct place place = X;

	for (uint64_t k = 1; k <= 100; k++)
		thread_store(self, &place, k);
	*(uint64_t *)argument = self->time;
}

static void merged_stores_fill_no_store_buffer(void)
{
	struct machine_config config = rig_config_of(1, 4, 1);
	struct machine *machine;
	uint64_t end = 0;

	config.store_buffer = 2;
	config.merge_stores = true;
	machine = rig_machine(&config);
	rig_thread(machine, 0, store_often, &end);
	rig_run(machine);
	CU_ASSERT_EQUAL(end, 100);
	CU_ASSERT_EQUAL(rig_value(machine, X), 100);
	machine_free(machine);
}

/* Both have written the line: who reads it next owns it, and adds to it for no more than the addition.
 * A third, which has not, shares it and has to ask. */
static void a_writer_that_reads_its_line_again_owns_it_where_lines_migrate(void)
{
	struct machine_config config = rig_config_of(1, 4, 1);
	struct rig_step steps[] = { step(0, RIG_ADD), step(1, RIG_ADD),  step(0, RIG_LOAD),
				    step(0, RIG_ADD), step(2, RIG_LOAD), step(2, RIG_ADD) };

	for (int migratory = 0; migratory < 2; migratory++) {
		config.coherence.migratory = migratory;
		struct machine *machine = rig_machine(&config);

		rig_serial(machine, steps, 6);
		CU_ASSERT_EQUAL(steps[3].cycles, migratory ? RMW : 47 + RMW);
		CU_ASSERT_EQUAL(steps[5].cycles, 47 + RMW);
		CU_ASSERT_EQUAL(rig_value(machine, X), 4);
		machine_free(machine);
	}
}

static void a_compare_exchange_takes_its_own_time(void)
{
	struct machine_config config = rig_config_of(1, 4, 1);
	struct rig_step steps[] = { step(0, RIG_ADD), step(0, RIG_CMPXCHG), step(0, RIG_ADD) };

	config.locked_cmpxchg = RMW + 9;
	struct machine *machine = rig_machine(&config);

	rig_serial(machine, steps, 3);
	CU_ASSERT_EQUAL(steps[1].cycles, RMW + 9);
	CU_ASSERT_EQUAL(steps[2].cycles, RMW);
	machine_free(machine);
}

void suite_distance(void)
{
	CU_pSuite suite = CU_add_suite("distance", NULL, NULL);

	CU_ADD_TEST(suite, a_load_costs_the_nearest_level_that_both_cores_share);
	CU_ADD_TEST(suite, a_home_in_neither_socket_costs_more_but_within_a_cluster);
	CU_ADD_TEST(suite, a_clean_line_comes_from_the_nearest_sharer);
	CU_ADD_TEST(suite, an_upgrade_costs_the_way_to_the_farthest_sharer);
	CU_ADD_TEST(suite, a_level_is_one_where_it_has_pairs_of_its_own);
	CU_ADD_TEST(suite, an_owner_that_retains_a_line_does_several_operations_a_visit);
	CU_ADD_TEST(suite, a_retention_shorter_than_an_operation_changes_nothing);
	CU_ADD_TEST(suite, a_load_waits_until_a_retained_line_may_leave);
	CU_ADD_TEST(suite, a_bias_is_the_weight_of_those_who_are_near);
	CU_ADD_TEST(suite, with_clusters_the_bias_is_for_those_of_the_cluster);
	CU_ADD_TEST(suite, operations_at_the_home_take_its_time_for_them);
	CU_ADD_TEST(suite, merged_stores_fill_no_store_buffer);
	CU_ADD_TEST(suite, a_writer_that_reads_its_line_again_owns_it_where_lines_migrate);
	CU_ADD_TEST(suite, a_compare_exchange_takes_its_own_time);
}
