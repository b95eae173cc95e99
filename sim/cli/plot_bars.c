/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicted against published change: a row of bars a variant. Rows, not columns, so that there is
 * room for every name and number at the width of a column of print, and so that a page grows with
 * the number of variants. */
#include "cli/plot_pictures.h"

#include <math.h>
#include <string.h>

#define MOST_VARIANTS 64
#define MOST_NAME     16
#define MOST_BARS     (MOST_VARIANTS * (PLOT_MOST_RESULTS + 1))
#define BAR_HEIGHT    40.0
#define GROUP_GAP     26.0
#define LEGEND_HEIGHT 48.0

struct bar {
	unsigned ink;
	bool hatched;
	double change, low, high; /* percent; low and high NAN: no band */
	double y;                 /* top, in pixels */
	char text[96];
};

/* The variants of all files by name, references first, else in the order they came. */
struct rows {
	const char *names[MOST_VARIANTS];
	size_t count;
};

struct chart {
	const struct plot_input *input;
	struct rows rows;
	struct bar bars[MOST_BARS];
	size_t bar_count;
	double left, top, bottom; /* of the frame, in pixels */
	double minimum, scale;    /* percent at the left edge; pixels a percent */
};

static const struct plot_variant *find_variant(const struct plot_results *results, const char *name)
{
	for (size_t i = 0; i < results->variant_count; i++)
		if (strcmp(results->variants[i].name, name) == 0)
			return &results->variants[i];
	return NULL;
}

static bool add_rows(struct rows *rows, const struct plot_results *results, bool references,
		     struct error *error)
{
	for (size_t i = 0; i < results->variant_count; i++) {
		const struct plot_variant *variant = &results->variants[i];
		bool known = (variant->role == PLOT_REFERENCE) != references;

		for (size_t k = 0; k < rows->count && !known; k++)
			known = strcmp(rows->names[k], variant->name) == 0;
		if (known)
			continue;
		if (rows->count == MOST_VARIANTS)
			return error_set(
				error,
				"%s: variants: at most %d names in one picture were expected",
				results->file, MOST_VARIANTS);
		rows->names[rows->count++] = variant->name;
	}
	return true;
}

static void print_value(char *text, size_t size, double value, const char *unit)
{
	char cut[80];

	text_cut(unit, 12, false, cut, sizeof(cut));
	if (fabs(value) >= 100 && fabs(value) < 1e7)
		snprintf(text, size, "%.0f %s", value, cut);
	else
		snprintf(text, size, "%.3g %s", value, cut);
}

static void print_change(char *text, size_t size, double change)
{
	double rounded = fabs(change) < 0.05 ? 0.0 : change;

	if (fabs(rounded) < 1e5)
		snprintf(text, size, "%+.1f", rounded);
	else
		snprintf(text, size, "%+.3g", rounded);
}

/* What stands at the end of a bar. A bar of no length, which is what base has, shows its throughput
 * instead. */
static void describe(struct bar *bar, double value, const char *unit,
		     const struct plot_variant *predicted)
{
	size_t used;

	if (bar->change == 0 && isfinite(value))
		print_value(bar->text, sizeof(bar->text), value, unit);
	else
		print_change(bar->text, sizeof(bar->text), bar->change);
	if (!predicted)
		return;
	used = strlen(bar->text);
	if (predicted->role == PLOT_CALIBRATION)
		snprintf(bar->text + used, sizeof(bar->text) - used, ", calibrated");
	else if (predicted->role == PLOT_REFERENCE)
		snprintf(bar->text + used, sizeof(bar->text) - used, ", reference");
	else if (isfinite(predicted->error_points) && bar->change != 0) {
		char error[32];
		print_change(error, sizeof(error), predicted->error_points);
		snprintf(bar->text + used, sizeof(bar->text) - used, ", error %s", error);
	}
}

static struct bar *add_bar(struct chart *chart, double change, unsigned ink, double *y)
{
	struct bar *bar = &chart->bars[chart->bar_count++];

	*bar = (struct bar){ .ink = ink, .change = change, .low = NAN, .high = NAN, .y = *y };
	*y += BAR_HEIGHT;
	return bar;
}

static bool add_published(struct chart *chart, const char *name, double *y)
{
	for (size_t i = 0; i < chart->input->count; i++) {
		const struct plot_results *results = &chart->input->results[i];
		const struct plot_variant *variant = find_variant(results, name);

		if (variant && isfinite(variant->published_change_pct)) {
			struct bar *bar =
				add_bar(chart, variant->published_change_pct, INK_PUBLISHED, y);
			describe(bar, variant->published, results->unit, NULL);
			return true;
		}
	}
	return false;
}

static bool add_predicted(struct chart *chart, size_t machine, const char *name, double *y)
{
	const struct plot_results *results = &chart->input->results[machine];
	const struct plot_variant *variant = find_variant(results, name);

	if (!variant || !isfinite(variant->change_pct))
		return false;
	struct bar *bar = add_bar(chart, variant->change_pct, INK_SERIES + (unsigned)machine, y);
	bar->hatched = variant->role != PLOT_PREDICTION;
	bar->low = variant->band_pct[0];
	bar->high = variant->band_pct[1];
	describe(bar, variant->value, results->unit, variant);
	return true;
}

/* Lays the groups out from the top of the frame; the names stand to the left of it. */
static void add_groups(struct chart *chart, struct canvas *canvas)
{
	double y = chart->top + GROUP_GAP / 2;
	char cut[80];

	for (size_t row = 0; row < chart->rows.count; row++) {
		const char *name = chart->rows.names[row];
		double start = y;
		bool any = add_published(chart, name, &y);

		for (size_t machine = 0; machine < chart->input->count; machine++)
			any |= add_predicted(chart, machine, name, &y);
		if (!any)
			continue;
		canvas_text(canvas, chart->left - 14, (start + y) / 2, TEXT_RIGHT, INK_BLACK, "%s",
			    text_cut(name, MOST_NAME, false, cut, sizeof(cut)));
		y += GROUP_GAP;
	}
	chart->bottom = y - GROUP_GAP / 2;
}

static double bar_end(const struct bar *bar)
{
	return fmax(fmax(bar->change, 0), isfinite(bar->high) ? bar->high : 0);
}

/* The widest scale at which every text still fits to the right of its bar. */
static void set_scale(struct chart *chart)
{
	double width = CANVAS_WIDTH - CANVAS_MARGIN - chart->left, reach = 1;

	chart->minimum = 0;
	for (size_t i = 0; i < chart->bar_count; i++) {
		const struct bar *bar = &chart->bars[i];
		chart->minimum = fmin(chart->minimum,
				      fmin(bar->change, isfinite(bar->low) ? bar->low : 0) * 1.05);
		reach = fmax(reach, bar_end(bar));
	}
	chart->scale = width / (reach * 1.02 - chart->minimum);
	for (size_t i = 0; i < chart->bar_count; i++) {
		const struct bar *bar = &chart->bars[i];
		double room = width - text_width(bar->text, TEXT_SMALL) - 2 * CANVAS_MARGIN;
		if (bar_end(bar) > chart->minimum)
			chart->scale = fmin(chart->scale, room / (bar_end(bar) - chart->minimum));
	}
}

static double chart_x(const struct chart *chart, double percent)
{
	return chart->left + (percent - chart->minimum) * chart->scale;
}

static void draw_band(struct canvas *canvas, double low, double high, double y)
{
	const double lines[3][4] = { { low, y, high, y },
				     { low, y - 9, low, y + 9 },
				     { high, y - 9, high, y + 9 } };

	for (size_t i = 0; i < 3; i++)
		canvas_line(canvas, lines[i], LINE_BAND, INK_BLACK);
}

static void draw_bar(const struct chart *chart, const struct bar *bar, struct canvas *canvas)
{
	double middle = bar->y + BAR_HEIGHT / 2, zero = chart_x(chart, 0),
	       end = chart_x(chart, bar->change);
	double box[4] = { fmin(zero, end), bar->y + 2, fmax(zero, end), bar->y + BAR_HEIGHT - 2 };

	canvas_box(canvas, box, bar->ink, 1, bar->hatched);
	if (bar->high > bar->low)
		draw_band(canvas, chart_x(chart, bar->low), chart_x(chart, bar->high), middle);
	canvas_text(canvas, chart_x(chart, bar_end(bar)) + 14, middle, TEXT_SMALL, INK_BLACK, "%s",
		    bar->text);
}

static double draw_key(struct canvas *canvas, double y, unsigned ink, bool hatched,
		       const char *text)
{
	double box[4] = { CANVAS_MARGIN, y - 15, CANVAS_MARGIN + 60, y + 15 };

	canvas_box(canvas, box, ink, 1, hatched);
	canvas_text(canvas, CANVAS_MARGIN + 76, y, TEXT_LEFT, INK_BLACK, "%s", text);
	return y + LEGEND_HEIGHT;
}

/* A results file is known by its machine; where two have the same, by its experiment as well. */
static void print_machine(const struct plot_input *input, size_t which, char *text, size_t size)
{
	const struct plot_results *results = &input->results[which];
	char machine[160], experiment[160];
	bool alone = true;

	for (size_t i = 0; i < input->count; i++)
		alone &= i == which || strcmp(input->results[i].machine, results->machine) != 0;
	text_cut(results->machine, 24, false, machine, sizeof(machine));
	text_cut(results->experiment, 20, false, experiment, sizeof(experiment));
	snprintf(text, size, "simulated: %s%s%s", machine, alone ? "" : ", ",
		 alone ? "" : experiment);
}

/* What the legend has to explain. */
struct survey {
	bool published, hatched, banded;
};

static struct survey survey_variants(const struct plot_input *input)
{
	struct survey survey = { false, false, false };

	for (size_t i = 0; i < input->count; i++)
		for (size_t k = 0; k < input->results[i].variant_count; k++) {
			const struct plot_variant *variant = &input->results[i].variants[k];
			bool long_bar = isfinite(variant->change_pct) && variant->change_pct != 0;

			survey.published |= isfinite(variant->published_change_pct);
			survey.hatched |= variant->role != PLOT_PREDICTION && long_bar;
			survey.banded |= variant->band_pct[1] > variant->band_pct[0];
		}
	return survey;
}

static double draw_legend(const struct plot_input *input, struct canvas *canvas, double y)
{
	struct survey survey = survey_variants(input);
	char text[400];

	if (survey.published)
		y = draw_key(canvas, y, INK_PUBLISHED, false, "published");
	for (size_t i = 0; i < input->count; i++) {
		print_machine(input, i, text, sizeof(text));
		y = draw_key(canvas, y, INK_SERIES + (unsigned)i, false, text);
	}
	if (survey.hatched)
		y = draw_key(canvas, y, INK_GREY, true, "striped: an input, not a prediction");
	if (survey.banded) {
		draw_band(canvas, CANVAS_MARGIN, CANVAS_MARGIN + 60, y);
		canvas_text(canvas, CANVAS_MARGIN + 76, y, TEXT_LEFT, INK_BLACK,
			    "band: over what is not known");
		y += LEGEND_HEIGHT;
	}
	return y;
}

static double names_width(const struct rows *rows)
{
	double width = 0;
	char cut[80];

	for (size_t i = 0; i < rows->count; i++)
		width = fmax(width, text_width(text_cut(rows->names[i], MOST_NAME, false, cut,
							sizeof(cut)),
					       TEXT_RIGHT));
	return width;
}

bool plot_bars(const struct plot_input *input, struct canvas *canvas, double *height,
	       struct error *error)
{
	struct chart chart = { .input = input };
	bool published = survey_variants(input).published;
	char cut[200];

	for (int references = 1; references >= 0; references--)
		for (size_t i = 0; i < input->count; i++)
			if (!add_rows(&chart.rows, &input->results[i], references, error))
				return false;
	canvas_text(canvas, CANVAS_MARGIN, 44, TEXT_TITLE, INK_BLACK, "%s: %s",
		    text_cut(input->results[0].experiment, 24, false, cut, sizeof(cut)),
		    published ? "predicted and published" : "predicted");
	chart.left = CANVAS_MARGIN + names_width(&chart.rows) + 20;
	chart.top = draw_legend(input, canvas, 104) - 10;
	add_groups(&chart, canvas);
	if (!chart.bar_count)
		return false;
	set_scale(&chart);
	for (size_t i = 0; i < chart.bar_count; i++)
		draw_bar(&chart, &chart.bars[i], canvas);
	canvas_number(canvas, "frame_left", chart.left);
	canvas_number(canvas, "frame_right", CANVAS_WIDTH - CANVAS_MARGIN);
	canvas_number(canvas, "frame_top", chart.top);
	canvas_number(canvas, "frame_bottom", chart.bottom);
	canvas_number(canvas, "x_minimum", chart.minimum);
	canvas_number(canvas, "x_maximum",
		      chart.minimum + (CANVAS_WIDTH - CANVAS_MARGIN - chart.left) / chart.scale);
	canvas_text(canvas, (chart.left + CANVAS_WIDTH - CANVAS_MARGIN) / 2, chart.bottom + 94,
		    TEXT_CENTRE, INK_BLACK, "change of throughput against base, %%%s",
		    published ? "; error in points" : "");
	*height = chart.bottom + 130;
	return true;
}
