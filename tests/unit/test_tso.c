/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-TSO on the timed machine: litmus tests over many start offsets, placements of variables and
 * threads, variants of the protocol, warm and cold caches, with and without evictions. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

/* A litmus test: up to four threads, each a few operations on the variables below; what each load
 * returned and each variable holds in the end, as digits. The forbidden outcomes, and how many
 * outcomes x86-TSO allows, are those of the published tests (Intel SDM vol. 3A 8.2.3; Owens,
 * Sarkar, Sewell, "A better x86 memory model: x86-TSO", 2009; herd/herdtools7, catalogue/x86), the
 * numbers counted with an operational model. */
enum variable { VAR_X, VAR_Y, VAR_Z, VAR_COUNT };

struct litmus {
	uint32_t threads;
	const char *program[4]; /* e.g. "x=1fry" */
	const char *forbidden;  /* '?' any digit; the loads in order, then x and y in the end */
	const char *relaxed; /* allowed by TSO but not by SC, so that it should be seen; or NULL */
	uint32_t outcomes;   /* that TSO allows */
};

/* Operations: x=1 a store, rx a load, X=1 an exchange (its old value is not noted), f a fence,
 * (xy) an announcement that x and y will be read in this order, and a space a pause. */
struct player {
	const char *program;
	const struct place *variables;
	uint32_t skew, pause; /* cycles */
	uint32_t warm;        /* bit k: has read variable k before; bit 4 + k: has owned it */
	char seen[8];
};

static const struct place *variable(const struct player *player, char name)
{
	return &player->variables[(name | 0x20) - 'x'];
}

static void play(struct thread *self, struct player *player)
{
	const struct place *together[4];
	uint32_t count = 0, seen = 0;

	for (const char *p = player->program; *p; p++) {
		uint64_t value = p[1] == '=' ? (uint64_t)(p[2] - '0') : 0;

		if (*p == 'f') {
			thread_fence(self);
		} else if (*p == 'r') {
			player->seen[seen++] =
				(char)('0' + thread_load(self, variable(player, *++p)));
		} else if (*p == '(') {
			for (count = 0; *++p != ')';)
				together[count++] = variable(player, *p);
			thread_together(self, together, count);
		} else if (p[1] == '=') {
			if (*p >= 'x')
				thread_store(self, variable(player, *p), value);
			else
				thread_rmw(self, variable(player, *p), RMW_XCHG, value, 0);
			p += 2;
		} else {
			thread_work(self, player->pause);
		}
	}
}

static void player_body(struct thread *self, void *argument)
{
	struct player *player = argument;

	for (int k = 0; k < VAR_COUNT; k++) {
		if (player->warm >> k & 1)
			thread_load(self, &player->variables[k]);
		if (player->warm >> (4 + k) & 1)
			thread_rmw(self, &player->variables[k], RMW_ADD, 0, 0);
	}
	thread_work(self, 2000.0 - (double)self->time + player->skew);
	play(self, player);
}

/* Where the variables lie: each in its own line, all in one, or two of them; and, in tiny caches,
 * in lines that evict one another. */
static void variables_place(struct place *variables, uint32_t placement)
{
	static const uint8_t lines[4][VAR_COUNT] = {
		{ 0, 2, 4 }, { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }
	};

	for (uint32_t k = 0; k < VAR_COUNT; k++)
		variables[k] = rig_place(lines[placement][k], 8 * k, 8);
}

/* Legs long and answers short: a load may be on its way to the home for longer than another core's
 * store takes to invalidate this core's copies. */
static void long_ways(struct fabric_timing *t)
{
	t->llc = 200;
	t->dram_local = t->dram_remote = t->clean[DISTANCE_SOCKET] = t->clean[DISTANCE_CROSS] = 60;
	t->hand_off[DISTANCE_SOCKET] = t->hand_off[DISTANCE_CROSS] = (struct spread){ 25, 25, 25 };
	t->upgrade[DISTANCE_SOCKET] = t->upgrade[DISTANCE_CROSS] = 102;
	t->dirty[DISTANCE_SOCKET][0] = t->dirty[DISTANCE_SOCKET][1] = t->dirty[DISTANCE_CROSS][0] =
		t->dirty[DISTANCE_CROSS][1] = 102;
}

/* Others, who leave all values alone: they take copies of the variables first, if asked to, and
 * then make everybody queue for one of them. */
struct crowd {
	const struct place *variables;
	uint32_t size, hammered;
	bool copies;
};

static void crowd_body(struct thread *self, void *argument)
{
	const struct crowd *crowd = argument;

	thread_work(self, 1500);
	for (uint32_t k = 0; crowd->copies && k < VAR_COUNT; k++)
		thread_load(self, &crowd->variables[k]);
	thread_work(self, 1900.0 - (double)self->time);
	while (self->time < 2400)
		thread_rmw(self, &crowd->variables[crowd->hammered], RMW_ADD, 0, 0);
}

/* CPUs of the threads: siblings, one socket, across, and mixed. */
static const uint8_t where[4][4] = {
	{ 0, 8, 1, 9 }, { 0, 1, 2, 3 }, { 0, 4, 1, 5 }, { 0, 4, 8, 1 }
};

/* Plays the test once, drawn from the stream; the outcome as digits. */
static void litmus_play(const struct litmus *litmus, struct random *random, char *outcome)
{
	struct machine_config config = rig_config_of(2, 4, 2);
	struct player players[4];
	struct place variables[VAR_COUNT];
	uint32_t cpus = (uint32_t)random_below(random, 4);
	uint32_t reach = random_below(random, 2) ? 30 : 300;
	struct crowd crowd = { .variables = variables,
			       .size = (uint32_t)random_below(random, 6),
			       .hammered = (uint32_t)random_below(random, VAR_COUNT),
			       .copies = random_below(random, 2) };

	rig_variant(&config, (uint32_t)random_below(random, RIG_VARIANTS));
	if (random_below(random, 2))
		rig_shrink(&config);
	else
		config.coherence.llc_sets = 4;
	if (random_below(random, 2))
		long_ways(&config.timing);
	config.run_ahead = random_below(random, 2);
	config.coherence.seed = random_next(random);
	crowd.size *= random_below(random, 2) != 0;
	variables_place(variables, (uint32_t)random_below(random, 4));
	struct machine *machine = rig_machine(&config);

	for (uint32_t k = 0; k < VAR_COUNT; k++)
		coherence_set_home(machine->coherence, variables[k].address,
				   (uint32_t)random_below(random, 2));
	for (uint32_t cpu = 10; cpu < 10 + crowd.size; cpu++)
		rig_thread(machine, cpu, crowd_body, &crowd);
	for (uint32_t k = 0; k < litmus->threads; k++) {
		players[k] = (struct player){ .program = litmus->program[k],
					      .variables = variables,
					      .skew = (uint32_t)random_below(random, reach),
					      .pause = (uint32_t)random_below(random, reach),
					      .warm = (uint32_t)(random_next(random) &
								 random_next(random) & 0x77) };
		rig_thread(machine, where[cpus][k], player_body, &players[k]);
	}
	rig_run(machine);
	*outcome = 0;
	for (uint32_t k = 0; k < litmus->threads; k++)
		strcat(outcome, players[k].seen);
	for (uint32_t k = 0; k < 2; k++) {
		char digit[2] = { (char)('0' + rig_value(machine, variables[k])), 0 };

		strcat(outcome, digit);
	}
	machine_free(machine);
}

static bool matches(const char *outcome, const char *pattern)
{
	for (; *pattern; pattern++, outcome++)
		if (*pattern != '?' && *pattern != *outcome)
			return false;
	return true;
}

enum { PLAYS = 2500, OUTCOMES_MAX = 64, OUTCOME_LENGTH = 40 };

static void litmus_check(const struct litmus *litmus)
{
	struct random random = random_stream(1, litmus->program[0], litmus->threads);
	char seen[OUTCOMES_MAX][OUTCOME_LENGTH], outcome[OUTCOME_LENGTH];
	uint32_t count = 0, forbidden = 0, relaxed = 0, k;

	for (int play = 0; play < PLAYS; play++) {
		litmus_play(litmus, &random, outcome);
		forbidden += litmus->forbidden && matches(outcome, litmus->forbidden);
		relaxed += litmus->relaxed && matches(outcome, litmus->relaxed);
		for (k = 0; k < count && strcmp(seen[k], outcome); k++)
			;
		if (k == count && count < OUTCOMES_MAX)
			strcpy(seen[count++], outcome);
	}
	CU_ASSERT_EQUAL(forbidden, 0);
	CU_ASSERT(count <= litmus->outcomes);
	if (litmus->relaxed)
		CU_ASSERT(relaxed > 0);
	if (forbidden || count > litmus->outcomes || (litmus->relaxed && !relaxed)) {
		printf("\n  %s | %s: %u forbidden, %u relaxed, %u outcomes of %u:",
		       litmus->program[0], litmus->program[1], forbidden, relaxed, count,
		       litmus->outcomes);
		for (k = 0; k < count; k++)
			printf(" %s", seen[k]);
		printf("\n");
	}
}

static void plain_stores_may_pass_later_loads(void)
{
	litmus_check(&(struct litmus){
		.threads = 2, .program = { "x=1 ry", "y=1 rx" }, .relaxed = "00", .outcomes = 4 });
}

static void fenced_stores_never_pass_later_loads(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1fry", "y=1frx" },
				       .forbidden = "00",
				       .outcomes = 3 });
}

static void exchanges_never_pass_later_loads(void)
{
	litmus_check(&(struct litmus){
		.threads = 2, .program = { "X=1ry", "Y=1rx" }, .forbidden = "00", .outcomes = 3 });
}

static void one_fence_is_not_enough(void)
{
	litmus_check(&(struct litmus){
		.threads = 2, .program = { "x=1fry", "y=1rx" }, .relaxed = "00", .outcomes = 4 });
}

static void forwarding_lets_a_thread_see_its_own_store_early(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1rxry", "y=1ryrx" },
				       .relaxed = "1010",
				       .outcomes = 4 });
}

static void stores_become_visible_in_order(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1 y=1", "ry rx" },
				       .forbidden = "10",
				       .outcomes = 3 });
}

static void loads_that_are_announced_stay_in_order(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1 y=1", "(yx)ry rx" },
				       .forbidden = "10",
				       .outcomes = 3 });
}

static void a_stale_copy_is_not_read_after_the_message(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1 y=1", "rx ryrx" },
				       .forbidden = "?10",
				       .outcomes = 5 });
}

static void a_stale_copy_is_not_read_early_in_a_group(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1 y=1", "rx (yx)ryrx" },
				       .forbidden = "?10",
				       .outcomes = 5 });
}

static void a_locked_reader_sees_stores_in_order(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1 y=1", "(yx)ryfrx" },
				       .forbidden = "10",
				       .outcomes = 3 });
}

static void loads_do_not_see_stores_that_come_after(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "rx y=1", "ry x=1" },
				       .forbidden = "11",
				       .outcomes = 3 });
}

static void announced_loads_do_not_see_stores_that_come_after(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "(x)rx y=1", "(y)ry x=1" },
				       .forbidden = "11",
				       .outcomes = 3 });
}

static void two_readers_agree_on_the_order_of_two_writes(void)
{
	litmus_check(&(struct litmus){ .threads = 4,
				       .program = { "x=1", "y=1", "rx ry", "ry rx" },
				       .forbidden = "1010",
				       .outcomes = 15 });
}

static void two_readers_with_announced_loads_agree_too(void)
{
	litmus_check(&(struct litmus){ .threads = 4,
				       .program = { "x=1", "y=1", "(xy)rx ry", "(yx)ryrx" },
				       .forbidden = "1010",
				       .outcomes = 15 });
}

static void two_loads_of_one_place_do_not_go_back(void)
{
	litmus_check(&(struct litmus){
		.threads = 2, .program = { "x=1", "rx rx" }, .forbidden = "10", .outcomes = 3 });
}

static void two_announced_loads_of_one_place_do_not_go_back(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1", "(xx)rx rx" },
				       .forbidden = "10",
				       .outcomes = 3 });
}

static void a_chain_of_messages_is_kept(void)
{
	litmus_check(&(struct litmus){ .threads = 3,
				       .program = { "x=1 y=1", "ry z=1", "(zx)rz rx" },
				       .forbidden = "110",
				       .outcomes = 7 });
}

static void what_a_reader_passes_on_is_visible_to_all(void)
{
	litmus_check(&(struct litmus){ .threads = 3,
				       .program = { "x=1", "rx y=1", "(yx)ryrx" },
				       .forbidden = "110",
				       .outcomes = 7 });
}

static void a_store_may_land_last_although_it_was_forwarded(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1rxry", "y=1x=2" },
				       .relaxed = "101?",
				       .outcomes = 5 });
}

static void two_pairs_of_stores_do_not_cross(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=1 y=2", "y=1 x=2" },
				       .forbidden = "11",
				       .outcomes = 3 });
}

static void a_store_after_a_load_lands_after_what_was_read(void)
{
	litmus_check(&(struct litmus){ .threads = 2,
				       .program = { "x=2 y=1", "ry x=1" },
				       .forbidden = "12?",
				       .outcomes = 3 });
}

static void the_last_store_read_is_the_one_that_stays(void)
{
	litmus_check(&(struct litmus){
		.threads = 2, .program = { "x=1rx", "x=2" }, .forbidden = "21?", .outcomes = 3 });
}

/* ---- races too rare for chance -------------------------------------------------------------- */

/* Shared data of x are on their way to the reader when the writer's invalidation comes; they are
 * older than it, and may be used only if nothing before them is still to be read:
 *
 *   core 0       together(y, x) at 1000; y waits in a queue of five
 *   core 1       x = 1 at 1003: the invalidation reaches core 0 before its data do; y = 1 joins the
 *                queue, and by chance is served before core 0
 *   cores 2-6    take copies of x, and queue for y */
struct outrun {
	uint64_t x, y;
};

static void outrun_reader(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);
	const struct place *const both[] = { &y, &x };
	struct outrun *outrun = argument;

	thread_work(self, 1000);
	thread_together(self, both, 2);
	outrun->y = thread_load(self, &y);
	outrun->x = thread_load(self, &x);
}

static void outrun_writer(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);

	(void)argument;
	thread_work(self, 1003);
	thread_store(self, &x, 1);
	thread_store(self, &y, 1);
}

static void outrun_crowd(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);

	(void)argument;
	thread_load(self, &x);
	thread_work(self, 600.0 - (double)self->time);
	while (self->time < 2000)
		thread_rmw(self, &y, RMW_ADD, 0, 0);
}

static void data_that_an_invalidation_has_outrun_are_not_kept(void)
{
	uint32_t after = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct machine_config config = rig_config_of(1, 8, 1);
		struct outrun outrun = { 0 };

		config.coherence.discipline = DISCIPLINE_RANDOM;
		config.coherence.seed = seed;
		struct machine *machine = rig_machine(&config);

		rig_thread(machine, 0, outrun_reader, &outrun);
		rig_thread(machine, 1, outrun_writer, NULL);
		for (uint32_t core = 2; core < 7; core++)
			rig_thread(machine, core, outrun_crowd, NULL);
		rig_run(machine);
		after += outrun.y == 1;
		CU_ASSERT(outrun.y == 0 || outrun.x == 1);
		machine_free(machine);
	}
	CU_ASSERT(after > 5 && after < 55); /* or the test has lost its timing */
}

/* Nor are they for a load that comes after the invalidation, when its thread may have seen what the
 * writer did next:
 *
 *   core 0   asks for x at 1000; reads y at 1500, which is new; then x, still on its way
 *   core 1   shares x and owns y; x = 1 at 1010: the invalidation reaches core 0 at once; y = 1
 *   core 2   shares x, and sends it to core 0, which takes until 3000 */
static void late_reader(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);
	const struct place *const ahead[] = { &x };
	struct outrun *outrun = argument;

	thread_work(self, 1000);
	thread_together(self, ahead, 1);
	thread_work(self, 500);
	outrun->y = thread_load(self, &y);
	outrun->x = thread_load(self, &x);
}

static void late_writer(struct thread *self, void *argument)
{
	const struct place x = rig_line(0), y = rig_line(1);

	(void)argument;
	thread_load(self, &x);
	thread_rmw(self, &y, RMW_ADD, 0, 0);
	thread_work(self, 1010.0 - (double)self->time);
	thread_store(self, &x, 1);
	thread_store(self, &y, 1);
}

static void late_sharer(struct thread *self, void *argument)
{
	const struct place x = rig_line(0);

	(void)argument;
	thread_work(self, 300);
	thread_load(self, &x);
}

static void data_that_an_invalidation_has_outrun_are_not_for_later_loads(void)
{
	struct machine_config config = rig_config_of(1, 4, 1);
	struct outrun outrun = { 0 };

	config.timing.clean[DISTANCE_SOCKET] = 2000;
	struct machine *machine = rig_machine(&config);

	rig_thread(machine, 0, late_reader, &outrun);
	rig_thread(machine, 1, late_writer, NULL);
	rig_thread(machine, 2, late_sharer, NULL);
	rig_run(machine);
	CU_ASSERT_EQUAL(outrun.y, 1);
	CU_ASSERT_EQUAL(outrun.x, 1);
	machine_free(machine);
}

void suite_tso(void)
{
	CU_pSuite suite = CU_add_suite("tso", NULL, NULL);

	CU_ADD_TEST(suite, plain_stores_may_pass_later_loads);
	CU_ADD_TEST(suite, fenced_stores_never_pass_later_loads);
	CU_ADD_TEST(suite, exchanges_never_pass_later_loads);
	CU_ADD_TEST(suite, one_fence_is_not_enough);
	CU_ADD_TEST(suite, forwarding_lets_a_thread_see_its_own_store_early);
	CU_ADD_TEST(suite, stores_become_visible_in_order);
	CU_ADD_TEST(suite, loads_that_are_announced_stay_in_order);
	CU_ADD_TEST(suite, a_stale_copy_is_not_read_after_the_message);
	CU_ADD_TEST(suite, a_stale_copy_is_not_read_early_in_a_group);
	CU_ADD_TEST(suite, a_locked_reader_sees_stores_in_order);
	CU_ADD_TEST(suite, loads_do_not_see_stores_that_come_after);
	CU_ADD_TEST(suite, announced_loads_do_not_see_stores_that_come_after);
	CU_ADD_TEST(suite, two_readers_agree_on_the_order_of_two_writes);
	CU_ADD_TEST(suite, two_readers_with_announced_loads_agree_too);
	CU_ADD_TEST(suite, two_loads_of_one_place_do_not_go_back);
	CU_ADD_TEST(suite, two_announced_loads_of_one_place_do_not_go_back);
	CU_ADD_TEST(suite, a_chain_of_messages_is_kept);
	CU_ADD_TEST(suite, what_a_reader_passes_on_is_visible_to_all);
	CU_ADD_TEST(suite, a_store_may_land_last_although_it_was_forwarded);
	CU_ADD_TEST(suite, two_pairs_of_stores_do_not_cross);
	CU_ADD_TEST(suite, a_store_after_a_load_lands_after_what_was_read);
	CU_ADD_TEST(suite, the_last_store_read_is_the_one_that_stays);
	CU_ADD_TEST(suite, data_that_an_invalidation_has_outrun_are_not_kept);
	CU_ADD_TEST(suite, data_that_an_invalidation_has_outrun_are_not_for_later_loads);
}
