/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a picture is made of: boxes, lines, marks and texts at pixels of a page, written as files
 * that gnuplot reads.
 *
 * Geometry is decided here and in the pictures; colours, fonts and line widths in the templates
 * under plots/. A text never goes through a format of gnuplot's, nor through a column of a data
 * file: it is a string constant in which every byte but a letter is written in octal, so that
 * gnuplot has nothing to substitute or to trip over. */
#ifndef CLI_PLOT_CANVAS_H
#define CLI_PLOT_CANVAS_H

#include "config/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CANVAS_WIDTH  1200.0 /* pixels of every page; x goes right, y goes down */
#define CANVAS_MARGIN 20.0

/* Colours, in the order of the palette of plots/style.gp. */
enum ink {
	INK_NONE,
	INK_BLACK,
	INK_WHITE,
	INK_GREY,
	INK_PUBLISHED,
	INK_TRUE_SHARING,
	INK_FALSE_SHARING,
	INK_UNTOUCHED,
	INK_READ_ONLY,
	INK_ONE_WRITER,
	INK_MANY_WRITERS,
	INK_SERIES, /* and the next five: one a machine or curve */
};
#define INK_SERIES_COUNT 6

/* How a text stands to its (x, y), the vertical middle of its (last) line. */
enum text_style { TEXT_TITLE, TEXT_LEFT, TEXT_RIGHT, TEXT_CENTRE, TEXT_SMALL, TEXT_SLANTED };

enum line_style { LINE_BAND, LINE_FRAME, LINE_CURVE, LINE_DASHED, LINE_DOT_DASHED, LINE_STRIPE };

struct canvas {
	FILE *prologue; /* assignments that the template reads */
	FILE *boxes, *lines, *marks, *texts;
	const char *directory, *picture;
	unsigned text_count;
};

/* Starts the files PICTURE.gp, .boxes, .lines, .marks and .texts of a picture in a directory. Both
 * strings must outlive the canvas. canvas_close() is due whether this succeeds or not. */
bool canvas_open(struct canvas *canvas, const char *directory, const char *picture,
		 struct error *error);

/* Ends them; `height` is that of the page in pixels. False with *error set if any write failed. */
bool canvas_close(struct canvas *canvas, double height, struct error *error);

/* A further data file PICTURE.SUFFIX. The caller closes it with canvas_close_data(). NULL with
 * *error set on failure. */
FILE *canvas_open_data(const struct canvas *canvas, const char *suffix, struct error *error);
bool canvas_close_data(const struct canvas *canvas, FILE *data, struct error *error);

/* Boxes and lines are {x0, y0, x1, y1}. Full colour at weight 1, white at 0; a hatched box is
 * striped in its colour. */
void canvas_box(struct canvas *canvas, const double box[4], unsigned ink, double weight,
		bool hatched);
void canvas_line(struct canvas *canvas, const double line[4], enum line_style style, unsigned ink);
/* The dot of a curve: its shape and colour go with its number. */
void canvas_mark(struct canvas *canvas, double x, double y, unsigned series);
void canvas_text(struct canvas *canvas, double x, double y, enum text_style style, unsigned ink,
		 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* An assignment for the template. Numbers that are not finite become NaN. */
void canvas_number(struct canvas *canvas, const char *name, double value);
void canvas_string(struct canvas *canvas, const char *name, const char *text);

/* The width of a text in pixels, as DejaVu Sans has it, the widest of the usual fonts; a few
 * percent on the safe side. */
double text_width(const char *text, enum text_style style);

/* Copies a text into a buffer, cut to `most` characters with an ellipsis at its end or, if `tail`,
 * at its start: the end of a dotted field name says more than its start. Returns the buffer. */
const char *text_cut(const char *text, size_t most, bool tail, char *buffer, size_t size);

/* Prints a number for a data file: gnuplot's NaN where it is none. */
void number_print(FILE *file, double value, const char *after);

#endif
