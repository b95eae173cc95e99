/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine that hitm runs on: which CPUs this process may use and how they lie to each other,
 * a clock for short spans, and what disturbs a measurement. */
#ifndef NATIVE_HOST_H
#define NATIVE_HOST_H

#include "config/error.h"
#include <stdint.h>
#include <time.h>

/* ---- topology ------------------------------------------------------------------------------- */

/* Numbers count from 0 what is usable, except that `os` and `node` are the kernel's. Where the host
 * does not tell a level, it coincides with the next one above (a core with its CPU). */
struct host_cpu {
	uint32_t os;
	uint32_t core;
	uint32_t smt;     /* which thread of its core */
	uint32_t cluster; /* cores that share a last-level cache */
	uint32_t die;
	uint32_t socket;
	uint32_t node; /* NUMA */
};

/* A data or unified cache; size 0: the host does not tell. */
struct host_cache {
	uint64_t size;
	uint32_t ways; /* 0: not told, or fully associative */
};

enum { HOST_NAME_SIZE = 256 };

struct host {
	char name[HOST_NAME_SIZE];  /* the network's name for it */
	char model[HOST_NAME_SIZE]; /* the vendor's name of the CPU; may be empty */
	struct host_cpu *cpus;      /* socket by socket, core by core, siblings side by side */
	uint32_t count, cores, clusters, dies, sockets;
	struct host_cache l1, l2,
		llc;   /* of the first CPU; llc: the last level, if it is not the l2 */
	uint32_t line; /* bytes of a cache line */
	bool known; /* false: the host tells no topology; each CPU is taken for a core of one socket */
};

/* The CPUs that the cpuset and the affinity of the calling thread allow. The caller frees it with
 * host_free. NULL with *error set where there is no memory, or no usable CPU. */
struct host *host_new(struct error *error);
/* The same from a topology of hwloc's, loaded by the caller and still his: for topologies made up
 * or read from XML, whose CPUs all count as usable. */
struct hwloc_topology;
struct host *host_of_topology(struct hwloc_topology *topology, struct error *error);
void host_free(struct host *host);

/* Which CPUs to use, the first thread's first, as indices of host->cpus:
 *   spread     a CPU of each core, the sockets taking turns, then the siblings likewise
 *   compact    a CPU of each core, socket after socket, then the siblings likewise
 *   0,2,4-7    these, by the kernel's numbers, each at most once
 * The caller frees the array of *count. NULL with *error set. */
uint32_t *host_order(const struct host *host, const char *placement, uint32_t *count,
		     struct error *error);

/* Binds the calling thread to one CPU. False with *error set. */
bool host_pin(const struct host_cpu *cpu, struct error *error);

/* Gives the calling thread all CPUs of the host again. */
bool host_unpin(const struct host *host, struct error *error);

/* ---- clock ---------------------------------------------------------------------------------- */

/* Ticks are those of the CPU's counter where that runs at one rate in every power state (an
 * invariant TSC; Arm's virtual counter), else nanoseconds of CLOCK_MONOTONIC_RAW. */
struct host_clock {
	bool counter;
	double ns_per_tick;
	double overhead; /* ticks that two readings one after the other are apart, at least */
};

/* Takes some 20 ms to compare the counter with CLOCK_MONOTONIC_RAW; without `use_counter` there is
 * nothing to compare. */
struct host_clock host_clock_new(bool use_counter);

static inline uint64_t host_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Not before all earlier loads and locked operations are done; later ones do not begin before. */
static inline uint64_t host_ticks(const struct host_clock *clock)
{
#if defined(__x86_64__)
	if (clock->counter) {
		uint32_t low, high, cpu;

		__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(cpu)::"memory");
		return (uint64_t)high << 32 | low;
	}
#elif defined(__aarch64__)
	if (clock->counter) {
		uint64_t ticks;

		__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
		return ticks;
	}
#endif
	(void)clock;
	return host_monotonic_ns();
}

static inline double host_ns(const struct host_clock *clock, uint64_t ticks)
{
	return (double)ticks * clock->ns_per_tick;
}

/* Hz of the core that the calling thread is on, as it runs now: additions that wait for each other
 * take a cycle each. Takes about 2 ms; the fastest of many short batches counts. */
double host_core_clock(const struct host_clock *clock);

/* ---- noise ---------------------------------------------------------------------------------- */

/* What happened to a measurement. Fields are of the span from begin to end once it has ended. */
struct host_noise {
	double ms;
	double stolen_ms;    /* that the hypervisor ran others, on all CPUs; in steps of 10 ms */
	long switches;       /* involuntary, of all threads of the process */
	double clock_change; /* of the core's clock: 0.02 is 2 % */
	uint32_t runnable;   /* other tasks that wanted a CPU, at the busier end */
	double clock_before; /* Hz */
};

void host_noise_begin(struct host_noise *noise, const struct host_clock *clock);
/* Were there any: stolen time, more than 300 switches a second (and more than one), a change of the
 * clock by more than 2 %, more runnable tasks than `idle_cpus` have room for? Then text says so in a
 * few words, for a message. To be called where host_noise_begin was, with no thread left spinning. */
bool host_noise_end(struct host_noise *noise, const struct host_clock *clock, uint32_t idle_cpus,
		    char *text, size_t size);

#endif
