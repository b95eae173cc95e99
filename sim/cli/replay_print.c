/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 12, ROWS_SHOWN = 24, LINE = 64 };

/* "12.3%", or a dash of nothing. */
struct share {
	char text[16];
};

static struct share share(uint64_t part, uint64_t whole)
{
	struct share share = { "-" };

	if (whole)
		snprintf(share.text, sizeof(share.text), "%.1f%%",
			 100.0 * (double)part / (double)whole);
	return share;
}

/* ---- the capture ---------------------------------------------------------------------------- */

/* A row: a field of an object, or an address. */
struct row {
	char name[160];
	uint64_t line, offset;
	uint64_t loads, stores, atomics, other, hitm[2], load_hitm, total;
};

static void add_place(struct row *row, const struct tally_place *place)
{
	row->loads += place->ops[TRACE_LOAD];
	row->stores += place->ops[TRACE_STORE];
	row->atomics += place->ops[TRACE_ATOMIC];
	row->other += place->ops[TRACE_MODIFY] + place->ops[TRACE_ACCESS];
	row->hitm[0] += place->hitm[0];
	row->hitm[1] += place->hitm[1];
	row->load_hitm += place->load_hitm;
	row->total += place->total;
}

/* A row a field, or a place that no object holds; in order of address. */
static struct row *collect_rows(const struct replay_command *command, const struct tally *tally,
				uint32_t *count)
{
	struct row *rows = calloc(tally->count + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t k = 0; rows && k < tally->count; k++) {
		struct row *row = &rows[*count];
		uint64_t start;
		bool held = replay_object_name(command, tally->places[k].address, "[%u]", row->name,
					       sizeof(row->name), &start);

		if (!held && command->only)
			continue;
		row->line = start / LINE * LINE;
		row->offset = start % LINE;
		if (*count && !strcmp(row[-1].name, row->name))
			row--;
		else
			(*count)++;
		add_place(row, &tally->places[k]);
	}
	return rows;
}

struct group {
	uint32_t first, count;
	uint64_t hitm[2], load_hitm, total;
};

static int by_heat(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	uint64_t ha = a->hitm[0] + a->hitm[1], hb = b->hitm[0] + b->hitm[1];

	if (ha != hb)
		return ha > hb ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static uint32_t collect_groups(const struct row *rows, uint32_t count, struct group *groups)
{
	uint32_t found = 0;

	for (uint32_t k = 0; k < count; k++) {
		struct group *group = &groups[found];

		if (!k || rows[k].line != rows[k - 1].line)
			*group = (struct group){ .first = k };
		group->count++;
		group->total += rows[k].total;
		group->load_hitm += rows[k].load_hitm;
		for (int across = 0; across < 2; across++)
			group->hitm[across] += rows[k].hitm[across];
		found += k + 1 == count || rows[k + 1].line != rows[k].line;
	}
	return found;
}

static void print_head(FILE *out, const char *title, const char *hitm)
{
	fprintf(out, "\n%s\n%8s %8s %8s %10s %10s %10s", title, hitm, "of loads", "remote", "loads",
		"stores", "atomics");
}

static void print_group(FILE *out, const struct row *rows, const struct group *group)
{
	uint64_t hitm = group->hitm[0] + group->hitm[1];

	fprintf(out,
		"line 0x%" PRIx64 ": %" PRIu64 " accesses, HITM %" PRIu64 " local, %" PRIu64
		" remote\n",
		rows[group->first].line, group->total, group->hitm[0], group->hitm[1]);
	for (uint32_t k = 0; k < group->count && k < ROWS_SHOWN; k++) {
		const struct row *row = &rows[group->first + k];

		fprintf(out,
			"%8s %8s %8s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
			"  0x%02" PRIx64 "  %s\n",
			share(row->hitm[0] + row->hitm[1], hitm).text,
			share(row->load_hitm, group->load_hitm).text,
			share(row->hitm[1], group->hitm[1]).text, row->loads, row->stores,
			row->atomics, row->other, row->offset, row->name);
	}
	if (group->count > ROWS_SHOWN)
		fprintf(out, "%8s and %u fields or places more\n", "", group->count - ROWS_SHOWN);
}

bool replay_print_capture(FILE *out, const struct replay_command *command,
			  const struct tally *tally, struct error *error)
{
	uint32_t count, found;
	struct row *rows = collect_rows(command, tally, &count);
	struct group *groups;

	groups = rows ? calloc(count + 1, sizeof(*groups)) : NULL;
	if (groups) {
		found = collect_groups(rows, count, groups);
		qsort(groups, found, sizeof(*groups), by_heat);
		print_head(out, "The capture, by line and field (shares are of the line's HITM)",
			   tally->peers ? "peer" : "HITM");
		fprintf(out, " %10s  %4s  field\n", "other", "at");
		for (uint32_t k = 0; k < found && k < LINES_SHOWN; k++)
			print_group(out, rows, &groups[k]);
		if (found > LINES_SHOWN)
			fprintf(out, "and %u lines more\n", found - LINES_SHOWN);
		if (tally->crowded)
			fprintf(out, "%" PRIu64 " records at yet other addresses are not in it\n",
				tally->crowded);
	} else {
		error_set(error, "out of memory");
	}
	free(rows);
	free(groups);
	return !error->text[0];
}

/* ---- the simulated run ---------------------------------------------------------------------- */

static uint64_t count_of(const json_t *json, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(json, key));
}

static const json_t *field_named(const json_t *variant, const char *name)
{
	const json_t *fields = json_object_get(variant, "fields"), *field;
	size_t k;

	json_array_foreach(fields, k, field)
	{
		if (!strcmp(json_string_value(json_object_get(field, "field")), name))
			return field;
	}
	return NULL;
}

static uint64_t both_of(const json_t *hitm)
{
	return count_of(hitm, "local") + count_of(hitm, "remote");
}

/* Of a line, the loads that found it modified. */
static uint64_t load_hitm(const json_t *variant, const json_t *line)
{
	const json_t *name;
	uint64_t sum = 0;
	size_t k;

	json_array_foreach(json_object_get(line, "fields"), k, name) sum +=
		both_of(json_object_get(field_named(variant, json_string_value(name)), "hitm"));
	return sum;
}

static void print_simulated_line(FILE *out, const json_t *variant, const json_t *line)
{
	const json_t *hitm = json_object_get(line, "hitm"), *name;
	uint64_t total = both_of(hitm), loads = load_hitm(variant, line);
	size_t k;

	fprintf(out, "line %" PRIu64 " of %s: HITM %" PRIu64 " local, %" PRIu64 " remote\n",
		count_of(line, "line"), json_string_value(json_object_get(line, "object")),
		count_of(hitm, "local"), count_of(hitm, "remote"));
	json_array_foreach(json_object_get(line, "fields"), k, name)
	{
		const json_t *field = field_named(variant, json_string_value(name));
		const json_t *own = json_object_get(field, "hitm"),
			     *rmw = json_object_get(field, "rmw_hitm");

		fprintf(out, "%8s %8s %8s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %s\n",
			share(both_of(own) + both_of(rmw), total).text,
			share(both_of(own), loads).text,
			share(count_of(own, "remote") + count_of(rmw, "remote"),
			      count_of(hitm, "remote"))
				.text,
			count_of(field, "loads"), count_of(field, "stores"),
			count_of(field, "rmws"), json_string_value(name));
	}
}

void replay_print_c2c(FILE *out, const json_t *results)
{
	const json_t *variants = json_object_get(results, "variants"), *variant, *line;
	size_t k, l;

	json_array_foreach(variants, k, variant)
	{
		char title[512];

		snprintf(title, sizeof(title), "Simulated on %s, %s, by line and field",
			 json_string_value(json_object_get(results, "machine")),
			 json_string_value(json_object_get(variant, "name")));
		print_head(out, title, "HITM");
		fprintf(out, "  field\n");
		json_array_foreach(json_object_get(variant, "lines"), l, line)
		{
			if (l == LINES_SHOWN)
				break;
			print_simulated_line(out, variant, line);
		}
	}
}

/* ---- what was assumed ----------------------------------------------------------------------- */

void replay_print_assumptions(FILE *out, const struct replay_command *command,
			      const struct tally *tally)
{
	const struct trace_summary *summary = &tally->summary;
	bool profile = summary->kind == KIND_SAMPLED || summary->kind == KIND_AGGREGATE;
	bool breakpoints = summary->kind == KIND_COMPLETE && !strncmp(summary->format, "perf", 4);

	fputs("\nReplayed as ", out);
	if (profile)
		fputs("a mix: accesses are drawn by their weights, what follows what is not "
		      "known,\n"
		      "and the band is over draws alone\n",
		      out);
	else if (command->order && !strcmp(command->order, "recorded"))
		fputs("recorded, one access of all at a time, without the time between\n", out);
	else
		fputs("recorded, each thread in its order\n", out);
	if (breakpoints && !command->gaps && !command->order)
		fputs("with the gaps as recorded, which hold what the capture itself took (some\n"
		      "10 us a breakpoint): --gaps 0\n",
		      out);
	if (summary->ops[TRACE_ACCESS])
		fprintf(out,
			"with %" PRIu64 " accesses, of which load or store is not known, as: %s\n"
			"(--unknown); it can decide the sign of what follows\n",
			summary->ops[TRACE_ACCESS], command->unknown ? command->unknown : "modify");
	for (uint32_t k = 0; k < command->stores.count; k++)
		fprintf(out, "with stores that are not in the capture, but assumed: %s\n",
			command->stores.all[k]);
	if (summary->without_size)
		fprintf(out,
			"with %" PRIu64 " accesses of unknown size as wide as their field, or "
			"1 byte\n",
			summary->without_size);
}
