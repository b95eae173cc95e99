/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is how far from whom: the hand-offs of all pairs of cores. */
#include "cli/plot_matrix.h"
#include "cli/plot_pictures.h"
#include "config/file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES   (4 << 20)
#define MOST_NUMBERS 16 /* cores whose cells have room for a number */
#define MOST_LABELS  16 /* along a side */
#define FIELD_SIZE   24

/* ---- reading -------------------------------------------------------------------------------- */

/* Where in the text a field is. */
struct cursor {
	const char *file, *at, *end, *line_start;
	unsigned line;
	bool more; /* the field last taken had a comma after it */
};

static bool refuse(const struct cursor *cursor, const char *field, const char *expected,
		   struct error *error)
{
	return error_at(error, cursor->file, cursor->line,
			(unsigned)(field - cursor->line_start) + 1, "expected %s", expected);
}

static bool at_line_end(const struct cursor *cursor)
{
	return cursor->at == cursor->end || *cursor->at == '\n';
}

/* Takes a field up to a comma or the end of its line, and the comma. False where it is too long or
 * holds anything but the characters of numbers and names. */
static bool take_field(struct cursor *cursor, char *field)
{
	size_t length = 0;

	for (; !at_line_end(cursor) && *cursor->at != ','; cursor->at++, length++) {
		if (length + 1 >= FIELD_SIZE ||
		    !(isalnum((unsigned char)*cursor->at) || *cursor->at == '.'))
			return false;
		field[length] = *cursor->at;
	}
	field[length] = '\0';
	cursor->more = !at_line_end(cursor);
	cursor->at += cursor->more;
	return true;
}

static void next_line(struct cursor *cursor)
{
	cursor->at += cursor->at < cursor->end;
	cursor->line_start = cursor->at;
	cursor->line++;
}

static bool read_cpu(struct cursor *cursor, uint32_t *cpu, struct error *error)
{
	const char *start = cursor->at;
	char field[FIELD_SIZE];
	size_t digits;

	if (!take_field(cursor, field))
		return refuse(cursor, start, "the number of a CPU", error);
	digits = strspn(field, "0123456789");
	if (!digits || digits > 6 || field[digits])
		return refuse(cursor, start, "the number of a CPU", error);
	*cpu = (uint32_t)strtoul(field, NULL, 10);
	return true;
}

static bool read_head(struct cursor *cursor, struct plot_matrix *matrix, struct error *error)
{
	char field[FIELD_SIZE];

	if (!take_field(cursor, field) || strcmp(field, "cpu") != 0 || !cursor->more)
		return refuse(cursor, cursor->line_start, "a line 'cpu,0,1,...'", error);
	for (; cursor->more && !at_line_end(cursor); matrix->count++) {
		if (matrix->count == PLOT_MATRIX_MOST)
			return refuse(cursor, cursor->at, "at most 512 CPUs", error);
		if (!read_cpu(cursor, &matrix->cpus[matrix->count], error))
			return false;
	}
	return matrix->count ||
	       refuse(cursor, cursor->at, "the numbers of the CPUs after 'cpu,'", error);
}

static bool read_ns(struct cursor *cursor, double *ns, struct error *error)
{
	const char *start = cursor->at;
	char field[FIELD_SIZE], *end = field;
	bool taken = take_field(cursor, field);

	*ns = NAN;
	if (taken && !field[0])
		return true;
	if (taken && strspn(field, "0123456789.") == strlen(field))
		*ns = strtod(field, &end);
	return (end > field && !*end && *ns > 0 && *ns < 1e9) ||
	       refuse(cursor, start, "nanoseconds, or nothing", error);
}

static bool read_row(struct cursor *cursor, struct plot_matrix *matrix, uint32_t row,
		     struct error *error)
{
	const char *start = cursor->at;
	uint32_t cpu;

	if (!read_cpu(cursor, &cpu, error))
		return false;
	if (cpu != matrix->cpus[row])
		return refuse(cursor, start, "the CPUs in the order of the first line", error);
	for (uint32_t k = 0; k < matrix->count; k++) {
		if (!cursor->more)
			return refuse(cursor, cursor->at, "as many fields as the first line has",
				      error);
		if (!read_ns(cursor, &matrix->ns[(size_t)row * matrix->count + k], error))
			return false;
	}
	return !cursor->more ||
	       refuse(cursor, cursor->at, "as many fields as the first line has", error);
}

static bool read_rows(struct cursor *cursor, struct plot_matrix *matrix, struct error *error)
{
	bool any = false;

	matrix->ns = calloc((size_t)matrix->count * matrix->count, sizeof(*matrix->ns));
	if (!matrix->ns)
		return error_set(error, "out of memory");
	for (uint32_t row = 0; row < matrix->count; row++) {
		next_line(cursor);
		if (cursor->at == cursor->end)
			return refuse(cursor, cursor->at, "a line for each CPU", error);
		if (!read_row(cursor, matrix, row, error))
			return false;
	}
	next_line(cursor);
	if (cursor->at < cursor->end)
		return refuse(cursor, cursor->at, "no more lines than CPUs", error);
	for (size_t k = 0; k < (size_t)matrix->count * matrix->count; k++)
		any |= matrix->ns[k] > 0;
	return any ||
	       error_set(error, "%s: no hand-off in it, expected at least one", cursor->file);
}

bool plot_matrix_parse(const char *file, const char *text, size_t length,
		       struct plot_matrix *matrix, struct error *error)
{
	struct cursor cursor = { file, text, text + length, text, 1, false };

	*matrix = (struct plot_matrix){ .cpus = calloc(PLOT_MATRIX_MOST, sizeof(*matrix->cpus)) };
	if (!matrix->cpus)
		return error_set(error, "out of memory");
	if (!length)
		error_at(error, file, 1, 1, "expected a line 'cpu,0,1,...'");
	else if (read_head(&cursor, matrix, error) && read_rows(&cursor, matrix, error))
		return true;
	plot_matrix_free(matrix);
	return false;
}

bool plot_matrix_read(const char *file, struct plot_matrix *matrix, struct error *error)
{
	size_t length;
	char *text = file_read(file, MOST_BYTES, &length, error);
	bool read = text && plot_matrix_parse(file, text, length, matrix, error);

	free(text);
	return read;
}

void plot_matrix_free(struct plot_matrix *matrix)
{
	free(matrix->cpus);
	free(matrix->ns);
	*matrix = (struct plot_matrix){ 0 };
}

/* ---- drawing -------------------------------------------------------------------------------- */

static const double frame[] = { 130, 150, 1010, 1030 }; /* left, top, right, bottom */

static void write_cells(const struct plot_matrix *matrix, FILE *cells)
{
	for (uint32_t row = 0; row < matrix->count; row++)
		for (uint32_t k = 0; k < matrix->count; k++)
			number_print(cells, matrix->ns[(size_t)row * matrix->count + k],
				     k + 1 < matrix->count ? " " : "\n");
}

static void draw_numbers(const struct plot_matrix *matrix, struct canvas *canvas)
{
	double cell = (frame[2] - frame[0]) / matrix->count;
	uint32_t step = (matrix->count + MOST_LABELS - 1) / MOST_LABELS;

	for (uint32_t row = 0; row < matrix->count; row++) {
		double y = frame[1] + cell * (row + 0.5);

		if (row % step == 0) {
			canvas_text(canvas, frame[0] - 14, y, TEXT_RIGHT, INK_BLACK, "%u",
				    matrix->cpus[row]);
			canvas_text(canvas, frame[0] + cell * (row + 0.5), frame[3] + 26,
				    TEXT_CENTRE, INK_BLACK, "%u", matrix->cpus[row]);
		}
		for (uint32_t k = 0; k < matrix->count && matrix->count <= MOST_NUMBERS; k++) {
			double ns = matrix->ns[(size_t)row * matrix->count + k];

			if (ns > 0)
				canvas_text(canvas, frame[0] + cell * (k + 0.5), y, TEXT_CENTRE,
					    INK_BLACK, "%.0f", ns);
		}
	}
}

bool plot_matrix(const struct plot_input *input, struct canvas *canvas, double *height,
		 struct error *error)
{
	const struct plot_matrix *matrix = input->matrix;
	static const char *const names[] = { "frame_left", "frame_top", "frame_right",
					     "frame_bottom" };
	double lowest = INFINITY, highest = 0;
	FILE *cells;

	if (!matrix || !matrix->count)
		return false;
	cells = canvas_open_data(canvas, "cells", error);
	if (!cells)
		return false;
	write_cells(matrix, cells);
	for (size_t k = 0; k < (size_t)matrix->count * matrix->count; k++) {
		lowest = fmin(lowest, matrix->ns[k]);
		highest = fmax(highest, matrix->ns[k]);
	}
	for (int k = 0; k < 4; k++)
		canvas_number(canvas, names[k], frame[k]);
	canvas_number(canvas, "cells", matrix->count);
	canvas_number(canvas, "lowest", lowest);
	canvas_number(canvas, "highest", highest > lowest ? highest : lowest * 1.01);
	canvas_text(canvas, CANVAS_MARGIN, 44, TEXT_TITLE, INK_BLACK,
		    "hand-offs between cores: %.0f to %.0f ns", lowest, highest);
	canvas_text(canvas, CANVAS_MARGIN, 104, TEXT_LEFT, INK_BLACK,
		    "half a round of compare-exchange between the CPUs of row and column");
	draw_numbers(matrix, canvas);
	*height = frame[3] + 70;
	return canvas_close_data(canvas, cells, error);
}
