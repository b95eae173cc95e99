/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of figures for people and for programs, on standard output. */
#ifndef CLI_PROBE_PRINT_H
#define CLI_PROBE_PRINT_H

#include "cli/probe_table.h"

/* One machine; quiet: without a heading. */
void probe_print_text(const struct probe_table *table, bool quiet);
bool probe_print_json(const struct probe_table *table, struct error *error);

/* Any number of machines. */
void probe_print_csv(const struct probe_table *tables, size_t count);

/* All machines, published figures alone, and how many are met. */
void probe_print_all(const struct probe_table *tables, size_t count, bool quiet);
bool probe_print_all_json(const struct probe_table *tables, size_t count, struct error *error);

#endif
