/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One simulation: a machine file and an experiment's workload, both with whatever has been
 * overridden, run and measured. */
#ifndef WORKLOAD_SIMULATION_H
#define WORKLOAD_SIMULATION_H

#include "measure/measure.h"
#include "workload/workload.h"

/* What a run takes from the command rather than from files. */
struct run_options {
	uint64_t seed;
	bool paranoid, take_turns;        /* take_turns: no run-ahead */
	bool ideal_layout, ideal_atomics; /* counterfactuals */
	const char *layout_directory;
	const char *
		explain; /* OBJECT.FIELD or OBJECT:LINE of a line whose timeline to keep, or NULL */
	const struct listener *listener; /* hears every access, from the first one; or NULL */
};

/* The documents of one simulation, with all overrides in them. */
struct setting {
	struct document *experiment, *machine;
};

/* Copies of both. False without memory. */
bool setting_copy(struct setting *copy, const struct setting *from, struct error *error);
void setting_free(struct setting *setting);
/* Overrides one value: paths that begin with "machine." are of the machine file, all others of the
 * experiment. */
bool setting_override(struct setting *setting, const char *path, const struct node *value,
		      struct error *error);
bool setting_override_text(struct setting *setting, const char *path, const char *value,
			   const char *source, struct error *error);
/* Every setting in force, as JSON. The caller owns the reference. */
json_t *setting_json(const struct setting *setting, struct error *error);

/* A finished simulation. */
struct simulation {
	struct build *build;
	struct measure *measure;
	const struct workload_model *model;
	uint32_t threads;
	double rate; /* of the operation that counts, a second, all threads that do it */
};

/* Builds alone: objects placed, threads added, nothing run. */
bool simulation_build(struct simulation *simulation, const struct setting *setting,
		      const struct run_options *options, struct error *error);
/* Builds, runs and adds up. On failure *error is set and nothing is left to free. */
bool simulation_run(struct simulation *simulation, const struct setting *setting,
		    const struct run_options *options, struct error *error);
void simulation_free(struct simulation *simulation);

#endif
