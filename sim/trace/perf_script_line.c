/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "trace/perf_script_line.h"
#include <string.h>

enum {
	COMM_MOST = 15,     /* characters of a thread's name, but for some of the kernel's own */
	HEAD_MOST = 96,     /* from the name to the time, at most */
	SHORT_DECIMAL = 5,  /* digits; no page below 0x100000 is mapped, so that it is no address */
	WORD_MOST = 7,      /* letters of a hexadecimal word that is still taken for a symbol */
	ADDRESS_WIDTH = 18, /* from the event's colon to the end of an address; an ip lies one on */
	EVENT_WORDS_MOST = 4, /* of an event's name */
	HEAD_WORDS_MOST = 12,
	NUMBERS_MOST = 8
};

/* ---- pieces --------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') <= 9;
}

static bool contains(struct text text, const char *part)
{
	return memmem(text.at, text.length, part, strlen(part));
}

static struct text between(const char *from, const char *end)
{
	while (from < end && is_blank(*from))
		from++;
	while (end > from && is_blank(end[-1]))
		end--;
	return (struct text){ from, (uint32_t)(end - from) };
}

static bool all_digits(struct text token)
{
	for (uint32_t k = 0; k < token.length; k++)
		if (!is_digit(token.at[k]))
			return false;
	return token.length > 0;
}

static bool short_decimal(struct text token)
{
	return token.length <= SHORT_DECIMAL && all_digits(token);
}

/* The last token before *end, which then becomes its start; an empty one where there is none. */
static struct text token_before(const char *from, const char **end)
{
	struct text rest = between(from, *end);
	const char *last = rest.at + rest.length, *at = last;

	while (at > rest.at && !is_blank(at[-1]))
		at--;
	*end = at;
	return (struct text){ at, (uint32_t)(last - at) };
}

/* All of the token is a 32-bit number. */
static bool decimal32(struct text token, uint32_t *value)
{
	struct scan scan = scan_text(token);
	uint64_t number;

	if (!token.length || !scan_decimal(&scan, &number) || !scan_ended(&scan) ||
	    number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

/* All of the token is hexadecimal, and no word such as `add`. */
static bool hex_number(struct text token, uint64_t *value)
{
	struct scan scan = scan_text(token);
	bool digit = token.length > WORD_MOST;

	if (!scan_hex(&scan, value) || !scan_ended(&scan))
		return false;
	for (uint32_t k = 0; k < token.length && !digit; k++)
		digit = is_digit(token.at[k]);
	return digit;
}

struct numbers {
	uint32_t count;
	struct text token[NUMBERS_MOST];
	uint64_t value[NUMBERS_MOST];
};

/* Takes the numbers ahead, and the blanks behind them. */
static void take_numbers(struct scan *scan, struct numbers *numbers)
{
	struct scan ahead = *scan;

	numbers->count = 0;
	scan_blanks(&ahead);
	*scan = ahead;
	while (numbers->count < NUMBERS_MOST &&
	       scan_token(&ahead, &numbers->token[numbers->count]) &&
	       hex_number(numbers->token[numbers->count], &numbers->value[numbers->count])) {
		numbers->count++;
		scan_blanks(&ahead);
		*scan = ahead;
	}
}

/* ---- columns after the event ---------------------------------------------------------------- */

static void set_address(struct script_line *line, uint64_t address)
{
	line->columns |= COLUMN_ADDRESS;
	line->address = address;
}

/* Unlike the numbers around it a decimal one. */
static void set_weight(struct script_line *line, struct text token)
{
	struct scan scan = scan_text(token);

	if (scan_decimal(&scan, &line->weight) && scan_ended(&scan))
		line->columns |= COLUMN_WEIGHT;
	else
		line->weight = 0;
}

static void set_ip(struct script_line *line, uint64_t ip)
{
	line->columns |= COLUMN_IP;
	line->ip = ip;
}

/* Where ` (dso)` starts: the last parenthesis after a blank, as symbols of C++ have some too. */
static const char *dso_start(struct text text)
{
	const char *end = text.at + text.length;
	static const char deleted[] = "(deleted)";

	for (const char *at = end; (at = memrchr(text.at, '(', (size_t)(at - text.at)));)
		if (at > text.at && is_blank(at[-1]) &&
		    !((size_t)(end - at) >= strlen(deleted) &&
		      !memcmp(at, deleted, strlen(deleted))))
			return at;
	return end;
}

/* `symbol+0xOFFSET (dso)`, `symbol (dso)`, `[unknown] (dso)`, `(dso)`, `symbol`. */
static struct text take_symbol(struct text text)
{
	struct text symbol;
	const char *plus;

	if (!text.length || *text.at == '(')
		return (struct text){ NULL, 0 };
	symbol = between(text.at, dso_start(text));
	plus = memrchr(symbol.at, '+', symbol.length);
	if (plus && plus + 2 < symbol.at + symbol.length && !memcmp(plus, "+0x", 3))
		symbol.length = (uint32_t)(plus - symbol.at);
	return text_is(symbol, "[unknown]") ? (struct text){ NULL, 0 } : symbol;
}

/* The words of data_src: `|OP LOAD|LVL ...`, before 5.19 `L1 hit|SNP ...`. */
static bool has_words(struct scan scan)
{
	const char *bar = memchr(scan.at, '|', (size_t)(scan.end - scan.at));
	static const char *const first[] = { "OP ", "SNP ", "LVL " };

	for (size_t k = 0; bar && k < sizeof(first) / sizeof(*first); k++) {
		struct scan word = { bar + 1, scan.end };

		if (scan_word(&word, first[k]))
			return true;
	}
	return false;
}

/* Goes on to the last group, `|BLK  N/A`: groups before it may hold numbers. */
static void skip_groups(struct scan *scan)
{
	const char *bar;

	while ((bar = memchr(scan->at, '|', (size_t)(scan->end - scan->at)))) {
		const char *at = bar + 1;

		while (at < scan->end && *at >= 'A' && *at <= 'Z')
			at++;
		if (at == bar + 1 || (at < scan->end && !is_blank(*at)))
			return;
		scan->at = at;
	}
}

/* `words... weight ins_lat retire_lat ip sym (dso)`: what follows the hexadecimal data_src. */
static void parse_after_data_src(struct scan *scan, struct script_line *line)
{
	struct numbers numbers = { 0 };
	struct text token;

	skip_groups(scan);
	while (!numbers.count && !scan_ended(scan)) {
		scan_token(scan, &token);
		take_numbers(scan, &numbers);
	}
	if (numbers.count) {
		uint32_t last = numbers.count - 1;
		bool ip = !scan_ended(scan) || !short_decimal(numbers.token[last]);

		if (ip)
			set_ip(line, numbers.value[last]);
		if (last || !ip)
			set_weight(line, numbers.token[0]);
	}
}

/* `addr sym (dso) ip sym (dso)`: goes on to the second symbol. */
static bool second_symbol(struct scan *scan, struct script_line *line)
{
	struct scan ahead = *scan;
	struct numbers numbers;
	const char *end;

	while ((end = memchr(ahead.at, ')', (size_t)(ahead.end - ahead.at)))) {
		ahead.at = end + 1;
		if (scan_ended(&ahead) || !is_blank(*ahead.at))
			continue;
		take_numbers(&ahead, &numbers);
		if (numbers.count == 1 && memchr(ahead.at, '(', (size_t)(ahead.end - ahead.at))) {
			line->columns |= COLUMN_SECOND_SYMBOL;
			set_ip(line, numbers.value[0]);
			*scan = ahead;
			return true;
		}
	}
	return false;
}

/* `addr weight ins_lat retire_lat ip sym (dso)`, any of which may lack. */
static void parse_without_data_src(struct scan *scan, const struct numbers *numbers,
				   struct script_line *line)
{
	uint32_t count = numbers->count, last = count - 1;
	bool address, ip, symbol = !scan_ended(scan);

	if (count == 1 && symbol) {
		if (second_symbol(scan, line))
			set_address(line, numbers->value[0]);
		else
			set_ip(line, numbers->value[0]);
		return;
	}
	if (count == 1 && line->event.at &&
	    numbers->token[0].at + numbers->token[0].length -
			    (line->event.at + line->event.length) >
		    ADDRESS_WIDTH) {
		set_ip(line, numbers->value[0]);
		return;
	}
	address = !numbers->value[0] || !short_decimal(numbers->token[0]);
	ip = count > 1 && (symbol || !short_decimal(numbers->token[last]));
	if (address)
		set_address(line, numbers->value[0]);
	if (ip)
		set_ip(line, numbers->value[last]);
	if (count > (uint32_t)address + ip)
		set_weight(line, numbers->token[address]);
}

static void parse_columns(struct scan scan, struct script_line *line)
{
	struct numbers numbers;

	line->rest = between(scan.at, scan.end);
	scan.end = line->rest.at + line->rest.length;
	take_numbers(&scan, &numbers);
	if (!numbers.count)
		return;
	if (has_words(scan)) {
		line->columns |= COLUMN_DATA_SRC;
		line->data_src = numbers.value[numbers.count - 1];
		if (numbers.count > 1)
			set_address(line, numbers.value[0]);
		parse_after_data_src(&scan, line);
	} else {
		parse_without_data_src(&scan, &numbers, line);
	}
	if (line->columns & COLUMN_IP)
		line->symbol =
			take_symbol((struct text){ scan.at, (uint32_t)(scan.end - scan.at) });
}

/* ---- the head: comm pid/tid [cpu] misc ------------------------------------------------------- */

/* `[003]` */
static bool parse_cpu(struct text token, struct script_line *line)
{
	if (token.length < 3 || token.at[0] != '[' || token.at[token.length - 1] != ']' ||
	    !decimal32((struct text){ token.at + 1, token.length - 2 }, &line->cpu))
		return false;
	line->known |= KNOWN_CPU;
	return true;
}

/* `12/34` or the thread alone; -1 stands for one that perf does not know. */
static bool parse_pid(struct text token, struct script_line *line)
{
	const char *slash = token.length ? memchr(token.at, '/', token.length) : NULL;
	const char *end = token.at + token.length;
	struct text tid = { slash ? slash + 1 : token.at, 0 }, pid = { token.at, 0 };
	unsigned known = 0;

	tid.length = (uint32_t)(end - tid.at);
	if (decimal32(tid, &line->tid))
		known |= KNOWN_TID;
	else if (!text_is(tid, "-1"))
		return false;
	if (slash) {
		pid.length = (uint32_t)(slash - token.at);
		if (decimal32(pid, &line->pid))
			known |= KNOWN_PID;
		else if (!text_is(pid, "-1"))
			return false;
	}
	line->known |= known;
	return true;
}

/* `VM:12 VCPU:003` before the name, of a guest. */
static struct text skip_guest(struct text comm)
{
	static const char *const keys[] = { "VM:", "VCPU:" };
	struct scan scan = scan_text(comm);
	uint64_t number;

	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		struct scan ahead = scan;

		if (!scan_word(&ahead, keys[k]))
			continue;
		scan_blanks(&ahead);
		if (!scan_decimal(&ahead, &number) || scan_ended(&ahead) || !is_blank(*ahead.at))
			continue;
		scan_blanks(&ahead);
		scan = ahead;
	}
	return between(scan.at, scan.end);
}

/* From the right, as the name may hold anything. Returns whether there is a pid. */
static bool parse_head(const char *from, const char *end, struct script_line *line)
{
	const char *at = end;
	struct text token = token_before(from, &at);
	bool pid;

	line->known = 0;
	if (!parse_cpu(token, line)) { /* `[003] Kp`: the mode too */
		const char *before = at;

		if (token.length && !is_digit(token.at[token.length - 1]) &&
		    parse_cpu(token_before(from, &before), line))
			at = before;
		else
			at = end;
	}
	end = at;
	pid = parse_pid(token_before(from, &at), line);
	line->comm = skip_guest(between(from, pid ? at : end));
	return pid;
}

/* ---- lines with a time ----------------------------------------------------------------------- */

/* Where `SECONDS.FRACTION` starts that ends at this colon; NULL: nowhere. */
static const char *time_start(const char *from, const char *colon)
{
	const char *at = colon;

	if (colon - from >= 8 && colon[-7] == '.')
		at = colon - 7;
	else if (colon - from >= 11 && colon[-10] == '.')
		at = colon - 10;
	for (const char *digit = at + 1; digit < colon; digit++)
		if (!is_digit(*digit))
			return NULL;
	if (at == colon || !is_digit(at[-1]))
		return NULL;
	while (at > from && is_digit(at[-1]))
		at--;
	return at == from || is_blank(at[-1]) ? at : NULL;
}

/* Finds the time's colon: of several the last that leaves a name of at most COMM_MOST, as both the
 * name and what follows may hold a time. NULL: there is none. */
static const char *parse_time(struct text text, struct script_line *line)
{
	const char *from = text.at, *end = text.at + text.length, *found = NULL, *colon = from;

	while (from < end && is_blank(*from))
		from++;
	for (; (colon = memchr(colon, ':', (size_t)(end - colon))); colon++) {
		struct script_line ahead;
		const char *start;
		struct scan time;

		if (found && colon - from > HEAD_MOST)
			break;
		start = time_start(from, colon);
		if (!start)
			continue;
		time = (struct scan){ start, colon };
		parse_head(from, start, &ahead);
		if ((found && ahead.comm.length > COMM_MOST) || !scan_seconds(&time, &ahead.time))
			continue;
		line->known = ahead.known | KNOWN_TIME;
		line->comm = ahead.comm;
		line->time = ahead.time;
		line->cpu = ahead.cpu;
		line->pid = ahead.pid;
		line->tid = ahead.tid;
		found = colon;
	}
	return found;
}

/* `event:`, or words of which the last ends in a colon; takes nothing where there is none. */
static bool take_event(struct scan *scan, struct text *event)
{
	struct scan ahead = *scan;
	struct text token;
	uint64_t number;

	for (int words = 0; words < EVENT_WORDS_MOST; words++) {
		scan_blanks(&ahead);
		if (!scan_token(&ahead, &token) || hex_number(token, &number))
			return false;
		if (!words)
			event->at = token.at;
		if (token.length > 1 && token.at[token.length - 1] == ':') {
			event->length = (uint32_t)(ahead.at - event->at) - 1;
			*scan = ahead;
			return true;
		}
	}
	return false;
}

/* `period event:`, either of which may lack. */
static void parse_event(struct scan *scan, struct script_line *line)
{
	struct scan ahead = *scan;
	struct numbers numbers;
	uint64_t period;

	scan_blanks(&ahead);
	*scan = ahead;
	if (take_event(scan, &line->event))
		return;
	line->event = (struct text){ NULL, 0 };
	if (!scan_decimal(&ahead, &period) || scan_ended(&ahead) || !is_blank(*ahead.at))
		return;
	scan_blanks(&ahead);
	if (!take_event(&ahead, &line->event)) {
		struct scan behind = ahead;

		line->event = (struct text){ NULL, 0 };
		take_numbers(&behind, &numbers);
		if (numbers.count < 2) /* a number alone is no period */
			return;
	}
	line->columns |= COLUMN_PERIOD;
	line->period = period;
	*scan = ahead;
}

static void parse_task(struct text rest, struct script_line *line)
{
	static const char lost[] = "lost ";
	const char *at;

	line->shape = SCRIPT_TASK;
	if (!contains((struct text){ rest.at, rest.length }, "RECORD_LOST"))
		return;
	at = memmem(rest.at, rest.length, lost, strlen(lost));
	if (at) {
		struct scan scan = { at + strlen(lost), rest.at + rest.length };

		scan_decimal(&scan, &line->lost);
	}
}

static bool parse_timed(struct text text, struct script_line *line)
{
	const char *colon = parse_time(text, line);
	struct scan scan, record;

	if (!colon)
		return false;
	scan = (struct scan){ colon + 1, text.at + text.length };
	scan_blanks(&scan);
	record = scan;
	if (scan_word(&record, "PERF_RECORD_")) {
		parse_task((struct text){ scan.at, (uint32_t)(scan.end - scan.at) }, line);
		return true;
	}
	line->shape = SCRIPT_SAMPLE;
	parse_event(&scan, line);
	parse_columns(scan, line);
	return true;
}

/* ---- lines without one ----------------------------------------------------------------------- */

/* `comm pid [cpu] period event: ...` up to the event; a number before it is the period where the
 * pid, or the cpu, lies before that. */
static bool parse_untimed_head(const char *from, const char *event, struct script_line *line)
{
	const char *at = event;
	struct text token = token_before(from, &at);
	struct scan scan = scan_text(token);
	uint64_t period;

	if (all_digits(token) && scan_decimal(&scan, &period) && parse_head(from, at, line)) {
		line->columns |= COLUMN_PERIOD;
		line->period = period;
		return true;
	}
	return parse_head(from, event, line);
}

static bool parse_untimed(struct text text, struct script_line *line)
{
	struct text whole = between(text.at, text.at + text.length), token;
	struct scan scan = scan_text(whole);
	struct numbers numbers;

	for (int words = 0; words < HEAD_WORDS_MOST; words++) {
		struct scan rest;
		bool first;

		scan_blanks(&scan);
		if (!scan_token(&scan, &token))
			return false;
		if (token.length < 2 || token.at[token.length - 1] != ':')
			continue;
		rest = scan;
		take_numbers(&rest, &numbers);
		line->event = (struct text){ token.at, token.length - 1 };
		first = token.at == whole.at;
		if ((numbers.count || (scan_ended(&rest) && !first) ||
		     memchr(line->event.at, ':', line->event.length)) &&
		    (parse_untimed_head(whole.at, token.at, line) || (first && numbers.count))) {
			line->shape = SCRIPT_SAMPLE;
			parse_columns(scan, line);
			return true;
		}
	}
	return false;
}

/* `ip sym (dso)` */
static bool parse_frame(struct text whole, struct script_line *line)
{
	struct scan scan = scan_text(whole);
	struct text token;
	uint64_t ip;

	if (!scan_token(&scan, &token) || !hex_number(token, &ip))
		return false;
	line->shape = SCRIPT_FRAME;
	line->ip = ip;
	scan_blanks(&scan);
	line->symbol = take_symbol((struct text){ scan.at, (uint32_t)(scan.end - scan.at) });
	return true;
}

static bool is_message(struct text text)
{
	static const char *const parts[] = {
		"Warning:",          "WARNING:",        "' not valid for ", "do not have ",
		"No kallsyms",       "build-id",        "build id",         "Failed to ",
		"failed to ",        "Processed ",      "Couldn't ",        "Cannot ",
		"Check IO/CPU",      "perf record:",    "addr2line",        "no symbols found",
		"incompatible file", "not a perf data", "lost chunks",      "Kernel address maps",
	};

	for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
		if (contains(text, parts[k]))
			return true;
	return false;
}

static void parse_other(struct text text, struct script_line *line)
{
	struct text whole = between(text.at, text.at + text.length);
	bool indented = whole.at > text.at;

	if (*whole.at == '#')
		line->shape = SCRIPT_COMMENT;
	else if (contains(whole, "PERF_RECORD_"))
		line->shape = contains(whole, "]: PERF_RECORD_") ? SCRIPT_DUMP : SCRIPT_TASK;
	else if (*whole.at == '.')
		line->shape = SCRIPT_DUMP;
	else if (has_words(scan_text(whole))) {
		line->shape = SCRIPT_SAMPLE;
		parse_columns(scan_text(whole), line);
		if (!(line->columns & COLUMN_DATA_SRC) && !parse_untimed(text, line))
			line->shape = SCRIPT_OTHER;
	} else if (parse_frame(whole, line))
		return;
	else if (is_message(whole))
		line->shape = SCRIPT_MESSAGE;
	else if (!parse_untimed(text, line))
		line->shape = indented ? SCRIPT_INDENTED : SCRIPT_OTHER;
}

void script_line_parse(struct text text, struct script_line *line)
{
	*line = (struct script_line){ .shape = SCRIPT_EMPTY };
	if (!text.length)
		return;
	if (*text.at == '#') {
		line->shape = SCRIPT_COMMENT;
		return;
	}
	if (parse_timed(text, line))
		return;
	if (between(text.at, text.at + text.length).length)
		parse_other(text, line);
}
