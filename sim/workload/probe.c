/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of probes, and those of one thread (walks) and of many threads on one line (contests).
 * Those of pairs of threads are in probe_duel.c. */
#include "workload/probe.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WALK(program, distance)        probe_walk, program, DISTANCE_##distance, HOMED_AT_OWNER
#define DUEL(program, distance)        probe_duel, program, DISTANCE_##distance, HOMED_AT_OWNER
#define SMT(program)                   probe_duel, program, PROBE_SMT, HOMED_AT_OWNER
#define CONTEST(program)               probe_contest, program, DISTANCE_SOCKET, HOMED_AT_OWNER
#define HOMED(program, distance, home) probe_duel, program, DISTANCE_##distance, HOMED_##home

/* One program between cores at every distance. */
#define BY_DISTANCE(figure, program, what, tail)                                                   \
	{ figure "_cluster", "ns", false, what " of the cluster" tail, DUEL(program, CLUSTER) },   \
		{ figure "_die", "ns", false, what " of another cluster of the die" tail,          \
		  DUEL(program, DIE) },                                                            \
		{ figure "_same", "ns", false, what " of the socket" tail,                         \
		  DUEL(program, SOCKET) },                                                         \
	{                                                                                          \
		figure "_cross", "ns", false, what " of another socket" tail, DUEL(program, CROSS) \
	}

const struct probe probes[] = {
	{ "locked_add", "ns", false, "locked add on a line that is owned and in the L1",
	  WALK(WALK_ADD, SOCKET) },
	{ "fence", "ns", false, "mfence with an empty store buffer", WALK(WALK_FENCE, SOCKET) },
	{ "load_l1", "ns", false, "load that hits the L1", WALK(WALK_L1, SOCKET) },
	{ "load_l2", "ns", false, "load that hits the L2", WALK(WALK_L2, SOCKET) },
	{ "load_llc", "ns", false, "load that hits the LLC of its socket", WALK(WALK_LLC, SOCKET) },
	{ "load_dram_local", "ns", false, "load from the socket's own memory",
	  WALK(WALK_DRAM, SOCKET) },
	{ "load_dram_remote", "ns", false, "load from another socket's memory",
	  WALK(WALK_DRAM, CROSS) },
	BY_DISTANCE("load_clean", DUEL_CLEAN, "load of a line that a core", " shares"),
	{ "load_dirty_cluster", "ns", false, "load of a line dirty in a core of the cluster",
	  DUEL(DUEL_DIRTY, CLUSTER) },
	{ "load_dirty_die", "ns", false,
	  "load of a line dirty in a core of another cluster of the die", DUEL(DUEL_DIRTY, DIE) },
	{ "load_dirty_same", "ns", false, "load of a line dirty in a core of the socket",
	  DUEL(DUEL_DIRTY, SOCKET) },
	{ "load_dirty_cross_at_owner", "ns", false,
	  "load of a line dirty in another socket, where its home is", DUEL(DUEL_DIRTY, CROSS) },
	{ "load_dirty_cross_at_requester", "ns", false,
	  "load of a line dirty in another socket, at home in the reader's",
	  HOMED(DUEL_DIRTY, CROSS, AT_REQUESTER) },
	BY_DISTANCE("upgrade", DUEL_UPGRADE, "from shared to owned, with a sharer in a core", ""),
	{ "hand_off_smt", "ns", false, "two threads of a core alternate by compare-exchange alone",
	  SMT(DUEL_CAS) },
	BY_DISTANCE("hand_off", DUEL_CAS, "a core alternates by compare-exchange alone with one",
		    ""),
	{ "hand_off_die_away", "ns", false,
	  "as hand_off_die, the line's home being in another socket",
	  HOMED(DUEL_CAS, DIE, ELSEWHERE) },
	{ "hand_off_same_away", "ns", false,
	  "as hand_off_same, the line's home being in another socket",
	  HOMED(DUEL_CAS, SOCKET, ELSEWHERE) },
	{ "load_cas_smt", "ns", false,
	  "two threads of a core alternate: load until it is their turn, then compare-exchange",
	  SMT(DUEL_LOAD_CAS) },
	BY_DISTANCE("load_cas", DUEL_LOAD_CAS, "a core does the same with one", ""),
	{ "fetch_add", "ns", true, "contended fetch-add, an operation of all threads",
	  CONTEST(CONTEST_FETCH_ADD) },
	{ "cas_loop", "ns", true,
	  "contended compare-exchange loop that goes on with the value it was given, a success of "
	  "all threads",
	  CONTEST(CONTEST_CAS_LOOP) },
	{ "load_cas_loop", "ns", true,
	  "contended load and compare-exchange loop, a success of all threads",
	  CONTEST(CONTEST_LOAD_CAS_LOOP) },
	{ "plain_add", "ns", true,
	  "contended increment without atomicity, an operation of a thread",
	  CONTEST(CONTEST_PLAIN_ADD) },
	{ "fairness", "ratio", true,
	  "successes of the luckiest thread to the least lucky, of load_cas_loop",
	  CONTEST(CONTEST_FAIRNESS) },
	{ .name = NULL },
};

const struct probe *probe_find(const char *name)
{
	for (const struct probe *probe = probes; probe->name; probe++)
		if (!strcmp(probe->name, name))
			return probe;
	return NULL;
}

static void single(struct probe_value *value, double only)
{
	*value = (struct probe_value){ only, only, only, only, only };
}

bool probe_run(const struct probe *probe, const struct machine_config *config, uint32_t threads,
	       struct probe_value *value, struct error *error)
{
	single(value, NAN);
	return probe->run(probe, config, threads, value, error);
}

/* ---- one thread ----------------------------------------------------------------------------- */

/* Accesses to some lines one after the other, in rounds; the last rounds are timed. */
struct walk {
	uint64_t stride;
	uint32_t lines, warm_rounds, rounds;
	enum probe_walk program;
	uint64_t cycles;
};

static void walk_step(struct thread *self, enum probe_walk program, const struct place *place)
{
	if (program == WALK_ADD)
		thread_rmw(self, place, RMW_ADD, 1, 0);
	else if (program == WALK_FENCE)
		thread_fence(self);
	else
		thread_load(self, place);
}

static void walk_body(struct thread *self, void *argument)
{
	struct walk *walk = argument;
	uint64_t start = 0;

	for (uint32_t round = 0; round < walk->warm_rounds + walk->rounds; round++) {
		if (round == walk->warm_rounds)
			start = self->time;
		for (uint32_t k = 0; k < walk->lines; k++) {
			const struct place place = { .address = PROBE_MEMORY + k * walk->stride,
						     .size = 8 };

			if (walk->program == WALK_ADD && round < walk->warm_rounds)
				thread_store(self, &place, 0); /* the line is to be owned */

			walk_step(self, walk->program, &place);
		}
	}
	walk->cycles = self->time - start;
}

/* A level is reached by more lines of one set of the level before than it has ways: with the least
 * recently used line evicted, each access misses there. Beyond the L2 there are twice as many, so
 * that a line has long left when it is asked for again. */
static struct walk walk_plan(const struct machine_config *config, enum probe_walk program)
{
	const struct coherence_config *c = &config->coherence;
	uint64_t line = c->line;

	switch (program) {
	case WALK_L2:
		return (struct walk){ c->l1.sets * line, c->l1.ways + 1, 2, 8, program, 0 };
	case WALK_LLC:
		return (struct walk){ c->l2.sets * line, 2 * c->l2.ways, 2, 8, program, 0 };
	case WALK_DRAM:
		return (struct walk){ line, 64, 0, 1, program, 0 };
	default:
		return (struct walk){ line, 1, 1, 64, program, 0 };
	}
}

bool probe_walk(const struct probe *probe, const struct machine_config *config, uint32_t threads,
		struct probe_value *value, struct error *error)
{
	struct walk walk = walk_plan(config, probe->program);
	bool across = probe->distance == DISTANCE_CROSS, done;
	struct machine *machine;

	(void)threads;
	if (across && config->sockets < 2)
		return true;
	machine = machine_new(config, error);
	if (!machine)
		return false;
	for (uint32_t k = 0; across && k < walk.lines; k++)
		coherence_set_home(machine->coherence, PROBE_MEMORY + k * walk.stride, 1);
	done = machine_thread(machine, 0, walk_body, &walk, error) && machine_run(machine, error);
	machine_free(machine);
	single(value, (double)walk.cycles / (walk.lines * walk.rounds) / config->clock * 1e9);
	return done;
}

/* ---- many threads --------------------------------------------------------------------------- */

/* Hand-overs of the line that a contest is timed for: with some five of them to a success of the
 * slowest loop, enough for half a per cent. */
enum { HAND_OVERS = 16000, HAND_OVERS_FAIR = 64000 };

struct contest {
	enum probe_contest program;
	uint64_t begin, end; /* operations that end in between count */
};

struct contestant {
	const struct contest *contest;
	uint64_t done;
};

static const struct place counter = { .address = PROBE_MEMORY, .size = 8 };

static void increment(struct thread *self, enum probe_contest program)
{
	uint64_t value, seen;

	switch (program) {
	case CONTEST_FETCH_ADD: /* nobody looks at the old value, in the public tools either */
		thread_rmw(self, &counter, RMW_STADD, 1, 0);
		break;
	case CONTEST_CAS_LOOP:
		value = thread_load(self, &counter);
		while ((seen = thread_rmw(self, &counter, RMW_CMPXCHG, value + 1, value)) != value)
			value = seen;
		break;
	case CONTEST_LOAD_CAS_LOOP:
	case CONTEST_FAIRNESS:
		do {
			value = thread_load(self, &counter);
		} while (thread_rmw(self, &counter, RMW_CMPXCHG, value + 1, value) != value);
		break;
	case CONTEST_PLAIN_ADD:
		value = thread_load(self, &counter);
		thread_work(self, 1);
		thread_store(self, &counter, value + 1);
		break;
	}
}

static void contest_body(struct thread *self, void *argument)
{
	struct contestant *contestant = argument;
	const struct contest *contest = contestant->contest;

	/* The line is owned, and what follows is not decided by how it came from memory. */
	thread_store(self, &counter, 0);
	while (self->time < contest->end) {
		increment(self, contest->program);
		contestant->done += self->time >= contest->begin && self->time < contest->end;
	}
}

static struct contest contest_plan(const struct machine_config *config, enum probe_contest program,
				   uint32_t threads)
{
	bool across = threads > config->cores_per_socket && config->sockets > 1;
	double hand_over = config->timing.hand_off[across ? DISTANCE_CROSS : DISTANCE_SOCKET].mean *
			   config->timing.scale * config->clock * 1e-9;
	double timed = hand_over * (program == CONTEST_FAIRNESS ? HAND_OVERS_FAIR : HAND_OVERS);

	return (struct contest){ .program = program,
				 .begin = (uint64_t)(timed / 10),
				 .end = (uint64_t)(timed * 1.1) };
}

static double contest_result(const struct contest *contest, const struct contestant *contestants,
			     uint32_t threads, double clock)
{
	uint64_t least = UINT64_MAX, most = 0, sum = 0;
	double ns = (double)(contest->end - contest->begin) / clock * 1e9;

	for (uint32_t k = 0; k < threads; k++) {
		uint64_t done = contestants[k].done;

		least = done < least ? done : least;
		most = done > most ? done : most;
		sum += done;
	}
	if (contest->program == CONTEST_FAIRNESS)
		return (double)most / (double)(least ? least : 1);
	return ns / (double)sum * (contest->program == CONTEST_PLAIN_ADD ? threads : 1);
}

bool probe_contest(const struct probe *probe, const struct machine_config *config, uint32_t threads,
		   struct probe_value *value, struct error *error)
{
	struct contest contest = contest_plan(config, probe->program, threads);
	struct contestant *contestants = calloc(threads, sizeof(*contestants));
	struct machine *machine = machine_new(config, error);
	bool done = contestants && machine;

	if (!contestants)
		error_set(error, "out of memory");
	for (uint32_t k = 0; done && k < threads; k++) {
		contestants[k].contest = &contest;
		done = machine_thread(machine, k, contest_body, &contestants[k], error);
	}
	done = done && machine_run(machine, error);
	if (done)
		single(value, contest_result(&contest, contestants, threads, config->clock));
	machine_free(machine);
	free(contestants);
	return done;
}
