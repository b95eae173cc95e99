/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm's own form of a trace, as text:
 *
 *     # hitm-trace 1
 *     # kind complete
 *     # object root page_counter-6.0-rc1 0x7f0000
 *     12034 3 1712 R 0x7f0010 8 1 root.usage hitm_local 480 0x401260 try_charge
 *
 * A dash is what is not known; columns after the weight may be left out from the right. */
#include "trace/formats.h"
#include "trace/scan.h"
#include "trace/writer.h"
#include <inttypes.h>

static const char magic[] = "# hitm-trace ";

enum { VERSION = 1 };

/* ---- columns -------------------------------------------------------------------------------- */

static bool take_time(struct scan *scan, struct trace_record *record)
{
	record->known |= KNOWN_TIME;
	return scan_decimal(scan, &record->time);
}

static bool take_number(struct scan *scan, uint64_t low, uint64_t high, uint64_t *value)
{
	return scan_decimal(scan, value) && *value >= low && *value <= high;
}

static bool take_cpu(struct scan *scan, struct trace_record *record)
{
	bool together = scan_char(scan, 'x');
	uint64_t value;

	if (!take_number(scan, together, together ? TRACE_CPUS_MAX : TRACE_CPUS_MAX - 1, &value))
		return false;
	if (together) {
		record->cpus = (uint32_t)value;
	} else {
		record->cpu = (uint32_t)value;
		record->known |= KNOWN_CPU;
	}
	return true;
}

static bool take_tid(struct scan *scan, struct trace_record *record)
{
	uint64_t value;

	if (!take_number(scan, 0, UINT32_MAX, &value))
		return false;
	if (scan_char(scan, '/')) {
		record->pid = (uint32_t)value;
		record->known |= KNOWN_PID;
		if (scan_char(scan, '-'))
			return true;
		if (!take_number(scan, 0, UINT32_MAX, &value))
			return false;
	}
	record->tid = (uint32_t)value;
	record->known |= KNOWN_TID;
	return true;
}

static bool take_op(struct scan *scan, struct trace_record *record)
{
	const char *letter = memchr(trace_op_letters, *scan->at, TRACE_OPS);

	if (!letter)
		return false;
	record->op = (uint8_t)(letter - trace_op_letters);
	scan->at++;
	return true;
}

static bool take_hex(struct scan *scan, uint64_t *value)
{
	return scan->end - scan->at > 2 && !memcmp(scan->at, "0x", 2) && scan_hex(scan, value);
}

static bool take_address(struct scan *scan, struct trace_record *record)
{
	record->known |= KNOWN_ADDRESS;
	return take_hex(scan, &record->address);
}

static bool take_size(struct scan *scan, struct trace_record *record)
{
	uint64_t value;

	if (!take_number(scan, 1, UINT16_MAX, &value))
		return false;
	record->size = (uint16_t)value;
	record->known |= KNOWN_SIZE;
	return true;
}

static bool take_weight(struct scan *scan, struct trace_record *record)
{
	return take_number(scan, 1, UINT64_MAX, &record->weight);
}

static bool take_field(struct scan *scan, struct trace_record *record)
{
	return scan_token(scan, &record->field);
}

static bool take_source(struct scan *scan, struct trace_record *record)
{
	struct text word;

	scan_token(scan, &word);
	for (int source = 0; source < SOURCES; source++)
		if (text_is(word, trace_source_names[source])) {
			record->source = (uint8_t)source;
			return true;
		}
	return false;
}

static bool take_latency(struct scan *scan, struct trace_record *record)
{
	uint64_t value;

	if (!take_number(scan, 0, UINT32_MAX, &value))
		return false;
	record->latency = (uint32_t)value;
	record->known |= KNOWN_LATENCY;
	return true;
}

static bool take_ip(struct scan *scan, struct trace_record *record)
{
	record->known |= KNOWN_IP;
	return take_hex(scan, &record->ip);
}

static const struct column {
	const char *name, *expected;
	bool (*take)(struct scan *scan, struct trace_record *record);
	bool may_lack; /* with all that follow */
} columns[] = {
	{ "time", "ns or -", take_time, false },
	{ "cpu", "a CPU's number, xN for N CPUs together, or -", take_cpu, false },
	{ "thread", "TID, PID/TID or -", take_tid, false },
	{ "operation", "R, W, A, M or ?", take_op, false },
	{ "address", "0x and hexadecimal digits, or -", take_address, false },
	{ "size", "1 to 65535 bytes, or -", take_size, false },
	{ "weight", "how many accesses this one stands for, at least 1", take_weight, false },
	{ "field", "OBJECT.FIELD or -", take_field, true },
	{ "source", "l1, llc, hitm_local, ... or -", take_source, true },
	{ "latency", "core cycles or -", take_latency, true },
	{ "instruction", "0x and hexadecimal digits, or -", take_ip, true },
};

enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* ---- reading -------------------------------------------------------------------------------- */

static bool at_blank(const struct scan *scan)
{
	return scan_ended(scan) || *scan->at == ' ' || *scan->at == '\t';
}

static bool scan_dash(struct scan *scan)
{
	struct scan ahead = *scan;

	if (!scan_char(&ahead, '-') || !at_blank(&ahead))
		return false;
	*scan = ahead;
	return true;
}

/* The symbol, which may hold blanks, but not at its ends. */
static struct text rest_of(struct scan scan)
{
	scan_blanks(&scan);
	while (!scan_ended(&scan) && (scan.end[-1] == ' ' || scan.end[-1] == '\t'))
		scan.end--;
	if (scan.end - scan.at == 1 && *scan.at == '-')
		scan.at++;
	return (struct text){ scan.at, (uint32_t)(scan.end - scan.at) };
}

static bool parse_columns(const struct input *input, struct text line, struct trace_record *record,
			  struct error *error)
{
	struct scan scan = scan_text(line);

	record->op = TRACE_ACCESS;
	for (const struct column *column = columns; column < columns + COLUMNS; column++) {
		unsigned place;
		bool missing;

		scan_blanks(&scan);
		place = (unsigned)(scan.at - line.at) + 1;
		missing = scan_ended(&scan);
		if (missing && column->may_lack)
			return true;
		if (!missing && scan_dash(&scan))
			continue;
		if (missing || !column->take(&scan, record) || !at_blank(&scan))
			return input_line_error(input, place, error, "%s %s, expected %s",
						missing ? "no" : "bad", column->name,
						column->expected);
	}
	record->symbol = rest_of(scan);
	return true;
}

/* NAME LAYOUT 0xADDRESS; the layout may be a path with blanks in it. */
static bool parse_object(struct trace *trace, struct text line, struct scan scan,
			 struct error *error)
{
	char name_room[TRACE_TEXT_MOST + 1], layout_room[TRACE_TEXT_MOST + 1];
	struct text name, layout;
	const char *last = scan.end;
	uint64_t address = 0;

	scan_blanks(&scan);
	if (!scan_token(&scan, &name) || !trace_name_is_good(name))
		return input_line_error(trace->input, (unsigned)(name.at - line.at) + 1, error,
					"bad name of an object, expected letters, digits and _.-");
	scan_blanks(&scan);
	while (last > scan.at && last[-1] != ' ' && last[-1] != '\t')
		last--;
	layout = (struct text){ scan.at, (uint32_t)(last - scan.at) };
	while (layout.length &&
	       (layout.at[layout.length - 1] == ' ' || layout.at[layout.length - 1] == '\t'))
		layout.length--;
	if (!trace_layout_is_good(layout))
		return input_line_error(trace->input, (unsigned)(scan.at - line.at) + 1, error,
					"bad layout of an object, expected a name or a path");
	scan.at = last;
	if (!scan_dash(&scan) && !(take_hex(&scan, &address) && scan_ended(&scan)))
		return input_line_error(
			trace->input, (unsigned)(last - line.at) + 1, error,
			"bad address of an object, expected 0x and hexadecimal digits, or -");
	snprintf(name_room, sizeof(name_room), "%.*s", (int)name.length, name.at);
	snprintf(layout_room, sizeof(layout_room), "%.*s", (int)layout.length, layout.at);
	return trace_declare(trace, name_room, layout_room, address, error);
}

static bool parse_kind(struct trace *trace, struct text line, struct scan scan, struct error *error)
{
	struct text word;

	scan_blanks(&scan);
	scan_token(&scan, &word);
	for (int kind = KIND_UNKNOWN; kind <= KIND_AGGREGATE; kind++)
		if (text_is(word, trace_kind_names[kind])) {
			trace->summary.kind = (enum trace_kind)kind;
			return true;
		}
	return input_line_error(trace->input, (unsigned)(word.at - line.at) + 1, error,
				"bad kind, expected complete, sampled, aggregate or unknown");
}

static const struct heading {
	const char *key;
	bool (*parse)(struct trace *trace, struct text line, struct scan scan, struct error *error);
} headings[] = { { "kind", parse_kind }, { "object", parse_object } };

/* What a heading says of itself, or NULL: a comment. `*scan` is left after its key. */
static const struct heading *heading_of(struct scan *scan)
{
	struct text key;

	scan_char(scan, '#');
	scan_blanks(scan);
	scan_token(scan, &key);
	for (size_t k = 0; k < sizeof(headings) / sizeof(*headings); k++)
		if (text_is(key, headings[k].key))
			return &headings[k];
	return NULL;
}

static bool is_comment(struct text line)
{
	struct scan scan = scan_text(line);

	scan_blanks(&scan);
	return scan_ended(&scan) || line.at[0] == '#';
}

static bool check_version(const struct input *input, struct text line, struct error *error)
{
	struct scan scan = scan_text(line);
	uint64_t version;

	if (!scan_word(&scan, magic))
		return input_line_error(input, 1, error, "no heading, expected '%s%d'", magic,
					VERSION);
	if (!scan_decimal(&scan, &version) || version != VERSION || !at_blank(&scan))
		return input_line_error(input, sizeof(magic), error,
					"a version that is not known, expected %d", VERSION);
	return true;
}

static bool text_begin(struct trace *trace, struct error *error)
{
	const unsigned char *ahead;
	struct text line = { "", 0 };

	if (!input_line(trace->input, &line, error) && error->text[0])
		return false;
	if (!check_version(trace->input, line, error))
		return false;
	trace_skip(trace, SKIP_COMMENT);
	while (input_peek(trace->input, 1, &ahead) && *ahead == '#' &&
	       input_line(trace->input, &line, error)) {
		struct scan scan = scan_text(line);
		const struct heading *heading = heading_of(&scan);

		trace_skip(trace, SKIP_COMMENT);
		if (heading && !heading->parse(trace, line, scan, error))
			return false;
	}
	return !error->text[0];
}

static enum trace_step text_next(struct trace *trace, struct trace_record *record,
				 struct error *error)
{
	struct trace_record fresh = *record;
	struct text line;

	while (input_line(trace->input, &line, error)) {
		struct scan scan = scan_text(line);

		if (is_comment(line)) {
			if (line.length && heading_of(&scan)) {
				input_line_error(trace->input, 1, error,
						 "kind and objects come "
						 "before the first record");
				return STEP_FAILED;
			}
			trace_skip(trace, SKIP_COMMENT);
			continue;
		}
		*record = fresh;
		if (!parse_columns(trace->input, line, record, error))
			return STEP_FAILED;
		if (record->known & KNOWN_ADDRESS || record->field.length)
			return STEP_RECORD;
		trace_drop(trace, DROP_NO_ADDRESS);
	}
	return error->text[0] ? STEP_FAILED : STEP_END;
}

static bool text_recognise(const unsigned char *head, size_t length)
{
	return length >= sizeof(magic) - 1 && !memcmp(head, magic, sizeof(magic) - 1);
}

const struct trace_format trace_format_trace = {
	.name = "trace",
	.about = "hitm's own, as text: `hitm replay --write`, or by hand",
	.recognise = text_recognise,
	.begin = text_begin,
	.next = text_next,
};

/* ---- writing -------------------------------------------------------------------------------- */

static bool write_heading(struct trace_writer *writer, enum trace_kind kind,
			  const struct trace_object *objects, uint32_t object_count,
			  struct error *error)
{
	FILE *out = writer->out;

	fprintf(out, "%s%d\n", magic, VERSION);
	if (kind != KIND_UNKNOWN)
		fprintf(out, "# kind %s\n", trace_kind_names[kind]);
	for (uint32_t k = 0; k < object_count; k++) {
		fprintf(out, "# object %s %s ", objects[k].name, objects[k].layout);
		if (objects[k].address)
			fprintf(out, "0x%" PRIx64 "\n", objects[k].address);
		else
			fputs("-\n", out);
	}
	fputs("# time_ns cpu tid op address size weight field source latency ip symbol\n", out);
	return !ferror(out) || error_set(error, "cannot write the trace");
}

/* A line as it grows; there is room for every column at its widest. */
struct line {
	size_t length;
	char text[2 * TRACE_TEXT_MOST + 256];
};

static void put_text(struct line *line, const char *text, size_t length)
{
	memcpy(line->text + line->length, text, length);
	line->length += length;
}

static void put_char(struct line *line, char c)
{
	line->text[line->length++] = c;
}

static void put_digits(struct line *line, uint64_t value, unsigned base)
{
	char digits[20], *at = digits + sizeof(digits);

	do
		*--at = "0123456789abcdef"[value % base];
	while (value /= base);
	put_text(line, at, (size_t)(digits + sizeof(digits) - at));
}

/* A column: its number, if that is known, and the blank after it. */
static void put_decimal(struct line *line, bool known, uint64_t value)
{
	if (known)
		put_digits(line, value, 10);
	else
		put_char(line, '-');
	put_char(line, ' ');
}

static void put_hex(struct line *line, bool known, uint64_t value)
{
	if (known) {
		put_text(line, "0x", 2);
		put_digits(line, value, 16);
	} else {
		put_char(line, '-');
	}
	put_char(line, ' ');
}

static void put_word(struct line *line, struct text text)
{
	if (text.length)
		put_text(line, text.at, text.length);
	else
		put_char(line, '-');
	put_char(line, ' ');
}

static void put_thread(struct line *line, const struct trace_record *record)
{
	if (record->known & KNOWN_PID) {
		put_digits(line, record->pid, 10);
		put_char(line, '/');
	}
	put_decimal(line, record->known & KNOWN_TID, record->tid);
}

static void put_optional(struct line *line, const struct trace_record *record)
{
	const char *source = trace_source_names[record->source];
	bool latency = record->known & KNOWN_LATENCY, ip = record->known & KNOWN_IP;
	int columns_left = record->symbol.length  ? 5
			   : ip                   ? 4
			   : latency              ? 3
			   : record->source       ? 2
			   : record->field.length ? 1
						  : 0;

	if (columns_left >= 1)
		put_word(line, record->field);
	if (columns_left >= 2)
		put_word(line, (struct text){ source, (uint32_t)strlen(source) });
	if (columns_left >= 3)
		put_decimal(line, latency, record->latency);
	if (columns_left >= 4)
		put_hex(line, ip, record->ip);
	if (columns_left >= 5)
		put_word(line, record->symbol);
}

static bool write_record(struct trace_writer *writer, const struct trace_record *record,
			 struct error *error)
{
	struct line line;

	(void)error; /* of the file, which writer.c looks at */
	line.length = 0;
	put_decimal(&line, record->known & KNOWN_TIME, record->time);
	if (record->cpus > 1)
		put_char(&line, 'x');
	put_decimal(&line, record->known & KNOWN_CPU || record->cpus > 1,
		    record->cpus > 1 ? record->cpus : record->cpu);
	put_thread(&line, record);
	put_char(&line, trace_op_letters[record->op]);
	put_char(&line, ' ');
	put_hex(&line, record->known & KNOWN_ADDRESS, record->address);
	put_decimal(&line, record->known & KNOWN_SIZE, record->size);
	put_decimal(&line, true, record->weight);
	put_optional(&line, record);
	line.text[line.length - 1] = '\n';
	fwrite(line.text, 1, line.length, writer->out);
	return true;
}

const struct trace_form trace_form_text = {
	.name = "trace",
	.begin = write_heading,
	.write = write_record,
};
