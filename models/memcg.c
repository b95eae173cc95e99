/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/memcg.h"

static struct mem_cgroup *parent_of(struct thread *self, struct mem_cgroup *memcg)
{
	return FOLLOW(struct mem_cgroup, memcg, css.parent);
}

/* ---- the stock ------------------------------------------------------------------------------ */

static bool consume_stock(struct thread *self, const struct memcg_rules *rules,
			  struct mem_cgroup *memcg, struct memcg_cpu *cpu, int64_t n)
{
	if (n > rules->batch)
		return false;
	TOGETHER(PLACE(cpu, cached), PLACE(cpu, nr_pages));
	if (FOLLOW(struct mem_cgroup, cpu, cached) != memcg)
		return false;

	int64_t have = LOAD(cpu, nr_pages);

	if (have < n)
		return false;
	STORE(cpu, nr_pages, have - n);
	return true;
}

/* Gives all pages back, not the excess alone, and forgets whose they were. */
static void drain_stock(struct thread *self, const struct memcg_rules *rules, struct memcg_cpu *cpu)
{
	struct mem_cgroup *memcg = FOLLOW(struct mem_cgroup, cpu, cached);
	int64_t have = LOAD(cpu, nr_pages);

	if (!memcg)
		return;
	if (have) {
		page_counter_uncharge(self, &rules->counter, &memcg->memory, have);
		STORE(cpu, nr_pages, 0);
	}
	STORE(cpu, cached, 0);
}

void memcg_refill_stock(struct thread *self, const struct memcg_rules *rules,
			struct mem_cgroup *memcg, struct memcg_cpu *cpu, int64_t n)
{
	if (FOLLOW(struct mem_cgroup, cpu, cached) != memcg) {
		drain_stock(self, rules, cpu);
		STORE(cpu, cached, (uintptr_t)memcg);
	}
	n += LOAD(cpu, nr_pages);
	STORE(cpu, nr_pages, n);
	if (n > rules->batch)
		drain_stock(self, rules, cpu);
}

/* ---- charging ------------------------------------------------------------------------------- */

/* After each charge of the counters, never after a stock hit: is any level over its high limit?
 * What would follow (reclaim) is not modelled, so the walk goes on to the root as it does in a task
 * that is below all of them. */
static void check_high(struct thread *self, struct mem_cgroup *memcg)
{
	for (; memcg; memcg = parent_of(self, memcg)) {
		if (!HAS(memcg, swap.high)) {
			TOGETHER(PLACE(memcg, memory.usage), PLACE(memcg, high),
				 PLACE(memcg, css.parent));
			(void)(LOAD(memcg, memory.usage) > LOAD(memcg, high));
			continue;
		}
		TOGETHER(PLACE(memcg, memory.usage), PLACE(memcg, memory.high),
			 PLACE(memcg, swap.usage), PLACE(memcg, swap.high),
			 PLACE(memcg, css.parent));

		bool over = LOAD(memcg, memory.usage) > LOAD(memcg, memory.high);

		if (over | (LOAD(memcg, swap.usage) > LOAD(memcg, swap.high)))
			return;
	}
}

bool memcg_charge(struct thread *self, const struct memcg_rules *rules, struct mem_cgroup *memcg,
		  struct memcg_cpu *cpu, int64_t n)
{
	struct page_counter *failed;
	int64_t take = n > rules->batch ? n : rules->batch;

	if (!memcg || consume_stock(self, rules, memcg, cpu, n))
		return true;
	if (!page_counter_try_charge(self, &rules->counter, &memcg->memory, take, &failed)) {
		if (take == n)
			return false;
		take = n; /* once more, with no more than what is needed */
		if (consume_stock(self, rules, memcg, cpu, n))
			return true;
		if (!page_counter_try_charge(self, &rules->counter, &memcg->memory, take, &failed))
			return false;
	}
	if (take > n)
		memcg_refill_stock(self, rules, memcg, cpu, take - n);
	check_high(self, memcg);
	return true;
}

/* ---- sockets -------------------------------------------------------------------------------- */

/* The cgroup's statistic of socket memory: this CPU's own, and every batch of changes a look at the
 * shared threshold. */
static void count_socket_pages(struct thread *self, const struct memcg_rules *rules,
			       struct mem_cgroup *memcg, struct memcg_cpu *cpu,
			       struct memcg_shared *shared, int64_t n)
{
	int64_t updates = LOAD(cpu, stats_updates) + (n < 0 ? -n : n);

	(void)LOAD(memcg, vmstats_percpu);
	STORE(cpu, stat, LOAD(cpu, stat) + n);
	if (updates > rules->batch) {
		if (LOAD(shared, stats_flush_threshold) <= LOAD(shared, online_cpus))
			ADD(shared, stats_flush_threshold, updates / rules->batch);
		updates = 0;
	}
	STORE(cpu, stats_updates, updates);
}

/* The protocol's pages are counted on the CPU, and moved to the shared count a reserve at a time.
 */
static void move_reserve(struct thread *self, const struct memcg_rules *rules,
			 struct memcg_cpu *cpu, struct memcg_shared *shared, int64_t n)
{
	int64_t reserve = LOAD(cpu, reserve) + n;

	if (reserve >= rules->reserve || reserve <= -rules->reserve) {
		ADD(shared, memory_allocated, reserve);
		reserve = 0;
	}
	STORE(cpu, reserve, reserve);
}

void memcg_charge_socket(struct thread *self, const struct memcg_rules *rules,
			 struct mem_cgroup *memcg, struct memcg_cpu *cpu,
			 struct memcg_shared *shared, int64_t n, bool forced)
{
	move_reserve(self, rules, cpu, shared, n);
	if (!forced)
		(void)LOAD(shared, memory_allocated);
	if (!memcg)
		return;
	if (!memcg_charge(self, rules, memcg, cpu, n))
		page_counter_charge(self, &rules->counter, &memcg->memory, n);
	count_socket_pages(self, rules, memcg, cpu, shared, n);
}

/* Is any level under socket memory pressure? */
static void walk_socket_pressure(struct thread *self, struct mem_cgroup *memcg,
				 struct memcg_shared *shared)
{
	for (; memcg; memcg = parent_of(self, memcg)) {
		TOGETHER(PLACE(shared, jiffies), PLACE(memcg, socket_pressure),
			 PLACE(memcg, css.parent));
		if (LOAD(shared, jiffies) < LOAD(memcg, socket_pressure))
			return;
	}
}

void memcg_uncharge_socket(struct thread *self, const struct memcg_rules *rules,
			   struct mem_cgroup *memcg, struct memcg_cpu *cpu,
			   struct memcg_shared *shared, int64_t n)
{
	move_reserve(self, rules, cpu, shared, -n);
	if (!memcg)
		return;
	count_socket_pages(self, rules, memcg, cpu, shared, -n);
	memcg_refill_stock(self, rules, memcg, cpu, n);
	if (rules->socket_pressure_walk)
		walk_socket_pressure(self, memcg, shared);
}
