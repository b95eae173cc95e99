/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory cgroups: the per-CPU stock in front of the page counters, and what follows a charge or a
 * give-back.
 *
 * Written from the order of accesses in mm/memcontrol.c and net/core/sock.c of Linux v6.0-rc1 (read
 * there; no text is copied). */
#ifndef MODELS_MEMCG_H
#define MODELS_MEMCG_H

#include "models/page_counter.h"

struct mem_cgroup {
	struct {
		struct place parent;
	} css;
	struct page_counter memory, swap;
	struct place high; /* v4.0: outside the counter */
	struct place socket_pressure, vmstats_percpu;
};

/* One CPU's share of memory-cgroup and socket accounting. */
struct memcg_cpu {
	struct place cached, nr_pages; /* struct memcg_stock_pcp: whose pages, how many */
	struct place stat,
		stats_updates; /* MEMCG_SOCK, and how far it is from the last threshold */
	struct place reserve;  /* of the protocol's memory, in front of memory_allocated */
};

/* What all CPUs share outside the cgroups. */
struct memcg_shared {
	struct place jiffies;
	struct place stats_flush_threshold;
	struct place memory_allocated;
	struct place online_cpus;
};

struct memcg_rules {
	struct page_counter_rules counter;
	int64_t batch;   /* pages that a charge takes at once, and that a stock may hold: 32 up to
			    v6.0, then 64 */
	int64_t reserve; /* pages of a CPU's protocol reserve, either way: 256 (net/sock.h,
			    v6.0-rc1) */
	bool socket_pressure_walk; /* on each give-back, all levels (v6.0-rc1; gone in v6.8 and in
				      the stable v6.1) */
};

/* Charges n pages; through the stock where it has them. False where a limit forbids it. A NULL
 * memcg is the root's: no accounting. */
bool memcg_charge(struct thread *self, const struct memcg_rules *rules, struct mem_cgroup *memcg,
		  struct memcg_cpu *cpu, int64_t n);
/* Puts n pages into the CPU's stock; on overflow all of it goes back to the counters. */
void memcg_refill_stock(struct thread *self, const struct memcg_rules *rules,
			struct mem_cgroup *memcg, struct memcg_cpu *cpu, int64_t n);

/* Socket memory: the protocol's own count, then the cgroup's. */
void memcg_charge_socket(struct thread *self, const struct memcg_rules *rules,
			 struct mem_cgroup *memcg, struct memcg_cpu *cpu,
			 struct memcg_shared *shared, int64_t n, bool forced);
void memcg_uncharge_socket(struct thread *self, const struct memcg_rules *rules,
			   struct mem_cgroup *memcg, struct memcg_cpu *cpu,
			   struct memcg_shared *shared, int64_t n);

#endif
