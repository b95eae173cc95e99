/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hitm plot` as its users meet it: the command in $HITM, run on results files written here. Where
 * a test is about what gnuplot is told rather than what it draws, a script takes gnuplot's place
 * and keeps a copy of the files. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers of plot_canvas.h that stand in the files. */
enum { STYLE_FRAME = 1, INK_TRUE = 5, INK_FALSE = 6, INK_MANY = 10, INK_FIRST_MACHINE = 11 };
enum { INK_PUBLISHED = 4 };

/* ---- helpers ---- */

/* The start of a file, "" if there is none. */
static bool file_exists(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static int plot(const char *variables, const char *arguments)
{
	char all[512];

	snprintf(all, sizeof(all), "plot %s", arguments);
	return hitm_run(variables, all);
}

static bool gnuplot_is_missing(void)
{
	if (system("command -v gnuplot >/dev/null") == 0)
		return false;
	test_skip("gnuplot is not installed");
	return true;
}

/* In gnuplot's place: keeps the files it is given in "copy", and "draws". */
static const char *fake_gnuplot(void)
{
	static char variables[128];

	if (!file_exists("bin/gnuplot")) {
		mkdir(path_of("bin"), 0777);
		mkdir(path_of("copy"), 0777);
		file_write("bin/gnuplot", "#!/bin/sh\n"
					  "cp ./* \"$COPY\"\n"
					  "format=${3#*\\'}\n"
					  "echo drawn >\"${4%.gp}.${format%\\'}\"\n");
		chmod(path_of("bin/gnuplot"), 0755);
	}
	snprintf(variables, sizeof(variables), "COPY=%s/copy PATH=%s/bin:$PATH",
		 scratch_directory(), scratch_directory());
	return variables;
}

/* Rows of a data file of the fake's whose column, counted from 0, is this number. */
static int rows_with(const char *name, int column, double number)
{
	char path[64], line[256];
	int found = 0;

	snprintf(path, sizeof(path), "copy/%s", name);
	FILE *file = fopen(path_of(path), "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = line;
		double value = NAN;
		for (int i = 0; i <= column; i++)
			value = strtod(at, &at);
		found += value == number;
	}
	fclose(file);
	return found;
}

/* The width of the last box of a colour: those of the legend come first. */
static double box_width(unsigned colour)
{
	char line[256];
	double x0, y0, x1, y1, width = NAN;
	unsigned ink;
	FILE *file = fopen(path_of("copy/bars.boxes"), "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lf %lf %lf %lf %u", &x0, &y0, &x1, &y1, &ink) == 5 &&
		    ink == colour)
			width = x1 - x0;
	fclose(file);
	return width;
}

/* The value of a number that the prologue of a picture assigns. */
static double assigned(const char *prologue, const char *name)
{
	const char *text = file_text(prologue);
	char start[64];

	snprintf(start, sizeof(start), "\n%s = ", name);
	const char *found = strstr(text, start);
	return found ? strtod(found + strlen(start), NULL) : NAN;
}

#define HEAD                "{\"schema\": \"hitm-results/1\", \"experiment\": \"e\", \"machine\": \"m\", "
#define VARIANT(name, rest) "{\"name\": \"" name "\", \"role\": \"prediction\"" rest "}"
#define VARIANTS            "\"variants\": [" VARIANT("base", ", \"change_pct\": 0") "]"

/* Something for every picture. */
static const char whole[] =
	HEAD "\"unit\": \"Mbit/s\", \"variants\": ["
	     "{\"name\": \"base\", \"role\": \"calibration\", \"value\": 10, \"published\": 10,"
	     " \"change_pct\": 0, \"published_change_pct\": 0, \"band_pct\": null,"
	     " \"cycles\": {\"total\": 1000}, \"pairs\": ["
	     "  {\"victim\": \"a\", \"culprit\": \"b\", \"sharing\": \"false\", \"cycles\": 100},"
	     "  {\"victim\": \"b\", \"culprit\": \"b\", \"sharing\": \"true\", \"cycles\": 200}]},"
	     "{\"name\": \"A\", \"role\": \"prediction\", \"value\": 15, \"published\": 20,"
	     " \"change_pct\": 50, \"published_change_pct\": 100, \"error_points\": -50,"
	     " \"band_pct\": [40, 60]}],"
	     "\"scaling\": [{\"name\": \"base\", \"points\": ["
	     "  {\"cpus\": 1, \"value\": 1, \"linear_bound\": 1, \"saturation_bound\": 11},"
	     "  {\"cpus\": 72, \"value\": 10, \"linear_bound\": 72, \"saturation_bound\": 11}]}],"
	     "\"layouts\": [{\"variant\": \"base\", \"struct\": \"s\", \"layout\": \"s-1\","
	     " \"line\": 64, \"size\": 256, \"fields\": ["
	     "  {\"name\": \"a\", \"offset\": 0, \"size\": 8, \"reads\": 5},"
	     "  {\"name\": \"b\", \"offset\": 8, \"size\": 8, \"writes\": 5, \"writers\": 2},"
	     "  {\"name\": \"c\", \"offset\": 64, \"size\": 8, \"writes\": 5, \"writers\": 2},"
	     "  {\"name\": \"d\", \"offset\": 192, \"size\": 8}]}]}";

/* ---- what comes out ---- */

static void every_picture_comes_as_svg_and_png(void)
{
	static const char *const names[] = { "bars", "scaling", "heatmap", "layouts" };
	char name[64];

	if (gnuplot_is_missing())
		return;
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot("", "whole.json --out both"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("err"), "");
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "both/%s.svg", names[i]);
		CU_ASSERT_EQUAL(strncmp(file_text(name), "<?xml", 5), 0);
		snprintf(name, sizeof(name), "both/%s.png", names[i]);
		CU_ASSERT_EQUAL(memcmp(file_text(name), "\x89PNG", 4), 0);
	}
}

static void the_same_results_give_the_same_bytes(void)
{
	char command[128];

	if (gnuplot_is_missing())
		return;
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot("", "whole.json --out first"), 0);
	CU_ASSERT_EQUAL(plot("", "whole.json --out second"), 0);
	snprintf(command, sizeof(command), "cd %s && diff -r first second", scratch_directory());
	CU_ASSERT_EQUAL(system(command), 0);
}

static void only_pictures_are_left_behind(void)
{
	int files = 0;

	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "whole.json --out clean --only bars --quiet"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("out"), "");
	DIR *list = opendir(path_of("clean"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	for (const struct dirent *entry = readdir(list); entry; entry = readdir(list))
		files += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(list);
	CU_ASSERT_EQUAL(files, 2);
}

static void names_of_files_may_hold_spaces_and_quotes(void)
{
	file_write("it's a \"file\".json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "'it'\\''s a \"file\".json' --out 'an `out`; dir'"),
			0);
	CU_ASSERT_TRUE(file_exists("an `out`; dir/layouts.png"));
}

static void pictures_go_beside_the_first_file_unless_told(void)
{
	mkdir(path_of("beside"), 0777);
	file_write("beside/r.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "beside/r.json"), 0);
	CU_ASSERT_TRUE(file_exists("beside/bars.svg"));
}

static void a_picture_without_data_is_left_out(void)
{
	file_write("bare.json", HEAD VARIANTS "}");
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "bare.json --out bare"), 0);
	CU_ASSERT_TRUE(file_exists("bare/bars.svg"));
	CU_ASSERT_FALSE(file_exists("bare/scaling.svg"));
	CU_ASSERT_FALSE(file_exists("bare/heatmap.svg"));
	CU_ASSERT_FALSE(file_exists("bare/layouts.svg"));
}

static void a_picture_asked_for_must_have_data(void)
{
	file_write("bare.json", HEAD VARIANTS "}");
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "bare.json --out bare2 --only bars,scaling"), 2);
	CU_ASSERT_STRING_EQUAL(file_text("err"),
			       "bare.json: nothing to draw in the picture 'scaling'\n");
	CU_ASSERT_FALSE(file_exists("bare2/bars.svg"));
}

/* ---- what gnuplot is told ---- */

static void the_length_of_a_bar_is_in_proportion(void)
{
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "whole.json --only bars"), 0);
	CU_ASSERT_DOUBLE_EQUAL(box_width(INK_FIRST_MACHINE) / box_width(INK_PUBLISHED), 0.5, 1e-6);
}

static void a_calibrated_bar_is_striped(void)
{
	const int stripe = 5;

	file_write("two.json",
		   HEAD "\"variants\": [" VARIANT("base", ", \"change_pct\": 0") ", " VARIANT(
			   "A", ", \"change_pct\": 50") "]}");
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "two.json --only bars"), 0);
	CU_ASSERT_EQUAL(rows_with("bars.lines", 4, stripe), 0);
	file_write("two.json",
		   HEAD "\"variants\": [" VARIANT(
			   "base",
			   ", \"change_pct\": 0") ", {\"name\": \"A\", \"role\": \"calibration\","
						  " \"change_pct\": 50}]}");
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "two.json --only bars"), 0);
	CU_ASSERT_TRUE(rows_with("bars.lines", 4, stripe) > 0);
}

static void each_results_file_has_bars_of_its_own(void)
{
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "whole.json whole.json whole.json --only bars"), 0);
	/* A key in the legend, base and A for each; the published ones once. */
	for (int machine = 0; machine < 3; machine++)
		CU_ASSERT_EQUAL(rows_with("bars.boxes", 4, INK_FIRST_MACHINE + machine), 3);
	CU_ASSERT_EQUAL(rows_with("bars.boxes", 4, INK_PUBLISHED), 3);
}

static void the_linear_bound_does_not_squash_the_curve(void)
{
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "whole.json --only scaling"), 0);
	double top = assigned("copy/scaling.gp", "y_maximum");
	CU_ASSERT_TRUE(top > 11 && top < 16); /* the saturation bound is 11, the linear one 72 */
	CU_ASSERT_DOUBLE_EQUAL(assigned("copy/scaling.gp", "x_maximum"), 72, 0);
	CU_ASSERT_STRING_EQUAL(file_text("copy/scaling.curves"), "1 1 1 11\n72 10 72 11\n\n\n");
}

static void true_and_false_sharing_have_cells_of_their_own_colour(void)
{
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "whole.json --only heatmap"), 0);
	/* The legend's and one cell each. */
	CU_ASSERT_EQUAL(rows_with("heatmap.boxes", 4, INK_TRUE), 2);
	CU_ASSERT_EQUAL(rows_with("heatmap.boxes", 4, INK_FALSE), 2);
}

static void waiting_without_sharing_is_not_in_the_heatmap(void)
{
#define PAIR(victim, sharing, cycles)                                              \
	"{\"victim\": \"" victim "\", \"culprit\": \"a\", \"sharing\": \"" sharing \
	"\", \"cycles\": " cycles "}"
#define PAIRS(pairs)                                                                           \
	HEAD "\"variants\": [" VARIANT("base", ", \"change_pct\": 0, \"cycles\": {\"total\": " \
					       "1000}, \"pairs\": [" pairs "]") "]}"
	char *alone;

	file_write("alone.json", PAIRS(PAIR("a", "true", "100")));
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "alone.json --only heatmap"), 0);
	alone = strdup(file_text("copy/heatmap.gp"));
	CU_ASSERT_NOT_EQUAL(*alone, '\0');
	file_write("more.json", PAIRS(PAIR("a", "true", "100") "," PAIR(
					"b", "cold", "200") "," PAIR("c", "capacity", "300")));
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "more.json --only heatmap"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("copy/heatmap.gp"), alone);
	free(alone);
}

static void a_line_that_many_write_and_others_read_is_framed(void)
{
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "whole.json --only layouts"), 0);
	/* Four lines make a frame: the legend's and that of bytes 0..63. That of byte 64 is
	 * written by many but shared by nothing; that of byte 192 is not used. */
	CU_ASSERT_EQUAL(rows_with("layouts.lines", 4, STYLE_FRAME), 8);
	CU_ASSERT_EQUAL(rows_with("layouts.boxes", 4, INK_MANY), 3);
}

static void names_reach_gnuplot_as_letters_and_octal_numbers_only(void)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_=.\"\\ -\n";

	file_write("strange.json",
		   HEAD "\"variants\": [" VARIANT("'; system('x'); `id` @x # \\\" \\\\ \\n %d {",
						  ", \"change_pct\": 5") "]}");
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "strange.json --only bars"), 0);
	const char *text = file_text("copy/bars.gp");
	CU_ASSERT_EQUAL(text[strspn(text, allowed)], '\0');
	for (const char *quote = text; (quote = strchr(quote, '"')); quote++)
		CU_ASSERT_TRUE(quote[1] == '\n' || quote[-1] == ' '); /* none inside a string */
}

static void gnuplot_draws_names_full_of_its_own_syntax(void)
{
	if (gnuplot_is_missing())
		return;
	file_write("strange.json",
		   HEAD "\"variants\": [" VARIANT("'' `touch ran` \\\" \\\\101 %d_^{@}",
						  ", \"change_pct\": 5") "]}");
	CU_ASSERT_EQUAL(plot("", "strange.json --only bars --out strange"), 0);
	CU_ASSERT_FALSE(file_exists("ran"));
	CU_ASSERT_FALSE(file_exists("strange/ran"));
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("strange/bars.svg"), "'' `touch ran` "));
}

/* ---- what is refused ---- */

static const struct {
	const char *text, *message;
} refusals[] = {
	{ "", "1:1: '[' or '{' expected near end of file" },
	{ "{\"schema\": [1,}", "1:15: unexpected token near '}'" },
	{ "[]", " an object was expected" },
	{ "{}", " schema: the key is missing" },
	{ "{\"schema\": \"x/2\", \"experiment\": \"e\", \"machine\": \"m\", \"variants\": []}",
	  " schema: \"hitm-results/1\" was expected" },
	{ HEAD "\"variants\": {}}", " variants: a list was expected" },
	{ HEAD "\"variants\": [1]}", " variants[0]: an object was expected" },
	{ HEAD "\"variants\": []}", " nothing to draw" },
	{ HEAD "\"variants\": [" VARIANT("a", ", \"value\": \"1\"") "]}",
	  " variants[0].value: a number was expected" },
	{ HEAD "\"variants\": [" VARIANT("a", ", \"change_pct\": 1e7") "]}",
	  " variants[0].change_pct: a number within 1e+06 was expected" },
	{ HEAD "\"variants\": [" VARIANT("a", ", \"band_pct\": [2, 1]") "]}",
	  " variants[0].band_pct: lowest before highest was expected" },
	{ HEAD "\"variants\": [{\"name\": \"a\", \"role\": \"guess\"}]}",
	  " variants[0].role: one of \"prediction\" \"calibration\" \"reference\" was expected" },
	{ HEAD "\"variants\": [" VARIANT("a", ", \"pairs\": [{\"victim\": 1}]") "]}",
	  " variants[0].pairs[0].victim: a string was expected" },
	{ HEAD VARIANTS
	  ", \"scaling\": [{\"name\": \"c\", \"points\": [{\"cpus\": 0, \"value\": 1}]}]}",
	  " scaling[0].points[0].cpus: a number in 1..1000000 was expected" },
	{ HEAD VARIANTS ", \"layouts\": [{\"variant\": \"v\", \"struct\": \"s\", \"layout\": \"l\","
			" \"line\": 48, \"size\": 64, \"fields\": []}]}",
	  " layouts[0].line: a power of two in 8..4096 was expected" },
	{ HEAD VARIANTS ", \"layouts\": [{\"variant\": \"v\", \"struct\": \"s\", \"layout\": \"l\","
			" \"line\": 64, \"size\": 64, \"fields\":"
			" [{\"name\": \"f\", \"offset\": 60, \"size\": 8}]}]}",
	  " layouts[0].fields[0]: a field inside the struct was expected" },
	{ HEAD VARIANTS ", \"layouts\": [{\"variant\": \"v\", \"struct\": \"s\", \"layout\": \"l\","
			" \"line\": 64, \"size\": 64, \"fields\":"
			" [{\"name\": \"f\", \"offset\": -8, \"size\": 8}]}]}",
	  " layouts[0].fields[0].offset: a whole number, 0 or more, was expected" },
};

static void a_bad_file_is_refused_in_one_line_that_says_where(void)
{
	char expected[256];

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		file_write("bad.json", refusals[i].text);
		CU_ASSERT_EQUAL(plot(fake_gnuplot(), "bad.json --out refused"), 2);
		snprintf(expected, sizeof(expected), "bad.json:%s\n", refusals[i].message);
		CU_ASSERT_STRING_EQUAL(file_text("err"), expected);
		if (strcmp(file_text("err"), expected))
			printf("\n   got: %s  want: %s", file_text("err"), expected);
		CU_ASSERT_STRING_EQUAL(file_text("out"), "");
		CU_ASSERT_FALSE(file_exists("refused/bars.svg"));
	}
}

static void a_missing_file_is_refused_by_name(void)
{
	CU_ASSERT_EQUAL(plot("", "nowhere.json"), 2);
	CU_ASSERT_STRING_EQUAL(file_text("err"), "nowhere.json: No such file or directory\n");
}

static void bad_usage_is_refused_and_help_is_not(void)
{
	static const char *const bad[] = { "", "--colour x.json", "x.json --out",
					   "x.json --only bars,pies", "a b c d e f g" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(plot("", bad[i]), 2);
		const char *error = file_text("err"), *end = strchr(error, '\n');
		CU_ASSERT_TRUE(strncmp(error, "hitm plot: ", 11) == 0 && end && !end[1]);
	}
	CU_ASSERT_EQUAL(plot("", "-h"), 0);
	CU_ASSERT_EQUAL(strncmp(file_text("out"), "usage: hitm plot ", 17), 0);
}

/* ---- the matrix of a calibration ---- */

static void a_matrix_is_drawn_from_its_file(void)
{
	if (gnuplot_is_missing())
		return;
	file_write("host-matrix.csv", "cpu,0,2,9\n0,,25.5,105\n2,25.5,,\n9,105,,\n");
	CU_ASSERT_EQUAL(plot("", "host-matrix.csv --out matrix"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("err"), "");
	CU_ASSERT_EQUAL(strncmp(file_text("matrix/matrix.svg"), "<?xml", 5), 0);
	CU_ASSERT_EQUAL(memcmp(file_text("matrix/matrix.png"), "\x89PNG", 4), 0);
	CU_ASSERT_FALSE(file_exists("matrix/bars.svg"));
}

static void each_cell_of_a_matrix_is_kept(void)
{
	file_write("m.csv", "cpu,0,2,9\n0,,25.5,105\n2,25.5,,\n9,105,,\n");
	CU_ASSERT_EQUAL(plot(fake_gnuplot(), "m.csv --out kept"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("copy/matrix.cells"),
			       "NaN 25.5 105\n25.5 NaN NaN\n105 NaN NaN\n");
	CU_ASSERT_EQUAL(assigned("copy/matrix.gp", "lowest"), 25.5);
	CU_ASSERT_EQUAL(assigned("copy/matrix.gp", "highest"), 105);
	CU_ASSERT_EQUAL(assigned("copy/matrix.gp", "cells"), 3);
}

/* Of a machine that few have at home. */
static void a_matrix_of_many_cores_is_drawn(void)
{
	enum { CORES = 128 };
	static char text[CORES * CORES * 6 + CORES * 10];
	char *at = text;

	if (gnuplot_is_missing())
		return;
	at += sprintf(at, "cpu");
	for (int k = 0; k < CORES; k++)
		at += sprintf(at, ",%d", k);
	for (int row = 0; row < CORES; row++) {
		at += sprintf(at, "\n%d", row);
		for (int k = 0; k < CORES; k++)
			at += k == row ? sprintf(at, ",")
				       : sprintf(at, ",%d", row / 8 == k / 8 ? 25 : 105);
	}
	file_write("many.csv", text);
	CU_ASSERT_EQUAL(plot("", "many.csv --out many"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("err"), "");
	CU_ASSERT_EQUAL(memcmp(file_text("many/matrix.png"), "\x89PNG", 4), 0);
}

static void a_bad_matrix_is_refused_in_one_line_that_says_where(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "1:1: expected a line 'cpu,0,1,...'" },
		{ "core,0\n0,\n", "1:1: expected a line 'cpu,0,1,...'" },
		{ "cpu,\n", "1:5: expected the numbers of the CPUs after 'cpu,'" },
		{ "cpu,0,x\n", "1:7: expected the number of a CPU" },
		{ "cpu,0,1\n0,,25\n", "3:1: expected a line for each CPU" },
		{ "cpu,0,1\n0,,25\n2,25,\n",
		  "3:1: expected the CPUs in the order of the first line" },
		{ "cpu,0,1\n0,\n1,25,\n", "2:3: expected as many fields as the first line has" },
		{ "cpu,0,1\n0,,25,3\n1,25,\n",
		  "2:7: expected as many fields as the first line has" },
		{ "cpu,0,1\n0,,-25\n1,25,\n", "2:4: expected nanoseconds, or nothing" },
		{ "cpu,0,1\n0,,0\n1,25,\n", "2:4: expected nanoseconds, or nothing" },
		{ "cpu,0,1\n0,,1.2.3\n1,25,\n", "2:4: expected nanoseconds, or nothing" },
		{ "cpu,0,1\n0,,25\n1,25,\n9,,\n", "4:1: expected no more lines than CPUs" },
		{ "cpu,0,1\n0,,\n1,,\n", " no hand-off in it, expected at least one" },
	};
	char expected[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		file_write("bad.csv", bad[i].text);
		CU_ASSERT_EQUAL(plot(fake_gnuplot(), "bad.csv --out refused"), 2);
		snprintf(expected, sizeof(expected), "bad.csv:%s\n", bad[i].message);
		CU_ASSERT_STRING_EQUAL(file_text("err"), expected);
		if (strcmp(file_text("err"), expected))
			printf("\n   got: %s  want: %s", file_text("err"), expected);
	}
}

/* ---- what goes wrong ---- */

static void a_missing_gnuplot_is_named_with_its_package(void)
{
	file_write("whole.json", whole);
	CU_ASSERT_EQUAL(plot("PATH=/nowhere", "whole.json --out nothing"), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "apt-get install gnuplot-nox"));
}

static void a_gnuplot_that_fails_leaves_the_old_picture(void)
{
	char variables[128];

	mkdir(path_of("old"), 0777);
	mkdir(path_of("broken"), 0777);
	file_write("whole.json", whole);
	file_write("old/bars.svg", "old");
	file_write("broken/gnuplot", "#!/bin/sh\necho half >bars.svg\n"
				     "echo '\"x.gp\" line 3: no such colour' >&2\nexit 1\n");
	chmod(path_of("broken/gnuplot"), 0755);
	snprintf(variables, sizeof(variables), "PATH=%s/broken:$PATH", scratch_directory());
	CU_ASSERT_EQUAL(plot(variables, "whole.json --out old"), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "line 3: no such colour"));
	CU_ASSERT_STRING_EQUAL(file_text("old/bars.svg"), "old");
}

#define TEST(name)          \
	{                   \
#name, name \
	}

void suite_plot(void)
{
	static const struct {
		const char *name;
		CU_TestFunc run;
	} tests[] = {
		TEST(every_picture_comes_as_svg_and_png),
		TEST(the_same_results_give_the_same_bytes),
		TEST(only_pictures_are_left_behind),
		TEST(names_of_files_may_hold_spaces_and_quotes),
		TEST(pictures_go_beside_the_first_file_unless_told),
		TEST(a_picture_without_data_is_left_out),
		TEST(a_picture_asked_for_must_have_data),
		TEST(the_length_of_a_bar_is_in_proportion),
		TEST(a_calibrated_bar_is_striped),
		TEST(each_results_file_has_bars_of_its_own),
		TEST(the_linear_bound_does_not_squash_the_curve),
		TEST(true_and_false_sharing_have_cells_of_their_own_colour),
		TEST(waiting_without_sharing_is_not_in_the_heatmap),
		TEST(a_line_that_many_write_and_others_read_is_framed),
		TEST(names_reach_gnuplot_as_letters_and_octal_numbers_only),
		TEST(gnuplot_draws_names_full_of_its_own_syntax),
		TEST(a_bad_file_is_refused_in_one_line_that_says_where),
		TEST(a_missing_file_is_refused_by_name),
		TEST(bad_usage_is_refused_and_help_is_not),
		TEST(a_matrix_is_drawn_from_its_file),
		TEST(each_cell_of_a_matrix_is_kept),
		TEST(a_matrix_of_many_cores_is_drawn),
		TEST(a_bad_matrix_is_refused_in_one_line_that_says_where),
		TEST(a_missing_gnuplot_is_named_with_its_package),
		TEST(a_gnuplot_that_fails_leaves_the_old_picture),
	};
	CU_pSuite suite = CU_add_suite("plot", scratch_make, scratch_remove);

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		CU_add_test(suite, tests[i].name, tests[i].run);
}
