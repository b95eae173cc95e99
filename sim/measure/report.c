/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/report.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TOP_PAIRS = 8, TOP_LINES = 8, TIMELINE_ROWS = 60 };

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static double real_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Wide enough for every variant's name. */
static int name_width(const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant;
	size_t k, width = sizeof("variant");

	json_array_foreach(variants, k, variant) if (strlen(text_of(variant, "name")) > width)
		width = strlen(text_of(variant, "name"));
	return (int)width;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* A figure of a variant as text; empty where it has none. */
static void value_text(const json_t *variant, const char *key, char *text, size_t size)
{
	snprintf(text, size, "%.1f", real_of(variant, key));
}

static void percent_text(const json_t *variant, const char *key, char *text, size_t size)
{
	double value = real_of(variant, key);

	if (isnan(value))
		*text = '\0';
	else
		snprintf(text, size, "%+.1f", value);
}

static void band_text(const json_t *variant, const char *key, char *text, size_t size)
{
	const json_t *band = json_object_get(variant, key);

	if (json_array_size(band) == 2)
		snprintf(text, size, "%+.1f..%+.1f", json_number_value(json_array_get(band, 0)),
			 json_number_value(json_array_get(band, 1)));
	else
		*text = '\0';
}

static void ideal_text(const json_t *variant, const char *key, char *text, size_t size)
{
	percent_text(json_object_get(json_object_get(variant, "ideal"), key), "change_pct", text,
		     size);
}

/* The columns; one that has nothing in any row is left out. */
static const struct column {
	const char *key, *header; /* header NULL: the unit of the results */
	int width;
	void (*text)(const json_t *variant, const char *key, char *text, size_t size);
} columns[] = {
	{ "value", NULL, 14, value_text },
	{ "change_pct", "change %", 10, percent_text },
	{ "published_change_pct", "published", 11, percent_text },
	{ "error_points", "error", 8, percent_text },
	{ "band_pct", "band of change", 18, band_text },
	{ "uncalibrated_change_pct", "uncalibrated", 14, percent_text },
	{ "layout", "ideal layout", 14, ideal_text },
	{ "atomics", "ideal atomics", 15, ideal_text },
};

enum { COLUMNS = sizeof(columns) / sizeof(*columns), CELL = 48 };

static bool column_used(const json_t *results, const struct column *column)
{
	const json_t *variants = json_object_get(results, "variants"), *variant;
	size_t k;

	json_array_foreach(variants, k, variant)
	{
		char text[CELL];

		column->text(variant, column->key, text, sizeof(text));
		if (*text)
			return true;
	}
	return false;
}

static void print_row(FILE *out, const json_t *results, const json_t *variant, int width)
{
	fprintf(out, "%-*s", width, text_of(variant, "name"));
	for (size_t c = 0; c < COLUMNS; c++) {
		char text[CELL];

		columns[c].text(variant, columns[c].key, text, sizeof(text));
		if (column_used(results, &columns[c]))
			fprintf(out, "%*s", columns[c].width, *text ? text : "-");
	}
	fprintf(out, "  %s\n", text_of(variant, "role"));
}

static void print_fits(FILE *out, const json_t *results, const char *key, const char *what)
{
	const json_t *value;
	const char *path;

	json_object_foreach(json_object_get(results, key), path, value)
		fprintf(out, "%s: %s = %.4g\n", what, path, json_number_value(value));
}

/* A fit may end at a bound of its parameter: what rests on it is then worth nothing. */
static void print_missed(FILE *out, const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant;
	size_t k;

	json_array_foreach(variants, k, variant)
	{
		double off = 100 * (real_of(variant, "value") / real_of(variant, "published") - 1);

		if (strcmp(text_of(variant, "role"), "prediction") && fabs(off) > 1)
			fprintf(out,
				"warning: the fit to %s misses what is published by %+.1f %%\n",
				text_of(variant, "name"), off);
	}
}

void report_table(FILE *out, const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant;
	int width = name_width(results);
	size_t k;

	fprintf(out, "%s on %s, seed %lld\n", text_of(results, "experiment"),
		text_of(results, "machine"),
		(long long)json_integer_value(json_object_get(results, "seed")));
	print_fits(out, results, "reference", "fitted to the reference");
	print_fits(out, results, "calibrated", "calibrated on its published point alone");
	print_missed(out, results);
	fprintf(out, "\n%-*s", width, "variant");
	for (size_t c = 0; c < COLUMNS; c++)
		if (column_used(results, &columns[c]))
			fprintf(out, "%*s", columns[c].width,
				columns[c].header ? columns[c].header : text_of(results, "unit"));
	fputc('\n', out);
	json_array_foreach(variants, k, variant) print_row(out, results, variant, width);
	fprintf(out, "change: against %s", text_of(results, "baseline"));
	if (column_used(results, &columns[3]))
		fputs("; error: in points", out);
	if (column_used(results, &columns[4]))
		fputs("; band: over what is not known", out);
	if (column_used(results, &columns[5]))
		fputs("; uncalibrated: without the calibration, as the experiment says", out);
	fputs("\n\n", out);
}

/* ---- where the time went -------------------------------------------------------------------- */

static const char *const parts[] = { "work",          "hit",    "cold",  "capacity", "true_sharing",
				     "false_sharing", "atomic", "queue", "idle" };

static void print_parts(FILE *out, const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant;
	int width = name_width(results);
	size_t k;

	fprintf(out, "Where the time went, %% of all CPU time\n%-*s", width, "variant");
	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
		fprintf(out, " %13s", parts[p]);
	fprintf(out, "\n");
	json_array_foreach(variants, k, variant)
	{
		const json_t *cycles = json_object_get(variant, "cycles");
		double total = real_of(cycles, "total");

		fprintf(out, "%-*s", width, text_of(variant, "name"));
		for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
			fprintf(out, " %13.2f", 100 * real_of(cycles, parts[p]) / total);
		fprintf(out, "\n");
	}
}

static void print_latency(FILE *out, const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant, *one;
	const char *operation;
	int width = name_width(results);
	size_t k;

	fprintf(out, "\nLatency, us\n%-*s  %-12s %8s %8s %8s %8s %8s\n", width, "variant",
		"operation", "mean", "p50", "p90", "p95", "p99");
	json_array_foreach(variants, k, variant)
	{
		json_object_foreach(json_object_get(variant, "latency_ns"), operation, one)
			fprintf(out, "%-*s  %-12s %8.3f %8.3f %8.3f %8.3f %8.3f\n", width,
				text_of(variant, "name"), operation, real_of(one, "mean") / 1e3,
				real_of(one, "p50") / 1e3, real_of(one, "p90") / 1e3,
				real_of(one, "p95") / 1e3, real_of(one, "p99") / 1e3);
	}
}

/* ---- pairs and lines ------------------------------------------------------------------------ */

static void print_pairs(FILE *out, const json_t *variant)
{
	const json_t *pair;
	size_t k;

	fprintf(out,
		"\n%s: stall cycles of the victim field that the culprit field caused\n"
		"   %% time   %% queue  sharing   victim                        culprit\n",
		text_of(variant, "name"));
	json_array_foreach(json_object_get(variant, "pairs"), k, pair)
	{
		double cycles = real_of(pair, "cycles");

		if (k == TOP_PAIRS)
			break;
		fprintf(out, "%9.2f %9.1f  %-8s  %-28s  %s\n", real_of(pair, "share_pct"),
			cycles > 0 ? 100 * real_of(pair, "queued") / cycles : 0,
			text_of(pair, "sharing"), text_of(pair, "victim"),
			text_of(pair, "culprit"));
	}
}

static void print_fields_of_line(FILE *out, const json_t *line)
{
	const json_t *fields = json_object_get(line, "fields"), *field;
	size_t k;

	json_array_foreach(fields, k, field)
		fprintf(out, "%s%s", k ? " " : "", json_string_value(field));
	fprintf(out, "\n");
}

static void print_lines(FILE *out, const json_t *variant)
{
	const json_t *line;
	size_t k;

	fprintf(out,
		"\n%s: lines with the longest queues\n"
		"  busy %%  HITM local remote  reads   owns  upgr.   inv.  k cycles q.   "
		"object:line       "
		"fields touched\n",
		text_of(variant, "name"));
	json_array_foreach(json_object_get(variant, "lines"), k, line)
	{
		const json_t *hitm = json_object_get(line, "hitm");
		char name[64];

		if (k == TOP_LINES)
			break;
		snprintf(name, sizeof(name), "%s:%lld", text_of(line, "object"),
			 (long long)json_integer_value(json_object_get(line, "line")));
		fprintf(out, "%8.1f %11.0f %6.0f %6.0f %6.0f %6.0f %6.0f %12.0f   %-16s  ",
			real_of(line, "busy_pct"), real_of(hitm, "local"), real_of(hitm, "remote"),
			real_of(line, "reads"), real_of(line, "owns"), real_of(line, "upgrades"),
			real_of(line, "invalidations"), real_of(line, "queue_cycles") / 1e3, name);
		print_fields_of_line(out, line);
	}
}

static void print_c2c(FILE *out, const json_t *results)
{
	static const char *const keys[] = { "HITM.local", "HITM.remote", "HITM.total", "DRAM.local",
					    "DRAM.remote" };
	const json_t *variants = json_object_get(results, "variants"), *variant;
	int width = name_width(results);
	size_t k;

	fprintf(out, "\nTotals as the kernel test robot prints them, perf-c2c\n%-*s", width,
		"variant");
	for (size_t c = 0; c < 5; c++)
		fprintf(out, " %12s", keys[c]);
	fprintf(out, "\n");
	json_array_foreach(variants, k, variant)
	{
		fprintf(out, "%-*s", width, text_of(variant, "name"));
		for (size_t c = 0; c < 5; c++)
			fprintf(out, " %12.0f", real_of(json_object_get(variant, "c2c"), keys[c]));
		fprintf(out, "\n");
	}
}

void report_text(FILE *out, const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant;
	size_t k;

	report_table(out, results);
	print_parts(out, results);
	print_latency(out, results);
	print_c2c(out, results);
	json_array_foreach(variants, k, variant)
	{
		if (strcmp(text_of(variant, "role"), "reference") == 0)
			continue;
		print_pairs(out, variant);
		print_lines(out, variant);
	}
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void csv_real(FILE *out, double value)
{
	if (isnan(value))
		fprintf(out, ",");
	else
		fprintf(out, ",%.10g", value);
}

static void csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void report_csv(FILE *out, const json_t *results)
{
	static const char *const figures[] = { "value",        "published",
					       "change_pct",   "published_change_pct",
					       "error_points", "uncalibrated_change_pct",
					       "ops_per_s" };
	static const char *const c2c[] = { "HITM.local", "HITM.remote", "HITM.total", "DRAM.local",
					   "DRAM.remote" };
	const json_t *variants = json_object_get(results, "variants"), *variant;
	size_t k;

	fprintf(out, "experiment,machine,seed,variant,role");
	for (size_t c = 0; c < sizeof(figures) / sizeof(*figures); c++)
		fprintf(out, ",%s", figures[c]);
	fprintf(out, ",band_low_pct,band_high_pct");
	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
		fprintf(out, ",%s_cycles", parts[p]);
	fprintf(out, ",total_cycles");
	for (size_t c = 0; c < 5; c++)
		fprintf(out, ",%s", c2c[c]);
	fprintf(out, "\n");
	json_array_foreach(variants, k, variant)
	{
		const json_t *band = json_object_get(variant, "band_pct"),
			     *cycles = json_object_get(variant, "cycles");

		csv_text(out, text_of(results, "experiment"));
		fputc(',', out);
		csv_text(out, text_of(results, "machine"));
		fprintf(out, ",%lld,",
			(long long)json_integer_value(json_object_get(results, "seed")));
		csv_text(out, text_of(variant, "name"));
		fprintf(out, ",%s", text_of(variant, "role"));
		for (size_t c = 0; c < sizeof(figures) / sizeof(*figures); c++)
			csv_real(out, real_of(variant, figures[c]));
		for (size_t side = 0; side < 2; side++)
			csv_real(out, json_array_size(band) == 2
					      ? json_number_value(json_array_get(band, side))
					      : NAN);
		for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
			fprintf(out, ",%.0f", real_of(cycles, parts[p]));
		fprintf(out, ",%.0f", real_of(cycles, "total"));
		for (size_t c = 0; c < 5; c++)
			fprintf(out, ",%.0f", real_of(json_object_get(variant, "c2c"), c2c[c]));
		fprintf(out, "\n");
	}
}

/* ---- timelines ------------------------------------------------------------------------------ */

void report_timeline(FILE *out, const json_t *results, const char *name)
{
	const json_t *variants = json_object_get(results, "variants"), *variant, *moment;
	size_t k, m;

	json_array_foreach(variants, k, variant)
	{
		const json_t *timeline = json_object_get(variant, "timeline");

		if (!json_array_size(timeline) || strcmp(text_of(variant, "name"), name))
			continue;
		fprintf(out,
			"\n%s: who held the line, from the end of the warm-up\n       ns  core  "
			"what\n",
			name);
		json_array_foreach(timeline, m, moment)
		{
			const char *what = text_of(moment, "what");

			if (m == TIMELINE_ROWS)
				break;
			fprintf(out, "%9.1f %5.0f  ", real_of(moment, "ns"),
				real_of(moment, "core"));
			if (!strcmp(what, "gets"))
				fprintf(out, "gets it in %s\n", text_of(moment, "state"));
			else if (!strcmp(what, "loses"))
				fprintf(out, "%s to the access of another core to %s\n",
					!strcmp(text_of(moment, "state"), "S")
						? "may only read it now, due"
						: "loses it, due",
					text_of(moment, "field"));
			else
				fprintf(out, "thread %.0f has waited %.1f ns for %s\n",
					real_of(moment, "thread"), real_of(moment, "waited_ns"),
					text_of(moment, "field"));
		}
	}
}
