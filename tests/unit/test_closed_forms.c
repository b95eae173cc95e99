/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads whose answers are known without a simulator: queueing formulas, counts, symmetries, and
 * two laws that sound true and are not. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine-repairman ------------------------------------------------------------------ */

/* N cores think for Z and then add to one line, which takes S: N customers, one server.
 *
 * A core that thinks for `think` cycles issues its request at a. It reaches the home at a + leg
 * and, if the owner has the line and is done, the owner at a + 2 leg, who answers at once: the data
 * come at a + 2 leg + own, and the operation is done at a + 2 leg + own + rmw = a + 2 leg + H, H
 * being the hand-off of the machine's description. If the line is in use, the home or the next
 * owner keeps the request; the owner before answers when its operation ends, at t, and ours is done
 * at t + H: the home learns at t' + leg that ownership moved at t' and forwards the next request
 * ahead, so that it waits at the new owner at t' + 2 leg, before the owner's operation ends at t' +
 * H. So
 *
 *     done = max(a + 2 leg, end of the one before) + H:    S = H,  Z = think + 2 leg.
 *
 * The first transfer comes from memory. An owner that comes back before anybody else has asked pays
 * neither the way nor the answer: S = rmw, Z = think. With leg = 1, own = 1 and H = 1000 that is a
 * thousandth, and happens in the exponential cases only. */
enum { LEG = 1, SERVICE = 1000, OWN = 1, THINK = 4000, WAY = 2 * LEG };

static struct machine_config repairman_config(uint32_t cores)
{
	struct machine_config config = rig_config_of(1, cores, 1);
	struct fabric_timing *t = &config.timing;

	t->llc = 4 * LEG;
	t->dram_local = t->dram_remote = 2 * SERVICE;
	t->hand_off[DISTANCE_SOCKET] = t->hand_off[DISTANCE_CROSS] =
		(struct spread){ SERVICE, SERVICE, SERVICE };
	t->home_occupancy = 0;
	config.locked_rmw = SERVICE - OWN;
	return config;
}

enum law { DETERMINISTIC, EXPONENTIAL };

struct repairman {
	enum law think, service;
	uint64_t warm, end; /* cycles between which operations are counted */
	uint64_t done;
	uint64_t last[2]; /* ends of the last two operations of the thread that ends last */
};

static void repairman_body(struct thread *self, void *argument)
{
	struct repairman *r = argument;
	const struct place place = rig_line(0);
	uint64_t before = 0, now = 0;

	while (self->time < r->end) {
		thread_work(self, r->think == EXPONENTIAL
					  ? random_exponential(&self->random, THINK - WAY)
					  : THINK - WAY);
		if (r->service == EXPONENTIAL)
			self->locked.hold = 1 + (uint64_t)llround(random_exponential(
							&self->random, SERVICE - OWN - 1));
		thread_rmw(self, &place, RMW_ADD, 1, 0);
		before = now;
		now = self->time;
		r->done += now > r->warm && now <= r->end;
	}
	r->last[0] = before;
	r->last[1] = now;
}

/* Throughput times S, the share of time that the line is in use. */
static double repairman_run(struct repairman *r, uint32_t cores, uint64_t services)
{
	struct machine_config config = repairman_config(cores);
	struct machine *machine = rig_machine(&config);

	r->warm = 50 * SERVICE * cores;
	r->end = r->warm + services * SERVICE;
	for (uint32_t k = 0; k < cores; k++)
		rig_thread(machine, k, repairman_body, r);
	rig_run(machine);
	machine_free(machine);
	return (double)(r->done * SERVICE) / (double)(r->end - r->warm);
}

/* After the transient each core is served once in max(Z + S, N S), to the cycle. */
static void deterministic_cores_come_round_in_exactly_their_period(void)
{
	for (uint32_t cores = 2; cores <= 64; cores += cores < 8 ? 1 : 14) {
		struct repairman r = { .think = DETERMINISTIC };
		uint64_t round = cores * SERVICE, free = THINK + SERVICE;

		repairman_run(&r, cores, 1000);
		CU_ASSERT_EQUAL(r.last[1] - r.last[0], round > free ? round : free);
	}
}

static void deterministic_throughput_is_on_its_asymptotes(void)
{
	for (uint32_t cores = 2; cores <= 16; cores++) {
		struct repairman r = { .think = DETERMINISTIC };
		double expected = fmin(cores * (double)SERVICE / (THINK + SERVICE), 1);

		CU_ASSERT_DOUBLE_EQUAL(repairman_run(&r, cores, 20000) / expected, 1, 0.001);
	}
}

/* Utilisation with S : Z = 100 : 400 by mean value analysis, R(n) = S (1 + Q(n-1)), X = n / (Z +
 * R), Q = X R; for any law of Z. */
static const struct {
	uint32_t cores;
	double utilisation;
} exponential_service[] = { { 2, 0.384615 }, { 3, 0.549296 }, { 4, 0.689320 },  { 5, 0.800933 },
			    { 6, 0.882838 }, { 8, 0.969580 }, { 12, 0.999358 }, { 16, 0.999996 } };

static void expect_mean_value_analysis(enum law think)
{
	for (size_t k = 0; k < sizeof(exponential_service) / sizeof(exponential_service[0]); k++) {
		struct repairman r = { .think = think, .service = EXPONENTIAL };
		double expected = exponential_service[k].utilisation;
		double got = repairman_run(&r, exponential_service[k].cores, 200000);

		CU_ASSERT_DOUBLE_EQUAL(got / expected, 1, 0.01);
		if (fabs(got / expected - 1) > 0.01)
			printf("\n  %u cores: %f, expected %f\n", exponential_service[k].cores, got,
			       expected);
	}
}

static void exponential_service_gives_mean_value_analysis(void)
{
	expect_mean_value_analysis(EXPONENTIAL);
}

static void exponential_service_does_not_feel_the_law_of_thinking(void)
{
	expect_mean_value_analysis(DETERMINISTIC);
}

/* No closed form; the figures are from an independent simulation of the queue, +- 0.001. */
static void deterministic_service_with_exponential_thinking_lies_between(void)
{
	static const struct {
		uint32_t cores;
		double utilisation;
	} known[] = { { 2, 0.391 }, { 4, 0.723 }, { 5, 0.847 }, { 8, 0.994 } };

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		struct repairman r = { .think = EXPONENTIAL };
		double got = repairman_run(&r, known[k].cores, 200000);

		CU_ASSERT_DOUBLE_EQUAL(got / known[k].utilisation, 1, 0.01);
	}
}

static void a_core_by_itself_pays_only_its_operation(void)
{
	struct repairman r = { .think = DETERMINISTIC };

	repairman_run(&r, 1, 1000);
	CU_ASSERT_EQUAL(r.last[1] - r.last[0], THINK - WAY + SERVICE - OWN);
}

/* ---- asymptotes ----------------------------------------------------------------------------- */

/* Cores that think and add, on the rig's machine, until `end`. */
struct race {
	double think;
	uint64_t end, done, fastest;
};

static void race_body(struct thread *self, void *argument)
{
	struct race *race = argument;
	const struct place place = rig_line(0);
	uint64_t mine = 0;

	for (;;) {
		thread_work(self, race->think);
		thread_rmw(self, &place, RMW_ADD, 1, 0);
		if (self->time > race->end)
			break;
		mine++;
	}
	race->done += mine;
	race->fastest = mine > race->fastest ? mine : race->fastest;
}

/* S is at least the shortest hand-off, 60; an operation takes its own request and forward, 5 each,
 * besides. Deterministic thinking keeps an owner from coming back first. */
static void no_point_crosses_an_asymptote(void)
{
	static const double thinks[] = { 0, 20, 100, 300, 1000, 5000 };

	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++)
		for (uint32_t point = 0; point < 6 * 7; point++) {
			uint32_t cores = 2 + point % 7;
			struct race race = { .think = thinks[point / 7], .end = 200000 };
			struct machine_config config = rig_config();

			rig_variant(&config, variant);
			if (config.coherence.home == HOME_BLOCKING && race.think < 100)
				continue;
			struct machine *machine = rig_machine(&config);

			for (uint32_t k = 0; k < cores; k++)
				rig_thread(machine, k, race_body, &race);
			rig_run(machine);
			CU_ASSERT(race.done * 60 <= race.end);
			CU_ASSERT((double)race.fastest * (race.think + 5 + 5 + 60) <=
				  (double)race.end);
			machine_free(machine);
		}
}

/* ---- counts and periods --------------------------------------------------------------------- */

struct round {
	uint32_t operations, start;
	struct place place;
	uint64_t last, before_last; /* ends of the last two operations */
};

static void round_body(struct thread *self, void *argument)
{
	struct round *round = argument;

	thread_work(self, round->start);
	for (uint32_t k = 0; k < round->operations; k++) {
		round->before_last = self->time;
		thread_rmw(self, &round->place, RMW_ADD, 1, 0);
	}
	round->last = self->time;
}

/* Threads on given cpus, started one after the other, each `operations` times. */
static struct machine *rounds_run(struct round *rounds, const uint32_t *cpus, uint32_t threads,
				  uint32_t operations)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);

	for (uint32_t k = 0; k < threads; k++) {
		rounds[k] = (struct round){ .operations = operations,
					    .start = k,
					    .place = rig_line(0) };
		rig_thread(machine, cpus[k], round_body, &rounds[k]);
	}
	rig_run(machine);
	return machine;
}

/* Throughput 1/S whatever N, latency N S. */
static void fetch_add_without_thinking_takes_n_hand_offs(void)
{
	static const uint32_t cpus[] = { 0, 1, 2, 3 };

	for (uint32_t cores = 2; cores <= 4; cores++) {
		struct round rounds[4];

		machine_free(rounds_run(rounds, cpus, cores, 100));
		for (uint32_t k = 0; k < cores; k++)
			CU_ASSERT_EQUAL(rounds[k].last - rounds[k].before_last, cores * 60);
	}
}

/* The start fixes the cyclic order, and with it how many hand-overs cross. */
static void fifo_over_two_sockets_crosses_as_its_order_says(void)
{
	enum { ROUNDS = 100 };
	static const uint32_t by_socket[] = { 0, 1, 4, 5 }, in_turn[] = { 0, 4, 1, 5 };
	struct round rounds[4];
	struct machine *machine = rounds_run(rounds, by_socket, 4, ROUNDS);

	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->transfers[0], 2 * ROUNDS);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->transfers[1], 2 * ROUNDS - 1);
	CU_ASSERT_EQUAL(rounds[3].last - rounds[3].before_last, 2 * 60 + 2 * 130);
	machine_free(machine);
	machine = rounds_run(rounds, in_turn, 4, ROUNDS);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->transfers[0], 0);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->transfers[1], 4 * ROUNDS - 1);
	CU_ASSERT_EQUAL(rounds[3].last - rounds[3].before_last, 4 * 130);
	machine_free(machine);
}

/* The core's rate, not the line's: one operation after the other, 18 cycles each. */
static void two_siblings_send_nothing_after_the_first_miss(void)
{
	static const uint32_t cpus[] = { 0, 8 };
	struct round rounds[2];
	struct machine *machine = rounds_run(rounds, cpus, 2, 100);
	const struct line_counts *counts = rig_counts(machine, rig_line(0));
	uint64_t last = rounds[0].last > rounds[1].last ? rounds[0].last : rounds[1].last;

	CU_ASSERT_EQUAL(counts->reads + counts->owns + counts->upgrades, 1);
	CU_ASSERT_EQUAL(counts->transfers[0] + counts->transfers[1], 0);
	CU_ASSERT_EQUAL(last, 80 + 200 * 18);
	machine_free(machine);
}

static void private_lines_cost_one_miss_and_then_hits(void)
{
	enum { OPERATIONS = 100, CORES = 8 };
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct round rounds[CORES];

	for (uint32_t k = 0; k < CORES; k++) {
		rounds[k] = (struct round){ .operations = OPERATIONS, .place = rig_line(k) };
		coherence_set_home(machine->coherence, rig_line(k).address, k / RIG_CORES);
		rig_thread(machine, k, round_body, &rounds[k]);
	}
	rig_run(machine);
	CU_ASSERT_EQUAL(rig_messages(machine), 2 * CORES);
	for (uint32_t k = 0; k < CORES; k++)
		CU_ASSERT_EQUAL(rounds[k].last, 80 + OPERATIONS * 18);
	machine_free(machine);
}

static struct rig_step step(uint32_t cpu, enum rig_operation operation)
{
	return (struct rig_step){
		.cpu = cpu, .operation = operation, .place = rig_line(0), .operand = 1
	};
}

static void readers_without_a_writer_miss_once_each(void)
{
	enum { READERS = 8, ROUNDS = 3 };
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct rig_step steps[READERS * ROUNDS];

	for (uint32_t k = 0; k < READERS * ROUNDS; k++)
		steps[k] = step(k % READERS, RIG_LOAD);
	rig_serial(machine, steps, READERS * ROUNDS);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->reads, READERS);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->memory, 1);
	CU_ASSERT_EQUAL(rig_counts(machine, rig_line(0))->owns, 0);
	for (uint32_t k = READERS; k < READERS * ROUNDS; k++)
		CU_ASSERT_EQUAL(steps[k].cycles, 4);
	machine_free(machine);
}

/* A write: one upgrade, N invalidations, N reads, of which the first finds it dirty. */
static void a_writer_and_polling_readers_cost_what_the_protocol_says(void)
{
	enum { READERS = 5, WRITES = 10, STEPS = WRITES * (READERS + 1) };
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct rig_step steps[STEPS];

	for (uint32_t k = 0; k < STEPS; k++)
		steps[k] = step(k % (READERS + 1), k % (READERS + 1) ? RIG_LOAD : RIG_ADD);
	rig_serial(machine, steps, STEPS);
	const struct line_counts *counts = rig_counts(machine, rig_line(0));

	CU_ASSERT_EQUAL(counts->owns, WRITES);
	CU_ASSERT_EQUAL(counts->upgrades, WRITES - 1);
	CU_ASSERT_EQUAL(counts->invalidations, (WRITES - 1) * READERS);
	CU_ASSERT_EQUAL(counts->reads, WRITES * READERS);
	CU_ASSERT_EQUAL(counts->hitm[0] + counts->hitm[1], WRITES);
	CU_ASSERT_EQUAL(counts->transfers[0] + counts->transfers[1], WRITES * READERS);
	machine_free(machine);
}

/* ---- symmetries ----------------------------------------------------------------------------- */

/* A fixed program: a hot counter, a line of one's own, and where asked for a flag that all read and
 * sometimes write, and a word. */
struct walk {
	uint32_t start, rounds, base, number;
	bool flags;
	struct place word;
	uint64_t time, wait;
};

static void walk_body(struct thread *self, void *argument)
{
	struct walk *walk = argument;
	const struct place hot = rig_line(walk->base), flag = rig_line(walk->base + 1),
			   own = rig_line(walk->base + 2 + walk->number);

	thread_work(self, walk->start);
	for (uint32_t k = 0; k < walk->rounds; k++) {
		thread_rmw(self, &hot, RMW_ADD, 1, 0);
		if (walk->flags)
			thread_load(self, &flag);
		thread_store(self, &own, k);
		if (walk->word.size)
			thread_store(self, &walk->word, k);
		if (walk->flags && k % 16 == walk->number)
			thread_store(self, &flag, k);
		thread_work(self, 40);
	}
	thread_fence(self);
	walk->time = self->time;
	walk->wait = self->wait_cycles;
}

enum { WALKERS = 4 };

/* Runs the walkers on the cpus, the shared lines homed in `home`. Returns the machine. */
static struct machine *walk_run(struct walk *walks, const uint32_t *cpus, uint32_t home)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);

	for (uint32_t k = 0; k < 2 + WALKERS; k++)
		coherence_set_home(machine->coherence, rig_line(walks[0].base + k).address, home);
	for (uint32_t k = 0; k < WALKERS; k++) {
		walks[k].number = k;
		rig_thread(machine, cpus[k], walk_body, &walks[k]);
	}
	rig_run(machine);
	return machine;
}

static void walks_make(struct walk *walks, uint32_t apart, bool flags, uint32_t base)
{
	for (uint32_t k = 0; k < WALKERS; k++)
		walks[k] = (struct walk){
			.start = k * apart, .rounds = 300, .flags = flags, .base = base
		};
}

static void expect_equal_walks(const struct walk *a, const struct walk *b)
{
	for (uint32_t k = 0; k < WALKERS; k++) {
		CU_ASSERT_EQUAL(a[k].time, b[k].time);
		CU_ASSERT_EQUAL(a[k].wait, b[k].wait);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct walk *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time ? -1 : 1)
				  : (x->wait > y->wait) - (x->wait < y->wait);
}

/* A tie goes to the lower core, so that costs may change places: sorted, they are the same. With
 * programs that differ, or invalidations sent in the order of numbers, not even the totals need be.
 */
static void renumbering_cores_under_fifo_changes_no_total(void)
{
	static const uint32_t cpus[][WALKERS] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 }, { 1, 3, 0, 2 }
	};

	for (uint32_t apart = 0; apart <= 17; apart += 17) {
		struct walk first[WALKERS] = { 0 }, other[WALKERS] = { 0 };
		struct line_counts counts;

		for (size_t k = 0; k < sizeof(cpus) / sizeof(cpus[0]); k++) {
			struct walk *walks = k ? other : first;

			walks_make(walks, apart, false, 0);
			struct machine *machine = walk_run(walks, cpus[k], 0);

			if (!k)
				counts = *rig_counts(machine, rig_line(0));
			qsort(walks, WALKERS, sizeof(*walks), by_time);
			expect_equal_walks(first, walks);
			CU_ASSERT_EQUAL(
				memcmp(&counts, rig_counts(machine, rig_line(0)), sizeof(counts)),
				0);
			machine_free(machine);
		}
	}
}

static void exchanging_the_sockets_changes_nothing(void)
{
	static const uint32_t here[] = { 0, 1, 4, 5 }, there[] = { 4, 5, 0, 1 };
	struct walk a[WALKERS], b[WALKERS];

	walks_make(a, 17, false, 0);
	walks_make(b, 17, false, 0);
	machine_free(walk_run(a, here, 0));
	machine_free(walk_run(b, there, 1));
	expect_equal_walks(a, b);
}

/* Sets of L1, L2 and LLC repeat after 256 lines. */
static void shifting_all_addresses_by_whole_sets_changes_nothing(void)
{
	static const uint32_t cpus[] = { 0, 1, 4, 5 };
	struct walk a[WALKERS], b[WALKERS];

	walks_make(a, 17, true, 0);
	walks_make(b, 17, true, 256 * 37);
	machine_free(walk_run(a, cpus, 0));
	machine_free(walk_run(b, cpus, 0));
	expect_equal_walks(a, b);
}

/* Bytes beside those that are accessed, or anywhere else, may hold what they will. */
static void a_field_that_nobody_touches_may_lie_anywhere(void)
{
	static const uint32_t places[] = { 8, 16, 56, 64 * 100, 64 * 4096 + 24 };
	uint64_t value = 0x123456789, fingerprint[5];

	for (int k = 0; k < 5; k++) {
		struct machine_config config = rig_config();
		struct machine *machine = rig_machine(&config);
		struct walk walks[WALKERS];

		walks_make(walks, 17, true, 0);
		coherence_poke(machine->coherence, rig_line(0).address + places[k], &value, 8);
		for (uint32_t t = 0; t < WALKERS; t++) {
			walks[t].number = t;
			rig_thread(machine, t, walk_body, &walks[t]);
		}
		rig_run(machine);
		value = 0;
		coherence_poke(machine->coherence, rig_line(0).address + places[k], &value, 8);
		fingerprint[k] = 0;
		for (uint32_t t = 0; t < WALKERS; t++)
			fingerprint[k] = fingerprint[k] * 31 + walks[t].time * 7 + walks[t].wait;
		CU_ASSERT_EQUAL(fingerprint[k], fingerprint[0]);
		machine_free(machine);
	}
}

/* To the caches a word is a word of its line, whoever else writes to it. */
static void false_sharing_costs_as_much_as_true_sharing(void)
{
	static const uint32_t cpus[] = { 0, 1, 4, 5 };
	struct walk shared[WALKERS], apart[WALKERS];

	walks_make(shared, 17, true, 0);
	walks_make(apart, 17, true, 0);
	for (uint32_t k = 0; k < WALKERS; k++) {
		shared[k].word = rig_place(60, 0, 8);
		apart[k].word = rig_place(60, 8 * k, 8);
	}
	machine_free(walk_run(shared, cpus, 0));
	machine_free(walk_run(apart, cpus, 0));
	expect_equal_walks(shared, apart);
}

static void doubling_a_run_doubles_its_counts(void)
{
	static const uint32_t cpus[] = { 0, 1, 4, 5 };
	struct line_counts counts[2];
	struct round rounds[4];

	for (uint32_t k = 0; k < 2; k++) {
		struct machine *machine = rounds_run(rounds, cpus, 4, 500u << k);

		counts[k] = *rig_counts(machine, rig_line(0));
		machine_free(machine);
	}
	CU_ASSERT_EQUAL(counts[1].owns, 2 * counts[0].owns);
	CU_ASSERT_EQUAL(counts[1].transfers[0], 2 * counts[0].transfers[0]);
	CU_ASSERT_DOUBLE_EQUAL((double)counts[1].transfers[1], 2.0 * (double)counts[0].transfers[1],
			       1.1);
	CU_ASSERT_DOUBLE_EQUAL((double)counts[1].queued / (double)counts[0].queued, 2, 0.01);
	CU_ASSERT_DOUBLE_EQUAL((double)counts[1].busy / (double)counts[0].busy, 2, 0.01);
}

/* ---- what is not a law ---------------------------------------------------------------------- */

struct fields {
	uint32_t stride; /* bytes from one field to the next */
	bool write;
	uint64_t time;
};

enum { FIELDS = 8 };

/* Each thread's field alone if it writes, else all of them, over and over. */
static void fields_body(struct thread *self, void *argument)
{
	struct fields *fields = argument;

	for (uint32_t k = 0; k < 100 * FIELDS; k++) {
		uint32_t at = (fields->write ? self->number : k % FIELDS) * fields->stride;
		const struct place place = rig_place(at / RIG_LINE, at % RIG_LINE, 8);

		if (fields->write)
			thread_rmw(self, &place, RMW_ADD, 1, 0);
		else
			thread_load(self, &place);
	}
	fields->time = self->time > fields->time ? self->time : fields->time;
}

static uint64_t fields_time(const struct machine_config *config, struct fields fields,
			    uint32_t threads)
{
	struct machine *machine = rig_machine(config);

	for (uint32_t k = 0; k < threads; k++)
		rig_thread(machine, k, fields_body, &fields);
	rig_run(machine);
	machine_free(machine);
	return fields.time;
}

static void padding_helps_where_writers_share_a_line(void)
{
	struct machine_config config = rig_config();
	struct fields packed = { .stride = 8, .write = true };
	struct fields padded = { .stride = RIG_LINE, .write = true };

	CU_ASSERT(fields_time(&config, padded, 4) < fields_time(&config, packed, 4));
}

static void padding_makes_slower_where_the_cache_is_too_small(void)
{
	struct machine_config config = rig_config();
	struct fields packed = { .stride = 8 }, padded = { .stride = RIG_LINE };

	rig_shrink(&config);
	CU_ASSERT(fields_time(&config, padded, 1) > 2 * fields_time(&config, packed, 1));
}

/* Threads that add to a few lines in a random order; the end of the last. */
struct tangle {
	uint32_t lines, operations;
	uint64_t seed, time;
};

static void tangle_body(struct thread *self, void *argument)
{
	struct tangle *tangle = argument;
	struct random random = random_stream(tangle->seed, "test.tangle", self->number);

	for (uint32_t k = 0; k < tangle->operations; k++) {
		const struct place place = rig_line((uint32_t)random_below(&random, tangle->lines));

		thread_work(self, (double)random_below(&random, 150));
		thread_rmw(self, &place, RMW_ADD, 1, 0);
	}
	tangle->time = self->time > tangle->time ? self->time : tangle->time;
}

static uint64_t tangle_time(uint64_t seed, uint32_t lines, double hand_off)
{
	struct tangle tangle = { .lines = lines, .operations = 40, .seed = seed };
	struct machine_config config = rig_config();

	config.timing.hand_off[DISTANCE_SOCKET] = (struct spread){ hand_off, hand_off, hand_off };
	struct machine *machine = rig_machine(&config);

	for (uint32_t k = 0; k < 3; k++)
		rig_thread(machine, k, tangle_body, &tangle);
	rig_run(machine);
	machine_free(machine);
	return tangle.time;
}

/* One thread that comes earlier to a line can make others come later to theirs. */
static void a_shorter_latency_may_make_a_run_longer(void)
{
	uint32_t longer = 0;

	for (uint64_t seed = 0; seed < 100; seed++)
		longer += tangle_time(seed, 3, 60) > tangle_time(seed, 3, 61);
	CU_ASSERT(longer > 0);
}

static void a_shorter_latency_makes_no_run_on_one_fifo_line_longer(void)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		uint64_t last = 0;

		for (double hand_off = 40; hand_off <= 100; hand_off += 5) {
			uint64_t time = tangle_time(seed, 1, hand_off);

			CU_ASSERT(time >= last);
			last = time;
		}
	}
}

void suite_closed_forms(void)
{
	CU_pSuite suite = CU_add_suite("closed_forms", NULL, NULL);

	CU_ADD_TEST(suite, deterministic_cores_come_round_in_exactly_their_period);
	CU_ADD_TEST(suite, deterministic_throughput_is_on_its_asymptotes);
	CU_ADD_TEST(suite, exponential_service_gives_mean_value_analysis);
	CU_ADD_TEST(suite, exponential_service_does_not_feel_the_law_of_thinking);
	CU_ADD_TEST(suite, deterministic_service_with_exponential_thinking_lies_between);
	CU_ADD_TEST(suite, a_core_by_itself_pays_only_its_operation);
	CU_ADD_TEST(suite, no_point_crosses_an_asymptote);
	CU_ADD_TEST(suite, fetch_add_without_thinking_takes_n_hand_offs);
	CU_ADD_TEST(suite, fifo_over_two_sockets_crosses_as_its_order_says);
	CU_ADD_TEST(suite, two_siblings_send_nothing_after_the_first_miss);
	CU_ADD_TEST(suite, private_lines_cost_one_miss_and_then_hits);
	CU_ADD_TEST(suite, readers_without_a_writer_miss_once_each);
	CU_ADD_TEST(suite, a_writer_and_polling_readers_cost_what_the_protocol_says);
	CU_ADD_TEST(suite, renumbering_cores_under_fifo_changes_no_total);
	CU_ADD_TEST(suite, exchanging_the_sockets_changes_nothing);
	CU_ADD_TEST(suite, shifting_all_addresses_by_whole_sets_changes_nothing);
	CU_ADD_TEST(suite, a_field_that_nobody_touches_may_lie_anywhere);
	CU_ADD_TEST(suite, false_sharing_costs_as_much_as_true_sharing);
	CU_ADD_TEST(suite, doubling_a_run_doubles_its_counts);
	CU_ADD_TEST(suite, padding_helps_where_writers_share_a_line);
	CU_ADD_TEST(suite, padding_makes_slower_where_the_cache_is_too_small);
	CU_ADD_TEST(suite, a_shorter_latency_may_make_a_run_longer);
	CU_ADD_TEST(suite, a_shorter_latency_makes_no_run_on_one_fifo_line_longer);
}
