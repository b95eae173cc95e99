/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces, written one record at a time: in hitm's own two forms, and as perf script prints them. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "trace/trace.h"
#include <stdio.h>

/* Bytes of a field, a symbol, a name or a layout; what is longer is cut. */
enum { TRACE_TEXT_MOST = 1023 };

struct trace_writer;

/* ---- for those who write traces ------------------------------------------------------------- */

/* Starts a trace on `out`, which stays the caller's, in the form "trace", "trace-binary" or
 * "perf-script". The last has no place for kind, objects, fields and sizes. Of an object, an address
 * of 0 is not known. NULL with *error set. */
struct trace_writer *trace_writer_open(FILE *out, const char *form, enum trace_kind kind,
				       const struct trace_object *objects, uint32_t object_count,
				       struct error *error);

/* Adds a record. Characters that would break a line are replaced: by '_' in a field, by '?' elsewhere.
 * False with *error set, where it cannot be written, or the form cannot say it: perf-script
 * needs an address, and one CPU. */
bool trace_write(struct trace_writer *writer, const struct trace_record *record,
		 struct error *error);

/* Ends the trace, flushes what `out` holds, and frees the writer; NULL: nothing. False with *error set
 * where not all could be written. */
bool trace_writer_close(struct trace_writer *writer, struct error *error);

/* ---- for those who write a form ------------------------------------------------------------- */

struct trace_form {
	const char *name;
	size_t size; /* of the state, zeroed at `own` */
	bool (*begin)(struct trace_writer *writer, enum trace_kind kind,
		      const struct trace_object *objects, uint32_t object_count,
		      struct error *error);
	/* The record's texts hold no control characters, and no blanks at their ends. */
	bool (*write)(struct trace_writer *writer, const struct trace_record *record,
		      struct error *error);
	/* What is owed at the end; NULL: nothing. */
	bool (*finish)(struct trace_writer *writer, struct error *error);
	void (*end)(struct trace_writer *writer); /* frees what the state owns; NULL: nothing */
};

struct trace_writer {
	const struct trace_form *form;
	FILE *out;
	void *own; /* the form's state */
};

extern const struct trace_form trace_form_text, trace_form_binary, trace_form_perf_script;

/* What an object may be called, and where its layout is, in either form: word characters, dots and
 * dashes; and a line without blanks at its ends. */
bool trace_name_is_good(struct text name);
bool trace_layout_is_good(struct text layout);

/* Words of the kinds, as the text form has them. */
extern const char *const trace_kind_names[KIND_AGGREGATE + 1];

#endif
