/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of one cache line in a report of perf c2c, kept until all are there: what their shares come to
 * depends on all of them. */
#ifndef TRACE_C2C_ROWS_H
#define TRACE_C2C_ROWS_H

#include "trace/c2c_text.h"

/* What the first two columns of the Pareto table count: perf's option -d chose it. */
enum c2c_display {
	DISPLAY_HITM,
	DISPLAY_PEER,
	DISPLAY_ALL, /* all loads, that hit and that missed, of a patch of 2020 */
	DISPLAYS
};

/* What a row is taken apart into. */
enum c2c_piece { PIECE_REMOTE, PIECE_LOCAL, PIECE_STORES, PIECE_OTHERS, PIECES };

enum { C2C_SYMBOL_MOST = 255, C2C_NAME_MOST = 63 };

struct c2c_kept_row {
	struct c2c_row row; /* its texts are below */
	uint64_t address;
	uint64_t weight[PIECES];
	char symbol[C2C_SYMBOL_MOST + 1], name[C2C_NAME_MOST + 1];
};

struct c2c_rows {
	struct c2c_kept_row *all;
	uint32_t count, room;
};

/* Keeps a row, its texts copied and cut to what fits. False with *error set: out of memory. At most
 * C2C_ROWS_MAX, which the caller sees to. */
bool c2c_rows_add(struct c2c_rows *rows, const struct c2c_row *row, uint64_t address,
		  struct error *error);
void c2c_rows_free(struct c2c_rows *rows);

/* Gives each row its weights. Each share is rounded to the nearest count. Where these together exceed the
 * column's total, what has gained most by rounding gives back; where that is not enough, shares are taken
 * as parts of their sum. Returns false where they come to more than all, which perf does not write. */
bool c2c_rows_settle(struct c2c_rows *rows, const struct c2c_heading *heading);

/* The record that a piece of a row is; its weight is not 0. */
void c2c_rows_record(const struct c2c_kept_row *row, enum c2c_piece piece, enum c2c_display display,
		     struct trace_record *record);

#endif
