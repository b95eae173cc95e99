/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/export.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/sets.h"
#include "measure/results.h"
#include "trace/writer.h"
#include "workload/experiment.h"
#include "workload/export.h"
#include "workload/variant.h"
#include <getopt.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char help[] =
	"usage: hitm export EXPERIMENT --out FILE [options]\n"
	"\n"
	"Simulates one variant of an experiment, and writes every access that its threads made, "
	"in\n"
	"the order in which they were done: for hitm replay, and for tools that read perf script.\n"
	"Prints accesses by field. Nothing is calibrated for it: settings are those of the file.\n"
	"\n"
	"  -o, --out FILE         where to; '-' is standard output, and nothing is printed\n"
	"  -t, --to FORM          trace (the default), trace-binary, perf-script, or lkp: the "
	"five\n"
	"                         totals perf-c2c.HITM.local to perf-c2c.DRAM.remote that the "
	"kernel\n"
	"                         test robot reports\n"
	"  -v, --variant NAME     default: the baseline\n"
	"  -m, --machine NAME     default: the first that the experiment names\n"
	"  -s, --set PATH=VALUE   another value for a key, as in hitm run\n"
	"  -S, --seed N           of all random streams; default 1\n"
	"  -q, --quiet            prints nothing\n"
	"  -h, --help             this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage or input, or a simulation that had to stop.\n";

struct command {
	const char *experiment, *out, *form, *variant, *machine;
	struct sets sets;
	struct run_options run;
	bool only_help, quiet;
	char layouts[PATH_SIZE];
};

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 'o':
		command->out = optarg;
		return true;
	case 't':
		command->form = optarg;
		return true;
	case 'v':
		command->variant = optarg;
		return true;
	case 'm':
		command->machine = optarg;
		return true;
	case 's':
		return sets_add(&command->sets, "export", optarg, error);
	case 'S':
		return option_number("export", "seed", optarg, 0, UINT64_MAX, &command->run.seed,
				     error);
	case 'q':
		return command->quiet = true;
	case 'h':
		return command->only_help = true;
	default:
		return option_refused("export", option, argv, error);
	}
}

static bool read_command(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "out", required_argument, NULL, 'o' },
		{ "to", required_argument, NULL, 't' },
		{ "variant", required_argument, NULL, 'v' },
		{ "machine", required_argument, NULL, 'm' },
		{ "set", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:t:v:m:s:S:qh", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	if (command->only_help)
		return true;
	if (optind + 1 != argc)
		return error_set(
			error,
			"hitm export: %d experiments, expected one; hitm export -h shows the usage",
			argc - optind);
	if (!command->out)
		return error_set(error, "hitm export: no --out, expected a file ('-': standard "
					"output)");
	command->experiment = argv[optind];
	return true;
}

/* ---- what to simulate ----------------------------------------------------------------------- */

static struct document *load_named(const char *kind, const char *name, struct error *error)
{
	char path[PATH_SIZE];

	named_path(path, sizeof(path), kind, name);
	if (!access(path, F_OK))
		return document_load(path, error);
	error_set(error, "hitm export: no '%.100s' among %s; `hitm list %s` shows those there are",
		  name, kind, kind);
	return NULL;
}

static bool apply_variant(const struct command *command, const struct experiment *experiment,
			  struct setting *setting, struct error *error)
{
	uint32_t k = experiment->baseline;
	const char *names[VARIANTS_MAX + 1] = { NULL };

	for (uint32_t v = 0; v < experiment->variant_count; v++)
		names[v] = experiment->variants[v].name;
	if (command->variant)
		for (k = 0; k < experiment->variant_count; k++)
			if (!strcmp(names[k], command->variant))
				break;
	if (k == experiment->variant_count) {
		const char *near = nearest(command->variant, names);

		return error_set(error,
				 "hitm export: no variant '%.80s', expected one of the "
				 "experiment's%s%s",
				 command->variant, near ? ", such as " : "", near ? near : "");
	}
	return variant_apply(experiment->variants_node, experiment->variants[k].node, setting,
			     error);
}

/* The setting of the variant on the machine. */
static bool make_setting(const struct command *command, struct setting *setting,
			 struct error *error)
{
	struct document *original = load_named("experiments", command->experiment, error);
	struct experiment experiment;
	const char *machine = command->machine;
	bool done = original != NULL;

	*setting = (struct setting){ NULL, NULL };
	if (!done)
		return false;
	setting->experiment = document_copy(original);
	done = experiment_read(&experiment, original, error);
	if (done && !machine)
		machine = experiment.machines->first->text;
	if (done)
		setting->machine = load_named("machines", machine, error);
	done = done && setting->machine &&
	       (setting->experiment || error_set(error, "out of memory")) &&
	       sets_apply(&command->sets, setting, error) &&
	       apply_variant(command, &experiment, setting, error);
	experiment_free(&experiment);
	if (!done)
		setting_free(setting);
	return done;
}

/* ---- writing -------------------------------------------------------------------------------- */

static json_t *results(const struct export *export)
{
	const struct simulation *simulation = export_simulation(export);

	return results_variant(simulation->measure, &simulation->build->memory,
			       simulation->build->operations);
}

static bool write_totals(FILE *out, const struct export *export, struct error *error)
{
	json_t *json = results(export), *value;
	const char *key;

	if (!json)
		return error_set(error, "out of memory");
	json_object_foreach(json_object_get(json, "c2c"), key, value)
		fprintf(out, "perf-c2c.%s: %lld\n", key, (long long)json_integer_value(value));
	json_decref(json);
	return true;
}

static bool write_accesses(FILE *out, struct export *export, const char *form, struct error *error)
{
	const struct trace_object *objects;
	uint32_t count = export_objects(export, &objects);
	struct trace_writer *writer =
		trace_writer_open(out, form, KIND_COMPLETE, objects, count, error);
	struct trace_record record;

	for (uint64_t k = 0; writer && export_record(export, k, &record); k++)
		if (!trace_write(writer, &record, error))
			break;
	trace_writer_close(writer, error);
	return !error->text[0];
}

static bool write_to(FILE *out, struct export *export, const struct command *command,
		     struct error *error)
{
	const char *form = command->form ? command->form : "trace";

	return strcmp(form, "lkp") ? write_accesses(out, export, form, error)
				   : write_totals(out, export, error);
}

static void print_fields(const struct export *export)
{
	json_t *json = results(export), *field;
	size_t k;

	printf("%12s %12s %12s  %s\n", "loads", "stores", "locked", "field");
	json_array_foreach(json_object_get(json, "fields"), k, field)
		printf("%12lld %12lld %12lld  %s.%s\n",
		       (long long)json_integer_value(json_object_get(field, "loads")),
		       (long long)json_integer_value(json_object_get(field, "stores")),
		       (long long)json_integer_value(json_object_get(field, "rmws")),
		       json_string_value(json_object_get(field, "struct")),
		       json_string_value(json_object_get(field, "field")));
	json_decref(json);
}

static bool write_out(struct export *export, const struct command *command, struct error *error)
{
	struct output output;

	if (!strcmp(command->out, "-"))
		return write_to(stdout, export, command, error);
	if (!output_open_path(&output, command->out, error))
		return false;
	write_to(output.file, export, command, error);
	if (!output_close(&output, error))
		return false;
	if (!command->quiet)
		print_fields(export);
	return true;
}

static bool run_export(struct command *command, struct error *error)
{
	struct setting setting;
	struct export *export;
	bool done;

	if (!make_setting(command, &setting, error))
		return false;
	export = export_run(&setting, &command->run, error);
	done = export && write_out(export, command, error);
	export_free(export);
	setting_free(&setting);
	return done && memory_sufficed(error);
}

int cli_export(int argc, char **argv)
{
	struct command command = { .run = { .seed = 1 } };
	struct error error = { "" };

	data_path(command.layouts, sizeof(command.layouts), "configs/layouts");
	command.run.layout_directory = command.layouts;
	if (!read_command(&command, argc, argv, &error) ||
	    (!command.only_help && !run_export(&command, &error))) {
		complain(&error);
		return 2;
	}
	if (command.only_help)
		fputs(help, stdout);
	return 0;
}
