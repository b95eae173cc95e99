/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes of pairs of threads: one pair after the other, on one machine, as the public tools go
 * through a matrix. The pair whose turn it is has a baton, which its first thread gets and its
 * second passes on; nobody else is active meanwhile. Each pair has a line of its own. */
#include "workload/probe.h"
#include <math.h>
#include <stdlib.h>

/* Pairs measured, at most: evenly taken from all. */
enum { PAIRS_MAX = 400, SETTLE_CYCLES = 20000 };

/* Of a pair that alternates: so many are timed, so many before and after are not. */
enum { ROUNDS = 50, WARM_ROUNDS = 5 };

struct pair {
	uint32_t first, second; /* CPUs */
	double cycles;
};

struct duel {
	const struct machine_config *config;
	enum probe_duel program;
	struct pair *pairs;
	uint32_t count;
	struct thread **threads; /* [cpu] */
};

struct duellist {
	struct duel *duel;
	uint32_t cpu;
};

/* ---- a pair's turn -------------------------------------------------------------------------- */

static struct place line_of(const struct duel *duel, uint32_t pair)
{
	return (struct place){ .address =
				       PROBE_MEMORY + (uint64_t)pair * duel->config->coherence.line,
			       .size = 8 };
}

/* Everything that is under way arrives. */
static void settle(struct thread *self)
{
	thread_work(self, SETTLE_CYCLES);
}

/* Loads lines of the same set until the cache has dropped this one. */
static void drop(struct thread *self, const struct duel *duel, struct place place)
{
	const struct coherence_config *c = &duel->config->coherence;
	uint64_t stride = (uint64_t)c->l2.sets * c->line;

	place.address += stride << 20;
	for (uint32_t k = 0; k < c->l2.ways; k++, place.address += stride)
		thread_load(self, &place);
	settle(self);
}

/* The thread alternates with the other of its pair: 0 to 1 and back. */
static void alternate(struct thread *self, const struct place *place, enum probe_duel program,
		      uint64_t mine, uint32_t times)
{
	for (uint32_t k = 0; k < times; k++) {
		if (program == DUEL_LOAD_CAS)
			while (thread_load(self, place) != mine)
				;
		while (thread_rmw(self, place, RMW_CMPXCHG, !mine, mine) != mine)
			;
	}
}

/* What the first thread does before the second measures. */
static void prepare(struct thread *self, const struct duel *duel, const struct place *place)
{
	if (duel->program == DUEL_DIRTY) {
		thread_store(self, place, 1);
		thread_fence(self);
	} else if (duel->program == DUEL_CLEAN || duel->program == DUEL_UPGRADE) {
		thread_load(self, place);
	}
	settle(self);
}

/* What the second thread measures, in cycles. */
static double measure(struct thread *self, const struct duel *duel, const struct place *place)
{
	uint64_t start;

	switch (duel->program) {
	case DUEL_CLEAN:
		thread_load(self, place);
		settle(self);
		drop(self, duel, *place);
		break;
	case DUEL_UPGRADE:
		thread_load(self, place);
		settle(self);
		break;
	case DUEL_CAS:
	case DUEL_LOAD_CAS:
		alternate(self, place, duel->program, 1, WARM_ROUNDS);
		start = self->time;
		alternate(self, place, duel->program, 1, ROUNDS);
		start = self->time - start;
		alternate(self, place, duel->program, 1, WARM_ROUNDS);
		return (double)start / ROUNDS / 2;
	case DUEL_DIRTY:
		break;
	}
	start = self->time;
	if (duel->program != DUEL_UPGRADE) {
		thread_load(self, place);
		return (double)(self->time - start);
	}
	thread_rmw(self, place, RMW_ADD, 1, 0);
	return (double)(self->time - start - duel->config->locked_rmw);
}

static void duel_body(struct thread *self, void *argument)
{
	const struct duellist *duellist = argument;
	struct duel *duel = duellist->duel;

	for (uint32_t k = 0; k < duel->count; k++) {
		struct pair *pair = &duel->pairs[k];
		const struct place place = line_of(duel, k);

		if (pair->first == duellist->cpu) {
			if (k > 0)
				thread_await(self);
			prepare(self, duel, &place);
			thread_signal(self, duel->threads[pair->second]);
			if (duel->program == DUEL_CAS || duel->program == DUEL_LOAD_CAS)
				alternate(self, &place, duel->program, 0, 2 * WARM_ROUNDS + ROUNDS);
		} else if (pair->second == duellist->cpu) {
			thread_await(self);
			pair->cycles = measure(self, duel, &place);
			settle(self);
			if (k + 1 < duel->count)
				thread_signal(self, duel->threads[pair[1].first]);
		}
	}
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Writes every `every`-th pair to `pairs`, if that is not NULL. Returns how many there are in all.
 */
static uint64_t list_pairs(const struct machine_config *config, uint8_t distance, uint64_t every,
			   struct pair *pairs)
{
	const struct topology topology = machine_topology(config);
	uint32_t cores = config->sockets * config->cores_per_socket;
	uint64_t found = 0;

	for (uint32_t a = 0; a < cores; a++)
		for (uint32_t b = a + 1; b <= cores; b++) {
			bool smt = distance == PROBE_SMT && config->smt > 1 && b == cores;

			if (!smt && (b == cores || topology_distance(&topology, a, b) != distance))
				continue;
			if (pairs && found % every == 0)
				pairs[found / every] = (struct pair){ a, smt ? a + cores : b, 0 };
			found++;
		}
	return found;
}

static int by_cycles(const void *a, const void *b)
{
	double left = ((const struct pair *)a)->cycles, right = ((const struct pair *)b)->cycles;

	return (left > right) - (left < right);
}

static struct probe_value summary(struct duel *duel)
{
	double ns = 1e9 / duel->config->clock;
	struct pair *pairs = duel->pairs;
	uint32_t n = duel->count;

	qsort(pairs, n, sizeof(*pairs), by_cycles);
	return (struct probe_value){
		.value = (pairs[(n - 1) / 2].cycles + pairs[n / 2].cycles) / 2 * ns,
		.low = pairs[0].cycles * ns,
		.p10 = pairs[(n - 1) / 10].cycles * ns,
		.p90 = pairs[n - 1 - (n - 1) / 10].cycles * ns,
		.high = pairs[n - 1].cycles * ns,
	};
}

static bool seat(struct machine *machine, struct duel *duel, struct duellist *duellists,
		 uint32_t cpu, struct error *error)
{
	if (duel->threads[cpu])
		return true;
	duellists[cpu] = (struct duellist){ duel, cpu };
	duel->threads[cpu] = machine_thread(machine, cpu, duel_body, &duellists[cpu], error);
	return duel->threads[cpu];
}

/* The socket of a pair's line. */
static uint32_t home_of(const struct machine_config *config, const struct pair *pair,
			enum home_place home)
{
	uint32_t n = config->cores_per_socket;

	switch (home) {
	case HOMED_AT_REQUESTER:
		return pair->second / n;
	case HOMED_ELSEWHERE:
		return (pair->first / n + 1) % config->sockets;
	default:
		return pair->first / n;
	}
}

static bool run(struct duel *duel, enum home_place home, struct error *error)
{
	const struct machine_config *config = duel->config;
	uint32_t cpus = config->sockets * config->cores_per_socket * config->smt;
	struct duellist *duellists = calloc(cpus, sizeof(*duellists));
	struct machine *machine = machine_new(duel->config, error);
	bool done;

	duel->threads = calloc(cpus, sizeof(struct thread *));
	done = duellists && duel->threads && machine;
	if (!duellists || !duel->threads)
		error_set(error, "out of memory");
	for (uint32_t k = 0; done && k < duel->count; k++) {
		const struct pair *pair = &duel->pairs[k];

		coherence_set_home(machine->coherence, line_of(duel, k).address,
				   home_of(duel->config, pair, home));
		done = seat(machine, duel, duellists, pair->first, error) &&
		       seat(machine, duel, duellists, pair->second, error);
	}
	done = done && machine_run(machine, error);
	machine_free(machine);
	free(duel->threads);
	free(duellists);
	return done;
}

bool probe_duel(const struct probe *probe, const struct machine_config *config, uint32_t threads,
		struct probe_value *value, struct error *error)
{
	uint64_t all = list_pairs(config, probe->distance, 1, NULL);
	uint64_t every = (all + PAIRS_MAX - 1) / PAIRS_MAX;
	struct duel duel = { .config = config, .program = probe->program };
	bool done;

	(void)threads;
	if (!all || (probe->home == HOMED_ELSEWHERE && config->sockets < 2))
		return true;
	duel.count = (uint32_t)((all + every - 1) / every);
	duel.pairs = calloc(duel.count, sizeof(*duel.pairs));
	if (!duel.pairs)
		return error_set(error, "out of memory");
	list_pairs(config, probe->distance, every, duel.pairs);
	done = run(&duel, (enum home_place)probe->home, error);
	if (done)
		*value = summary(&duel);
	free(duel.pairs);
	return done;
}
