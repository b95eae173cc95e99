/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of hitm check that mangles the project's own files: whatever comes of one is read, or
 * refused in one line, in no time. */
#include "check/litmus.h"
#include "check/mangle.h"
#include "cli/check_parts.h"
#include "cli/paths.h"
#include "config/file.h"
#include "layout/layout.h"
#include "machine/machine_file.h"
#include "workload/experiment.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, TEXT_MAX = 1 << 16, FILES_MAX = 1024, BATCH = 500 };

static const char input_name[] = "input";

/* ---- parsers -------------------------------------------------------------------------------- */

struct input {
	const char *text;
	size_t size;
};

static bool read_machine(const struct input *input, struct error *error)
{
	struct document *document = document_parse(input_name, input->text, input->size, error);
	struct machine_config config;
	bool read = document && machine_file_read(document_root(document), &config, error);

	document_free(document);
	return read;
}

/* The only layout there is. */
static struct document *find_layout(const void *context, const char *name, const struct node *at,
				    struct error *error)
{
	const struct input *input = context;

	if (at) {
		node_error(at, error, "no layout '%.40s'", name);
		return NULL;
	}
	return document_parse(input_name, input->text, input->size, error);
}

static bool read_layout(const struct input *input, struct error *error)
{
	struct layout_source source = { find_layout, input };
	struct layout *layout = layout_read(&source, input_name, NULL, error);

	layout_free(layout);
	return layout != NULL;
}

static bool read_experiment(const struct input *input, struct error *error)
{
	struct document *document = document_parse(input_name, input->text, input->size, error);
	struct experiment experiment;
	bool read;

	if (!document)
		return false;
	memset(&experiment, 0, sizeof(experiment));
	read = experiment_read(&experiment, document, error);
	experiment_free(&experiment);
	return read;
}

static bool read_litmus(const struct input *input, struct error *error)
{
	struct litmus *litmus = malloc(sizeof(*litmus));
	bool read = litmus && litmus_read(litmus, input->text, input->size, input_name, error);

	free(litmus);
	return read;
}

static const struct language {
	const char *directory, *ending;
	bool (*read)(const struct input *input, struct error *error);
} languages[] = {
	{ "configs/machines", ".yaml", read_machine },
	{ "configs/layouts", ".yaml", read_layout },
	{ "configs/experiments", ".yaml", read_experiment },
	{ "configs/litmus", ".litmus", read_litmus },
};

enum { LANGUAGES = sizeof(languages) / sizeof(*languages) };

/* ---- what they read ------------------------------------------------------------------------- */

static bool has_ending(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);

	return length > tail && !strcmp(name + length - tail, ending);
}

static void stock_free(struct mangle_stock *stock)
{
	for (size_t k = 0; k < stock->text_count; k++)
		free((void *)(uintptr_t)stock->texts[k].bytes);
	free((void *)(uintptr_t)stock->texts);
}

/* The files of a directory, by name. */
static bool stock_read(const struct language *language, struct mangle_stock *stock,
		       struct error *error)
{
	struct mangle_text *texts = calloc(FILES_MAX, sizeof(*texts));
	char directory[PATH_SIZE], path[PATH_SIZE + 260];
	struct dirent **entries = NULL;
	int found = scandir(data_path(directory, sizeof(directory), language->directory), &entries,
			    NULL, alphasort);

	*stock = (struct mangle_stock){ .texts = texts };
	for (int k = 0; k < found; k++) {
		const char *name = entries[k]->d_name;

		snprintf(path, sizeof(path), "%s/%s", directory, name);
		if (texts && !error->text[0] && has_ending(name, language->ending) &&
		    stock->text_count < FILES_MAX) {
			struct mangle_text *text = &texts[stock->text_count];

			text->bytes = (uint8_t *)file_read(path, 1 << 20, &text->size, error);
			stock->text_count += text->bytes != NULL;
		}
		free(entries[k]);
	}
	free(entries);
	if (!stock->text_count && !error->text[0])
		error_set(error, "%s: no files, expected some that end in %s", directory,
			  language->ending);
	return !error->text[0];
}

/* ---- mangling ------------------------------------------------------------------------------- */

struct tally {
	uint64_t executions, accepted;
	uint32_t wrong;
};

/* One line, which says where. */
static bool is_refusal(const struct error *error)
{
	return !strncmp(error->text, input_name, sizeof(input_name) - 1) &&
	       error->text[sizeof(input_name) - 1] == ':' && !strchr(error->text, '\n');
}

static void mangle_batch(const struct language *language, const struct mangle_stock *stock,
			 uint64_t seed, uint64_t batch, struct tally *tally)
{
	struct random random = random_stream(seed, language->directory, batch);
	uint8_t *text = malloc(TEXT_MAX);

	for (uint32_t k = 0; text && k < BATCH; k++) {
		struct input input = { (const char *)text, mangle(stock, &random, text, TEXT_MAX) };
		struct error error = { "" };
		double begun = check_clock();
		bool accepted = language->read(&input, &error);
		bool slow = check_clock() - begun > 1;

		tally->executions++;
		tally->accepted += accepted;
		if (!slow && (accepted ? !error.text[0] : is_refusal(&error)))
			continue;
		tally->wrong++;
#pragma omp critical
		printf("inputs    %s, seed %llu, batch %llu, input %u: %s\n", language->directory,
		       (unsigned long long)seed, (unsigned long long)batch, k,
		       slow ? "takes more than a second" : error.text);
	}
	tally->wrong += !text;
	free(text);
}

static bool mangle_language(const struct check_run *run, const struct language *language,
			    struct tally *sum)
{
	uint64_t batches = run->effort.mangled / BATCH, executions = 0, accepted = 0;
	struct mangle_stock stock;
	struct error error = { "" };
	uint32_t wrong = 0;

	if (!stock_read(language, &stock, &error)) {
		printf("inputs    %s\n", error.text);
		stock_free(&stock);
		return false;
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : executions, accepted, wrong)
	for (uint64_t k = 0; k < batches; k++) {
		struct tally tally = { .wrong = 0 };

		mangle_batch(language, &stock, run->seed, k, &tally);
		executions += tally.executions;
		accepted += tally.accepted;
		wrong += tally.wrong;
	}
	stock_free(&stock);
	sum->executions += executions;
	sum->accepted += accepted;
	return !wrong;
}

bool check_inputs(const struct check_run *run)
{
	struct tally sum = { .wrong = 0 };
	double begun = check_clock();
	bool right = true;

	for (int k = 0; k < LANGUAGES; k++)
		right &= mangle_language(run, &languages[k], &sum);
	printf("inputs    %llu mangled machines, layouts, experiments and litmus tests: %llu read; "
	       "%s  (%.0f s)\n",
	       (unsigned long long)sum.executions, (unsigned long long)sum.accepted,
	       right ? "the others refused, each in a line" : "WRONG", check_clock() - begun);
	return right;
}
