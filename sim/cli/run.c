/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "cli/run_machines.h"
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
	const char *experiment;
	bool only_help;
	char layouts[PATH_SIZE];
	struct run_command run;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	struct run_options *run = &command->run.options.run;
	uint64_t jobs;

	switch (option) {
	case 'm':
		command->run.machine = optarg;
		return true;
	case 's':
		return sets_add(&command->run.sets, "run", optarg, error);
	case 'S':
		return option_number("run", "seed", optarg, 0, UINT64_MAX, &run->seed, error);
	case 'j':
		if (!option_number("run", "jobs", optarg, 0, JOBS_MAX, &jobs, error))
			return false;
		command->run.options.jobs = jobs ? (int)jobs : 1;
		return true;
	case 'o':
		command->run.out = optarg;
		return true;
	case 'f':
		return output_format_read("run", optarg, &command->run.format, error);
	case 'i':
		return option_ideal("run", optarg, &command->run.options.ideal_layout,
				    &command->run.options.ideal_atomics, error);
	case 'e':
		run->explain = optarg;
		return true;
	case 'q':
		command->run.options.quiet = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	case 't':
		command->run.only_table = true;
		return true;
	case OPTION_PARANOID:
		run->paranoid = true;
		return true;
	case OPTION_TURNS:
		run->take_turns = true;
		return true;
	case OPTION_NO_BAND:
		command->run.no_band = true;
		return true;
	case OPTION_NO_SCALING:
		command->run.no_scaling = true;
		return true;
	case OPTION_ABLATIONS:
		command->run.ablations = true;
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
	if (command->run.ablations &&
	    (command->run.out || command->run.only_table || command->run.format != OUTPUT_TEXT))
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

static bool run_experiment(const struct command *command, struct error *error)
{
	char path[PATH_SIZE];
	struct document *original;
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
	done = run_machines(original, &command->run, error);
	document_free(original);
	return done;
}

int cli_run(int argc, char **argv)
{
	struct command command = { .run.options = { .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN),
						    .run = { .seed = 1 } } };
	struct error error = { "" };

	data_path(command.layouts, sizeof(command.layouts), "configs/layouts");
	command.run.options.run.layout_directory = command.layouts;
	if (!read_command(&command, argc, argv, &error)) {
		complain(&error);
		return 2;
	}
	if (command.only_help) {
		fputs(help, stdout);
		return 0;
	}
	if (!run_experiment(&command, &error)) {
		complain(&error);
		return 2;
	}
	return 0;
}
