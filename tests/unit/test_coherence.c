/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches and homes in time: what a transaction costs and sends, who is served next, and that no
 * value is ever lost.
 *
 * The machine is rig_config's: cores 0-3 in socket 0, 4-7 in socket 1, a cycle a nanosecond. Its
 * legs, by the derivation in coherence/fabric.c: a request 20/4 = 5, a forward 5, both 10; an
 * answer is what is left of the figure in the machine's description. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RMW = 18, PROTOCOLS = 4 /* of the variants: eviction and home */ };

static struct rig_step load(uint32_t cpu, struct place place)
{
	return (struct rig_step){ .cpu = cpu, .operation = RIG_LOAD, .place = place };
}

static struct rig_step add(uint32_t cpu, struct place place)
{
	return (struct rig_step){ .cpu = cpu, .operation = RIG_ADD, .place = place, .operand = 1 };
}

/* Runs steps on a machine whose first line is homed in a socket. Returns the machine, at rest. */
static struct machine *steps_run(uint32_t protocol, uint32_t home, struct rig_step *steps,
				 uint32_t count)
{
	struct machine_config config = rig_config();

	rig_variant(&config, protocol);
	struct machine *machine = rig_machine(&config);

	coherence_set_home(machine->coherence, rig_line(0).address, home);
	rig_serial(machine, steps, count);
	return machine;
}

/* The last step must take so many cycles, whichever the protocol's variant: a lone request does not
 * feel what follows it. */
static void expect_cycles(uint64_t cycles, uint32_t home, struct rig_step *steps, uint32_t count)
{
	for (uint32_t protocol = 0; protocol < PROTOCOLS; protocol++) {
		machine_free(steps_run(protocol, home, steps, count));
		CU_ASSERT_EQUAL(steps[count - 1].cycles, cycles);
		if (steps[count - 1].cycles != cycles)
			printf("\n  %s: %llu cycles, expected %llu\n", rig_variant_name(protocol),
			       (unsigned long long)steps[count - 1].cycles,
			       (unsigned long long)cycles);
	}
}

#define STEPS(...)                          \
	(struct rig_step[]){ __VA_ARGS__ }, \
		sizeof((struct rig_step[]){ __VA_ARGS__ }) / sizeof(struct rig_step)
#define X rig_line(0)

/* Steps that leave line 0 in one place, by sets of the rig's caches: L1 16, L2 64, LLC 256. */
#define BEYOND_L1                                                                       \
	add(0, X), load(0, rig_line(16)), load(0, rig_line(32)), load(0, rig_line(48)), \
		load(0, rig_line(80))
#define BEYOND_L2                                                                         \
	add(0, X), load(0, rig_line(64)), load(0, rig_line(128)), load(0, rig_line(192)), \
		load(0, rig_line(256)), load(0, rig_line(320)), load(0, rig_line(384)),   \
		load(0, rig_line(448)), load(0, rig_line(512))
#define BEYOND_LLC                                                                         \
	add(0, X), load(1, rig_line(256)), load(1, rig_line(512)), load(2, rig_line(768)), \
		load(2, rig_line(1024)), load(3, rig_line(1280)), load(3, rig_line(1536)), \
		load(1, rig_line(1792)), load(0, rig_line(64)), load(0, rig_line(128)),    \
		load(0, rig_line(192)), load(0, rig_line(320)), load(0, rig_line(384)),    \
		load(0, rig_line(448)), load(0, rig_line(576)), load(0, rig_line(640)),    \
		load(2, rig_line(2048)), load(2, rig_line(2304)), load(2, rig_line(2560)), \
		load(2, rig_line(2816)), load(3, rig_line(3072)), load(3, rig_line(3328)), \
		load(3, rig_line(3584)), load(3, rig_line(3840))

/* ---- costs of a load ------------------------------------------------------------------------ */

static void a_load_costs_the_latency_of_the_cache_that_has_it(void)
{
	expect_cycles(4, 0, STEPS(load(0, X), load(0, X)));
	expect_cycles(14, 0, STEPS(BEYOND_L1, load(0, X)));
	expect_cycles(20, 0, STEPS(BEYOND_L2, load(0, X)));
	expect_cycles(20, 0, STEPS(BEYOND_L2, load(1, X)));
}

static void a_sibling_thread_hits_in_the_same_l1(void)
{
	expect_cycles(4, 0, STEPS(load(0, X), load(8, X)));
}

static void a_load_from_memory_costs_local_or_remote_dram(void)
{
	expect_cycles(80, 0, STEPS(load(0, X)));
	expect_cycles(140, 1, STEPS(load(0, X)));
	expect_cycles(80, 0, STEPS(BEYOND_LLC, load(0, X)));
}

static void a_load_of_a_dirty_line_costs_its_distance_and_home(void)
{
	expect_cycles(52, 0, STEPS(add(1, X), load(0, X)));
	expect_cycles(50, 1, STEPS(add(1, X), load(0, X)));
	expect_cycles(121, 0, STEPS(add(4, X), load(0, X)));
	expect_cycles(115, 1, STEPS(add(4, X), load(0, X)));
}

/* The home cannot know whether an exclusive copy has been written: it forwards the request too. */
static void a_load_of_an_exclusive_line_costs_as_much_as_of_a_dirty_one(void)
{
	expect_cycles(52, 0, STEPS(load(1, X), load(0, X)));
	expect_cycles(121, 0, STEPS(load(4, X), load(0, X)));
}

static void a_load_of_a_shared_line_costs_a_clean_transfer(void)
{
	expect_cycles(46, 0, STEPS(load(1, X), load(2, X), load(0, X)));
	expect_cycles(112, 0, STEPS(load(4, X), load(5, X), load(0, X)));
	expect_cycles(46, 0, STEPS(load(4, X), load(1, X), load(0, X)));
}

/* ---- costs of a locked operation ------------------------------------------------------------ */

static void an_rmw_in_the_l1_costs_itself(void)
{
	expect_cycles(RMW, 0, STEPS(add(0, X), add(0, X)));
	expect_cycles(RMW, 0, STEPS(load(0, X), add(0, X)));
}

/* The L1's latency is part of the locked operation's own. */
static void an_rmw_in_the_l2_costs_what_lies_beyond_the_l1(void)
{
	expect_cycles(14 - 4 + RMW, 0, STEPS(BEYOND_L1, add(0, X)));
}

static void an_rmw_in_the_llc_costs_llc_and_itself(void)
{
	expect_cycles(20 + RMW, 0, STEPS(BEYOND_L2, add(0, X)));
	expect_cycles(20 + RMW, 0, STEPS(BEYOND_L2, add(3, X)));
}

static void an_rmw_in_memory_costs_dram_and_itself(void)
{
	expect_cycles(80 + RMW, 0, STEPS(add(0, X)));
	expect_cycles(140 + RMW, 1, STEPS(add(0, X)));
}

/* Request 5, forward 5, and a hand-off, which contains the locked operation. */
static void an_rmw_of_a_line_owned_elsewhere_costs_the_way_to_it_and_a_hand_off(void)
{
	expect_cycles(5 + 5 + 60, 0, STEPS(add(1, X), add(0, X)));
	expect_cycles(5 + 5 + 60, 1, STEPS(add(1, X), add(0, X)));
	expect_cycles(5 + 5 + 130, 0, STEPS(add(4, X), add(0, X)));
	expect_cycles(5 + 5 + 130, 1, STEPS(add(4, X), add(0, X)));
	expect_cycles(5 + 5 + 60, 0, STEPS(load(1, X), add(0, X)));
}

/* The slowest sharer's acknowledgement, and 3 more for each further sharer. */
static void an_upgrade_costs_its_slowest_sharer_and_a_serial_part(void)
{
	expect_cycles(47 + RMW, 0, STEPS(load(1, X), load(0, X), add(0, X)));
	expect_cycles(123 + RMW, 0, STEPS(load(4, X), load(0, X), add(0, X)));
	expect_cycles(47 + 3 + 3 + RMW, 0,
		      STEPS(load(1, X), load(2, X), load(3, X), load(0, X), add(0, X)));
	expect_cycles(123 + 3 + RMW, 0, STEPS(load(1, X), load(4, X), load(0, X), add(0, X)));
	expect_cycles(123 + 3 + 3 + RMW, 0,
		      STEPS(load(1, X), load(4, X), load(7, X), load(0, X), add(0, X)));
}

/* One sharer near, one far: which of the two has the lower number must not matter. */
static void an_upgrade_costs_the_same_from_either_socket(void)
{
	expect_cycles(123 + 3 + RMW, 0, STEPS(load(1, X), load(4, X), load(0, X), add(0, X)));
	expect_cycles(123 + 3 + RMW, 0, STEPS(load(5, X), load(0, X), load(4, X), add(4, X)));
}

/* Data, a clean transfer of 46, and acknowledgements, 47 and 3 a further sharer, come at once. */
static void an_rmw_of_a_line_shared_elsewhere_costs_the_later_of_data_and_acks(void)
{
	expect_cycles(47 + 3 + RMW, 0, STEPS(load(1, X), load(2, X), add(0, X)));
	expect_cycles(123 + 3 + RMW, 0, STEPS(load(4, X), load(5, X), add(0, X)));
}

static void a_failed_compare_exchange_takes_the_line_all_the_same(void)
{
	struct rig_step fails = { .cpu = 0, .operation = RIG_CMPXCHG, .place = X, .expected = 99 };
	struct rig_step steps[] = { add(1, X), fails, add(0, X) };

	machine_free(steps_run(0, 0, steps, 3));
	CU_ASSERT_EQUAL(steps[1].value, 1);
	CU_ASSERT_EQUAL(steps[1].cycles, 5 + 5 + 60);
	CU_ASSERT_EQUAL(steps[2].value, 1);
	CU_ASSERT_EQUAL(steps[2].cycles, RMW);
}

/* ---- what is shared ------------------------------------------------------------------------- */

/* One operation, done at its own time. */
struct timed {
	uint64_t start;
	struct rig_step step;
	uint64_t cycles;
};

static void timed_body(struct thread *self, void *argument)
{
	struct timed *timed = argument;

	thread_work(self, (double)timed->start);
	rig_do(self, &timed->step);
	timed->cycles = self->time - timed->start;
}

static void timed_run(const struct machine_config *config, struct timed *timed, uint32_t count)
{
	struct machine *machine = rig_machine(config);

	for (uint32_t k = 0; k < count; k++)
		rig_thread(machine, timed[k].step.cpu, timed_body, &timed[k]);
	rig_run(machine);
	machine_free(machine);
}

/* Three at once: the home is busy for 2 cycles with each answer, not for its whole latency. */
static void reads_of_a_clean_line_follow_each_other_by_the_home_occupancy(void)
{
	struct machine_config config = rig_config();
	struct timed timed[] = { { .start = 100, .step = load(4, X) },
				 { .start = 1000, .step = load(0, X) },
				 { .start = 2000, .step = load(1, X) },
				 { .start = 2000, .step = load(2, X) },
				 { .start = 2000, .step = load(3, X) } };

	timed_run(&config, timed, 5);
	CU_ASSERT_EQUAL(timed[2].cycles + timed[3].cycles + timed[4].cycles, 46 + 48 + 50);
}

/* 64 bytes at a byte a cycle: of two lines that cross at once one waits for 64 cycles. */
static void lines_that_cross_at_once_share_the_link(void)
{
	struct machine_config config = rig_config();
	struct timed timed[] = { { .start = 100, .step = add(4, rig_line(0)) },
				 { .start = 100, .step = add(5, rig_line(1)) },
				 { .start = 2000, .step = load(0, rig_line(0)) },
				 { .start = 2000, .step = load(1, rig_line(1)) } };

	config.timing.link_bandwidth = 1e9;
	timed_run(&config, timed, 4);
	CU_ASSERT_EQUAL(timed[2].cycles + timed[3].cycles, 121 + 121 + 64);
}

static void lines_that_cross_in_opposite_directions_do_not(void)
{
	struct machine_config config = rig_config();
	struct timed timed[] = { { .start = 100, .step = add(4, rig_line(0)) },
				 { .start = 100, .step = add(0, rig_line(1)) },
				 { .start = 2000, .step = load(1, rig_line(0)) },
				 { .start = 2000, .step = load(5, rig_line(1)) } };

	config.timing.link_bandwidth = 1e9;
	timed_run(&config, timed, 4);
	CU_ASSERT_EQUAL(timed[2].cycles, 121);
	CU_ASSERT_EQUAL(timed[3].cycles, 115);
}

static void pairs_lie_between_low_and_high_around_the_mean(void)
{
	struct machine_config config = rig_config_of(2, 18, 1);
	const double expected[2][3] = { { 42, 50, 56 }, { 120, 130, 146 } };

	for (int across = 0; across < 2; across++)
		config.timing.hand_off[across ? DISTANCE_CROSS : DISTANCE_SOCKET] =
			(struct spread){ expected[across][0], expected[across][1],
					 expected[across][2] };
	struct machine *machine = rig_machine(&config);
	double sum[2] = { 0 }, least[2] = { 1e9, 1e9 }, most[2] = { 0 }, count[2] = { 0 };

	for (uint32_t a = 0; a < 36; a++)
		for (uint32_t b = 0; b < 36; b++) {
			int across = a / 18 != b / 18;
			double ns = (double)fabric_own(machine->coherence->fabric, a, b, 0) + RMW;

			if (a == b)
				continue;
			sum[across] += ns;
			count[across]++;
			least[across] = ns < least[across] ? ns : least[across];
			most[across] = ns > most[across] ? ns : most[across];
		}
	for (int across = 0; across < 2; across++) {
		CU_ASSERT_DOUBLE_EQUAL(sum[across] / count[across], expected[across][1], 0.5);
		CU_ASSERT_EQUAL(least[across], expected[across][0]);
		CU_ASSERT_EQUAL(most[across], expected[across][2]);
	}
	machine_free(machine);
}

static void the_scale_multiplies_transfers_and_leaves_the_caches(void)
{
	struct machine_config config = rig_config();
	struct timed timed[] = { { .start = 0, .step = add(1, X) },
				 { .start = 1000, .step = add(0, X) } };

	config.timing.scale = 1.5;
	timed_run(&config, timed, 2);
	CU_ASSERT_EQUAL(timed[0].cycles, 80 + RMW);
	CU_ASSERT_EQUAL(timed[1].cycles, 5 + 5 + 90);
}

static void a_latency_below_its_own_way_is_refused_by_name(void)
{
	struct machine_config config = rig_config();
	struct error error = { "" };

	config.timing.upgrade[DISTANCE_CROSS] = 10;
	CU_ASSERT_PTR_NULL(machine_new(&config, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "upgrade"));
	config = rig_config();
	error.text[0] = 0;
	config.timing.hand_off[DISTANCE_SOCKET] = (struct spread){ 18, 18, 18 };
	CU_ASSERT_PTR_NULL(machine_new(&config, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "hand_off"));
}

/* ---- messages ------------------------------------------------------------------------------- */

static uint64_t messages_of(uint32_t protocol, struct rig_step *steps, uint32_t count)
{
	uint64_t sent = 0;

	if (!count)
		return 0;
	struct machine *machine = steps_run(protocol, 0, steps, count);

	sent = rig_messages(machine);
	machine_free(machine);
	return sent;
}

/* The last step must send so many messages, and one more if the home waits for an Unblock. */
static void expect_messages(uint64_t ahead, uint64_t unblocks, struct rig_step *steps,
			    uint32_t count)
{
	for (uint32_t protocol = 0; protocol < PROTOCOLS; protocol++) {
		uint64_t sent = messages_of(protocol, steps, count) -
				messages_of(protocol, steps, count - 1);

		CU_ASSERT_EQUAL(sent, ahead + (protocol & 2 ? unblocks : 0));
	}
}

static void a_hit_sends_nothing(void)
{
	expect_messages(0, 0, STEPS(load(0, X), load(0, X)));
	expect_messages(0, 0, STEPS(load(0, X), add(0, X)));
	expect_messages(0, 0, STEPS(load(0, X), load(1, X), load(0, X)));
	expect_messages(0, 0, STEPS(add(0, X), add(8, X)));
}

static void a_first_get_is_a_request_and_data(void)
{
	expect_messages(2, 1, STEPS(load(0, X)));
	expect_messages(2, 1, STEPS(add(0, X)));
}

static void a_write_over_k_sharers_is_2_messages_and_2_a_sharer(void)
{
	expect_messages(2 + 2, 1, STEPS(load(1, X), load(0, X), add(0, X)));
	expect_messages(2 + 2 * 2, 1, STEPS(load(1, X), load(2, X), add(0, X)));
	expect_messages(2 + 2 * 3, 1,
			STEPS(load(1, X), load(2, X), load(5, X), load(0, X), add(0, X)));
}

/* Request, forward, data, write-back. */
static void a_three_hop_read_is_4_messages(void)
{
	expect_messages(4, 1, STEPS(add(1, X), load(0, X)));
	expect_messages(4, 1, STEPS(load(1, X), load(0, X)));
}

/* Request, forward, data; and the old owner's Passed, or the new one's Unblock. */
static void a_three_hop_write_is_3_messages_and_word_to_the_home(void)
{
	expect_messages(3 + 1, 0, STEPS(add(1, X), add(0, X)));
}

/* The ninth line of a set with 8 ways costs its own request, and the Put and Put-Ack of another. */
static void an_eviction_of_an_owned_line_is_2_messages(void)
{
	expect_messages(2 + 2, 1, STEPS(BEYOND_L2));
}

/* A shared line is given up silently, or with a Put and its Put-Ack. */
static void an_eviction_of_a_shared_line_is_as_its_variant_says(void)
{
	struct rig_step steps[] = { load(1, X),
				    load(0, X),
				    load(0, rig_line(64)),
				    load(0, rig_line(128)),
				    load(0, rig_line(192)),
				    load(0, rig_line(256)),
				    load(0, rig_line(320)),
				    load(0, rig_line(384)),
				    load(0, rig_line(448)),
				    load(0, rig_line(512)) };

	for (uint32_t protocol = 0; protocol < PROTOCOLS; protocol++)
		CU_ASSERT_EQUAL(messages_of(protocol, steps, 10) - messages_of(protocol, steps, 9),
				2u + (protocol & 1 ? 2 : 0) + (protocol & 2 ? 1 : 0));
}

static void a_line_counts_what_was_asked_of_it(void)
{
	struct rig_step steps[] = { load(0, X), load(1, X), add(1, X), add(4, X), load(0, X) };
	struct machine *machine = steps_run(0, 0, steps, 5);
	const struct line_counts *counts = rig_counts(machine, X);

	CU_ASSERT_EQUAL(counts->reads, 3);
	CU_ASSERT_EQUAL(counts->owns, 2);
	CU_ASSERT_EQUAL(counts->upgrades, 1);
	CU_ASSERT_EQUAL(counts->memory, 1);
	CU_ASSERT_EQUAL(counts->invalidations, 1);
	CU_ASSERT_EQUAL(counts->transfers[0], 1); /* the exclusive copy of core 0 to core 1 */
	CU_ASSERT_EQUAL(counts->transfers[1], 2); /* to core 4 and back */
	CU_ASSERT_EQUAL(counts->hitm[0], 0);
	CU_ASSERT_EQUAL(counts->hitm[1], 2);
	machine_free(machine);
}

/* ---- who is next ---------------------------------------------------------------------------- */

enum { OPERATIONS = 4000, WARM = 200 };

/* Threads that add to one line; the value each finds says when it was served. */
struct hammer {
	uint32_t think;
	uint16_t order[OPERATIONS];
	uint64_t at[OPERATIONS];
};

static void hammer_body(struct thread *self, void *argument)
{
	struct hammer *hammer = argument;
	const struct place place = rig_line(0);
	uint64_t turn;

	while ((turn = thread_rmw(self, &place, RMW_ADD, 1, 0)) < OPERATIONS) {
		hammer->order[turn] = (uint16_t)self->core->number;
		hammer->at[turn] = self->time;
		thread_work(self, hammer->think);
	}
}

static void hammer_run(struct hammer *hammer, const struct machine_config *config, uint32_t threads)
{
	struct machine *machine = rig_machine(config);

	for (uint32_t k = 0; k < threads; k++)
		rig_thread(machine, k, hammer_body, hammer);
	rig_run(machine);
	machine_free(machine);
}

/* Operations that the core of the one before did too. */
static uint32_t repeats(const struct hammer *hammer)
{
	uint32_t count = 0;

	for (uint32_t k = WARM; k < OPERATIONS - WARM; k++)
		count += hammer->order[k] == hammer->order[k - 1];
	return count;
}

static void a_line_leaves_right_after_one_locked_operation(void)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++)
		for (uint32_t threads = 2; threads <= 8; threads += 3) {
			struct machine_config config = rig_config();
			struct hammer hammer = { 0 };

			rig_variant(&config, variant);
			if (config.coherence.home == HOME_BLOCKING)
				continue;
			hammer_run(&hammer, &config, threads);
			CU_ASSERT_EQUAL(repeats(&hammer), 0);
		}
}

/* Not even a load of another field gets in between: it costs a transfer again. */
struct peek {
	uint32_t hits;
	bool done;
};

static void peek_body(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0), beside = rig_place(0, 8, 8);
	struct peek *peek = argument;

	for (uint32_t k = 0; k < 200; k++) {
		thread_rmw(self, &counter, RMW_ADD, 1, 0);
		uint64_t start = self->time;

		thread_load(self, &beside);
		peek->hits += k > 0 && self->time - start <= 4;
	}
	peek->done = true;
}

static void crowd_body(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0);
	const struct peek *peek = argument;

	while (!peek->done)
		thread_rmw(self, &counter, RMW_ADD, 1, 0);
}

static void a_load_after_a_locked_operation_misses_if_another_writer_waits(void)
{
	for (int ahead = 0; ahead < 2; ahead++) {
		struct machine_config config = rig_config();
		struct peek peek = { 0 };

		config.run_ahead = ahead;
		struct machine *machine = rig_machine(&config);

		rig_thread(machine, 0, peek_body, &peek);
		for (uint32_t k = 1; k < 6; k++)
			rig_thread(machine, k, crowd_body, &peek);
		rig_run(machine);
		CU_ASSERT_EQUAL(peek.hits, 0);
		machine_free(machine);
	}
}

/* Core 0 has its line from 80 to 98, while it adds; core 1's forward arrives at `start` + 10. */
static void forward_body(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0);

	thread_work(self, *(const uint32_t *)argument);
	thread_rmw(self, &counter, RMW_ADD, 1, 0);
}

static void load_body(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0), beside = rig_place(0, 8, 8);

	thread_rmw(self, &counter, RMW_ADD, 1, 0);
	thread_load(self, &beside);
	*(uint64_t *)argument = self->time;
}

static void a_forward_that_comes_during_the_operation_is_answered_at_its_end(void)
{
	for (uint32_t start = 40; start < 100; start++) {
		struct machine_config config = rig_config();
		struct machine *machine = rig_machine(&config);
		uint64_t done = 0;

		rig_thread(machine, 0, load_body, &done);
		rig_thread(machine, 1, forward_body, &start);
		rig_run(machine);
		if (start + 10 != 80 + RMW)
			CU_ASSERT_EQUAL(done == 80 + RMW + 4, start + 10 > 80 + RMW);
		machine_free(machine);
	}
}

static void fifo_serves_each_core_once_a_round(void)
{
	struct machine_config config = rig_config();
	struct hammer hammer = { 0 };
	uint32_t out_of_turn = 0;

	hammer_run(&hammer, &config, 8);
	for (uint32_t k = WARM; k < OPERATIONS - WARM; k++)
		out_of_turn += hammer.order[k] != hammer.order[k - 8];
	CU_ASSERT_EQUAL(out_of_turn, 0);
}

static void socket_batch_hands_over_within_a_socket_up_to_its_limit(void)
{
	for (uint32_t batch = 1; batch <= 5; batch++) {
		struct machine_config config = rig_config();
		struct hammer hammer = { 0 };
		uint32_t run = 0, longest = 0;

		config.coherence.discipline = DISCIPLINE_SOCKET_BATCH;
		config.coherence.batch = batch;
		hammer_run(&hammer, &config, 8);
		for (uint32_t k = WARM; k < OPERATIONS - WARM; k++) {
			bool same = hammer.order[k] / RIG_CORES == hammer.order[k - 1] / RIG_CORES;

			run = same ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		CU_ASSERT_EQUAL(longest, batch);
	}
}

/* Binomial: of some 3,600 draws each of 8 cores has 450 +- 20; a holder cannot follow itself, which
 * only evens it out. */
static void random_serves_all_alike_but_in_no_fixed_order(void)
{
	struct machine_config config = rig_config();
	struct hammer hammer = { 0 };
	uint32_t count[8] = { 0 }, as_last_round = 0;

	config.coherence.discipline = DISCIPLINE_RANDOM;
	hammer_run(&hammer, &config, 8);
	for (uint32_t k = WARM; k < OPERATIONS - WARM; k++) {
		count[hammer.order[k]]++;
		as_last_round += hammer.order[k] == hammer.order[k - 8];
	}
	for (int core = 0; core < 8; core++)
		CU_ASSERT(count[core] > 350 && count[core] < 550);
	CU_ASSERT(as_last_round < 3600 / 4);
}

static void the_seed_fixes_the_random_order(void)
{
	struct machine_config config = rig_config();
	struct hammer first = { 0 }, again = { 0 }, other = { 0 };

	config.coherence.discipline = DISCIPLINE_RANDOM;
	hammer_run(&first, &config, 8);
	hammer_run(&again, &config, 8);
	config.coherence.seed++;
	hammer_run(&other, &config, 8);
	CU_ASSERT_EQUAL(memcmp(first.order, again.order, sizeof(first.order)), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(first.order, other.order, sizeof(first.order)), 0);
}

/* With legs of 20 cycles: the next forward of a home that runs ahead has come before the locked
 * operation ends, so a hand-over takes 60 cycles. That of a blocking home leaves on the Unblock,
 * and the data leave when it comes: 20 + 20 + (60 - 18). Cores think, so that none does two
 * operations before the line leaves. */
static void a_blocking_home_adds_its_unblock_to_every_hand_over(void)
{
	static const struct {
		enum home_kind home;
		uint64_t cycles;
	} expected[] = { { HOME_AHEAD, 60 }, { HOME_BLOCKING, 82 } };

	for (int k = 0; k < 2; k++) {
		struct machine_config config = rig_config_of(1, 8, 1);
		struct hammer hammer = { .think = 50 };

		config.timing.llc = 80;
		config.coherence.home = expected[k].home;
		hammer_run(&hammer, &config, 8);
		CU_ASSERT_EQUAL(hammer.at[2000] - hammer.at[1000], 1000 * expected[k].cycles);
	}
}

static void a_blocking_home_lets_the_holder_do_a_second_operation(void)
{
	struct machine_config config = rig_config_of(1, 8, 1);
	struct hammer hammer = { 0 };

	config.timing.llc = 80;
	config.coherence.home = HOME_BLOCKING;
	hammer_run(&hammer, &config, 8);
	CU_ASSERT(repeats(&hammer) > OPERATIONS / 4);
}

/* ---- nothing is lost ------------------------------------------------------------------------ */

enum { COUNTERS = 3, ADDS = 150 };

static void add_body(struct thread *self, void *argument)
{
	(void)argument;
	for (uint32_t k = 0; k < ADDS * COUNTERS; k++) {
		struct place counter = rig_line(k % COUNTERS);

		thread_rmw(self, &counter, RMW_ADD, 1, 0);
	}
}

static void no_locked_add_is_lost(void)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++)
		for (uint32_t threads = 2; threads <= 16; threads += 7) {
			struct machine_config config = rig_config();

			rig_variant(&config, variant);
			rig_shrink(&config);
			struct machine *machine = rig_machine(&config);

			for (uint32_t k = 0; k < threads; k++)
				rig_thread(machine, k, add_body, NULL);
			rig_run(machine);
			for (uint32_t k = 0; k < COUNTERS; k++)
				CU_ASSERT_EQUAL(rig_value(machine, rig_line(k)), threads * ADDS);
			machine_free(machine);
		}
}

/* Storms of `threads` threads on a machine, in every variant and with a few seeds. */
static void expect_calm(struct machine_config config, uint32_t threads, uint32_t lines,
			uint32_t accesses, uint32_t seeds)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++)
		for (uint32_t seed = 0; seed < seeds; seed++) {
			struct error error = { "" };

			rig_variant(&config, variant);
			config.coherence.seed = seed * RIG_VARIANTS + variant;
			struct machine *machine = rig_machine(&config);

			for (uint32_t k = 0; k < lines; k++)
				coherence_set_home(machine->coherence, rig_line(k).address,
						   k % config.sockets);
			struct storm *storm = rig_storm(machine, threads, lines, accesses, 5);

			rig_run(machine);
			CU_ASSERT(storm_held(storm, &error));
			if (error.text[0])
				printf("\n  %s, seed %llu, %u threads: %s\n",
				       rig_variant_name(variant),
				       (unsigned long long)config.coherence.seed, threads,
				       error.text);
			storm_free(storm);
			machine_free(machine);
		}
}

static void storms_in_tiny_caches_lose_no_value(void)
{
	struct machine_config config = rig_config();

	rig_shrink(&config);
	expect_calm(config, 2, 12, 800, 4);
	expect_calm(config, 3, 12, 800, 3);
	expect_calm(config, 7, 10, 400, 3);
	expect_calm(config, 16, 12, 300, 2);
}

static void storms_on_one_line_lose_no_value(void)
{
	struct machine_config config = rig_config();

	expect_calm(config, 3, 1, 800, 3);
	expect_calm(config, 16, 1, 300, 2);
}

static void storms_in_large_caches_lose_no_value(void)
{
	expect_calm(rig_config(), 16, 16, 300, 2);
}

static void storms_of_72_threads_lose_no_value(void)
{
	struct machine_config config = rig_config_of(2, 18, 2);

	rig_shrink(&config);
	expect_calm(config, 72, 8, 100, 2);
}

static void storms_on_four_sockets_lose_no_value(void)
{
	struct machine_config config = rig_config_of(4, 3, 1);

	rig_shrink(&config);
	expect_calm(config, 12, 10, 300, 2);
}

/* Every leg as short as can be: messages meet as closely as they ever will. */
static void storms_with_legs_of_one_cycle_lose_no_value(void)
{
	struct machine_config config = rig_config();
	struct fabric_timing *t = &config.timing;

	config.locked_rmw = 1;
	t->llc = t->dram_local = t->dram_remote = 2;
	t->clean[DISTANCE_SOCKET] = t->clean[DISTANCE_CROSS] = 2;
	t->hand_off[DISTANCE_SOCKET] = t->hand_off[DISTANCE_CROSS] = (struct spread){ 2, 2, 2 };
	t->dirty[DISTANCE_SOCKET][0] = t->dirty[DISTANCE_SOCKET][1] = t->dirty[DISTANCE_CROSS][0] =
		t->dirty[DISTANCE_CROSS][1] = 3;
	t->upgrade[DISTANCE_SOCKET] = t->upgrade[DISTANCE_CROSS] = 3;
	t->invalidate_serial = t->home_occupancy = 0;
	expect_calm(config, 16, 4, 300, 2);
	rig_shrink(&config);
	expect_calm(config, 16, 10, 300, 2);
}

/* Answers that take much longer than the way to the home, and pairs that lie far apart: messages
 * overtake one another as much as they can. */
static void storms_with_long_and_unequal_answers_lose_no_value(void)
{
	struct machine_config config = rig_config();
	struct fabric_timing *t = &config.timing;

	t->hand_off[DISTANCE_SOCKET] = (struct spread){ 200, 600, 1000 };
	t->hand_off[DISTANCE_CROSS] = (struct spread){ 300, 900, 1500 };
	t->upgrade[DISTANCE_SOCKET] = t->upgrade[DISTANCE_CROSS] = 700;
	t->dirty[DISTANCE_SOCKET][0] = t->dirty[DISTANCE_SOCKET][1] = t->dirty[DISTANCE_CROSS][0] =
		t->dirty[DISTANCE_CROSS][1] = 1000;
	t->invalidate_serial = 40;
	t->link_bandwidth = 2e9;
	rig_shrink(&config);
	expect_calm(config, 16, 10, 300, 2);
}

static void storms_on_lines_of_32_and_128_bytes_lose_no_value(void)
{
	struct machine_config config = rig_config();

	rig_shrink(&config);
	config.coherence.line = 32;
	expect_calm(config, 8, 8, 300, 1);
	config.coherence.line = 128;
	expect_calm(config, 8, 16, 300, 1);
}

void suite_coherence(void)
{
	CU_pSuite suite = CU_add_suite("coherence", NULL, NULL);

	CU_ADD_TEST(suite, a_load_costs_the_latency_of_the_cache_that_has_it);
	CU_ADD_TEST(suite, a_sibling_thread_hits_in_the_same_l1);
	CU_ADD_TEST(suite, a_load_from_memory_costs_local_or_remote_dram);
	CU_ADD_TEST(suite, a_load_of_a_dirty_line_costs_its_distance_and_home);
	CU_ADD_TEST(suite, a_load_of_an_exclusive_line_costs_as_much_as_of_a_dirty_one);
	CU_ADD_TEST(suite, a_load_of_a_shared_line_costs_a_clean_transfer);
	CU_ADD_TEST(suite, an_rmw_in_the_l1_costs_itself);
	CU_ADD_TEST(suite, an_rmw_in_the_l2_costs_what_lies_beyond_the_l1);
	CU_ADD_TEST(suite, an_rmw_in_the_llc_costs_llc_and_itself);
	CU_ADD_TEST(suite, an_rmw_in_memory_costs_dram_and_itself);
	CU_ADD_TEST(suite, an_rmw_of_a_line_owned_elsewhere_costs_the_way_to_it_and_a_hand_off);
	CU_ADD_TEST(suite, an_upgrade_costs_its_slowest_sharer_and_a_serial_part);
	CU_ADD_TEST(suite, an_upgrade_costs_the_same_from_either_socket);
	CU_ADD_TEST(suite, an_rmw_of_a_line_shared_elsewhere_costs_the_later_of_data_and_acks);
	CU_ADD_TEST(suite, a_failed_compare_exchange_takes_the_line_all_the_same);
	CU_ADD_TEST(suite, reads_of_a_clean_line_follow_each_other_by_the_home_occupancy);
	CU_ADD_TEST(suite, lines_that_cross_at_once_share_the_link);
	CU_ADD_TEST(suite, lines_that_cross_in_opposite_directions_do_not);
	CU_ADD_TEST(suite, pairs_lie_between_low_and_high_around_the_mean);
	CU_ADD_TEST(suite, the_scale_multiplies_transfers_and_leaves_the_caches);
	CU_ADD_TEST(suite, a_latency_below_its_own_way_is_refused_by_name);
	CU_ADD_TEST(suite, a_hit_sends_nothing);
	CU_ADD_TEST(suite, a_first_get_is_a_request_and_data);
	CU_ADD_TEST(suite, a_write_over_k_sharers_is_2_messages_and_2_a_sharer);
	CU_ADD_TEST(suite, a_three_hop_read_is_4_messages);
	CU_ADD_TEST(suite, a_three_hop_write_is_3_messages_and_word_to_the_home);
	CU_ADD_TEST(suite, an_eviction_of_an_owned_line_is_2_messages);
	CU_ADD_TEST(suite, an_eviction_of_a_shared_line_is_as_its_variant_says);
	CU_ADD_TEST(suite, a_line_counts_what_was_asked_of_it);
	CU_ADD_TEST(suite, a_line_leaves_right_after_one_locked_operation);
	CU_ADD_TEST(suite, a_load_after_a_locked_operation_misses_if_another_writer_waits);
	CU_ADD_TEST(suite, a_forward_that_comes_during_the_operation_is_answered_at_its_end);
	CU_ADD_TEST(suite, fifo_serves_each_core_once_a_round);
	CU_ADD_TEST(suite, socket_batch_hands_over_within_a_socket_up_to_its_limit);
	CU_ADD_TEST(suite, random_serves_all_alike_but_in_no_fixed_order);
	CU_ADD_TEST(suite, the_seed_fixes_the_random_order);
	CU_ADD_TEST(suite, a_blocking_home_adds_its_unblock_to_every_hand_over);
	CU_ADD_TEST(suite, a_blocking_home_lets_the_holder_do_a_second_operation);
	CU_ADD_TEST(suite, no_locked_add_is_lost);
	CU_ADD_TEST(suite, storms_in_tiny_caches_lose_no_value);
	CU_ADD_TEST(suite, storms_on_one_line_lose_no_value);
	CU_ADD_TEST(suite, storms_in_large_caches_lose_no_value);
	CU_ADD_TEST(suite, storms_of_72_threads_lose_no_value);
	CU_ADD_TEST(suite, storms_on_four_sockets_lose_no_value);
	CU_ADD_TEST(suite, storms_with_legs_of_one_cycle_lose_no_value);
	CU_ADD_TEST(suite, storms_with_long_and_unequal_answers_lose_no_value);
	CU_ADD_TEST(suite, storms_on_lines_of_32_and_128_bytes_lose_no_value);
}
