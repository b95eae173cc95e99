/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs as rows of cache lines: fields as boxes at their bytes, coloured by who writes them. */
#include "cli/plot_pictures.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PANELS   4
#define MOST_LINES    24 /* drawn in one panel; the rest is folded */
#define MOST_LABELS   3  /* lines of text in a box */
#define OFFSET_WIDTH  100.0
#define TEXT_HEIGHT   30.0
#define FOLD_HEIGHT   46.0
#define LEGEND_HEIGHT 46.0

/* The part of a field that lies on one line. */
struct segment {
	const struct plot_field *field;
	uint64_t start, end; /* bytes from the start of the line */
	char labels[MOST_LABELS][40];
	size_t label_count;
};

struct row {
	struct segment *segments; /* in order of start, without overlap */
	size_t count;
};

struct panel {
	struct canvas *canvas;
	const struct plot_layout *layout;
	const struct plot_field **fields; /* the touched ones first, each kind by offset */
	struct row row;                   /* of the line at hand */
	double byte_width, y;
};

static bool is_touched(const struct plot_field *field)
{
	return field->reads || field->writes;
}

static unsigned field_ink(const struct plot_field *field)
{
	if (field->writes)
		return field->writers > 1 ? INK_MANY_WRITERS : INK_ONE_WRITER;
	return field->reads ? INK_READ_ONLY : INK_UNTOUCHED;
}

static int compare_fields(const void *left, const void *right)
{
	const struct plot_field *a = *(const struct plot_field *const *)left;
	const struct plot_field *b = *(const struct plot_field *const *)right;

	if (is_touched(a) != is_touched(b))
		return is_touched(b) - is_touched(a);
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a > b) - (a < b); /* as the file has them: qsort is not stable */
}

static int compare_segments(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;
	return (a->start > b->start) - (a->start < b->start);
}

/* Members of a union overlap: the touched one is drawn, else the first. */
static void add_segment(struct row *row, const struct plot_field *field, uint64_t start,
			uint64_t end)
{
	for (size_t i = 0; i < row->count; i++)
		if (start < row->segments[i].end && row->segments[i].start < end)
			return;
	row->segments[row->count++] =
		(struct segment){ .field = field, .start = start, .end = end };
}

static void collect_row(struct panel *panel, uint64_t line)
{
	const struct plot_layout *layout = panel->layout;
	uint64_t from = line * layout->line, to = from + layout->line;

	panel->row.count = 0;
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct plot_field *field = panel->fields[i];
		uint64_t start = field->offset > from ? field->offset : from;
		uint64_t end = field->offset + field->size < to ? field->offset + field->size : to;
		if (start < end)
			add_segment(&panel->row, field, start - from, end - from);
	}
	qsort(panel->row.segments, panel->row.count, sizeof(struct segment), compare_segments);
}

/* The end of the piece of a name that starts here: pieces start at '_' and after '.'. */
static const char *piece_end(const char *name)
{
	const char *end = name + 1;

	while (*end && *end != '_' && end[-1] != '.')
		end++;
	return end;
}

/* Writes "HEAD" "PIECE" "HYPHEN" as one label, if it fits the width and its array. */
static bool set_label(char *label, const char *head, const char *piece, size_t length,
		      const char *hyphen, double width)
{
	char text[sizeof(((struct segment *)NULL)->labels[0])];
	int used = snprintf(text, sizeof(text), "%s%.*s%s", head, (int)length, piece, hyphen);

	if ((size_t)used >= sizeof(text) || text_width(text, TEXT_CENTRE) > width)
		return false;
	strcpy(label, text);
	return true;
}

static bool add_label(struct segment *segment, const char *piece, size_t length, const char *hyphen,
		      double width)
{
	if (segment->label_count == MOST_LABELS ||
	    !set_label(segment->labels[segment->label_count], "", piece, length, hyphen, width))
		return false;
	segment->label_count++;
	return true;
}

/* Puts a piece of a name at the end of the last label or else on the next; a long word is
 * hyphenated. */
static bool add_piece(struct segment *segment, const char *piece, size_t length, double width)
{
	size_t half = (length + 1) / 2;

	if (segment->label_count) {
		char *last = segment->labels[segment->label_count - 1];
		if (set_label(last, last, piece, length, "", width))
			return true;
	}
	if (add_label(segment, piece, length, "", width))
		return true;
	while ((piece[half] & 0xc0) == 0x80) /* not inside a character of UTF-8 */
		half++;
	return length >= 6 && add_label(segment, piece, half, "-", width) &&
	       add_label(segment, piece + half, length - half, "", width);
}

/* Breaks a name into labels that fit a box of this many pixels. False if that takes too many. */
static bool wrap_label(struct segment *segment, const char *name, double width)
{
	segment->label_count = 0;
	while (*name) {
		size_t length = (size_t)(piece_end(name) - name);
		if (!add_piece(segment, name, length, width))
			return false;
		name += length;
	}
	return true;
}

static size_t prefix_length(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot ? (size_t)(dot - name) + 1 : 0;
}

/* The full name where it fits and tells something that the box before it does not; else what
 * follows the last dot. */
static void label_segment(struct panel *panel, size_t index)
{
	struct segment *segment = &panel->row.segments[index];
	const char *name = segment->field->name, *before = index ? segment[-1].field->name : "";
	size_t prefix = prefix_length(name);
	double width = (double)(segment->end - segment->start) * panel->byte_width - 8;
	bool known =
		prefix && prefix == prefix_length(before) && strncmp(name, before, prefix) == 0;

	if ((known || !wrap_label(segment, name, width)) &&
	    !wrap_label(segment, name + prefix, width))
		segment->label_count = 0;
}

/* False sharing is likely where many CPUs write a field and use others of its line. */
static bool is_contested(const struct row *row)
{
	size_t touched = 0, many = 0;

	for (size_t i = 0; i < row->count; i++) {
		touched += is_touched(row->segments[i].field);
		many += field_ink(row->segments[i].field) == INK_MANY_WRITERS;
	}
	return many && touched > 1;
}

static void draw_segment(struct panel *panel, const struct segment *segment, double height)
{
	double left = CANVAS_MARGIN + OFFSET_WIDTH;
	double box[4] = { left + (double)segment->start * panel->byte_width, panel->y,
			  left + (double)segment->end * panel->byte_width, panel->y + height };
	unsigned ink = field_ink(segment->field);
	double y = panel->y + (height - TEXT_HEIGHT * (double)(segment->label_count - 1)) / 2;

	canvas_box(panel->canvas, box, ink, 1, false);
	for (size_t i = 0; i < segment->label_count; i++)
		canvas_text(panel->canvas, (box[0] + box[2]) / 2, y + TEXT_HEIGHT * (double)i,
			    TEXT_CENTRE,
			    ink == INK_MANY_WRITERS ? INK_WHITE
			    : ink == INK_UNTOUCHED  ? INK_GREY
						    : INK_BLACK,
			    "%s", segment->labels[i]);
}

static void draw_frame(struct canvas *canvas, double left, double top, double right, double bottom)
{
	const double lines[4][4] = {
		{ left, top, right, top },
		{ right, top, right, bottom },
		{ right, bottom, left, bottom },
		{ left, bottom, left, top },
	};

	for (size_t i = 0; i < 4; i++)
		canvas_line(canvas, lines[i], LINE_FRAME, INK_BLACK);
}

static void draw_line(struct panel *panel, uint64_t line)
{
	double left = CANVAS_MARGIN + OFFSET_WIDTH, right = CANVAS_WIDTH - CANVAS_MARGIN;
	size_t labels = 1;

	for (size_t i = 0; i < panel->row.count; i++) {
		label_segment(panel, i);
		if (panel->row.segments[i].label_count > labels)
			labels = panel->row.segments[i].label_count;
	}
	double height = TEXT_HEIGHT * (double)labels + 22;
	double whole[4] = { left, panel->y, right, panel->y + height };

	canvas_box(panel->canvas, whole, INK_GREY, 0, false);
	for (size_t i = 0; i < panel->row.count; i++)
		draw_segment(panel, &panel->row.segments[i], height);
	if (is_contested(&panel->row))
		draw_frame(panel->canvas, left, panel->y, right, panel->y + height);
	canvas_text(panel->canvas, left - 12, panel->y + height / 2, TEXT_RIGHT, INK_BLACK, "%llu",
		    (unsigned long long)(line * panel->layout->line));
	panel->y += height + 12;
}

static void draw_fold(struct panel *panel, uint64_t count, bool used)
{
	if (!count)
		return;
	canvas_text(panel->canvas, CANVAS_MARGIN + OFFSET_WIDTH + 10,
		    panel->y + FOLD_HEIGHT / 2 - 6, TEXT_SMALL, INK_GREY, "… %llu %sline%s%s",
		    (unsigned long long)count, used ? "more " : "", count == 1 ? "" : "s",
		    used ? "" : " without a field in use");
	panel->y += FOLD_HEIGHT;
}

enum mark { MARK_UNUSED, MARK_INSIDE, MARK_EDGE };

/* Drawn are the lines in which a field in use starts or ends; those inside a long field look all
 * alike. `marks` has one byte a line. */
static void mark_lines(const struct plot_layout *layout, unsigned char *marks)
{
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct plot_field *field = &layout->fields[i];
		if (!is_touched(field) || !field->size)
			continue;
		uint64_t first = field->offset / layout->line,
			 last = (field->offset + field->size - 1) / layout->line;
		for (uint64_t line = first + 1; line < last; line++)
			if (marks[line] == MARK_UNUSED)
				marks[line] = MARK_INSIDE;
		marks[first] = marks[last] = MARK_EDGE;
	}
}

static void draw_lines(struct panel *panel, const unsigned char *marks)
{
	uint64_t lines = (panel->layout->size + panel->layout->line - 1) / panel->layout->line,
		 folded = 0;
	size_t drawn = 0;
	bool used = false;

	for (uint64_t line = 0; line < lines; line++) {
		if (marks[line] != MARK_EDGE || drawn == MOST_LINES) {
			used |= marks[line] != MARK_UNUSED;
			folded++;
			continue;
		}
		draw_fold(panel, folded, used);
		folded = 0;
		used = false;
		drawn++;
		collect_row(panel, line);
		draw_line(panel, line);
	}
	draw_fold(panel, folded, used);
}

static void draw_ruler(struct panel *panel)
{
	uint64_t step = panel->layout->line / 8;

	canvas_text(panel->canvas, CANVAS_MARGIN + OFFSET_WIDTH - 12, panel->y, TEXT_RIGHT,
		    INK_GREY, "byte");
	for (uint64_t byte = 0; byte < panel->layout->line; byte += step)
		canvas_text(panel->canvas,
			    CANVAS_MARGIN + OFFSET_WIDTH + (double)byte * panel->byte_width + 4,
			    panel->y, TEXT_SMALL, INK_GREY, "+%llu", (unsigned long long)byte);
	panel->y += 28;
}

static bool same_layout(const struct plot_layout *a, const struct plot_layout *b)
{
	return strcmp(a->layout, b->layout) == 0 && strcmp(a->structure, b->structure) == 0;
}

/* "mem_cgroup-6.0-rc1 (base, A, C)": the variants that share a layout share a panel. */
static void draw_heading(struct panel *panel, const struct plot_results *results)
{
	char variants[400] = "", cut[200], more[200];

	for (size_t i = 0; i < results->layout_count; i++) {
		if (!same_layout(&results->layouts[i], panel->layout))
			continue;
		size_t used = strlen(variants);
		snprintf(variants + used, sizeof(variants) - used, "%s%s", used ? ", " : "",
			 text_cut(results->layouts[i].variant, 12, false, more, sizeof(more)));
	}
	canvas_text(panel->canvas, CANVAS_MARGIN, panel->y, TEXT_LEFT, INK_BLACK, "%s: %s",
		    text_cut(panel->layout->layout, 32, false, cut, sizeof(cut)),
		    text_cut(variants, 24, false, more, sizeof(more)));
	panel->y += 48;
}

static bool draw_panel(struct panel *panel, const struct plot_results *results)
{
	const struct plot_layout *layout = panel->layout;
	unsigned char *marks = calloc(layout->size / layout->line + 1, 1);

	panel->fields = calloc(layout->field_count, sizeof(panel->fields[0]));
	panel->row.segments = calloc(layout->field_count, sizeof(panel->row.segments[0]));
	panel->byte_width =
		(CANVAS_WIDTH - 2 * CANVAS_MARGIN - OFFSET_WIDTH) / (double)layout->line;
	bool ready = marks && panel->fields && panel->row.segments;
	if (ready) {
		for (size_t i = 0; i < layout->field_count; i++)
			panel->fields[i] = &layout->fields[i];
		qsort(panel->fields, layout->field_count, sizeof(panel->fields[0]), compare_fields);
		mark_lines(layout, marks);
		draw_heading(panel, results);
		draw_ruler(panel);
		draw_lines(panel, marks);
	}
	free(panel->fields);
	free(panel->row.segments);
	free(marks);
	return ready;
}

static double draw_legend(struct canvas *canvas, double y)
{
	static const struct {
		double x;
		unsigned line, ink;
		const char *text;
	} keys[] = {
		{ CANVAS_MARGIN, 0, INK_MANY_WRITERS, "written by many CPUs" },
		{ CANVAS_MARGIN + 590, 0, INK_ONE_WRITER, "written by one CPU" },
		{ CANVAS_MARGIN, 1, INK_READ_ONLY, "only read" },
		{ CANVAS_MARGIN + 590, 1, INK_UNTOUCHED, "not used" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double middle = y + LEGEND_HEIGHT * keys[i].line;
		double box[4] = { keys[i].x, middle - 15, keys[i].x + 60, middle + 15 };
		canvas_box(canvas, box, keys[i].ink, 1, false);
		canvas_text(canvas, keys[i].x + 76, middle, TEXT_LEFT, INK_BLACK, "%s",
			    keys[i].text);
	}
	y += 2 * LEGEND_HEIGHT;
	draw_frame(canvas, CANVAS_MARGIN, y - 14, CANVAS_MARGIN + 60, y + 14);
	canvas_text(canvas, CANVAS_MARGIN + 76, y, TEXT_LEFT, INK_BLACK,
		    "a line that many write, with other fields in use");
	return y + LEGEND_HEIGHT;
}

/* The first of those alike that has a field in use: a reference run may touch nothing. */
static bool stands_for_its_kind(const struct plot_results *results, size_t index)
{
	for (size_t i = 0; i <= index; i++) {
		const struct plot_layout *layout = &results->layouts[i];
		if (!same_layout(layout, &results->layouts[index]))
			continue;
		for (size_t k = 0; k < layout->field_count; k++)
			if (is_touched(&layout->fields[k]) && layout->fields[k].size)
				return i == index;
	}
	return false;
}

static const struct plot_results *find_results(const struct plot_input *input)
{
	for (size_t i = 0; i < input->count; i++)
		for (size_t k = 0; k < input->results[i].layout_count; k++)
			if (stands_for_its_kind(&input->results[i], k))
				return &input->results[i];
	return NULL;
}

bool plot_layouts(const struct plot_input *input, struct canvas *canvas, double *height,
		  struct error *error)
{
	const struct plot_results *results = find_results(input);
	char cut[100], machine[100];
	size_t panels = 0;

	if (!results)
		return false;
	canvas_text(canvas, CANVAS_MARGIN, 44, TEXT_TITLE, INK_BLACK, "%s on %s: cache lines",
		    text_cut(results->experiment, 22, false, cut, sizeof(cut)),
		    text_cut(results->machine, 16, false, machine, sizeof(machine)));
	*height = draw_legend(canvas, 104);
	for (size_t i = 0; i < results->layout_count && panels < MOST_PANELS; i++) {
		struct panel panel = { .canvas = canvas,
				       .layout = &results->layouts[i],
				       .y = *height + 36 };
		if (!stands_for_its_kind(results, i))
			continue;
		if (!draw_panel(&panel, results))
			return error_set(error, "%s: not enough memory to draw a layout",
					 results->file);
		*height = panel.y;
		panels++;
	}
	return true;
}
