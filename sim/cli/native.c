/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/native.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/sets.h"
#include "machine/machine_file.h"
#include "native/native.h"
#include "workload/experiment.h"
#include "workload/variant.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_REFUSED = 2,
	PATH_SIZE = 4096,
	REPEATS_MAX = 1000,
	DURATION_MAX = 60000 /* ms */
};

static const char help[] =
	"usage: hitm native EXPERIMENT [options]\n"
	"\n"
	"Runs every variant of an experiment on this host: the same code, with fields where the\n"
	"same layouts say, on real threads, each bound to a CPU. Beside it stands the simulation "
	"of\n"
	"this host, where there is a model of it (hitm calibrate makes one). An operation is the\n"
	"first of the workload's; times are those of one thread. After each variant, what memory\n"
	"holds is checked against what the threads did, for workloads that can tell.\n"
	"\n"
	"A repetition that was disturbed (time stolen by a hypervisor, another clock, other "
	"tasks)\n"
	"is done again, three times as many in all. A variant with more threads than there are "
	"CPUs\n"
	"is left out.\n"
	"\n"
	"  -p, --placement WHERE  spread (default: a CPU of each core, the sockets taking turns, "
	"then\n"
	"                         siblings), compact (socket after socket, then siblings), or a "
	"list\n"
	"                         of CPUs such as 0,2,4-7\n"
	"  -m, --machine NAME     model of this host, a name or a path; default: the file that "
	"hitm\n"
	"                         calibrate has written for it, here or in configs/machines\n"
	"  -s, --set PATH=VALUE   another value for a key of the experiment, or of the machine:\n"
	"                         machine.PATH=VALUE\n"
	"  -r, --repeat N         repetitions that count; default 9\n"
	"  -d, --duration MS      of a repetition; default 50\n"
	"  -S, --seed N           of random streams; default 1\n"
	"  -f, --format FORMAT    text, json or csv; default text\n"
	"  -q, --quiet            no progress, no heading\n"
	"  -h, --help             this text\n"
	"\n"
	"Exit status: 0 done, 1 memory did not hold what the threads did, 2 bad usage or input.\n";

struct row {
	const char *name;
	bool done; /* false: it has more threads than there are CPUs */
	struct native_result native;
	double simulated; /* ns; NAN: no model of this host */
};

struct command {
	enum output_format format;
	bool quiet, only_help;
	const char *experiment_name, *machine_name, *placement;
	struct sets sets;
	uint64_t repeats, duration, seed;
	struct host *host;
	uint32_t *order, order_count;
	struct experiment experiment;
	struct setting setting; /* the machine: a model of this host, or else one to build on */
	struct document
		*scaffold; /* a machine to build on that may have more CPUs than this host */
	bool modelled;     /* the setting's machine is a model of this host */
	struct row *rows;
	char layouts[PATH_SIZE], model[PATH_SIZE];
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 'p':
		command->placement = optarg;
		return true;
	case 'm':
		command->machine_name = optarg;
		return true;
	case 's':
		return sets_add(&command->sets, "native", optarg, error);
	case 'r':
		return option_number("native", "repeat", optarg, 1, REPEATS_MAX, &command->repeats,
				     error);
	case 'd':
		return option_number("native", "duration", optarg, 1, DURATION_MAX,
				     &command->duration, error);
	case 'S':
		return option_number("native", "seed", optarg, 0, UINT64_MAX, &command->seed,
				     error);
	case 'f':
		return output_format_read("native", optarg, &command->format, error);
	case 'q':
		command->quiet = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	default:
		return option_refused("native", option, argv, error);
	}
}

static bool read_command(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "placement", required_argument, NULL, 'p' },
		{ "machine", required_argument, NULL, 'm' },
		{ "set", required_argument, NULL, 's' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "duration", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 'S' },
		{ "format", required_argument, NULL, 'f' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":p:m:s:r:d:S:f:qh", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	if (command->only_help)
		return true;
	if (optind + 1 != argc)
		return error_set(
			error,
			"hitm native: %d experiments, expected one; hitm native -h shows the usage",
			argc - optind);
	command->experiment_name = argv[optind];
	return true;
}

/* ---- what to run ---------------------------------------------------------------------------- */

/* What the workload is built on before real threads take it over: the experiment's first machine,
 * so that a variant with more threads than this host has CPUs is known as such. */
static bool load_scaffold(struct command *command, const struct node *machines, struct error *error)
{
	char path[PATH_SIZE];

	if (!machines || machines->kind != NODE_LIST || !machines->first ||
	    machines->first->kind != NODE_SCALAR)
		return true;
	named_path(path, sizeof(path), "machines", machines->first->text);
	command->scaffold = document_load(path, error);
	return command->scaffold;
}

/* The model of this host: the file named, or the one that calibration writes; else the scaffold. */
static bool load_machine(struct command *command, const struct node *machines, struct error *error)
{
	char name[HOST_NAME_SIZE + 8];

	snprintf(name, sizeof(name), "%s.yaml", command->host->name);
	command->modelled = true;
	if (command->machine_name)
		named_path(command->model, PATH_SIZE, "machines", command->machine_name);
	else if (!access(name, F_OK))
		snprintf(command->model, PATH_SIZE, "%s", name);
	else
		named_path(command->model, PATH_SIZE, "machines", command->host->name);
	if (command->machine_name && access(command->model, F_OK))
		return error_set(error,
				 "hitm native: no machine '%.100s'; `hitm list machines` shows "
				 "those there are",
				 command->machine_name);
	if (access(command->model, F_OK)) {
		command->modelled = false;
		if (!command->scaffold)
			return error_set(error,
					 "hitm native: the experiment names no machine, and "
					 "there is no model of this host: --machine names one");
		named_path(command->model, PATH_SIZE, "machines", machines->first->text);
	}
	command->setting.machine = document_load(command->model, error);
	return command->setting.machine;
}

static bool load(struct command *command, struct error *error)
{
	char path[PATH_SIZE];
	const struct node *root;

	named_path(path, sizeof(path), "experiments", command->experiment_name);
	if (access(path, F_OK))
		return error_set(
			error,
			"hitm native: no experiment '%.100s'; `hitm list experiments` shows "
			"those there are",
			command->experiment_name);
	data_path(command->layouts, PATH_SIZE, "configs/layouts");
	command->host = host_new(error);
	command->order = command->host ? host_order(command->host, command->placement,
						    &command->order_count, error)
				       : NULL;
	command->setting.experiment = command->order ? document_load(path, error) : NULL;
	if (!command->setting.experiment)
		return false;
	root = document_root(command->setting.experiment);
	if (!load_scaffold(command, node_get(root, "machines"), error) ||
	    !load_machine(command, node_get(root, "machines"), error) ||
	    !sets_apply(&command->sets, &command->setting, error))
		return false;
	/* The experiment takes a document over; the settings keep theirs. */
	struct document *copy = document_copy(command->setting.experiment);

	return copy ? experiment_read(&command->experiment, copy, error)
		    : error_set(error, "out of memory");
}

/* ---- running -------------------------------------------------------------------------------- */

static bool run_native(const struct command *command, const struct setting *setting,
		       const struct run_options *options, struct row *row, bool *sound,
		       struct error *error)
{
	const struct native_plan plan = { .host = command->host,
					  .order = command->order,
					  .cpus = command->order_count,
					  .ms = (double)command->duration,
					  .repeats = (uint32_t)command->repeats };
	struct simulation simulation;
	struct error wrong = { "" };
	bool done;

	const struct setting built = { setting->experiment,
				       command->scaffold ? command->scaffold : setting->machine };

	if (!simulation_build(&simulation, &built, options, error))
		return false;
	row->native.threads = simulation.threads;
	row->done = simulation.threads <= command->order_count;
	done = !row->done || native_run(simulation.build, &plan, &row->native, error);
	if (row->done && done && simulation.model->verify &&
	    !simulation.model->verify(simulation.build, &wrong)) {
		fprintf(stderr, "hitm native: %s: %s\n", row->name, wrong.text);
		*sound = false;
	}
	simulation_free(&simulation);
	return done;
}

static bool run_simulated(const struct setting *setting, const struct run_options *options,
			  struct row *row, struct error *error)
{
	struct simulation simulation;

	if (!simulation_run(&simulation, setting, options, error))
		return false;
	row->simulated = row->native.doing * 1e9 / simulation.rate;
	simulation_free(&simulation);
	return true;
}

static bool run_variant(struct command *command, uint32_t k, bool *sound, struct error *error)
{
	const struct experiment *experiment = &command->experiment;
	const struct run_options options = { .seed = command->seed,
					     .layout_directory = command->layouts };
	struct row *row = &command->rows[k];
	struct setting setting;
	bool done;

	row->name = experiment->variants[k].name;
	row->simulated = NAN;
	if (!setting_copy(&setting, &command->setting, error))
		return false;
	done = variant_apply(experiment->variants_node, experiment->variants[k].node, &setting,
			     error) &&
	       run_native(command, &setting, &options, row, sound, error) &&
	       (!command->modelled || !row->done || run_simulated(&setting, &options, row, error));
	setting_free(&setting);
	return done;
}

static bool run_all(struct command *command, bool *sound, struct error *error)
{
	uint32_t count = command->experiment.variant_count;
	bool progress = !command->quiet && isatty(STDERR_FILENO), done = true;

	command->rows = calloc(count, sizeof(*command->rows));
	if (!command->rows)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; done && k < count; k++) {
		if (progress)
			fprintf(stderr, "\rvariant %u of %u ", k + 1, count);
		done = run_variant(command, k, sound, error);
	}
	if (progress)
		fputs("\r\033[K", stderr);
	return done;
}

/* ---- output --------------------------------------------------------------------------------- */

static double error_percent(const struct row *row)
{
	return (row->simulated / row->native.ns - 1) * 100;
}

/* Pairs of variants of which one is faster here beyond the spread of both, and how many of them the
 * simulation puts in the same order. */
static void count_order(const struct command *command, uint32_t *pairs, uint32_t *right)
{
	uint32_t count = command->experiment.variant_count;

	*pairs = *right = 0;
	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = 0; b < count; b++) {
			const struct row *fast = &command->rows[a], *slow = &command->rows[b];

			if (!fast->done || !slow->done || fast->native.high >= slow->native.low)
				continue;
			++*pairs;
			*right += fast->simulated < slow->simulated;
		}
}

static void print_text(const struct command *command)
{
	const struct experiment *experiment = &command->experiment;
	uint32_t pairs, right;
	size_t width = 8;

	for (uint32_t k = 0; k < experiment->variant_count; k++)
		if (strlen(command->rows[k].name) > width)
			width = strlen(command->rows[k].name);
	if (!command->quiet) {
		printf("%s on %s (%s), %u CPUs; %s: %s\n\n", experiment->name, command->host->name,
		       command->host->model, command->host->count,
		       command->modelled ? "model" : "no model of this host, built on",
		       command->model);
		printf("%-*s  %7s %10s  %-19s %10s %7s\n", (int)width, "variant", "threads",
		       "native ns", "spread, p10 to p90", command->modelled ? "simulated" : "",
		       command->modelled ? "error" : "");
	}
	for (uint32_t k = 0; k < experiment->variant_count; k++) {
		const struct row *row = &command->rows[k];

		printf("%-*s  %7u ", (int)width, row->name, row->native.threads);
		if (!row->done) {
			printf("not run: more threads than the %u CPUs here\n",
			       command->order_count);
			continue;
		}
		printf("%10.2f  %8.2f to %-7.2f", row->native.ns, row->native.low,
		       row->native.high);
		if (command->modelled)
			printf(" %10.2f %+6.1f%%", row->simulated, error_percent(row));
		if (row->native.disturbed)
			printf("  %u disturbed%s: %s", row->native.disturbed,
			       row->native.repeats ? "" : ", none quiet", row->native.noise);
		putchar('\n');
	}
	if (command->quiet)
		return;
	if (!command->modelled) {
		puts("\nhitm calibrate writes a model of this host to simulate on.");
		return;
	}
	count_order(command, &pairs, &right);
	printf("\norder: of %u pairs of variants that differ here by more than their spread, the "
	       "simulation has %u in the same order\n",
	       pairs, right);
}

static void print_csv(const struct command *command)
{
	puts("variant,threads,native_ns,low_ns,high_ns,repeats,disturbed,simulated_ns,error_pct");
	for (uint32_t k = 0; k < command->experiment.variant_count; k++) {
		const struct row *row = &command->rows[k];

		if (!row->done)
			continue;
		printf("\"%s\",%u,%.6g,%.6g,%.6g,%u,%u,", row->name, row->native.threads,
		       row->native.ns, row->native.low, row->native.high, row->native.repeats,
		       row->native.disturbed);
		if (command->modelled)
			printf("%.6g,%.3g", row->simulated, error_percent(row));
		else
			putchar(',');
		putchar('\n');
	}
}

static bool print_json(const struct command *command, struct error *error)
{
	json_t *variants = json_array(), *json;
	uint32_t pairs, right;
	bool done;

	for (uint32_t k = 0; k < command->experiment.variant_count; k++) {
		const struct row *row = &command->rows[k];
		const struct native_result *native = &row->native;

		if (!row->done)
			continue;
		json_array_append_new(
			variants,
			json_pack("{s:s, s:i, s:f, s:[f, f], s:f, s:i, s:i, s:s, s:o, s:o}", "name",
				  row->name, "threads", (int)native->threads, "native_ns",
				  native->ns, "native_spread_ns", native->low, native->high,
				  "ops_per_s", native->rate, "repeats", (int)native->repeats,
				  "disturbed", (int)native->disturbed, "noise", native->noise,
				  "simulated_ns",
				  command->modelled ? json_real(row->simulated) : json_null(),
				  "error_pct",
				  command->modelled ? json_real(error_percent(row)) : json_null()));
	}
	count_order(command, &pairs, &right);
	json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "schema", "hitm-native/1",
			 "hitm", HITM_VERSION, "experiment", command->experiment.name, "host",
			 command->host->name, "cpu", command->host->model, "model",
			 command->modelled ? json_string(command->model) : json_null(), "variants",
			 variants, "order",
			 command->modelled
				 ? json_pack("{s:i, s:i}", "pairs", (int)pairs, "right", (int)right)
				 : json_null());
	done = output_json(stdout, json, error);
	json_decref(json);
	return done;
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool native(struct command *command, int argc, char **argv, bool *sound, struct error *error)
{
	if (!read_command(command, argc, argv, error))
		return false;
	if (command->only_help) {
		fputs(help, stdout);
		return true;
	}
	if (!load(command, error) || !run_all(command, sound, error))
		return false;
	if (command->format == OUTPUT_JSON)
		return print_json(command, error);
	if (command->format == OUTPUT_CSV)
		print_csv(command);
	else
		print_text(command);
	return true;
}

int cli_native(int argc, char **argv)
{
	struct command command = { .placement = "spread", .repeats = 9, .duration = 50, .seed = 1 };
	struct error error = { "" };
	bool sound = true, done = native(&command, argc, argv, &sound, &error);

	if (!done)
		complain(&error);
	experiment_free(&command.experiment);
	setting_free(&command.setting);
	document_free(command.scaffold);
	free(command.rows);
	free(command.order);
	host_free(command.host);
	return !done ? STATUS_REFUSED : sound ? STATUS_DONE : STATUS_FAILED;
}
