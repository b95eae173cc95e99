/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One machine does many executions, one after the other: a coordinator, on a core of its own, plans
 * each and wakes the threads that take part in it. Phases are so far apart in simulated time, which
 * costs nothing, that nothing is under way when the next begins:
 *
 *   start - 2 GAP   some of those who take part write the initial values
 *   start - GAP     they take copies of lines, or own them, or evict them
 *   start           the players run their programs; helpers read, own and evict lines meanwhile
 *   start + GAP     the coordinator reads the outcome, and plans the next execution
 */
#include "check/litmus_timed.h"
#include "machine/machine.h"
#include <stdlib.h>
#include <string.h>

enum {
	SOCKETS = 2,
	CORES = 4, /* a socket, besides the coordinator's */
	SMT = 2,
	WORKERS = SOCKETS * CORES * SMT,
	COORDINATOR = SOCKETS * (CORES + 1) - 1, /* its cpu: the last core */
	LINES = 16,                              /* for variables */
	FILLERS = 8,                             /* lines that nobody needs */
	HELPERS_MAX = 4,
	GAP = 1000000,     /* cycles between phases */
	MEANWHILE = 500,   /* cycles for which helpers are busy */
	EXECUTIONS = 1000, /* of one machine */
	LOCKED_RMW = 18,   /* cycles */
	WORD = 8           /* bytes for a variable of any size */
};

static const uint64_t base = 1 << 20; /* address of the first line */

enum role { ROLE_NONE, ROLE_PLAYER, ROLE_HELPER, ROLE_LEAVE };

struct worker {
	struct run *run;
	struct thread *thread;
	uint32_t cpu;
	enum role role;
	const struct litmus_thread *program; /* of a player */
	uint64_t registers[LITMUS_REGISTERS_MAX];
	uint32_t resets;      /* locations to which it writes the initial values, a bit each */
	uint32_t skew, pause; /* cycles: start, and at most so many between instructions */
	uint64_t done;        /* cycle at which it had finished */
};

struct run {
	const struct litmus *litmus;
	const struct litmus_timed_config *config;
	const struct tso_result *expected;
	struct litmus_timed_result *result;
	struct random random;
	struct machine *machine;
	struct worker workers[WORKERS];
	uint64_t executions; /* of this machine */
	bool evict;          /* it has small caches */
	/* the execution */
	uint64_t start;
	struct worker *taking[WORKERS]; /* part: players by number, then helpers */
	uint32_t taking_count;
	struct place places[LITMUS_LOCATIONS_MAX];
	bool prefetch, group;
	struct error *error;
};

static uint32_t draw(struct random *random, uint32_t bound)
{
	return (uint32_t)random_below(random, bound);
}

/* One of the alternatives that the mask leaves, of so many. */
static uint32_t draw_bit(struct random *random, uint32_t mask, uint32_t count)
{
	uint32_t all = (1u << count) - 1, left = mask & all ? mask & all : all;
	uint32_t skip = draw(random, (uint32_t)__builtin_popcount(left));

	while (skip--)
		left &= left - 1;
	return left & -left;
}

static void shuffle(struct random *random, uint32_t *list, uint32_t count)
{
	for (uint32_t k = count; k > 1; k--) {
		uint32_t other = draw(random, k), held = list[k - 1];

		list[k - 1] = list[other];
		list[other] = held;
	}
}

/* ---- those who take part -------------------------------------------------------------------- */

static void wait_until(struct thread *self, uint64_t time)
{
	if (self->time < time)
		thread_work(self, (double)(time - self->time));
}

static uint64_t line_address(const struct run *run, uint32_t line)
{
	return base + (uint64_t)line * run->config->coherence.line;
}

static void evict(struct thread *self, const struct run *run, uint32_t count)
{
	while (count--) {
		struct place place = { .address = line_address(
					       run, LINES + draw(&self->random, FILLERS)),
				       .size = WORD };

		thread_load(self, &place);
	}
}

static const struct place *any_place(struct thread *self, const struct run *run)
{
	return &run->places[draw(&self->random, run->litmus->location_count)];
}

/* A copy of a variable's line, to read or to write, its value left alone. */
static void take(struct thread *self, const struct place *place, bool own)
{
	if (own)
		thread_rmw(self, place, RMW_ADD, 0, 0);
	else
		thread_load(self, place);
}

static void prepare(struct thread *self, struct worker *worker)
{
	const struct run *run = worker->run;

	wait_until(self, run->start - 2 * GAP);
	for (uint32_t k = 0; k < run->litmus->location_count; k++)
		if (worker->resets >> k & 1)
			thread_store(self, &run->places[k], run->litmus->locations[k].initial);
	thread_fence(self);
	wait_until(self, run->start - GAP);
	for (uint32_t k = 0; run->prefetch && k < run->litmus->location_count; k++)
		if (draw(&self->random, 2))
			take(self, &run->places[k], draw(&self->random, 4) == 0);
	if (run->evict && draw(&self->random, 2))
		evict(self, run, FILLERS);
	wait_until(self, run->start + worker->skew);
}

/* Announces the loads that follow in a row. Returns the number of the step behind them. */
static uint32_t announce(struct thread *self, const struct worker *worker, uint32_t k)
{
	const struct place *together[LITMUS_STEPS_MAX];
	uint32_t count = 0;

	for (; k < worker->program->count; k++) {
		const struct litmus_step *step = &worker->program->steps[k];

		if (step->operation == LITMUS_LOAD)
			together[count++] = &worker->run->places[step->location];
		else if (step->operation != LITMUS_SET && step->operation != LITMUS_NOTHING)
			break;
	}
	thread_together(self, together, count);
	return k;
}

static void perform(struct thread *self, struct worker *worker, const struct litmus_step *step)
{
	const struct place *place = &worker->run->places[step->location];
	uint64_t operand = litmus_operand(step, worker->registers);
	uint64_t *target = &worker->registers[step->target], got;

	switch (step->operation) {
	case LITMUS_LOAD:
		got = thread_load(self, place);
		break;
	case LITMUS_SET:
		got = operand;
		break;
	case LITMUS_EXCHANGE:
		got = thread_rmw(self, place, RMW_XCHG, operand, 0);
		break;
	case LITMUS_FETCH_ADD:
		got = thread_rmw(self, place, RMW_ADD, operand, 0);
		break;
	case LITMUS_COMPARE_EXCHANGE:
		got = thread_rmw(self, place, RMW_CMPXCHG, operand, *target);
		if (got == litmus_cut(*target, step->size))
			return; /* it leaves its register as it is */
		break;
	case LITMUS_STORE:
		thread_store(self, place, operand);
		return;
	case LITMUS_ADD:
		thread_rmw(self, place, RMW_ADD, operand, 0);
		return;
	case LITMUS_FENCE:
		thread_fence(self);
		return;
	default:
		return;
	}
	*target = litmus_merge(*target, got, step->size);
}

/* A player reads lines ahead that it may never consume. */
static void prefetch(struct thread *self, const struct run *run)
{
	const struct place *together[LITMUS_LOCATIONS_MAX];
	uint32_t count = 1 + draw(&self->random, run->litmus->location_count);

	for (uint32_t k = 0; k < count; k++)
		together[k] = any_place(self, run);
	thread_together(self, together, count);
	thread_work(self, draw(&self->random, 200));
}

/* Other loads in the middle of announced ones would end their group. */
static void play(struct thread *self, struct worker *worker)
{
	const struct run *run = worker->run;
	uint32_t announced = 0;

	for (uint32_t k = 0; k < worker->program->count; k++) {
		const struct litmus_step *step = &worker->program->steps[k];

		if (run->evict && k >= announced && draw(&self->random, 8) == 0)
			evict(self, run, 1 + draw(&self->random, 2));
		if (run->prefetch && k >= announced && draw(&self->random, 2))
			prefetch(self, run);
		if (run->group && k >= announced && step->operation == LITMUS_LOAD)
			announced = announce(self, worker, k);
		if (worker->pause && draw(&self->random, 2))
			thread_work(self, draw(&self->random, worker->pause));
		perform(self, worker, step);
	}
}

/* One habit for as long as it lasts: reading, owning, evicting, or any of them. */
static void help(struct thread *self, const struct run *run)
{
	uint32_t habit = draw(&self->random, 4);

	while (self->time < run->start + MEANWHILE) {
		uint32_t act = habit < 3 ? habit : draw(&self->random, 3);

		if (act < 2 && run->prefetch)
			take(self, any_place(self, run), act);
		else if (run->evict)
			evict(self, run, 1);
		thread_work(self, 1 + draw(&self->random, 60));
	}
}

static void worker_body(struct thread *self, void *argument)
{
	struct worker *worker = argument;

	for (;;) {
		thread_await(self);
		if (worker->role == ROLE_LEAVE)
			return;
		prepare(self, worker);
		if (worker->role == ROLE_HELPER)
			help(self, worker->run);
		else
			play(self, worker);
		thread_fence(self);
		worker->done = self->time;
	}
}

/* ---- the plan of an execution --------------------------------------------------------------- */

/* The k-th worker of a placement, as bits of k: which thread of the core, which core, which socket. */
static uint32_t placed(enum litmus_threads kind, uint32_t k)
{
	static const struct {
		uint8_t smt, core, socket; /* shifts */
	} shifts[] = { [LITMUS_SIBLINGS] = { 0, 1, 3 },
		       [LITMUS_SOCKET] = { 2, 0, 3 },
		       [LITMUS_ACROSS] = { 3, 1, 0 },
		       [LITMUS_ANYWHERE] = { 3, 0, 2 } };

	return (k >> shifts[kind].smt & 1) * SOCKETS * CORES +
	       (k >> shifts[kind].socket & 1) * CORES + (k >> shifts[kind].core & (CORES - 1));
}

/* Players by number, and after them helpers: whatever cpus are left. Neither the socket nor the
 * core at which the placement begins matters, but for what lies there from before. */
static void place_threads(struct run *run)
{
	enum litmus_threads kind =
		(enum litmus_threads)draw_bit(&run->random, run->config->threads, 4);
	uint32_t order[WORKERS], players = run->litmus->thread_count, helpers;
	uint32_t turn = draw(&run->random, CORES), flip = draw(&run->random, SOCKETS) * CORES;

	for (uint32_t k = 0; k < WORKERS; k++)
		order[k] = placed(kind, k);
	if (kind == LITMUS_ANYWHERE)
		shuffle(&run->random, order, WORKERS);
	shuffle(&run->random, order, players);
	shuffle(&run->random, order + players, WORKERS - players);
	helpers = (run->prefetch || run->evict) && draw(&run->random, 2)
			  ? 1 + draw(&run->random, HELPERS_MAX)
			  : 0;
	run->taking_count = players + helpers;
	for (uint32_t k = 0; k < run->taking_count; k++) {
		uint32_t core = (order[k] + turn) % CORES;
		uint32_t number = ((order[k] - order[k] % CORES) ^ flip) + core;

		run->taking[k] = &run->workers[number];
	}
}

static void place_variables(struct run *run)
{
	enum litmus_variables kind =
		(enum litmus_variables)draw_bit(&run->random, run->config->variables, 3);
	uint32_t most = run->config->coherence.line / WORD, lines[LINES];
	uint32_t count = run->litmus->location_count, order[LITMUS_LOCATIONS_MAX];
	uint32_t a_line = kind == LITMUS_APART ? 1 : kind == LITMUS_PAIRED ? 2 : most;

	for (uint32_t k = 0; k < LINES; k++)
		lines[k] = k;
	for (uint32_t k = 0; k < count; k++)
		order[k] = k;
	shuffle(&run->random, lines, LINES);
	shuffle(&run->random, order, count);
	for (uint32_t k = 0; k < count; k++)
		run->places[order[k]] = (struct place){
			.address = line_address(run, lines[k / a_line]) + k % a_line * WORD,
			.size = run->litmus->locations[order[k]].size,
		};
}

static void plan(struct run *run)
{
	const struct litmus *litmus = run->litmus;
	static const uint32_t reaches[] = { 0, 50, 200, 1000 }; /* cycles: up to two round trips */
	uint32_t reach = reaches[draw(&run->random, 4)], pause = reaches[draw(&run->random, 3)];

	run->prefetch = litmus->location_count &&
			draw_bit(&run->random, run->config->prefetches, 2) == LITMUS_ON;
	run->group = draw_bit(&run->random, run->config->groups, 2) == LITMUS_ON;
	place_threads(run);
	place_variables(run);
	for (uint32_t k = 0; k < run->taking_count; k++) {
		struct worker *worker = run->taking[k];
		bool plays = k < litmus->thread_count;

		worker->role = plays ? ROLE_PLAYER : ROLE_HELPER;
		worker->program = plays ? &litmus->threads[k] : NULL;
		if (plays)
			memcpy(worker->registers, worker->program->initial,
			       sizeof(worker->registers));
		worker->resets = 0;
		worker->done = UINT64_MAX;
		worker->skew = draw(&run->random, reach + 1);
		worker->pause = draw(&run->random, 2) ? pause : 0;
	}
	for (uint32_t k = 0; k < litmus->location_count; k++)
		run->taking[draw(&run->random, run->taking_count)]->resets |= 1u << k;
}

/* ---- the coordinator ------------------------------------------------------------------------ */

static void outcome(const struct run *run, uint64_t *values)
{
	for (uint32_t k = 0; k < run->litmus->name_count; k++) {
		const struct litmus_name *name = &run->litmus->names[k];

		values[k] = 0;
		if (name->is_location)
			coherence_peek(run->machine->coherence, run->places[name->index].address,
				       &values[k], name->size);
		else
			values[k] = litmus_cut(run->taking[name->thread]->registers[name->index],
					       name->size);
	}
}

/* False where the execution took longer than it may. */
static bool collect(struct run *run)
{
	struct litmus_timed_result *result = run->result;
	uint64_t values[LITMUS_NAMES_MAX];
	size_t row;

	for (uint32_t k = 0; k < run->taking_count; k++)
		if (run->taking[k]->done > run->start + GAP)
			return error_set(run->error, "%s: execution %llu takes more than %d cycles",
					 run->litmus->name, (unsigned long long)result->executions,
					 GAP);
	outcome(run, values);
	row = tso_find(run->expected, values);
	if (row != SIZE_MAX) {
		result->seen[row]++;
	} else if (!litmus_holds(&run->litmus->filter, values)) {
		result->filtered++;
	} else if (result->forbidden++ == 0) {
		result->first = result->executions;
		memcpy(result->values, values, sizeof(values));
	}
	result->executions++;
	return true;
}

static void coordinator_body(struct thread *self, void *argument)
{
	struct run *run = argument;
	bool good = true;

	for (uint64_t k = 0; good && k < run->executions; k++) {
		run->start = self->time + 3 * GAP;
		plan(run);
		for (uint32_t w = 0; w < run->taking_count; w++)
			thread_signal(self, run->taking[w]->thread);
		wait_until(self, run->start + GAP);
		thread_in_order(self);
		good = collect(run);
	}
	for (uint32_t w = 0; w < WORKERS; w++) {
		run->workers[w].role = ROLE_LEAVE;
		thread_signal(self, run->workers[w].thread);
	}
}

/* ---- machines ------------------------------------------------------------------------------- */

/* A transaction of at least so many cycles: short, usual or long. */
static double draw_latency(struct random *random, double least)
{
	static const double beyond[] = { 2, 50, 50, 500 };

	return least + beyond[draw(random, 4)] + draw(random, 10);
}

/* Each latency on its own, so that any message may outrun any other that may be outrun: the data of
 * sharers by invalidations, requests by whole transactions of others. */
static struct fabric_timing draw_timing(struct random *random)
{
	struct fabric_timing timing = { .clock = 1e9,
					.scale = 1,
					.llc = draw(random, 3) ? 20 : 200,
					.invalidate_serial = 3,
					.home_occupancy = 2 };
	double least = timing.llc / 2 + LOCKED_RMW; /* the way to a line's home and on to a cache */

	timing.dram_local = draw_latency(random, least);
	timing.dram_remote = draw_latency(random, least);
	for (int d = DISTANCE_SOCKET; d <= DISTANCE_CROSS; d++) {
		double hand_off = draw_latency(random, least);

		timing.hand_off[d] = (struct spread){ hand_off, hand_off, hand_off };
		timing.clean[d] = draw_latency(random, least);
		timing.upgrade[d] = draw_latency(random, least);
		for (int home = 0; home < 2; home++)
			timing.dirty[d][home] = draw_latency(random, least);
	}
	return timing;
}

static void size_caches(struct coherence_config *config, bool small)
{
	config->l1 =
		small ? (struct cache_geometry){ 1, 2, 4 } : (struct cache_geometry){ 4, 4, 4 };
	config->l2 = small ? (struct cache_geometry){ 2, SMT + 1, 14 }
			   : (struct cache_geometry){ 8, 8, 14 };
	config->llc_sets = small ? 2 : 16;
	config->llc_ways = 4;
}

static struct machine_config draw_machine(struct run *run)
{
	static const uint32_t buffers[] = { 1, 2, 56 }, loads[] = { 1, 4, 10 };
	struct random *random = &run->random;
	struct machine_config machine = {
		.name = run->litmus->name,
		.clock = 1e9,
		.sockets = SOCKETS,
		.cores_per_socket = CORES + 1,
		.smt = SMT,
		.timing = draw_timing(random),
		.coherence = run->config->coherence,
		.locked_rmw = LOCKED_RMW,
		.fence = 33,
		.store_forward = 5,
		.store_buffer = buffers[draw(random, 3)],
		.loads_in_flight = loads[draw(random, 3)],
		.smt_slowdown = 1,
		.run_ahead = draw(random, 4) != 0,
	};

	run->evict = draw_bit(random, run->config->evictions, 2) == LITMUS_ON;
	size_caches(&machine.coherence, run->evict);
	machine.coherence.paranoid = true;
	machine.coherence.seed = random_next(random);
	return machine;
}

static bool add_threads(struct run *run, struct error *error)
{
	for (uint32_t k = 0; k < WORKERS; k++) {
		uint32_t core = k % (SOCKETS * CORES), smt = k / (SOCKETS * CORES);
		uint32_t cpu =
			smt * SOCKETS * (CORES + 1) + core / CORES * (CORES + 1) + core % CORES;

		run->workers[k].run = run;
		run->workers[k].thread =
			machine_thread(run->machine, cpu, worker_body, &run->workers[k], error);
		if (!run->workers[k].thread)
			return false;
	}
	return machine_thread(run->machine, COORDINATOR, coordinator_body, run, error);
}

/* So many executions on a machine of their own. */
static bool run_machine(struct run *run, struct error *error)
{
	struct machine_config config = draw_machine(run);
	bool good;

	run->machine = machine_new(&config, error);
	if (!run->machine)
		return false;
	for (uint32_t k = 0; k < LINES + FILLERS; k++)
		coherence_set_home(run->machine->coherence, line_address(run, k), k / 2 % SOCKETS);
	good = add_threads(run, error) && machine_run(run->machine, error) && !error->text[0];
	machine_free(run->machine);
	return good;
}

bool litmus_timed(const struct litmus *litmus, const struct litmus_timed_config *config,
		  const struct tso_result *expected, struct litmus_timed_result *result,
		  struct error *error)
{
	struct run *run = calloc(1, sizeof(*run));
	bool good = true;

	*result = (struct litmus_timed_result){ 0 };
	result->seen = calloc(expected->count + 1, sizeof(*result->seen));
	if (!run || !result->seen)
		good = error_set(error, "%s: out of memory", litmus->name);
	for (uint64_t done = 0, number = 0; good && done < config->executions; number++) {
		uint64_t left = config->executions - done;

		*run = (struct run){ .litmus = litmus,
				     .config = config,
				     .expected = expected,
				     .result = result,
				     .random = random_stream(config->seed, litmus->name, number),
				     .executions = left < EXECUTIONS ? left : EXECUTIONS,
				     .error = error };
		good = run_machine(run, error);
		done += run->executions;
	}
	free(run);
	if (!good)
		litmus_timed_free(result);
	return good;
}

void litmus_timed_free(struct litmus_timed_result *result)
{
	free(result->seen);
	result->seen = NULL;
}
