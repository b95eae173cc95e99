/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The matrix of hand-offs that `hitm calibrate` writes: a head line `cpu,0,1,...`, then a line a CPU
 * with its number and nanoseconds; nothing where there is no hand-off. */
#ifndef CLI_PLOT_MATRIX_H
#define CLI_PLOT_MATRIX_H

#include "config/error.h"

#include <stddef.h>
#include <stdint.h>

enum { PLOT_MATRIX_MOST = 512 };

struct plot_matrix {
	uint32_t count; /* 0: there is none */
	uint32_t *cpus;
	double *ns; /* [count][count]; NAN where there is nothing */
};

/* Reads a file of at most 4 MiB. False with *error set, `file:line:column: what was expected`; then
 * nothing is left to free. */
bool plot_matrix_read(const char *file, struct plot_matrix *matrix, struct error *error);
/* The same from memory; `file` stands for the file in messages. */
bool plot_matrix_parse(const char *file, const char *text, size_t length,
		       struct plot_matrix *matrix, struct error *error);
void plot_matrix_free(struct plot_matrix *matrix);

#endif
