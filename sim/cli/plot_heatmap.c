/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which field costs which other field how much: a row a victim, a column a culprit, true and false
 * sharing in colours of their own. */
#include "cli/plot_pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS      10
#define MOST_ROWS_LAST 6 /* of the second panel, which is there to compare */
#define MOST_COLUMNS   8
#define MOST_NAME      25
#define CELL_HEIGHT    68.0
#define LEAST_SHARE    0.05 /* percent: what rounds to 0.0 gets no row, no column and no cell */

/* Fields with what they cost (or are made to pay) in all, the dearest first. */
struct ranking {
	const char *names[MOST_ROWS];
	size_t count;
};

struct entry {
	const char *name;
	double share;
};

struct panel {
	struct canvas *canvas;
	struct error *error;
	const struct plot_variant *variant;
	struct ranking victims, culprits;
	double shares[MOST_ROWS][MOST_COLUMNS][PLOT_SHARING_KINDS]; /* percent of all CPU time */
	double totals[PLOT_SHARING_KINDS];
	double left, top, cell_width;
};

/* Percent of all CPU time; NAN where the pair shares nothing, or the file tells neither the share nor a total
 * above it. */
static double pair_share(const struct plot_variant *variant, const struct plot_pair *pair)
{
	if (pair->sharing >= PLOT_SHARING_KINDS)
		return NAN;
	if (isfinite(pair->share_pct))
		return pair->share_pct;
	return variant->cycles.total >= pair->cycles ? 100 * pair->cycles / variant->cycles.total
						     : NAN;
}

static int compare_names(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static int compare_shares(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return a->share != b->share ? (a->share < b->share) - (a->share > b->share)
				    : strcmp(a->name, b->name);
}

static size_t find_rank(const struct ranking *ranking, const char *name)
{
	size_t rank = 0;

	while (rank < ranking->count && strcmp(ranking->names[rank], name) != 0)
		rank++;
	return rank;
}

/* Ranks the victims or, given the victims that are shown, the culprits of these. */
static bool rank_fields(const struct plot_variant *variant, const struct ranking *victims,
			size_t most, struct ranking *ranking)
{
	struct entry *entries = calloc(variant->pair_count, sizeof(*entries));
	size_t count = 0, kept = 0;

	if (!entries)
		return false;
	for (size_t i = 0; i < variant->pair_count; i++) {
		const struct plot_pair *pair = &variant->pairs[i];
		double share = pair_share(variant, pair);
		bool shown = !victims || find_rank(victims, pair->victim) < victims->count;
		if (share >= LEAST_SHARE && shown)
			entries[count++] =
				(struct entry){ victims ? pair->culprit : pair->victim, share };
	}
	qsort(entries, count, sizeof(*entries), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept && strcmp(entries[kept - 1].name, entries[i].name) == 0)
			entries[kept - 1].share += entries[i].share;
		else
			entries[kept++] = entries[i];
	}
	qsort(entries, kept, sizeof(*entries), compare_shares);
	ranking->count = kept < most ? kept : most;
	for (size_t i = 0; i < ranking->count; i++)
		ranking->names[i] = entries[i].name;
	free(entries);
	return true;
}

static bool fill_panel(struct panel *panel, size_t most_rows)
{
	const struct plot_variant *variant = panel->variant;

	if (!rank_fields(variant, NULL, most_rows, &panel->victims) ||
	    !rank_fields(variant, &panel->victims, MOST_COLUMNS, &panel->culprits))
		return error_set(panel->error, "hitm plot: not enough memory for the heat map");
	for (size_t i = 0; i < variant->pair_count; i++) {
		const struct plot_pair *pair = &variant->pairs[i];
		size_t row = find_rank(&panel->victims, pair->victim);
		size_t column = find_rank(&panel->culprits, pair->culprit);
		double share = pair_share(variant, pair);

		if (!isfinite(share))
			continue;
		panel->totals[pair->sharing] += share;
		if (row < panel->victims.count && column < panel->culprits.count)
			panel->shares[row][column][pair->sharing] += share;
	}
	return true;
}

static double largest_share(const struct panel *panel)
{
	double largest = LEAST_SHARE;

	for (size_t row = 0; row < panel->victims.count; row++)
		for (size_t column = 0; column < panel->culprits.count; column++)
			for (int kind = 0; kind < PLOT_SHARING_KINDS; kind++)
				largest = fmax(largest, panel->shares[row][column][kind]);
	return largest;
}

static void draw_share(struct panel *panel, const double box[4], int kind, double share,
		       double largest)
{
	/* The square root spreads the small shares; a tenth keeps the smallest apart from nothing.
	 */
	double weight = 0.1 + 0.9 * sqrt(share / largest);

	canvas_box(panel->canvas, box,
		   kind == PLOT_TRUE_SHARING ? INK_TRUE_SHARING : INK_FALSE_SHARING, weight, false);
	canvas_text(panel->canvas, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, TEXT_CENTRE,
		    weight > 0.75 ? INK_WHITE : INK_BLACK, "%c %.*f",
		    kind == PLOT_TRUE_SHARING ? 'T' : 'F', share < 9.95 ? 1 : 0, share);
}

/* A pair that shares both ways has a cell in two halves. */
static void draw_cell(struct panel *panel, size_t row, size_t column, double largest)
{
	const double *shares = panel->shares[row][column];
	double left = panel->left + panel->cell_width * (double)column,
	       top = panel->top + CELL_HEIGHT * (double)row;
	double box[4] = { left, top, left + panel->cell_width, top + CELL_HEIGHT };
	bool both = shares[PLOT_TRUE_SHARING] >= LEAST_SHARE &&
		    shares[PLOT_FALSE_SHARING] >= LEAST_SHARE;

	canvas_box(panel->canvas, box, INK_GREY, 0, false);
	for (int kind = 0; kind < PLOT_SHARING_KINDS; kind++) {
		double half[4] = { box[0], box[1], box[2], box[3] };
		if (both)
			half[kind == PLOT_TRUE_SHARING ? 3 : 1] = top + CELL_HEIGHT / 2;
		if (shares[kind] >= LEAST_SHARE)
			draw_share(panel, half, kind, shares[kind], largest);
	}
}

static void draw_cells(struct panel *panel)
{
	double largest = largest_share(panel);
	double bottom = panel->top + CELL_HEIGHT * (double)panel->victims.count;
	char cut[120];

	for (size_t row = 0; row < panel->victims.count; row++) {
		canvas_text(panel->canvas, panel->left - 12,
			    panel->top + CELL_HEIGHT * ((double)row + 0.5), TEXT_RIGHT, INK_BLACK,
			    "%s",
			    text_cut(panel->victims.names[row], MOST_NAME, true, cut, sizeof(cut)));
		for (size_t column = 0; column < panel->culprits.count; column++)
			draw_cell(panel, row, column, largest);
	}
	for (size_t column = 0; column < panel->culprits.count; column++)
		canvas_text(
			panel->canvas, panel->left + panel->cell_width * ((double)column + 0.6),
			bottom + 16, TEXT_SLANTED, INK_BLACK, "%s",
			text_cut(panel->culprits.names[column], MOST_NAME, true, cut, sizeof(cut)));
}

static double names_width(const struct ranking *ranking, enum text_style style)
{
	double width = 0;
	char cut[120];

	for (size_t i = 0; i < ranking->count; i++)
		width = fmax(width, text_width(text_cut(ranking->names[i], MOST_NAME, true, cut,
							sizeof(cut)),
					       style));
	return width;
}

/* Returns where the next panel may start, or `top` again if there was nothing to draw. */
static double draw_panel(struct canvas *canvas, const struct plot_variant *variant,
			 size_t most_rows, double top, struct error *error)
{
	struct panel panel = { .canvas = canvas, .error = error, .variant = variant };
	char cut[120];

	if (!fill_panel(&panel, most_rows) || !panel.victims.count)
		return top;
	panel.left = CANVAS_MARGIN + fmax(names_width(&panel.victims, TEXT_RIGHT), 240) + 16;
	panel.top = top + 56;
	panel.cell_width = fmin(
		(CANVAS_WIDTH - CANVAS_MARGIN - panel.left) / (double)panel.culprits.count, 180);
	canvas_text(canvas, CANVAS_MARGIN, top + 20, TEXT_LEFT, INK_BLACK,
		    "%s: false sharing %.1f %%, true sharing %.1f %%",
		    text_cut(variant->name, 16, false, cut, sizeof(cut)),
		    panel.totals[PLOT_FALSE_SHARING], panel.totals[PLOT_TRUE_SHARING]);
	draw_cells(&panel);
	/* The sine of the slant, and room below. */
	return panel.top + CELL_HEIGHT * (double)panel.victims.count +
	       0.65 * names_width(&panel.culprits, TEXT_SLANTED) + 50;
}

static const struct plot_variant *find_base(const struct plot_results *results)
{
	const struct plot_variant *found = NULL;

	for (size_t i = 0; i < results->variant_count; i++) {
		const struct plot_variant *variant = &results->variants[i];
		if (variant->pair_count && strcmp(variant->name, "base") == 0)
			return variant;
		if (variant->pair_count && variant->role != PLOT_REFERENCE && !found)
			found = variant;
	}
	return found;
}

static const struct plot_variant *find_last(const struct plot_results *results)
{
	for (size_t i = results->variant_count; i; i--)
		if (results->variants[i - 1].pair_count &&
		    results->variants[i - 1].role != PLOT_REFERENCE)
			return &results->variants[i - 1];
	return NULL;
}

static void draw_legend(struct canvas *canvas, double y)
{
	static const struct {
		double x;
		unsigned ink;
		const char *text;
	} keys[] = {
		{ CANVAS_MARGIN, INK_FALSE_SHARING, "F: false sharing" },
		{ CANVAS_MARGIN + 460, INK_TRUE_SHARING, "T: true sharing" },
	};

	canvas_text(canvas, CANVAS_MARGIN, y, TEXT_LEFT, INK_BLACK,
		    "percent of all CPU time for which the field of the row");
	canvas_text(canvas, CANVAS_MARGIN, y + 44, TEXT_LEFT, INK_BLACK,
		    "waits, queues included, for an access to that of the column");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double box[4] = { keys[i].x, y + 85, keys[i].x + 60, y + 115 };
		canvas_box(canvas, box, keys[i].ink, 0.8, false);
		canvas_text(canvas, keys[i].x + 76, y + 100, TEXT_LEFT, INK_BLACK, "%s",
			    keys[i].text);
	}
}

bool plot_heatmap(const struct plot_input *input, struct canvas *canvas, double *height,
		  struct error *error)
{
	const double start = 256;
	const struct plot_results *results = NULL;
	char experiment[100], machine[100];

	for (size_t i = 0; i < input->count && !results; i++)
		if (find_base(&input->results[i]))
			results = &input->results[i];
	if (!results)
		return false;

	canvas_text(canvas, CANVAS_MARGIN, 44, TEXT_TITLE, INK_BLACK,
		    "%s on %s: who waits for whom",
		    text_cut(results->experiment, 16, false, experiment, sizeof(experiment)),
		    text_cut(results->machine, 14, false, machine, sizeof(machine)));
	draw_legend(canvas, 104);
	*height = draw_panel(canvas, find_base(results), MOST_ROWS, start, error);
	if (find_last(results) != find_base(results))
		*height = draw_panel(canvas, find_last(results), MOST_ROWS_LAST, *height, error);
	return *height > start;
}
