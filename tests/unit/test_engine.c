/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time and control: the event queue against a sorted list, random streams against published
 * numbers, coroutines against what C promises a function call. */
#include "tests/unit/suites.h"
#include "engine/coroutine.h"
#include "engine/queue.h"
#include "engine/random.h"
#include <CUnit/CUnit.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif
#else
enum { SANITIZED = false };
#endif

/* ---- queue ---------------------------------------------------------------------------------- */

/* The queue's specification: (time, cause, source, count), compared afresh. */
static int by_sequence(const void *a, const void *b)
{
	const struct event *x = *(struct event *const *)a, *y = *(struct event *const *)b;
	const uint64_t p[] = { x->time, x->cause, x->source, x->count };
	const uint64_t q[] = { y->time, y->cause, y->source, y->count };

	for (int k = 0; k < 4; k++)
		if (p[k] != q[k])
			return p[k] < q[k] ? -1 : 1;
	return 0;
}

/* Events that are under way, kept sorted the slow way. */
struct list {
	struct event **event;
	size_t count;
};

static void list_sort(struct list *list)
{
	qsort(list->event, list->count, sizeof(*list->event), by_sequence);
}

static struct event *list_take(struct list *list)
{
	struct event *first = list->event[0];

	memmove(list->event, list->event + 1, --list->count * sizeof(*list->event));
	return first;
}

/* Pushes and pops at random, `rounds` times, with delays below `reach`, and compares each event
 * taken with the list's. Returns how many differ. */
static uint32_t queue_compare(uint64_t seed, uint32_t rounds, uint64_t reach)
{
	struct random random = random_stream(seed, "test.queue", reach);
	struct event *events = calloc(rounds, sizeof(*events));
	struct list list = { calloc(rounds, sizeof(*list.event)), 0 };
	struct queue *queue = queue_new();
	uint64_t now = 0;
	uint32_t wrong = 0;

	for (uint32_t k = 0; k < rounds; k++) {
		uint64_t burst = random_below(&random, 100) == 0 ? 30 : 1;

		events[k] = (struct event){ .time = now + random_below(&random, reach),
					    .cause = now - random_below(&random, 3),
					    .source = (uint32_t)random_below(&random, 4),
					    .count = k };
		if (now < 3 || events[k].cause > events[k].time)
			events[k].cause = now;
		wrong += !queue_push(queue, &events[k]);
		list.event[list.count++] = &events[k];
		if (random_below(&random, 100) < 45)
			continue;
		list_sort(&list);
		for (; burst && list.count; burst--) {
			wrong += queue_next_time(queue) != list.event[0]->time;
			struct event *got = queue_pop(queue), *expected = list_take(&list);

			wrong += got != expected;
			now = expected->time;
		}
	}
	list_sort(&list);
	while (list.count)
		wrong += queue_pop(queue) != list_take(&list);
	wrong += queue_pop(queue) != NULL || queue_next_time(queue) != UINT64_MAX;
	queue_free(queue);
	free(list.event);
	free(events);
	return wrong;
}

static void near_events_come_in_order(void)
{
	for (uint64_t seed = 0; seed < 20; seed++)
		CU_ASSERT_EQUAL(queue_compare(seed, 2000, 300), 0);
}

static void far_events_come_in_order(void)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		CU_ASSERT_EQUAL(queue_compare(seed, 2000, 20000), 0);
		CU_ASSERT_EQUAL(queue_compare(seed, 2000, 1ull << 40), 0);
	}
}

static void events_of_one_time_come_by_cause_source_and_count(void)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		CU_ASSERT_EQUAL(queue_compare(seed, 1000, 1), 0);
		CU_ASSERT_EQUAL(queue_compare(seed, 2000, 3), 0);
	}
}

/* Sizes of a timing wheel, whatever they are: a power of two is where one would go round. */
static void events_around_every_power_of_two_come_in_order(void)
{
	static struct event events[3 * 63];
	struct queue *queue = queue_new();
	uint64_t last = 0;
	uint32_t taken = 0, count = 0;
	struct event *event;

	for (int bit = 62; bit >= 1; bit--)
		for (uint64_t k = 0; k < 3; k++) {
			events[count].time = (1ull << bit) - 1 + k;
			events[count].source = count;
			queue_push(queue, &events[count]);
			count++;
		}
	while ((event = queue_pop(queue))) {
		CU_ASSERT(event->time >= last);
		last = event->time;
		taken++;
	}
	CU_ASSERT_EQUAL(taken, count);
	queue_free(queue);
}

static void an_event_may_be_pushed_at_the_time_of_the_last_one_taken(void)
{
	struct event first = { .time = 5000 }, late = { .time = 9000 },
		     again = { .time = 5000, .cause = 5000 };
	struct queue *queue = queue_new();

	queue_push(queue, &late);
	queue_push(queue, &first);
	CU_ASSERT_PTR_EQUAL(queue_pop(queue), &first);
	queue_push(queue, &again);
	CU_ASSERT_PTR_EQUAL(queue_pop(queue), &again);
	CU_ASSERT_PTR_EQUAL(queue_pop(queue), &late);
	queue_free(queue);
}

static void an_empty_queue_has_no_event_and_no_time(void)
{
	struct queue *queue = queue_new();

	CU_ASSERT_PTR_NULL(queue_pop(queue));
	CU_ASSERT_EQUAL(queue_next_time(queue), UINT64_MAX);
	queue_free(queue);
}

/* ---- random --------------------------------------------------------------------------------- */

/* Computed in Python from the authors' definition, prng.di.unimi.it/xoshiro256starstar.c; the first
 * four of the first vector are also the test of the Rust crate rand_xoshiro. */
static void the_generator_is_xoshiro256starstar(void)
{
	static const uint64_t from_1234[] = { 0x2d00,
					      0x0,
					      0x5a007080,
					      0x10e0000000009d80,
					      0x10e0b61ce1009d80,
					      0x870021ce143ad00,
					      0xe071c3c2e143f089,
					      0x75a1690ef7a20380 };
	static const uint64_t from_mixed[] = { 0x6666666666666c65, 0xbab7eca89c96396b,
					       0xb02f6a296cf7474b, 0xacacec108d01d9d0 };
	struct random random = { { 1, 2, 3, 4 } };
	struct random mixed = { { 0x0123456789abcdef, 0xfedcba9876543210, 0xdeadbeefcafebabe,
				  0x0f1e2d3c4b5a6978 } };
	uint64_t last = 0;

	for (int k = 0; k < 8; k++)
		CU_ASSERT_EQUAL(random_next(&random), from_1234[k]);
	for (int k = 8; k < 1000; k++)
		last = random_next(&random);
	CU_ASSERT_EQUAL(last, 0x3039d010986d012d);
	for (int k = 0; k < 4; k++)
		CU_ASSERT_EQUAL(random_next(&mixed), from_mixed[k]);
}

static void a_stream_is_fixed_by_seed_name_and_index(void)
{
	struct random a = random_stream(7, "home", 3), b = random_stream(7, "home", 3);

	for (int k = 0; k < 100; k++)
		CU_ASSERT_EQUAL(random_next(&a), random_next(&b));
}

/* Bits in which two streams agree among their first `count` numbers; half, if independent. */
static double agreement(struct random a, struct random b, uint32_t count)
{
	uint64_t equal = 0;

	for (uint32_t k = 0; k < count; k++)
		equal += 64 - (uint32_t)__builtin_popcountll(random_next(&a) ^ random_next(&b));
	return (double)equal / (64.0 * count);
}

static void streams_that_differ_in_seed_name_or_index_are_independent(void)
{
	struct random base = random_stream(1, "thread", 0);
	const struct random others[] = {
		random_stream(2, "thread", 0), random_stream(1, "thread", 1),
		random_stream(1, "threae", 0), random_stream(1, "", 0),
		random_stream(0, "thread", 1), random_stream(1, "thread", UINT64_MAX),
	};

	/* 64,000 bits: half of them agree within 0.2 % a standard deviation. */
	for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
		CU_ASSERT_DOUBLE_EQUAL(agreement(base, others[k], 1000), 0.5, 0.01);
}

static void the_seed_of_zero_is_as_good_as_any(void)
{
	struct random random = random_stream(0, "", 0);
	uint64_t any = 0;

	for (int k = 0; k < 4; k++)
		any |= random.state[k];
	CU_ASSERT_NOT_EQUAL(any, 0);
}

/* Of 3 * 2^62 values, taking a 64-bit number modulo the bound would give the lowest third half of
 * all draws. */
static void numbers_below_a_bound_have_no_bias(void)
{
	enum { DRAWS = 60000 };
	struct random random = random_stream(1, "test.bias", 0);
	uint64_t third = 1ull << 62;
	uint32_t low = 0, high = 0;

	for (int k = 0; k < DRAWS; k++) {
		uint64_t x = random_below(&random, 3 * third);

		low += x < third;
		high += x >= 2 * third;
		CU_ASSERT(x < 3 * third);
	}
	CU_ASSERT_DOUBLE_EQUAL((double)low / DRAWS, 1.0 / 3, 0.01);
	CU_ASSERT_DOUBLE_EQUAL((double)high / DRAWS, 1.0 / 3, 0.01);
}

/* Pearson's statistic of `bound` cells; its mean is bound - 1, its variance 2 (bound - 1). */
static void small_bounds_fill_their_cells_evenly(void)
{
	for (uint64_t bound = 1; bound <= 64; bound++) {
		struct random random = random_stream(bound, "test.cells", 0);
		double cells[64] = { 0 }, expected = 10000.0 / (double)bound, chi = 0;

		for (int k = 0; k < 10000; k++)
			cells[random_below(&random, bound)]++;
		for (uint64_t k = 0; k < bound; k++)
			chi += (cells[k] - expected) * (cells[k] - expected) / expected;
		CU_ASSERT(chi <= (double)bound - 1 + 5 * sqrt(2 * (double)bound));
	}
}

/* Mean and variance of U(0,1): 1/2, 1/12. Of an exponential of mean m: m, m^2. */
static void reals_and_exponentials_have_their_moments(void)
{
	enum { DRAWS = 200000 };
	struct random random = random_stream(1, "test.moments", 0);
	double u = 0, uu = 0, e = 0, ee = 0;

	for (int k = 0; k < DRAWS; k++) {
		double x = random_real(&random), y = random_exponential(&random, 50);

		CU_ASSERT(x >= 0 && x < 1 && y >= 0 && isfinite(y));
		u += x / DRAWS;
		uu += x * x / DRAWS;
		e += y / DRAWS;
		ee += y * y / DRAWS;
	}
	CU_ASSERT_DOUBLE_EQUAL(u, 0.5, 0.003);
	CU_ASSERT_DOUBLE_EQUAL(uu - u * u, 1.0 / 12, 0.001);
	CU_ASSERT_DOUBLE_EQUAL(e, 50, 0.5);
	CU_ASSERT_DOUBLE_EQUAL(ee - e * e, 2500, 75);
}

/* ---- coroutines ----------------------------------------------------------------------------- */

enum { STACK = 64 << 10, MANY = 500 };

struct counter {
	struct coroutine *coroutine;
	int number, steps;
	int *log, *logged;
};

static void count_steps(void *argument)
{
	struct counter *counter = argument;

	for (int k = 0; k < counter->steps; k++) {
		counter->log[(*counter->logged)++] = counter->number;
		coroutine_yield(counter->coroutine);
	}
}

static void a_yield_goes_back_to_the_one_who_resumed(void)
{
	int log[6], logged = 0;
	struct counter a = { .number = 1, .steps = 3, .log = log, .logged = &logged };
	struct counter b = { .number = 2, .steps = 3, .log = log, .logged = &logged };
	static const int expected[] = { 1, 2, 2, 1, 1, 2 };

	a.coroutine = coroutine_new(STACK, count_steps, &a);
	b.coroutine = coroutine_new(STACK, count_steps, &b);
	for (int k = 0; k < 6; k++) {
		coroutine_resume((expected[k] == 1 ? &a : &b)->coroutine);
		CU_ASSERT_EQUAL(logged, k + 1);
	}
	CU_ASSERT_EQUAL(memcmp(log, expected, sizeof(log)), 0);
	coroutine_free(a.coroutine);
	coroutine_free(b.coroutine);
}

static void a_coroutine_has_finished_once_its_body_returns(void)
{
	int log[2], logged = 0;
	struct counter a = { .number = 1, .steps = 2, .log = log, .logged = &logged };

	a.coroutine = coroutine_new(STACK, count_steps, &a);
	for (int k = 0; k < 2; k++) {
		CU_ASSERT_FALSE(coroutine_finished(a.coroutine));
		coroutine_resume(a.coroutine);
	}
	CU_ASSERT_FALSE(coroutine_finished(a.coroutine));
	coroutine_resume(a.coroutine);
	CU_ASSERT_TRUE(coroutine_finished(a.coroutine));
	coroutine_free(a.coroutine);
}

static void leave_midway(void *argument)
{
	volatile char rooms[4][16];

	for (int k = 0; k < 4; k++)
		rooms[k][k] = 1;
	coroutine_yield(*(struct coroutine **)argument);
	CU_ASSERT_EQUAL(rooms[0][0], 1);
}

/* Without instructions of the sanitizer's, which would clear the marks that this is to find. */
__attribute__((no_sanitize("address"))) static void fill_the_stack(void *argument)
{
	char room[STACK / 2];

	memset(room, 1, sizeof(room));
	*(char *)argument = ((volatile char *)room)[STACK / 4];
}

/* What a sanitizer marked on the stack of a body that never returned would be a report here. */
static void a_stack_left_midway_leaves_nothing_to_the_next(void)
{
	for (int k = 0; k < 16; k++) {
		struct coroutine *left = coroutine_new(STACK, leave_midway, &left), *next;
		char filled = 0;

		coroutine_resume(left);
		coroutine_free(left);
		next = coroutine_new(STACK, fill_the_stack, &filled);
		coroutine_resume(next);
		CU_ASSERT_EQUAL(filled, 1);
		CU_ASSERT_TRUE(coroutine_finished(next));
		coroutine_free(next);
	}
}

static void many_coroutines_keep_their_stacks_apart(void)
{
	static int log[MANY * 3];
	static struct counter counters[MANY];
	int logged = 0;

	for (int k = 0; k < MANY; k++) {
		counters[k] =
			(struct counter){ .number = k, .steps = 3, .log = log, .logged = &logged };
		counters[k].coroutine = coroutine_new(STACK, count_steps, &counters[k]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(counters[k].coroutine);
	}
	for (int step = 0; step < 4; step++)
		for (int k = 0; k < MANY; k++)
			coroutine_resume(counters[k].coroutine);
	for (int k = 0; k < MANY; k++) {
		CU_ASSERT_TRUE(coroutine_finished(counters[k].coroutine));
		CU_ASSERT_EQUAL(log[MANY + k], k);
		coroutine_free(counters[k].coroutine);
	}
	CU_ASSERT_EQUAL(logged, 3 * MANY);
}

struct deep {
	struct coroutine *coroutine;
	int levels;
	uint64_t sum;
};

/* Fills a frame, yields at the bottom and at each level on the way back, and sees that every byte
 * is as it was. */
static uint64_t descend(struct deep *deep, int level)
{
	volatile uint8_t frame[256];
	uint64_t sum = 0;

	for (size_t k = 0; k < sizeof(frame); k++)
		frame[k] = (uint8_t)(level + (int)k);
	if (level < deep->levels)
		sum = descend(deep, level + 1);
	coroutine_yield(deep->coroutine);
	for (size_t k = 0; k < sizeof(frame); k++)
		sum += frame[k] == (uint8_t)(level + (int)k);
	return sum;
}

static void deep_body(void *argument)
{
	struct deep *deep = argument;

	deep->sum = descend(deep, 1);
}

/* 100 levels of more than 256 bytes are half of the stack that was asked for. */
static void a_deep_stack_survives_yields_at_every_level(void)
{
	struct deep deep[4];

	for (int k = 0; k < 4; k++) {
		deep[k] = (struct deep){ .levels = 100 };
		deep[k].coroutine = coroutine_new(STACK, deep_body, &deep[k]);
	}
	for (int step = 0; step <= 100; step++)
		for (int k = 0; k < 4; k++)
			coroutine_resume(deep[k].coroutine);
	for (int k = 0; k < 4; k++) {
		CU_ASSERT_TRUE(coroutine_finished(deep[k].coroutine));
		CU_ASSERT_EQUAL(deep[k].sum, 100 * 256);
		coroutine_free(deep[k].coroutine);
	}
}

/* Freed in the middle of a deep stack; the next one may well get the same memory. */
static void an_unfinished_coroutine_can_be_freed(void)
{
	for (int round = 0; round < 100; round++) {
		struct deep deep = { .levels = 20 + round % 80 };

		deep.coroutine = coroutine_new(STACK, deep_body, &deep);
		for (int k = 0; k < round % 7; k++)
			coroutine_resume(deep.coroutine);
		coroutine_free(deep.coroutine);
	}
	coroutine_free(NULL);
}

struct nested {
	struct coroutine *self, *inner;
	int inner_steps;
	bool outer_last;
};

static void inner_body(void *argument)
{
	struct nested *nested = argument;

	nested->inner_steps++;
	coroutine_yield(nested->inner);
	nested->inner_steps++;
}

static void outer_body(void *argument)
{
	struct nested *nested = argument;

	coroutine_resume(nested->inner);
	coroutine_yield(nested->self);
	coroutine_resume(nested->inner);
	nested->outer_last = coroutine_finished(nested->inner);
}

static void a_coroutine_may_resume_another(void)
{
	struct nested nested = { 0 };

	nested.self = coroutine_new(STACK, outer_body, &nested);
	nested.inner = coroutine_new(STACK, inner_body, &nested);
	coroutine_resume(nested.self);
	CU_ASSERT_EQUAL(nested.inner_steps, 1);
	coroutine_resume(nested.self);
	CU_ASSERT_EQUAL(nested.inner_steps, 2);
	CU_ASSERT_TRUE(nested.outer_last);
	CU_ASSERT_TRUE(coroutine_finished(nested.self));
	coroutine_free(nested.inner);
	coroutine_free(nested.self);
}

struct floats {
	struct coroutine *coroutine;
	double start, sum;
};

/* Many values are live across each yield; the sum is exact: all are small multiples of 1/8. */
static void floats_body(void *argument)
{
	struct floats *f = argument;
	double a = f->start, b = a + 0.125, c = b * 2, d = c - 0.5, e = a + b, g = c + d,
	       h = e * 0.5, i = g + h;

	for (int k = 0; k < 50; k++) {
		coroutine_yield(f->coroutine);
		a += 1, b += 1, c += 1, d += 1, e += 1, g += 1, h += 1, i += 1;
	}
	f->sum = a + b + c + d + e + g + h + i;
}

static double floats_expected(double s)
{
	double b = s + 0.125, c = b * 2, d = c - 0.5, e = s + b, g = c + d, h = e * 0.5;

	return s + b + c + d + e + g + h + (g + h) + 8 * 50;
}

static void floating_point_values_survive_switches(void)
{
	struct floats f[3];
	double outside = 0.5;

	for (int k = 0; k < 3; k++) {
		f[k] = (struct floats){ .start = k + 0.25 };
		f[k].coroutine = coroutine_new(STACK, floats_body, &f[k]);
	}
	for (int step = 0; step <= 50; step++)
		for (int k = 0; k < 3; k++) {
			coroutine_resume(f[k].coroutine);
			outside = outside * 1.5 + 1;
		}
	for (int k = 0; k < 3; k++) {
		CU_ASSERT_EQUAL(f[k].sum, floats_expected(k + 0.25));
		coroutine_free(f[k].coroutine);
	}
	for (int step = 0; step <= 50 * 3 + 2; step++)
		outside = (outside - 1) / 1.5;
	CU_ASSERT_DOUBLE_EQUAL(outside, 0.5, 1e-3);
}

static volatile int depth_reached;

__attribute__((noinline)) static int overflow(int level)
{
	volatile uint8_t frame[128];

	frame[0] = (uint8_t)level;
	depth_reached = level;
	if (level == INT32_MAX)
		return frame[0];
	return overflow(level + 1) + frame[0];
}

static void overflow_body(void *argument)
{
	(void)argument;
	overflow(0);
}

/* What lies below the stack must not be written to: two stacks side by side, and the process must
 * end before the other one is reached. A sanitizer may end it in its own way. */
static void a_stack_overflow_ends_the_process(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		static const struct rlimit no_core = { 0, 0 };
		struct coroutine *a = coroutine_new(STACK, overflow_body, NULL);
		struct coroutine *b = coroutine_new(STACK, overflow_body, NULL);

		signal(SIGSEGV, SIG_DFL);
		setrlimit(RLIMIT_CORE, &no_core);
		if (!freopen("/dev/null", "w", stderr) || !a || !b)
			_exit(0);
		coroutine_resume(a);
		_exit(0);
	}
	CU_ASSERT_FATAL(child > 0);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	bool ended = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;

	if (SANITIZED)
		ended = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
	CU_ASSERT(ended);
}

void suite_engine(void)
{
	CU_pSuite suite = CU_add_suite("engine", NULL, NULL);

	CU_ADD_TEST(suite, near_events_come_in_order);
	CU_ADD_TEST(suite, far_events_come_in_order);
	CU_ADD_TEST(suite, events_of_one_time_come_by_cause_source_and_count);
	CU_ADD_TEST(suite, events_around_every_power_of_two_come_in_order);
	CU_ADD_TEST(suite, an_event_may_be_pushed_at_the_time_of_the_last_one_taken);
	CU_ADD_TEST(suite, an_empty_queue_has_no_event_and_no_time);
	CU_ADD_TEST(suite, the_generator_is_xoshiro256starstar);
	CU_ADD_TEST(suite, a_stream_is_fixed_by_seed_name_and_index);
	CU_ADD_TEST(suite, streams_that_differ_in_seed_name_or_index_are_independent);
	CU_ADD_TEST(suite, the_seed_of_zero_is_as_good_as_any);
	CU_ADD_TEST(suite, numbers_below_a_bound_have_no_bias);
	CU_ADD_TEST(suite, small_bounds_fill_their_cells_evenly);
	CU_ADD_TEST(suite, reals_and_exponentials_have_their_moments);
	CU_ADD_TEST(suite, a_yield_goes_back_to_the_one_who_resumed);
	CU_ADD_TEST(suite, a_coroutine_has_finished_once_its_body_returns);
	CU_ADD_TEST(suite, a_stack_left_midway_leaves_nothing_to_the_next);
	CU_ADD_TEST(suite, many_coroutines_keep_their_stacks_apart);
	CU_ADD_TEST(suite, a_deep_stack_survives_yields_at_every_level);
	CU_ADD_TEST(suite, an_unfinished_coroutine_can_be_freed);
	CU_ADD_TEST(suite, a_coroutine_may_resume_another);
	CU_ADD_TEST(suite, floating_point_values_survive_switches);
	CU_ADD_TEST(suite, a_stack_overflow_ends_the_process);
}
