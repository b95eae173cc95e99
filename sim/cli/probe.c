/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probe.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "machine/machine_file.h"
#include "workload/probe.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_REFUSED = 2, PATH_SIZE = 4096, NUMBER_SIZE = 32 };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static const char *const formats[] = { "text", "json", "csv", NULL };

static const char help[] =
	"usage: hitm probe MACHINE [--set PATH=VALUE]... [--seed N] [--format text|json|csv]\n"
	"                  [--quiet]\n"
	"\n"
	"Runs microbenchmarks on the model of a machine, and shows their figures beside those\n"
	"published for it. MACHINE is the name of a file in configs/machines, or a path.\n"
	"\n"
	"An 'input' is a figure that the machine file was written from: that it agrees shows\n"
	"only that the model keeps it. A 'prediction' is one that it was not written from.\n"
	"A figure measured on another part of the same die is simulated with the settings that\n"
	"the file gives for that part; the table names the part.\n"
	"\n"
	"  -s, --set PATH=VALUE  another value for a key of the machine file, such as clock='3 "
	"GHz'\n"
	"  -S, --seed N          of the random service discipline; default 1\n"
	"  -f, --format FORMAT   text, json or csv; default text\n"
	"  -q, --quiet           only figures that are published; no heading, no progress\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage or input.\n";

/* A figure to simulate: by itself, or because it is published. */
struct row {
	const struct probe *probe;
	uint32_t threads; /* 0: the probe takes none */
	bool published;
	struct machine_figure figure; /* if published */
	struct duration time; /* of it: to be converted with the clock of the part measured */
	double expected;      /* of it, in the probe's unit */
	struct probe_value simulated;
};

struct command {
	enum format format;
	bool quiet, only_help;
	uint64_t seed;
	const char *machine;
	struct document *document;
	struct machine_config config;
	struct row *rows;
	size_t count, room;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_seed(struct command *command, const char *text, struct error *error)
{
	char *end;

	errno = 0;
	command->seed = strtoull(text, &end, 10);
	return (*text >= '0' && *text <= '9' && !*end && !errno) ||
	       error_set(error, "hitm probe: '%.40s' is no seed, expected a whole number", text);
}

static bool read_format(struct command *command, const char *text, struct error *error)
{
	for (int k = 0; formats[k]; k++)
		if (!strcmp(formats[k], text)) {
			command->format = (enum format)k;
			return true;
		}
	return error_set(
		error, "hitm probe: '%.40s' is no format, expected one of: text, json, csv", text);
}

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 's': /* needs the file: see apply_settings */
		return strchr(optarg, '=') ||
		       error_set(error, "hitm probe: '%.60s', expected --set PATH=VALUE", optarg);
	case 'S':
		return read_seed(command, optarg, error);
	case 'f':
		return read_format(command, optarg, error);
	case 'q':
		command->quiet = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	case ':':
		return error_set(error, "hitm probe: %s takes a value; hitm probe -h shows how",
				 argv[optind - 1]);
	default:
		return error_set(error,
				 "hitm probe: unknown option %s; hitm probe -h shows those it has",
				 argv[optind - 1]);
	}
}

static int next_option(int argc, char **argv)
{
	static const struct option options[] = {
		{ "set", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "format", required_argument, NULL, 'f' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};

	return getopt_long(argc, argv, ":s:S:f:qh", options, NULL);
}

static bool parse_options(struct command *command, int argc, char **argv, struct error *error)
{
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = next_option(argc, argv)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	if (command->only_help)
		return true;
	if (argc - optind != 1)
		return error_set(error,
				 "hitm probe: one machine was expected; hitm probe -h shows how");
	command->machine = argv[optind];
	return true;
}

static bool apply_settings(struct command *command, int argc, char **argv, struct error *error)
{
	int option;

	optind = 0;
	while ((option = next_option(argc, argv)) != -1) {
		char *equals = option == 's' ? strchr(optarg, '=') : NULL;
		bool set;

		if (!equals)
			continue;
		*equals = '\0';
		set = document_set(command->document, optarg, equals + 1, "--set", error);
		*equals = '=';
		if (!set)
			return false;
	}
	return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool add_row(struct command *command, const struct row *row, struct error *error)
{
	if (command->count == command->room) {
		size_t room = command->room ? 2 * command->room : 64;
		struct row *rows = reallocarray(command->rows, room, sizeof(*rows));

		if (!rows)
			return error_set(error, "out of memory");
		command->rows = rows;
		command->room = room;
	}
	command->rows[command->count++] = *row;
	return true;
}

static uint32_t cpu_count(const struct machine_config *config)
{
	return config->sockets * config->cores_per_socket * config->smt;
}

static bool unknown_figure(const struct node *name, struct error *error)
{
	const char *names[64];
	size_t count = 0;

	for (const struct probe *probe = probes; probe->name && count < 63; probe++)
		names[count++] = probe->name;
	names[count] = NULL;
	return node_unknown(name, false, name->text, names, error);
}

static bool published_row(const struct command *command, const struct node *entry, struct row *row,
			  struct error *error)
{
	struct machine_figure *figure = &row->figure;

	if (!machine_file_figure(entry, figure, error))
		return false;
	row->published = true;
	row->probe = probe_find(figure->figure);
	row->threads = figure->threads;
	if (!row->probe)
		return unknown_figure(node_get(entry, "figure"), error);
	if (row->probe->scales && !figure->threads)
		return node_error(entry, error, "key 'threads' is missing, expected it for %s",
				  row->probe->name);
	if (!row->probe->scales && figure->threads)
		return node_key_error(node_get(entry, "threads"), error,
				      "%s is not for a number of threads, expected none",
				      row->probe->name);
	if (figure->threads > cpu_count(&command->config))
		return node_error(node_get(entry, "threads"), error,
				  "more than the machine's %u CPUs, expected at most that",
				  cpu_count(&command->config));
	if (!strcmp(row->probe->unit, "ratio"))
		return node_real(figure->value, 0, 1e6, &row->expected, error);
	return node_duration(figure->value, &row->time, error);
}

static bool add_published(struct command *command, const struct probe *probe, uint32_t threads,
			  bool *found, struct error *error)
{
	const struct node *entry = machine_file_published(document_root(command->document));

	for (; entry; entry = entry->next) {
		struct row row = { 0 };

		if (!published_row(command, entry, &row, error))
			return false;
		if (row.probe != probe || row.threads != threads)
			continue;
		*found = true;
		if (!add_row(command, &row, error))
			return false;
	}
	return true;
}

/* Every probe once, those that scale at some numbers of threads, and all that is published. */
static bool list_rows(struct command *command, struct error *error)
{
	uint32_t cpus = cpu_count(&command->config), cores = cpus / command->config.smt;

	for (const struct probe *probe = probes; probe->name; probe++)
		for (uint32_t n = 0; n <= (probe->scales ? cpus : 0); n++) {
			const struct row row = { .probe = probe, .threads = n };
			bool usual = probe->scales
					     ? n == 1 || n == 2 || n == 4 || n == cores || n == cpus
					     : true;
			bool found = false;

			if (!add_published(command, probe, n, &found, error))
				return false;
			if (usual && !found && !command->quiet && !add_row(command, &row, error))
				return false;
		}
	return true;
}

/* ---- simulation ----------------------------------------------------------------------------- */

/* The configuration of the part that was measured, if that was another. */
static bool part_config(const struct command *command, const struct row *row,
			struct document **document, struct machine_config *config,
			struct error *error)
{
	*config = command->config;
	if (!row->published || !row->figure.set)
		return true;
	*document = document_copy(command->document);
	if (!*document)
		return error_set(error, "out of memory");
	for (const struct node *key = row->figure.set->first; key; key = key->next)
		if (!document_set_node(*document, key->key, key, error))
			return false;
	if (!machine_file_read(document_root(*document), config, error))
		return false;
	config->coherence.seed = command->seed;
	return true;
}

static bool simulate(const struct command *command, struct row *row, struct error *error)
{
	struct document *document = NULL;
	struct machine_config config;
	bool done = part_config(command, row, &document, &config, error) &&
		    probe_run(row->probe, &config, row->threads, &row->simulated, error);

	if (done && row->published && strcmp(row->probe->unit, "ratio") != 0)
		row->expected = duration_ns(row->time, config.clock);
	document_free(document);
	return done;
}

static bool simulate_all(struct command *command, struct error *error)
{
	bool progress = !command->quiet && isatty(STDERR_FILENO);
	bool done = true;

	for (size_t k = 0; done && k < command->count; k++) {
		if (progress)
			fprintf(stderr, "\rprobe %zu of %zu ", k + 1, command->count);
		done = simulate(command, &command->rows[k], error);
	}
	if (progress)
		fputs("\r\033[K", stderr);
	return done;
}

/* ---- output --------------------------------------------------------------------------------- */

static const char *role(const struct row *row)
{
	return !row->published ? "" : row->figure.input ? "input" : "prediction";
}

static double error_percent(const struct row *row)
{
	return row->published ? (row->simulated.value / row->expected - 1) * 100 : NAN;
}

/* A number of the table; empty where there is none. */
static const char *number(char *text, const char *format, double value)
{
	if (isnan(value))
		*text = '\0';
	else
		snprintf(text, NUMBER_SIZE, format, value);
	return text;
}

static const char *thread_text(char *text, const struct row *row)
{
	return number(text, "%.0f", row->threads ? (double)row->threads : NAN);
}

static void print_text_row(const struct row *row)
{
	const struct probe_value *value = &row->simulated;
	const char *part = row->figure.part;
	char threads[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE], expected[NUMBER_SIZE],
		percent[NUMBER_SIZE];
	bool range = value->high > value->low;

	number(low, "%.1f", range ? value->low : NAN);
	number(high, " to %.1f", range ? value->high : NAN);
	printf("%-29s %7s %9.2f %-5s  %6s%-9s  %9s %7s  %-10s  %s%s%s\n", row->probe->name,
	       thread_text(threads, row), value->value, row->probe->unit, low, high,
	       number(expected, "%.2f", row->published ? row->expected : NAN),
	       number(percent, "%+.1f%%", error_percent(row)), role(row),
	       row->published ? row->figure.source : "", part ? "; measured on " : "",
	       part ? part : "");
}

static void print_text(const struct command *command)
{
	const struct machine_config *config = &command->config;

	if (!command->quiet) {
		printf("%s: %u x %u cores x %u threads, %g GHz\n\n", config->name, config->sockets,
		       config->cores_per_socket, config->smt, config->clock / 1e9);
		printf("%-29s %7s %9s %-5s  %-15s  %9s %7s  %-10s  %s\n", "figure", "threads",
		       "simulated", "", "over pairs", "published", "error", "role", "source");
	}
	for (size_t k = 0; k < command->count; k++)
		if (!isnan(command->rows[k].simulated.value))
			print_text_row(&command->rows[k]);
}

static void print_quoted(const char *text)
{
	putchar('"');
	for (; text && *text; text++)
		printf(*text == '"' ? "\"\"" : "%c", *text);
	putchar('"');
}

static void print_csv(const struct command *command)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], d[NUMBER_SIZE], e[NUMBER_SIZE],
		f[NUMBER_SIZE];

	puts("figure,threads,unit,simulated,low,high,published,error_pct,role,part,source");
	for (size_t k = 0; k < command->count; k++) {
		const struct row *row = &command->rows[k];

		if (isnan(row->simulated.value))
			continue;
		printf("%s,%s,%s,%s,%s,%s,%s,%s,%s,", row->probe->name, thread_text(a, row),
		       row->probe->unit, number(b, "%.6g", row->simulated.value),
		       number(c, "%.6g", row->simulated.low),
		       number(d, "%.6g", row->simulated.high),
		       number(e, "%.6g", row->published ? row->expected : NAN),
		       number(f, "%.3g", error_percent(row)), role(row));
		print_quoted(row->figure.part);
		putchar(',');
		print_quoted(row->figure.source);
		putchar('\n');
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

static json_t *row_json(const struct row *row)
{
	json_t *json = json_object();

	json_object_set_new(json, "figure", json_string(row->probe->name));
	json_object_set_new(json, "threads",
			    row->threads ? json_integer(row->threads) : json_null());
	json_object_set_new(json, "unit", json_string(row->probe->unit));
	json_object_set_new(json, "meaning", json_string(row->probe->meaning));
	json_object_set_new(json, "simulated", real_or_null(row->simulated.value));
	json_object_set_new(json, "low", real_or_null(row->simulated.low));
	json_object_set_new(json, "high", real_or_null(row->simulated.high));
	json_object_set_new(json, "published", real_or_null(row->published ? row->expected : NAN));
	json_object_set_new(json, "error_pct", real_or_null(error_percent(row)));
	json_object_set_new(json, "role", text_or_null(role(row)));
	json_object_set_new(json, "part", text_or_null(row->figure.part));
	json_object_set_new(json, "set", node_json(row->figure.set));
	json_object_set_new(json, "source", text_or_null(row->figure.source));
	return json;
}

static bool print_json(const struct command *command, struct error *error)
{
	json_t *effective = machine_file_json(document_root(command->document), error);
	json_t *json, *figures = json_array();
	bool done;

	if (!effective) {
		json_decref(figures);
		return false;
	}
	for (size_t k = 0; k < command->count; k++)
		if (!isnan(command->rows[k].simulated.value))
			json_array_append_new(figures, row_json(&command->rows[k]));
	json = json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "schema", "hitm-probe/1", "hitm",
			 HITM_VERSION, "machine", command->config.name, "seed",
			 (json_int_t)command->seed, "effective", effective, "figures", figures);
	done = output_json(stdout, json, error);
	json_decref(json);
	return done;
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool probe(struct command *command, int argc, char **argv, struct error *error)
{
	char path[PATH_SIZE];

	if (!parse_options(command, argc, argv, error))
		return false;
	if (command->only_help) {
		fputs(help, stdout);
		return true;
	}
	named_path(path, sizeof(path), "machines", command->machine);
	if (access(path, F_OK))
		return error_set(error,
				 "hitm probe: no machine '%.100s'; `hitm list machines` shows "
				 "those there are",
				 command->machine);
	command->document = document_load(path, error);
	if (!command->document || !apply_settings(command, argc, argv, error) ||
	    !machine_file_read(document_root(command->document), &command->config, error))
		return false;
	command->config.coherence.seed = command->seed;
	if (!list_rows(command, error) || !simulate_all(command, error))
		return false;
	if (command->format == FORMAT_JSON)
		return print_json(command, error);
	if (command->format == FORMAT_CSV)
		print_csv(command);
	else
		print_text(command);
	return true;
}

int cli_probe(int argc, char **argv)
{
	struct command command = { .seed = 1 };
	struct error error = { "" };
	bool done = probe(&command, argc, argv, &error);

	if (!done)
		complain(&error);
	document_free(command.document);
	free(command.rows);
	return done ? STATUS_DONE : STATUS_REFUSED;
}
