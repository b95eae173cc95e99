/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of one machine: published ones beside what the model of it gives. */
#ifndef CLI_PROBE_TABLE_H
#define CLI_PROBE_TABLE_H

#include "machine/machine_file.h"
#include "workload/probe.h"

/* A figure to simulate: by itself, or because it is published. */
struct probe_row {
	const struct probe *probe;
	uint32_t threads; /* 0: the probe takes none */
	bool published;
	struct machine_figure figure; /* if published */
	struct duration time; /* of it: to be converted with the clock of the part measured */
	double expected;      /* of it, in the probe's unit */
	double simulated;     /* the same of the model; NaN where the machine has no such thing */
	struct probe_value range; /* over all pairs of cores */
};

struct probe_table {
	struct document *document;
	struct machine_config config;
	uint64_t seed;
	struct probe_row *rows;
	size_t count, room;
};

/* What a figure is: a latency of one transaction, how far apart the pairs of cores are that have it
 * (a tenth or nine tenths of a matrix whose ends and median are inputs), atomic operations of several
 * threads on one line, increments without atomicity, or how even the threads' shares are. */
enum probe_class {
	CLASS_SINGLE,
	CLASS_SPREAD,
	CLASS_CONTENDED,
	CLASS_PLAIN,
	CLASS_SHARES,
	PROBE_CLASSES
};
enum probe_class probe_row_class(const struct probe_row *row);

/* How far a figure of a class may be off to count as met, in per cent. */
extern const double probe_tolerance[PROBE_CLASSES];

/* Loads a machine file; the caller then overrides what it likes in `document`, and frees the table,
 * which also after a failure. */
bool probe_table_load(struct probe_table *table, const char *path, struct error *error);
/* Reads it, and lists its figures: all probes once (those that scale at some numbers of threads)
 * and all that is published, or only the latter. */
bool probe_table_list(struct probe_table *table, bool only_published, struct error *error);
/* Fills in one row. Rows of a table may be simulated by several threads at once. */
bool probe_table_simulate(const struct probe_table *table, struct probe_row *row,
			  struct error *error);
void probe_table_free(struct probe_table *table);

/* Simulated against published, in per cent; NaN for a row that is not published. */
double probe_row_error(const struct probe_row *row);
/* "input", "prediction", or "" for what is not published. */
const char *probe_row_role(const struct probe_row *row);

#endif
