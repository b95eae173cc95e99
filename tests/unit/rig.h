/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines for tests: round numbers, tiny caches, programs given step by step or at random. */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include "check/storm.h"
#include "machine/machine.h"

enum {
	RIG_SOCKETS = 2,
	RIG_CORES = 4, /* a socket */
	RIG_SMT = 2,
	RIG_LINE = 64,
	RIG_GAP = 100000 /* cycles between two steps: nothing is under way any more */
};

/* 2 sockets x 4 cores x 2 threads at 1 GHz, so that nanoseconds are cycles, with no two latencies
 * alike and no spread between pairs. Paranoid. */
struct machine_config rig_config(void);

/* As many cores a socket, hand-offs across pairs alike. */
struct machine_config rig_config_of(uint32_t sockets, uint32_t cores_per_socket, uint32_t smt);

/* An L1 of 2 lines, an L2 of 6 and an LLC of 8 (a socket): evictions at every turn. */
void rig_shrink(struct machine_config *config);

/* Every combination of S eviction, home and discipline: variants 0 .. RIG_VARIANTS - 1. */
enum { RIG_VARIANTS = 2 * 2 * 3 };
void rig_variant(struct machine_config *config, uint32_t variant);
const char *rig_variant_name(uint32_t variant);

/* machine_new, machine_thread and machine_run, which must succeed. rig_run then lets all that is
 * under way arrive, and checks that each thread's cycles add up to its time. */
struct machine *rig_machine(const struct machine_config *config);
struct thread *rig_thread(struct machine *machine, uint32_t cpu,
			  void (*body)(struct thread *, void *), void *argument);
void rig_run(struct machine *machine);

/* A place of 8 bytes at the start of the k-th line of memory, and others of that line. */
struct place rig_line(uint32_t k);
struct place rig_place(uint32_t line, uint32_t offset, uint8_t size);

/* What a load would return once all is at rest. */
uint64_t rig_value(struct machine *machine, struct place place);
const struct line_counts *rig_counts(struct machine *machine, struct place place);

/* Coherence messages sent so far by caches and homes. */
uint64_t rig_messages(const struct machine *machine);

/* All that a simulation computed: times, where they went, counts, and the first `lines` lines. */
uint64_t rig_fingerprint(struct machine *machine, uint32_t lines);

/* ---- step by step --------------------------------------------------------------------------- */

enum rig_operation { RIG_LOAD, RIG_STORE, RIG_ADD, RIG_XCHG, RIG_CMPXCHG, RIG_FENCE };

struct rig_step {
	uint32_t cpu;
	enum rig_operation operation;
	struct place place;
	uint64_t operand, expected;
	uint64_t value, cycles; /* what it returned, how long it took */
};

/* Does one operation in a thread. */
uint64_t rig_do(struct thread *self, const struct rig_step *step);

/* Runs the steps one after the other, RIG_GAP cycles apart, and notes value and cycles in each. */
void rig_serial(struct machine *machine, struct rig_step *steps, uint32_t count);

/* ---- at random ------------------------------------------------------------------------------ */

/* storm_new, which must succeed: a storm of everything over the first lines, its threads on cpus 0,
 * cpu_step ... and later. */
struct storm *rig_storm(struct machine *machine, uint32_t threads, uint32_t lines, uint32_t steps,
			uint32_t cpu_step);

#endif
