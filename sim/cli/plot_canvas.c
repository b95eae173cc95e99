/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plot_canvas.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define STRIPE_STEP 14.0 /* pixels between stripes */

/* Sizes of plots/canvas.gp in pixels. */
static const double font_sizes[] = {
	[TEXT_TITLE] = 38,  [TEXT_LEFT] = 32,  [TEXT_RIGHT] = 29,
	[TEXT_CENTRE] = 27, [TEXT_SMALL] = 28, [TEXT_SLANTED] = 28,
};

FILE *canvas_open_data(const struct canvas *canvas, const char *suffix, struct error *error)
{
	char path[4096];
	FILE *file = NULL;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.%s", canvas->directory, canvas->picture,
			     suffix) < sizeof(path))
		file = fopen(path, "w");
	else
		errno = ENAMETOOLONG;
	if (!file)
		error_set(error, "%s/%s.%s: %s", canvas->directory, canvas->picture, suffix,
			  strerror(errno));
	return file;
}

bool canvas_close_data(const struct canvas *canvas, FILE *data, struct error *error)
{
	bool failed = ferror(data) != 0;

	if (fclose(data) == 0 && !failed)
		return true;
	return error_set(error, "%s: a file of the %s picture cannot be written: %s",
			 canvas->directory, canvas->picture, strerror(errno));
}

bool canvas_open(struct canvas *canvas, const char *directory, const char *picture,
		 struct error *error)
{
	*canvas = (struct canvas){ .directory = directory, .picture = picture };
	canvas->prologue = canvas_open_data(canvas, "gp", error);
	canvas->boxes = canvas_open_data(canvas, "boxes", error);
	canvas->lines = canvas_open_data(canvas, "lines", error);
	canvas->marks = canvas_open_data(canvas, "marks", error);
	canvas->texts = canvas_open_data(canvas, "texts", error);
	if (!canvas->marks || !canvas->prologue || !canvas->boxes || !canvas->lines ||
	    !canvas->texts)
		return false;
	canvas_string(canvas, "picture", picture);
	canvas_number(canvas, "page_width", CANVAS_WIDTH);
	return true;
}

bool canvas_close(struct canvas *canvas, double height, struct error *error)
{
	FILE *files[] = { canvas->prologue, canvas->boxes, canvas->lines, canvas->marks,
			  canvas->texts };
	bool done = true;

	if (canvas->prologue)
		canvas_number(canvas, "page_height", ceil(height));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!files[i] || !canvas_close_data(canvas, files[i], error))
			done = false;
	return done;
}

void number_print(FILE *file, double value, const char *after)
{
	if (isfinite(value))
		fprintf(file, "%.10g%s", value, after);
	else
		fprintf(file, "NaN%s", after);
}

void canvas_number(struct canvas *canvas, const char *name, double value)
{
	fprintf(canvas->prologue, "%s = ", name);
	number_print(canvas->prologue, value, "\n");
}

/* What cannot reach a picture as it is: gnuplot wraps the text of a label in quotes and reads it a
 * second time, and neither U+FFFE nor U+FFFF may stand in an SVG. */
static const struct {
	const char *from, *to;
} likenesses[] = {
	{ "\"", "”" },
	{ "\\", "∖" },
	{ "\xef\xbf\xbe", " " },
	{ "\xef\xbf\xbf", " " },
};

/* The text to write for the character at *at, which is moved to its last byte; NULL: as it is. */
static const char *find_likeness(const char **at)
{
	for (size_t i = 0; i < sizeof(likenesses) / sizeof(likenesses[0]); i++) {
		size_t length = strlen(likenesses[i].from);
		if (strncmp(*at, likenesses[i].from, length) == 0) {
			*at += length - 1;
			return likenesses[i].to;
		}
	}
	return iscntrl((unsigned char)**at) ? " " : NULL;
}

void canvas_string(struct canvas *canvas, const char *name, const char *text)
{
	fprintf(canvas->prologue, "%s = \"", name);
	for (const char *c = text; *c; c++) {
		const char *likeness = find_likeness(&c);
		if (!likeness && isalpha((unsigned char)*c))
			fputc(*c, canvas->prologue);
		else if (!likeness)
			fprintf(canvas->prologue, "\\%03o", (unsigned)(unsigned char)*c);
		for (; likeness && *likeness; likeness++)
			fprintf(canvas->prologue, "\\%03o", (unsigned)(unsigned char)*likeness);
	}
	fputs("\"\n", canvas->prologue);
}

/* Stripes are lines of ours: gnuplot's patterns come out black in SVG. */
static void draw_stripes(struct canvas *canvas, const double box[4], unsigned ink)
{
	double rise = box[3] - box[1];

	for (double foot = box[0] - rise + STRIPE_STEP / 2; foot < box[2]; foot += STRIPE_STEP) {
		double from = fmax(foot, box[0]), to = fmin(foot + rise, box[2]);
		double line[4] = { from, box[3] - (from - foot), to, box[3] - (to - foot) };
		canvas_line(canvas, line, LINE_STRIPE, ink);
	}
}

void canvas_box(struct canvas *canvas, const double box[4], unsigned ink, double weight,
		bool hatched)
{
	for (int i = 0; i < 4; i++)
		number_print(canvas->boxes, box[i], " ");
	fprintf(canvas->boxes, "%u %.3f\n", ink, hatched ? 0 : weight);
	if (hatched)
		draw_stripes(canvas, box, ink);
}

void canvas_line(struct canvas *canvas, const double line[4], enum line_style style, unsigned ink)
{
	fprintf(canvas->lines, "%.2f %.2f %.2f %.2f %d %u\n", line[0], line[1], line[2] - line[0],
		line[3] - line[1], style, ink);
}

void canvas_mark(struct canvas *canvas, double x, double y, unsigned series)
{
	fprintf(canvas->marks, "%.2f %.2f %u %u\n", x, y, series, INK_SERIES + series);
}

void canvas_text(struct canvas *canvas, double x, double y, enum text_style style, unsigned ink,
		 const char *format, ...)
{
	char name[32], text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(name, sizeof(name), "text_%u", ++canvas->text_count);
	canvas_string(canvas, name, text);
	fprintf(canvas->texts, "%.2f %.2f %u %d %u\n", x, y, canvas->text_count, style, ink);
}

static bool starts_character(char c)
{
	return (c & 0xc0) != 0x80;
}

double text_width(const char *text, enum text_style style)
{
	/* Widths in thousandths of the font size, for letters that are far from the common 640. */
	static const struct {
		const char *letters;
		int width;
	} classes[] = {
		{ "ijl.,:;'|!", 330 },  { "frt()[]-/ ", 420 },    { "cszvxy_k", 600 },
		{ "mwMW%@+=<>~", 900 }, { "ABCDGHKNOQRUV", 780 },
	};
	int width = 0;

	for (; *text; text++) {
		int letter = starts_character(*text) ? 640 : 0;
		for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
			if (strchr(classes[i].letters, *text))
				letter = classes[i].width;
		width += letter;
	}
	return font_sizes[style] * width / 1000;
}

static size_t text_length(const char *text)
{
	size_t length = 0;

	for (; *text; text++)
		length += starts_character(*text);
	return length;
}

const char *text_cut(const char *text, size_t most, bool tail, char *buffer, size_t size)
{
	size_t length = text_length(text), skip = 0;
	const char *end = text;

	if (length <= most) {
		snprintf(buffer, size, "%s", text);
		return buffer;
	}
	if (tail) {
		for (skip = length - (most - 1); skip; skip--)
			do
				text++;
			while (!starts_character(*text));
		snprintf(buffer, size, "…%s", text);
		return buffer;
	}
	for (size_t keep = most - 1; keep; keep--)
		do
			end++;
		while (!starts_character(*end));
	snprintf(buffer, size, "%.*s…", (int)(end - text), text);
	return buffer;
}
