/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code under study against second implementations of it, written here in plain C by what the
 * kernel's counters mean, and against tables of which field each walk reads and writes, made by
 * hand from mm/page_counter.c, mm/memcontrol.c and include/net/sock.h of the versions named. The
 * tests read configs and are run in the root of the project. */
#include "models/netperf.h"
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include "workload/simulation.h"
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char layouts[] = "configs/layouts";

static void must(bool done, const struct error *error)
{
	if (done)
		return;
	printf("\n  %s\n", error->text);
	CU_FAIL_FATAL("the test could not be set up");
}

/* ---- page counters in simulated memory ------------------------------------------------------ */

#define MEMBERS(X)                  \
	X(usage, "count")           \
	X(min, NULL)                \
	X(low, NULL)                \
	X(max, "limit")             \
	X(min_usage, NULL)          \
	X(children_min_usage, NULL) \
	X(low_usage, NULL)          \
	X(children_low_usage, NULL) \
	X(watermark, NULL)          \
	X(local_watermark, NULL)    \
	X(failcnt, NULL)            \
	X(parent, NULL)             \
	X(protection_support, NULL) \
	X(track_failcnt, NULL)
#define MEMBER(name, or_else)  M_##name,
#define BINDING(name, or_else) { #name, or_else, offsetof(struct page_counter, name) },
enum member { MEMBERS(MEMBER) MEMBERS_COUNT };
static const struct binding bindings[] = { MEMBERS(BINDING){ 0 } };

enum { NODES_MAX = 12, THREADS_MAX = 8, UNLIMITED = 1 << 30 };

/* A layout and the rules that go with it; the last two are patches A and B by themselves. */
static const struct version {
	const char *layout;
	enum propagate propagate;
} versions[] = {
	{ "page_counter-4.0", PROPAGATE_NEVER },      { "page_counter-5.10", PROPAGATE_ALWAYS },
	{ "page_counter-5.15", PROPAGATE_ALWAYS },    { "page_counter-6.1", PROPAGATE_ON_CHANGE },
	{ "page_counter-6.12", PROPAGATE_ON_CHANGE }, { "page_counter-6.18", PROPAGATE_ON_CHANGE },
	{ "page_counter-5.15", PROPAGATE_ON_CHANGE }, { "page_counter-6.1", PROPAGATE_ALWAYS },
};
enum { V4_0, V5_10, V5_15, V6_1, V6_12, V6_18, A_ALONE, B_ALONE, VERSIONS };

/* A tree of counters; a parent comes before its children, -1 is none. Each member of each counter
 * has a field number of its own. */
struct tree {
	struct machine *machine;
	struct memory memory;
	struct layout *layout;
	struct page_counter_rules rules;
	uint32_t count;
	int parent[NODES_MAX];
	struct page_counter counter[NODES_MAX];
	struct field_counts counts[1 + NODES_MAX * MEMBERS_COUNT];
};

static struct place *place_of(struct page_counter *counter, enum member member)
{
	return (struct place *)(void *)((char *)counter + bindings[member].place);
}

static void node_set(struct tree *tree, uint32_t node, enum member member, int64_t value)
{
	struct place *place = place_of(&tree->counter[node], member);

	if (place->size)
		memory_set(&tree->memory, place, (uint64_t)value);
}

static int64_t node_get_now(struct tree *tree, uint32_t node, enum member member)
{
	struct place *place = place_of(&tree->counter[node], member);

	return place->size ? (int64_t)memory_get(&tree->memory, place) : 0;
}

static void tree_make(struct tree *tree, const struct version *version, const int *parent,
		      uint32_t count)
{
	struct machine_config config = rig_config();
	struct error error = { "" };

	*tree = (struct tree){ .machine = rig_machine(&config),
			       .rules = { version->propagate },
			       .layout = layout_load(layouts, version->layout, NULL, &error),
			       .count = count };
	must(tree->layout != NULL, &error);
	memory_init(&tree->memory, tree->machine);
	for (uint32_t k = 0; k < count; k++) {
		struct page_counter *counter = &tree->counter[k];
		uint32_t object = memory_place(&tree->memory, tree->layout, "node", RIG_LINE,
					       k % RIG_SOCKETS, &error);

		must(!error.text[0] &&
			     memory_bind(&tree->memory, object, bindings, counter, &error),
		     &error);
		for (int m = 0; m < MEMBERS_COUNT; m++)
			place_of(counter, (enum member)m)->field =
				(uint16_t)(1 + k * MEMBERS_COUNT + (uint32_t)m);
		tree->parent[k] = parent[k];
		node_set(tree, k, M_parent,
			 parent[k] < 0 ? 0 : (int64_t)(intptr_t)&tree->counter[parent[k]]);
		node_set(tree, k, M_max, UNLIMITED);
		node_set(tree, k, M_protection_support, 1);
	}
}

static void tree_free(struct tree *tree)
{
	machine_free(tree->machine);
	memory_release(&tree->memory);
	layout_free(tree->layout);
}

/* ---- what the counters mean, one operation after the other ---------------------------------- */

struct plain {
	int64_t of[NODES_MAX][MEMBERS_COUNT];
};

/* The protected part of a usage is as much of it as the protection covers, and a parent knows the
 * sum over its children: before and after patch A alike. */
static void plain_protect(const struct tree *tree, struct plain *plain, int node)
{
	static const enum member protection[2][3] = {
		{ M_min, M_min_usage, M_children_min_usage },
		{ M_low, M_low_usage, M_children_low_usage },
	};
	int64_t *own = plain->of[node];

	if (tree->parent[node] < 0 || tree->rules.propagate == PROPAGATE_NEVER)
		return;
	for (int k = 0; k < 2; k++) {
		const enum member *m = protection[k];
		int64_t covered = own[M_usage] < own[m[0]] ? own[M_usage] : own[m[0]];

		plain->of[tree->parent[node]][m[2]] += covered - own[m[1]];
		own[m[1]] = covered;
	}
}

static void plain_raise(const struct tree *tree, int64_t *own)
{
	bool local = tree->counter[0].local_watermark.size;

	if (local && own[M_usage] <= own[M_local_watermark])
		return;
	if (local)
		own[M_local_watermark] = own[M_usage];
	if (own[M_usage] > own[M_watermark])
		own[M_watermark] = own[M_usage];
}

static bool plain_is_protected(const struct tree *tree, const struct plain *plain, int node)
{
	return !tree->counter[0].protection_support.size || plain->of[node][M_protection_support];
}

static void plain_cancel(const struct tree *tree, struct plain *plain, int node, int64_t n)
{
	int64_t *own = plain->of[node];

	own[M_usage] = own[M_usage] > n ? own[M_usage] - n : 0;
	if (plain_is_protected(tree, plain, node))
		plain_protect(tree, plain, node);
}

static void plain_uncharge(const struct tree *tree, struct plain *plain, int node, int64_t n)
{
	for (; node >= 0; node = tree->parent[node])
		plain_cancel(tree, plain, node, n);
}

/* Returns the counter whose limit forbade it, or -1. */
static int plain_charge(const struct tree *tree, struct plain *plain, int from, int64_t n,
			bool forced)
{
	bool protection = plain_is_protected(tree, plain, from);
	bool track = !tree->counter[0].track_failcnt.size || plain->of[from][M_track_failcnt];

	for (int node = from; node >= 0; node = tree->parent[node]) {
		int64_t *own = plain->of[node];

		if (!forced && own[M_usage] + n > own[M_max]) {
			own[M_failcnt] += track;
			for (int done = from; done != node; done = tree->parent[done])
				plain_cancel(tree, plain, done, n);
			return node;
		}
		own[M_usage] += n;
		if (protection)
			plain_protect(tree, plain, node);
		plain_raise(tree, own);
	}
	return -1;
}

/* ---- one thread, at random ------------------------------------------------------------------ */

enum { SERIAL_OPERATIONS = 3000 };

struct serial_run {
	struct tree *tree;
	struct plain plain;
	struct random random;
	uint32_t mistakes, failures;
};

static int64_t draw(struct random *random, int64_t bound)
{
	return (int64_t)random_below(random, (uint64_t)bound);
}

/* What an administrator may change at any time. */
static void change_setting(struct thread *self, struct serial_run *run, uint32_t node)
{
	static const enum member settings[] = {
		M_min, M_low, M_max, M_local_watermark, M_protection_support, M_track_failcnt
	};
	enum member member = settings[draw(&run->random, 6)];
	struct place *place = place_of(&run->tree->counter[node], member);
	int64_t value = draw(&run->random, 3) ? draw(&run->random, 400) : 0;

	if (!place->size)
		return;
	if (member == M_max)
		value = draw(&run->random, 3) ? 100 + 2 * value : UNLIMITED;
	if (place->size == 1)
		value = value > 100;
	ACCESS_STORE(place, (uint64_t)value);
	run->plain.of[node][member] = value;
}

static void try_at_random(struct thread *self, struct serial_run *run, uint32_t node, int64_t n)
{
	struct tree *tree = run->tree;
	struct page_counter *failed = NULL;
	bool done = page_counter_try_charge(self, &tree->rules, &tree->counter[node], n, &failed);
	int expected = plain_charge(tree, &run->plain, (int)node, n, false);

	run->failures += !done;
	run->mistakes += done != (expected < 0);
	run->mistakes += failed != (expected < 0 ? NULL : &tree->counter[expected]);
}

static void operate(struct thread *self, struct serial_run *run)
{
	struct tree *tree = run->tree;
	uint32_t node = (uint32_t)draw(&run->random, tree->count);
	struct page_counter *counter = &tree->counter[node];
	int64_t what = draw(&run->random, 100), n = 1 + draw(&run->random, 40),
		back = draw(&run->random, 8) ? draw(&run->random, run->plain.of[node][M_usage] + 1)
					     : n;

	counter->has_protection = draw(&run->random, 2); /* a hint about time, never about values */
	if (what < 50) {
		try_at_random(self, run, node, n);
	} else if (what < 58) {
		page_counter_charge(self, &tree->rules, counter, n);
		plain_charge(tree, &run->plain, (int)node, n, true);
	} else if (what < 83) {
		page_counter_uncharge(self, &tree->rules, counter, back);
		plain_uncharge(tree, &run->plain, (int)node, back);
	} else if (what < 88) {
		page_counter_cancel(self, &tree->rules, counter, n);
		plain_cancel(tree, &run->plain, (int)node, n);
	} else {
		change_setting(self, run, node);
	}
}

static void compare(struct thread *self, struct serial_run *run)
{
	for (uint32_t node = 0; node < run->tree->count; node++)
		for (int m = 0; m < MEMBERS_COUNT; m++) {
			struct place *place = place_of(&run->tree->counter[node], (enum member)m);
			int64_t value;

			if (!place->size || m == M_parent)
				continue;
			value = (int64_t)ACCESS_LOAD(place);
			if (value != run->plain.of[node][m] && !run->mistakes++)
				printf("\n  %s %s: %lld, expected %lld\n", run->tree->layout->name,
				       bindings[m].field, (long long)value,
				       (long long)run->plain.of[node][m]);
		}
}

static void serial_body(struct thread *self, void *argument)
{
	struct serial_run *run = argument;

	for (int k = 0; k < SERIAL_OPERATIONS && !run->mistakes; k++) {
		operate(self, run);
		compare(self, run);
	}
}

static void random_tree(struct random *random, int *parent, uint32_t *count)
{
	*count = 1 + (uint32_t)draw(random, NODES_MAX);
	parent[0] = -1;
	for (uint32_t k = 1; k < *count; k++)
		parent[k] = (int)draw(random, k);
}

static void counters_hold_what_a_second_implementation_says(void)
{
	enum { TREES = 4 };
	uint32_t failures = 0;

	for (uint32_t k = 0; k < VERSIONS * TREES; k++) {
		struct serial_run run = { .random = random_stream(1, "test.counters", k) };
		struct tree tree;
		int parent[NODES_MAX];
		uint32_t count;

		random_tree(&run.random, parent, &count);
		tree_make(&tree, &versions[k % VERSIONS], parent, count);
		run.tree = &tree;
		for (uint32_t node = 0; node < count; node++) {
			run.plain.of[node][M_max] = UNLIMITED;
			run.plain.of[node][M_protection_support] = 1;
		}
		rig_thread(tree.machine, 0, serial_body, &run);
		rig_run(tree.machine);
		CU_ASSERT_EQUAL(run.mistakes, 0);
		failures += run.failures;
		tree_free(&tree);
	}
	CU_ASSERT(failures > 1000); /* limits were met */
}

/* ---- several threads ------------------------------------------------------------------------ */

enum { ROUNDS = 400, PAGES_MAX = 8, LIMIT = 60 };

/* What each thread has charged and not given back, by leaf. */
struct crowd {
	struct tree *tree;
	int64_t held[THREADS_MAX][NODES_MAX];
	int64_t limit[NODES_MAX];
	uint32_t running, mistakes, failures;
	struct crowd_member {
		struct crowd *crowd;
		uint32_t number;
	} member[THREADS_MAX];
};

static int64_t held_below(const struct crowd *crowd, int node)
{
	int64_t sum = 0;

	for (uint32_t leaf = 0; leaf < crowd->tree->count; leaf++) {
		int at = (int)leaf;

		while (at >= 0 && at != node)
			at = crowd->tree->parent[at];
		for (int t = 0; at >= 0 && t < THREADS_MAX; t++)
			sum += crowd->held[t][leaf];
	}
	return sum;
}

/* What has been granted never exceeds a limit, whatever others are trying meanwhile. */
static void check_limits(struct crowd *crowd)
{
	for (uint32_t node = 0; node < crowd->tree->count; node++)
		crowd->mistakes += held_below(crowd, (int)node) > crowd->limit[node];
}

static void crowd_body(struct thread *self, void *argument)
{
	const struct crowd_member *me = argument;
	struct crowd *crowd = me->crowd;
	struct tree *tree = crowd->tree;
	int64_t *held = crowd->held[me->number];

	for (int k = 0; k < ROUNDS; k++) {
		uint32_t node = (uint32_t)draw(&self->random, tree->count);
		int64_t n = 1 + draw(&self->random, PAGES_MAX);
		struct page_counter *failed;

		if (draw(&self->random, 2) && held[node]) {
			n = n < held[node] ? n : held[node];
			held[node] -= n;
			page_counter_uncharge(self, &tree->rules, &tree->counter[node], n);
		} else if (page_counter_try_charge(self, &tree->rules, &tree->counter[node], n,
						   &failed)) {
			held[node] += n;
			check_limits(crowd);
		} else {
			crowd->failures++;
		}
		thread_work(self, (double)draw(&self->random, 300));
	}
	crowd->running--;
}

/* A usage may pass its limit only by what threads have added and not yet taken back. */
static void watcher_body(struct thread *self, void *argument)
{
	struct crowd *crowd = argument;

	while (crowd->running) {
		for (uint32_t node = 0; node < crowd->tree->count; node++) {
			int64_t usage = LOAD(&crowd->tree->counter[node], usage);

			crowd->mistakes +=
				usage < 0 ||
				usage > crowd->limit[node] + PAGES_MAX * (THREADS_MAX - 1);
		}
		thread_work(self, 500);
		thread_in_order(self);
	}
}

/* Exchanges and additions tell the parent every change once, in whatever order they come. */
static void check_children(struct tree *tree)
{
	for (uint32_t node = 0; node < tree->count; node++) {
		int64_t min = 0, low = 0;

		for (uint32_t child = 0; child < tree->count; child++)
			if (tree->parent[child] == (int)node) {
				min += node_get_now(tree, child, M_min_usage);
				low += node_get_now(tree, child, M_low_usage);
			}
		CU_ASSERT_EQUAL(node_get_now(tree, node, M_children_min_usage), min);
		CU_ASSERT_EQUAL(node_get_now(tree, node, M_children_low_usage), low);
	}
}

static void crowd_run(struct crowd *crowd, struct tree *tree)
{
	crowd->tree = tree;
	for (uint32_t node = 0; node < tree->count; node++) {
		crowd->limit[node] = node == 0 ? 3 * LIMIT : LIMIT;
		node_set(tree, node, M_max, crowd->limit[node]);
		node_set(tree, node, M_min, node % 2 ? 10 : 0);
		node_set(tree, node, M_low, node % 3 ? 25 : 0);
		node_set(tree, node, M_track_failcnt, 1);
	}
	for (uint32_t t = 0; t < THREADS_MAX - 1; t++) {
		crowd->member[t] = (struct crowd_member){ crowd, t };
		rig_thread(tree->machine, t, crowd_body, &crowd->member[t]);
		crowd->running++;
	}
	rig_thread(tree->machine, THREADS_MAX - 1, watcher_body, crowd);
	rig_run(tree->machine);
}

static void concurrent_charges_add_up_and_keep_to_limits(void)
{
	static const int parent[] = { -1, 0, 0, 1, 1, 2, 2 };

	for (int k = 0; k < VERSIONS; k++) {
		struct crowd crowd = { .running = 0 };
		struct tree tree;
		int64_t counted = 0;

		tree_make(&tree, &versions[k], parent, 7);
		crowd_run(&crowd, &tree);
		CU_ASSERT_EQUAL(crowd.mistakes, 0);
		CU_ASSERT(crowd.failures > 50);
		for (uint32_t node = 0; node < tree.count; node++) {
			int64_t watermark = node_get_now(&tree, node, M_watermark);

			CU_ASSERT_EQUAL(node_get_now(&tree, node, M_usage),
					held_below(&crowd, (int)node));
			CU_ASSERT(watermark > 0 && watermark <= crowd.limit[node]);
			counted += node_get_now(&tree, node, M_failcnt);
		}
		/* failcnt is a plain increment, so that counts may be lost, never made up. */
		CU_ASSERT(counted > 0 && counted <= (int64_t)crowd.failures);
		check_children(&tree);
		tree_free(&tree);
	}
}

/* ---- which field a walk reads and writes ---------------------------------------------------- */

enum walk { TRY_CHARGE, UNCHARGE };
/* GROWING: usage at its peak. COVERED: A's usage is below its min and low. FULL: A is. PLAIN: no
 * protection on counters of this kind, as of swap. */
enum scene { STEADY, GROWING, COVERED, FULL, PLAIN };
enum { CHAIN = 4, USAGE = 1 << 20, BATCH = 32 };

/* One walk of 32 pages over C, B, A (which has min and low) and the root. R: a load, W: a store,
 * X: a locked operation. */
static const struct program {
	struct {
		uint8_t version, scene, walk;
	} what;
	const char *of[CHAIN]; /* C, B, A, root */
} programs[] = {
#define PLAIN_4  "usage=X max=R watermark=R parent=R"
#define PLAIN_5  "usage=X min=R low=R max=R min_usage=R low_usage=R watermark=R parent=RR"
#define PLAIN_12 "usage=X min=R low=R max=R min_usage=R low_usage=R local_watermark=R parent=RR"
#define BACK_5   "usage=X min=R low=R min_usage=R low_usage=R parent=RR"
#define BACK_12  BACK_5 " protection_support=R"
#define ROOT_5   "usage=X max=R watermark=R parent=RR"
#define ROOT_12  "usage=X max=R local_watermark=R parent=RR"
	{ { V4_0, STEADY, TRY_CHARGE }, { PLAIN_4, PLAIN_4, PLAIN_4, PLAIN_4 } },
	{ { V4_0, STEADY, UNCHARGE },
	  { "usage=X parent=R", "usage=X parent=R", "usage=X parent=R", "usage=X parent=R" } },
	{ { V4_0, FULL, TRY_CHARGE },
	  { "usage=XX max=R watermark=R parent=RR", "usage=XX max=R watermark=R parent=RR",
	    "usage=XX max=R failcnt=RW", "" } },
	{ { V5_15, STEADY, TRY_CHARGE },
	  { PLAIN_5, PLAIN_5,
	    "usage=X min=R low=R max=R min_usage=X low_usage=X watermark=R parent=RR", ROOT_5 } },
	{ { V5_15, STEADY, UNCHARGE },
	  { BACK_5, BACK_5, "usage=X min=R low=R min_usage=X low_usage=X parent=RR",
	    "usage=X parent=RR" } },
	{ { V5_15, GROWING, TRY_CHARGE },
	  { "usage=X min=R low=R max=R min_usage=R low_usage=R watermark=RW parent=RR",
	    "usage=X min=R low=R max=R min_usage=R low_usage=R watermark=RW parent=RR",
	    "usage=X min=R low=R max=R min_usage=X low_usage=X watermark=RW parent=RR",
	    "usage=X max=R watermark=RW parent=RR" } },
	{ { V5_15, COVERED, TRY_CHARGE },
	  { PLAIN_5, PLAIN_5,
	    "usage=X min=R low=R max=R min_usage=X low_usage=X watermark=R parent=RR",
	    "usage=X max=R children_min_usage=X children_low_usage=X watermark=R parent=RR" } },
	{ { V5_15, FULL, TRY_CHARGE },
	  { "usage=XX min=RR low=RR max=R min_usage=RR low_usage=RR watermark=R parent=RRRR",
	    "usage=XX min=RR low=RR max=R min_usage=RR low_usage=RR watermark=R parent=RRRR",
	    "usage=XX max=R failcnt=RW", "" } },
	{ { V6_1, STEADY, TRY_CHARGE }, { PLAIN_5, PLAIN_5, PLAIN_5, ROOT_5 } },
	{ { V6_1, STEADY, UNCHARGE }, { BACK_5, BACK_5, BACK_5, "usage=X parent=RR" } },
	{ { V6_1, COVERED, UNCHARGE },
	  { BACK_5, BACK_5, "usage=X min=R low=R min_usage=RX low_usage=RX parent=RR",
	    "usage=X children_min_usage=X children_low_usage=X parent=RR" } },
	{ { V6_12, STEADY, TRY_CHARGE },
	  { PLAIN_12 " protection_support=R", PLAIN_12, PLAIN_12, ROOT_12 } },
	{ { V6_12, STEADY, UNCHARGE },
	  { BACK_12, BACK_12, BACK_12, "usage=X parent=RR protection_support=R" } },
	{ { V6_12, PLAIN, TRY_CHARGE },
	  { "usage=X max=R local_watermark=R parent=R protection_support=R",
	    "usage=X max=R local_watermark=R parent=R", "usage=X max=R local_watermark=R parent=R",
	    "usage=X max=R local_watermark=R parent=R" } },
	{ { V6_12, GROWING, TRY_CHARGE },
	  { "usage=X min=R low=R max=R min_usage=R low_usage=R watermark=RW local_watermark=RW "
	    "parent=RR protection_support=R",
	    "usage=X min=R low=R max=R min_usage=R low_usage=R watermark=RW local_watermark=RW "
	    "parent=RR",
	    "usage=X min=R low=R max=R min_usage=R low_usage=R watermark=RW local_watermark=RW "
	    "parent=RR",
	    "usage=X max=R watermark=RW local_watermark=RW parent=RR" } },
	{ { V6_18, STEADY, TRY_CHARGE },
	  { PLAIN_12 " protection_support=R track_failcnt=R", PLAIN_12, PLAIN_12, ROOT_12 } },
	{ { V6_18, FULL, TRY_CHARGE },
	  { "usage=XX min=RR low=RR max=R min_usage=RR low_usage=RR local_watermark=R parent=RRRR "
	    "protection_support=RR track_failcnt=R",
	    "usage=XX min=RR low=RR max=R min_usage=RR low_usage=RR local_watermark=R parent=RRRR "
	    "protection_support=R",
	    "usage=XX max=R", "" } },
};

struct walker {
	struct tree *tree;
	enum walk walk;
};

static void walk_body(struct thread *self, void *argument)
{
	const struct walker *walker = argument;
	struct tree *tree = walker->tree;
	struct page_counter *failed;

	if (walker->walk == UNCHARGE)
		page_counter_uncharge(self, &tree->rules, &tree->counter[CHAIN - 1], BATCH);
	else
		page_counter_try_charge(self, &tree->rules, &tree->counter[CHAIN - 1], BATCH,
					&failed);
}

static void set_scene(struct tree *tree, enum scene scene)
{
	enum { A = 1 };
	int64_t peak = scene == GROWING ? USAGE : 2 * USAGE,
		min = scene == COVERED ? 2 * USAGE : 256, low = 2 * min;

	for (uint32_t node = 0; node < CHAIN; node++) {
		node_set(tree, node, M_usage, USAGE);
		node_set(tree, node, M_watermark, peak);
		node_set(tree, node, M_local_watermark, peak);
		node_set(tree, node, M_protection_support, scene != PLAIN);
	}
	node_set(tree, A, M_min, min);
	node_set(tree, A, M_low, low);
	node_set(tree, A, M_min_usage, min < USAGE ? min : USAGE);
	node_set(tree, A, M_low_usage, low < USAGE ? low : USAGE);
	tree->counter[A].has_protection = true;
	if (scene == FULL)
		node_set(tree, A, M_max, USAGE + BATCH - 1);
}

static void touches(const struct tree *tree, uint32_t node, char *text, size_t size)
{
	*text = '\0';
	for (uint32_t m = 0; m < MEMBERS_COUNT; m++) {
		struct field_counts counts = tree->counts[1 + node * MEMBERS_COUNT + m];
		size_t at = strlen(text);

		if (counts.loads + counts.stores + counts.rmws)
			snprintf(text + at, size - at, "%s%s=%.*s%.*s%.*s", at ? " " : "",
				 bindings[m].field, (int)counts.loads, "RRRRRRRR",
				 (int)counts.stores, "WWWW", (int)counts.rmws, "XXXX");
	}
}

static void a_walk_touches_the_fields_of_its_version(void)
{
	static const int parent[CHAIN] = { -1, 0, 1, 2 };

	for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++) {
		const struct program *program = &programs[k];
		const struct version *version = &versions[program->what.version];
		struct tree tree;
		struct walker walker = { &tree, program->what.walk };

		tree_make(&tree, version, parent, CHAIN);
		set_scene(&tree, program->what.scene);
		rig_thread(tree.machine, 0, walk_body, &walker)->counts = tree.counts;
		rig_run(tree.machine);
		for (uint32_t level = 0; level < CHAIN; level++) {
			char text[256];

			touches(&tree, CHAIN - 1 - level, text, sizeof(text));
			CU_ASSERT_STRING_EQUAL(text, program->of[level]);
			if (strcmp(text, program->of[level]))
				printf("\n  %s, row %zu, level %u\n   got: %s\n  want: %s\n",
				       version->layout, k, level, text, program->of[level]);
		}
		tree_free(&tree);
	}
}

/* ---- the stock in front of the counters ----------------------------------------------------- */

static const struct binding memcg_bindings[] = {
	{ "css.parent", NULL, offsetof(struct mem_cgroup, css.parent) },
	{ "memory.usage", NULL, offsetof(struct mem_cgroup, memory.usage) },
	{ "memory.min", NULL, offsetof(struct mem_cgroup, memory.min) },
	{ "memory.low", NULL, offsetof(struct mem_cgroup, memory.low) },
	{ "memory.high", NULL, offsetof(struct mem_cgroup, memory.high) },
	{ "memory.max", NULL, offsetof(struct mem_cgroup, memory.max) },
	{ "memory.min_usage", NULL, offsetof(struct mem_cgroup, memory.min_usage) },
	{ "memory.low_usage", NULL, offsetof(struct mem_cgroup, memory.low_usage) },
	{ "memory.watermark", NULL, offsetof(struct mem_cgroup, memory.watermark) },
	{ "memory.failcnt", NULL, offsetof(struct mem_cgroup, memory.failcnt) },
	{ "memory.parent", NULL, offsetof(struct mem_cgroup, memory.parent) },
	{ "swap.usage", NULL, offsetof(struct mem_cgroup, swap.usage) },
	{ "swap.high", NULL, offsetof(struct mem_cgroup, swap.high) },
	{ 0 },
};
static const struct binding stock_bindings[] = {
	{ "cached", NULL, offsetof(struct memcg_cpu, cached) },
	{ "nr_pages", NULL, offsetof(struct memcg_cpu, nr_pages) },
	{ 0 },
};

/* The root and two groups in it that share a CPU; and what they should hold. */
enum group { ROOT, X, Y, GROUPS };
enum { STOCK_OPERATIONS = 4000, STOCK_LIMIT = 300 };

struct stock_run {
	struct memory memory;
	struct layout *layout, *stock_layout;
	struct mem_cgroup memcg[GROUPS];
	struct memcg_cpu cpu;
	struct memcg_rules rules;
	struct random random;
	int64_t usage[GROUPS], failcnt[GROUPS], held[GROUPS];
	int cached; /* group, -1: none */
	int64_t stock;
	uint32_t mistakes, failures;
};

static void stock_make(struct stock_run *run, struct machine *machine)
{
	struct error error = { "" };

	run->layout = layout_load(layouts, "mem_cgroup-6.0-rc1", NULL, &error);
	run->stock_layout = layout_load(layouts, "memcg_stock_pcp-6.0-rc1", NULL, &error);
	must(run->layout && run->stock_layout, &error);
	memory_init(&run->memory, machine);
	for (int g = 0; g < GROUPS; g++) {
		struct mem_cgroup *memcg = &run->memcg[g], *parent = g ? &run->memcg[ROOT] : NULL;
		uint32_t object = memory_place(&run->memory, run->layout, "group", 4096, 0, &error);

		must(memory_bind(&run->memory, object, memcg_bindings, memcg, &error), &error);
		memory_set(&run->memory, &memcg->css.parent, (uintptr_t)parent);
		memory_set(&run->memory, &memcg->memory.parent,
			   (uintptr_t)(parent ? &parent->memory : NULL));
		memory_set(&run->memory, &memcg->memory.max, g == X ? STOCK_LIMIT : UNLIMITED);
		memory_set(&run->memory, &memcg->memory.high, UNLIMITED);
		memory_set(&run->memory, &memcg->swap.high, UNLIMITED);
	}
	uint32_t object = memory_place(&run->memory, run->stock_layout, "stock", 64, 0, &error);

	must(memory_bind(&run->memory, object, stock_bindings, &run->cpu, &error), &error);
	run->cached = -1;
}

static void stock_free(struct stock_run *run)
{
	machine_free(run->memory.machine);
	memory_release(&run->memory);
	layout_free(run->layout);
	layout_free(run->stock_layout);
}

static void plain_move(struct stock_run *run, int group, int64_t n)
{
	run->usage[group] += n;
	run->usage[ROOT] += n;
}

static void plain_drain(struct stock_run *run)
{
	if (run->cached >= 0)
		plain_move(run, run->cached, -run->stock);
	run->cached = -1;
	run->stock = 0;
}

static void plain_refill(struct stock_run *run, int group, int64_t n)
{
	if (run->cached != group)
		plain_drain(run);
	run->cached = group;
	run->stock += n;
	if (run->stock > run->rules.batch)
		plain_drain(run);
}

static bool plain_try(struct stock_run *run, int group, int64_t n)
{
	if (group == X && run->usage[X] + n > STOCK_LIMIT) {
		run->failcnt[X]++;
		return false;
	}
	plain_move(run, group, n);
	return true;
}

/* From the stock; else a batch at once; else, where that is too much, just what is needed. */
static bool plain_memcg_charge(struct stock_run *run, int group, int64_t n)
{
	int64_t batch = run->rules.batch;

	if (n <= batch && run->cached == group && run->stock >= n) {
		run->stock -= n;
		return true;
	}
	if (n >= batch)
		return plain_try(run, group, n);
	if (!plain_try(run, group, batch))
		return plain_try(run, group, n);
	plain_refill(run, group, batch - n);
	return true;
}

static void stock_compare(struct thread *self, struct stock_run *run)
{
	struct mem_cgroup *cached = FOLLOW(struct mem_cgroup, &run->cpu, cached);

	run->mistakes += cached != (run->cached < 0 ? NULL : &run->memcg[run->cached]);
	run->mistakes += LOAD(&run->cpu, nr_pages) != run->stock;
	for (int g = 0; g < GROUPS; g++) {
		run->mistakes += LOAD(&run->memcg[g], memory.usage) != run->usage[g];
		run->mistakes += LOAD(&run->memcg[g], memory.failcnt) != run->failcnt[g];
	}
}

static void stock_body(struct thread *self, void *argument)
{
	struct stock_run *run = argument;

	for (int k = 0; k < STOCK_OPERATIONS && !run->mistakes; k++) {
		int group = draw(&run->random, 4) ? X : Y;
		int64_t n = 1 + draw(&run->random, draw(&run->random, 4) ? 12 : 90);

		if (draw(&run->random, 8) == 0)
			n = run->rules.batch;

		if (draw(&run->random, 2)) {
			bool done =
				memcg_charge(self, &run->rules, &run->memcg[group], &run->cpu, n);

			run->mistakes += done != plain_memcg_charge(run, group, n);
			run->held[group] += done ? n : 0;
			run->failures += !done;
		} else if (run->held[group]) {
			n = n < run->held[group] ? n : run->held[group];
			memcg_refill_stock(self, &run->rules, &run->memcg[group], &run->cpu, n);
			plain_refill(run, group, n);
			run->held[group] -= n;
		}
		stock_compare(self, run);
		if (run->mistakes)
			printf("\n  operation %d: %lld pages of group %d\n", k, (long long)n,
			       group);
	}
}

static void stocks_hold_what_a_second_implementation_says(void)
{
	for (int64_t batch = 32; batch <= 64; batch *= 2) {
		struct machine_config config = rig_config();
		struct stock_run run = { .rules = { .batch = batch },
					 .random = random_stream(1, "test.stock", 0) };

		stock_make(&run, rig_machine(&config));
		rig_thread(run.memory.machine, 0, stock_body, &run);
		rig_run(run.memory.machine);
		CU_ASSERT_EQUAL(run.mistakes, 0);
		CU_ASSERT(run.failures > 20);
		stock_free(&run);
	}
}

/* ---- netperf, against closed forms ---------------------------------------------------------- */

/* One pair in a cgroup, the machine and its times being of no interest: counts are. */
static struct simulation netperf(const char *structure_layout, const char *settings,
				 const char *duration)
{
	char text[1024];
	int length = snprintf(text, sizeof(text),
			      "layouts: {mem_cgroup: %s}\n"
			      "measure: {warmup: 20 us, duration: %s}\n"
			      "workload: {model: netperf_sendfile, pairs: 1, work: 100 ns, "
			      "jitter: 0, %s}\n",
			      structure_layout, duration, settings);
	struct error error = { "" };
	struct setting setting = { document_parse("t.yaml", text, (size_t)length, &error),
				   document_load("configs/machines/xeon-w-2145.yaml", &error) };
	const struct run_options options = { .seed = 1, .layout_directory = layouts };
	struct simulation simulation = { .build = NULL };

	must(setting.experiment && setting.machine &&
		     simulation_run(&simulation, &setting, &options, &error),
	     &error);
	setting_free(&setting);
	return simulation;
}

/* Accesses to a field, of all objects of a struct together. */
static struct field_counts counts_of(const struct simulation *simulation, const char *structure,
				     const char *name)
{
	const struct memory *memory = &simulation->build->memory;

	for (uint32_t k = 0; k < memory->block_count; k++) {
		const struct layout *layout = memory->blocks[k].layout;
		const struct layout_field *field = layout_find(layout, name);

		if (!strcmp(layout->structure, structure) && field)
			return simulation->measure
				->fields[memory->blocks[k].first + (field - layout->fields)]
				.counts;
	}
	return (struct field_counts){ 0 };
}

static double sends(const struct simulation *simulation)
{
	return (double)simulation->measure->operations[NETPERF_SEND];
}

enum { COUNTERS = 4 }; /* A, B, C and the root */

/* Walks of the counters a send, up and down. Only a charge looks at limits. */
static double charges(const struct simulation *s)
{
	return (double)counts_of(s, "mem_cgroup", "memory.max").loads / COUNTERS / sends(s);
}

static double give_backs(const struct simulation *s)
{
	return (double)counts_of(s, "mem_cgroup", "memory.usage").rmws / COUNTERS / sends(s) -
	       charges(s);
}

/* By hand, one buffer under way at a time: a buffer of k sends is 1280 + 10240 k bytes of truesize,
 * P pages of 4096 rounded up, on each side. The sender's CPU charges 2P a buffer, a batch at a
 * time; the receiver's gets P twice, and its stock goes back when it first holds more than a batch.
 */
static void walks_a_send_follow_from_pages_and_batch(void)
{
	static const struct {
		int sends, batch;
		double pages, drained;
	} cases[] = {
		{ 1, 32, 3, 33 }, { 1, 64, 3, 66 },  { 2, 32, 6, 36 },  { 3, 32, 8, 40 },
		{ 3, 64, 8, 72 }, { 6, 32, 16, 48 }, { 6, 64, 16, 80 },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		char settings[100];
		double each = 2 * cases[k].pages / cases[k].sends;

		snprintf(settings, sizeof(settings), "window: 1, sends_per_buffer: %d, batch: %d",
			 cases[k].sends, cases[k].batch);
		struct simulation s = netperf("mem_cgroup-6.0-rc1", settings, "20 ms");

		CU_ASSERT(sends(&s) > 10000);
		CU_ASSERT_DOUBLE_EQUAL(charges(&s) / (each / cases[k].batch), 1, 0.005);
		CU_ASSERT_DOUBLE_EQUAL(give_backs(&s) / (each / cases[k].drained), 1, 0.005);
		simulation_free(&s);
	}
}

/* Where receive memory is charged and acknowledgements are handled varies by chance: walks of a
 * program of 40 lines that does only this sum, over 3 million sends; here are 40,000, which scatter
 * by 1.3 %. Both deferred (the last) never leaves the stocks. */
static void walks_a_send_depend_on_where_buffers_are_handled(void)
{
	static const struct {
		int sends;
		double receive, ack, walks[2]; /* of batch 32 and 64 */
	} cases[] = {
		{ 1, 0.5, 0, { 0.4402, 0.2245 } },   { 1, 0.5, 0.5, { 0.3490, 0.1768 } },
		{ 1, 0, 1, { 0.3909, 0.1883 } },     { 3, 0.5, 0.5, { 0.2179, 0.1206 } },
		{ 6, 0.5, 0.5, { 0.1876, 0.1092 } },
	};

	for (size_t k = 0; k < 2 * sizeof(cases) / sizeof(cases[0]); k++) {
		double expected = cases[k / 2].walks[k % 2], walks;
		char settings[160];

		snprintf(settings, sizeof(settings),
			 "window: 1, sends_per_buffer: %d, batch: %d, defer_receive: %g, "
			 "defer_ack: %g",
			 cases[k / 2].sends, k % 2 ? 64 : 32, cases[k / 2].receive,
			 cases[k / 2].ack);
		struct simulation s = netperf("mem_cgroup-6.0-rc1", settings, "30 ms");

		walks = charges(&s) + give_backs(&s);
		CU_ASSERT_DOUBLE_EQUAL(walks / expected, 1, 0.05);
		if (fabs(walks / expected - 1) > 0.05)
			printf("\n  %s: %g walks a send, expected %g\n", settings, walks, expected);
		simulation_free(&s);
	}
}

/* The receiver charges 3 pages and gets 6 back: its stock climbs by 3 a send to the batch, where
 * each give-back drains all of it and each charge takes a new batch. */
static void a_stock_at_its_brim_is_drained_at_every_turn_whatever_the_batch(void)
{
	for (int batch = 32; batch <= 64; batch *= 2) {
		char settings[100];

		snprintf(settings, sizeof(settings), "window: 1, batch: %d, defer_receive: 1",
			 batch);
		struct simulation s = netperf("mem_cgroup-6.0-rc1", settings, "20 ms");

		CU_ASSERT_DOUBLE_EQUAL(charges(&s), 1 + 3.0 / batch, 0.01);
		CU_ASSERT_DOUBLE_EQUAL(give_backs(&s), 1, 0.01);
		simulation_free(&s);
	}
}

static void what_is_charged_and_given_back_on_one_cpu_stays_in_its_stock(void)
{
	struct simulation s =
		netperf("mem_cgroup-6.0-rc1", "window: 1, defer_receive: 1, defer_ack: 1", "20 ms");

	CU_ASSERT(sends(&s) > 10000);
	CU_ASSERT_EQUAL(charges(&s), 0);
	CU_ASSERT_EQUAL(give_backs(&s), 0);
	simulation_free(&s);
}

/* With i buffers of 11520 bytes under way a socket has -11520 i modulo 4096 bytes left, so that the
 * i-th takes 3 pages, but 2 where that is less than 768: the 6th does. A slow receiver keeps as
 * many under way as the window allows. */
static void buffers_under_way_share_a_page_by_what_their_number_leaves(void)
{
	static const struct {
		int window;
		double pages, drained;
	} cases[] = { { 5, 3, 33 }, { 6, 2, 34 }, { 7, 3, 33 }, { 11, 2, 34 } };

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		char settings[100];

		snprintf(settings, sizeof(settings), "window: %d, receive_share: 10",
			 cases[k].window);
		struct simulation s = netperf("mem_cgroup-6.0-rc1", settings, "20 ms");

		CU_ASSERT_DOUBLE_EQUAL(charges(&s) / (2 * cases[k].pages / 32), 1, 0.005);
		CU_ASSERT_DOUBLE_EQUAL(give_backs(&s) / (2 * cases[k].pages / cases[k].drained), 1,
				       0.005);
		simulation_free(&s);
	}
}

/* A send charges 1 page four times (3 times a page, and 3 pages at once), of which the first may
 * not fail and looks at nothing, and gives 3 pages back twice. */
static void a_send_touches_what_all_share_so_often(void)
{
	struct simulation s = netperf("mem_cgroup-6.0-rc1", "window: 1", "20 ms");
	double n = sends(&s);
	struct field_counts allocated = counts_of(&s, "memcg_shared", "memory_allocated");

	CU_ASSERT_DOUBLE_EQUAL((double)counts_of(&s, "memcg_percpu", "stat").stores / n, 6, 0.01);
	CU_ASSERT_DOUBLE_EQUAL((double)allocated.loads / n, 3, 0.01);
	/* every 256 pages up, and every 256 down, of 6 a send */
	CU_ASSERT_DOUBLE_EQUAL((double)allocated.rmws / n, 2 * 6 / 256.0, 0.001);
	/* 12 pages change a send; a look beyond 32 of them */
	CU_ASSERT_DOUBLE_EQUAL(
		(double)counts_of(&s, "memcg_shared", "stats_flush_threshold").loads / n, 12 / 33.0,
		0.005);
	simulation_free(&s);
}

/* Each give-back of the socket looks at every group for pressure, each charge of the counters for
 * `high`; both go up by css.parent, and read it at the root too. */
static void a_give_back_reads_css_parent_once_a_level(void)
{
	struct simulation with = netperf("mem_cgroup-6.0-rc1", "window: 1", "5 ms"),
			  without = netperf("mem_cgroup-6.0-rc1",
					    "window: 1, socket_pressure_walk: false", "5 ms");
	double high = (double)counts_of(&with, "mem_cgroup", "memory.high").loads;

	CU_ASSERT_DOUBLE_EQUAL(high / sends(&with), COUNTERS * charges(&with), 1e-9);
	CU_ASSERT_DOUBLE_EQUAL((double)counts_of(&with, "mem_cgroup", "swap.usage").loads, high, 0);
	CU_ASSERT_DOUBLE_EQUAL((double)counts_of(&with, "mem_cgroup", "swap.high").loads, high, 0);
	CU_ASSERT_DOUBLE_EQUAL((double)counts_of(&with, "mem_cgroup", "socket_pressure").loads /
				       sends(&with),
			       2 * COUNTERS, 0.01);
	CU_ASSERT_EQUAL(counts_of(&with, "mem_cgroup", "css.parent").loads,
			counts_of(&with, "mem_cgroup", "socket_pressure").loads +
				counts_of(&with, "mem_cgroup", "memory.high").loads);
	CU_ASSERT_EQUAL(counts_of(&without, "mem_cgroup", "socket_pressure").loads, 0);
	CU_ASSERT_EQUAL(counts_of(&without, "mem_cgroup", "css.parent").loads,
			counts_of(&without, "mem_cgroup", "memory.high").loads);
	simulation_free(&with);
	simulation_free(&without);
}

static double locked_operations(const struct simulation *s)
{
	static const char *const fields[] = { "memory.usage", "memory.min_usage",
					      "memory.low_usage", "memory.children_min_usage",
					      "memory.children_low_usage" };
	uint64_t sum = 0;

	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
		sum += counts_of(s, "mem_cgroup", fields[k]).rmws;
	if (!sum)
		sum = counts_of(s, "mem_cgroup", "memory.count").rmws;
	return (double)sum;
}

/* A locked operation a level, the root's among them, and one more for each of min and low that are
 * set, until patch A. */
static void every_layout_has_the_locked_operations_of_its_version(void)
{
	static const struct {
		const char *layout, *settings;
		int levels, expected;
	} cases[] = {
		{ "mem_cgroup-4.0", "propagate: never, socket_pressure_walk: false", 3, 4 },
		{ "mem_cgroup-6.0-rc1", "propagate: always", 3, 6 },
		{ "mem_cgroup-6.0-rc1", "propagate: on_change", 3, 4 },
		{ "mem_cgroup-6.0-rc1-B", "propagate: always", 3, 6 },
		{ "mem_cgroup-6.1", "propagate: on_change", 3, 4 },
		{ "mem_cgroup-6.8", "propagate: on_change", 3, 4 },
		{ "mem_cgroup-6.10", "propagate: on_change", 3, 4 },
		{ "mem_cgroup-6.12", "propagate: on_change", 3, 4 },
		{ "mem_cgroup-6.18", "propagate: on_change", 3, 4 },
		{ "mem_cgroup-6.0-rc1", "propagate: always", 1, 4 },
		{ "mem_cgroup-6.0-rc1", "propagate: always", 7, 10 },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		char settings[200];

		snprintf(settings, sizeof(settings),
			 "levels: %d, protect: {level: 1, min: 1 MiB, low: 2 MiB}, %s",
			 cases[k].levels, cases[k].settings);
		struct simulation s = netperf(cases[k].layout, settings, "1 ms");
		/* A walk goes by memory.parent from the lowest counter to the root. */
		const char *usage = k ? "memory.usage" : "memory.count";
		double walks =
			(double)counts_of(&s, "mem_cgroup", usage).rmws / (cases[k].levels + 1);

		CU_ASSERT(walks > 100);
		CU_ASSERT_DOUBLE_EQUAL(locked_operations(&s) / walks, cases[k].expected, 1e-9);
		simulation_free(&s);
	}
}

static void the_root_group_pays_nothing(void)
{
	struct simulation s = netperf("mem_cgroup-6.0-rc1", "levels: 0", "1 ms");

	CU_ASSERT(sends(&s) > 500);
	for (uint32_t k = 0; k < s.build->memory.block_count; k++)
		CU_ASSERT_STRING_NOT_EQUAL(s.build->memory.blocks[k].layout->structure,
					   "mem_cgroup");
	CU_ASSERT_EQUAL(counts_of(&s, "memcg_stock_pcp", "cached").loads, 0);
	CU_ASSERT_EQUAL(counts_of(&s, "memcg_percpu", "stat").stores, 0);
	simulation_free(&s);
}

void suite_models(void)
{
	CU_pSuite suite = CU_add_suite("models", NULL, NULL);

	CU_ADD_TEST(suite, counters_hold_what_a_second_implementation_says);
	CU_ADD_TEST(suite, concurrent_charges_add_up_and_keep_to_limits);
	CU_ADD_TEST(suite, a_walk_touches_the_fields_of_its_version);
	CU_ADD_TEST(suite, stocks_hold_what_a_second_implementation_says);
	CU_ADD_TEST(suite, walks_a_send_follow_from_pages_and_batch);
	CU_ADD_TEST(suite, walks_a_send_depend_on_where_buffers_are_handled);
	CU_ADD_TEST(suite, a_stock_at_its_brim_is_drained_at_every_turn_whatever_the_batch);
	CU_ADD_TEST(suite, what_is_charged_and_given_back_on_one_cpu_stays_in_its_stock);
	CU_ADD_TEST(suite, buffers_under_way_share_a_page_by_what_their_number_leaves);
	CU_ADD_TEST(suite, a_send_touches_what_all_share_so_often);
	CU_ADD_TEST(suite, a_give_back_reads_css_parent_once_a_level);
	CU_ADD_TEST(suite, every_layout_has_the_locked_operations_of_its_version);
	CU_ADD_TEST(suite, the_root_group_pays_nothing);
}
