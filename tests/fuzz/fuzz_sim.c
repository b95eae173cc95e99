/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as a small machine, of any protocol variant, with latencies of any proportion, and a
 * program for its threads. All run-time checks are on; in the end every counter must be exact, no
 * thread may have seen one go back, and with every access an event of its own all is the same. */
#include "machine/machine.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

enum {
	LINES_MAX = 4,
	THREADS_MAX = 8,
	STEPS_MAX = 24, /* a thread */
	ROUNDS_MAX = 3,
	BASE = 0x100000,
	LINE = 64
};

/* A line: a counter that all add to, and a sequence number that one thread of each line writes. */
enum { COUNTER, SEQUENCE };

/* NEXT and LOAD are of the sequence number's 8 bytes or lower 4, PEEK of the counter. */
enum operation { ADD, LOAD, NEXT, GROUP, PEEK, FENCE, WORK, FAIL, OPERATIONS };

struct step {
	uint8_t operation, line, amount;
};

struct program {
	const uint8_t *bytes;
	size_t left;
	uint32_t lines, threads, rounds;
	struct player {
		const struct program *program;
		uint32_t number, step_count;
		struct step steps[STEPS_MAX];
		uint64_t added[LINES_MAX], written[LINES_MAX];
		uint64_t seen[LINES_MAX][2];
		uint64_t hash; /* of all values read, and when */
	} players[THREADS_MAX];
};

/* ---- bytes to a machine and a program ------------------------------------------------------- */

/* The next byte; 0 when there are no more. */
static uint32_t take(struct program *program, uint32_t bound)
{
	if (!program->left)
		return 0;
	program->left--;
	return *program->bytes++ % bound;
}

/* Nanoseconds that are cycles, small to large. */
static double take_time(struct program *program, uint32_t least)
{
	static const uint32_t scales[] = { 1, 1, 3, 10 };
	uint32_t byte = take(program, 256);

	return least + (byte & 63) * scales[byte >> 6];
}

static void take_timing(struct program *program, struct fabric_timing *t)
{
	*t = (struct fabric_timing){ .clock = 1e9, .scale = 1 };
	t->llc = take_time(program, 8);
	t->dram_local = t->llc + take_time(program, 1);
	t->dram_remote = t->dram_local + take_time(program, 0);
	for (int across = 0; across < 2; across++) {
		double hand_off = t->llc + 60 + take_time(program, 30);

		t->hand_off[across] = (struct spread){ hand_off, hand_off, hand_off };
		t->dirty[across][0] = t->llc + take_time(program, 10);
		t->dirty[across][1] = t->llc + take_time(program, 10);
		t->clean[across] = t->llc + take_time(program, 10);
		t->upgrade[across] = t->llc + take_time(program, 10);
	}
	t->invalidate_serial = take(program, 8);
	t->home_occupancy = take(program, 32);
}

static void take_machine(struct program *program, struct machine_config *config)
{
	struct protocol_variant variant = protocol_variant_at(take(program, PROTOCOL_VARIANTS));
	uint32_t order = take(program, 256), shape = take(program, 256);

	*config = (struct machine_config){
		.name = "fuzz",
		.clock = 1e9,
		.sockets = 1 + (shape & 1),
		.cores_per_socket = 2,
		.smt = 1 + (shape >> 1 & 1),
		.coherence = { .line = LINE,
			       .l1 = { 1, 1 + (shape >> 2 & 1), 4 },
			       .l2 = { 1, 3, 14 },
			       .llc_sets = 1,
			       .llc_ways = 1 + (shape >> 3 & 3),
			       .protocol = variant.protocol,
			       .eviction = variant.eviction,
			       .home = variant.home,
			       .atomics = variant.atomics,
			       .discipline = (enum discipline)(order % 3),
			       .batch = 1 + order / 32,
			       .paranoid = true,
			       .seed = shape },
		.locked_rmw = 1 + take(program, 32),
		.fence = take(program, 40),
		.store_forward = 5,
		.store_buffer = 1 + take(program, 8),
		.loads_in_flight = 1 + take(program, 6),
		.smt_slowdown = 1.5,
		.run_ahead = true,
	};
	take_timing(program, &config->timing);
}

/* One writer a line. */
static bool may_write(const struct player *player, uint32_t line)
{
	return line % player->program->threads == player->number;
}

static void take_steps(struct program *program, struct player *player)
{
	uint32_t count = 1 + take(program, STEPS_MAX);

	for (uint32_t k = 0; k < count && program->left; k++) {
		struct step *step = &player->steps[player->step_count++];

		step->operation = (uint8_t)take(program, OPERATIONS);
		step->line = (uint8_t)take(program, program->lines);
		step->amount = (uint8_t)take(program, 256);
		if (step->operation == NEXT && !may_write(player, step->line))
			step->operation = LOAD;
	}
}

static void take_program(struct program *program, const struct machine_config *config)
{
	uint32_t cpus = config->sockets * config->cores_per_socket * config->smt;

	program->lines = 1 + take(program, LINES_MAX);
	program->threads = 2 + take(program, cpus - 1);
	program->rounds = 1 + take(program, ROUNDS_MAX);
	for (uint32_t k = 0; k < program->threads; k++) {
		program->players[k] = (struct player){ .program = program, .number = k };
		take_steps(program, &program->players[k]);
	}
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Numbers never outgrow 4 bytes, so that their lower half says as much. */
static struct place place_of(uint32_t line, uint32_t what)
{
	return (struct place){ .address = BASE + line * LINE + what * 8,
			       .field = (uint16_t)(2 * line + what),
			       .size = 8 };
}

static void note(struct player *me, struct thread *self, uint64_t value)
{
	me->hash = (me->hash ^ value ^ self->time << 20) * 0x100000001b3u;
}

/* Neither counters nor sequence numbers ever go back. */
static void saw(struct player *me, struct thread *self, uint32_t line, uint32_t what,
		uint64_t value)
{
	FUZZ_EXPECT(value >= me->seen[line][what], NULL);
	me->seen[line][what] = value;
	note(me, self, value);
}

static void load(struct player *me, struct thread *self, uint32_t line, uint32_t what, uint8_t size)
{
	struct place place = place_of(line, what);
	uint64_t value;

	place.size = size;
	value = thread_load(self, &place);
	FUZZ_EXPECT(what != SEQUENCE || !may_write(me, line) || value == me->written[line], NULL);
	saw(me, self, line, what, value);
}

static void load_together(struct player *me, struct thread *self, const struct step *step)
{
	const struct program *program = me->program;
	struct place places[LINES_MAX];
	const struct place *together[LINES_MAX];

	for (uint32_t k = 0; k < program->lines; k++) {
		places[k] = place_of((step->line + k) % program->lines, step->amount >> k & 1);
		together[k] = &places[k];
	}
	thread_together(self, together, program->lines);
	for (uint32_t k = 0; k < program->lines; k++)
		if (step->amount >> (4 + k % 4) & 1)
			load(me, self, (step->line + k) % program->lines, step->amount >> k & 1, 8);
}

static void step_do(struct player *me, struct thread *self, const struct step *step)
{
	struct place counter = place_of(step->line, COUNTER);
	struct place sequence = place_of(step->line, SEQUENCE);

	sequence.size = step->amount & 1 ? 4 : 8;
	switch ((enum operation)step->operation) {
	case ADD:
		me->added[step->line] += step->amount;
		saw(me, self, step->line, COUNTER,
		    thread_rmw(self, &counter, RMW_ADD, step->amount, 0));
		break;
	case NEXT:
		thread_store(self, &sequence, ++me->written[step->line]);
		break;
	case GROUP:
		load_together(me, self, step);
		break;
	case FENCE:
		thread_fence(self);
		break;
	case WORK:
		thread_work(self, step->amount);
		break;
	case FAIL: /* a compare-exchange that cannot succeed takes the line all the same */
		note(me, self, thread_rmw(self, &counter, RMW_CMPXCHG, 0, ~0ull));
		break;
	default:
		load(me, self, step->line, step->operation == PEEK ? COUNTER : SEQUENCE,
		     sequence.size);
	}
}

static void play(struct thread *self, void *argument)
{
	struct player *me = argument;

	for (uint32_t round = 0; round < me->program->rounds; round++)
		for (uint32_t k = 0; k < me->step_count; k++)
			step_do(me, self, &me->steps[k]);
	thread_fence(self);
}

/* ---- what must hold ------------------------------------------------------------------------- */

static void expect_value(struct machine *machine, struct place place, uint64_t expected)
{
	uint64_t value = 0;

	coherence_peek(machine->coherence, place.address, &value, place.size);
	FUZZ_EXPECT(value == expected, NULL);
}

static void expect_exact(const struct program *program, struct machine *machine)
{
	for (uint32_t line = 0; line < program->lines; line++) {
		uint64_t added = 0;

		for (uint32_t k = 0; k < program->threads; k++)
			added += program->players[k].added[line];
		expect_value(machine, place_of(line, COUNTER), added);
		expect_value(machine, place_of(line, SEQUENCE),
			     program->players[line % program->threads].written[line]);
	}
}

/* Runs the program on the machine. Returns a hash of all that its threads saw. */
static uint64_t run(const struct program *from, const struct machine_config *config)
{
	struct program program = *from;
	struct error error = { "" };
	struct machine *machine = machine_new(config, &error);
	struct field_counts counts[2 * LINES_MAX] = { 0 };
	uint64_t hash = 0;

	FUZZ_EXPECT(machine, &error);
	for (uint32_t line = 0; line < program.lines; line++)
		coherence_set_home(machine->coherence, BASE + line * LINE, line % config->sockets);
	for (uint32_t k = 0; k < program.threads; k++) {
		program.players[k].program = &program;
		FUZZ_EXPECT(machine_thread(machine, k, play, &program.players[k], &error), &error);
		machine->threads[k]->counts = counts;
	}
	FUZZ_EXPECT(machine_run(machine, &error), &error);
	FUZZ_EXPECT(machine_rest(machine, &error), &error);
	expect_exact(&program, machine);
	for (uint32_t k = 0; k < program.threads; k++)
		hash = (hash ^ program.players[k].hash ^ machine->threads[k]->time) *
		       0x100000001b3u;
	machine_free(machine);
	return hash;
}

static bool is_machine(const struct machine_config *config)
{
	struct error error = { "" };
	struct machine *machine = machine_new(config, &error);

	machine_free(machine);
	return machine;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program program = { .bytes = data, .left = size };
	struct machine_config config;
	uint64_t hash;

	take_machine(&program, &config);
	take_program(&program, &config);
	if (!is_machine(&config))
		return 0;
	hash = run(&program, &config);
	config.run_ahead = false;
	FUZZ_EXPECT(run(&program, &config) == hash, NULL);
	return 0;
}
