/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probe.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/probe_print.h"
#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_REFUSED = 2, PATH_SIZE = 4096, NAME_SIZE = 256, JOBS_MAX = 1024 };

static const char help[] =
	"usage: hitm probe MACHINE [--set PATH=VALUE]... [--seed N] [--jobs N]\n"
	"                  [--format text|json|csv] [--quiet]\n"
	"       hitm probe --all [--seed N] [--jobs N] [--format text|json|csv] [--quiet]\n"
	"\n"
	"Runs microbenchmarks on the model of a machine, and shows their figures beside those\n"
	"published for it. MACHINE is the name of a file in configs/machines, or a path.\n"
	"\n"
	"An 'input' is a figure that the machine file was written from: that it agrees shows\n"
	"only that the model keeps it. A 'prediction' is one that it was not written from.\n"
	"A figure measured on another part of the same die is simulated with the settings that\n"
	"the file gives for that part; the table names the part. A figure over pairs of cores is\n"
	"the median's, or that of the pair named: min, p10, p90, max.\n"
	"\n"
	"  -a, --all             every machine of configs/machines, published figures alone, in "
	"one\n"
	"                        table; and how many of the predictions are met: a latency within\n"
	"                        10 %, the throughput of a contended line within 25 %\n"
	"  -s, --set PATH=VALUE  another value for a key of the machine file, such as clock='3 "
	"GHz'\n"
	"  -S, --seed N          of the random service discipline; default 1\n"
	"  -j, --jobs N          figures at a time; default: one a processor. The results are the\n"
	"                        same for any number\n"
	"  -f, --format FORMAT   text, json or csv; default text\n"
	"  -q, --quiet           only figures that are published; no heading, no progress\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage or input.\n";

struct command {
	enum output_format format;
	bool all, set, quiet, only_help;
	uint64_t seed, jobs;
	const char *machine;
	struct probe_table *tables;
	size_t count;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 's': /* needs the file: see apply_settings */
		command->set = true;
		return strchr(optarg, '=') ||
		       error_set(error, "hitm probe: '%.60s', expected --set PATH=VALUE", optarg);
	case 'S':
		return option_number("probe", "seed", optarg, 0, UINT64_MAX, &command->seed, error);
	case 'j':
		return option_number("probe", "jobs", optarg, 0, JOBS_MAX, &command->jobs, error);
	case 'f':
		return output_format_read("probe", optarg, &command->format, error);
	case 'a':
		command->all = true;
		return true;
	case 'q':
		command->quiet = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	default:
		return option_refused("probe", option, argv, error);
	}
}

static int next_option(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "set", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "format", required_argument, NULL, 'f' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};

	return getopt_long(argc, argv, ":as:S:j:f:qh", options, NULL);
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
	if (command->all && command->set)
		return error_set(error, "hitm probe: --set is for one machine, not for --all");
	if (argc - optind != !command->all)
		return error_set(error,
				 command->all ? "hitm probe: no machine was expected beside --all"
					      : "hitm probe: one machine was expected; hitm probe "
						"-h shows how");
	command->machine = argv[optind];
	return true;
}

static bool apply_settings(struct document *document, int argc, char **argv, struct error *error)
{
	int option;

	optind = 0;
	while ((option = next_option(argc, argv)) != -1) {
		char *equals = option == 's' ? strchr(optarg, '=') : NULL;
		bool set;

		if (!equals)
			continue;
		*equals = '\0';
		set = document_set(document, optarg, equals + 1, "--set", error);
		*equals = '=';
		if (!set)
			return false;
	}
	return true;
}

/* ---- machines ------------------------------------------------------------------------------- */

static bool add_table(struct command *command, const char *path, int argc, char **argv,
		      struct error *error)
{
	struct probe_table *tables =
		reallocarray(command->tables, command->count + 1, sizeof(*tables));
	struct probe_table *table;

	if (!tables)
		return error_set(error, "out of memory");
	command->tables = tables;
	table = &tables[command->count++];
	*table = (struct probe_table){ .seed = command->seed };
	return probe_table_load(table, path, error) &&
	       apply_settings(table->document, argc, argv, error) &&
	       probe_table_list(table, command->all || command->quiet, error);
}

static bool add_all(struct command *command, int argc, char **argv, struct error *error)
{
	char directory[PATH_SIZE], path[PATH_SIZE + NAME_SIZE];
	struct dirent **files;
	int count = config_files("machines", directory, sizeof(directory), &files);
	bool done = count >= 0 || error_set(error, "%s: %m", directory);

	for (int k = 0; k < count; k++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[k]->d_name);
		done = done && add_table(command, path, argc, argv, error);
		free(files[k]);
	}
	if (count >= 0)
		free(files);
	return done;
}

static bool add_machine(struct command *command, int argc, char **argv, struct error *error)
{
	char path[PATH_SIZE];

	named_path(path, sizeof(path), "machines", command->machine);
	if (access(path, F_OK))
		return error_set(error,
				 "hitm probe: no machine '%.100s'; `hitm list machines` shows "
				 "those there are",
				 command->machine);
	return add_table(command, path, argc, argv, error);
}

/* ---- simulation ----------------------------------------------------------------------------- */

/* The k-th row of all tables. */
static struct probe_row *row_at(const struct command *command, size_t k, struct probe_table **table)
{
	*table = command->tables;
	while (k >= (*table)->count)
		k -= (*table)++->count;
	return &(*table)->rows[k];
}

/* Each row is a simulation of its own. Of several that fail the first is told of. */
static bool simulate(const struct command *command, struct error *error)
{
	bool progress = !command->quiet && isatty(STDERR_FILENO);
	size_t rows = 0, done = 0, first_bad = SIZE_MAX;

	for (size_t m = 0; m < command->count; m++)
		rows += command->tables[m].count;
#pragma omp parallel for schedule(dynamic) num_threads((int)command->jobs)
	for (size_t k = 0; k < rows; k++) {
		struct error bad = { "" };
		struct probe_table *table;
		struct probe_row *row = row_at(command, k, &table);
		bool sound = probe_table_simulate(table, row, &bad);

#pragma omp critical(probe_progress)
		{
			done++;
			if (progress)
				fprintf(stderr, "\rprobe %zu of %zu ", done, rows);
			if (!sound && k < first_bad) {
				first_bad = k;
				*error = bad;
			}
		}
	}
	if (progress)
		fputs("\r\033[K", stderr);
	return first_bad == SIZE_MAX;
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool print(const struct command *command, struct error *error)
{
	const struct probe_table *tables = command->tables;

	switch (command->format) {
	case OUTPUT_JSON:
		return command->all ? probe_print_all_json(tables, command->count, error)
				    : probe_print_json(tables, error);
	case OUTPUT_CSV:
		probe_print_csv(tables, command->count);
		return true;
	default:
		if (command->all)
			probe_print_all(tables, command->count, command->quiet);
		else
			probe_print_text(tables, command->quiet);
		return true;
	}
}

static bool probe(struct command *command, int argc, char **argv, struct error *error)
{
	if (!parse_options(command, argc, argv, error))
		return false;
	if (command->only_help) {
		fputs(help, stdout);
		return true;
	}
	if (!command->jobs)
		command->jobs = 1;
	return (command->all ? add_all : add_machine)(command, argc, argv, error) &&
	       simulate(command, error) && print(command, error);
}

int cli_probe(int argc, char **argv)
{
	struct command command = { .seed = 1, .jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) };
	struct error error = { "" };
	bool done = probe(&command, argc, argv, &error);

	if (!done)
		complain(&error);
	for (size_t m = 0; m < command.count; m++)
		probe_table_free(&command.tables[m]);
	free(command.tables);
	return done ? STATUS_DONE : STATUS_REFUSED;
}
