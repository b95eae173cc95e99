/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run_machines.h"
#include "cli/memory.h"
#include "cli/paths.h"
#include "machine/machine_file.h"
#include "measure/report.h"
#include "workload/variant.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static bool write_results(const struct run_command *command, const json_t *results,
			  struct error *error)
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
	if (command->also)
		command->also(output.file, results);
	return output_close(&output, error);
}

static void print_results(const struct run_command *command, const json_t *results)
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
		if (command->also && !command->only_table)
			command->also(stdout, results);
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
			 const struct run_command *command, struct error *error)
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

static bool run_ablations(const struct setting *setting, const struct run_command *command,
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
		error_set(error, "no machine '%.100s'; `hitm list machines` shows those there are",
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

static bool run_setting(struct setting *setting, const struct run_command *command,
			struct error *error)
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
			const struct run_command *command, struct error *error)
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

bool run_machines(const struct document *original, const struct run_command *command,
		  struct error *error)
{
	const struct node *machines = node_get(document_root(original), "machines");
	bool done;

	if (command->machine)
		return run_machine(original, command->machine, NULL, command, error);
	if (!machines || machines->kind != NODE_LIST || !machines->first)
		return node_error(machines ? machines : document_root(original), error,
				  "an experiment without 'machines', expected a list of names");
	done = check_machines(machines, error);
	for (const struct node *name = machines->first; done && name; name = name->next)
		done = run_machine(original, name->text, name, command, error);
	return done;
}
