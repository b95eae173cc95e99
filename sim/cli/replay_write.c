/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include "trace/writer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Elements of an array, which a trace declares one by one, are NAME-0, NAME-1 ... */
static const char element[] = "-%u";

static struct trace_object *declare(const struct replay_command *command, uint32_t *count,
				    struct error *error)
{
	struct trace_object *objects;
	uint32_t total = 0;

	for (uint32_t k = 0; k < command->given_count; k++)
		total += command->given[k].count;
	objects = calloc(total + 1, sizeof(*objects));
	*count = 0;
	if (!objects)
		error_set(error, "out of memory");
	for (uint32_t k = 0; objects && k < command->given_count; k++)
		for (uint32_t e = 0; e < command->given[k].count; e++) {
			const struct given_object *given = &command->given[k];
			char name[96];
			int end = snprintf(name, sizeof(name), "%s", given->name);

			if (given->count > 1)
				snprintf(name + end, sizeof(name) - (size_t)end, element, e);
			objects[*count] =
				(struct trace_object){ strdup(name), given->layout_name,
						       given->address + e * given->stride };
			if (!objects[(*count)++].name)
				error_set(error, "out of memory");
		}
	return objects;
}

static bool write_records(struct trace *trace, struct trace_writer *writer,
			  const struct replay_command *command, struct error *error)
{
	struct trace_record record;
	enum trace_step step;
	char name[256];
	uint64_t start;

	while ((step = trace_next(trace, &record, error)) == STEP_RECORD) {
		if (!record.field.length && replay_object_name(command, record.address, element,
							       name, sizeof(name), &start))
			record.field = (struct text){ name, (uint32_t)strlen(name) };
		if (!trace_write(writer, &record, error))
			return false;
	}
	return step == STEP_END;
}

/* A second pass, now that the kind is known. */
static void write_all(const struct replay_command *command, const struct tally *tally, FILE *out,
		      struct error *error)
{
	uint32_t count;
	struct trace_object *objects = declare(command, &count, error);
	struct trace *trace =
		error->text[0] ? NULL : trace_open(command->trace, command->format, error);
	struct trace_writer *writer = NULL;

	if (trace)
		writer = trace_writer_open(out, command->form ? command->form : "trace",
					   tally->summary.kind, objects, count, error);
	if (writer) {
		write_records(trace, writer, command, error);
		trace_writer_close(writer, error);
	}
	trace_close(trace);
	for (uint32_t k = 0; objects && k < count; k++)
		free((void *)(uintptr_t)objects[k].name);
	free(objects);
}

static bool is_same(const char *path, const char *other)
{
	struct stat one, two;

	return !stat(path, &one) && !stat(other, &two) && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

bool replay_write(const struct replay_command *command, const struct tally *tally,
		  struct error *error)
{
	struct output output;

	if (is_same(command->trace, command->write))
		return error_set(
			error,
			"hitm replay: --write %s, which is the capture, expected another file",
			command->write);
	if (output_open_path(&output, command->write, error)) {
		write_all(command, tally, output.file, error);
		output_close(&output, error);
	}
	return !error->text[0];
}
