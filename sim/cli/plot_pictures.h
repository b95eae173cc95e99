/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of `hitm plot`: each turns results into the data of one page. */
#ifndef CLI_PLOT_PICTURES_H
#define CLI_PLOT_PICTURES_H

#include "cli/plot_canvas.h"
#include "cli/plot_matrix.h"
#include "cli/plot_results.h"

/* As many as there are colours to tell them apart. */
#define PLOT_MOST_RESULTS INK_SERIES_COUNT

struct plot_input {
	const struct plot_results *results;
	size_t count;                     /* 0..PLOT_MOST_RESULTS */
	const struct plot_matrix *matrix; /* NULL, or of count 0: none */
};

/* Each writes into an open canvas and sets *height to that of the page. Returns false with *error
 * empty where the results hold nothing of the kind, and with *error set where a file could not be
 * written. */
typedef bool plot_picture(const struct plot_input *input, struct canvas *canvas, double *height,
			  struct error *error);

/* Predicted against published change, a group of bars a variant, a bar a results file. */
plot_picture plot_bars;
/* Throughput against CPUs with its two asymptotes, of the first file that has curves. */
plot_picture plot_scaling;
/* Which field costs which other field how much, of the first file that has pairs: base, and the
 * last variant. */
plot_picture plot_heatmap;
/* Structs as rows of cache lines, of the first file that has layouts. */
plot_picture plot_layouts;
/* Hand-offs of all pairs of cores, of a matrix. */
plot_picture plot_matrix;

#endif
