/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads charge and uncharge one counter, laid out as the kernel's page counter of Linux 5.15
 * on a line of its own, and count every access that they make to it: what a capture of this program
 * is held against.
 *
 * usage: pages [ROUNDS]; prints FIELD LOADS STORES ATOMICS, a line each. Every fourth charge is of
 * more than the limit, and fails. Who fails by the other's charge, and who raises the watermark, is
 * chance: the counts differ from run to run, and are right each time. */
#define _GNU_SOURCE /* pthread_setaffinity_np */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, LIMIT = 1 << 20, TOO_MUCH_EVERY = 4, ROUNDS_MAX = 1000000 };

#define FIELDS(FIELD)             \
	FIELD(usage)              \
	FIELD(min)                \
	FIELD(low)                \
	FIELD(high)               \
	FIELD(max)                \
	FIELD(emin)               \
	FIELD(min_usage)          \
	FIELD(children_min_usage) \
	FIELD(elow)               \
	FIELD(low_usage)          \
	FIELD(children_low_usage) \
	FIELD(watermark)          \
	FIELD(failcnt)

/* Atomic, so that the compiler makes just the accesses that are written down; no access follows from
 * a load of the same field by adding, which could become one instruction with it. */
struct pages_counter {
#define MEMBER(name) _Atomic(long) name;
	FIELDS(MEMBER)
#undef MEMBER
	struct pages_counter *parent;
} __attribute__((aligned(64)));

enum field {
#define NUMBER(name) FIELD_##name,
	FIELDS(NUMBER)
#undef NUMBER
		FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = {
#define NAME(name) #name,
	FIELDS(NAME)
#undef NAME
};

struct pages_counter counter = { .min = 1, .low = 2, .max = LIMIT };

struct worker {
	pthread_t thread;
	pthread_barrier_t *barrier;
	long number, rounds;
	struct count {
		unsigned long loads, stores, atomics;
	} counts[FIELD_COUNT];
};

#define LOAD(worker, name)                       \
	((worker)->counts[FIELD_##name].loads++, \
	 atomic_load_explicit(&counter.name, memory_order_relaxed))
#define STORE(worker, name, value)                \
	((worker)->counts[FIELD_##name].stores++, \
	 atomic_store_explicit(&counter.name, value, memory_order_relaxed))
#define ADD(worker, name, value) \
	((worker)->counts[FIELD_##name].atomics++, atomic_fetch_add(&counter.name, value) + (value))
#define EXCHANGE(worker, name, value) \
	((worker)->counts[FIELD_##name].atomics++, atomic_exchange(&counter.name, value))

/* For the capture to say where it was. */
#define NAMED __attribute__((noinline))

/* What of the usage is protected, looked at after each change of it; a parent would add it up. */
static NAMED void protect(struct worker *worker, long usage)
{
	long min = LOAD(worker, min), low = LOAD(worker, low);

	min = min < usage ? min : usage;
	low = low < usage ? low : usage;
	if (LOAD(worker, min_usage) != min)
		EXCHANGE(worker, min_usage, min);
	if (LOAD(worker, low_usage) != low)
		EXCHANGE(worker, low_usage, low);
}

static NAMED bool charge(struct worker *worker, long pages)
{
	long usage = ADD(worker, usage, pages);

	if (usage > LOAD(worker, max)) {
		ADD(worker, usage, -pages);
		ADD(worker, failcnt, 1);
		return false;
	}
	protect(worker, usage);
	if (usage > LOAD(worker, watermark))
		STORE(worker, watermark, usage);
	return true;
}

static NAMED void uncharge(struct worker *worker, long pages)
{
	protect(worker, ADD(worker, usage, -pages));
}

/* To a CPU of its own, where there are enough that it may use. */
static void pin(long number)
{
	cpu_set_t allowed, own;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < THREADS)
		return;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && !number--) {
			CPU_ZERO(&own);
			CPU_SET(cpu, &own);
			pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
			return;
		}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	pin(worker->number);
	for (long round = 0; round < worker->rounds; round++) {
		long pages = round % TOO_MUCH_EVERY ? worker->number + 1 : LIMIT + 1;

		pthread_barrier_wait(worker->barrier);
		if (charge(worker, pages))
			uncharge(worker, pages);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS];
	pthread_barrier_t barrier;
	long rounds = argc > 1 ? atol(argv[1]) : 20;

	if (rounds < 1 || rounds > ROUNDS_MAX || pthread_barrier_init(&barrier, NULL, THREADS)) {
		fprintf(stderr, "usage: pages [ROUNDS]; 1 to %d of them\n", ROUNDS_MAX);
		return 2;
	}
	for (long k = 0; k < THREADS; k++) {
		workers[k] = (struct worker){ .barrier = &barrier, .number = k, .rounds = rounds };
		if (pthread_create(&workers[k].thread, NULL, work, &workers[k])) {
			perror("pages: pthread_create");
			return 1; /* the threads that wait at the barrier end with it */
		}
	}
	for (long k = 0; k < THREADS; k++)
		pthread_join(workers[k].thread, NULL);
	for (int field = 0; field < FIELD_COUNT; field++) {
		struct count sum = { 0 };

		for (long k = 0; k < THREADS; k++) {
			sum.loads += workers[k].counts[field].loads;
			sum.stores += workers[k].counts[field].stores;
			sum.atomics += workers[k].counts[field].atomics;
		}
		printf("%s %lu %lu %lu\n", field_names[field], sum.loads, sum.stores, sum.atomics);
	}
	return 0;
}
