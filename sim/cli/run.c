/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/sets.h"
#include "machine/machine_file.h"
#include "measure/report.h"
#include "workload/experiment.h"
#include "workload/variant.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, JOBS_MAX = 256 };

static const char help[] =
	"usage: hitm run EXPERIMENT [options]\n"
	"\n"
	"Simulates every variant of an experiment on each of its machines, and prints predicted "
	"beside published\n"
	"figures, where the time went, and which field cost which other field how much. EXPERIMENT "
	"is the name of a file in\n"
	"configs/experiments, or a path.\n"
	"\n"
	"  -m, --machine NAME     this machine instead of those the experiment names (a name or a "
	"path)\n"
	"  -s, --set PATH=VALUE   another value for a key of the experiment, or of the machine: "
	"machine.PATH=VALUE\n"
	"  -S, --seed N           of all random streams; default 1\n"
	"  -j, --jobs N           simulations at a time; default: one a processor. The results are "
	"the same\n"
	"  -o, --out DIR          writes DIR/results-MACHINE.json, and the report as "
	"DIR/report-MACHINE.txt\n"
	"  -f, --format FORMAT    text, json or csv on standard output; default text\n"
	"  -t, --table            of the text, the table of predicted and published alone\n"
	"  -i, --ideal WHAT       also every variant with ideal `layout` (each field on lines of "
	"its own) or `atomics`\n"
	"                         (a locked operation takes no longer than a store)\n"
	"  -e, --explain LINE     prints who held a line of the baseline, when, and who waited: "
	"OBJECT.FIELD or OBJECT:NUMBER,\n"
	"                         as in A.memory.usage or root:3\n"
	"      --ablations        runs the experiment again with each of its ablations, and prints "
	"a table\n"
	"      --no-band          without the band over unknowns\n"
	"      --no-scaling       without the scaling curves\n"
	"      --paranoid         compares every load with the last value stored by anyone\n"
	"      --take-turns       makes every access an event; slower, and the same results\n"
	"  -q, --quiet            no progress, no report on standard output if --out is given\n"
	"  -h, --help             this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage or input, or a simulation that had to stop.\n";

enum { OPTION_PARANOID = 256, OPTION_TURNS, OPTION_NO_BAND, OPTION_NO_SCALING, OPTION_ABLATIONS };

struct command {
	const char *experiment, *machine, *out;
	struct sets sets;
	enum output_format format;
	bool only_help, no_band, no_scaling, ablations, only_table;
	char layouts[PATH_SIZE];
	struct experiment_options options;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_ideal(struct command *command, const char *what, struct error *error)
{
	if (!strcmp(what, "layout"))
		command->options.ideal_layout = true;
	else if (!strcmp(what, "atomics"))
		command->options.ideal_atomics = true;
	else
		return error_set(
			error,
			"hitm run: no counterfactual '%.40s', expected one of: layout, atomics",
			what);
	return true;
}

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	struct run_options *run = &command->options.run;
	uint64_t jobs;

	switch (option) {
	case 'm':
		command->machine = optarg;
		return true;
	case 's':
		return sets_add(&command->sets, "run", optarg, error);
	case 'S':
		return option_number("run", "seed", optarg, 0, UINT64_MAX, &run->seed, error);
	case 'j':
		if (!option_number("run", "jobs", optarg, 0, JOBS_MAX, &jobs, error))
			return false;
		command->options.jobs = jobs ? (int)jobs : 1;
		return true;
	case 'o':
		command->out = optarg;
		return true;
	case 'f':
		return output_format_read("run", optarg, &command->format, error);
	case 'i':
		return read_ideal(command, optarg, error);
	case 'e':
		run->explain = optarg;
		return true;
	case 'q':
		command->options.quiet = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	case 't':
		command->only_table = true;
		return true;
	case OPTION_PARANOID:
		run->paranoid = true;
		return true;
	case OPTION_TURNS:
		run->take_turns = true;
		return true;
	case OPTION_NO_BAND:
		command->no_band = true;
		return true;
	case OPTION_NO_SCALING:
		command->no_scaling = true;
		return true;
	case OPTION_ABLATIONS:
		command->ablations = true;
		return true;
	default:
		return option_refused("run", option, argv, error);
	}
}

static bool read_command(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "machine", required_argument, NULL, 'm' },
		{ "set", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "out", required_argument, NULL, 'o' },
		{ "format", required_argument, NULL, 'f' },
		{ "ideal", required_argument, NULL, 'i' },
		{ "explain", required_argument, NULL, 'e' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "table", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "paranoid", no_argument, NULL, OPTION_PARANOID },
		{ "take-turns", no_argument, NULL, OPTION_TURNS },
		{ "no-band", no_argument, NULL, OPTION_NO_BAND },
		{ "no-scaling", no_argument, NULL, OPTION_NO_SCALING },
		{ "ablations", no_argument, NULL, OPTION_ABLATIONS },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":m:s:S:j:o:f:i:e:tqh", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	if (command->only_help)
		return true;
	if (command->ablations &&
	    (command->out || command->only_table || command->format != OUTPUT_TEXT))
		return error_set(error, "hitm run: --ablations prints a table of its own, and "
					"takes no --out, --format or --table");
	if (optind + 1 != argc)
		return error_set(
			error,
			"hitm run: %d experiments, expected one; hitm run -h shows the usage",
			argc - optind);
	command->experiment = argv[optind];
	return true;
}

/* ---- running -------------------------------------------------------------------------------- */

static bool write_results(const struct command *command, const json_t *results, struct error *error)
{
	const char *machine = json_string_value(json_object_get(results, "machine"));
	char name[PATH_SIZE];
	struct output output;

	if (!command->out)
		return true;
	snprintf(name, sizeof(name), "results-%s.json", machine);
	if (!output_open(&output, command->out, name, error))
		return false;
	output_json(output.file, results, error);
	if (!output_close(&output, error))
		return false;
	snprintf(name, sizeof(name), "report-%s.txt", machine);
	if (!output_open(&output, command->out, name, error))
		return false;
	report_text(output.file, results);
	return output_close(&output, error);
}

static void print_results(const struct command *command, const json_t *results)
{
	if (command->options.quiet && command->out)
		return;
	switch (command->format) {
	case OUTPUT_TEXT:
		if (command->only_table)
			report_table(stdout, results);
		else
			report_text(stdout, results);
		report_timeline(stdout, results,
				json_string_value(json_object_get(results, "baseline")));
		break;
	case OUTPUT_JSON:
		output_json(stdout, results, &(struct error){ "" });
		break;
	case OUTPUT_CSV:
		report_csv(stdout, results);
		break;
	}
}

/* One ablation: the experiment with some values replaced, its changes in a row. */
static bool run_ablation(const struct setting *from, const struct node *ablation,
			 const struct command *command, struct error *error)
{
	struct setting setting;
	struct experiment ablated;
	json_t *results = NULL, *variant;
	size_t k;

	if (!setting_copy(&setting, from, error))
		return false;
	if (ablation && !overrides_apply(ablation, &setting, error)) {
		setting_free(&setting);
		return false;
	}
	if (experiment_read(&ablated, setting.experiment, error)) {
		ablated.band = ablated.scaling = NULL;
		results = experiment_run(&ablated, setting.machine, &command->options, error);
	}
	if (results) {
		printf("%-50s", ablation ? ablation->key : "(nothing left out)");
		json_array_foreach(json_object_get(results, "variants"), k, variant)
		{
			const json_t *wrong = json_object_get(variant, "error_points");
			char text[32] = "";

			if (json_is_number(wrong))
				snprintf(text, sizeof(text), " (%+.1f)", json_number_value(wrong));
			printf(" %+9.1f%9s",
			       json_number_value(json_object_get(variant, "change_pct")), text);
		}
		putchar('\n');
		fflush(stdout);
		json_decref(results);
	}
	document_free(setting.machine);
	experiment_free(&ablated);
	return results != NULL;
}

static bool run_ablations(const struct setting *setting, const struct command *command,
			  struct error *error)
{
	const struct node *root = document_root(setting->experiment), *one;
	const struct node *ablations = node_get(root, "ablations"),
			  *variants = node_get(root, "variants");

	if (!ablations || !ablations->first)
		return node_error(root, error,
				  "an experiment without 'ablations', expected a map of overrides");
	printf("Ablations: change in %% (error in points), each with the fits made anew\n%-50s",
	       "left out");
	for (one = variants ? variants->first : NULL; one; one = one->next)
		printf(" %18s", one->key ? one->key : "?");
	putchar('\n');
	if (!run_ablation(setting, NULL, command, error))
		return false;
	for (one = ablations->first; one; one = one->next)
		if (!run_ablation(setting, one, command, error))
			return false;
	return true;
}

static struct document *load_machine(const char *name, const struct node *at, struct error *error)
{
	char path[PATH_SIZE];

	named_path(path, sizeof(path), "machines", name);
	if (access(path, R_OK) && !at) {
		error_set(
			error,
			"hitm run: no machine '%.100s'; `hitm list machines` shows those there are",
			name);
		return NULL;
	}
	if (access(path, R_OK)) {
		node_error(at, error,
			   "no machine '%s', expected a file of configs/machines; `hitm list "
			   "machines` shows them",
			   name);
		return NULL;
	}
	return document_load(path, error);
}

static bool run_setting(struct setting *setting, const struct command *command, struct error *error)
{
	struct experiment experiment;
	json_t *results = NULL;
	bool done = experiment_read(&experiment, setting->experiment, error);

	setting->experiment = NULL; /* the experiment's now */
	if (done && command->no_band)
		experiment.band = NULL;
	if (done && command->no_scaling)
		experiment.scaling = NULL;
	if (done) {
		results = experiment_run(&experiment, setting->machine, &command->options, error);
		done = memory_sufficed(error) && results && write_results(command, results, error);
	}
	if (done)
		print_results(command, results);
	json_decref(results);
	experiment_free(&experiment);
	return done;
}

static bool run_machine(const struct document *original, const char *name, const struct node *at,
			const struct command *command, struct error *error)
{
	struct setting setting = { .machine = load_machine(name, at, error) };
	bool done;

	if (!setting.machine)
		return false;
	if (!command->options.quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "simulating %s ...\n", name);
	setting.experiment = document_copy(original);
	done = setting.experiment || error_set(error, "out of memory");
	done = done && sets_apply(&command->sets, &setting, error);
	if (done)
		done = command->ablations ? run_ablations(&setting, command, error)
					  : run_setting(&setting, command, error);
	setting_free(&setting);
	return done;
}

/* Is there every machine that is to be simulated? Asked before the first of them is. */
static bool check_machines(const struct node *machines, struct error *error)
{
	for (const struct node *name = machines->first; name; name = name->next) {
		struct machine_config config;
		struct document *document;
		bool readable;

		if (name->kind != NODE_SCALAR)
			return node_error(name, error, "expected a machine's name");
		document = load_machine(name->text, name, error);
		readable = document && machine_file_read(document_root(document), &config, error);
		document_free(document);
		if (!readable)
			return false;
	}
	return true;
}

static bool run_machines(const struct command *command, struct error *error)
{
	char path[PATH_SIZE];
	struct document *original;
	const struct node *machines;
	bool done;

	named_path(path, sizeof(path), "experiments", command->experiment);
	if (access(path, F_OK))
		return error_set(error,
				 "hitm run: no experiment '%.100s'; `hitm list experiments` shows "
				 "those there are",
				 command->experiment);
	original = document_load(path, error);
	if (!original)
		return false;
	machines = node_get(document_root(original), "machines");
	if (command->machine) {
		done = run_machine(original, command->machine, NULL, command, error);
	} else if (!machines || machines->kind != NODE_LIST || !machines->first) {
		done = node_error(machines ? machines : document_root(original), error,
				  "an experiment without 'machines', expected a list of names");
	} else {
		done = check_machines(machines, error);
		for (const struct node *name = machines->first; done && name; name = name->next)
			done = run_machine(original, name->text, name, command, error);
	}
	document_free(original);
	return done;
}

int cli_run(int argc, char **argv)
{
	struct command command = { .options = { .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN),
						.run = { .seed = 1 } } };
	struct error error = { "" };

	data_path(command.layouts, sizeof(command.layouts), "configs/layouts");
	command.options.run.layout_directory = command.layouts;
	if (!read_command(&command, argc, argv, &error)) {
		complain(&error);
		return 2;
	}
	if (command.only_help) {
		fputs(help, stdout);
		return 0;
	}
	if (!run_machines(&command, &error)) {
		complain(&error);
		return 2;
	}
	return 0;
}
