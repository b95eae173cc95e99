/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random cases from seeds: that they hold, that they fail where a mistake is planted, and that what
 * fails is made small and comes back from the printed command. Then the watchdog. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include "check/storm_case.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 600, COMMAND = 1024 };

/* A case with settings, one string with a blank after each. */
static struct storm_case case_of(uint64_t seed, const char *settings)
{
	struct storm_case storm = storm_case(seed);
	struct error error = { "" };
	char setting[64];
	int length;

	for (; sscanf(settings, " %63s%n", setting, &length) == 1; settings += length)
		CU_ASSERT_FATAL(storm_hold(&storm, setting, &error));
	return storm;
}

static void report(struct storm_case *storm, struct storm_result *result)
{
	char command[COMMAND];

	storm_command(storm, command, sizeof(command));
	printf("\n  %s\n  %s\n", command, result->error.text);
	storm_shrink(storm, result, ATTEMPTS);
	storm_command(storm, command, sizeof(command));
	printf("  in short: %s\n  %s\n", command, result->error.text);
}

static void expect_held(uint64_t first, uint32_t count, const char *settings)
{
	uint32_t failed = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct storm_case storm = case_of(seed, settings);
		struct storm_result result;

		if (!storm_run(&storm, &result) && failed++ == 0)
			report(&storm, &result);
	}
	CU_ASSERT_EQUAL(failed, 0);
}

/* ---- that cases hold ------------------------------------------------------------------------ */

static void cases_of_few_threads_hold(void)
{
	expect_held(1, 1500, "threads=2..8 accesses=1..150");
}

static void cases_of_any_size_hold(void)
{
	expect_held(5000, 60, "");
}

static void cases_of_256_threads_hold(void)
{
	expect_held(6000, 2, "threads=256 accesses=40");
}

static void cases_in_which_all_lines_meet_in_one_set_hold(void)
{
	expect_held(7000, 300,
		    "threads=2..12 lines=8 conflict=yes l1=1..2 l2=1..2 accesses=1..100");
}

/* Each found a mistake of the simulator's own: copies of which nothing was left but loads that waited
 * kept the ways of a set. */
static void cases_that_failed_once_hold(void)
{
	expect_held(295, 1,
		    "accesses=34 threads=10..40 lines=8 smt=2..4 roles=18 deeds=2 hot=0 "
		    "conflict=no line=32 l2=1..3 atomics=far batch=7 stores=1 loads=5 transfer=20 "
		    "acks=0 memory=389 late=0");
	expect_held(291, 1,
		    "accesses=86 threads=20..60 lines=4..8 smt=2 roles=16 deeds=10 work=1 line=32 "
		    "l2=3 atomics=far batch=1 stores=1 loads=5..12 memory=0 late=0");
}

/* ---- that a case is its seed and its settings ----------------------------------------------- */

static void a_seed_gives_the_same_run_again_and_another_seed_another(void)
{
	uint64_t last = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct storm_case storm = case_of(seed, "threads=2..8");
		struct storm_result first, again;

		storm_run(&storm, &first);
		storm_run(&storm, &again);
		CU_ASSERT_EQUAL(memcmp(&first, &again, sizeof(first)), 0);
		CU_ASSERT_NOT_EQUAL(first.fingerprint, last);
		last = first.fingerprint;
	}
}

static void holding_a_knob_moves_no_other(void)
{
	struct storm_case free = storm_case(7), held = case_of(7, "threads=5 eviction=exact");

	for (int k = 0; k < STORM_KNOB_COUNT; k++)
		if (k != KNOB_threads && k != KNOB_eviction)
			CU_ASSERT_EQUAL(storm_knob(&free, (enum storm_knob)k),
					storm_knob(&held, (enum storm_knob)k));
	CU_ASSERT_EQUAL(storm_knob(&held, KNOB_threads), 5);
	CU_ASSERT_EQUAL(storm_knob(&held, KNOB_eviction), EVICTION_EXACT);
}

static void every_value_of_a_knob_is_drawn_and_no_other(void)
{
	bool seen[4] = { false };

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct storm_case storm = case_of(seed, "lines=3..6");
		uint32_t lines = storm_knob(&storm, KNOB_lines);

		CU_ASSERT_FATAL(lines >= 3 && lines <= 6);
		seen[lines - 3] = true;
	}
	CU_ASSERT(seen[0] && seen[1] && seen[2] && seen[3]);
}

static void a_command_brings_the_case_back(void)
{
	struct storm_case storm = case_of(99, "threads=2..9 home=blocking protocol=moesi line=128");
	char command[COMMAND];
	struct storm_result first, again;

	storm_command(&storm, command, sizeof(command));
	CU_ASSERT_STRING_EQUAL(command,
			       "hitm check --storm 99 threads=2..9 line=128 protocol=moesi "
			       "home=blocking");
	storm_run(&storm, &first);
	storm = case_of(99, strstr(command, "99") + 3);
	storm_run(&storm, &again);
	CU_ASSERT_EQUAL(first.fingerprint, again.fingerprint);
}

static void settings_that_do_not_exist_are_refused(void)
{
	static const char *const wrong[] = {
		"thread=2", "threads",      "threads=",    "threads=1",     "threads=257",
		"=2",       "threads=5..4", "threads=2..", "threads=-2",    "home=late",
		"home=",    "home=1",       "lines=1..9",  "threads=2 3",   "threads=99999999999",
		"",         "line=64..32",  "line=12",     "discipline=fi", "eviction=silent exact",
	};

	for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		struct storm_case storm = storm_case(1), before = storm;
		struct error error = { "" };

		CU_ASSERT(!storm_hold(&storm, wrong[k], &error));
		CU_ASSERT_NOT_EQUAL(error.text[0], 0);
		CU_ASSERT_EQUAL(memcmp(&storm, &before, sizeof(storm)), 0);
	}
}

/* ---- planted mistakes ----------------------------------------------------------------------- */

static struct protocol_row *cache_row(struct coherence *coherence, enum cache_state state,
				      enum cache_event event)
{
	return &coherence->protocol.cache[state][event];
}

static void no_ack_for_an_invalidation(struct coherence *coherence, void *context)
{
	(void)context;
	cache_row(coherence, STATE_S, EVENT_Inv)->actions &= ~(1u << ACTION_sInvAck);
}

static void no_unblock(struct coherence *coherence, void *context)
{
	(void)context;
	coherence->protocol.home[STATE_BM][EVENT_UnblockLast].next = STATE_BM;
}

static void a_copy_stays_with_the_old_owner(struct coherence *coherence, void *context)
{
	struct protocol_row *row = cache_row(coherence, STATE_M, EVENT_FwdGetM);

	(void)context;
	row->next = STATE_S;
	row->actions &= ~(1u << ACTION_drop);
}

static void the_old_owner_goes_on_writing(struct coherence *coherence, void *context)
{
	(void)context;
	cache_row(coherence, STATE_M, EVENT_FwdGetM)->next = STATE_M;
}

static void a_lost_upgrade_keeps_its_copy(struct coherence *coherence, void *context)
{
	(void)context;
	cache_row(coherence, STATE_SM_AD, EVENT_Inv)->next = STATE_SM_AD;
}

static void the_home_ignores_what_is_put(struct coherence *coherence, void *context)
{
	(void)context;
	coherence->protocol.home[STATE_HM][EVENT_PutOwnerM].actions &= ~(1u << ACTION_put);
}

static void no_row_for_the_last_ack(struct coherence *coherence, void *context)
{
	(void)context;
	cache_row(coherence, STATE_IM_A, EVENT_LastInvAck)->valid = false;
}

static void nothing_lost(void *context, uint32_t core, uint64_t line_address)
{
	(void)context;
	(void)core;
	(void)line_address;
}

/* Loads in flight keep values that have been overwritten since. */
static void loads_are_not_done_again(struct coherence *coherence, void *context)
{
	(void)context;
	coherence->client.lost = nothing_lost;
}

static const struct planted {
	void (*plant)(struct coherence *, void *);
	enum storm_verdict verdict;
	const char *settings;
	uint32_t accesses; /* a thread, at most, once made small */
} planted[] = {
	{ no_ack_for_an_invalidation, STORM_STUCK, "atomics=near", 5 },
	{ no_unblock, STORM_STUCK, "home=blocking atomics=near", 5 },
	{ a_copy_stays_with_the_old_owner, STORM_COPIES, "atomics=near", 5 },
	{ a_lost_upgrade_keeps_its_copy, STORM_COPIES, "atomics=near", 5 },
	{ the_home_ignores_what_is_put, STORM_STALE, "lines=8 conflict=yes threads=2..12", 50 },
	{ no_row_for_the_last_ack, STORM_PROTOCOL, "atomics=near", 5 },
	{ loads_are_not_done_again, STORM_WRONG,
	  "roles=2 deeds=2 threads=4..8 accesses=300 lines=4..8 memory=200..400 loads=8..12 "
	  "retain=0 "
	  "migratory=no",
	  200 },
};

/* The first case of this kind that fails. */
static struct storm_case find_failure(const struct planted *mistake, struct storm_result *result)
{
	struct storm_case storm;
	uint64_t seed = 0;

	do {
		storm = case_of(++seed, mistake->settings);
		storm.prepare = mistake->plant;
		storm_run(&storm, result);
	} while (result->verdict != mistake->verdict && seed < 2000);
	return storm;
}

static void planted_mistakes_are_found_for_what_they_are(void)
{
	for (size_t k = 0; k < sizeof(planted) / sizeof(planted[0]); k++) {
		struct storm_result result;

		find_failure(&planted[k], &result);
		CU_ASSERT_EQUAL(result.verdict, planted[k].verdict);
		CU_ASSERT_NOT_EQUAL(result.error.text[0], 0);
	}
}

static void what_fails_is_made_small_and_replayed(void)
{
	for (size_t k = 0; k < sizeof(planted) / sizeof(planted[0]); k++) {
		struct storm_result result, again;
		struct storm_case storm = find_failure(&planted[k], &result);
		char command[COMMAND];

		CU_ASSERT(storm_shrink(&storm, &result, ATTEMPTS) <= ATTEMPTS);
		CU_ASSERT_EQUAL(result.verdict, planted[k].verdict);
		CU_ASSERT(storm_knob(&storm, KNOB_threads) <= 8);
		CU_ASSERT(storm_knob(&storm, KNOB_accesses) <= planted[k].accesses);
		CU_ASSERT((size_t)storm_command(&storm, command, sizeof(command)) < COMMAND);
		const char *settings = strchr(command + strlen("hitm check --storm "), ' ');

		storm = case_of(storm.seed, settings ? settings : "");
		storm.prepare = planted[k].plant;
		storm_run(&storm, &again);
		CU_ASSERT_EQUAL(memcmp(&result, &again, sizeof(result)), 0);
	}
}

/* Without the golden memory: the roles must notice by themselves. */
static bool notices(uint32_t roles, void (*plant)(struct coherence *, void *), uint64_t seed)
{
	struct machine_config config = rig_config();
	struct error error = { "" };
	const struct storm_plan plan = { .threads = 6,
					 .objects = 10,
					 .steps = 200,
					 .base = rig_line(0).address,
					 .stride = STORM_OBJECT,
					 .roles = roles,
					 .cpu_step = 1 };

	rig_shrink(&config);
	config.coherence.paranoid = false;
	config.coherence.seed = seed;
	struct machine *machine = rig_machine(&config);
	struct storm *storm = storm_new(&plan, machine, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(storm);
	if (plant)
		plant(machine->coherence, NULL);
	bool held = machine_run(machine, &error) &&
		    (machine->stop || machine_rest(machine, &error)) && storm_held(storm, &error);

	storm_free(storm);
	machine_free(machine);
	return !held;
}

static void each_role_notices_lost_stores(void)
{
	for (uint32_t role = 0; role < STORM_ROLES; role++) {
		uint32_t lost = 0, kept = 0;

		for (uint64_t seed = 0; seed < 10; seed++) {
			lost += notices(1u << role, the_home_ignores_what_is_put, seed);
			kept += notices(1u << role, the_old_owner_goes_on_writing, seed);
			CU_ASSERT(!notices(1u << role, NULL, seed));
		}
		CU_ASSERT(lost >= 5);
		CU_ASSERT(kept >= 5);
	}
}

/* ---- the watchdog --------------------------------------------------------------------------- */

/* Both go on for ever. */
static void add_for_ever(struct thread *self, void *argument)
{
	const struct place *counter = argument;

	for (;;)
		thread_rmw(self, counter, RMW_ADD, 1, 0);
}

static void add_at(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0);

	thread_work(self, *(const uint32_t *)argument);
	thread_rmw(self, &counter, RMW_ADD, 1, 0);
}

static void load_at(struct thread *self, void *argument)
{
	const struct place counter = rig_line(0);

	thread_work(self, *(const uint32_t *)argument);
	thread_load(self, &counter);
}

/* Runs a machine that must end in a defect; what it says. */
static struct error run_into_defect(struct machine *machine)
{
	struct error error = { "" };

	CU_ASSERT(!machine_run(machine, &error));
	CU_ASSERT_EQUAL(machine->coherence->defect_kind, DEFECT_STUCK);
	machine_free(machine);
	return error;
}

static void expect_says(const struct error *error, const char *text)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(error->text, text));
	if (!strstr(error->text, text))
		printf("\n  \"%s\" lacks \"%s\"\n", error->text, text);
}

/* Cores 1 and 2 share the line; core 0 asks for it at 1000, its request is 5 cycles on the way. */
static void a_lost_ack_is_reported_when_nothing_else_is_under_way(void)
{
	static uint32_t early = 0, later = 500, last = 1000;
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);

	no_ack_for_an_invalidation(machine->coherence, NULL);
	rig_thread(machine, 0, add_at, &last);
	rig_thread(machine, 1, load_at, &early);
	rig_thread(machine, 2, load_at, &later);
	struct error error = run_into_defect(machine);

	expect_says(&error, "core 0 has waited to write since cycle 1000, in IM_A");
	expect_says(&error, "line 0x100000, home HM, owner 0, 0 waiting;");
}

static void a_lost_ack_is_reported_while_other_threads_go_on(void)
{
	static uint32_t early = 0, later = 500, last = 1000;
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct place other = rig_line(1);

	no_ack_for_an_invalidation(machine->coherence, NULL);
	rig_thread(machine, 0, add_at, &last);
	rig_thread(machine, 1, load_at, &early);
	rig_thread(machine, 2, load_at, &later);
	rig_thread(machine, 3, add_for_ever, &other);
	rig_thread(machine, 4, add_for_ever, &other);
	struct error error = run_into_defect(machine);

	expect_says(&error, "core 0 has waited to write since cycle 1000, in IM_A");
}

static void a_lost_unblock_is_reported_with_all_who_wait(void)
{
	static uint32_t start[12];
	struct machine_config config = rig_config_of(1, 12, 1);

	config.coherence.home = HOME_BLOCKING;
	struct machine *machine = rig_machine(&config);

	no_unblock(machine->coherence, NULL);
	for (uint32_t k = 0; k < 12; k++) {
		start[k] = 1000 * k;
		rig_thread(machine, k, add_at, &start[k]);
	}
	struct error error = run_into_defect(machine);

	expect_says(&error, "core 1 has waited to write since cycle 1000, in IM_AD");
	expect_says(&error, "home BM, owner 0, 11 waiting: 1 GetM since 1005, 2 GetM since 2005, ");
	expect_says(&error, ", 8 GetM since 8005;");
	CU_ASSERT_PTR_NULL(strstr(error.text, "9 GetM"));
}

/* The thread itself does not wait: its store does. */
static void store_and_go_on(struct thread *self, void *argument)
{
	const struct place stored = rig_line(0), other = *(const struct place *)argument;

	thread_work(self, 1000);
	thread_store(self, &stored, 1);
	for (;;)
		thread_load(self, &other);
}

static void a_store_that_never_leaves_its_buffer_is_reported(void)
{
	static uint32_t early = 0, later = 500;
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct place other = rig_line(1);

	no_ack_for_an_invalidation(machine->coherence, NULL);
	rig_thread(machine, 0, store_and_go_on, &other);
	rig_thread(machine, 1, load_at, &early);
	rig_thread(machine, 2, load_at, &later);
	rig_thread(machine, 3, add_for_ever, &other);
	struct error error = run_into_defect(machine);

	expect_says(&error, "core 0 has waited to write since cycle 1000, in IM_A");
}

static void store_to_many_lines(struct thread *self, void *argument)
{
	(void)argument;
	for (uint32_t k = 0; k < 20; k++) {
		struct place place = rig_line(k);

		thread_store(self, &place, k);
	}
	thread_fence(self);
}

/* No thread waits, but an eviction has no end. */
static void what_is_left_over_at_the_end_is_reported(void)
{
	struct machine_config config = rig_config();
	struct error error = { "" };

	rig_shrink(&config);
	struct machine *machine = rig_machine(&config);

	machine->coherence->protocol.home[STATE_HM][EVENT_PutOwnerM].actions &= ~(1u << ACTION_ack);
	rig_thread(machine, 0, store_to_many_lines, NULL);
	CU_ASSERT(machine_run(machine, &error));
	CU_ASSERT(!machine_rest(machine, &error));
	expect_says(&error, "core 0 is left in MI_A, and nothing is under way");
	machine_free(machine);
}

static void wait_for_signal(struct thread *self, void *argument)
{
	(void)argument;
	thread_await(self);
}

static void work_long_and_signal(struct thread *self, void *argument)
{
	const struct place place = rig_line(0);

	for (int k = 0; k < 100000; k++) {
		thread_rmw(self, &place, RMW_ADD, 1, 0);
		thread_work(self, 1000);
	}
	thread_signal(self, *(struct thread **)argument);
}

/* 10^8 cycles, while others keep the queue busy. */
static void a_long_wait_for_another_thread_is_no_defect(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct thread *sleeper = rig_thread(machine, 0, wait_for_signal, NULL);
	struct error error = { "" };

	rig_thread(machine, 1, work_long_and_signal, &sleeper);
	rig_thread(machine, 2, work_long_and_signal, &sleeper);
	CU_ASSERT(machine_run(machine, &error));
	CU_ASSERT(sleeper->time > 100000000);
	machine_free(machine);
}

void suite_storm(void)
{
	CU_pSuite suite = CU_add_suite("storm", NULL, NULL);

	CU_ADD_TEST(suite, cases_of_few_threads_hold);
	CU_ADD_TEST(suite, cases_of_any_size_hold);
	CU_ADD_TEST(suite, cases_of_256_threads_hold);
	CU_ADD_TEST(suite, cases_in_which_all_lines_meet_in_one_set_hold);
	CU_ADD_TEST(suite, cases_that_failed_once_hold);
	CU_ADD_TEST(suite, a_seed_gives_the_same_run_again_and_another_seed_another);
	CU_ADD_TEST(suite, holding_a_knob_moves_no_other);
	CU_ADD_TEST(suite, every_value_of_a_knob_is_drawn_and_no_other);
	CU_ADD_TEST(suite, a_command_brings_the_case_back);
	CU_ADD_TEST(suite, settings_that_do_not_exist_are_refused);
	CU_ADD_TEST(suite, planted_mistakes_are_found_for_what_they_are);
	CU_ADD_TEST(suite, what_fails_is_made_small_and_replayed);
	CU_ADD_TEST(suite, each_role_notices_lost_stores);
	CU_ADD_TEST(suite, a_lost_ack_is_reported_when_nothing_else_is_under_way);
	CU_ADD_TEST(suite, a_lost_ack_is_reported_while_other_threads_go_on);
	CU_ADD_TEST(suite, a_lost_unblock_is_reported_with_all_who_wait);
	CU_ADD_TEST(suite, a_store_that_never_leaves_its_buffer_is_reported);
	CU_ADD_TEST(suite, what_is_left_over_at_the_end_is_reported);
	CU_ADD_TEST(suite, a_long_wait_for_another_thread_is_no_defect);
}
