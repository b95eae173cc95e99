/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* memmem */
#include "trace/c2c.h"
#include "trace/c2c_rows.h"
#include "trace/formats.h"
#include "trace/scan.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SIZE = 1024 };

enum block { BLOCK_NONE, BLOCK_TOTALS, BLOCK_DETAILS, BLOCK_TABLE, BLOCK_PARETO };

/* The totals that the report begins with. */
enum total {
	TOTAL_RECORDS,
	TOTAL_LOCKED,
	TOTAL_LOADS,
	TOTAL_STORES,
	TOTAL_HITM_LOCAL,
	TOTAL_HITM_REMOTE,
	TOTAL_PEER_LOCAL,
	TOTAL_PEER_REMOTE,
	TOTAL_UNMAPPED,
	TOTAL_UNPARSED,
	TOTALS
};

static const char *const total_names[TOTALS] = {
	[TOTAL_RECORDS] = "Total records",
	[TOTAL_LOCKED] = "Locked Load/Store Operations",
	[TOTAL_LOADS] = "Load Operations",
	[TOTAL_STORES] = "Store Operations",
	[TOTAL_HITM_LOCAL] = "Load Local HITM",
	[TOTAL_HITM_REMOTE] = "Load Remote HITM",
	[TOTAL_PEER_LOCAL] = "Load HIT Local Peer",
	[TOTAL_PEER_REMOTE] = "Load HIT Remote Peer",
	[TOTAL_UNMAPPED] = "No Page Map Rejects",
	[TOTAL_UNPARSED] = "Unable to parse data source",
};

static const struct {
	const char *title;
	enum block block;
} titles[] = {
	{ "Trace Event Information", BLOCK_TOTALS },
	{ "Global Shared Cache Line Event Information", BLOCK_TOTALS },
	{ "c2c details", BLOCK_DETAILS },
	{ "Shared Data Cache Line Table", BLOCK_TABLE },
	{ "Shared Cache Line Distribution Pareto", BLOCK_PARETO },
};

struct c2c {
	enum block block;
	uint32_t met; /* blocks, a bit each */
	enum c2c_display display;
	bool display_told;
	bool numbered;  /* each line of text has its number before it, as of cat -n */
	bool separated; /* the line of text before was a ruler of dashes */
	bool in_chain;  /* within a row's call chain */
	bool ended;
	uint32_t threshold; /* cycles under which loads were not sampled; 0: not told */
	uint32_t totals[TOTALS], totals_met; /* a bit each */

	struct c2c_line *lines;
	uint32_t line_count, line_room, line_at; /* line_at: the last one found */

	bool headed; /* by this: */
	struct c2c_heading heading;
	char names[NAMES_SIZE]; /* the last line with #, for the ruler that may follow */
	uint32_t names_length;
	uint8_t columns[C2C_COLUMNS];

	/* Rows of the line that is headed; settled: they have their weights, and are handed out. */
	struct c2c_rows rows;
	bool settled;
	enum c2c_display settled_display;
	uint32_t row_at;
	unsigned piece; /* enum c2c_piece */

	uint64_t rows_read;
	uint64_t lines_with_rows;
	uint64_t hits;       /* of these lines: HITM, or what is displayed */
	uint64_t hits_share; /* ... by the line table, in 1/10,000 of all */
	uint64_t stores;     /* to them */
	bool without_records, pairs, overfull, lines_left_off;
};

/* ---- lines of text -------------------------------------------------------------------------- */

static struct text rest_of(const struct scan *scan)
{
	struct text text = { scan->at, (uint32_t)(scan->end - scan->at) };

	while (text.length && (text.at[text.length - 1] == ' ' || text.at[text.length - 1] == '\t'))
		text.length--;
	return text;
}

static bool starts_with(struct text text, const char *word)
{
	struct scan scan = scan_text(text);

	return scan_word(&scan, word);
}

static bool all_of(struct text text, char c)
{
	for (uint32_t k = 0; k < text.length; k++)
		if (text.at[k] != c)
			return false;
	return text.length >= 10;
}

/* What a pasted line says: without marks of quotation, and the number that cat -n put before it. Whether
 * there are such numbers is seen at lines that cannot begin with one. */
static struct text unwrapped(struct text line, bool *numbered)
{
	struct scan scan = scan_text(line), after;
	struct text text;
	uint64_t number;

	do
		scan_blanks(&scan);
	while (scan_char(&scan, '>'));
	after = scan;
	if (scan_decimal(&after, &number) && (scan_char(&after, ' ') || scan_char(&after, '\t'))) {
		scan_blanks(&after);
		text = rest_of(&after);
		if (starts_with(text, "#") || starts_with(text, "----") ||
		    starts_with(text, "===="))
			*numbered = true;
		if (*numbered || c2c_text_is_row(text))
			return text;
	}
	text = rest_of(&scan);
	if (starts_with(text, "===="))
		*numbered = false;
	return text;
}

/* A ruler of dashes, also with # before it. */
static bool is_separator(struct text text)
{
	struct scan scan = scan_text(text);

	if (scan_char(&scan, '#'))
		scan_blanks(&scan);
	return all_of(rest_of(&scan), '-');
}

static bool recognise(const unsigned char *head, size_t length)
{
	struct scan scan = { (const char *)head, (const char *)head + length };
	bool numbered = false, separated = false;
	struct c2c_heading heading;

	while (scan.at < scan.end) {
		const char *end = memchr(scan.at, '\n', (size_t)(scan.end - scan.at));
		struct text text = { scan.at, (uint32_t)((end ? end : scan.end) - scan.at) };

		scan.at = end ? end + 1 : scan.end;
		if (text.length && text.at[text.length - 1] == '\r')
			text.length--;
		text = unwrapped(text, &numbered);
		for (size_t k = 0; k < sizeof(titles) / sizeof(*titles); k++)
			if (titles[k].block != BLOCK_DETAILS && text_is(text, titles[k].title))
				return true;
		if (separated && c2c_text_heading(text, &heading))
			return true;
		separated = is_separator(text);
	}
	return false;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static bool contains(struct text text, const char *word)
{
	return memmem(text.at, text.length, word, strlen(word));
}

/* The number after a word, or 0. */
static uint32_t number_after(struct text text, const char *word)
{
	const char *at = memmem(text.at, text.length, word, strlen(word));
	struct scan scan = { at ? at + strlen(word) : NULL, text.at + text.length };
	uint64_t number;

	return at && scan_decimal(&scan, &number) && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* "Name : number". True where the line is of the block of such lines, or says a total by itself. */
static bool read_total(struct c2c *own, struct text text)
{
	const char *colon = memchr(text.at, ':', text.length);
	struct scan name = { text.at, colon }, value;
	uint32_t number;

	if (!colon)
		return false;
	value = (struct scan){ colon + 1, text.at + text.length };
	scan_blanks(&value);
	for (int k = 0; k < TOTALS; k++)
		if (text_is(rest_of(&name), total_names[k]) &&
		    c2c_number(rest_of(&value), &number)) {
			own->totals[k] = number;
			own->totals_met |= 1u << k;
			return true;
		}
	return own->block == BLOCK_TOTALS;
}

static bool read_detail(struct c2c *own, struct text text)
{
	static const char *const words[] = { "ldlat=", "min_latency=" };

	if (own->block != BLOCK_DETAILS || !memchr(text.at, ':', text.length))
		return false;
	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
		if (number_after(text, words[k]))
			own->threshold = number_after(text, words[k]);
	if (starts_with(text, "Cachelines sort on")) {
		own->display = contains(text, "Peer") ? DISPLAY_PEER : DISPLAY_HITM;
		own->display_told = true;
	}
	return true;
}

/* Headings of columns, which say what is displayed, and the ruler under them. */
static void read_columns(struct c2c *own, struct text text)
{
	static const struct {
		const char *words;
		enum c2c_display display;
	} displays[] = {
		{ "Peer Snoop", DISPLAY_PEER }, { "Load Peer", DISPLAY_PEER },
		{ "Load Refs", DISPLAY_ALL },   { "HITM --", DISPLAY_HITM },
		{ "Hitm --", DISPLAY_HITM },
	};
	struct text names = { own->names, own->names_length };

	for (size_t k = 0; k < sizeof(displays) / sizeof(*displays); k++)
		if (contains(text, displays[k].words)) {
			own->display = displays[k].display;
			own->display_told = true;
			break;
		}
	if (contains(text, "....") && own->block == BLOCK_PARETO) {
		c2c_text_columns(names, text, own->columns);
	} else {
		own->names_length = text.length < NAMES_SIZE ? text.length : NAMES_SIZE;
		memcpy(own->names, text.at, own->names_length);
	}
}

static bool read_title(struct c2c *own, struct text text)
{
	for (size_t k = 0; k < sizeof(titles) / sizeof(*titles); k++)
		if (text_is(text, titles[k].title)) {
			own->block = titles[k].block;
			own->met |= 1u << own->block;
			return true;
		}
	return false;
}

/* ---- cache lines and their rows ------------------------------------------------------------- */

/* Keeps a cache line, or leaves it off where there are too many. */
static bool add_line(struct c2c *own, const struct c2c_line *line, struct error *error)
{
	struct c2c_line *more;
	uint32_t room = own->line_room ? 2 * own->line_room : 16;

	if (own->line_count == C2C_LINES_MAX) {
		own->lines_left_off = true;
		return true;
	}
	if (own->line_count == own->line_room) {
		more = realloc(own->lines, room * sizeof(*more));
		if (!more)
			return error_set(error, "out of memory");
		own->lines = more;
		own->line_room = room;
	}
	own->lines[own->line_count++] = *line;
	return true;
}

/* The line of this address, or NULL. Rows come in the order of the table, so that looking goes on from the
 * last one found. */
static struct c2c_line *find_line(struct c2c *own, uint64_t address)
{
	for (uint32_t k = 0; k < own->line_count; k++) {
		uint32_t at = (own->line_at + k) % own->line_count;

		if (own->lines[at].address == address) {
			own->line_at = at;
			return &own->lines[at];
		}
	}
	return NULL;
}

/* What heads a line's rows is also all that is known of a line that no table lists. */
static bool start_line(struct c2c *own, const struct c2c_heading *heading, struct error *error)
{
	static const uint8_t counts[DISPLAYS][C2C_SHARES] = {
		[DISPLAY_HITM] = { C2C_HITM_REMOTE, C2C_HITM_LOCAL, C2C_STORE_L1_HIT,
				   C2C_STORE_L1_MISS, C2C_STORE_NO_LEVEL },
		[DISPLAY_PEER] = { C2C_PEER_REMOTE, C2C_PEER_LOCAL, C2C_STORE_L1_HIT,
				   C2C_STORE_L1_MISS, C2C_STORE_NO_LEVEL },
		[DISPLAY_ALL] = { C2C_LOADS, C2C_COUNTS, C2C_STORE_L1_HIT, C2C_STORE_L1_MISS,
				  C2C_STORE_NO_LEVEL },
	};
	struct c2c_line line = { .address = heading->address };

	own->heading = *heading;
	own->headed = true;
	if (find_line(own, heading->address))
		return true;
	for (int k = 0; k < C2C_SHARES; k++)
		if (counts[own->display][k] != C2C_COUNTS)
			line.counts[counts[own->display][k]] = heading->totals[k];
	return add_line(own, &line, error);
}

static bool add_row(struct trace *trace, struct text text, struct error *error)
{
	struct c2c *own = trace->own;
	struct c2c_row row;
	uint64_t address;

	if (!c2c_text_row(text, own->columns, &row) ||
	    (own->headed && row.shares != own->heading.shares) ||
	    __builtin_add_overflow(own->heading.address, row.offset, &address)) {
		const unsigned char *ahead;

		if (input_peek(trace->input, 1, &ahead))
			trace_skip_unparsed(trace, text);
		else
			trace_drop(trace, DROP_TRUNCATED);
		return true;
	}
	if (!own->headed) {
		trace_drop(trace, DROP_NO_ADDRESS);
		return true;
	}
	if (own->rows.count == C2C_ROWS_MAX)
		return input_line_error(trace->input, 1, error,
					"more than %d rows of one cache line, expected a report of "
					"perf c2c",
					C2C_ROWS_MAX);
	own->pairs |= row.offset >= 64;
	own->without_records |= !row.has_records;
	return c2c_rows_add(&own->rows, &row, address, error);
}

/* All rows of the line that was headed are there. */
static void settle_line(struct c2c *own)
{
	const struct c2c_heading *heading = &own->heading;
	struct c2c_line *line;

	if (!own->rows.count)
		return;
	own->overfull |= !c2c_rows_settle(&own->rows, heading);
	own->settled = true;
	own->settled_display = own->display;
	own->row_at = 0;
	own->piece = 0;
	own->rows_read += own->rows.count;
	own->stores += (uint64_t)heading->totals[2] + heading->totals[3] + heading->totals[4];
	line = find_line(own, heading->address);
	if (line && line->rows) {
		line->rows += own->rows.count;
		return;
	}
	own->lines_with_rows++;
	own->hits += (uint64_t)heading->totals[0] + heading->totals[1];
	if (line) {
		line->rows = own->rows.count;
		own->hits_share += line->share;
	}
}

/* ---- what the summary is told --------------------------------------------------------------- */

static bool total_met(const struct c2c *own, enum total total)
{
	return own->totals_met >> total & 1;
}

static void note_totals(struct trace *trace, const struct c2c *own)
{
	const uint32_t *totals = own->totals;

	if (total_met(own, TOTAL_RECORDS))
		trace_note(trace, "perf sampled %" PRIu32 " accesses", totals[TOTAL_RECORDS]);
	if (totals[TOTAL_LOCKED])
		trace_note(trace,
			   "%" PRIu32 " of them were locked: which rows are atomics is not in the "
			   "report",
			   totals[TOTAL_LOCKED]);
	if (totals[TOTAL_UNPARSED])
		trace_note(trace, "of %" PRIu32 " of them perf could not parse the data source",
			   totals[TOTAL_UNPARSED]);
	if (totals[TOTAL_UNMAPPED])
		trace_note(trace, "%" PRIu32 " of them perf rejected for want of a page map",
			   totals[TOTAL_UNMAPPED]);
	if (own->threshold)
		trace_note(trace,
			   "loads faster than %" PRIu32 " cycles were not sampled (ldlat=%" PRIu32
			   ")",
			   own->threshold, own->threshold);
	if (total_met(own, TOTAL_STORES) && !totals[TOTAL_STORES])
		trace_note(trace, "the report has no store: who writes is not known");
	else if (own->rows_read && !own->stores)
		trace_note(trace,
			   "the lines with rows have no store: who writes them is not known");
}

/* What part of all that was sampled can be told by offset and code. */
static void note_part(struct trace *trace, const struct c2c *own)
{
	bool peer = own->display == DISPLAY_PEER;
	enum total local = peer ? TOTAL_PEER_LOCAL : TOTAL_HITM_LOCAL;
	enum total remote = peer ? TOTAL_PEER_REMOTE : TOTAL_HITM_REMOTE;
	uint64_t all = (uint64_t)own->totals[local] + own->totals[remote];
	const char *what = peer ? "peer" : "HITM";
	char part[64] = "";

	trace_note(trace,
		   "%" PRIu64 " rows of %" PRIu64 " cache lines, of %" PRIu32 " that it names",
		   own->rows_read, own->lines_with_rows, own->line_count);
	if (own->display == DISPLAY_ALL) {
		trace_note(trace, "shares are of all loads: which hit a modified line is not told");
		return;
	}
	if (all && all >= own->hits)
		snprintf(part, sizeof(part), " of all %" PRIu64 " (%.2f %%)", all,
			 (double)own->hits * 100 / (double)all);
	else if (own->hits_share)
		snprintf(part, sizeof(part), ", %.2f %% of all by the line table",
			 (double)own->hits_share / 100);
	trace_note(trace, "the lines with rows hold %" PRIu64 " %s loads%s", own->hits, what, part);
}

static void note_doubts(struct trace *trace, const struct c2c *own)
{
	if (own->rows_read && !own->display_told)
		trace_note(trace,
			   "no headings of columns: the first two are taken for HITM, not for "
			   "peer loads");
	if (own->without_records)
		trace_note(trace,
			   "rows without a total: their loads but those above are not known");
	if (own->pairs)
		trace_note(trace, "lines are pairs of 64 bytes, or larger: offsets go beyond 63");
	if (own->overfull)
		trace_note(
			trace,
			"shares of a line come to more than 100 %%: taken as parts of their sum");
	if (own->lines_left_off)
		trace_note(trace,
			   "more than %d cache lines: what each sums to is kept of the first",
			   C2C_LINES_MAX);
}

static void note_no_rows(struct trace *trace, const struct c2c *own)
{
	if (own->line_count)
		trace_note(trace, "no rows of the Pareto table: which code accesses which bytes is "
				  "not known; hand in the whole report");
	else if (own->met >> BLOCK_TABLE & 1 || own->met >> BLOCK_PARETO & 1)
		trace_note(trace,
			   "no cache line is shared: of what perf could tell, no load met a line "
			   "that another core had modified");
	else
		trace_note(trace, "only totals, as --stats gives them, and no cache line: hand in "
				  "`perf c2c report --stdio` without --stats");
}

/* Once all is read. False with *error set where none of it is of a report. */
static bool conclude(struct trace *trace, struct error *error)
{
	const struct c2c *own = trace->own;
	const uint64_t *dropped = trace->summary.dropped;

	if (!own->met && !own->totals_met && !own->line_count && !dropped[DROP_NO_ADDRESS] &&
	    !dropped[DROP_TRUNCATED])
		return error_set(error,
				 "%s: nothing of a report of perf c2c in it, expected what `perf "
				 "c2c report --stdio` prints",
				 trace->summary.name);
	note_totals(trace, own);
	if (own->rows_read)
		note_part(trace, own);
	else
		note_no_rows(trace, own);
	note_doubts(trace, own);
	return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Lines about rows and cache lines: false where it is none. *failed: an error was set. */
static bool read_counts(struct trace *trace, struct text text, bool separated, bool *failed,
			struct error *error)
{
	struct c2c *own = trace->own;
	struct c2c_heading heading;
	struct c2c_line line;

	if (c2c_text_is_row(text)) {
		own->in_chain = false;
		*failed = !add_row(trace, text, error);
		return true;
	}
	if ((separated || own->block == BLOCK_PARETO) && c2c_text_heading(text, &heading)) {
		own->in_chain = false;
		settle_line(own);
		*failed = !start_line(own, &heading, error);
		return true;
	}
	if (own->block != BLOCK_PARETO &&
	    c2c_text_line(text, own->display == DISPLAY_PEER, &line)) {
		if (!find_line(own, line.address))
			*failed = !add_line(own, &line, error);
		return true;
	}
	return false;
}

/* The lines of a row's call chain begin with one that no symbol begins like. */
static bool in_chain(struct c2c *own, struct text text)
{
	if (own->rows.count && (starts_with(text, "|") || starts_with(text, "--")))
		own->in_chain = true;
	return own->in_chain;
}

static bool read_line(struct trace *trace, struct text line, struct error *error)
{
	struct c2c *own = trace->own;
	struct text text = unwrapped(line, &own->numbered);
	bool separated = own->separated, failed = false;

	own->separated = is_separator(text);
	if (!text.length || own->separated || all_of(text, '=')) {
		trace_skip(trace, SKIP_COMMENT);
	} else if (*text.at == '#') {
		read_columns(own, text);
		trace_skip(trace, SKIP_COMMENT);
	} else if (read_title(own, text)) {
		own->in_chain = false;
		settle_line(own);
		own->headed = false;
		own->columns[0] = COLUMN_END;
		trace_skip(trace, SKIP_COMMENT);
	} else if (!read_counts(trace, text, separated, &failed, error)) {
		if (in_chain(own, text))
			trace_skip(trace, SKIP_CONTINUATION);
		else if (read_detail(own, text) || read_total(own, text))
			trace_skip(trace, SKIP_COMMENT);
		else
			trace_skip_unparsed(trace, text);
	}
	return !failed;
}

/* The next piece of the rows that are settled; false when they are used up. */
static bool next_piece(struct trace *trace, struct trace_record *record)
{
	struct c2c *own = trace->own;

	for (; own->settled && own->row_at < own->rows.count; own->row_at++, own->piece = 0) {
		const struct c2c_kept_row *row = &own->rows.all[own->row_at];

		if (!own->piece &&
		    !(row->weight[0] | row->weight[1] | row->weight[2] | row->weight[3]))
			trace_drop(trace, DROP_EMPTY);
		while (own->piece < PIECES && !row->weight[own->piece])
			own->piece++;
		if (own->piece < PIECES) {
			c2c_rows_record(row, (enum c2c_piece)own->piece++, own->settled_display,
					record);
			return true;
		}
	}
	if (own->settled)
		own->rows.count = 0;
	own->settled = false;
	return false;
}

static enum trace_step next(struct trace *trace, struct trace_record *record, struct error *error)
{
	struct c2c *own = trace->own;
	struct text line;

	while (!next_piece(trace, record)) {
		if (own->ended)
			return STEP_END;
		if (input_line(trace->input, &line, error)) {
			if (!read_line(trace, line, error))
				return STEP_FAILED;
		} else if (error->text[0]) {
			return STEP_FAILED;
		} else {
			own->ended = true;
			settle_line(own);
			if (!conclude(trace, error))
				return STEP_FAILED;
		}
	}
	return STEP_RECORD;
}

static bool begin(struct trace *trace, struct error *error)
{
	(void)error;
	trace->summary.kind = KIND_AGGREGATE;
	return true;
}

static void end(struct trace *trace)
{
	struct c2c *own = trace->own;

	c2c_rows_free(&own->rows);
	free(own->lines);
}

uint32_t c2c_lines(const struct trace *trace, const struct c2c_line **lines)
{
	const struct c2c *own = trace->own;

	*lines = NULL;
	if (trace->format != &trace_format_c2c)
		return 0;
	*lines = own->lines;
	return own->line_count;
}

const struct trace_format trace_format_c2c = {
	.name = "c2c",
	.about = "the report of `perf c2c report --stdio`",
	.size = sizeof(struct c2c),
	.recognise = recognise,
	.begin = begin,
	.next = next,
	.end = end,
};
