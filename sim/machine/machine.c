/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/machine.h"
#include "machine/thread_parts.h"
#include <stdlib.h>

enum { STACK_BYTES = 64 << 10 };

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool consistent(const struct machine_config *config, struct error *error)
{
	const struct coherence_config *c = &config->coherence;

	if (!config->sockets || !config->cores_per_socket || config->smt < 1 || config->smt > 8 ||
	    (uint64_t)config->sockets * config->cores_per_socket * config->smt > MACHINE_CPUS_MAX ||
	    config->sockets * config->cores_per_socket > FABRIC_CORES_MAX)
		return error_set(
			error,
			"%s: %u x %u cores x %u threads, expected at most %d cores and %d threads",
			config->name, config->sockets, config->cores_per_socket, config->smt,
			FABRIC_CORES_MAX, MACHINE_CPUS_MAX);
	if (!is_power_of_two(c->line) || c->line < 32 || c->line > LINE_MAX ||
	    !is_power_of_two(c->l1.sets) || !is_power_of_two(c->l2.sets))
		return error_set(error,
				 "%s: a line of %u bytes, %u and %u sets, expected powers of two "
				 "(a line of 32 to %d bytes)",
				 config->name, c->line, c->l1.sets, c->l2.sets, LINE_MAX);
	if (c->l2.ways <= config->smt || c->l1.ways > c->l2.ways * c->l2.sets)
		return error_set(
			error,
			"%s: an L2 of %u ways for %u threads, expected a way more than threads",
			config->name, c->l2.ways, config->smt);
	return true;
}

struct machine *machine_new(const struct machine_config *config, struct error *error)
{
	const struct topology topology = machine_topology(config);
	struct machine *machine;
	struct fabric *fabric;
	struct client client = { .perform = thread_perform,
				 .operate = thread_operate,
				 .lost = thread_lost,
				 .give_up = machine_give_up };

	if (!consistent(config, error))
		return NULL;
	machine = calloc(1, sizeof(*machine));
	if (!machine) {
		error_set(error, "out of memory");
		return NULL;
	}
	machine->config = *config;
	if (!config->locked_cmpxchg)
		machine->config.locked_cmpxchg = config->locked_rmw;
	machine->config.timing.locked_cmpxchg = machine->config.locked_cmpxchg;
	machine->config.sibling_delay = config->free_atomics ? 0 : config->sibling_delay;
	machine->config.timing.clock = config->clock;
	client.context = machine;
	fabric = fabric_new(&topology, config->coherence.line, &machine->config.timing, error);
	if (!fabric) {
		free(machine);
		return NULL;
	}
	machine->threads = calloc((size_t)fabric->cores * config->smt, sizeof(*machine->threads));
	machine->on_core = calloc(fabric->cores, sizeof(*machine->on_core));
	machine->coherence = coherence_new(&config->coherence, fabric, &client);
	if (!machine->coherence || !machine->threads || !machine->on_core) {
		error_set(error, "out of memory");
		machine_free(machine);
		return NULL;
	}
	return machine;
}

void machine_free(struct machine *machine)
{
	if (!machine)
		return;
	for (uint32_t k = 0; k < machine->thread_count; k++) {
		coroutine_free(machine->threads[k]->coroutine);
		free(machine->threads[k]);
	}
	free(machine->threads);
	free(machine->on_core);
	coherence_free(machine->coherence);
	free(machine);
}

static void thread_main(void *argument)
{
	struct thread *self = argument;

	self->body(self, self->argument);
}

/* Threads of one core slow each other's work. */
static void join_core(struct machine *machine, struct thread *thread)
{
	struct thread **first = &machine->on_core[thread->core->number];

	thread->sibling = *first;
	*first = thread;
	for (struct thread *on = *first; on; on = on->sibling)
		on->smt = (*first)->sibling ? machine->config.smt_slowdown : 1;
}

struct thread *machine_thread(struct machine *machine, uint32_t cpu,
			      void (*body)(struct thread *, void *), void *argument,
			      struct error *error)
{
	uint32_t cores = machine->coherence->fabric->cores;
	struct thread *thread;

	if (cpu >= cores * machine->config.smt) {
		error_set(error,
			  "machine %s has %u cpus, and a thread is to run on cpu %u: fewer "
			  "threads, or another machine",
			  machine->config.name, cores * machine->config.smt, cpu);
		return NULL;
	}
	for (thread = machine->on_core[cpu % cores]; thread; thread = thread->sibling)
		if (thread->cpu == cpu) {
			error_set(error, "two threads on cpu %u", cpu);
			return NULL;
		}
	thread = calloc(1, sizeof(*thread));
	if (thread)
		thread->coroutine = coroutine_new(STACK_BYTES, thread_main, thread);
	if (!thread || !thread->coroutine) {
		free(thread);
		error_set(error, "out of memory for a thread");
		return NULL;
	}
	thread->machine = machine;
	thread->core = &machine->coherence->cores[cpu % cores];
	thread->cpu = cpu;
	thread->number = machine->thread_count;
	thread->source = cores + machine->config.sockets + thread->number;
	thread->body = body;
	thread->argument = argument;
	thread->random = random_stream(machine->config.coherence.seed, "thread", thread->number);
	thread->load.client = thread->drain.client = thread->locked.access.client = thread;
	thread->drain.write = thread->locked.access.write = true;
	thread->locked.access.locked = true;
	thread->locked.hold = machine->config.free_atomics ? 1 : machine->config.locked_rmw;
	if (!machine->config.free_atomics &&
	    machine->config.locked_cmpxchg > machine->config.locked_rmw)
		thread->locked.cmpxchg_more =
			machine->config.locked_cmpxchg - machine->config.locked_rmw;
	join_core(machine, thread);
	machine->threads[machine->thread_count++] = thread;
	machine->running++;
	return thread;
}

void machine_replay_later(struct thread *self)
{
	if (self->replay)
		return;
	self->replay = true;
	self->next_replay = self->machine->replays;
	self->machine->replays = self;
}

/* What an event has left to do at its own cycle: loads to be asked for again, threads that may go
 * on. */
static void finish_event(struct machine *machine)
{
	struct thread *thread;

	while (machine->replays || machine->ready) {
		while ((thread = machine->replays)) {
			machine->replays = thread->next_replay;
			thread->replay = false;
			thread_replay(thread);
		}
		if ((thread = machine->ready)) {
			machine->ready = thread->next_ready;
			thread_run(thread);
		}
	}
}

static void handle(struct machine *machine, struct message *message)
{
	struct thread *thread = message->thread;

	switch (message->kind) {
	case WAKE:
		message_free(machine->coherence, message);
		thread_wake(thread);
		break;
	case SIGNAL:
		message_free(machine->coherence, message);
		thread_signalled(thread);
		break;
	default:
		coherence_handle(machine->coherence, message);
	}
	finish_event(machine);
}

/* Cycles beyond anything that a request can take: a million, and for each thread 64 times the
 * longest transaction that it could stand behind. In a random order a request stands behind so many
 * with a chance of e^-64. */
static uint64_t patience(const struct machine *machine)
{
	const struct fabric *fabric = machine->coherence->fabric;
	uint64_t threads = machine->thread_count;
	uint64_t lines_out = threads * (machine->config.loads_in_flight + 1);
	uint64_t link = (uint64_t)(fabric->link_cycles * (double)lines_out);
	uint64_t transaction = 4 * fabric->longest + fabric->cores * fabric->invalidate_serial +
			       fabric->home_occupancy + fabric->far_occupancy + fabric->retain +
			       machine->config.locked_rmw + machine->config.sibling_delay +
			       STORES_MAX;

	return 1000000 + 64 * threads * (transaction + link);
}

/* Has a thread waited for a line, or a store for its turn, since before `cycle`? */
static bool anyone_waits_since(const struct machine *machine, uint64_t cycle)
{
	for (uint32_t k = 0; k < machine->thread_count; k++) {
		const struct thread *thread = machine->threads[k];
		bool blocked = thread->blocked >= BLOCKED_LOAD && thread->blocked <= BLOCKED_GROUP;

		if ((blocked && thread->blocked_since < cycle) ||
		    (thread->store_count && thread->drain.since < cycle))
			return true;
	}
	return false;
}

/* The watchdog, once in so many events that it costs nothing. */
static void watch(const struct machine *machine)
{
	enum { EVENTS = 1 << 16 };
	struct coherence *coherence = machine->coherence;

	if (coherence->events % EVENTS == 0 && coherence->now > machine->patience &&
	    anyone_waits_since(machine, coherence->now - machine->patience))
		audit_stuck(coherence);
}

static bool explain_silence(struct machine *machine, struct error *error)
{
	if (audit_stuck(machine->coherence))
		return error_set(error, "%s", machine->coherence->defect.text);
	for (uint32_t k = 0; k < machine->thread_count; k++) {
		const struct thread *thread = machine->threads[k];

		if (!thread->finished)
			return error_set(
				error,
				"deadlock at cycle %llu: %u threads wait and nothing is under way; "
				"thread %u waits (reason %d) since cycle %llu",
				(unsigned long long)machine->coherence->now, machine->running,
				thread->number, (int)thread->blocked,
				(unsigned long long)thread->blocked_since);
	}
	return true;
}

/* Threads that nobody counts for count into one array of all fields. */
static struct field_counts *count_nowhere(struct machine *machine)
{
	struct field_counts *nowhere = calloc(UINT16_MAX + 1, sizeof(*nowhere));

	for (uint32_t k = 0; nowhere && k < machine->thread_count; k++)
		if (!machine->threads[k]->counts)
			machine->threads[k]->counts = nowhere;
	return nowhere;
}

static bool is_counted(const struct machine *machine)
{
	for (uint32_t k = 0; k < machine->thread_count; k++)
		if (!machine->threads[k]->counts)
			return false;
	return true;
}

/* Runs events until it may stop. Returns false where threads wait and nothing is under way. */
static bool run_events(struct machine *machine)
{
	struct coherence *coherence = machine->coherence;

	for (uint32_t k = 0; k < machine->thread_count; k++) {
		machine->threads[k]->blocked = BLOCKED_TURN;
		thread_wake_at(machine->threads[k], 0, 0);
	}
	machine->patience = patience(machine);
	while (machine->running && !machine->stop && !coherence->defect.text[0]) {
		struct message *message = coherence_next(coherence);

		if (!message)
			return false;
		handle(machine, message);
		watch(machine);
	}
	return true;
}

/* Where memory runs out, a handler or a thread's body is left half-way: nothing but machine_free()
 * may follow. A thread's stack is left from outside it. */
void machine_give_up(void *context)
{
	struct machine *machine = context;

	if (machine->current)
		coroutine_yield(machine->current->coroutine);
	else if (machine->way_out)
		longjmp(*machine->way_out, 1);
}

/* True also where it gave up: then there is a defect. */
static bool run_or_give_up(struct machine *machine, bool (*run)(struct machine *))
{
	jmp_buf way_out;
	bool done = true;

	machine->way_out = &way_out;
	if (!setjmp(way_out))
		done = run(machine);
	machine->way_out = NULL;
	return done;
}

bool machine_run(struct machine *machine, struct error *error)
{
	struct coherence *coherence = machine->coherence;
	struct field_counts *nowhere = NULL;
	bool went_on;

	if (!is_counted(machine) && !(nowhere = count_nowhere(machine)))
		return error_set(error, "out of memory");
	went_on = run_or_give_up(machine, run_events);
	for (uint32_t k = 0; nowhere && k < machine->thread_count; k++)
		if (machine->threads[k]->counts == nowhere)
			machine->threads[k]->counts = NULL;
	free(nowhere);
	if (coherence->defect.text[0])
		return error_set(error, "%s", coherence->defect.text);
	return went_on || explain_silence(machine, error);
}

static bool rest(struct machine *machine)
{
	struct coherence *coherence = machine->coherence;
	struct message *message;

	while (!coherence->defect.text[0] && (message = coherence_next(coherence)))
		coherence_handle(coherence, message);
	return true;
}

bool machine_rest(struct machine *machine, struct error *error)
{
	struct coherence *coherence = machine->coherence;

	run_or_give_up(machine, rest);
	if (!coherence->defect.text[0])
		audit_rest(coherence);
	return coherence->defect.text[0] ? error_set(error, "%s", coherence->defect.text) : true;
}
