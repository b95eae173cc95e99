/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures this host: everything that a machine file states and that a user program can measure,
 * and what `hitm probe` predicts from it, under the same names. */
#ifndef NATIVE_CALIBRATE_H
#define NATIVE_CALIBRATE_H

#include "native/bench.h"
#include <stdio.h>

/* How far apart two CPUs are: the nearest level that both are in, of those that the host has. */
enum calibrate_level { LEVEL_SMT, LEVEL_CLUSTER, LEVEL_DIE, LEVEL_SAME, LEVEL_CROSS };
enum {
	LEVELS = LEVEL_CROSS + 1,
	FIGURE_NAME = 40,
	METHOD_SIZE = 160,
	FIGURES_MOST = 512,
	LACKING_MOST = 32
};

/* One thing measured. */
struct calibrate_figure {
	char name[FIGURE_NAME]; /* a probe's where there is one of this, as load_dirty_same */
	uint32_t threads;       /* 0: does not matter */
	const char *unit;       /* "ns", "ratio", "operations", "lines" or "GHz" */
	struct sample value;    /* over batches; over pairs of CPUs where pairs > 1 */
	uint32_t pairs;
	char method[METHOD_SIZE];
	char noise[METHOD_SIZE]; /* what disturbed it though it was tried again; or empty */
};

/* A machine of the simulator that is like the usable part of the host. A level that does not differ
 * from the next has 0 cores. */
struct calibrate_shape {
	uint32_t sockets, cores_per_socket, cores_per_die, cores_per_cluster, smt;
};

struct calibration {
	const struct host *host;
	struct host_clock clock;
	struct calibrate_shape shape;
	struct calibrate_figure figures[FIGURES_MOST];
	uint32_t count;
	uint32_t *cores; /* the first CPU of each of host->cores cores */
	double *matrix;  /* [cores][cores] hand-offs in ns; NaN where there is none */
	double *token;   /* likewise: see bout.h */
	char lacking[LACKING_MOST][METHOD_SIZE]; /* what was not measured, and why */
	uint32_t lacking_count;
	double steadiness; /* the least part of the time for which two CPUs lay as measured */
	double other_ns;   /* what the hand-off of these two was else; NaN where nothing else */
	uint64_t before[BEFORE_KINDS]; /* of most threads: see bench.h */
	uint32_t before_threads;
};

struct calibrate_options {
	bool quick;       /* a tenth of the time, and less certain */
	bool use_counter; /* see host_clock_new */
	/* Hears of each thing before it is measured; may be NULL. */
	void (*progress)(void *context, const char *what);
	void *context;
};

/* Takes up to 60 s, up to 10 s when quick; what could not be measured is left out. The caller frees
 * it with calibration_free, before the host. NULL with *error set where there is no memory. */
struct calibration *calibrate(const struct host *host, const struct calibrate_options *options,
			      struct error *error);
void calibration_free(struct calibration *calibration);

/* NULL where there is none. */
const struct calibrate_figure *calibration_figure(const struct calibration *calibration,
						  const char *name, uint32_t threads);

struct calibrate_shape calibrate_shape(const struct host *host);
enum calibrate_level calibrate_level(const struct calibrate_shape *shape, const struct host_cpu *a,
				     const struct host_cpu *b);
extern const char *const calibrate_level_names[LEVELS]; /* as figures' names end */

/* ---- the files ------------------------------------------------------------------------------ */

/* What `hitm probe` has a figure of. */
typedef bool calibrate_is_probe(const char *name);

/* A machine file: see machine/machine_file.h. `unfit` are keys, NULL at the end, that the model
 * cannot take as they were measured: they are left to its rules, and the file says so. Whether the
 * file took it shows when it is closed. False with *error set where there is no memory. */
bool calibration_write(const struct calibration *calibration, FILE *file, const char *const *unfit,
		       calibrate_is_probe *is_probe, struct error *error);

/* For how long an owner keeps a line that does so many operations a visit, in ns; 0 for one. */
double calibrate_retain(double operations, double operation_ns);

/* The weight of waiters in the holder's cluster (or socket, where there are no clusters), from who
 * followed whom among `threads` spread evenly; NaN where nobody was farther or nearer. */
double calibrate_bias(const struct calibration *calibration);

/* The hand-offs as CSV: a head line of CPU numbers, then a row each; empty where there is none. */
void matrix_write(const struct calibration *calibration, FILE *file);

#endif
