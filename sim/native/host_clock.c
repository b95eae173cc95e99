/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/host.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { COMPARE_NS = 10 * 1000 * 1000, READINGS = 200 };
enum { CHAIN_BATCHES = 40, CHAIN_BATCH = 100000, CHAIN_STEPS = 1000, CHAIN_UNROLLED = 50 };

/* Is there a counter that user space may read and that runs at one rate? */
static bool has_counter(void)
{
#if defined(__x86_64__)
	uint32_t a, b, c, d;
	bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1 << 8;
	bool rdtscp = __get_cpuid(0x80000001, &a, &b, &c, &d) && d & 1 << 27;

	return invariant && rdtscp;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The counter and the kernel's clock at one moment: of many tries, the one whose two readings of
 * the counter lie closest together. */
static void read_both(const struct host_clock *clock, uint64_t *ticks, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;

	for (int k = 0; k < READINGS; k++) {
		uint64_t before = host_ticks(clock), now = host_monotonic_ns(),
			 after = host_ticks(clock);

		if (after - before >= least)
			continue;
		least = after - before;
		*ticks = before + (after - before) / 2;
		*ns = now;
	}
}

struct host_clock host_clock_new(bool use_counter)
{
	struct host_clock clock = { use_counter && has_counter(), 1, 0 };
	uint64_t ticks[2] = { 0, 0 }, ns[2] = { 0, 0 }, least = UINT64_MAX;

	if (clock.counter) {
		read_both(&clock, &ticks[0], &ns[0]);
		while (host_monotonic_ns() - ns[0] < 2 * COMPARE_NS)
			;
		read_both(&clock, &ticks[1], &ns[1]);
		if (ticks[1] > ticks[0])
			clock.ns_per_tick = (double)(ns[1] - ns[0]) / (double)(ticks[1] - ticks[0]);
		else
			clock.counter = false;
	}
	for (int k = 0; k < READINGS; k++) {
		uint64_t before = host_ticks(&clock), span = host_ticks(&clock) - before;

		least = span < least ? span : least;
	}
	clock.overhead = (double)least;
	return clock;
}

/* CHAIN_STEPS additions of a register to another: with a constant, some cores do several a cycle.
 * They go on from `sum`, so that they wait for what was added before. */
static uint64_t chain(uint64_t sum)
{
	uint64_t one = 1;

	for (int k = 0; k < CHAIN_STEPS / CHAIN_UNROLLED; k++) {
#define FIVE(x)  x x x x x
#define FIFTY(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x)
#if defined(__x86_64__)
		__asm__ volatile(FIFTY("add %1, %0\n\t") : "+r"(sum) : "r"(one) : "cc");
#elif defined(__aarch64__)
		__asm__ volatile(FIFTY("add %0, %0, %1\n\t") : "+r"(sum) : "r"(one));
#else
		FIFTY(sum += one; __asm__ volatile("" : "+r"(sum));)
#endif
#undef FIFTY
#undef FIVE
	}
	return sum;
}

double host_core_clock(const struct host_clock *clock)
{
	double fastest = 0;

	for (int batch = 0; batch < CHAIN_BATCHES; batch++) {
		uint64_t start = host_ticks(clock), steps = 0, ticks;
		double hz;

		while (steps < CHAIN_BATCH)
			steps = chain(steps);
		ticks = host_ticks(clock) - start;
		hz = (double)steps / (host_ns(clock, ticks ? ticks : 1) * 1e-9);
		fastest = hz > fastest ? hz : fastest;
	}
	return fastest;
}
