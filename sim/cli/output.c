/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"
#include "cli/memory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_directories(const char *directory, struct error *error)
{
	char path[OUTPUT_PATH];

	if (snprintf(path, sizeof(path), "%s", directory) >= (int)sizeof(path))
		return error_set(error, "%.100s...: a path too long", directory);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	if (mkdir(path, 0777) && errno != EEXIST)
		return error_set(error, "%s: %s", directory, strerror(errno));
	return true;
}

/* Would a file of this path be new, or take the place of a regular one? */
static bool replaces(const char *path)
{
	struct stat about;

	return stat(path, &about) || S_ISREG(about.st_mode);
}

/* A link's target is what is written. */
static void follow_link(char *path)
{
	char *target = realpath(path, NULL);

	if (target && strlen(target) < OUTPUT_PATH)
		strcpy(path, target);
	free(target);
}

bool output_open(struct output *output, const char *directory, const char *name,
		 struct error *error)
{
	if (!make_directories(directory, error))
		return false;
	if (snprintf(output->path, sizeof(output->path), "%s/%s", directory, name) >= OUTPUT_PATH)
		return error_set(error, "%.100s...: a path too long", directory);
	follow_link(output->path);
	if (replaces(output->path))
		snprintf(output->unfinished, sizeof(output->unfinished), "%s.%ld", output->path,
			 (long)getpid());
	else
		strcpy(output->unfinished, output->path);
	output->file = fopen(output->unfinished, "w");
	return output->file || error_set(error, "%s: %s", output->path, strerror(errno));
}

bool output_open_path(struct output *output, const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	char directory[OUTPUT_PATH];

	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	return output_open(output, directory[0] ? directory : "/", slash ? slash + 1 : path, error);
}

bool output_close(struct output *output, struct error *error)
{
	bool written = !ferror(output->file), apart = strcmp(output->unfinished, output->path);

	if (fclose(output->file) == 0 && written && !error->text[0] &&
	    (!apart || rename(output->unfinished, output->path) == 0))
		return true;
	error_set(error, "%s: %s", output->path, strerror(errno));
	if (apart)
		unlink(output->unfinished);
	return false;
}

void complain(const struct error *error)
{
	struct error memory = { "" };
	const char *text = memory_sufficed(&memory) ? error->text : memory.text;

	fprintf(stderr, "%s%s\n", strchr(text, ':') ? "" : "hitm: ", text);
}

bool output_flush(struct error *error)
{
	bool written = !ferror(stdout);

	if (fflush(stdout) == 0 && written)
		return true;
	return error_set(error, "hitm: standard output: %s", strerror(errno));
}

bool output_json(FILE *file, const json_t *json, struct error *error)
{
	if (json && json_dumpf(json, file, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) == 0)
		fputc('\n', file);
	else if (!ferror(file))
		return error_set(error, "out of memory");
	return true;
}

bool output_format_read(const char *command, const char *text, enum output_format *format,
			struct error *error)
{
	static const char *const names[] = { "text", "json", "csv" };

	for (int k = 0; k < 3; k++)
		if (!strcmp(names[k], text)) {
			*format = (enum output_format)k;
			return true;
		}
	return error_set(error, "hitm %s: no format '%.40s', expected one of: text, json, csv",
			 command, text);
}
