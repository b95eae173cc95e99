/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/writer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_form *const forms[] = { &trace_form_text, &trace_form_binary,
						  &trace_form_perf_script };

const char *const trace_kind_names[KIND_AGGREGATE + 1] = {
	[KIND_UNKNOWN] = "unknown",
	[KIND_COMPLETE] = "complete",
	[KIND_SAMPLED] = "sampled",
	[KIND_AGGREGATE] = "aggregate",
};

static const struct trace_form *find_form(const char *name, struct error *error)
{
	for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
		if (!strcmp(forms[k]->name, name))
			return forms[k];
	error_set(error, "no form '%.40s' to write, expected trace, trace-binary or perf-script",
		  name);
	return NULL;
}

static void writer_free(struct trace_writer *writer)
{
	if (writer->own && writer->form->end)
		writer->form->end(writer);
	free(writer->own);
	free(writer);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

bool trace_name_is_good(struct text name)
{
	static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.-";

	for (uint32_t k = 0; k < name.length; k++)
		if (!memchr(good, name.at[k], sizeof(good) - 1))
			return false;
	return name.length && name.length <= TRACE_TEXT_MOST;
}

bool trace_layout_is_good(struct text layout)
{
	for (uint32_t k = 0; k < layout.length; k++)
		if (is_control(layout.at[k]))
			return false;
	return layout.length && layout.length <= TRACE_TEXT_MOST && layout.at[0] != ' ' &&
	       layout.at[layout.length - 1] != ' ';
}

static bool objects_are_good(const struct trace_object *objects, uint32_t count,
			     struct error *error)
{
	for (uint32_t k = 0; k < count; k++) {
		const char *name = objects[k].name, *layout = objects[k].layout;

		if (!trace_name_is_good((struct text){ name, (uint32_t)strlen(name) }))
			return error_set(error,
					 "object '%.64s': a trace has names of letters, "
					 "digits and _.- only",
					 name);
		if (!trace_layout_is_good((struct text){ layout, (uint32_t)strlen(layout) }))
			return error_set(error, "object '%.64s': bad layout '%.64s'", name, layout);
	}
	return true;
}

/* The text as a line can hold it: `blank` in place of blanks unless it is one, '?' of controls. A lone
 * dash would read as "not known", and is. The copy lies in `room`. */
static struct text clean(struct text text, char blank, char room[TRACE_TEXT_MOST])
{
	uint32_t length;

	while (text.length && *text.at == ' ') {
		text.at++;
		text.length--;
	}
	if (text.length > TRACE_TEXT_MOST)
		text.length = TRACE_TEXT_MOST;
	while (text.length && text.at[text.length - 1] == ' ')
		text.length--;
	for (length = 0; length < text.length; length++) {
		char c = text.at[length];

		room[length] = c == ' ' ? blank : !is_control(c) ? c : blank == ' ' ? '?' : blank;
	}
	if (length == 1 && *room == '-')
		length = 0;
	return length ? (struct text){ room, length } : (struct text){ NULL, 0 };
}

/* ---- writing --------------------------------------------------------------------------------- */

struct trace_writer *trace_writer_open(FILE *out, const char *form, enum trace_kind kind,
				       const struct trace_object *objects, uint32_t object_count,
				       struct error *error)
{
	const struct trace_form *found = find_form(form, error);
	struct trace_writer *writer = found ? calloc(1, sizeof(*writer)) : NULL;

	if (!writer) {
		if (found)
			error_set(error, "out of memory");
		return NULL;
	}
	writer->form = found;
	writer->out = out;
	writer->own = calloc(1, found->size ? found->size : 1);
	if (!writer->own)
		error_set(error, "out of memory");
	else if (objects_are_good(objects, object_count, error) &&
		 found->begin(writer, kind, objects, object_count, error))
		return writer;
	writer_free(writer);
	return NULL;
}

bool trace_write(struct trace_writer *writer, const struct trace_record *record,
		 struct error *error)
{
	char field[TRACE_TEXT_MOST], symbol[TRACE_TEXT_MOST];
	char thread_name[TRACE_TEXT_MOST], event[TRACE_TEXT_MOST];
	struct trace_record cleaned = *record;

	cleaned.field = clean(record->field, '_', field);
	cleaned.symbol = clean(record->symbol, ' ', symbol);
	cleaned.thread_name = clean(record->thread_name, ' ', thread_name);
	cleaned.event = clean(record->event, '_', event);
	if (!writer->form->write(writer, &cleaned, error))
		return false;
	return !ferror(writer->out) || error_set(error, "cannot write the trace");
}

bool trace_writer_close(struct trace_writer *writer, struct error *error)
{
	bool done = true;

	if (!writer)
		return true;
	if (writer->form->finish)
		done = writer->form->finish(writer, error);
	errno = 0;
	if (fflush(writer->out) || ferror(writer->out))
		done = error_set(error, "cannot write the trace%s%s", errno ? ": " : "",
				 errno ? strerror(errno) : "");
	writer_free(writer);
	return done;
}
