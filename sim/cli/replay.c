/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "cli/replay_parts.h"
#include "measure/report.h"
#include "trace/formats.h"
#include "cli/run_machines.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_MAX = 256, SEEDS_MAX = 100 };

static const char help[] =
	"usage: hitm replay TRACE [options]\n"
	"       hitm replay TRACE --summary | --find | --write FILE\n"
	"       hitm replay --summary TRACE TRACE...\n"
	"\n"
	"Replays a captured trace on a simulated machine, on the layouts that its objects had and "
	"on\n"
	"others. TRACE is a file of any format that `hitm list formats` shows ('-', standard "
	"input, with\n"
	"--summary or --find). A complete capture is replayed in the order of each thread, a "
	"sampled\n"
	"one as a mix of accesses, with bands over seeds.\n"
	"\n"
	"  -F, --from FORMAT       one of `hitm list formats`, instead of recognising it\n"
	"      --summary           what is in the capture, and what is not: nothing is simulated\n"
	"      --find              hot lines, and which struct of configs/layouts may lie there\n"
	"      --btf FILE          of --find: also structs of this file, as "
	"/sys/kernel/btf/vmlinux\n"
	"  -w, --write FILE        writes the capture anew, in hitm's own form\n"
	"      --as FORM           of --write: trace (the default), trace-binary, or perf-script, "
	"which\n"
	"                          has no place for objects, fields and sizes\n"
	"\n"
	"  -O, --object NAME=LAYOUT@ADDRESS[*STRIDExCOUNT]\n"
	"                          an object of the program: a layout (hitm list layouts, or a "
	"path) at\n"
	"                          an address, or with --elf at SYMBOL or SYMBOL+OFFSET; "
	"repeatable\n"
	"  -E, --elf FILE          the program, for symbols\n"
	"  -l, --layout NAME=LAYOUT[,NAME=LAYOUT]\n"
	"                          replays also with objects on these layouts; each option is a "
	"variant\n"
	"      --only objects      leaves out accesses to anything else\n"
	"      --atomic OBJ.FIELD  stores to it are locked operations, where the capture does not "
	"tell\n"
	"      --unknown OP        what an access that may be load or store is: load, store, "
	"modify (the\n"
	"                          default), atomic\n"
	"      --store OBJ.FIELD=WEIGHT   stores that a profile lacks\n"
	"\n"
	"  -m, --machine NAME      default skx-2s-18c; repeatable, each gives a table\n"
	"      --by thread|cpu     whose accesses make one simulated thread; default thread\n"
	"      --map MAP           recorded (the default), compact, spread, or CPU=CPU,...\n"
	"      --order own|recorded   each thread in its own order, or one access of all at a "
	"time, as\n"
	"                          recorded; default own\n"
	"      --gaps X            multiplies the time between accesses; default 1; 0: none\n"
	"      --gap TIME          between accesses of a profile without times; default 100 ns\n"
	"      --threads N         of a report that has none; default: the CPUs of its busiest "
	"row\n"
	"      --home touch|interleave   where memory is; default touch: where it was used first\n"
	"      --seeds N           draws from a profile that the band is over; default 5\n"
	"\n"
	"  -s, --set PATH=VALUE    as in hitm run: workload.PATH, machine.PATH, measure.PATH\n"
	"  -S, --seed N            of all random streams; default 1\n"
	"  -j, --jobs N            simulations at a time\n"
	"  -i, --ideal WHAT        also with ideal `layout` or `atomics`\n"
	"  -o, --out DIR           writes DIR/results-MACHINE.json and report-MACHINE.txt\n"
	"  -f, --format FORMAT     text, json or csv; default text\n"
	"  -t, --table             of the text, the table of variants alone\n"
	"  -q, --quiet             no progress, no report if --out is given\n"
	"  -h, --help              this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage or input.\n";

enum {
	OPTION_SUMMARY = 256,
	OPTION_FIND,
	OPTION_BTF,
	OPTION_FORM,
	OPTION_ONLY,
	OPTION_ATOMIC,
	OPTION_UNKNOWN,
	OPTION_STORE,
	OPTION_BY,
	OPTION_MAP,
	OPTION_ORDER,
	OPTION_GAPS,
	OPTION_GAP,
	OPTION_THREADS,
	OPTION_HOME,
	OPTION_SEEDS
};

static const struct option long_options[] = {
	{ "from", required_argument, NULL, 'F' },
	{ "summary", no_argument, NULL, OPTION_SUMMARY },
	{ "find", no_argument, NULL, OPTION_FIND },
	{ "btf", required_argument, NULL, OPTION_BTF },
	{ "write", required_argument, NULL, 'w' },
	{ "as", required_argument, NULL, OPTION_FORM },
	{ "object", required_argument, NULL, 'O' },
	{ "elf", required_argument, NULL, 'E' },
	{ "layout", required_argument, NULL, 'l' },
	{ "only", required_argument, NULL, OPTION_ONLY },
	{ "atomic", required_argument, NULL, OPTION_ATOMIC },
	{ "unknown", required_argument, NULL, OPTION_UNKNOWN },
	{ "store", required_argument, NULL, OPTION_STORE },
	{ "machine", required_argument, NULL, 'm' },
	{ "by", required_argument, NULL, OPTION_BY },
	{ "map", required_argument, NULL, OPTION_MAP },
	{ "order", required_argument, NULL, OPTION_ORDER },
	{ "gaps", required_argument, NULL, OPTION_GAPS },
	{ "gap", required_argument, NULL, OPTION_GAP },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "home", required_argument, NULL, OPTION_HOME },
	{ "seeds", required_argument, NULL, OPTION_SEEDS },
	{ "set", required_argument, NULL, 's' },
	{ "seed", required_argument, NULL, 'S' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "ideal", required_argument, NULL, 'i' },
	{ "out", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, 'f' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "table", no_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* ---- options -------------------------------------------------------------------------------- */

static bool add_word(struct words *words, const char *option, struct error *error)
{
	if (words->count == REPLAY_WORDS_MAX)
		return error_set(error, "hitm replay: more than %d of --%s", REPLAY_WORDS_MAX,
				 option);
	words->all[words->count++] = optarg;
	return true;
}

/* Those whose value is taken as it is: where it goes. NULL for others. */
static const char **plain_value(struct replay_command *command, int option)
{
	const struct {
		int option;
		const char **value;
	} plain[] = {
		{ 'F', &command->format },
		{ 'w', &command->write },
		{ OPTION_FORM, &command->form },
		{ 'E', &command->elf },
		{ OPTION_BTF, &command->btf },
		{ OPTION_ONLY, &command->only },
		{ OPTION_UNKNOWN, &command->unknown },
		{ OPTION_BY, &command->by },
		{ OPTION_MAP, &command->map },
		{ OPTION_ORDER, &command->order },
		{ OPTION_GAPS, &command->gaps },
		{ OPTION_GAP, &command->gap },
		{ OPTION_THREADS, &command->threads },
		{ OPTION_HOME, &command->home },
		{ 'o', &command->run.out },
	};

	for (size_t k = 0; k < sizeof(plain) / sizeof(*plain); k++)
		if (plain[k].option == option)
			return plain[k].value;
	return NULL;
}

static bool read_words(struct replay_command *command, int option, bool *done, struct error *error)
{
	const struct {
		int option;
		struct words *words;
		const char *name;
	} lists[] = {
		{ 'O', &command->objects, "object" },
		{ 'l', &command->layouts, "layout" },
		{ 'm', &command->machines, "machine" },
		{ OPTION_ATOMIC, &command->atomics, "atomic" },
		{ OPTION_STORE, &command->stores, "store" },
	};

	for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++)
		if (lists[k].option == option) {
			*done = true;
			return add_word(lists[k].words, lists[k].name, error);
		}
	return true;
}

static bool read_option(struct replay_command *command, int option, char **argv,
			struct error *error)
{
	const char **plain = plain_value(command, option);
	bool done = false;
	uint64_t jobs;

	if (plain) {
		*plain = optarg;
		return true;
	}
	if (!read_words(command, option, &done, error) || done)
		return done && !error->text[0];
	switch (option) {
	case OPTION_SUMMARY:
		return command->summary = true;
	case OPTION_FIND:
		return command->find = true;
	case OPTION_SEEDS:
		return option_number("replay", "seeds", optarg, 1, SEEDS_MAX, &command->seeds,
				     error);
	case 's':
		return sets_add(&command->run.sets, "replay", optarg, error);
	case 'S':
		return option_number("replay", "seed", optarg, 0, UINT64_MAX,
				     &command->run.options.run.seed, error);
	case 'j':
		if (!option_number("replay", "jobs", optarg, 1, JOBS_MAX, &jobs, error))
			return false;
		command->run.options.jobs = (int)jobs;
		return true;
	case 'i':
		return option_ideal("replay", optarg, &command->run.options.ideal_layout,
				    &command->run.options.ideal_atomics, error);
	case 'f':
		return output_format_read("replay", optarg, &command->run.format, error);
	case 'q':
		return command->run.options.quiet = true;
	case 't':
		return command->run.only_table = true;
	case 'h':
		return command->only_help = true;
	default:
		return option_refused("replay", option, argv, error);
	}
}

static bool read_command(struct replay_command *command, int argc, char **argv, struct error *error)
{
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":F:w:O:E:l:m:s:S:j:i:o:f:tqh", long_options,
				     NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	if (command->only_help)
		return true;
	if (command->summary && argc - optind > 1 && command->run.format != OUTPUT_TEXT)
		return error_set(error, "hitm replay: --format of one capture alone");
	if (command->summary && argc - optind > 1) {
		command->several = argv + optind;
		command->several_count = argc - optind;
		return true;
	}
	if (optind + 1 != argc)
		return error_set(
			error,
			"hitm replay: %d traces, expected one; hitm replay -h shows the usage",
			argc - optind);
	if (command->summary + command->find + (command->write != NULL) > 1)
		return error_set(error,
				 "hitm replay: more than one of --summary, --find and --write");
	if (command->btf && !command->find)
		return error_set(error, "hitm replay: --btf without --find, expected both");
	if (command->write && !strcmp(command->write, "-"))
		return error_set(error, "hitm replay: --write -, expected a file");
	if (command->form && !command->write)
		return error_set(error, "hitm replay: --as without --write, expected both");
	command->trace = argv[optind];
	if (!command->machines.count)
		command->machines.all[command->machines.count++] = "skx-2s-18c";
	return true;
}

/* ---- what is done --------------------------------------------------------------------------- */

/* In JSON and CSV standard output is for the results alone. */
static bool print_import(const struct replay_command *command, const struct tally *tally,
			 struct error *error)
{
	json_t *json;
	bool done;

	if (command->run.format != OUTPUT_TEXT && command->summary) {
		json = summary_json(&tally->summary);
		done = output_json(stdout, json, error);
		json_decref(json);
		return done;
	}
	if (command->run.options.quiet && command->run.out)
		return true;
	if (command->run.only_table)
		return true;
	summary_print(command->run.format == OUTPUT_TEXT ? stdout : stderr, &tally->summary);
	if (!tally->summary.used)
		return true;
	return command->run.format != OUTPUT_TEXT ||
	       replay_print_capture(stdout, command, tally, error);
}

/* Said last, after all that could be said of the file. */
static bool found_any(const struct replay_command *command, const struct tally *tally,
		      struct error *error)
{
	if (tally->summary.used)
		return true;
	if (tally->nothing.text[0])
		*error = tally->nothing;
	return error_set(error, "%s: no access in it that can be replayed%s%s", command->trace,
			 tally->summary.note_count ? ": " : "", summary_last_note(&tally->summary));
}

/* Options that would be without effect. */
static bool check_kind(const struct replay_command *command, const struct tally *tally,
		       struct error *error)
{
	enum trace_kind kind = tally->summary.kind;

	if (command->gap && kind != KIND_SAMPLED && kind != KIND_AGGREGATE)
		return error_set(error,
				 "hitm replay: --gap is for profiles, and this capture has its "
				 "own gaps: --gaps");
	if (command->threads && kind != KIND_AGGREGATE)
		return error_set(
			error,
			"hitm replay: --threads is for reports, and this capture has its own");
	return true;
}

static bool simulate(struct replay_command *command, const struct tally *tally, struct error *error)
{
	struct document *experiment;
	bool done;

	if (!check_kind(command, tally, error))
		return false;
	experiment = replay_experiment(command, tally, error);
	if (!experiment)
		return false;
	command->run.also = replay_print_c2c;
	if (command->run.format == OUTPUT_TEXT && !command->run.only_table &&
	    !command->run.options.quiet) {
		replay_print_assumptions(stdout, command, tally);
		putchar('\n');
	}
	done = run_machines(experiment, &command->run, error);
	document_free(experiment);
	return done;
}

static bool replay(struct replay_command *command, struct error *error)
{
	struct tally tally;
	bool done;

	if (!strcmp(command->trace, "-") && !command->summary && !command->find)
		return error_set(error,
				 "hitm replay: standard input can be read once only, expected "
				 "a file, or --summary or --find");
	if (!tally_read(&tally, command->trace, command->format, error))
		return false;
	if (command->find)
		done = replay_find(command, &tally, error);
	else
		done = replay_objects_read(command, &tally, error) &&
		       print_import(command, &tally, error) && found_any(command, &tally, error) &&
		       replay_objects_touched(command, &tally, error) &&
		       (!command->write || replay_write(command, &tally, error)) &&
		       (command->summary || command->write || simulate(command, &tally, error));
	replay_objects_free(command);
	tally_free(&tally);
	return done && memory_sufficed(error);
}

/* What is wrong with an option's value has a place in the experiment that is made of the options, which
 * nobody has seen. */
static void without_place(struct error *error)
{
	size_t length = strlen(REPLAY_EXPERIMENT), digits;
	char *at = error->text + length;

	if (strncmp(error->text, REPLAY_EXPERIMENT ":", length + 1))
		return;
	digits = strspn(at, ":0123456789");
	memmove(at + 1, at + digits, strlen(at + digits) + 1);
}

int cli_replay(int argc, char **argv)
{
	struct replay_command command = {
		.seeds = 5,
		.run.options = { .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), .run = { .seed = 1 } }
	};
	struct error error = { "" };
	bool done;

	data_path(command.directory, sizeof(command.directory), "configs/layouts");
	command.run.options.run.layout_directory = command.directory;
	done = read_command(&command, argc, argv, &error);
	if (done && command.only_help)
		fputs(help, stdout);
	else if (done && command.several)
		return replay_summaries(command.several, command.several_count, command.format) ? 0
												: 2;
	else if (done)
		done = replay(&command, &error);
	if (done)
		return 0;
	without_place(&error);
	complain(&error);
	return 2;
}
