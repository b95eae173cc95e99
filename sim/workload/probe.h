/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual microbenchmarks: what the public tools measure on a machine, measured on the model of it,
 * by the same programs. */
#ifndef WORKLOAD_PROBE_H
#define WORKLOAD_PROBE_H

#include "machine/machine.h"

/* Between which threads: cores as far apart as enum distance says, or two threads of a core. */
enum { PROBE_SMT = DISTANCES };

/* One figure. Where it is taken over pairs of cores: the median, the lowest, the tenth and ninetieth
 * of a hundred, the highest; else all are equal. NaN where the machine has no such thing, as a
 * second socket. */
struct probe_value {
	double value, low, p10, p90, high;
};

struct probe {
	const char *name;
	const char *unit; /* "ns" or "ratio" */
	bool scales;      /* is a figure for a number of threads */
	const char *meaning;
	/* what to run, for probe_run: */
	bool (*run)(const struct probe *probe, const struct machine_config *config,
		    uint32_t threads, struct probe_value *value, struct error *error);
	uint8_t program;
	uint8_t distance; /* enum distance or PROBE_SMT */
	uint8_t home; /* enum home_place: where the line's home is, as its second user sees it */
};

/* All of them, in the order of a report; the last has no name. */
extern const struct probe probes[];

/* The probe of this name, or NULL. */
const struct probe *probe_find(const char *name);

/* Runs one on a machine of this configuration. `threads` counts for those that scale: from 1 to the
 * machine's CPUs; they fill the cores first, socket by socket, then the cores' second threads.
 * Values converge to half a per cent, except the fairness, which is that of some ten thousand
 * operations. False with *error set where the machine cannot be made or run. */
bool probe_run(const struct probe *probe, const struct machine_config *config, uint32_t threads,
	       struct probe_value *value, struct error *error);

/* Between the files of the probes. Their memory begins here: address 0 is no line of a thread's. */
enum { PROBE_MEMORY = 1 << 20 };
enum probe_walk { WALK_ADD, WALK_FENCE, WALK_L1, WALK_L2, WALK_LLC, WALK_DRAM };
enum probe_duel { DUEL_DIRTY, DUEL_CLEAN, DUEL_UPGRADE, DUEL_CAS, DUEL_LOAD_CAS };
enum probe_contest {
	CONTEST_FETCH_ADD,
	CONTEST_CAS_LOOP,
	CONTEST_LOAD_CAS_LOOP,
	CONTEST_PLAIN_ADD,
	CONTEST_FAIRNESS
};
bool probe_walk(const struct probe *probe, const struct machine_config *config, uint32_t threads,
		struct probe_value *value, struct error *error);
bool probe_duel(const struct probe *probe, const struct machine_config *config, uint32_t threads,
		struct probe_value *value, struct error *error);
bool probe_contest(const struct probe *probe, const struct machine_config *config, uint32_t threads,
		   struct probe_value *value, struct error *error);

#endif
