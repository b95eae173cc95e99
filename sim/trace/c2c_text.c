/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/c2c_text.h"

enum { OFFSET_LIMIT = 256, NAME_MOST = 64, NODE_LETTERS = 16 };

/* ---- tokens --------------------------------------------------------------------------------- */

bool c2c_token(struct scan *scan, struct text *token)
{
	scan_blanks(scan);
	return scan_token(scan, token);
}

bool c2c_number(struct text token, uint32_t *value)
{
	struct scan scan = scan_text(token);
	uint64_t wide;

	if (!scan_decimal(&scan, &wide) || !scan_ended(&scan) || wide > UINT32_MAX)
		return false;
	*value = (uint32_t)wide;
	return true;
}

bool c2c_address(struct text token, uint64_t *value)
{
	struct scan scan = scan_text(token);

	return token.length > 2 && token.at[0] == '0' && token.at[1] == 'x' &&
	       scan_hex(&scan, value) && scan_ended(&scan);
}

bool c2c_percent(struct text token, uint32_t *value)
{
	struct scan scan = scan_text(token);
	uint64_t whole, part;

	if (text_is(token, "-nan%") || text_is(token, "nan%")) {
		*value = 0;
		return true;
	}
	if (!scan_decimal(&scan, &whole) || whole > 100 || !scan_char(&scan, '.') ||
	    scan.end - scan.at != 3 || !scan_decimal(&scan, &part) || !scan_char(&scan, '%') ||
	    !scan_ended(&scan))
		return false;
	*value = (uint32_t)(whole * 100 + part);
	return *value <= 10000;
}

/* Which node of memory: "0", "0-1", "0,2", "N/A". */
static bool is_node(struct text token)
{
	if (text_is(token, "N/A"))
		return true;
	for (uint32_t k = 0; k < token.length; k++)
		if (!strchr("0123456789,-", token.at[k]) || !token.at[k])
			return false;
	return token.length && token.length <= NODE_LETTERS && token.at[0] >= '0';
}

/* ---- the line table ------------------------------------------------------------------------- */

enum { LINE_COLUMNS = 22, NOT_KEPT = C2C_COUNTS };

/* The sets of columns that there have been; they differ in how many columns lie before the percentage
 * and after it. `counts` are all of these but the node and the physical addresses. */
static const struct line_columns {
	uint8_t before, after;
	uint8_t counts[LINE_COLUMNS];
} line_columns[] = {
	/* 4.10 and before: records % T L R, stores T hit miss, dram L R, misses, loads, FB L1 L2, LLC
	 * remote */
	{ 1,
	  15,
	  { C2C_RECORDS, NOT_KEPT, C2C_HITM_LOCAL, C2C_HITM_REMOTE, C2C_STORES, C2C_STORE_L1_HIT,
	    C2C_STORE_L1_MISS, C2C_DRAM_LOCAL, C2C_DRAM_REMOTE, NOT_KEPT, C2C_LOADS,
	    C2C_LOAD_FILL_BUFFER, C2C_LOAD_L1, C2C_LOAD_L2, C2C_LOAD_LLC, C2C_LOAD_REMOTE } },
	/* to 5.10: with node and physical addresses */
	{ 3,
	  15,
	  { C2C_RECORDS, NOT_KEPT, C2C_HITM_LOCAL, C2C_HITM_REMOTE, C2C_STORES, C2C_STORE_L1_HIT,
	    C2C_STORE_L1_MISS, C2C_DRAM_LOCAL, C2C_DRAM_REMOTE, NOT_KEPT, C2C_LOADS,
	    C2C_LOAD_FILL_BUFFER, C2C_LOAD_L1, C2C_LOAD_L2, C2C_LOAD_LLC, C2C_LOAD_REMOTE } },
	/* 5.11 to 5.18 */
	{ 2,
	  17,
	  { NOT_KEPT, C2C_HITM_LOCAL, C2C_HITM_REMOTE, C2C_RECORDS, C2C_LOADS, C2C_STORES,
	    C2C_STORE_L1_HIT, C2C_STORE_L1_MISS, C2C_LOAD_FILL_BUFFER, C2C_LOAD_L1, C2C_LOAD_L2,
	    C2C_LOAD_LLC, NOT_KEPT, C2C_LOAD_REMOTE, NOT_KEPT, C2C_DRAM_LOCAL, C2C_DRAM_REMOTE } },
	/* 5.19 and later: with stores of no level */
	{ 2,
	  18,
	  { NOT_KEPT, C2C_HITM_LOCAL, C2C_HITM_REMOTE, C2C_RECORDS, C2C_LOADS, C2C_STORES,
	    C2C_STORE_L1_HIT, C2C_STORE_L1_MISS, C2C_STORE_NO_LEVEL, C2C_LOAD_FILL_BUFFER,
	    C2C_LOAD_L1, C2C_LOAD_L2, C2C_LOAD_LLC, NOT_KEPT, C2C_LOAD_REMOTE, NOT_KEPT,
	    C2C_DRAM_LOCAL, C2C_DRAM_REMOTE } },
	/* the display "all" of a patch of 2020, which leads with all loads that hit */
	{ 2,
	  15,
	  { NOT_KEPT, C2C_RECORDS, C2C_LOADS, C2C_STORES, C2C_STORE_L1_HIT, C2C_STORE_L1_MISS,
	    C2C_LOAD_FILL_BUFFER, C2C_LOAD_L1, C2C_LOAD_L2, C2C_LOAD_LLC, C2C_HITM_LOCAL,
	    C2C_LOAD_REMOTE, C2C_HITM_REMOTE, C2C_DRAM_LOCAL, C2C_DRAM_REMOTE } },
};

static const struct line_columns *line_columns_find(uint32_t before, uint32_t after)
{
	for (size_t k = 0; k < sizeof(line_columns) / sizeof(*line_columns); k++)
		if (line_columns[k].before == before && line_columns[k].after == after)
			return &line_columns[k];
	return NULL;
}

bool c2c_text_line(struct text text, bool peer, struct c2c_line *line)
{
	struct scan scan = scan_text(text);
	uint32_t values[LINE_COLUMNS + 1] = { 0 }, index, count = 0, before = UINT32_MAX;
	const struct line_columns *columns;
	struct text token;

	*line = (struct c2c_line){ .listed = true };
	if (!c2c_token(&scan, &token) || !c2c_number(token, &index) || !c2c_token(&scan, &token) ||
	    !c2c_address(token, &line->address))
		return false;
	while (c2c_token(&scan, &token)) {
		if (before == UINT32_MAX && c2c_percent(token, &line->share))
			before = count;
		else if (count == LINE_COLUMNS ||
			 (!c2c_number(token, &values[count]) && (count || !is_node(token))))
			return false;
		else
			count++;
	}
	columns = before < count ? line_columns_find(before, count - before) : NULL;
	if (!columns)
		return false;
	/* the node and the physical addresses come first, where there are any */
	for (uint32_t from = before & 2, k = from; k < count; k++) {
		uint8_t what = columns->counts[k - from];

		if (peer && (what == C2C_HITM_LOCAL || what == C2C_HITM_REMOTE))
			what = what == C2C_HITM_LOCAL ? C2C_PEER_LOCAL : C2C_PEER_REMOTE;
		if (what != NOT_KEPT)
			line->counts[what] = values[k];
	}
	return true;
}

bool c2c_text_heading(struct text text, struct c2c_heading *heading)
{
	struct scan scan = scan_text(text);
	uint32_t number, count = 0;
	struct text token;

	*heading = (struct c2c_heading){ 0 };
	if (!c2c_token(&scan, &token) || !c2c_number(token, &number))
		return false;
	while (c2c_token(&scan, &token) && count < C2C_SHARES &&
	       c2c_number(token, &heading->totals[count]))
		count++;
	heading->shares = count;
	if (count < C2C_SHARES - 1 || !c2c_address(token, &heading->address))
		return false;
	scan_blanks(&scan);
	return scan_ended(&scan);
}

/* ---- columns of the Pareto table ------------------------------------------------------------ */

static struct text trimmed(struct text text)
{
	while (text.length && (text.at[text.length - 1] == ' ' || text.at[text.length - 1] == '\t'))
		text.length--;
	while (text.length && (*text.at == ' ' || *text.at == '\t')) {
		text.at++;
		text.length--;
	}
	return text;
}

static const struct {
	const char *name;
	enum c2c_column column;
} column_names[] = {
	{ "Offset", COLUMN_OFFSET },
	{ "Node", COLUMN_NODE },
	{ "PA cnt", COLUMN_PAGES },
	{ "Pid", COLUMN_PID },
	{ "Tid", COLUMN_TID },
	{ "Code address", COLUMN_CODE },
	{ "rmt hitm", COLUMN_MEAN_REMOTE },
	{ "lcl hitm", COLUMN_MEAN_LOCAL },
	{ "rmt peer", COLUMN_MEAN_REMOTE },
	{ "lcl peer", COLUMN_MEAN_LOCAL },
	{ "load", COLUMN_MEAN_LOAD },
	{ "records", COLUMN_RECORDS },
	{ "cnt", COLUMN_CPUS },
};

static enum c2c_column column_named(struct text name)
{
	for (size_t k = 0; k < sizeof(column_names) / sizeof(*column_names); k++)
		if (text_is(name, column_names[k].name))
			return column_names[k].column;
	return COLUMN_OTHER;
}

bool c2c_text_columns(struct text names, struct text ruler, uint8_t columns[C2C_COLUMNS])
{
	uint32_t count = 0, from, to;

	for (from = 0; from < ruler.length && from < names.length; from = to) {
		struct text name = { names.at + from, 0 };
		enum c2c_column column;

		for (to = from; to < ruler.length && ruler.at[to] == '.'; to++)
			;
		if (to == from) {
			to++;
			continue;
		}
		name.length = (to < names.length ? to : names.length) - from;
		column = column_named(trimmed(name));
		if (!count && column != COLUMN_OFFSET)
			continue; /* the shares come before it */
		if (count == C2C_COLUMNS - 1)
			break;
		columns[count++] = (uint8_t)column;
		if (column == COLUMN_CPUS) {
			columns[count] = COLUMN_END;
			return true;
		}
	}
	columns[0] = COLUMN_END;
	return false;
}

/* ---- rows ----------------------------------------------------------------------------------- */

bool c2c_text_is_row(struct text text)
{
	struct scan scan = scan_text(text);
	struct text token;
	uint32_t share;

	return c2c_token(&scan, &token) && c2c_percent(token, &share);
}

/* Takes the columns one after the other. A thread's name may hold anything, so that it ends where
 * the columns after it fit. */
static bool take_columns(struct scan *scan, const uint8_t *columns, struct c2c_row *row);

static bool take_thread(struct scan *scan, const uint8_t *columns, struct c2c_row *row)
{
	const char *name;
	uint64_t tid;

	scan_blanks(scan);
	if (!scan_decimal(scan, &tid) || tid > UINT32_MAX || !scan_char(scan, ':'))
		return false;
	row->tid = (uint32_t)tid;
	row->known |= KNOWN_TID;
	name = scan->at;
	for (const char *end = name; end < scan->end && end - name <= NAME_MOST; end++) {
		struct scan ahead = { end, scan->end };

		if ((*end != ' ' && *end != '\t') || !take_columns(&ahead, columns, row))
			continue;
		row->thread_name = trimmed((struct text){ name, (uint32_t)(end - name) });
		*scan = ahead;
		return true;
	}
	return false;
}

static bool take_column(struct text token, enum c2c_column column, struct c2c_row *row)
{
	uint32_t unused, *number = &unused; /* of columns that are not kept */
	uint64_t offset;

	switch (column) {
	case COLUMN_OFFSET:
		if (!c2c_address(token, &offset) || offset >= OFFSET_LIMIT)
			return false;
		row->offset = (uint32_t)offset;
		return true;
	case COLUMN_NODE:
		return is_node(token);
	case COLUMN_CODE:
		row->known |= KNOWN_IP;
		return c2c_address(token, &row->ip);
	case COLUMN_PID:
		row->known |= KNOWN_PID;
		number = &row->pid;
		break;
	case COLUMN_MEAN_REMOTE:
		number = &row->mean_remote;
		break;
	case COLUMN_MEAN_LOCAL:
		number = &row->mean_local;
		break;
	case COLUMN_MEAN_LOAD:
		number = &row->mean_load;
		break;
	case COLUMN_RECORDS:
		row->has_records = true;
		number = &row->records;
		break;
	case COLUMN_CPUS:
		number = &row->cpus;
		break;
	default:
		break;
	}
	return c2c_number(token, number);
}

static bool take_columns(struct scan *scan, const uint8_t *columns, struct c2c_row *row)
{
	struct text token;

	for (; *columns != COLUMN_END; columns++) {
		if (*columns == COLUMN_TID)
			return take_thread(scan, columns + 1, row);
		if (!c2c_token(scan, &token) || !take_column(token, *columns, row))
			return false;
	}
	return true;
}

/* The numbers that end a row's columns, by how many they are: 3 or 4 means, the records (not in the first
 * versions), the CPUs. */
enum { NUMBERS_LEAST = 4, NUMBERS_MOST = 6 };

static const uint8_t number_columns[][NUMBERS_MOST] = {
	{ COLUMN_MEAN_REMOTE, COLUMN_MEAN_LOCAL, COLUMN_MEAN_LOAD, COLUMN_CPUS },
	{ COLUMN_MEAN_REMOTE, COLUMN_MEAN_LOCAL, COLUMN_MEAN_LOAD, COLUMN_RECORDS, COLUMN_CPUS },
	{ COLUMN_MEAN_REMOTE, COLUMN_MEAN_LOCAL, COLUMN_OTHER, COLUMN_MEAN_LOAD, COLUMN_RECORDS,
	  COLUMN_CPUS },
};

/* The columns between the offset and the thread or the code address, by their number. */
static const uint8_t place_columns[4][3] = {
	{ COLUMN_END },
	{ COLUMN_PID },
	{ COLUMN_NODE, COLUMN_PAGES },
	{ COLUMN_NODE, COLUMN_PAGES, COLUMN_PID },
};

static uint32_t count_numbers(struct scan scan)
{
	uint32_t count = 0, number;
	struct text token;

	while (c2c_token(&scan, &token) && c2c_number(token, &number))
		count++;
	return count;
}

/* The columns that a row without a ruler has, by their form. `scan` is at its offset. */
static bool guess_columns(struct scan scan, uint8_t columns[C2C_COLUMNS])
{
	uint32_t places = 0, count = 0, numbers;
	bool thread = false, code = false;
	struct text token;
	uint64_t ip;

	if (!c2c_token(&scan, &token))
		return false;
	columns[count++] = COLUMN_OFFSET;
	while (!thread && !code && c2c_token(&scan, &token)) {
		thread = memchr(token.at, ':', token.length);
		code = c2c_address(token, &ip);
		places += !thread && !code;
	}
	while (thread && !code && c2c_token(&scan, &token))
		code = c2c_address(token, &ip);
	if (!code || places > 3)
		return false;
	for (uint32_t k = 0; k < places; k++)
		columns[count++] = place_columns[places][k];
	if (thread)
		columns[count++] = COLUMN_TID;
	columns[count++] = COLUMN_CODE;
	numbers = count_numbers(scan);
	if (numbers < NUMBERS_LEAST || numbers > NUMBERS_MOST)
		return false;
	memcpy(columns + count, number_columns[numbers - NUMBERS_LEAST], numbers);
	columns[count + numbers] = COLUMN_END;
	return true;
}

/* Where a name in a text without columns ends: at the first blank outside of brackets, if they close. */
static uint32_t name_length(struct text text)
{
	uint32_t first = text.length;
	int depth = 0;

	for (uint32_t k = 0; k < text.length; k++) {
		char c = text.at[k];

		if (c == ' ' && k < first)
			first = k;
		if (c == ' ' && !depth)
			return k;
		depth += (c == '(' || c == '<') - (c == ')' || c == '>');
	}
	return first;
}

/* "[k] NAME  OBJECT  SOURCE  NODES": names hold single blanks, and two or more end them. */
static struct text take_symbol(struct scan scan)
{
	struct text text;

	scan_blanks(&scan);
	if (scan.end - scan.at < 5 || scan.at[0] != '[' || scan.at[2] != ']' || scan.at[3] != ' ')
		return (struct text){ NULL, 0 };
	scan.at += 4;
	text = trimmed((struct text){ scan.at, (uint32_t)(scan.end - scan.at) });
	for (uint32_t k = 0; k < text.length; k++)
		if (text.at[k] == '\t' ||
		    (text.at[k] == ' ' && k + 1 < text.length && text.at[k + 1] == ' ')) {
			text.length = k;
			return text;
		}
	text.length = name_length(text);
	return text;
}

bool c2c_text_row(struct text text, const uint8_t columns[C2C_COLUMNS], struct c2c_row *row)
{
	struct scan scan = scan_text(text), from;
	uint8_t guessed[C2C_COLUMNS];
	struct c2c_row shares = { .known = KNOWN_ADDRESS };
	struct text token;

	for (from = scan; shares.shares < C2C_SHARES && c2c_token(&scan, &token) &&
			  c2c_percent(token, &shares.share[shares.shares]);
	     from = scan)
		shares.shares++;
	if (shares.shares < C2C_SHARES - 1)
		return false;
	*row = shares;
	scan = from;
	if (columns[0] == COLUMN_END || !take_columns(&scan, columns, row)) {
		*row = shares;
		scan = from;
		if (!guess_columns(scan, guessed) || !take_columns(&scan, guessed, row))
			return false;
	}
	row->symbol = take_symbol(scan);
	return true;
}
