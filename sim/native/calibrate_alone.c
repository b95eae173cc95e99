/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/calibrate_parts.h"
#include <stdio.h>
#include <string.h>

static const double calm_spread = 0.05;

enum alone_kind { ALONE_OPERATION, ALONE_WALK, ALONE_REMOTE, ALONE_OVERLAP };

/* Of the caches, how much of them to walk through. */
enum alone_size { SIZE_NONE, SIZE_L1, SIZE_L2, SIZE_LLC, SIZE_DRAM };

static const struct alone {
	const char *name;
	enum alone_kind kind;
	uint8_t what; /* enum bench_operation or enum alone_size */
	const char *unit, *method;
} alone_table[] = {
	{ "alone_add_unused", ALONE_OPERATION, OPERATION_LOCKED_ADD, "ns",
	  "locked adds, results unused" },
	{ "locked_add", ALONE_OPERATION, OPERATION_FETCH_ADD, "ns",
	  "fetch-adds, each adding the result of the one before" },
	{ "alone_xchg", ALONE_OPERATION, OPERATION_XCHG, "ns",
	  "exchanges, each storing the result of the one before" },
	{ "alone_cmpxchg", ALONE_OPERATION, OPERATION_CMPXCHG, "ns",
	  "compare-exchanges that succeed" },
	{ "fence", ALONE_OPERATION, OPERATION_FENCE, "ns", "fences with an empty store buffer" },
	{ "store_forward", ALONE_OPERATION, OPERATION_FORWARD, "ns",
	  "a store and a load of it, which the next store waits for" },
	{ "load_l1", ALONE_WALK, SIZE_L1, "ns", "dependent loads, random order" },
	{ "load_l2", ALONE_WALK, SIZE_L2, "ns", "dependent loads, random order" },
	{ "load_llc", ALONE_WALK, SIZE_LLC, "ns", "dependent loads, random order" },
	{ "load_dram_local", ALONE_WALK, SIZE_DRAM, "ns", "dependent loads, random order" },
	{ "load_dram_remote", ALONE_REMOTE, SIZE_DRAM, "ns", "dependent loads, random order" },
	{ "loads_in_flight", ALONE_OVERLAP, SIZE_DRAM, "lines",
	  "gain of 2 to 24 chains of dependent loads over one" },
};

enum { ALONE = sizeof(alone_table) / sizeof(*alone_table), L1_USUAL = 32 << 10 };
enum { L2_USUAL = 256 << 10, LLC_USUAL = 8 << 20 };

/* Half of a private cache; of the last level, which others use too, three times the L2, at most half;
 * of memory, four times the last level. */
static uint64_t size_of(const struct calibrating *all, enum alone_size size)
{
	const struct host *host = all->c->host;
	uint64_t l1 = host->l1.size ? host->l1.size : L1_USUAL,
		 l2 = host->l2.size ? host->l2.size : L2_USUAL,
		 llc = host->llc.size ? host->llc.size : LLC_USUAL, dram = 4 * llc;

	switch (size) {
	case SIZE_L1:
		return l1 / 2;
	case SIZE_L2:
		return l2 / 2;
	case SIZE_LLC:
		return 3 * l2 < llc / 2 || llc / 2 < 2 * l2 ? 3 * l2 : llc / 2;
	default:
		dram = dram < 64 << 20 ? 64 << 20 : dram;
		return dram < all->effort->dram_most ? dram : all->effort->dram_most;
	}
}

/* A CPU in another socket than the first; 0 where there is none. */
static uint32_t far_cpu(const struct host *host)
{
	for (uint32_t k = 1; k < host->count; k++)
		if (host->cpus[k].socket != host->cpus[0].socket)
			return k;
	return 0;
}

/* In *more, what to add to the method. */
static bool alone_run(const struct calibrating *all, const struct alone *alone,
		      struct sample *sample, char *more, size_t room, struct error *error)
{
	uint64_t size = size_of(all, (enum alone_size)alone->what);
	uint32_t home = alone->kind == ALONE_REMOTE ? far_cpu(all->c->host) : 0;
	struct bench bench = all->bench;
	double huge = 0;

	if (alone->kind == ALONE_OPERATION)
		return bench_operation(&all->bench, 0, (enum bench_operation)alone->what, sample,
				       error);
	bench.batches = all->effort->walks;
	if (alone->kind == ALONE_OVERLAP) {
		snprintf(more, room, ", %llu MiB", (unsigned long long)size >> 20);
		bench.batches = 3;
		return bench_overlap(&bench, 0, size / 2, sample, error);
	}
	if (!bench_walk(&bench, 0, home, size, sample, &huge, error))
		return false;
	snprintf(more, room, ", through %llu KiB, %.0f %% in huge pages",
		 (unsigned long long)size >> 10, huge * 100);
	return true;
}

/* Again where the batches differ; of the tries the quickest counts, for a disturbance only slows. */
static void measure_alone(struct calibrating *all, const struct alone *alone)
{
	struct calibrate_figure *figure;
	struct sample best = { 0 };
	struct error error = { "" };
	char more[METHOD_SIZE / 2] = "", noise_text[METHOD_SIZE] = "", text[METHOD_SIZE];
	bool again = true;

	for (uint32_t k = 0; again && k < all->effort->tries; k++) {
		struct sample sample = { 0 };
		struct host_noise noise;
		bool disturbed;

		host_noise_begin(&noise, &all->c->clock);
		if (!alone_run(all, alone, &sample, more, sizeof(more), &error)) {
			calibrate_lacks(all, alone->name, error.text);
			return;
		}
		disturbed = host_noise_end(&noise, &all->c->clock, all->c->host->count - 1, text,
					   sizeof(text));
		again = sample_spread(&sample) > calm_spread;
		if (best.count && sample.median > best.median)
			continue;
		best = sample;
		snprintf(noise_text, sizeof(noise_text), "%s", disturbed && again ? text : "");
	}
	figure = calibrate_add(all, alone->name, 0, alone->unit, best, "%s%s", alone->method, more);
	if (figure)
		memcpy(figure->noise, noise_text, sizeof(figure->noise));
}

static void measure_clock(struct calibrating *all)
{
	double values[9];

	for (int k = 0; k < 9; k++)
		values[k] = host_core_clock(&all->c->clock) * 1e-9;
	calibrate_add(all, "clock", 0, "GHz", sample_of(values, 9),
		      "additions that wait for each other, one a cycle");
}

void calibrate_alone(struct calibrating *all)
{
	measure_clock(all);
	for (int k = 0; k < ALONE; k++) {
		if (alone_table[k].kind == ALONE_REMOTE && !far_cpu(all->c->host))
			continue;
		calibrate_tell(all, alone_table[k].name);
		measure_alone(all, &alone_table[k]);
	}
}
