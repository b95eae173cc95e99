/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An experiment on each of its machines: simulated, written, printed. */
#ifndef CLI_RUN_MACHINES_H
#define CLI_RUN_MACHINES_H

#include "cli/output.h"
#include "cli/sets.h"
#include "workload/experiment.h"

struct run_command {
	const char *machine, *out; /* NULL: those of the experiment; no files */
	struct sets sets;
	enum output_format format;
	bool no_band, no_scaling, ablations, only_table;
	struct experiment_options options;
	void (*also)(FILE *out, const json_t *results); /* ends the report; NULL: nothing */
};

/* Runs it all. False with *error set; results of machines before the one that failed are out then. */
bool run_machines(const struct document *original, const struct run_command *command,
		  struct error *error);

#endif
