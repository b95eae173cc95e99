/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/check.h"
#include "cli/check_parts.h"
#include "cli/check_table.h"
#include "cli/output.h"
#include <errno.h>
#include <getopt.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_RIGHT = 0, STATUS_WRONG = 1, STATUS_REFUSED = 2, JOBS_MAX = 1024 };

static const char help[] =
	"usage: hitm check [--long] [--only PART]... [--seed N] [--jobs N] [--verbose]\n"
	"       hitm check --table [--protocol NAME] [--eviction NAME] [--home NAME]\n"
	"                  [--atomics NAME] [--markdown]\n"
	"       hitm check --litmus FILE...\n"
	"       hitm check --storm SEED [KNOB=VALUE]...\n"
	"\n"
	"The simulator checks itself: about a minute, or with --long at most an hour. Parts:\n"
	"\n"
	"  protocol  every reachable state of the coherence protocols, over every order of\n"
	"            messages: one writer or many readers, loads see the last store, no event\n"
	"            without a row, every request completes, the home's record is right\n"
	"  mistakes  the same with mistakes put into the table: are they found?\n"
	"  litmus    x86 litmus tests over the table: just the outcomes of x86-TSO?\n"
	"  timed     the same tests on the timed machine, many times: none that is forbidden?\n"
	"  inputs    mangled machines, layouts, experiments and litmus tests: refused in a line?\n"
	"  storms    random accesses of up to 256 threads to few lines, every value checked\n"
	"\n"
	"  -l, --long            as much of each as an hour allows\n"
	"  -o, --only PART       this part alone, or these\n"
	"  -S, --seed N          of what is random; default 1\n"
	"  -j, --jobs N          threads to run on; default one a processor\n"
	"  -v, --verbose         list mistakes that do no harm, and outcomes that never came\n"
	"  -t, --table           print the protocol's table instead\n"
	"      --protocol mesi|mesif|moesi, --eviction silent|exact, --home ahead|blocking,\n"
	"      --atomics near|far  of which variant; default mesi, silent, ahead, near\n"
	"  -m, --markdown        as a Markdown table\n"
	"      --litmus          one's own tests: what x86-TSO allows, what the simulator shows\n"
	"      --storm           one storm again, as a failure says\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 all is right, 1 something is wrong, 2 bad usage or input.\n";

static const struct part {
	const char *name;
	bool (*check)(const struct check_run *run);
} parts[] = {
	{ "protocol", check_protocol }, { "mistakes", check_mistakes }, { "litmus", check_litmus },
	{ "timed", check_timed },       { "inputs", check_inputs },     { "storms", check_storms },
};

enum { PARTS = sizeof(parts) / sizeof(*parts) };

static const struct check_effort usual = { .timed = 400000, .accesses = 5000000, .mangled = 50000 };

static const struct check_effort thorough = { .every_variant = true,
					      .litmus_limit = 100000,
					      .timed = 12000000,
					      .accesses = 1000000000,
					      .mangled = 5000000,
					      .seconds = 57 * 60 };

enum mode { MODE_CHECK, MODE_TABLE, MODE_LITMUS, MODE_STORM };

struct command {
	enum mode mode;
	bool only_help, markdown;
	uint32_t only; /* a bit a part; 0: all */
	struct protocol_variant variant;
	struct check_run run;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_number(const char *what, const char *text, uint64_t least, uint64_t most,
			uint64_t *number, struct error *error)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least && *number <= most)
		return true;
	return error_set(error,
			 "hitm check: '%.40s' is no %s, expected a whole number from %llu to "
			 "%llu",
			 text, what, (unsigned long long)least, (unsigned long long)most);
}

/* The place of a name in a list that ends with NULL. */
static bool read_choice(const char *what, const char *text, const char *const *names, int *choice,
			struct error *error)
{
	char known[100] = "";

	for (*choice = 0; names[*choice]; ++*choice) {
		if (!strcmp(names[*choice], text))
			return true;
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 *choice ? ", " : "", names[*choice]);
	}
	return error_set(error, "hitm check: '%.40s' is no %s, expected one of %s", text, what,
			 known);
}

static bool read_only(struct command *command, const char *text, struct error *error)
{
	const char *names[PARTS + 1] = { NULL };
	int part;

	for (int k = 0; k < PARTS; k++)
		names[k] = parts[k].name;
	if (!read_choice("part", text, names, &part, error))
		return false;
	command->only |= 1u << part;
	return true;
}

enum {
	OPTION_PROTOCOL = 256,
	OPTION_EVICTION,
	OPTION_HOME,
	OPTION_ATOMICS,
	OPTION_LITMUS,
	OPTION_STORM
};

static bool read_variant(struct command *command, int option, struct error *error)
{
	struct protocol_variant *variant = &command->variant;
	int choice = 0;
	bool known;

	switch (option) {
	case OPTION_PROTOCOL:
		known = read_choice("protocol", optarg, protocol_kind_names, &choice, error);
		variant->protocol = (enum protocol_kind)choice;
		return known;
	case OPTION_EVICTION:
		known = read_choice("eviction", optarg, eviction_names, &choice, error);
		variant->eviction = (enum s_eviction)choice;
		return known;
	case OPTION_HOME:
		known = read_choice("home", optarg, home_kind_names, &choice, error);
		variant->home = (enum home_kind)choice;
		return known;
	default:
		known = read_choice("kind of atomics", optarg, atomics_names, &choice, error);
		variant->atomics = (enum atomics)choice;
		return known;
	}
}

static bool read_option(struct command *command, int option, struct error *error)
{
	uint64_t number;

	switch (option) {
	case 'l':
		command->run.effort = thorough;
		return true;
	case 'o':
		return read_only(command, optarg, error);
	case 'S':
		return read_number("seed", optarg, 0, UINT64_MAX, &command->run.seed, error);
	case 'j':
		if (!read_number("number of jobs", optarg, 1, JOBS_MAX, &number, error))
			return false;
		omp_set_num_threads((int)number);
		return true;
	case 'v':
		command->run.verbose = true;
		return true;
	case 't':
		command->mode = MODE_TABLE;
		return true;
	case 'm':
		command->markdown = true;
		return true;
	case OPTION_LITMUS:
		command->mode = MODE_LITMUS;
		return true;
	case OPTION_STORM:
		command->mode = MODE_STORM;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	case '?':
	case ':':
		return error_set(error, "hitm check: see hitm check -h");
	default:
		return read_variant(command, option, error);
	}
}

static bool read_options(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "long", no_argument, NULL, 'l' },
		{ "only", required_argument, NULL, 'o' },
		{ "seed", required_argument, NULL, 'S' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "table", no_argument, NULL, 't' },
		{ "markdown", no_argument, NULL, 'm' },
		{ "protocol", required_argument, NULL, OPTION_PROTOCOL },
		{ "eviction", required_argument, NULL, OPTION_EVICTION },
		{ "home", required_argument, NULL, OPTION_HOME },
		{ "atomics", required_argument, NULL, OPTION_ATOMICS },
		{ "litmus", no_argument, NULL, OPTION_LITMUS },
		{ "storm", no_argument, NULL, OPTION_STORM },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ":lo:S:j:vtmh", options, NULL)) != -1) {
		if (!read_option(command, option, error))
			return false;
		if (command->only_help)
			return true;
	}
	if (optind < argc && command->mode != MODE_LITMUS && command->mode != MODE_STORM)
		return error_set(error, "hitm check: '%.40s' is not expected; see hitm check -h",
				 argv[optind]);
	return true;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

static bool check_parts(const struct command *command)
{
	bool right = true;

	for (int k = 0; k < PARTS; k++)
		if (!command->only || command->only >> k & 1) {
			right &= parts[k].check(&command->run);
			fflush(stdout);
		}
	return right;
}

static bool obey(const struct command *command, int argc, char **argv, bool *wrong,
		 struct error *error)
{
	switch (command->mode) {
	case MODE_TABLE:
		check_table_print(stdout, &command->variant, command->markdown);
		return true;
	case MODE_LITMUS:
		if (!argc)
			return error_set(error, "hitm check: --litmus needs a file");
		for (int k = 0; k < argc; k++)
			if (!check_one_litmus(&command->run, argv[k], wrong, error))
				return false;
		return true;
	case MODE_STORM:
		return check_one_storm(argc, argv, wrong, error);
	default:
		*wrong = !check_parts(command);
		return true;
	}
}

int cli_check(int argc, char **argv)
{
	struct command command = { .run = { .effort = usual, .seed = 1, .begun = check_clock() } };
	struct error error = { "" };
	bool wrong = false;

	if (!read_options(&command, argc, argv, &error)) {
		complain(&error);
		return STATUS_REFUSED;
	}
	if (command.only_help) {
		fputs(help, stdout);
		return STATUS_RIGHT;
	}
	if (!obey(&command, argc - optind, argv + optind, &wrong, &error)) {
		complain(&error);
		return STATUS_REFUSED;
	}
	return wrong ? STATUS_WRONG : STATUS_RIGHT;
}
