/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/record_convert.h"
#include "cli/record_places.h"
#include "cli/record_run.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_REFUSED = 2,
	PATH_SIZE = 4096,
	PERIOD_MAX = 1 << 30,
	LDLAT_MAX = 65535, /* bits of the register */
	PID_MAX = 1 << 22
};

static const char help[] =
	"usage: hitm record [options] [--] COMMAND [ARGUMENTS]\n"
	"       hitm record [options] --pid PID\n"
	"\n"
	"Prints the perf command that captures the memory accesses of COMMAND on this host, and "
	"why\n"
	"it is the right one; with --run, runs it. Without --object the processor samples "
	"accesses\n"
	"(Intel PEBS, AMD IBS, Arm SPE). With it, hardware breakpoints record every access to\n"
	"fields of an object, which works in virtual machines too: four fields at a time, or "
	"two,\n"
	"of which loads are told from stores. More fields take several runs, each a command.\n"
	"\n"
	"  -r, --run             run perf now, and COMMAND with it, without a shell; make a trace "
	"of it\n"
	"  -o, --out FILE        what perf writes; default perf.data; FILE.1 ... of several runs\n"
	"  -t, --to FORM         what is made of it then: trace (default; FILE.trace), "
	"trace-binary\n"
	"                        (FILE.trace.zst) or perf-script (FILE.txt)\n"
	"  -O, --object NAME=STRUCT@SYMBOL | NAME=STRUCT@0xADDRESS\n"
	"                        a global object of the program, or an address; may be given "
	"again.\n"
	"                        STRUCT is a layout (hitm list layouts) or a struct of the "
	"program's\n"
	"                        debug information (cc -g)\n"
	"  -F, --fields A,B,...  of the objects' structs; default: all\n"
	"  -P, --pairs           two breakpoints a field always, so that loads are told from "
	"stores\n"
	"  -p, --pid PID         a process that runs already, until it ends or Ctrl-C\n"
	"  -c, --period N        one sample in N accesses (of IBS: cycles); default 1009 (100000)\n"
	"  -l, --ldlat N         of PEBS: no loads under N cycles; default 3, the least that is of "
	"use\n"
	"      --root DIRECTORY  of another host, whose /proc and /sys are there; only prints\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 done, 1 captured, but COMMAND failed, 2 bad usage, or not possible here.\n";

enum { OPTION_ROOT = 256 };

struct command {
	bool run, only_help;
	const char *root, *fields, *form;
	const char *objects[RECORD_OBJECTS];
	uint32_t object_count;
	struct capture_request request;
	struct record_places places;
	struct code *code;
	char program[PATH_SIZE];
};

/* ---- options -------------------------------------------------------------------------------- */

static bool add_object(struct command *command, const char *object, struct error *error)
{
	if (command->object_count == RECORD_OBJECTS)
		return error_set(error, "hitm record: over %d objects", RECORD_OBJECTS);
	command->objects[command->object_count++] = object;
	return true;
}

static bool read_number(struct command *command, int option, struct error *error)
{
	struct capture_request *request = &command->request;

	switch (option) {
	case 'p':
		return option_number("record", "pid", optarg, 1, PID_MAX, &request->pid, error);
	case 'c':
		return option_number("record", "period", optarg, 1, PERIOD_MAX, &request->period,
				     error);
	default:
		return option_number("record", "ldlat", optarg, 1, LDLAT_MAX, &request->ldlat,
				     error);
	}
}

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 'r':
		command->run = true;
		return true;
	case 'o':
		command->request.out = optarg;
		return *optarg || error_set(error, "hitm record: --out '', expected a file");
	case 'O':
		return add_object(command, optarg, error);
	case 'F':
		command->fields = optarg;
		return true;
	case 'P':
		command->request.pairs = true;
		return true;
	case 'p':
	case 'c':
	case 'l':
		return read_number(command, option, error);
	case 't':
		command->form = optarg;
		return record_form_check(optarg, error);
	case OPTION_ROOT:
		command->root = optarg;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	default:
		return option_refused("record", option, argv, error);
	}
}

static bool check_options(const struct command *command, struct error *error)
{
	const struct capture_request *request = &command->request;

	if (!*request->command == !request->pid)
		return error_set(error,
				 "hitm record: a COMMAND or --pid was expected, one of them; "
				 "hitm record -h shows how");
	if (command->run && *command->root)
		return error_set(error, "hitm record: --root is of another host: nothing can be "
					"run there");
	if (!command->object_count && (command->fields || request->pairs))
		return error_set(error, "hitm record: --%s is of an --object",
				 command->fields ? "fields" : "pairs");
	if (command->object_count && request->period)
		return error_set(error, "hitm record: --period is for samples; of an --object "
					"every access is recorded");
	return true;
}

static bool read_command(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "run", no_argument, NULL, 'r' },
		{ "out", required_argument, NULL, 'o' },
		{ "to", required_argument, NULL, 't' },
		{ "object", required_argument, NULL, 'O' },
		{ "fields", required_argument, NULL, 'F' },
		{ "pairs", no_argument, NULL, 'P' },
		{ "pid", required_argument, NULL, 'p' },
		{ "period", required_argument, NULL, 'c' },
		{ "ldlat", required_argument, NULL, 'l' },
		{ "root", required_argument, NULL, OPTION_ROOT },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, "+:ro:t:O:F:Pp:c:l:h", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	command->request.command = argv + optind;
	return command->only_help || check_options(command, error);
}

/* ---- what to capture ------------------------------------------------------------------------ */

static bool find_programs(struct command *command, struct error *error)
{
	const struct capture_request *request = &command->request;
	char perf[PATH_SIZE];

	if (!*command->root && !program_find("perf", perf, sizeof(perf)))
		return error_set(error, "hitm record: perf is not installed, and it does the "
					"capturing: apt-get install linux-perf");
	if (request->pid)
		snprintf(command->program, PATH_SIZE, "%s/proc/%" PRIu64 "/exe", command->root,
			 request->pid);
	else if (!program_find(*request->command, command->program, PATH_SIZE))
		return error_set(error, "hitm record: no program '%.200s' to run",
				 *request->command);
	return true;
}

static bool find_places(struct command *command, struct error *error)
{
	const struct record_target target = { .root = command->root,
					      .program = command->program,
					      .pid = command->request.pid };
	bool done = true;

	for (uint32_t k = 0; done && k < command->object_count; k++)
		done = record_places_add(&command->places, &target, command->objects[k],
					 command->fields, error);
	if (command->object_count)
		command->code = record_target_code(&target);
	command->request.places = command->places.all;
	command->request.place_count = command->places.count;
	return done && (!command->object_count || command->places.count ||
			error_set(error, "hitm record: the objects have no fields"));
}

/* ---- printing ------------------------------------------------------------------------------- */

/* As a shell takes it for one word. */
static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, stdout);
	putchar('\'');
}

static void print_command(const struct words *command)
{
	for (uint32_t k = 0; k < command->count; k++) {
		if (k)
			putchar(' ');
		print_word(command->all[k]);
	}
}

static void print_run(const struct capture_run *run)
{
	for (uint32_t k = 0; k < run->why.count; k++)
		printf("# %s\n", run->why.all[k]);
	print_command(&run->command);
	putchar('\n');
	if (run->decode.count) {
		print_command(&run->decode);
		fputs(" >", stdout);
		print_word(run->out);
		puts(".txt");
	}
}

/* How the captured command ended, which is perf's end too. */
static bool print_end(const struct capture_run *run, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "hitm record: %s: captured until signal %d\n", run->out,
			WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fprintf(stderr, "hitm record: %s: captured; the command ended with status %d\n",
			run->out, WEXITSTATUS(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool do_runs(const struct command *command, const struct capture_plan *plan, bool *sound,
		    struct error *error)
{
	bool done = true;

	for (uint32_t k = 0; done && k < plan->count; k++) {
		int status = 0;

		if (k)
			putchar('\n');
		if (plan->count > 1)
			printf("# run %" PRIu32 " of %" PRIu32 "\n", k + 1, plan->count);
		print_run(&plan->runs[k]);
		if (!command->run)
			continue;
		done = record_run(&plan->runs[k], &status, error);
		*sound &= done && print_end(&plan->runs[k], status);
		done = done && record_convert(&plan->runs[k], &command->places, command->code,
					      command->form, error);
	}
	return done;
}

/* What perf can do here, and the commands for it. */
static bool make_plan(const struct command *command, const struct capture_host *host,
		      struct capture_plan *plan, struct error *error)
{
	struct error why = { "" };

	return capture_plan(plan, host, &command->request, &why) ||
	       error_set(error, "hitm record: %s", why.text);
}

static bool read_host(const struct command *command, struct capture_host *host, struct error *error)
{
	struct error why = { "" };

	return (capture_host_read(command->root, host, &why) &&
		(*command->root || capture_allowed(&why))) ||
	       error_set(error, "hitm record: %s", why.text);
}

static bool record(struct command *command, struct capture_plan *plan, int argc, char **argv,
		   bool *sound, struct error *error)
{
	struct capture_host host;

	if (!read_command(command, argc, argv, error))
		return false;
	if (command->only_help) {
		fputs(help, stdout);
		return true;
	}
	return find_programs(command, error) && read_host(command, &host, error) &&
	       find_places(command, error) && make_plan(command, &host, plan, error) &&
	       do_runs(command, plan, sound, error);
}

int cli_record(int argc, char **argv)
{
	struct command command = { .root = "",
				   .form = "trace",
				   .request = { .out = "perf.data", .ldlat = 3 } };
	struct capture_plan plan = { NULL, 0 };
	struct error error = { "" };
	bool sound = true, done = record(&command, &plan, argc, argv, &sound, &error);

	if (!done)
		complain(&error);
	capture_plan_free(&plan);
	record_places_free(&command.places);
	code_close(command.code);
	return !done ? STATUS_REFUSED : sound ? STATUS_DONE : STATUS_FAILED;
}
