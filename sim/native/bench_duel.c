/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two threads measure. */
#include "native/bout.h"
#include "native/chain.h"
#include <math.h>
#include <stdlib.h>

/* Lines of a batch: they fit any L1, with a stride that uses all of its sets and that no prefetcher
 * of adjacent lines makes use of. */
enum { LINES = 128, STRIDE = 5 * 64 };

/* Of a pair that alternates. */
enum { ROUNDS = 200, WARM_ROUNDS = 20 };
static const double patience_s = 10;

struct duelling {
	struct bout bout;
	enum bench_duel duel;
	struct arena arena;
	struct link *ring;
	bool flushed;
	double values[BOUT_BATCHES_MOST];
};

static bool alternates(enum bench_duel duel)
{
	return duel == DUELS_CAS || duel == DUELS_LOAD_CAS;
}

/* The thread alternates with the other: 0 to 1 and back. False where it waited in vain. */
static bool alternate(struct crewman *self, const struct duelling *duelling, uint64_t mine,
		      uint32_t times)
{
	uint64_t *word = &duelling->ring->word, expected;
	bool load = duelling->duel == DUELS_LOAD_CAS;

	for (uint32_t k = 0; k < times; k++) {
		do {
			while (load && __atomic_load_n(word, __ATOMIC_RELAXED) != mine)
				if (!crew_spin(self))
					return false;
			expected = mine;
			if (!crew_spin(self))
				return false;
		} while (!__atomic_compare_exchange_n(word, &expected, !mine, false,
						      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	}
	return true;
}

static double time_alternation(struct crewman *self, const struct duelling *duelling)
{
	const struct host_clock *clock = duelling->bout.bench->clock;
	uint64_t start;

	if (!alternate(self, duelling, 1, WARM_ROUNDS))
		return NAN;
	start = host_ticks(clock);
	alternate(self, duelling, 1, ROUNDS);
	start = host_ticks(clock) - start;
	alternate(self, duelling, 1, WARM_ROUNDS);
	return host_ns(clock, start) / ROUNDS / 2;
}

/* Stores to (or adds to) the word of every line. */
static void write_ring(struct link *first, bool locked)
{
	struct link *at = first;

	do {
		if (locked)
			__atomic_fetch_add(&at->word, 1, __ATOMIC_SEQ_CST);
		else
			__atomic_store_n(&at->word, 1, __ATOMIC_RELAXED);
		at = chain_walk(at, 1);
	} while (at != first);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* What the first thread does before the second measures. */
static void prepare(struct duelling *duelling)
{
	if (duelling->duel == DUELS_DIRTY || duelling->duel == DUELS_RELOAD) {
		write_ring(duelling->ring, false);
		return;
	}
	duelling->flushed = chain_flush(duelling->ring);
	chain_walk(duelling->ring, LINES);
}

/* ns of a line. */
static double time_transfers(const struct duelling *duelling)
{
	const struct host_clock *clock = duelling->bout.bench->clock;
	uint64_t start, taken, own = 0;

	if (duelling->duel == DUELS_UPGRADE)
		chain_walk(duelling->ring, LINES);
	start = host_ticks(clock);
	if (duelling->duel == DUELS_UPGRADE)
		write_ring(duelling->ring, true);
	else
		chain_walk(duelling->ring, LINES);
	taken = host_ticks(clock) - start;
	if (duelling->duel == DUELS_UPGRADE) { /* the same again on lines that are now owned */
		start = host_ticks(clock);
		write_ring(duelling->ring, true);
		own = host_ticks(clock) - start;
	}
	return host_ns(clock, taken > own ? taken - own : 0) / LINES;
}

static void duel_batch(struct crewman *self, void *argument, uint32_t batch)
{
	struct duelling *duelling = argument;
	bool second = self->index == 1, reload = duelling->duel == DUELS_RELOAD;

	if (alternates(duelling->duel)) {
		if (second)
			duelling->values[batch] = time_alternation(self, duelling);
		else
			alternate(self, duelling, 0, 2 * WARM_ROUNDS + ROUNDS);
		return;
	}
	if (!second)
		prepare(duelling);
	if (crew_meet(self) && second)
		duelling->values[batch] = time_transfers(duelling);
	if (reload && crew_meet(self) && !second)
		duelling->values[batch] = time_transfers(duelling);
}

static void ring_body(struct crewman *self, void *argument)
{
	struct duelling *duelling = argument;

	(void)self;
	duelling->ring = chain_make(duelling->arena.base, LINES, STRIDE);
}

/* Whoever touches the lines first is at their home. */
static bool make_ring(struct duelling *duelling, const struct bench_pair *pair, struct error *error)
{
	const uint32_t *home = pair->home_at_second ? &pair->second : &pair->first;
	const struct host *host = duelling->bout.bench->host;

	return arena_new(&duelling->arena, LINES * STRIDE, error) &&
	       crew_run(host, home, 1, patience_s, ring_body, duelling, error);
}

bool bench_duel(const struct bench *bench, struct bench_pair *pair, enum bench_duel duel,
		struct sample *sample, struct error *error)
{
	const uint32_t order[] = { pair->first, pair->second };
	struct duelling *duelling = calloc(1, sizeof(*duelling));
	bool done;

	if (!duelling)
		return error_set(error, "out of memory");
	duelling->duel = duel;
	duelling->flushed = true;
	duelling->bout = (struct bout){ .bench = bench,
					.order = order,
					.threads = 2,
					.token_ns = pair->token_ns,
					.batch = duel_batch,
					.argument = duelling };
	done = make_ring(duelling, pair, error) && bout_run(&duelling->bout, error);
	if (done && duelling->flushed)
		*sample = bout_sample(&duelling->bout, duelling->values);
	else
		*sample = sample_of(NULL, 0);
	pair->token_ns = duelling->bout.token_ns;
	arena_free(&duelling->arena);
	free(duelling);
	return done;
}
