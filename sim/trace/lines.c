/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/lines.h"

enum trace_step lines_next(struct trace *trace, struct trace_record *record, struct error *error,
			   lines_take *take)
{
	const struct trace_record fresh = *record;
	struct text line;

	while (input_line(trace->input, &line, error)) {
		*record = fresh;
		if (take(trace, line, record, error))
			return STEP_RECORD;
		if (error->text[0])
			break;
	}
	return error->text[0] ? STEP_FAILED : STEP_END;
}

bool lines_recognise(const unsigned char *head, size_t length, uint32_t most,
		     enum line_verdict (*judge)(struct text line))
{
	const char *at = (const char *)head, *end = at + length;
	uint32_t fit = 0;

	while (at < end && fit < most) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct text line = { at, (uint32_t)((newline ? newline : end) - at) };
		enum line_verdict verdict;

		if (!newline && length == TRACE_HEAD)
			break;
		if (line.length && line.at[line.length - 1] == '\r')
			line.length--;
		verdict = judge(line);
		if (verdict == LINE_DIFFERS)
			return false;
		fit += verdict == LINE_FITS;
		at = newline ? newline + 1 : end;
	}
	return fit;
}

bool scan_gap(struct scan *scan)
{
	const char *from = scan->at;

	scan_blanks(scan);
	return scan->at != from;
}
