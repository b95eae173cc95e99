/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the simulator is: captures read and replayed, simulated accesses and events a second on one
 * core of the host, and what its parts cost. Each figure is the best of several measurements; only the
 * replay is measured once. */
#include "engine/coroutine.h"
#include "engine/queue.h"
#include "engine/random.h"
#include "machine/machine.h"
#include "tests/bench/captures.h"
#include "workload/simulation.h"
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 3, CPUS = 72 };
static const double LEAST_SECONDS = 0.5;

/* What one run of `count` units of work did. */
struct yield {
	double seconds, accesses, events;
};

struct bench {
	const char *name;
	struct yield (*run)(uint64_t count, uint32_t threads);
	uint32_t threads;
	uint64_t start; /* units to begin with */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double peak_megabytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void give_up(const char *why)
{
	fprintf(stderr, "bench: %s\n", why);
	exit(1);
}

/* ---- simulations ---------------------------------------------------------------------------- */

/* 2 sockets x 18 cores x 2 threads, of the size and latencies of a Skylake-SP. */
static struct machine *machine_make(void)
{
	const struct machine_config config = {
		.name = "bench",
		.clock = 2.3e9,
		.sockets = 2,
		.cores_per_socket = 18,
		.smt = 2,
		.timing = { .scale = 1,
			    .llc = 19.5,
			    .dram_local = 88,
			    .dram_remote = 141,
			    .hand_off = { [DISTANCE_SOCKET] = { 42, 48, 56 },
					  [DISTANCE_CROSS] = { 134, 141, 146 } },
			    .dirty = { [DISTANCE_SOCKET] = { 50, 50 },
				       [DISTANCE_CROSS] = { 115, 120 } },
			    .clean = { [DISTANCE_SOCKET] = 50, [DISTANCE_CROSS] = 115 },
			    .upgrade = { [DISTANCE_SOCKET] = 45, [DISTANCE_CROSS] = 120 },
			    .invalidate_serial = 1,
			    .home_occupancy = 3 },
		.coherence = { .line = 64,
			       .l1 = { 64, 8, 4 },
			       .l2 = { 1024, 16, 14 },
			       .llc_sets = 32768,
			       .llc_ways = 11,
			       .batch = 8,
			       .seed = 1 },
		.locked_rmw = 18,
		.fence = 33,
		.store_forward = 5,
		.store_buffer = 56,
		.loads_in_flight = 10,
		.smt_slowdown = 1.5,
		.run_ahead = true,
	};
	struct error error = { "" };
	struct machine *machine = machine_new(&config, &error);

	if (!machine)
		give_up(error.text);
	return machine;
}

struct program {
	uint64_t count;
	uint32_t number;
};

/* Three loads to a store, over 16 lines of the thread's own. */
static void private_body(struct thread *self, void *argument)
{
	const struct program *program = argument;
	uint64_t base = (uint64_t)(1 + program->number) << 20;

	for (uint64_t k = 0; k < program->count; k++) {
		struct place place = { .address = base + k % 64 * 16, .size = 8 };

		if (k % 4 == 3)
			thread_store(self, &place, k);
		else
			thread_load(self, &place);
	}
}

static void counter_body(struct thread *self, void *argument)
{
	const struct program *program = argument;
	const struct place place = { .address = 4096, .size = 8 };

	for (uint64_t k = 0; k < program->count; k++)
		thread_rmw(self, &place, RMW_ADD, 1, 0);
}

static struct yield simulate(void (*body)(struct thread *, void *), uint64_t count,
			     uint32_t threads)
{
	struct machine *machine = machine_make();
	struct program programs[CPUS];
	struct error error = { "" };
	struct yield yield;

	for (uint32_t k = 0; k < threads; k++) {
		programs[k] = (struct program){ count / threads + 1, k };
		if (!machine_thread(machine, k, body, &programs[k], &error))
			give_up(error.text);
	}
	double start = now();

	if (!machine_run(machine, &error))
		give_up(error.text);
	yield = (struct yield){ .seconds = now() - start,
				.accesses = (double)(programs[0].count * threads),
				.events = (double)machine->coherence->events };
	machine_free(machine);
	return yield;
}

static struct yield private_hits(uint64_t count, uint32_t threads)
{
	return simulate(private_body, count, threads);
}

static struct yield contended_counter(uint64_t count, uint32_t threads)
{
	return simulate(counter_body, count, threads);
}

/* ---- parts ---------------------------------------------------------------------------------- */

struct switcher {
	struct coroutine *coroutine;
	uint64_t left;
};

static void switch_body(void *argument)
{
	struct switcher *switcher = argument;

	while (switcher->left--)
		coroutine_yield(switcher->coroutine);
}

/* The base variant of the 2022 series, `count` microseconds of it, with the parameter that its
 * calibration finds. Accesses are those of the windows, which hold nearly the whole run. */
static struct yield base_variant(uint64_t count, uint32_t threads)
{
	struct error error = { "" };
	struct setting setting = { document_load("configs/experiments/memcg-2022.yaml", &error),
				   document_load("configs/machines/skx-2s-18c.yaml", &error) };
	struct run_options options = { .seed = 1, .layout_directory = "configs/layouts" };
	struct simulation simulation;
	struct yield yield = { 0 };
	char text[40];
	double start;

	(void)threads;
	snprintf(text, sizeof(text), "{warmup: 1 us, duration: %llu us}",
		 (unsigned long long)count);
	if (!setting.experiment || !setting.machine ||
	    !setting_override_text(&setting, "measure", text, "bench", &error) ||
	    !setting_override_text(&setting, "workload.truesize_scale", "3.07", "bench", &error))
		give_up(error.text);
	start = now();
	if (!simulation_run(&simulation, &setting, &options, &error))
		give_up(error.text);
	yield.seconds = now() - start;
	yield.events = (double)simulation.build->machine->coherence->events;
	for (uint32_t k = 0; k < simulation.measure->field_count; k++) {
		const struct field_counts *counts = &simulation.measure->fields[k].counts;

		yield.accesses += (double)(counts->loads + counts->stores + counts->rmws);
	}
	simulation_free(&simulation);
	setting_free(&setting);
	return yield;
}

/* A unit is one switch: half of a resume and the yield that ends it. */
static struct yield coroutine_switches(uint64_t count, uint32_t threads)
{
	struct switcher switcher[CPUS];
	double start;

	for (uint32_t k = 0; k < threads; k++) {
		switcher[k].left = count / threads / 2;
		switcher[k].coroutine = coroutine_new(64 << 10, switch_body, &switcher[k]);
		if (!switcher[k].coroutine)
			give_up("out of memory");
	}
	start = now();
	while (!coroutine_finished(switcher[0].coroutine))
		for (uint32_t k = 0; k < threads; k++)
			coroutine_resume(switcher[k].coroutine);

	double seconds = now() - start;

	for (uint32_t k = 0; k < threads; k++)
		coroutine_free(switcher[k].coroutine);
	return (struct yield){ .seconds = seconds };
}

/* A unit is a push and a pop, with as many events under way as threads, up to 300 cycles ahead. */
static struct yield queue_turns(uint64_t count, uint32_t threads)
{
	struct random random = random_stream(1, "bench.queue", 0);
	struct queue *queue = queue_new();
	static struct event events[CPUS];
	static uint16_t delay[4096];
	double start;

	for (int k = 0; k < 4096; k++)
		delay[k] = (uint16_t)random_below(&random, 300);
	for (uint32_t k = 0; k < threads; k++) {
		events[k] = (struct event){ .time = delay[k], .source = k };
		queue_push(queue, &events[k]);
	}
	start = now();
	for (uint64_t k = 0; k < count; k++) {
		struct event *event = queue_pop(queue);

		event->cause = event->time;
		event->time += delay[k % 4096];
		event->count++;
		queue_push(queue, event);
	}
	double seconds = now() - start;

	queue_free(queue);
	return (struct yield){ .seconds = seconds };
}

/* ---- measurement ---------------------------------------------------------------------------- */

/* The best of three, each long enough. */
static struct yield measure(const struct bench *bench, uint64_t *count)
{
	struct yield best = { .seconds = INFINITY }, yield;

	*count = bench->start;
	while ((yield = bench->run(*count, bench->threads)).seconds < LEAST_SECONDS)
		*count *= yield.seconds < LEAST_SECONDS / 8 ? 4 : 2;
	for (int k = 0; k < ROUNDS; k++) {
		best = yield.seconds < best.seconds ? yield : best;
		if (k < ROUNDS - 1)
			yield = bench->run(*count, bench->threads);
	}
	return best;
}

int main(int argc, char **argv)
{
	/* A new simulation is a row here. */
	static const struct bench simulations[] = {
		{ "private hits", private_hits, 1, 1 << 20 },
		{ "private hits", private_hits, CPUS, 1 << 20 },
		{ "contended counter", contended_counter, CPUS, 1 << 16 },
		{ "base variant", base_variant, CPUS, 2000 },
	};
	static const struct bench parts[] = {
		{ "coroutine switch", coroutine_switches, 1, 1 << 20 },
		{ "coroutine switch", coroutine_switches, CPUS, 1 << 20 },
		{ "queue push and pop", queue_turns, CPUS, 1 << 20 },
	};
	uint64_t count;

	(void)argc;
	printf("%-20s %7s %14s %12s %9s\n", "simulation", "threads", "M accesses/s", "M events/s",
	       "peak MB");
	for (size_t k = 0; k < sizeof(simulations) / sizeof(simulations[0]); k++) {
		struct yield best = measure(&simulations[k], &count);

		printf("%-20s %7u %14.2f %12.2f %9.1f\n", simulations[k].name,
		       simulations[k].threads, best.accesses / best.seconds * 1e-6,
		       best.events / best.seconds * 1e-6, peak_megabytes());
		fflush(stdout);
	}
	printf("\n%-20s %7s %14s\n", "part", "threads", "ns");
	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		struct yield best = measure(&parts[k], &count);

		printf("%-20s %7u %14.2f\n", parts[k].name, parts[k].threads,
		       best.seconds / (double)count * 1e9);
		fflush(stdout);
	}
	putchar('\n');
	captures_measure(dirname(strdup(argv[0]))); /* beside this program: under build/ */
	return 0;
}
