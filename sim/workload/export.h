/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated run as a trace: every access that its threads made, in the order in which they were done. */
#ifndef WORKLOAD_EXPORT_H
#define WORKLOAD_EXPORT_H

#include "trace/trace.h"
#include "workload/simulation.h"

enum { EXPORT_MOST = 1 << 24 };

struct export;

/* Simulates and keeps every access from the start of each thread to the end of its measurement. NULL with
 * *error set: the simulation's own, or more than EXPORT_MOST accesses. The caller frees it. */
struct export *export_run(const struct setting *setting, const struct run_options *options,
			  struct error *error);
void export_free(struct export *export);

/* The finished simulation. */
const struct simulation *export_simulation(const struct export *export);

/* Objects that were accessed: name, layout, address. Their number. They belong to the export. */
uint32_t export_objects(const struct export *export, const struct trace_object **objects);

/* The k-th access as a record; false beyond the last. Its texts last until the next call. */
bool export_record(struct export *export, uint64_t k, struct trace_record *record);

#endif
