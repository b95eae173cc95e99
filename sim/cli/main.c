/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/calibrate.h"
#include "cli/check.h"
#include "cli/export.h"
#include "cli/layout_cmd.h"
#include "cli/list.h"
#include "cli/memory.h"
#include "cli/native.h"
#include "cli/output.h"
#include "cli/plot.h"
#include "cli/probe.h"
#include "cli/replay.h"
#include "cli/record.h"
#include "cli/run.h"
#include <stdio.h>
#include <string.h>

static const struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *about;
} subcommands[] = {
	{ "run", cli_run, "simulate every variant of an experiment; predicted against published" },
	{ "replay", cli_replay, "a captured trace on a simulated machine, and on other layouts" },
	{ "export", cli_export, "a simulated run as a trace, every access of it" },
	{ "probe", cli_probe,
	  "virtual microbenchmarks of a machine against its published figures" },
	{ "native", cli_native,
	  "run the code of an experiment on this host, beside the simulation of it" },
	{ "calibrate", cli_calibrate, "measure this host, and write a machine file of it" },
	{ "record", cli_record,
	  "how perf captures a command's memory accesses here, and doing it" },
	{ "plot", cli_plot, "pictures from results files" },
	{ "layout", cli_layout, "show and check struct layouts" },
	{ "check", cli_check, "the simulator checks itself: protocol, memory model, storms" },
	{ "list", cli_list, "machines, layouts, models and experiments that can be named" },
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(*subcommands) };

static void print_help(FILE *out)
{
	fputs("usage: hitm COMMAND [options]; hitm COMMAND -h for each\n\n"
	      "What is a change of struct layout, or of atomic operations, worth on a machine that "
	      "you do not have?\n\n",
	      out);
	for (int k = 0; k < SUBCOMMANDS; k++)
		fprintf(out, "  %-9s  %s\n", subcommands[k].name, subcommands[k].about);
	fputs("\n  -h, --help     this text\n  -V, --version  the version\n\nman hitm has the file "
	      "formats.\n",
	      out);
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		print_help(stderr);
		return 2;
	}
	if (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help")) {
		print_help(stdout);
		return 0;
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("hitm " HITM_VERSION);
		return 0;
	}
	for (int k = 0; k < SUBCOMMANDS; k++)
		if (!strcmp(name, subcommands[k].name))
			return subcommands[k].run(argc - 1, argv + 1);
	fprintf(stderr, "hitm: no command '%.40s'; hitm -h lists them\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	struct error error = { "" };
	int status;

	memory_watch();
	status = run(argc, argv);
	if (status == 0 && !(memory_sufficed(&error) && output_flush(&error))) {
		complain(&error);
		status = 2;
	}
	memory_release_reserve();
	return status;
}
