/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What many threads measure that want one line. */
#include "native/bout.h"
#include "native/chain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { WINDOW_NS = 200 * 1000, TRACE_MOST = 1 << 14, TURNS = 32, FEW = 8, LINE = 128 };
enum { LOOKS_FEW = 8 * TURNS, LOOKS_MANY = TURNS }; /* operations between looks at the clock */
static const double whole_part = 0.8;

/* The line that all want, and one that all read: whether to stop. */
struct arena_lines {
	_Alignas(LINE) uint64_t counter;
	_Alignas(LINE) uint32_t stop;
};

struct contestant {
	uint64_t begin, end, done;
	long switches;
	uint32_t *results; /* of its fetch-adds, TRACE_MOST of them */
};

struct contesting {
	struct bout bout;
	enum bench_contest contest;
	struct arena arena;
	struct arena_lines *lines;
	struct contestant *contestants;
	uint64_t before[BEFORE_KINDS];
	double values[BOUT_BATCHES_MOST], visits[BOUT_BATCHES_MOST], fair[BOUT_BATCHES_MOST];
	uint64_t *successes; /* [batch][thread] */
};

/* ---- a thread's turn ------------------------------------------------------------------------ */

static long own_switches(void)
{
#ifdef RUSAGE_THREAD
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw + usage.ru_nvcsw;
#else
	return 0;
#endif
}

static inline bool swap(uint64_t *counter, uint64_t *seen)
{
	return __atomic_compare_exchange_n(counter, seen, *seen + 1, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* One operation that counts. */
static inline uint64_t increment(uint64_t *counter, enum bench_contest contest)
{
	uint64_t seen = 0;

	switch (contest) {
	case CONTESTS_FETCH_ADD:
	case CONTESTS_TRACE:
		return __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
	case CONTESTS_CAS_LOOP:
		seen = __atomic_load_n(counter, __ATOMIC_RELAXED);
		while (!swap(counter, &seen))
			;
		break;
	case CONTESTS_LOAD_CAS_LOOP:
		do
			seen = __atomic_load_n(counter, __ATOMIC_RELAXED);
		while (!swap(counter, &seen));
		break;
	case CONTESTS_PLAIN_ADD:
		seen = __atomic_load_n(counter, __ATOMIC_RELAXED);
		__atomic_store_n(counter, seen + 1, __ATOMIC_RELAXED);
		break;
	}
	return seen;
}

/* Until all are told to stop, by the first thread, which looks at the clock now and then. Inlined for
 * each contest, and few threads do several operations before they look whether to stop, so that
 * hardly anything but the operations takes time. */
__attribute__((always_inline)) static inline uint64_t contend(struct contesting *contesting,
							      struct contestant *own, bool first,
							      enum bench_contest contest)
{
	const struct host_clock *clock = contesting->bout.bench->clock;
	uint64_t *counter = &contesting->lines->counter, done = 0, nothing = 0;
	uint64_t window = (uint64_t)(WINDOW_NS / clock->ns_per_tick);
	bool few = contesting->bout.threads <= FEW;
	uint32_t turns = few ? TURNS : 1, looks = few ? LOOKS_FEW : LOOKS_MANY;

	while (!__atomic_load_n(&contesting->lines->stop, __ATOMIC_RELAXED)) {
		for (uint32_t k = 0; k < turns; k++) {
			uint64_t result = increment(counter, contest);

			/* An address that is computed anew, as that of a field mostly is: some cores
			 * keep what was stored at one and the same operand in a register. */
			__asm__ volatile("" : "+r"(nothing));
			counter += nothing;
			if (contest == CONTESTS_TRACE)
				own->results[done % TRACE_MOST] = (uint32_t)result;
			else /* wait for it, as a program that asks for it does */
				__asm__ volatile("" ::"r"(result));
			done++;
		}
		if (first && done % looks == 0 && host_ticks(clock) - own->begin > window)
			__atomic_store_n(&contesting->lines->stop, 1, __ATOMIC_RELAXED);
	}
	return done;
}

static uint64_t contend_for(struct contesting *contesting, struct contestant *own, bool first)
{
	switch (contesting->contest) {
	case CONTESTS_FETCH_ADD:
		return contend(contesting, own, first, CONTESTS_FETCH_ADD);
	case CONTESTS_CAS_LOOP:
		return contend(contesting, own, first, CONTESTS_CAS_LOOP);
	case CONTESTS_LOAD_CAS_LOOP:
		return contend(contesting, own, first, CONTESTS_LOAD_CAS_LOOP);
	case CONTESTS_TRACE:
		return contend(contesting, own, first, CONTESTS_TRACE);
	default:
		return contend(contesting, own, first, CONTESTS_PLAIN_ADD);
	}
}

/* ---- owners --------------------------------------------------------------------------------- */

static enum bench_before before(const struct host_cpu *last, const struct host_cpu *own)
{
	if (last == own)
		return BEFORE_SELF;
	if (last->core == own->core)
		return BEFORE_SIBLING;
	if (last->cluster == own->cluster)
		return BEFORE_CLUSTER;
	return last->socket == own->socket ? BEFORE_SOCKET : BEFORE_ELSEWHERE;
}

/* The span of results in which every thread takes part and whose owners are all on record. */
static void common_span(const struct contesting *contesting, uint32_t *from, uint32_t *to)
{
	*from = 0;
	*to = UINT32_MAX;
	for (uint32_t k = 0; k < contesting->bout.threads; k++) {
		const struct contestant *own = &contesting->contestants[k];
		uint64_t kept = own->done < TRACE_MOST ? own->done : TRACE_MOST;
		uint32_t first = own->results[(own->done - kept) % TRACE_MOST],
			 last = own->results[(own->done - 1) % TRACE_MOST];

		*from = first > *from ? first : *from;
		*to = last < *to ? last : *to;
	}
}

/* Who did each operation of the span, one more than the thread's number; the caller frees it. */
static uint16_t *owners_of(const struct contesting *contesting, uint32_t from, uint32_t to)
{
	uint16_t *owners = to > from ? calloc(to - from + 1, sizeof(*owners)) : NULL;

	for (uint32_t k = 0; owners && k < contesting->bout.threads; k++) {
		const struct contestant *own = &contesting->contestants[k];
		uint64_t kept = own->done < TRACE_MOST ? own->done : TRACE_MOST;

		for (uint64_t i = 0; i < kept; i++)
			if (own->results[i] >= from && own->results[i] <= to)
				owners[own->results[i] - from] = (uint16_t)(k + 1);
	}
	return owners;
}

/* Puts the results of all threads in their order, and looks who follows whom. Returns the mean of
 * operations between changes of the core. */
static double trace_owners(struct contesting *contesting)
{
	const struct host_cpu *cpus = contesting->bout.bench->host->cpus, *last = NULL, *own;
	uint64_t visits = 0, operations = 0;
	uint32_t from, to;
	uint16_t *owners;

	common_span(contesting, &from, &to);
	owners = owners_of(contesting, from, to);
	for (uint32_t i = 0; owners && i <= to - from; i++, last = own) {
		own = owners[i] ? &cpus[contesting->bout.order[owners[i] - 1]] : NULL;
		if (!own || !last)
			continue;
		contesting->before[before(last, own)]++;
		visits += own->core != last->core;
		operations++;
	}
	free(owners);
	return visits ? (double)operations / (double)visits : NAN;
}

/* ---- a batch -------------------------------------------------------------------------------- */

static bool judge(void *argument, uint32_t batch)
{
	struct contesting *contesting = argument;
	const struct bench *bench = contesting->bout.bench;
	uint32_t threads = contesting->bout.threads;
	uint64_t least = UINT64_MAX, most = 0;
	bool clean = true;
	double rate = 0;

	for (uint32_t k = 0; k < threads; k++) {
		const struct contestant *own = &contesting->contestants[k];
		double ns = host_ns(bench->clock, own->end - own->begin);

		rate += (double)own->done / (ns > 0 ? ns : 1);
		clean &= own->switches == 0 && own->done && ns > whole_part * WINDOW_NS &&
			 ns < WINDOW_NS / whole_part;
		contesting->successes[(size_t)batch * threads + k] = own->done;
		least = own->done < least ? own->done : least;
		most = own->done > most ? own->done : most;
	}
	if (!clean)
		return false;
	contesting->values[batch] =
		(contesting->contest == CONTESTS_PLAIN_ADD ? threads : 1) / rate;
	contesting->fair[batch] = (double)most / (double)least;
	if (contesting->contest == CONTESTS_TRACE)
		contesting->visits[batch] = trace_owners(contesting);
	return true;
}

static void contest_batch(struct crewman *self, void *argument, uint32_t batch)
{
	struct contesting *contesting = argument;
	struct contestant *own = &contesting->contestants[self->index];
	bool first = self->index == 0;

	(void)batch;
	if (first)
		memset(contesting->lines, 0, sizeof(*contesting->lines));
	own->switches = own_switches();
	if (!crew_meet(self))
		return;
	own->begin = host_ticks(contesting->bout.bench->clock);
	own->done = contend_for(contesting, own, first);
	own->end = host_ticks(contesting->bout.bench->clock);
	own->switches = own_switches() - own->switches;
}

static bool contest_room(struct contesting *contesting, struct error *error)
{
	uint32_t threads = contesting->bout.threads;
	size_t trace = contesting->contest == CONTESTS_TRACE ? TRACE_MOST * sizeof(uint32_t) : 0;
	struct arena *arena = &contesting->arena;

	if (!arena_new(arena, sizeof(*contesting->lines) + threads * trace, error))
		return false;
	contesting->lines = (struct arena_lines *)(void *)arena->base;
	contesting->contestants = calloc(threads, sizeof(*contesting->contestants));
	contesting->successes =
		calloc((size_t)threads * BOUT_BATCHES_MOST, sizeof(*contesting->successes));
	if (!contesting->contestants || !contesting->successes)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; trace && k < threads; k++)
		contesting->contestants[k].results =
			(uint32_t *)(void *)(arena->base + sizeof(*contesting->lines) + k * trace);
	memset(arena->base, 0, arena->size);
	return true;
}

/* Over all batches, so that luck evens out; low and high are those of single ones. */
static struct sample fairness(const struct contesting *contesting)
{
	struct sample sample = bout_sample(&contesting->bout, contesting->fair);
	uint32_t threads = contesting->bout.threads;
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t k = 0; k < threads; k++) {
		uint64_t sum = 0;

		for (uint32_t batch = 0; batch < contesting->bout.batches; batch++)
			if (contesting->bout.good[batch])
				sum += contesting->successes[(size_t)batch * threads + k];
		least = sum < least ? sum : least;
		most = sum > most ? sum : most;
	}
	if (sample.count)
		sample.median = (double)most / (double)(least ? least : 1);
	return sample;
}

bool bench_contest(const struct bench *bench, const uint32_t *order, uint32_t threads,
		   double token_ns, enum bench_contest contest, struct bench_contest_result *result,
		   struct error *error)
{
	struct contesting *contesting = calloc(1, sizeof(*contesting));
	bool done;

	if (!contesting)
		return error_set(error, "out of memory");
	contesting->contest = contest;
	contesting->bout = (struct bout){ .bench = bench,
					  .order = order,
					  .threads = threads,
					  .token_ns = token_ns,
					  .batch = contest_batch,
					  .judge = judge,
					  .argument = contesting };
	done = contest_room(contesting, error) && bout_run(&contesting->bout, error);
	if (done) {
		result->ns = bout_sample(&contesting->bout, contesting->values);
		result->fairness = fairness(contesting);
		result->visit = bout_sample(&contesting->bout, contesting->visits);
		memcpy(result->before, contesting->before, sizeof(result->before));
	}
	free(contesting->contestants);
	free(contesting->successes);
	arena_free(&contesting->arena);
	free(contesting);
	return done;
}
