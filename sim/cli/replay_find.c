/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which struct lies where? Of the lines that are hot, each is held against every struct known, with each
 * of its fields where the hottest access was; what explains most offsets seen is proposed. It is a
 * guess, and said to be one. */
#include "cli/paths.h"
#include "cli/replay_parts.h"
#include "layout/btf.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTERS = 8, PROPOSALS = 4, LINE = 64 };

/* A hot line, and its hottest place. */
struct cluster {
	uint64_t line, heat;
	uint32_t place;
};

struct proposal {
	char layout[256];
	uint64_t base;
	uint32_t matched, seen; /* places on a field's start, of those within the struct */
	uint64_t weight, of;    /* their accesses */
	uint32_t size;
};

/* What has been found for a cluster. */
struct search {
	struct cluster cluster;
	struct proposal best[PROPOSALS];
	uint32_t count;
};

struct searches {
	const struct tally *tally;
	struct search all[CLUSTERS];
	uint32_t count;
};

/* ---- hot lines ------------------------------------------------------------------------------ */

/* HITM first; where the capture has none, what is written. */
static uint64_t heat(const struct tally_place *place)
{
	uint64_t hitm = place->hitm[0] + place->hitm[1];

	return hitm ? hitm : place->total - place->ops[TRACE_LOAD];
}

static void keep_cluster(struct searches *searches, const struct cluster *one)
{
	uint32_t at = searches->count;

	if (!one->heat)
		return;
	while (at && searches->all[at - 1].cluster.heat < one->heat)
		at--;
	if (at == CLUSTERS)
		return;
	if (searches->count < CLUSTERS)
		searches->count++;
	memmove(&searches->all[at + 1], &searches->all[at],
		(searches->count - at - 1) * sizeof(*searches->all));
	searches->all[at] = (struct search){ .cluster = *one };
}

static void find_hot_lines(struct searches *searches)
{
	const struct tally *tally = searches->tally;

	for (uint32_t k = 0, end; k < tally->count; k = end) {
		struct cluster one = { tally->places[k].address / LINE * LINE, 0, k };

		for (end = k;
		     end < tally->count && tally->places[end].address / LINE * LINE == one.line;
		     end++) {
			one.heat += heat(&tally->places[end]);
			if (tally->places[end].total > tally->places[one.place].total)
				one.place = end;
		}
		keep_cluster(searches, &one);
	}
}

/* ---- structs -------------------------------------------------------------------------------- */

static bool matches(const struct layout *layout, const struct tally_place *place, uint64_t base)
{
	const struct layout_field *field =
		layout_covering(layout, (uint32_t)(place->address - base));

	return field && field->offset == place->address - base &&
	       (!place->size || place->size == field->size);
}

/* A place that is no field speaks against a struct as two that are speak for it. */
static int64_t score(const struct proposal *proposal)
{
	return 3 * (int64_t)proposal->matched - 2 * (int64_t)proposal->seen;
}

/* More places explained; of equals, fewer accesses that are not, more that are, the smaller struct. */
static bool better(const struct proposal *a, const struct proposal *b)
{
	uint64_t wrong_a = a->of - a->weight, wrong_b = b->of - b->weight;

	if (score(a) != score(b))
		return score(a) > score(b);
	if (wrong_a != wrong_b)
		return wrong_a < wrong_b;
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return a->size < b->size;
}

static void keep_proposal(struct search *search, const struct proposal *one)
{
	uint32_t at = search->count;

	while (at && better(one, &search->best[at - 1]))
		at--;
	if (at == PROPOSALS)
		return;
	if (search->count < PROPOSALS)
		search->count++;
	memmove(&search->best[at + 1], &search->best[at],
		(search->count - at - 1) * sizeof(*search->best));
	search->best[at] = *one;
}

static struct proposal weigh(const struct tally *tally, const struct layout *layout, uint64_t base)
{
	struct proposal one = { .base = base, .size = layout->size };

	for (uint32_t k = tally_from(tally, base);
	     k < tally->count && tally->places[k].address - base < layout->size; k++) {
		bool match = matches(layout, &tally->places[k], base);

		one.seen++;
		one.matched += match;
		one.of += tally->places[k].total;
		one.weight += match ? tally->places[k].total : 0;
	}
	snprintf(one.layout, sizeof(one.layout), "%s", layout->name);
	return one;
}

/* The best base of one struct for a cluster. */
static void try_cluster(const struct tally *tally, struct search *search,
			const struct layout *layout)
{
	uint64_t hottest = tally->places[search->cluster.place].address;
	struct proposal best = { 0 };

	for (uint32_t k = 0; k < layout->field_count; k++) {
		uint64_t base = hottest - layout->fields[k].offset;
		struct proposal one;

		if (layout->fields[k].offset > hottest ||
		    base % (layout->align ? layout->align : 1))
			continue;
		one = weigh(tally, layout, base);
		if (one.matched && (!best.matched || better(&one, &best)))
			best = one;
	}
	if (best.matched)
		keep_proposal(search, &best);
}

static void try_layout(struct searches *searches, const struct layout *layout)
{
	for (uint32_t k = 0; k < searches->count; k++)
		try_cluster(searches->tally, &searches->all[k], layout);
}

/* A struct of BTF whose members make no layout, such as too many, is passed over. */
static bool try_struct(void *context, const char *name, const struct members *members,
		       const struct error *refusal)
{
	struct layout *layout;

	(void)refusal;
	layout = members ? members_layout(members, name, "", &(struct error){ "" }) : NULL;
	if (layout)
		try_layout(context, layout);
	layout_free(layout);
	return true;
}

static bool try_layouts(struct searches *searches, struct error *error)
{
	char directory[4096];
	struct dirent **files;
	int count = config_files("layouts", directory, sizeof(directory), &files);

	for (int k = 0; k < count; k++) {
		char name[256];
		struct layout *layout;

		snprintf(name, sizeof(name), "%.*s", (int)(strlen(files[k]->d_name) - 5),
			 files[k]->d_name);
		layout = layout_load(directory, name, NULL, error);
		if (layout)
			try_layout(searches, layout);
		layout_free(layout);
		free(files[k]);
	}
	if (count >= 0)
		free(files);
	return !error->text[0];
}

/* All structs of the file, by their own names. */
static bool try_btf(struct searches *searches, const char *path, struct error *error)
{
	struct btf_file *file = path ? btf_file_open(path, NULL, error) : NULL;

	if (file)
		btf_file_each(file, try_struct, searches);
	btf_file_close(file);
	return !error->text[0];
}

static void print_search(const struct tally *tally, const struct search *search)
{
	printf("\nline 0x%" PRIx64 ", most at 0x%" PRIx64 "\n", search->cluster.line,
	       tally->places[search->cluster.place].address);
	if (!search->count)
		puts("  no struct known has a field there");
	for (uint32_t k = 0; k < search->count; k++) {
		const struct proposal *one = &search->best[k];

		printf("  --object NAME=%s@0x%" PRIx64 "   %u of %u places are fields, %.1f %% of "
		       "accesses\n",
		       one->layout, one->base, one->matched, one->seen,
		       one->of ? 100.0 * (double)one->weight / (double)one->of : 0);
	}
}

bool replay_find(const struct replay_command *command, const struct tally *tally,
		 struct error *error)
{
	struct searches searches = { .tally = tally };

	find_hot_lines(&searches);
	if (searches.count &&
	    (!try_layouts(&searches, error) || !try_btf(&searches, command->btf, error)))
		return false;
	puts("Hot lines, and structs that may lie there (a guess, from the offsets alone)");
	if (!searches.count)
		puts("no line was written, or found modified elsewhere");
	for (uint32_t k = 0; k < searches.count; k++)
		print_search(tally, &searches.all[k]);
	return true;
}
