/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a line of text in a report of perf c2c says, by itself. Columns are told apart by the ruler of
 * dots where there is one, else by their form, since reports are pasted and their blanks change.
 * Sets of columns are those of tools/perf/builtin-c2c.c of Linux 4.10 to 6.19. */
#ifndef TRACE_C2C_TEXT_H
#define TRACE_C2C_TEXT_H

#include "trace/c2c.h"
#include "trace/scan.h"

enum { C2C_SHARES = 5, C2C_COLUMNS = 16 };

/* Takes the next blank-separated token; false at the end. */
bool c2c_token(struct scan *scan, struct text *token);
/* A whole token as a number of at most 32 bits; as 0xHEX; as a percentage, in 1/10,000 ("-nan%" is 0). */
bool c2c_number(struct text token, uint32_t *value);
bool c2c_address(struct text token, uint64_t *value);
bool c2c_percent(struct text token, uint32_t *value);

/* A row of the line table: `index address ... NN.NN% ...`. With -d peer the loads that it leads with
 * came from peers. */
bool c2c_text_line(struct text text, bool peer, struct c2c_line *line);

/* What heads a line's rows: `number remote local l1hit l1miss [na] address`, between two rulers of dashes. */
struct c2c_heading {
	uint64_t address;
	uint32_t totals[C2C_SHARES];
	uint32_t shares; /* how many of them there are: 4 or 5 */
};
bool c2c_text_heading(struct text text, struct c2c_heading *heading);

/* Columns of a row after its shares, up to the numbers' end; COLUMN_END ends them. */
enum c2c_column {
	COLUMN_END,
	COLUMN_OFFSET,
	COLUMN_NODE,
	COLUMN_PAGES, /* physical addresses met */
	COLUMN_PID,
	COLUMN_TID, /* "TID:NAME" */
	COLUMN_CODE,
	COLUMN_MEAN_REMOTE,
	COLUMN_MEAN_LOCAL,
	COLUMN_MEAN_LOAD,
	COLUMN_RECORDS,
	COLUMN_CPUS,
	COLUMN_OTHER /* a number of no use here */
};

/* From the line of names and the ruler of dots under it. False, with columns[0] COLUMN_END, where they are
 * not those of a row. */
bool c2c_text_columns(struct text names, struct text ruler, uint8_t columns[C2C_COLUMNS]);

struct c2c_row {
	uint32_t share[C2C_SHARES]; /* in 1/10,000, in the order of the heading's totals */
	uint32_t shares;
	uint32_t offset;
	uint64_t ip;
	uint32_t pid, tid, cpus, records;
	uint32_t mean_remote, mean_local, mean_load; /* core cycles; 0: no such load */
	uint8_t known;                               /* of enum trace_known */
	bool has_records;
	struct text thread_name, symbol; /* within the line of text */
};

/* Does this text begin as a row does? */
bool c2c_text_is_row(struct text text);
/* A row, by these columns or, where they are none or do not fit, by its form. */
bool c2c_text_row(struct text text, const uint8_t columns[C2C_COLUMNS], struct c2c_row *row);

#endif
