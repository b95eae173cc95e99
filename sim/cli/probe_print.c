/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probe_print.h"
#include "cli/output.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 32, NAME_SIZE = 80 };

/* A number of the table; empty where there is none. */
static const char *number(char *text, const char *format, double value)
{
	if (isnan(value))
		*text = '\0';
	else
		snprintf(text, NUMBER_SIZE, format, value);
	return text;
}

static const char *thread_text(char *text, const struct probe_row *row)
{
	return number(text, "%.0f", row->threads ? (double)row->threads : NAN);
}

/* A figure's name, and which of the pairs it is of where that is not the median. */
static const char *figure_name(char *text, const struct probe_row *row)
{
	bool named = row->published && row->figure.at != AT_MEDIAN;

	snprintf(text, NAME_SIZE, "%s%s%s", row->probe->name, named ? " " : "",
		 named ? figure_at_names[row->figure.at] : "");
	return text;
}

static void print_text_row(const struct probe_row *row)
{
	const struct probe_value *range = &row->range;
	const char *part = row->figure.part;
	char threads[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE], expected[NUMBER_SIZE],
		percent[NUMBER_SIZE], name[NAME_SIZE];
	bool wide = range->high > range->low;

	number(low, "%.1f", wide ? range->low : NAN);
	number(high, " to %.1f", wide ? range->high : NAN);
	printf("%-29s %7s %9.2f %-5s  %6s%-9s  %9s %7s  %-10s  %s%s%s\n", figure_name(name, row),
	       thread_text(threads, row), row->simulated, row->probe->unit, low, high,
	       number(expected, "%.2f", row->published ? row->expected : NAN),
	       number(percent, "%+.1f%%", probe_row_error(row)), probe_row_role(row),
	       row->published ? row->figure.source : "", part ? "; measured on " : "",
	       part ? part : "");
}

void probe_print_text(const struct probe_table *table, bool quiet)
{
	const struct machine_config *config = &table->config;

	if (!quiet) {
		printf("%s: %u x %u cores x %u threads, %g GHz\n\n", config->name, config->sockets,
		       config->cores_per_socket, config->smt, config->clock / 1e9);
		printf("%-29s %7s %9s %-5s  %-15s  %9s %7s  %-10s  %s\n", "figure", "threads",
		       "simulated", "", "over pairs", "published", "error", "role", "source");
	}
	for (size_t k = 0; k < table->count; k++)
		if (!isnan(table->rows[k].simulated))
			print_text_row(&table->rows[k]);
}

static void print_quoted(const char *text)
{
	putchar('"');
	for (; text && *text; text++)
		printf(*text == '"' ? "\"\"" : "%c", *text);
	putchar('"');
}

static void print_csv_row(const struct probe_row *row)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], d[NUMBER_SIZE], e[NUMBER_SIZE],
		f[NUMBER_SIZE];

	printf("%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,", row->probe->name, thread_text(a, row),
	       row->published ? figure_at_names[row->figure.at] : "", row->probe->unit,
	       number(b, "%.6g", row->simulated), number(c, "%.6g", row->range.low),
	       number(d, "%.6g", row->range.high),
	       number(e, "%.6g", row->published ? row->expected : NAN),
	       number(f, "%.3g", probe_row_error(row)), probe_row_role(row));
	print_quoted(row->figure.part);
	putchar(',');
	print_quoted(row->figure.source);
	putchar('\n');
}

void probe_print_csv(const struct probe_table *tables, size_t count)
{
	puts("machine,figure,threads,at,unit,simulated,low,high,published,error_pct,role,part,"
	     "source");
	for (size_t m = 0; m < count; m++)
		for (size_t k = 0; k < tables[m].count; k++) {
			if (isnan(tables[m].rows[k].simulated))
				continue;
			printf("%s,", tables[m].config.name);
			print_csv_row(&tables[m].rows[k]);
		}
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *row_json(const struct probe_row *row)
{
	json_t *json = json_object();

	json_object_set_new(json, "figure", json_string(row->probe->name));
	json_object_set_new(json, "threads",
			    row->threads ? json_integer(row->threads) : json_null());
	json_object_set_new(json, "at",
			    text_or_null(row->published ? figure_at_names[row->figure.at] : NULL));
	json_object_set_new(json, "unit", json_string(row->probe->unit));
	json_object_set_new(json, "meaning", json_string(row->probe->meaning));
	json_object_set_new(json, "simulated", real_or_null(row->simulated));
	json_object_set_new(json, "low", real_or_null(row->range.low));
	json_object_set_new(json, "high", real_or_null(row->range.high));
	json_object_set_new(json, "published", real_or_null(row->published ? row->expected : NAN));
	json_object_set_new(json, "error_pct", real_or_null(probe_row_error(row)));
	json_object_set_new(json, "role", text_or_null(probe_row_role(row)));
	json_object_set_new(json, "part", text_or_null(row->figure.part));
	json_object_set_new(json, "set", node_json(row->figure.set));
	json_object_set_new(json, "source", text_or_null(row->figure.source));
	return json;
}

static json_t *table_json(const struct probe_table *table, struct error *error)
{
	json_t *effective = machine_file_json(document_root(table->document), error);
	json_t *figures;

	if (!effective)
		return NULL;
	figures = json_array();
	for (size_t k = 0; k < table->count; k++)
		if (!isnan(table->rows[k].simulated))
			json_array_append_new(figures, row_json(&table->rows[k]));
	return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "schema", "hitm-probe/1", "hitm",
			 HITM_VERSION, "machine", table->config.name, "seed",
			 (json_int_t)table->seed, "effective", effective, "figures", figures);
}

static bool print_json(json_t *json, struct error *error)
{
	bool done = output_json(stdout, json, error);

	json_decref(json);
	return done;
}

bool probe_print_json(const struct probe_table *table, struct error *error)
{
	json_t *json = table_json(table, error);

	return json && print_json(json, error);
}

/* ---- all machines --------------------------------------------------------------------------- */

/* How many figures of a class and role there are, and how many are met. */
struct tally {
	unsigned met, all;
};

static bool is_met(const struct probe_row *row)
{
	return fabs(probe_row_error(row)) <= probe_tolerance[probe_row_class(row)];
}

static struct tally count_up(const struct probe_table *tables, size_t count, enum probe_class class,
			     bool input)
{
	struct tally tally = { 0, 0 };

	for (size_t m = 0; m < count; m++)
		for (size_t k = 0; k < tables[m].count; k++) {
			const struct probe_row *row = &tables[m].rows[k];

			if (probe_row_class(row) != class || row->figure.input != input)
				continue;
			tally.all++;
			tally.met += is_met(row);
		}
	return tally;
}

static const char *const class_names[PROBE_CLASSES] = { "single transactions", "tenths of pairs",
							"contended atomics", "plain increments",
							"shares of threads" };

static void print_tally(const struct probe_table *tables, size_t count, enum probe_class class)
{
	struct tally predicted = count_up(tables, count, class, false);
	struct tally input = count_up(tables, count, class, true);

	printf("%-20s  predictions within %2.0f %%: %3u of %3u", class_names[class],
	       probe_tolerance[class], predicted.met, predicted.all);
	if (predicted.all)
		printf(" (%.1f %%)", 100.0 * predicted.met / predicted.all);
	if (input.all)
		printf("; inputs kept: %u of %u", input.met, input.all);
	putchar('\n');
}

void probe_print_all(const struct probe_table *tables, size_t count, bool quiet)
{
	char threads[NUMBER_SIZE], percent[NUMBER_SIZE], name[NAME_SIZE];

	if (!quiet)
		printf("%-18s %-32s %7s %9s %9s %-5s %8s  %-10s  %s\n", "machine", "figure",
		       "threads", "published", "simulated", "", "error", "role", "part measured");
	for (size_t m = 0; m < count; m++)
		for (size_t k = 0; k < tables[m].count; k++) {
			const struct probe_row *row = &tables[m].rows[k];

			printf("%-18s %-32s %7s %9.2f %9.2f %-5s %8s%s %-10s  %s\n",
			       tables[m].config.name, figure_name(name, row),
			       thread_text(threads, row), row->expected, row->simulated,
			       row->probe->unit, number(percent, "%+.1f%%", probe_row_error(row)),
			       is_met(row) ? " " : "!", probe_row_role(row),
			       row->figure.part ? row->figure.part : "");
		}
	printf("%s%zu machines. ! marks a figure beyond its limit.\n", quiet ? "" : "\n", count);
	for (int class = 0; class < PROBE_CLASSES; class ++)
		print_tally(tables, count, (enum probe_class) class);
}

static json_t *tally_json(const struct probe_table *tables, size_t count, enum probe_class class)
{
	struct tally predicted = count_up(tables, count, class, false);
	struct tally input = count_up(tables, count, class, true);

	return json_pack("{s:s, s:f, s:i, s:i, s:i, s:i}", "class", class_names[class], "limit_pct",
			 probe_tolerance[class], "predictions", (int)predicted.all,
			 "predictions_met", (int)predicted.met, "inputs", (int)input.all,
			 "inputs_met", (int)input.met);
}

bool probe_print_all_json(const struct probe_table *tables, size_t count, struct error *error)
{
	json_t *machines = json_array(), *totals = json_array();

	for (size_t m = 0; m < count; m++) {
		json_t *machine = table_json(&tables[m], error);

		if (!machine) {
			json_decref(machines);
			json_decref(totals);
			return false;
		}
		json_array_append_new(machines, machine);
	}
	for (int class = 0; class < PROBE_CLASSES; class ++)
		json_array_append_new(totals, tally_json(tables, count, (enum probe_class) class));
	return print_json(json_pack("{s:s, s:s, s:o, s:o}", "schema", "hitm-probe-all/1", "hitm",
				    HITM_VERSION, "machines", machines, "totals", totals),
			  error);
}
