/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hardware threads: the store buffer, loads that overlap, siblings, run-ahead. rig_run checks in
 * every test that a thread's cycles add up to its time.
 *
 * The machine is rig_config's: a load from memory takes 80 cycles, a locked operation 18, a fence
 * 33, a forwarded load 5, a hit 4, a store 1. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAM = 80, RMW = 18, FENCE = 33, FORWARD = 5, HIT = 4 };

/* ---- one thread by itself ------------------------------------------------------------------- */

/* A program of one thread, and what it saw: each value and how long each operation took. */
struct solo {
	const struct rig_step *steps;
	uint32_t count;
	uint64_t value[24], cycles[24], time;
};

static void solo_body(struct thread *self, void *argument)
{
	struct solo *solo = argument;

	for (uint32_t k = 0; k < solo->count; k++) {
		uint64_t start = self->time;

		solo->value[k] = rig_do(self, &solo->steps[k]);
		solo->cycles[k] = self->time - start;
	}
	solo->time = self->time;
}

/* Runs steps back to back on cpu 0. The machine is left for a look at its memory. */
static struct machine *solo_run(struct solo *solo, const struct machine_config *config,
				const struct rig_step *steps, uint32_t count)
{
	struct machine *machine = rig_machine(config);

	solo->steps = steps;
	solo->count = count;
	rig_thread(machine, 0, solo_body, solo);
	rig_run(machine);
	return machine;
}

static struct rig_step load(struct place place)
{
	return (struct rig_step){ .operation = RIG_LOAD, .place = place };
}

static struct rig_step store(struct place place, uint64_t value)
{
	return (struct rig_step){ .operation = RIG_STORE, .place = place, .operand = value };
}

static struct rig_step add(struct place place, uint64_t value)
{
	return (struct rig_step){ .operation = RIG_ADD, .place = place, .operand = value };
}

static struct rig_step fence(void)
{
	return (struct rig_step){ .operation = RIG_FENCE };
}

#define COUNT(steps) (sizeof(steps) / sizeof((steps)[0]))

static void a_load_reads_the_thread_own_store_before_others_can(void)
{
	const struct rig_step steps[] = { store(rig_line(0), 7), load(rig_line(0)) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.cycles[0], 1);
	CU_ASSERT_EQUAL(solo.cycles[1], FORWARD);
	CU_ASSERT_EQUAL(solo.value[1], 7);
}

static void the_youngest_of_several_stores_is_forwarded(void)
{
	const struct rig_step steps[] = { store(rig_line(0), 1), store(rig_line(0), 2),
					  store(rig_line(1), 3), load(rig_line(0)),
					  load(rig_line(1)) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.value[3], 2);
	CU_ASSERT_EQUAL(solo.value[4], 3);
}

/* Little-endian, as x86. */
static void a_part_of_a_store_is_forwarded(void)
{
	const struct rig_step steps[] = { store(rig_line(0), 0x1122334455667788),
					  load(rig_place(0, 0, 1)), load(rig_place(0, 6, 2)),
					  load(rig_place(0, 4, 4)) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.value[1], 0x88);
	CU_ASSERT_EQUAL(solo.value[2], 0x1122);
	CU_ASSERT_EQUAL(solo.value[3], 0x11223344);
	CU_ASSERT_EQUAL(solo.cycles[3], FORWARD);
}

/* A load of which the buffer has only a part waits until that part is visible: the store was issued
 * at 0, its line comes at 80 and one cycle later all of it can be read. */
static void a_load_that_a_store_covers_in_part_waits_for_it(void)
{
	const struct rig_step steps[] = { store(rig_place(0, 1, 1), 0xab), load(rig_line(0)) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.value[1], 0xab00);
	CU_ASSERT_EQUAL(solo.time, DRAM + 1 + HIT);
}

static void a_load_beside_a_buffered_store_does_not_wait_for_it(void)
{
	const struct rig_step steps[] = { load(rig_line(1)), store(rig_place(0, 1, 1), 0xab),
					  load(rig_line(1)) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.cycles[2], HIT);
}

/* Four stores that miss, one a cycle, fill a buffer of four; the first leaves it when its line
 * comes, at 80. */
static void a_store_waits_for_a_place_in_a_full_buffer(void)
{
	const struct rig_step steps[] = { store(rig_line(0), 1), store(rig_line(1), 2),
					  store(rig_line(2), 3), store(rig_line(3), 4),
					  store(rig_line(4), 5) };
	struct machine_config config = rig_config();
	struct solo solo;

	config.store_buffer = 4;
	struct machine *machine = solo_run(&solo, &config, steps, COUNT(steps));

	CU_ASSERT_EQUAL(solo.cycles[3], 1);
	CU_ASSERT_EQUAL(solo.time, DRAM + 1);
	for (uint32_t k = 0; k < 5; k++)
		CU_ASSERT_EQUAL(rig_value(machine, rig_line(k)), k + 1);
	machine_free(machine);
}

/* Visible in order, so one line after the other: each asked for when the one before has come. */
static void a_fence_waits_for_every_store_in_turn(void)
{
	const struct rig_step steps[] = { store(rig_line(0), 1), store(rig_line(1), 2),
					  store(rig_line(2), 3), fence() };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.time, 3 * DRAM + 1 + FENCE);
}

static void a_fence_with_an_empty_buffer_costs_itself(void)
{
	const struct rig_step steps[] = { fence() };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.time, FENCE);
}

/* The locked operation finds its line in the L1, the store does not: 80 for its line and one to
 * store, then 18. */
static void a_locked_operation_waits_for_the_store_buffer(void)
{
	const struct rig_step steps[] = { load(rig_line(1)), store(rig_line(0), 1),
					  add(rig_line(1), 1) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.time, DRAM + DRAM + 1 + RMW);
}

static void a_locked_operation_sees_the_thread_own_buffered_store(void)
{
	const struct rig_step steps[] = { store(rig_line(0), 41), add(rig_line(0), 1),
					  load(rig_line(0)) };
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.value[1], 41);
	CU_ASSERT_EQUAL(solo.value[2], 42);
}

static void locked_operations_work_in_the_width_of_their_field(void)
{
	const struct place low = rig_place(0, 0, 4), high = rig_place(0, 4, 4);
	const struct rig_step steps[] = {
		store(rig_line(0), 0x1ffffffff),
		add(low, 1),
		load(rig_line(0)),
		{ .operation = RIG_CMPXCHG, .place = high, .operand = 9, .expected = 0xf00000001 },
		load(rig_line(0)),
		{ .operation = RIG_XCHG, .place = rig_place(0, 1, 1), .operand = 0x5aa },
		load(rig_line(0)),
	};
	struct machine_config config = rig_config();
	struct solo solo;

	machine_free(solo_run(&solo, &config, steps, COUNT(steps)));
	CU_ASSERT_EQUAL(solo.value[1], 0xffffffff);
	CU_ASSERT_EQUAL(solo.value[2], 0x100000000);
	CU_ASSERT_EQUAL(solo.value[3], 1);
	CU_ASSERT_EQUAL(solo.value[4], 0x900000000);
	CU_ASSERT_EQUAL(solo.value[5], 0);
	CU_ASSERT_EQUAL(solo.value[6], 0x90000aa00);
}

/* Eight stores to a line that comes at 80 become visible one a cycle; only then does it answer core
 * 1, which has asked meanwhile: 88, then 60 - 18 for the data and 18 to add. */
static void burst_body(struct thread *self, void *argument)
{
	(void)argument;
	for (uint32_t k = 0; k < 8; k++) {
		const struct place word = rig_place(0, 8 * k, 8);

		thread_store(self, &word, k);
	}
}

static void late_body(struct thread *self, void *argument)
{
	const struct place word = rig_line(0);

	thread_work(self, 10);
	thread_rmw(self, &word, RMW_ADD, 1, 0);
	*(uint64_t *)argument = self->time;
}

static void a_burst_of_stores_holds_its_line_a_cycle_each(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	uint64_t done = 0;

	rig_thread(machine, 0, burst_body, NULL);
	rig_thread(machine, 1, late_body, &done);
	rig_run(machine);
	CU_ASSERT_EQUAL(done, DRAM + 8 + (60 - RMW) + RMW);
	machine_free(machine);
}

/* ---- loads that overlap --------------------------------------------------------------------- */

/* Announces some lines, then reads them. */
struct group {
	uint32_t lines;
	struct rig_step before; /* done first, if it has a place */
	uint64_t time, sum;
};

static void group_body(struct thread *self, void *argument)
{
	struct group *group = argument;
	struct place places[GROUP_MAX];
	const struct place *pointers[GROUP_MAX];

	for (uint32_t k = 0; k < group->lines; k++) {
		places[k] = rig_line(k);
		pointers[k] = &places[k];
	}
	if (group->before.place.size)
		rig_do(self, &group->before);
	thread_together(self, pointers, group->lines);
	for (uint32_t k = 0; k < group->lines; k++)
		group->sum += thread_load(self, &places[k]);
	group->time = self->time;
}

static struct machine *group_run(struct group *group, const struct machine_config *config)
{
	struct machine *machine = rig_machine(config);

	for (uint32_t k = 0; k < group->lines; k++) {
		uint64_t value = 1ull << k;

		coherence_poke(machine->coherence, rig_line(k).address, &value, sizeof(value));
	}
	rig_thread(machine, 0, group_body, group);
	rig_run(machine);
	return machine;
}

/* Each load that is read takes a cycle of its own. */
static void misses_of_a_group_cost_one_latency(void)
{
	for (uint32_t lines = 1; lines <= 10; lines++) {
		struct machine_config config = rig_config();
		struct group group = { .lines = lines };

		machine_free(group_run(&group, &config));
		CU_ASSERT_EQUAL(group.sum, (1u << lines) - 1);
		CU_ASSERT_EQUAL(group.time, DRAM + lines);
	}
}

/* As many latencies as it takes to get all lines, so many at a time; and at most a cycle a load. */
static void misses_of_a_group_overlap_up_to_the_machine_limit(void)
{
	for (uint32_t limit = 1; limit <= 6; limit++) {
		struct machine_config config = rig_config();
		struct group group = { .lines = 6 };
		uint64_t latencies = (6 + limit - 1) / limit * DRAM;

		config.loads_in_flight = limit;
		machine_free(group_run(&group, &config));
		CU_ASSERT(group.time >= latencies && group.time <= latencies + 6);
		if (group.time < latencies || group.time > latencies + 6)
			printf("\n  limit %u: %llu cycles, expected %llu to %llu\n", limit,
			       (unsigned long long)group.time, (unsigned long long)latencies,
			       (unsigned long long)latencies + 6);
	}
}

/* Announces a word twice and its neighbour, all in one line. */
static void one_line_body(struct thread *self, void *argument)
{
	const struct place word = rig_line(0), beside = rig_place(0, 8, 8);
	const struct place *const places[] = { &word, &beside, &word };

	(void)argument;
	thread_together(self, places, 3);
	thread_load(self, &word);
	thread_load(self, &beside);
	thread_load(self, &word);
}

static void loads_of_one_line_in_a_group_miss_once(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct thread *thread = rig_thread(machine, 0, one_line_body, NULL);

	rig_run(machine);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->reads, 1);
	CU_ASSERT_EQUAL(thread->time, DRAM + 3);
	machine_free(machine);
}

/* Loads of one core never pass an older store of its own to the same bytes. */
static void a_group_reads_a_store_that_is_still_buffered(void)
{
	struct machine_config config = rig_config();
	struct group group = { .lines = 2, .before = store(rig_line(1), 0x200) };

	machine_free(group_run(&group, &config));
	CU_ASSERT_EQUAL(group.sum, 0x201);
}

static void a_group_reads_a_store_that_covers_a_part_of_it(void)
{
	struct machine_config config = rig_config();
	struct group group = { .lines = 2, .before = store(rig_place(1, 1, 1), 2) };

	machine_free(group_run(&group, &config));
	CU_ASSERT_EQUAL(group.sum, 0x203);
}

/* A locked operation between the announcement and a load: the load must come after it. */
static void after_body(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1), lock = rig_line(2);
	const struct place *const both[] = { &x, &y };
	uint64_t *seen = argument;

	thread_load(self, &y);
	thread_together(self, both, 2);
	thread_load(self, &x);
	while (thread_rmw(self, &lock, RMW_ADD, 0, 0) == 0)
		;
	*seen = thread_load(self, &y);
}

static void release_body(struct thread *self, void *argument)
{
	const struct place y = rig_line(1), lock = rig_line(2);

	(void)argument;
	thread_work(self, 300);
	thread_store(self, &y, 1);
	thread_store(self, &lock, 1);
}

static void a_load_after_a_locked_operation_is_not_older_than_it(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	uint64_t seen = 0;

	rig_thread(machine, 0, after_body, &seen);
	rig_thread(machine, 1, release_body, NULL);
	rig_run(machine);
	CU_ASSERT_EQUAL(seen, 1);
	machine_free(machine);
}

/* Siblings share a cache, so nothing is invalidated when one of them stores: what the other has
 * read early must be noticed all the same.
 *
 *   core 0, thread A: together(x, y); x; y     y hits at 1000, x waits for core 1
 *   core 0, thread B: y = 1 at 1001
 *   core 1, D:        x = 5 at 990 (misses, from remote memory); sees y = 1; x = 1, behind the
 * first in the buffer: both become visible before A's load of x is answered
 *
 * A that reads x = 1 must read y = 1. */
struct siblings {
	uint64_t x, y, d;
};

static void siblings_a(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);
	const struct place *const both[] = { &x, &y };
	struct siblings *siblings = argument;

	thread_load(self, &y);
	thread_work(self, (double)(1000 - self->time));
	thread_together(self, both, 2);
	siblings->x = thread_load(self, &x);
	siblings->y = thread_load(self, &y);
}

static void siblings_b(struct thread *self, void *argument)
{
	const struct place y = rig_line(1);

	(void)argument;
	thread_work(self, 1001);
	thread_store(self, &y, 1);
}

static void siblings_d(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);
	struct siblings *siblings = argument;

	thread_work(self, 990);
	thread_store(self, &x, 5);
	thread_work(self, 15);
	siblings->d = thread_load(self, &y);
	if (siblings->d)
		thread_store(self, &x, 1);
}

static void an_early_load_is_done_again_when_a_sibling_stores_to_its_line(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct siblings siblings = { 0 };

	coherence_set_home(machine->coherence, rig_line(0).address, 1);
	rig_thread(machine, 0, siblings_a, &siblings);
	rig_thread(machine, 8, siblings_b, &siblings);
	rig_thread(machine, 1, siblings_d, &siblings);
	rig_run(machine);
	CU_ASSERT_EQUAL(siblings.d, 1); /* or the test has lost its timing */
	CU_ASSERT_EQUAL(siblings.x, 1);
	CU_ASSERT_EQUAL(siblings.y, 1);
	machine_free(machine);
}

/* ---- work, signals -------------------------------------------------------------------------- */

static void work_body(struct thread *self, void *argument)
{
	(void)argument;
	thread_work(self, 1000);
}

static void siblings_slow_each_other_by_the_stated_factor(void)
{
	struct machine_config config = rig_config();

	config.smt_slowdown = 1.5;
	struct machine *machine = rig_machine(&config);
	struct thread *alone = rig_thread(machine, 1, work_body, NULL);
	struct thread *one = rig_thread(machine, 0, work_body, NULL);
	struct thread *two = rig_thread(machine, 8, work_body, NULL);

	rig_run(machine);
	CU_ASSERT_EQUAL(alone->time, 1000);
	CU_ASSERT_EQUAL(one->time, 1500);
	CU_ASSERT_EQUAL(two->time, 1500);
	machine_free(machine);
}

static void signal_body(struct thread *self, void *argument)
{
	thread_work(self, 500);
	for (int k = 0; k < 3; k++)
		thread_signal(self, argument);
}

static void await_body(struct thread *self, void *argument)
{
	(void)argument;
	for (int k = 0; k < 3; k++)
		thread_await(self);
}

static void an_await_passes_once_for_each_signal(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct thread *waiter = rig_thread(machine, 1, await_body, NULL);

	rig_thread(machine, 0, signal_body, waiter);
	rig_run(machine);
	CU_ASSERT(waiter->time >= 500 && waiter->time < 600);
	CU_ASSERT_EQUAL(waiter->cycles[CYCLES_IDLE], waiter->time);
	machine_free(machine);
}

static void threads_that_all_wait_are_a_deadlock_with_a_message(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct error error = { "" };

	rig_thread(machine, 0, await_body, NULL);
	CU_ASSERT_FALSE(machine_run(machine, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "deadlock"));
	machine_free(machine);
}

static void two_threads_on_one_cpu_are_refused(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct error error = { "" };

	rig_thread(machine, 3, work_body, NULL);
	CU_ASSERT_PTR_NULL(machine_thread(machine, 3, work_body, NULL, &error));
	CU_ASSERT_NOT_EQUAL(error.text[0], 0);
	error.text[0] = 0;
	CU_ASSERT_PTR_NULL(machine_thread(machine, 16, work_body, NULL, &error));
	CU_ASSERT_NOT_EQUAL(error.text[0], 0);
	machine_free(machine);
}

/* ---- run-ahead ------------------------------------------------------------------------------ */

struct result {
	uint64_t fingerprint, hash, fields;
};

/* One storm; what it computed. */
static struct result run_storm(struct machine_config *config, bool run_ahead, uint32_t threads,
			       uint32_t lines, uint32_t stride)
{
	struct field_counts *counts = calloc((size_t)UINT16_MAX + 1, sizeof(*counts));
	struct result result = { 0 };

	config->run_ahead = run_ahead;
	struct machine *machine = rig_machine(config);

	struct storm *storm = rig_storm(machine, threads, lines, 150, stride);

	for (uint32_t k = 0; k < threads; k++)
		machine->threads[k]->counts = counts;
	rig_run(machine);
	result.fingerprint = rig_fingerprint(machine, lines);
	result.hash = storm_hash(storm);
	for (uint32_t k = 0; k < lines * 8; k++)
		result.fields = result.fields * 31 + counts[k].loads * 7 + counts[k].stores * 3 +
				counts[k].rmws;
	storm_free(storm);
	machine_free(machine);
	free(counts);
	return result;
}

static void expect_same_without_run_ahead(struct machine_config config, uint32_t threads,
					  uint32_t lines, uint32_t stride, uint32_t seeds)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++)
		for (uint32_t seed = 0; seed < seeds; seed++) {
			rig_variant(&config, variant);
			config.coherence.seed = seed;
			struct result with = run_storm(&config, true, threads, lines, stride);
			struct result without = run_storm(&config, false, threads, lines, stride);

			CU_ASSERT_EQUAL(with.fingerprint, without.fingerprint);
			CU_ASSERT_EQUAL(with.hash, without.hash);
			CU_ASSERT_EQUAL(with.fields, without.fields);
			if (with.fingerprint != without.fingerprint || with.hash != without.hash)
				printf("\n  differs: %s, %u threads, %u lines, stride %u, seed "
				       "%u\n",
				       rig_variant_name(variant), threads, lines, stride, seed);
		}
}

static void run_ahead_changes_nothing_on_separate_cores(void)
{
	struct machine_config config = rig_config();

	expect_same_without_run_ahead(config, 2, 3, 1, 3);
	expect_same_without_run_ahead(config, 8, 6, 1, 3);
	rig_shrink(&config);
	expect_same_without_run_ahead(config, 8, 10, 1, 3);
}

static void run_ahead_changes_nothing_between_siblings(void)
{
	struct machine_config config = rig_config();

	config.smt_slowdown = 1.4;
	expect_same_without_run_ahead(config, 2, 3, 8, 4);
	expect_same_without_run_ahead(config, 16, 6, 1, 3);
	rig_shrink(&config);
	expect_same_without_run_ahead(config, 4, 8, 8, 4);
	expect_same_without_run_ahead(config, 16, 12, 1, 3);
}

static void run_ahead_changes_nothing_when_threads_hardly_meet(void)
{
	expect_same_without_run_ahead(rig_config(), 4, 16, 1, 4);
}

static void run_ahead_changes_nothing_with_short_legs_and_spread_pairs(void)
{
	struct machine_config config = rig_config_of(3, 3, 2);

	config.timing.llc = 2;
	config.timing.hand_off[DISTANCE_SOCKET] = (struct spread){ 25, 60, 90 };
	config.timing.link_bandwidth = 3e9;
	expect_same_without_run_ahead(config, 18, 5, 1, 3);
	rig_shrink(&config);
	expect_same_without_run_ahead(config, 18, 8, 1, 3);
}

/* 50 cycles: three operations a visit, or one and whatever else there is time for. */
static void run_ahead_changes_nothing_where_owners_retain_lines(void)
{
	struct machine_config config = rig_config();

	config.timing.retain = 50;
	config.cores_per_cluster = 2;
	config.timing.hand_off[DISTANCE_CLUSTER] = (struct spread){ 56, 56, 56 };
	config.timing.dirty[DISTANCE_CLUSTER][0] = config.timing.dirty[DISTANCE_CLUSTER][1] = 30;
	config.timing.clean[DISTANCE_CLUSTER] = config.timing.upgrade[DISTANCE_CLUSTER] = 25;
	expect_same_without_run_ahead(config, 8, 6, 1, 4);
	expect_same_without_run_ahead(config, 16, 3, 1, 4);
	rig_shrink(&config);
	expect_same_without_run_ahead(config, 16, 12, 1, 4);
}

static void store_work_lock_body(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0);
	struct place beside = counter;

	(void)argument;
	beside.address += 8;
	for (int k = 0; k < 50; k++) {
		thread_store(self, &beside, 1);
		thread_work(self, 1000);
		if (k % 2)
			thread_rmw(self, &counter, RMW_ADD, 1, 0);
		else
			thread_fence(self);
	}
}

/* 50 times 1,000 cycles of work are 50,000 cycles at least, whatever the store buffer waits for. */
static void work_between_a_store_and_a_locked_operation_is_done(void)
{
	struct machine_config config = rig_config();
	struct error error = { "" };
	struct machine *machine = rig_machine(&config);
	bool all = true;

	for (uint32_t k = 0; k < 4; k++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(
			machine_thread(machine, k, store_work_lock_body, NULL, &error));
	CU_ASSERT_FATAL(machine_run(machine, &error));
	for (uint32_t k = 0; k < 4; k++) {
		const struct thread *thread = machine->threads[k];
		uint64_t sum = thread->wait_cycles;

		for (int c = 0; c < CYCLES_COUNT; c++)
			sum += thread->cycles[c];
		all = all && thread->time >= 50000 && sum == thread->time &&
		      thread->cycles[CYCLES_WORK] == 50000;
	}
	CU_ASSERT(all);
	machine_free(machine);
}

/* ---- independence --------------------------------------------------------------------------- */

/* No asserts in here: CUnit counts them in one place. */
static void *simulate(void *argument)
{
	struct machine_config config = rig_config();
	struct error error = { "" };
	struct result *result = argument;

	rig_shrink(&config);
	struct machine *machine = machine_new(&config, &error);

	if (!machine)
		return NULL;
	struct storm *storm = rig_storm(machine, 16, 8, 300, 1);

	if (machine_run(machine, &error))
		result->hash = storm_hash(storm);
	storm_free(storm);
	machine_free(machine);
	return NULL;
}

static void two_simulations_may_run_in_two_threads(void)
{
	struct result alone = { 0 }, result[2] = { { 0 }, { 0 } };
	pthread_t thread[2];

	simulate(&alone);
	for (int k = 0; k < 2; k++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[k], NULL, simulate, &result[k]), 0);
	for (int k = 0; k < 2; k++) {
		pthread_join(thread[k], NULL);
		CU_ASSERT_NOT_EQUAL(result[k].hash, 0);
		CU_ASSERT_EQUAL(result[k].hash, alone.hash);
	}
}

static void run_ahead_saves_events(void)
{
	struct rig_step steps[] = { add(rig_line(0), 1), add(rig_line(0), 1), load(rig_line(0)),
				    load(rig_line(0)),   load(rig_line(0)),   add(rig_line(0), 1) };
	uint64_t events[2];

	for (int ahead = 0; ahead < 2; ahead++) {
		struct machine_config config = rig_config();
		struct solo solo;

		config.run_ahead = ahead;
		struct machine *machine = solo_run(&solo, &config, steps, COUNT(steps));

		events[ahead] = machine->coherence->events;
		machine_free(machine);
	}
	CU_ASSERT(events[1] + 4 <= events[0]);
}

void suite_machine(void)
{
	CU_pSuite suite = CU_add_suite("machine", NULL, NULL);

	CU_ADD_TEST(suite, a_load_reads_the_thread_own_store_before_others_can);
	CU_ADD_TEST(suite, the_youngest_of_several_stores_is_forwarded);
	CU_ADD_TEST(suite, a_part_of_a_store_is_forwarded);
	CU_ADD_TEST(suite, a_load_that_a_store_covers_in_part_waits_for_it);
	CU_ADD_TEST(suite, a_load_beside_a_buffered_store_does_not_wait_for_it);
	CU_ADD_TEST(suite, a_store_waits_for_a_place_in_a_full_buffer);
	CU_ADD_TEST(suite, a_fence_waits_for_every_store_in_turn);
	CU_ADD_TEST(suite, a_fence_with_an_empty_buffer_costs_itself);
	CU_ADD_TEST(suite, a_locked_operation_waits_for_the_store_buffer);
	CU_ADD_TEST(suite, a_locked_operation_sees_the_thread_own_buffered_store);
	CU_ADD_TEST(suite, locked_operations_work_in_the_width_of_their_field);
	CU_ADD_TEST(suite, a_burst_of_stores_holds_its_line_a_cycle_each);
	CU_ADD_TEST(suite, misses_of_a_group_cost_one_latency);
	CU_ADD_TEST(suite, misses_of_a_group_overlap_up_to_the_machine_limit);
	CU_ADD_TEST(suite, loads_of_one_line_in_a_group_miss_once);
	CU_ADD_TEST(suite, a_group_reads_a_store_that_is_still_buffered);
	CU_ADD_TEST(suite, a_group_reads_a_store_that_covers_a_part_of_it);
	CU_ADD_TEST(suite, a_load_after_a_locked_operation_is_not_older_than_it);
	CU_ADD_TEST(suite, an_early_load_is_done_again_when_a_sibling_stores_to_its_line);
	CU_ADD_TEST(suite, siblings_slow_each_other_by_the_stated_factor);
	CU_ADD_TEST(suite, an_await_passes_once_for_each_signal);
	CU_ADD_TEST(suite, threads_that_all_wait_are_a_deadlock_with_a_message);
	CU_ADD_TEST(suite, two_threads_on_one_cpu_are_refused);
	CU_ADD_TEST(suite, run_ahead_changes_nothing_on_separate_cores);
	CU_ADD_TEST(suite, run_ahead_changes_nothing_between_siblings);
	CU_ADD_TEST(suite, run_ahead_changes_nothing_when_threads_hardly_meet);
	CU_ADD_TEST(suite, run_ahead_changes_nothing_with_short_legs_and_spread_pairs);
	CU_ADD_TEST(suite, run_ahead_changes_nothing_where_owners_retain_lines);
	CU_ADD_TEST(suite, work_between_a_store_and_a_locked_operation_is_done);
	CU_ADD_TEST(suite, two_simulations_may_run_in_two_threads);
	CU_ADD_TEST(suite, run_ahead_saves_events);
}
