/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_BASE = 0x100000 };

/* ---- machines ------------------------------------------------------------------------------- */

struct machine_config rig_config_of(uint32_t sockets, uint32_t cores_per_socket, uint32_t smt)
{
	return (struct machine_config){
		.name = "rig",
		.clock = 1e9,
		.sockets = sockets,
		.cores_per_socket = cores_per_socket,
		.smt = smt,
		.timing = { .clock = 1e9,
			    .scale = 1,
			    .llc = 20,
			    .dram_local = 80,
			    .dram_remote = 140,
			    .hand_off = { [DISTANCE_SOCKET] = { 60, 60, 60 },
					  [DISTANCE_CROSS] = { 130, 130, 130 } },
			    .dirty = { [DISTANCE_SOCKET] = { 50, 52 },
				       [DISTANCE_CROSS] = { 115, 121 } },
			    .clean = { [DISTANCE_SOCKET] = 46, [DISTANCE_CROSS] = 112 },
			    .upgrade = { [DISTANCE_SOCKET] = 47, [DISTANCE_CROSS] = 123 },
			    .invalidate_serial = 3,
			    .home_occupancy = 2 },
		.coherence = { .line = RIG_LINE,
			       .l1 = { 16, 4, 4 },
			       .l2 = { 64, 8, 14 },
			       .llc_sets = 256,
			       .llc_ways = 8,
			       .eviction = EVICTION_SILENT,
			       .home = HOME_AHEAD,
			       .discipline = DISCIPLINE_FIFO,
			       .batch = 8,
			       .paranoid = true,
			       .seed = 1 },
		.locked_rmw = 18,
		.fence = 33,
		.store_forward = 5,
		.store_buffer = 56,
		.loads_in_flight = 10,
		.smt_slowdown = 1,
		.run_ahead = true,
	};
}

struct machine_config rig_config(void)
{
	return rig_config_of(RIG_SOCKETS, RIG_CORES, RIG_SMT);
}

void rig_shrink(struct machine_config *config)
{
	config->coherence.l1.sets = 1;
	config->coherence.l1.ways = 2;
	config->coherence.l2.sets = 2;
	config->coherence.l2.ways = config->smt + 1;
	config->coherence.llc_sets = 2;
	config->coherence.llc_ways = 4;
}

void rig_variant(struct machine_config *config, uint32_t variant)
{
	config->coherence.eviction = variant & 1 ? EVICTION_EXACT : EVICTION_SILENT;
	config->coherence.home = variant & 2 ? HOME_BLOCKING : HOME_AHEAD;
	config->coherence.discipline = (enum discipline)(variant / 4);
}

const char *rig_variant_name(uint32_t variant)
{
	static const char *const names[RIG_VARIANTS] = {
		"silent/ahead/random",   "exact/ahead/random",    "silent/blocking/random",
		"exact/blocking/random", "silent/ahead/fifo",     "exact/ahead/fifo",
		"silent/blocking/fifo",  "exact/blocking/fifo",   "silent/ahead/batch",
		"exact/ahead/batch",     "silent/blocking/batch", "exact/blocking/batch",
	};

	return names[variant];
}

/* Counts no assertion where all is well: rigs may be made in two threads at once. */
static void must(bool done, const struct error *error)
{
	if (done)
		return;
	printf("\n  %s\n", error->text);
	CU_FAIL_FATAL("the simulator gave up");
}

struct machine *rig_machine(const struct machine_config *config)
{
	struct error error = { "" };
	struct machine *machine = machine_new(config, &error);

	must(machine != NULL, &error);
	return machine;
}

struct thread *rig_thread(struct machine *machine, uint32_t cpu,
			  void (*body)(struct thread *, void *), void *argument)
{
	struct error error = { "" };
	struct thread *thread = machine_thread(machine, cpu, body, argument, &error);

	must(thread != NULL, &error);
	return thread;
}

static void check_time(const struct thread *thread)
{
	uint64_t sum = thread->wait_cycles;

	for (int k = 0; k < CYCLES_COUNT; k++)
		sum += thread->cycles[k];
	CU_ASSERT_EQUAL(sum, thread->time);
}

void rig_run(struct machine *machine)
{
	struct error error = { "" };

	must(machine_run(machine, &error), &error);
	must(machine_rest(machine, &error), &error);
	for (uint32_t k = 0; k < machine->thread_count; k++)
		check_time(machine->threads[k]);
}

/* ---- memory --------------------------------------------------------------------------------- */

struct place rig_place(uint32_t line, uint32_t offset, uint8_t size)
{
	return (struct place){ .address = RIG_BASE + (uint64_t)line * RIG_LINE + offset,
			       .field = (uint16_t)(line * 8 + offset / 8),
			       .size = size };
}

struct place rig_line(uint32_t k)
{
	return rig_place(k, 0, 8);
}

uint64_t rig_value(struct machine *machine, struct place place)
{
	uint64_t value = 0;

	coherence_peek(machine->coherence, place.address, &value, place.size);
	return value;
}

const struct line_counts *rig_counts(struct machine *machine, struct place place)
{
	return &coherence_line(machine->coherence, place.address)->counts;
}

uint64_t rig_messages(const struct machine *machine)
{
	const struct coherence *coherence = machine->coherence;
	uint64_t sum = 0;

	for (uint32_t k = 0; k < coherence->fabric->cores; k++)
		sum += coherence->cores[k].count;
	for (uint32_t k = 0; k < coherence->fabric->topology.sockets; k++)
		sum += coherence->home_count[k];
	return sum;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *byte = data;

	for (size_t k = 0; k < size; k++)
		hash = (hash ^ byte[k]) * 0x100000001b3u; /* FNV-1a */
	return hash;
}

uint64_t rig_fingerprint(struct machine *machine, uint32_t lines)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (uint32_t k = 0; k < machine->thread_count; k++) {
		const struct thread *thread = machine->threads[k];

		hash = mix(hash, &thread->time, sizeof(thread->time));
		hash = mix(hash, &thread->wait_cycles, sizeof(thread->wait_cycles));
		hash = mix(hash, thread->cycles, sizeof(thread->cycles));
	}
	for (uint32_t k = 0; k < lines; k++) {
		uint8_t data[RIG_LINE];

		coherence_peek(machine->coherence, rig_line(k).address, data, sizeof(data));
		hash = mix(hash, data, sizeof(data));
		hash = mix(hash, rig_counts(machine, rig_line(k)), sizeof(struct line_counts));
	}
	return hash;
}

/* ---- step by step --------------------------------------------------------------------------- */

uint64_t rig_do(struct thread *self, const struct rig_step *step)
{
	switch (step->operation) {
	case RIG_LOAD:
		return thread_load(self, &step->place);
	case RIG_STORE:
		thread_store(self, &step->place, step->operand);
		return 0;
	case RIG_ADD:
		return thread_rmw(self, &step->place, RMW_ADD, step->operand, 0);
	case RIG_XCHG:
		return thread_rmw(self, &step->place, RMW_XCHG, step->operand, 0);
	case RIG_CMPXCHG:
		return thread_rmw(self, &step->place, RMW_CMPXCHG, step->operand, step->expected);
	case RIG_FENCE:
		thread_fence(self);
	}
	return 0;
}

struct serial {
	struct rig_step *steps;
	uint32_t count;
};

static void serial_body(struct thread *self, void *argument)
{
	const struct serial *serial = argument;

	for (uint32_t k = 0; k < serial->count; k++) {
		struct rig_step *step = &serial->steps[k];
		uint64_t start = (uint64_t)(k + 1) * RIG_GAP;

		if (step->cpu != self->cpu)
			continue;
		thread_work(self, (double)(start - self->time));
		step->value = rig_do(self, step);
		step->cycles = self->time - start;
	}
}

void rig_serial(struct machine *machine, struct rig_step *steps, uint32_t count)
{
	struct serial serial = { steps, count };

	for (uint32_t k = 0; k < count; k++) {
		uint32_t earlier = 0;

		while (steps[earlier].cpu != steps[k].cpu)
			earlier++;
		if (earlier == k)
			rig_thread(machine, steps[k].cpu, serial_body, &serial);
	}
	rig_run(machine);
}

/* ---- at random ------------------------------------------------------------------------------ */

struct storm *rig_storm(struct machine *machine, uint32_t threads, uint32_t lines, uint32_t steps,
			uint32_t cpu_step)
{
	struct error error = { "" };
	const struct storm_plan plan = {
		.threads = threads,
		.objects = lines,
		.steps = steps,
		.base = RIG_BASE,
		.stride = RIG_LINE,
		.roles = (1u << STORM_ROLES) - 1,
		.deeds = (1u << STORM_DEEDS) - 1,
		.hot = 2,
		.work = 200,
		.cpu_step = cpu_step,
	};
	struct storm *storm = storm_new(&plan, machine, &error);

	must(storm != NULL, &error);
	return storm;
}
