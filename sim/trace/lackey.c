/* SPDX-License-Identifier: GPL-2.0-or-later */
/* valgrind --tool=lackey --trace-mem=yes: "I  ADDRESS,SIZE", and L, S or M for data, after a blank. M is
 * a load and a store of the same bytes by one instruction. One with a lock prefix shows as L and then M,
 * just as a load and an unlocked M would: both are kept. */
#include "trace/formats.h"
#include "trace/lines.h"

enum { RECOGNISED_LINES = 32 };

static bool parse(struct text line, char *letter, struct trace_record *record)
{
	struct scan scan = scan_text(line);
	uint64_t size;

	scan_blanks(&scan);
	if (scan_ended(&scan) || !memchr("ILSM", *scan.at, 4))
		return false;
	*letter = *scan.at++;
	if (!scan_gap(&scan) || !scan_hex(&scan, &record->address) || !scan_char(&scan, ',') ||
	    !scan_decimal(&scan, &size) || !size || size > UINT16_MAX)
		return false;
	scan_blanks(&scan);
	record->size = (uint16_t)size;
	record->known = KNOWN_ADDRESS | KNOWN_SIZE;
	return scan_ended(&scan);
}

/* "==PID== ..." and "--PID-- ..." are valgrind's own; with --trace-superblocks "SB ADDRESS" come in. */
static bool is_message(struct text line)
{
	struct scan scan = scan_text(line);
	uint64_t pid;

	if (scan_word(&scan, "SB "))
		return true;
	return (scan_word(&scan, "==") || scan_word(&scan, "--")) && scan_decimal(&scan, &pid) &&
	       (scan_word(&scan, "==") || scan_word(&scan, "--"));
}

static bool take(struct trace *trace, struct text line, struct trace_record *record,
		 struct error *error)
{
	char letter;

	(void)error;
	if (parse(line, &letter, record)) {
		record->op = letter == 'L'   ? TRACE_LOAD
			     : letter == 'S' ? TRACE_STORE
					     : TRACE_MODIFY;
		if (letter != 'I')
			return true;
		trace_drop(trace, DROP_NOT_DATA);
	} else if (!line.length || is_message(line)) {
		trace_skip(trace, line.length ? SKIP_MESSAGE : SKIP_COMMENT);
	} else {
		trace_skip_unparsed(trace, line);
	}
	return false;
}

static enum trace_step lackey_next(struct trace *trace, struct trace_record *record,
				   struct error *error)
{
	return lines_next(trace, record, error, take);
}

static bool lackey_begin(struct trace *trace, struct error *error)
{
	(void)error;
	trace->summary.kind = KIND_COMPLETE;
	trace_note(trace,
		   "lackey tells neither threads nor times: valgrind runs one thread at a time, "
		   "and lines are in that order");
	trace_note(trace,
		   "in lackey, an instruction with a lock prefix is a load and then a modify of "
		   "one address");
	return true;
}

static enum line_verdict judge(struct text line)
{
	struct trace_record record;
	char letter;

	if (parse(line, &letter, &record))
		return LINE_FITS;
	return !line.length || is_message(line) ? LINE_IGNORED : LINE_DIFFERS;
}

static bool lackey_recognise(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, RECOGNISED_LINES, judge);
}

const struct trace_format trace_format_lackey = {
	.name = "lackey",
	.about = "valgrind --tool=lackey --trace-mem=yes",
	.recognise = lackey_recognise,
	.begin = lackey_begin,
	.next = lackey_next,
};
