/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces of the cache simulator Dinero, III and IV: "LABEL ADDRESS [SIZE]", all hexadecimal, with or
 * without 0x; what follows is a comment, as is what follows an address after a digit if it is more
 * than a size. Labels of "din": 0 read, 1 write, 2 instruction, 3 escape, 4 flush; of "xdin": r, w, i,
 * m (any other access), c (copy back), v (invalidate). */
#include "trace/din.h"
#include "trace/formats.h"
#include "trace/lines.h"

bool din_parse(struct text line, struct din_line *din)
{
	struct scan scan = scan_text(line), after;
	bool letter;

	*din = (struct din_line){ 0 };
	scan_blanks(&scan);
	if (scan_ended(&scan) || !memchr("01234rwimcv", *scan.at, 11))
		return false;
	din->label = *scan.at++;
	letter = din->label >= 'a';
	if (!scan_gap(&scan))
		return false;
	din->prefixed = scan.end - scan.at > 2 && (scan.at[1] | 0x20) == 'x';
	if (!scan_hex(&scan, &din->address))
		return false;
	if (!scan_gap(&scan))
		return scan_ended(&scan);
	after = scan;
	if (!scan_hex(&after, &din->size) || !(scan_ended(&after) || (letter && scan_gap(&after))))
		din->size = 0;
	din->commented = !scan_ended(din->size ? &after : &scan);
	return true;
}

static bool take(struct trace *trace, struct text line, struct trace_record *record,
		 struct error *error)
{
	static const struct {
		char label;
		enum trace_op op;
	} accesses[] = { { '0', TRACE_LOAD },
			 { '1', TRACE_STORE },
			 { 'r', TRACE_LOAD },
			 { 'w', TRACE_STORE },
			 { 'm', TRACE_ACCESS } };
	struct din_line din;

	(void)error;
	if (!din_parse(line, &din)) {
		if (line.length)
			trace_skip_unparsed(trace, line);
		else
			trace_skip(trace, SKIP_COMMENT);
		return false;
	}
	for (size_t k = 0; k < sizeof(accesses) / sizeof(*accesses); k++) {
		if (accesses[k].label != din.label)
			continue;
		record->op = (uint8_t)accesses[k].op;
		record->address = din.address;
		record->known = KNOWN_ADDRESS;
		if (din.size && din.size <= UINT16_MAX) {
			record->size = (uint16_t)din.size;
			record->known |= KNOWN_SIZE;
		}
		return true;
	}
	trace_drop(trace, DROP_NOT_DATA);
	return false;
}

static enum trace_step din_next(struct trace *trace, struct trace_record *record,
				struct error *error)
{
	return lines_next(trace, record, error, take);
}

static bool din_begin(struct trace *trace, struct error *error)
{
	(void)error;
	trace->summary.kind = KIND_COMPLETE;
	trace_note(trace, "din tells neither threads nor times nor locked instructions");
	return true;
}

/* With letters there has to be a size. Comments and, after digits, 0x are what other programs write:
 * theirs until --from says otherwise. */
static enum line_verdict judge(struct text line)
{
	struct din_line din;

	if (!line.length)
		return LINE_IGNORED;
	if (!din_parse(line, &din) || din.commented)
		return LINE_DIFFERS;
	return (din.label >= 'a' ? din.size != 0 : !din.prefixed) ? LINE_FITS : LINE_DIFFERS;
}

static bool din_recognise(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, UINT32_MAX, judge);
}

const struct trace_format trace_format_din = {
	.name = "din",
	.about = "Dinero's din and xdin: a label and an address a line",
	.recognise = din_recognise,
	.begin = din_begin,
	.next = din_next,
};
