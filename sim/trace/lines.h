/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What readers of text with one record a line have in common. */
#ifndef TRACE_LINES_H
#define TRACE_LINES_H

#include "trace/scan.h"
#include "trace/trace.h"

/* Takes a line apart. True: *record is to be returned. False: the line has been counted as what it is,
 * by trace_drop or trace_skip, or *error is set. */
typedef bool lines_take(struct trace *trace, struct text line, struct trace_record *record,
			struct error *error);

/* struct trace_format's next, line by line. */
enum trace_step lines_next(struct trace *trace, struct trace_record *record, struct error *error,
			   lines_take *take);

enum line_verdict { LINE_FITS, LINE_DIFFERS, LINE_IGNORED };

/* Is there a line that fits, and none that differs, among the first `most` that are not ignored? A line
 * that the end of a full head cuts off is not looked at. */
bool lines_recognise(const unsigned char *head, size_t length, uint32_t most,
		     enum line_verdict (*judge)(struct text line));

/* Blanks, one at least. */
bool scan_gap(struct scan *scan);

#endif
