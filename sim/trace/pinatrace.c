/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pinatrace tool of Intel's Pin: "0xIP: R 0xADDRESS [SIZE [0xVALUE]]", comments after '#', and
 * "#eof" where the program ended by itself. */
#include "trace/formats.h"
#include "trace/lines.h"

enum { RECOGNISED_LINES = 32 };

struct pinatrace {
	bool finished;
};

/* The size may lack; what follows it, the value, is passed over. */
static bool parse(struct text line, char *letter, struct trace_record *record)
{
	struct scan scan = scan_text(line);
	uint64_t size;

	if (!scan_word(&scan, "0x") || !scan_hex(&scan, &record->ip) || !scan_char(&scan, ':') ||
	    !scan_gap(&scan) || scan_ended(&scan) || !memchr("RWP", *scan.at, 3))
		return false;
	*letter = *scan.at++;
	if (!scan_gap(&scan) || !scan_word(&scan, "0x") || !scan_hex(&scan, &record->address))
		return false;
	record->known = KNOWN_ADDRESS | KNOWN_IP;
	if (!scan_gap(&scan) || scan_ended(&scan) || scan_word(&scan, "0x"))
		return scan_ended(&scan) || scan.at[-1] == 'x';
	if (!scan_decimal(&scan, &size) || !size || size > UINT16_MAX)
		return false;
	record->size = (uint16_t)size;
	record->known |= KNOWN_SIZE;
	return scan_gap(&scan) || scan_ended(&scan);
}

static bool take(struct trace *trace, struct text line, struct trace_record *record,
		 struct error *error)
{
	struct pinatrace *own = trace->own;
	char letter;

	(void)error;
	if (parse(line, &letter, record)) {
		record->op = letter == 'R' ? TRACE_LOAD : TRACE_STORE;
		if (letter != 'P')
			return true;
		trace_drop(trace, DROP_PREFETCH);
	} else if (!line.length || line.at[0] == '#') {
		own->finished = own->finished || text_is(line, "#eof");
		trace_skip(trace, SKIP_COMMENT);
	} else {
		trace_skip_unparsed(trace, line);
	}
	return false;
}

static enum trace_step pinatrace_next(struct trace *trace, struct trace_record *record,
				      struct error *error)
{
	const struct pinatrace *own = trace->own;
	enum trace_step step = lines_next(trace, record, error, take);

	if (step == STEP_END && !own->finished)
		trace_note(trace,
			   "no #eof at the end: the traced program was cut off, or the file was");
	return step;
}

static bool pinatrace_begin(struct trace *trace, struct error *error)
{
	(void)error;
	trace->summary.kind = KIND_COMPLETE;
	trace_note(trace,
		   "pinatrace tells neither threads nor times, and locked instructions as a load "
		   "and a store");
	return true;
}

static enum line_verdict judge(struct text line)
{
	struct trace_record record;
	char letter;

	if (!line.length || line.at[0] == '#')
		return LINE_IGNORED;
	return parse(line, &letter, &record) ? LINE_FITS : LINE_DIFFERS;
}

static bool pinatrace_recognise(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, RECOGNISED_LINES, judge);
}

const struct trace_format trace_format_pinatrace = {
	.name = "pinatrace",
	.about = "the pinatrace tool of Intel's Pin",
	.size = sizeof(struct pinatrace),
	.recognise = pinatrace_recognise,
	.begin = pinatrace_begin,
	.next = pinatrace_next,
};
