/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one thread measures. */
#include "native/bench.h"
#include "native/chain.h"
#include "native/crew.h"

enum { OPERATIONS = 2000, WALK_STEPS = 4000, WALK_LINE = 64, CHAINS_MOST = 24 };
static const double patience_s = 20;

/* ---- operations ----------------------------------------------------------------------------- */

struct operating {
	const struct bench *bench;
	enum bench_operation operation;
	double values[BENCH_BATCHES_MOST];
};

/* Each needs the result of the one before or, where it has none, is serialised by the hardware. */
static void operate(volatile uint64_t *word, enum bench_operation operation)
{
	uint64_t *plain = (uint64_t *)word, value = 0, nothing = 0;

	switch (operation) {
	case OPERATION_LOCKED_ADD:
		for (int k = 0; k < OPERATIONS; k++)
			__atomic_fetch_add(plain, 1, __ATOMIC_SEQ_CST);
		break;
	case OPERATION_FETCH_ADD:
		for (int k = 0; k < OPERATIONS; k++)
			value = __atomic_fetch_add(plain, value | 1, __ATOMIC_SEQ_CST);
		break;
	case OPERATION_XCHG:
		for (int k = 0; k < OPERATIONS; k++)
			value = __atomic_exchange_n(plain, value, __ATOMIC_SEQ_CST);
		break;
	case OPERATION_CMPXCHG:
		value = *word;
		for (int k = 0; k < OPERATIONS; k++)
			if (__atomic_compare_exchange_n(plain, &value, value + 1, false,
							__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				value++;
		break;
	case OPERATION_FENCE:
		for (int k = 0; k < OPERATIONS; k++)
#if defined(__x86_64__)
			__asm__ volatile("mfence" ::: "memory");
#else
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
		break;
	case OPERATION_FORWARD:
		for (int k = 0; k < OPERATIONS; k++) {
			*word = value;
			value = *word;
			__asm__ volatile("" : "+r"(nothing)); /* see bench_contest.c */
			word += nothing;
		}
		break;
	}
}

static void operation_body(struct crewman *self, void *argument)
{
	struct operating *operating = argument;
	const struct bench *bench = operating->bench;
	_Alignas(128) volatile uint64_t word[16] = { 0 };

	(void)self;
	for (uint32_t batch = 0; batch <= bench->batches; batch++) {
		uint64_t start = host_ticks(bench->clock), ticks;

		operate(word, operating->operation);
		ticks = host_ticks(bench->clock) - start;
		if (batch) /* the first warms up */
			operating->values[batch - 1] = host_ns(bench->clock, ticks) / OPERATIONS;
	}
}

bool bench_operation(const struct bench *bench, uint32_t cpu, enum bench_operation operation,
		     struct sample *sample, struct error *error)
{
	struct operating operating = { .bench = bench, .operation = operation };

	if (!crew_run(bench->host, &cpu, 1, patience_s, operation_body, &operating, error))
		return false;
	*sample = sample_of(operating.values, bench->batches);
	return true;
}

/* ---- walks ---------------------------------------------------------------------------------- */

struct walking {
	const struct bench *bench;
	struct arena arena;
	uint32_t lines, chains, walker; /* walker: of the crew; the other has made the chain */
	double values[BENCH_BATCHES_MOST];
};

static void walk_chains(struct link **at, uint32_t chains, uint32_t steps)
{
	if (chains == 1) {
		*at = chain_walk(*at, steps);
		return;
	}
	for (uint32_t step = 0; step < steps; step++)
		for (uint32_t k = 0; k < chains; k++)
			at[k] = *(struct link *volatile *)&at[k]->next;
}

static void walk(struct walking *walking)
{
	const struct bench *bench = walking->bench;
	struct link *at[CHAINS_MOST], *first = (struct link *)(void *)walking->arena.base;
	uint32_t steps = WALK_STEPS / walking->chains;

	for (uint32_t k = 0; k < walking->chains; k++) {
		at[k] = first;
		first = chain_walk(first, walking->lines / walking->chains);
	}
	for (uint32_t batch = 0; batch < bench->batches; batch++) {
		uint64_t start = host_ticks(bench->clock), ticks;

		walk_chains(at, walking->chains, steps);
		ticks = host_ticks(bench->clock) - start;
		walking->values[batch] = host_ns(bench->clock, ticks) / (steps * walking->chains);
	}
}

static void walk_body(struct crewman *self, void *argument)
{
	struct walking *walking = argument;

	if (self->index == 0)
		chain_make(walking->arena.base, walking->lines, WALK_LINE);
	if (crew_meet(self) && self->index == walking->walker)
		walk(walking);
}

static bool walk_with(const struct bench *bench, struct walking *walking, uint32_t cpu,
		      uint32_t home, struct sample *sample, struct error *error)
{
	const uint32_t order[] = { home, cpu };

	walking->walker = home != cpu;
	if (!crew_run(bench->host, order, walking->walker + 1, patience_s, walk_body, walking,
		      error))
		return false;
	*sample = sample_of(walking->values, bench->batches);
	return true;
}

bool bench_walk(const struct bench *bench, uint32_t cpu, uint32_t home, uint64_t size,
		struct sample *sample, double *huge, struct error *error)
{
	struct walking walking = { .bench = bench,
				   .lines = (uint32_t)(size / WALK_LINE),
				   .chains = 1 };
	bool done = arena_new(&walking.arena, size, error) &&
		    walk_with(bench, &walking, cpu, home, sample, error);

	if (done)
		*huge = arena_huge(&walking.arena);
	arena_free(&walking.arena);
	return done;
}

bool bench_overlap(const struct bench *bench, uint32_t cpu, uint64_t size, struct sample *sample,
		   struct error *error)
{
	struct walking walking = { .bench = bench, .lines = (uint32_t)(size / WALK_LINE) };
	double lines[CHAINS_MOST], alone = 0, most = 0;
	bool done = arena_new(&walking.arena, size, error);
	uint32_t tries = 0;

	for (uint32_t chains = 1; done && chains <= CHAINS_MOST; chains += chains < 4 ? 1 : 4) {
		walking.chains = chains;
		done = walk_with(bench, &walking, cpu, cpu, sample, error);
		alone = chains == 1 ? sample->median : alone;
		lines[tries++] = alone / sample->median;
		most = lines[tries - 1] > most ? lines[tries - 1] : most;
	}
	arena_free(&walking.arena);
	if (done)
		*sample = sample_of(&most, 1);
	return done;
}
