/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures, read one record at a time, whatever their format.
 *
 * A format is recognised by what is in the file, never by its name. Every reader takes what a stranger
 * may hand in: it ends with records or with one line that says what is wrong, in constant memory. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "trace/input.h"
#include "trace/summary.h"

enum { TRACE_THREADS_MAX = 1 << 16, TRACE_CPUS_MAX = 1 << 16, TRACE_HEAD = 64 << 10 };

enum trace_step { STEP_RECORD, STEP_END, STEP_FAILED };

struct trace;

/* ---- for those who read captures ------------------------------------------------------------ */

/* Opens a capture and recognises its format, unless `format` names one. NULL with *error set: what
 * no format fits, and what several fit, is refused with the names. */
struct trace *trace_open(const char *path, const char *format, struct error *error);
struct trace *trace_open_memory(const char *name, const void *bytes, size_t length,
				const char *format, struct error *error);
void trace_close(struct trace *trace);

/* The next record that can be used. What it points to lasts until the next call. STEP_FAILED comes
 * with *error set. So does STEP_END where there was no record that can be used and the reader knows
 * why: then the summary is complete all the same. */
enum trace_step trace_next(struct trace *trace, struct trace_record *record, struct error *error);

/* What has been read so far; all of it once trace_next has said STEP_END. Lasts as long as the
 * trace. */
const struct trace_summary *trace_summary(const struct trace *trace);

/* An object that the capture itself declares (the native forms do); false beyond the last. */
struct trace_object {
	const char *name, *layout;
	uint64_t address;
};
bool trace_object(const struct trace *trace, uint32_t k, struct trace_object *object);

/* ---- for readers of a format ---------------------------------------------------------------- */

struct trace_format {
	const char *name;  /* as --from takes it: "perf-script" */
	const char *about; /* one line: what makes such files */
	size_t size;       /* of the reader's state, zeroed at `own` */
	/* Are these the first bytes (at most TRACE_HEAD; the whole file if fewer) of such a file? Of
	 * two formats that both say so the user chooses, so it is to be sure. */
	bool (*recognise)(const unsigned char *head, size_t length);
	/* At the start of the input. NULL: nothing to do. */
	bool (*begin)(struct trace *trace, struct error *error);
	/* Fills *record, which comes zeroed but for weight and cpus (1), and returns STEP_RECORD; or
	 * says that there are no more. Each record of the file is either returned or dropped, once:
	 * trace_drop. */
	enum trace_step (*next)(struct trace *trace, struct trace_record *record,
				struct error *error);
	void (*end)(struct trace *trace); /* frees what the state owns; NULL: nothing */
	/* Of a format that is recognised but not read: what it is and what to hand in instead, to
	 * follow "FILE: ". NULL for formats that are read. */
	const char *refusal;
};

struct trace {
	const struct trace_format *format;
	struct input *input;
	struct trace_summary summary;
	void *own;               /* the reader's state */
	struct trace_sets *sets; /* threads and cpus met; for trace.c */
};

/* Each format's entry; the list of all is in formats.c. */
extern const struct trace_format *const trace_formats[]; /* ends with NULL */
/* The format of this name, or NULL. */
const struct trace_format *trace_format_find(const char *name);

/* A record was there and is not used, or something that is no record was passed over. */
static inline void trace_drop(struct trace *trace, enum trace_drop why)
{
	trace->summary.dropped[why]++;
}
static inline void trace_skip(struct trace *trace, enum trace_skip what)
{
	trace->summary.skipped[what]++;
}
/* A line that fits nothing: counted, and the first one kept. */
void trace_skip_unparsed(struct trace *trace, struct text line);
/* A sentence for the summary, such as what cannot be known. At most SUMMARY_NOTES; the same again is
 * kept once. */
void trace_note(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What was to be complete is not. trace_next sees to it where records were lost. */
void trace_incomplete(struct trace *trace);
/* An object that the capture declares; strings are copied. False with *error set: too many. */
bool trace_declare(struct trace *trace, const char *name, const char *layout, uint64_t address,
		   struct error *error);

#endif
