/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures made up for measuring how fast they are read and replayed: loads and stores that were
 * sampled on TRACES_CPUS CPUs. */
#ifndef TESTS_BENCH_TRACES_H
#define TESTS_BENCH_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TRACES_CPUS = 72 };

/* Each writes so many records; false where they cannot be written. */

/* Lines of some 230 bytes, as `perf script` prints them. */
bool traces_perf_script(FILE *out, uint32_t records);
/* As perf record writes them: 80 bytes each, the CPUs in turn, with the end of each round marked. */
bool traces_perf_data(FILE *out, uint32_t records);
/* hitm's own forms, complete: counters and lines of each thread's own, and a few that all share. */
bool traces_text(FILE *out, uint32_t records);
bool traces_binary(FILE *out, uint32_t records);

#endif
