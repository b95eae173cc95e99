/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/list.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "config/schema.h"
#include "trace/formats.h"
#include "workload/workload.h"
#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_DONE = 0, STATUS_REFUSED = 2, PATH_SIZE = 4096 };

static const char help[] =
	"usage: hitm list [machines|layouts|models|experiments|formats]\n"
	"\n"
	"Lists what can be named, by name, with a line about each; without an "
	"argument all kinds.\n"
	"A model is what `workload: {model: NAME}` of an experiment names; the "
	"formats\n"
	"are those of captures that hitm replay reads; the others are files below configs/.\n"
	"\n"
	"  -h, --help  this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage, or a file that cannot be read.\n";

/* A name, and the line about it; both are the entry's own. */
struct entry {
	char *name, *about;
};

struct entries {
	struct entry *all;
	size_t count;
};

static bool entries_add(struct entries *entries, const char *name, const char *about,
			struct error *error)
{
	struct entry *all = reallocarray(entries->all, entries->count + 1, sizeof(*all));
	struct entry entry = { strdup(name), strdup(about) };

	if (all)
		entries->all = all;
	if (!all || !entry.name || !entry.about) {
		free(entry.name);
		free(entry.about);
		return error_set(error, "out of memory");
	}
	all[entries->count++] = entry;
	return true;
}

static void entries_free(struct entries *entries)
{
	for (size_t k = 0; k < entries->count; k++) {
		free(entries->all[k].name);
		free(entries->all[k].about);
	}
	free(entries->all);
}

static int entry_compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static bool list_models(struct entries *entries, struct error *error)
{
	for (const struct workload_model *const *model = workload_models(); *model; model++)
		if (!entries_add(entries, (*model)->name, (*model)->about, error))
			return false;
	return true;
}

static bool list_formats(struct entries *entries, struct error *error)
{
	for (int k = 0; trace_formats[k]; k++)
		if (!trace_formats[k]->refusal &&
		    !entries_add(entries, trace_formats[k]->name, trace_formats[k]->about, error))
			return false;
	return true;
}

static const struct kind {
	const char *name;
	const char *title, *about; /* keys of its files: what they are, and the line about it */
	const char *before;        /* the line */
	bool (*list)(struct entries *entries, struct error *error); /* instead of files */
} kinds[] = {
	{ "machines", "machine", "about", "", NULL },
	{ "layouts", "layout", "struct", "struct ", NULL },
	{ "models", NULL, NULL, NULL, list_models },
	{ "experiments", "experiment", "about", "", NULL },
	{ "formats", NULL, NULL, NULL, list_formats },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static bool list_file(const struct kind *kind, const char *directory, const char *file,
		      struct entries *entries, struct error *error)
{
	char path[PATH_SIZE + 256], line[512], name[256];
	struct document *document;
	const struct node *root, *about;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	snprintf(name, sizeof(name), "%.*s", (int)strlen(file) - 5, file);
	document = document_load(path, error);
	if (!document)
		return false;
	root = document_root(document);
	about = node_get(root, kind->about);
	if (!node_get(root, kind->title)) {
		done = node_error(root, error, "key '%s' is missing, expected it here",
				  kind->title);
	} else {
		snprintf(line, sizeof(line), "%s%s", kind->before,
			 about && about->kind == NODE_SCALAR ? about->text : "");
		done = entries_add(entries, name, line, error);
	}
	document_free(document);
	return done;
}

/* Files that cannot be read are told of and left out. */
static bool list_files(const struct kind *kind, struct entries *entries, struct error *error)
{
	char directory[PATH_SIZE];
	struct dirent **files;
	int count;
	bool sound = true;

	count = config_files(kind->name, directory, sizeof(directory), &files);
	if (count < 0)
		return error_set(error, "%s: %m", directory);
	for (int k = 0; k < count; k++) {
		struct error bad = { "" };

		if (!list_file(kind, directory, files[k]->d_name, entries, &bad)) {
			complain(&bad);
			sound = false;
		}
		free(files[k]);
	}
	free(files);
	return sound;
}

/* ---- the command ---------------------------------------------------------------------------- */

static void print(const struct entries *entries, const char *heading)
{
	int width = 0;

	if (heading)
		printf("%s:\n", heading);
	for (size_t k = 0; k < entries->count; k++)
		if ((int)strlen(entries->all[k].name) > width)
			width = (int)strlen(entries->all[k].name);
	for (size_t k = 0; k < entries->count; k++)
		printf("%s%-*s  %s\n", heading ? "  " : "", width, entries->all[k].name,
		       entries->all[k].about);
}

static bool list(const struct kind *kind, bool with_heading, struct error *error)
{
	struct entries entries = { 0 };
	bool done = kind->list ? kind->list(&entries, error) : list_files(kind, &entries, error);

	if (entries.count)
		qsort(entries.all, entries.count, sizeof(*entries.all), entry_compare);
	print(&entries, with_heading ? kind->name : NULL);
	entries_free(&entries);
	return done;
}

static const struct kind *find_kind(const char *name, struct error *error)
{
	const char *names[KINDS + 1] = { NULL }, *near;

	for (int k = 0; k < KINDS; k++) {
		if (!strcmp(kinds[k].name, name))
			return &kinds[k];
		names[k] = kinds[k].name;
	}
	near = nearest(name, names);
	error_set(error,
		  "hitm list: no kind '%.40s', %s%s%sexpected one of: machines, layouts, models, "
		  "experiments, formats",
		  name, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
	return NULL;
}

static bool list_all(struct error *error)
{
	bool done = true;

	for (int k = 0; k < KINDS; k++) {
		if (k)
			putchar('\n');
		done &= list(&kinds[k], true, error);
	}
	return done;
}

static bool command(int argc, char **argv, struct error *error)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	const struct kind *kind;
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (option != 'h')
			return error_set(
				error,
				"hitm list: unknown option %s; hitm list -h shows those it has",
				argv[optind - 1]);
		fputs(help, stdout);
		return true;
	}
	if (argc - optind > 1)
		return error_set(
			error, "hitm list: at most one kind was expected; hitm list -h shows how");
	if (argc == optind)
		return list_all(error);
	kind = find_kind(argv[optind], error);
	return kind && list(kind, false, error);
}

int cli_list(int argc, char **argv)
{
	struct error error = { "" };
	bool done = command(argc, argv, &error);

	if (error.text[0])
		complain(&error);
	return done ? STATUS_DONE : STATUS_REFUSED;
}
