/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/calibrate.h"
#include "cli/options.h"
#include "cli/output.h"
#include "machine/machine_file.h"
#include "native/calibrate.h"
#include "workload/probe.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_REFUSED = 2, UNFIT_MOST = 8, NAME_SIZE = 400 };

static const char help[] =
	"usage: hitm calibrate [--out FILE] [--matrix FILE] [--quick] [--clock counter|system]\n"
	"                      [--format text|json|csv] [--quiet]\n"
	"\n"
	"Measures this host by microbenchmarks and writes a machine file of it, each figure with "
	"its\n"
	"method and spread, for `hitm probe FILE` to compare with the model. Takes up to a minute\n"
	"on an otherwise idle host. It uses the CPUs that it may: see taskset(1).\n"
	"\n"
	"  -o, --out FILE     the machine file; default: HOSTNAME.yaml in the current directory\n"
	"  -m, --matrix FILE  the hand-offs of all pairs of cores as CSV, which `hitm plot` "
	"draws;\n"
	"                     default: beside the machine file, as HOSTNAME-matrix.csv\n"
	"  -Q, --quick        in at most ten seconds, and less certain\n"
	"  -c, --clock CLOCK  counter: the CPU's, where it runs at one rate; system: the "
	"kernel's;\n"
	"                     default: counter\n"
	"  -f, --format FORMAT  of what is printed: text, json or csv; default text\n"
	"  -q, --quiet        no table, no progress\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage, or this is no place to measure.\n";

struct command {
	enum output_format format;
	bool quick, quiet, only_help, counter;
	const char *out, *matrix;
	struct host *host;
	struct calibration *calibration;
	char *unfit[UNFIT_MOST + 1];
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_clock(struct command *command, const char *text, struct error *error)
{
	command->counter = !strcmp(text, "counter");
	return command->counter || !strcmp(text, "system") ||
	       error_set(error, "hitm calibrate: no clock '%.40s', expected counter or system",
			 text);
}

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 'o':
		command->out = optarg;
		return true;
	case 'm':
		command->matrix = optarg;
		return true;
	case 'Q':
		command->quick = true;
		return true;
	case 'c':
		return read_clock(command, optarg, error);
	case 'f':
		return output_format_read("calibrate", optarg, &command->format, error);
	case 'q':
		command->quiet = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	default:
		return option_refused("calibrate", option, argv, error);
	}
}

static bool parse_options(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "out", required_argument, NULL, 'o' },
		{ "matrix", required_argument, NULL, 'm' },
		{ "quick", no_argument, NULL, 'Q' },
		{ "clock", required_argument, NULL, 'c' },
		{ "format", required_argument, NULL, 'f' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, ":o:m:qc:f:Qh", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	return command->only_help || optind == argc ||
	       error_set(error,
			 "hitm calibrate: '%.60s' was not expected; hitm calibrate -h shows "
			 "how",
			 argv[optind]);
}

/* ---- progress ------------------------------------------------------------------------------- */

static void say_progress(void *context, const char *what)
{
	const struct command *command = context;

	if (!command->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kmeasuring %s ", what);
}

/* ---- the files ------------------------------------------------------------------------------ */

static bool is_probe(const char *name)
{
	return probe_find(name);
}

/* Can the model be made of this text? */
static bool machine_reads(const char *text, size_t length, struct error *error)
{
	struct document *document = document_parse("calibration", text, length, error);
	struct machine_config config;
	bool reads = document && machine_file_read(document_root(document), &config, error);

	document_free(document);
	return reads;
}

/* The key that a message is about, where that can be left out: messages name it after the place. */
static const char *blamed(const struct error *error)
{
	static const char *const keys[] = { "transfer.dirty", "transfer.clean", "upgrade", "retain",
					    NULL };
	static const char *const wholes[] = { "transfer.dirty", "transfer.clean",
					      "transfer.upgrade", "transfer.retain" };

	for (int k = 0; keys[k]; k++)
		if (strstr(error->text, keys[k]))
			return wholes[k];
	return strstr(error->text, "hand_off:") ? "transfer.retain" : NULL;
}

/* The text of a machine file that can be read; the caller frees it. What the model cannot take as it
 * was measured is left to its rules, a key after the other. */
static char *machine_text(struct command *command, size_t *length, struct error *error)
{
	for (int tries = 0; tries <= UNFIT_MOST; tries++) {
		struct error trouble = { "" };
		char *text = NULL;
		const char *key;
		FILE *file = open_memstream(&text, length);
		bool done = file &&
			    calibration_write(command->calibration, file,
					      (const char *const *)command->unfit, is_probe, error);

		if (file && fclose(file) == 0 && done && machine_reads(text, *length, &trouble))
			return text;
		free(text);
		key = blamed(&trouble);
		if (!key || tries == UNFIT_MOST ||
		    (tries && !strcmp(command->unfit[tries - 1], key))) {
			error_set(error,
				  trouble.text[0] ? "hitm calibrate: what was measured makes no "
						    "machine: %s"
						  : "out of memory%s",
				  trouble.text);
			return NULL;
		}
		command->unfit[tries] = (char *)(uintptr_t)key;
	}
	return NULL;
}

static bool write_machine(struct command *command, const char *path, struct error *error)
{
	struct output output;
	size_t length = 0;
	char *text = machine_text(command, &length, error);
	bool done = text && output_open_path(&output, path, error);

	if (done) {
		fwrite(text, 1, length, output.file);
		done = output_close(&output, error);
	}
	free(text);
	return done;
}

static bool write_matrix(const struct command *command, const char *path, struct error *error)
{
	struct output output;

	if (!output_open_path(&output, path, error))
		return false;
	matrix_write(command->calibration, output.file);
	return output_close(&output, error);
}

/* ---- what is printed ------------------------------------------------------------------------ */

static void print_text(const struct command *command, const char *path)
{
	const struct calibration *c = command->calibration;

	printf("%s, %s: %u CPUs, %u cores\n\n%-31s %7s %9s %-10s  %-19s  %s\n", c->host->name,
	       c->host->model[0] ? c->host->model : "an unknown CPU", c->host->count,
	       c->host->cores, "figure", "threads", "median", "", "spread", "method");
	for (uint32_t k = 0; k < c->count; k++) {
		const struct calibrate_figure *figure = &c->figures[k];
		char threads[16] = "";

		if (figure->threads)
			snprintf(threads, sizeof(threads), "%u", figure->threads);
		printf("%-31s %7s %9.2f %-10s %8.2f to %8.2f  %s%s%s\n", figure->name, threads,
		       figure->value.median, figure->unit, figure->value.low, figure->value.high,
		       figure->method, figure->noise[0] ? "; disturbed: " : "", figure->noise);
	}
	printf("\nwritten to %s; hitm probe %s compares it with the model\n", path, path);
}

static void print_csv(const struct command *command)
{
	puts("figure,threads,unit,median,low,high,count,pairs,method,noise");
	for (uint32_t k = 0; k < command->calibration->count; k++) {
		const struct calibrate_figure *figure = &command->calibration->figures[k];

		printf("%s,%u,%s,%.6g,%.6g,%.6g,%u,%u,\"%s\",\"%s\"\n", figure->name,
		       figure->threads, figure->unit, figure->value.median, figure->value.low,
		       figure->value.high, figure->value.count, figure->pairs, figure->method,
		       figure->noise);
	}
}

static bool print_json(const struct command *command, struct error *error)
{
	const struct calibration *c = command->calibration;
	json_t *figures = json_array(), *json;
	bool done;

	for (uint32_t k = 0; k < c->count; k++) {
		const struct calibrate_figure *figure = &c->figures[k];

		json_array_append_new(
			figures,
			json_pack("{s:s, s:i, s:s, s:f, s:f, s:f, s:i, s:i, s:s, s:s}", "figure",
				  figure->name, "threads", (int)figure->threads, "unit",
				  figure->unit, "median", figure->value.median, "low",
				  figure->value.low, "high", figure->value.high, "count",
				  (int)figure->value.count, "pairs", (int)figure->pairs, "method",
				  figure->method, "noise", figure->noise));
	}
	json = json_pack("{s:s, s:s, s:s, s:s, s:f, s:o}", "schema", "hitm-calibration/1", "hitm",
			 HITM_VERSION, "host", c->host->name, "model", c->host->model, "steadiness",
			 c->steadiness, "figures", figures);
	done = output_json(stdout, json, error);
	json_decref(json);
	return done;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* valgrind runs threads one by one, and each many times slower: there is nothing to measure. */
static bool measurable(struct error *error)
{
	const char *preload = getenv("LD_PRELOAD");

	return !preload || !strstr(preload, "vgpreload") ||
	       error_set(error, "hitm calibrate: valgrind runs this, not the host's CPUs: there is "
				"nothing to measure");
}

static bool calibrate_host(struct command *command, struct error *error)
{
	const struct calibrate_options options = { .quick = command->quick,
						   .use_counter = command->counter,
						   .progress = say_progress,
						   .context = command };

	command->host = host_new(error);
	if (command->host)
		command->calibration = calibrate(command->host, &options, error);
	if (!command->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	for (uint32_t k = 0; command->calibration && k < command->calibration->lacking_count; k++)
		fprintf(stderr, "hitm calibrate: left out: %s\n", command->calibration->lacking[k]);
	return command->calibration;
}

static bool run(struct command *command, int argc, char **argv, struct error *error)
{
	char machine[NAME_SIZE], matrix[NAME_SIZE + 16];

	if (!parse_options(command, argc, argv, error))
		return false;
	if (command->only_help) {
		fputs(help, stdout);
		return true;
	}
	if (!measurable(error) || !calibrate_host(command, error))
		return false;
	snprintf(machine, sizeof(machine), "%s.yaml", command->host->name);
	command->out = command->out ? command->out : machine;
	snprintf(matrix, sizeof(matrix), "%.*s-matrix.csv",
		 (int)(strlen(command->out) -
		       (strlen(command->out) > 5 && strstr(command->out, ".yaml") ? 5 : 0)),
		 command->out);
	command->matrix = command->matrix ? command->matrix : matrix;
	if (!write_machine(command, command->out, error) ||
	    (command->host->cores > 1 && !write_matrix(command, command->matrix, error)))
		return false;
	if (command->format == OUTPUT_JSON)
		return print_json(command, error);
	if (command->format == OUTPUT_CSV)
		print_csv(command);
	else if (!command->quiet)
		print_text(command, command->out);
	return true;
}

int cli_calibrate(int argc, char **argv)
{
	struct command command = { .counter = true };
	struct error error = { "" };
	bool done = run(&command, argc, argv, &error);

	if (!done)
		complain(&error);
	calibration_free(command.calibration);
	host_free(command.host);
	return done ? STATUS_DONE : STATUS_REFUSED;
}
