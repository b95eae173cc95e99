/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Throughput against CPUs, with the two bounds that no point may cross: N/(Z+S) and 1/S. */
#include "cli/plot_pictures.h"

#include <math.h>

#define FRAME_LEFT    150.0
#define FRAME_HEIGHT  760.0
#define LEGEND_HEIGHT 46.0

static void write_curve(FILE *data, const struct plot_curve *curve)
{
	for (size_t i = 0; i < curve->point_count; i++) {
		const struct plot_point *point = &curve->points[i];
		number_print(data, point->cpus, " ");
		number_print(data, point->value, " ");
		number_print(data, point->linear_bound, " ");
		number_print(data, point->saturation_bound, "\n");
	}
	fputs("\n\n", data); /* the next block of gnuplot's */
}

/* The linear bound would squash the curves, so it may leave the page; the saturation bound is shown
 * where it is within half again of the highest point. */
static double find_top(const struct plot_results *results)
{
	double highest = 0, bound = 0;

	for (size_t i = 0; i < results->curve_count; i++)
		for (size_t k = 0; k < results->curves[i].point_count; k++)
			highest = fmax(highest, results->curves[i].points[k].value);
	for (size_t i = 0; i < results->curve_count; i++)
		for (size_t k = 0; k < results->curves[i].point_count; k++) {
			double saturation = results->curves[i].points[k].saturation_bound;
			if (saturation <= 1.5 * highest)
				bound = fmax(bound, saturation);
		}
	return highest > 0 ? 1.12 * fmax(highest, bound) : 1;
}

static double find_right(const struct plot_results *results)
{
	double right = 1;

	for (size_t i = 0; i < results->curve_count; i++)
		for (size_t k = 0; k < results->curves[i].point_count; k++)
			right = fmax(right, results->curves[i].points[k].cpus);
	return right;
}

static const struct plot_results *find_results(const struct plot_input *input)
{
	for (size_t i = 0; i < input->count; i++)
		for (size_t k = 0; k < input->results[i].curve_count; k++)
			if (input->results[i].curves[k].point_count)
				return &input->results[i];
	return NULL;
}

static bool write_curves(const struct plot_results *results, const struct canvas *canvas,
			 struct error *error)
{
	FILE *data = canvas_open_data(canvas, "curves", error);

	if (!data)
		return false;
	for (size_t i = 0; i < results->curve_count; i++)
		write_curve(data, &results->curves[i]);
	return canvas_close_data(canvas, data, error);
}

static double draw_key(struct canvas *canvas, double y, enum line_style style, unsigned ink,
		       const char *text)
{
	const double line[4] = { CANVAS_MARGIN, y, CANVAS_MARGIN + 100, y };

	canvas_line(canvas, line, style, ink);
	canvas_text(canvas, CANVAS_MARGIN + 120, y, TEXT_LEFT, INK_BLACK, "%s", text);
	return y + LEGEND_HEIGHT;
}

static double draw_legend(const struct plot_results *results, struct canvas *canvas, double y)
{
	char cut[200];

	for (unsigned i = 0; i < results->curve_count; i++) {
		canvas_mark(canvas, CANVAS_MARGIN + 50, y, i);
		y = draw_key(canvas, y, LINE_CURVE, INK_SERIES + i,
			     text_cut(results->curves[i].name, 40, false, cut, sizeof(cut)));
	}
	y = draw_key(canvas, y, LINE_DASHED, INK_BLACK, "bound of few CPUs, N/(Z+S)");
	return draw_key(canvas, y, LINE_DOT_DASHED, INK_BLACK, "bound of the busiest line, 1/S");
}

bool plot_scaling(const struct plot_input *input, struct canvas *canvas, double *height,
		  struct error *error)
{
	const struct plot_results *results = find_results(input);
	char cut[200], machine[200];

	if (!results || !write_curves(results, canvas, error))
		return false;
	canvas_text(canvas, CANVAS_MARGIN, 44, TEXT_TITLE, INK_BLACK, "%s on %s: scaling",
		    text_cut(results->experiment, 20, false, cut, sizeof(cut)),
		    text_cut(results->machine, 18, false, machine, sizeof(machine)));
	double y = draw_legend(results, canvas, 104);
	double right = CANVAS_WIDTH - 2 * CANVAS_MARGIN, bottom = y + 50 + FRAME_HEIGHT;

	canvas_text(canvas, CANVAS_MARGIN, y + 14, TEXT_SMALL, INK_BLACK, "throughput%s%s",
		    results->scaling_unit[0] ? ", " : "",
		    text_cut(results->scaling_unit, 40, false, cut, sizeof(cut)));
	canvas_text(canvas, (FRAME_LEFT + right) / 2, bottom + 94, TEXT_CENTRE, INK_BLACK, "CPUs");
	canvas_number(canvas, "frame_left", FRAME_LEFT);
	canvas_number(canvas, "frame_right", right);
	canvas_number(canvas, "frame_top", y + 50);
	canvas_number(canvas, "frame_bottom", bottom);
	canvas_number(canvas, "curves", (double)results->curve_count);
	canvas_number(canvas, "x_maximum", find_right(results));
	canvas_number(canvas, "y_maximum", find_top(results));
	*height = bottom + 130;
	return true;
}
