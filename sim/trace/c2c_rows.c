/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/c2c_rows.h"
#include <stdlib.h>
#include <string.h>

/* Shares are in 1/WHOLE. What rounding to the nearest adds is at most half a sample: GAIN_MOST. */
enum { WHOLE = 10000, GAIN_MOST = 5000 };

static struct text copy_text(char *to, size_t most, struct text text)
{
	size_t length = text.length < most ? text.length : most;

	if (length)
		memcpy(to, text.at, length);
	return (struct text){ to, (uint32_t)length };
}

bool c2c_rows_add(struct c2c_rows *rows, const struct c2c_row *row, uint64_t address,
		  struct error *error)
{
	struct c2c_kept_row *kept;

	if (rows->count == rows->room) {
		uint32_t room = rows->room ? 2 * rows->room : 16;

		kept = realloc(rows->all, room * sizeof(*kept));
		if (!kept)
			return error_set(error, "out of memory");
		rows->all = kept;
		rows->room = room;
	}
	kept = &rows->all[rows->count++];
	kept->row = *row;
	kept->address = address;
	kept->row.symbol = copy_text(kept->symbol, C2C_SYMBOL_MOST, row->symbol);
	kept->row.thread_name = copy_text(kept->name, C2C_NAME_MOST, row->thread_name);
	return true;
}

void c2c_rows_free(struct c2c_rows *rows)
{
	free(rows->all);
	*rows = (struct c2c_rows){ 0 };
}

/* A column of shares: of `total`, in 1/whole. */
struct column {
	int at;
	uint32_t total;
	uint64_t whole;
};

static uint64_t exact(const struct c2c_kept_row *kept, const struct column *column)
{
	return (uint64_t)kept->row.share[column->at] * column->total; /* times whole */
}

static uint64_t rounded(const struct c2c_kept_row *kept, const struct column *column)
{
	return (exact(kept, column) + column->whole / 2) / column->whole;
}

/* What rounding adds to the exact count, from 1 to GAIN_MOST; 0 where it adds nothing. */
static uint32_t gained(const struct c2c_kept_row *kept, const struct column *column)
{
	uint64_t up = rounded(kept, column) * column->whole, from = exact(kept, column);

	return up > from ? (uint32_t)(((up - from) * 2 * GAIN_MOST - 1) / column->whole + 1) : 0;
}

/* Which counts, rounded, are to be one less, so that they are less by `excess` together: those that gained more
 * than *least, and of those that gained that much the first *at_least. */
static void choose_lesser(const struct c2c_rows *rows, const struct column *column, uint64_t excess,
			  uint32_t *least, uint64_t *at_least)
{
	uint32_t with[GAIN_MOST + 1] = { 0 };

	for (uint32_t k = 0; k < rows->count; k++)
		with[gained(&rows->all[k], column)]++;
	for (*least = GAIN_MOST; *least > 1 && with[*least] < excess; --*least)
		excess -= with[*least];
	*at_least = excess;
}

/* Adds a column's counts to the piece that they belong to. */
static bool settle_column(struct c2c_rows *rows, struct column column)
{
	int piece = column.at < PIECE_STORES ? column.at : PIECE_STORES;
	uint64_t shares = 0, least_sum = 0, sum = 0, at_least = 0;
	uint32_t least = GAIN_MOST;

	for (uint32_t k = 0; k < rows->count; k++) {
		shares += rows->all[k].row.share[column.at];
		least_sum += exact(&rows->all[k], &column) / column.whole;
	}
	/* More than rounding can mend: of large totals, where shares are short of digits. */
	if (least_sum > column.total)
		column.whole = shares;
	for (uint32_t k = 0; k < rows->count; k++)
		sum += rounded(&rows->all[k], &column);
	if (sum > column.total)
		choose_lesser(rows, &column, sum - column.total, &least, &at_least);
	for (uint32_t k = 0; k < rows->count; k++) {
		struct c2c_kept_row *kept = &rows->all[k];
		uint32_t gain = gained(kept, &column);
		bool lesser = gain > least || (gain == least && at_least);

		at_least -= lesser && gain == least;
		kept->weight[piece] += rounded(kept, &column) - lesser;
	}
	/* each share may be 0.005 % more than it was */
	return shares <= WHOLE + rows->count;
}

bool c2c_rows_settle(struct c2c_rows *rows, const struct c2c_heading *heading)
{
	bool sound = true;

	for (uint32_t k = 0; k < rows->count; k++)
		memset(rows->all[k].weight, 0, sizeof(rows->all[k].weight));
	for (int column = 0; column < C2C_SHARES; column++)
		if (heading->totals[column])
			sound &= settle_column(
				rows, (struct column){ column, heading->totals[column], WHOLE });
	for (uint32_t k = 0; k < rows->count; k++) {
		struct c2c_kept_row *kept = &rows->all[k];
		uint64_t told = kept->weight[PIECE_REMOTE] + kept->weight[PIECE_LOCAL] +
				kept->weight[PIECE_STORES];

		if (kept->row.records > told)
			kept->weight[PIECE_OTHERS] = kept->row.records - told;
	}
	return sound;
}

void c2c_rows_record(const struct c2c_kept_row *kept, enum c2c_piece piece,
		     enum c2c_display display, struct trace_record *record)
{
	static const uint8_t sources[DISPLAYS][PIECES] = {
		[DISPLAY_HITM] = { SOURCE_HITM_REMOTE, SOURCE_HITM_LOCAL },
		[DISPLAY_PEER] = { SOURCE_PEER_REMOTE, SOURCE_PEER_LOCAL },
		[DISPLAY_ALL] = { SOURCE_UNKNOWN, SOURCE_UNKNOWN },
	};
	const struct c2c_row *row = &kept->row;
	/* With all loads in one column its mean is none of those that are given. */
	const uint32_t means[PIECES] = {
		[PIECE_REMOTE] = display == DISPLAY_ALL ? 0 : row->mean_remote,
		[PIECE_LOCAL] = display == DISPLAY_ALL ? 0 : row->mean_local,
		[PIECE_OTHERS] = row->mean_load,
	};

	record->address = kept->address;
	record->weight = kept->weight[piece];
	record->op = piece == PIECE_STORES ? TRACE_STORE : TRACE_LOAD;
	record->source = sources[display][piece];
	record->known = row->known;
	record->ip = row->ip;
	record->pid = row->pid;
	record->tid = row->tid;
	record->cpus = row->cpus ? row->cpus : 1;
	record->symbol = row->symbol;
	record->thread_name = row->thread_name;
	record->latency = means[piece];
	if (record->latency)
		record->known |= KNOWN_LATENCY;
}
