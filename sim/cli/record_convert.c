/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record_convert.h"
#include "cli/output.h"
#include "cli/record_run.h"
#include "trace/writer.h"
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

static const struct form {
	const char *name, *suffix;
} forms[] = {
	{ "trace", ".trace" },
	{ "trace-binary", ".trace.zst" },
	{ "perf-script", ".txt" },
};

static const struct form *find_form(const char *name)
{
	for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
		if (!strcmp(forms[k].name, name))
			return &forms[k];
	return NULL;
}

bool record_form_check(const char *form, struct error *error)
{
	return find_form(form) ||
	       error_set(error,
			 "hitm record: --to '%.40s', expected trace, trace-binary or perf-script",
			 form);
}

/* The field that a breakpoint watched, or a part of it. */
static void name_field(const struct record_places *places, struct trace_record *record)
{
	for (uint32_t k = 0; k < places->count; k++) {
		const struct capture_place *place = &places->all[k];

		if (record->address - place->address < place->size)
			record->field =
				(struct text){ place->name, (uint32_t)strcspn(place->name, "+") };
	}
}

/* A breakpoint tells that memory was written, and its ip is that of the next instruction. */
static void tell_write(const struct code *code, struct trace_record *record)
{
	static const enum trace_op ops[] = { [CODE_UNKNOWN] = TRACE_STORE,
					     [CODE_STORE] = TRACE_STORE,
					     [CODE_MODIFY] = TRACE_MODIFY,
					     [CODE_ATOMIC] = TRACE_ATOMIC };

	if (record->op == TRACE_STORE && record->known & KNOWN_IP)
		record->op = (uint8_t)ops[code_write_at(code, record->ip)];
}

/* Passes over all records, writing them if there is a writer. */
static bool pass(struct trace *trace, const struct record_places *places, const struct code *code,
		 struct trace_writer *writer, struct error *error)
{
	struct trace_record record;
	enum trace_step step;

	while ((step = trace_next(trace, &record, error)) == STEP_RECORD) {
		name_field(places, &record);
		if (code)
			tell_write(code, &record);
		if (writer && !trace_write(writer, &record, error))
			return false;
	}
	return step == STEP_END;
}

/* Whether a capture is complete shows at its end, and is said at the start of a trace. */
static bool find_kind(const char *path, const char *format, const struct record_places *places,
		      enum trace_kind *kind, struct error *error)
{
	struct trace *trace = trace_open(path, format, error);
	bool done = trace && pass(trace, places, NULL, NULL, error);

	if (done) {
		*kind = trace_summary(trace)->kind;
		summary_print(stdout, trace_summary(trace));
		if (!trace_summary(trace)->used)
			puts("  note: no access in it: what was watched was not used");
	}
	trace_close(trace);
	return done;
}

static bool write_trace(FILE *out, const char *path, const char *format,
			const struct record_places *places, const struct code *code,
			const char *form, struct error *error)
{
	enum trace_kind kind = KIND_UNKNOWN;
	struct trace_writer *writer;
	struct trace *trace;
	bool done;

	if (!find_kind(path, format, places, &kind, error))
		return false;
	writer = trace_writer_open(out, form, kind, places->objects, places->object_count, error);
	trace = writer ? trace_open(path, format, error) : NULL;
	done = trace && pass(trace, places, code, writer, error);
	trace_close(trace);
	return trace_writer_close(writer, error) && done;
}

/* DIRECTORY and NAME of FILE with a suffix. */
static void beside(const char *file, const char *suffix, char *directory, char *name)
{
	const char *slash = strrchr(file, '/');

	snprintf(directory, PATH_SIZE, "%.*s", slash ? (int)(slash - file + 1) : 1,
		 slash ? file : ".");
	snprintf(name, PATH_SIZE, "%s%s", slash ? slash + 1 : file, suffix);
}

bool record_convert(const struct capture_run *run, const struct record_places *places,
		    const struct code *code, const char *form, struct error *error)
{
	char directory[PATH_SIZE], name[PATH_SIZE], decoded[PATH_SIZE + 8];
	const char *path = run->out, *format = "perf-data";
	struct output output;
	bool done;

	if (run->decode.count) {
		snprintf(decoded, sizeof(decoded), "%s.txt", run->out);
		path = decoded;
		format = "perf-script";
		if (!record_decode(run, decoded, error))
			return false;
	}
	beside(run->out, find_form(form)->suffix, directory, name);
	if (!output_open(&output, directory, name, error))
		return false;
	done = write_trace(output.file, path, format, places, code, form, error);
	done = output_close(&output, error) && done;
	if (done)
		printf("wrote %s%s\n", run->out, find_form(form)->suffix);
	return done;
}
