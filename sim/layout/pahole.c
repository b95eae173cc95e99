/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* qsort_r */
#include "layout/pahole.h"
#include "config/file.h"
#include "layout/pahole_tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MOST = 8 /* bytes; what is greater is aligned no more than this */ };

/* ---- places --------------------------------------------------------------------------------- */

static const struct pahole_node *node_by(const struct pahole *pahole, uint64_t id)
{
	return &pahole->nodes[id];
}

/* From the start of the outermost struct; what has no offset is where the union around it is. */
static uint64_t offset_of(const struct pahole *pahole, const struct pahole_node *node)
{
	while (!node->placed && node->parent)
		node = node_by(pahole, node->parent);
	return node->parent ? node->offset : 0;
}

static const struct pahole_node *outermost(const struct pahole *pahole,
					   const struct pahole_node *node)
{
	while (node->parent)
		node = node_by(pahole, node->parent);
	return node;
}

/* ---- structs by name ------------------------------------------------------------------------ */

static int root_compare(const void *left, const void *right, void *context)
{
	const struct pahole *pahole = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct pahole_node *one = node_by(pahole, a), *other = node_by(pahole, b);
	int order = strcmp(one->type, other->type);

	if (order)
		return order;
	if (one->size != other->size)
		return one->size < other->size ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool roots_sort(struct pahole *pahole, struct error *error)
{
	pahole->sorted = calloc(pahole->root_count + 1, sizeof(*pahole->sorted));
	if (!pahole->sorted)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < pahole->root_count; k++)
		if (node_by(pahole, pahole->roots[k])->type)
			pahole->sorted[pahole->sorted_count++] = pahole->roots[k];
	qsort_r(pahole->sorted, pahole->sorted_count, sizeof(*pahole->sorted), root_compare,
		pahole);
	return true;
}

static bool is_named(const struct pahole *pahole, uint32_t place, const char *name, uint32_t size)
{
	const struct pahole_node *node;

	if (place >= pahole->sorted_count)
		return false;
	node = node_by(pahole, pahole->sorted[place]);
	return !strcmp(node->type, name) && node->size == size;
}

/* The whole struct of this name and size, or NULL where there is none, or more than one. */
static const struct pahole_node *root_find(const struct pahole *pahole, const char *name,
					   uint32_t size)
{
	uint32_t low = 0, high = pahole->sorted_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct pahole_node *node = node_by(pahole, pahole->sorted[middle]);
		int order = strcmp(node->type, name);

		if (order < 0 || (!order && node->size < size))
			low = middle + 1;
		else
			high = middle;
	}
	if (!is_named(pahole, low, name, size) || is_named(pahole, low + 1, name, size))
		return NULL;
	return node_by(pahole, pahole->sorted[low])->closed ? node_by(pahole, pahole->sorted[low])
							    : NULL;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* What a plain member seems to ask for: as much as its size and its offset allow. */
static uint64_t align_guess(const struct pahole *pahole, const struct pahole_node *node)
{
	const struct pahole_node *parent = node_by(pahole, node->parent);
	uint64_t element = node->elements ? node->size / node->elements : 0;
	uint64_t align = element ? WORD_MOST : 1;

	if (node->align || parent->packed)
		return node->align;
	while (element % align || (!node->bits && offset_of(pahole, node) % align))
		align /= 2;
	return align;
}

/* A member's type has the id of the member. */
static bool type_read(void *context, uint64_t id, struct type *type, struct error *error)
{
	const struct pahole *pahole = context;
	const struct pahole_node *node = node_by(pahole, id), *whole = node;

	(void)error;
	if (!node->compound)
		whole = node->type ? root_find(pahole, node->type, node->size) : NULL;
	type->size = node->size;
	type->compound = whole != NULL;
	type->first_member = whole ? whole->first : 0;
	type->name = node->type;
	type->align = whole ? whole->align : align_guess(pahole, node);
	return true;
}

/* The first bit of a bit-field in its unit. */
static uint64_t bit_position(const struct pahole *pahole, const struct pahole_node *node)
{
	uint64_t unit = 8 * (uint64_t)node->size;

	if (outermost(pahole, node)->falling && node->position + (uint64_t)node->bits <= unit)
		return unit - node->position - node->bits;
	return node->position;
}

static bool member_read(void *context, uint64_t id, struct type_member *member, struct error *error)
{
	const struct pahole *pahole = context;
	const struct pahole_node *node = node_by(pahole, id),
				 *parent = node_by(pahole, node->parent);
	uint64_t offset = offset_of(pahole, node), start = offset_of(pahole, parent);

	if (offset < start)
		return error_at(error, pahole->name, node->line, 1,
				"a member at byte %u, expected none before byte %u where its "
				"struct begins",
				node->offset, (unsigned)start);
	member->name = node->name;
	member->type = id;
	member->bit_offset = 8 * (offset - start);
	if (node->bits)
		member->bit_offset += bit_position(pahole, node);
	member->align = node->align;
	member->bits = node->bits;
	member->next = node->next;
	return true;
}

/* ---- choice --------------------------------------------------------------------------------- */

/* Of structs of a name, or of excerpts. */
struct choice {
	uint32_t count, first;
	char lines[120]; /* "3, 17" */
};

static void choice_add(struct choice *choice, uint32_t id, uint32_t line)
{
	size_t used = strlen(choice->lines);

	if (!choice->count++)
		choice->first = id;
	if (used < sizeof(choice->lines) - 20)
		snprintf(choice->lines + used, 20, "%s%u", used ? ", " : "", line);
	else if (strcmp(choice->lines + used - 4, " ..."))
		strcat(choice->lines, ", ...");
}

/* The number of the root, or 0 with *error set or empty. */
static uint32_t root_choose(const struct pahole *pahole, const char *structure, uint32_t number,
			    struct error *error)
{
	struct choice named = { 0 }, excerpts = { 0 };
	const struct choice *choice;
	uint32_t met = 0;

	for (uint32_t k = 0; k < pahole->root_count; k++) {
		const struct pahole_node *node = node_by(pahole, pahole->roots[k]);
		bool matches = node->type && !strcmp(node->type, structure);

		if (matches || !node->type)
			choice_add(matches ? &named : &excerpts, pahole->roots[k], node->line);
		if ((matches || !node->type) && ++met == number)
			return pahole->roots[k];
	}
	if (number && met)
		return error_set(error, "%.200s: no struct %.60s number %u, expected 1 to %u",
				 pahole->name, structure, number, met);
	choice = named.count ? &named : &excerpts;
	if (choice->count > 1 || (choice == &excerpts && choice->count && pahole->sorted_count))
		return error_set(error,
				 "%.200s: %u %s %.60s, at line %s: expected a number (--nth)",
				 pahole->name, choice->count,
				 choice == &named ? "structs" : "members that may be of struct",
				 structure, choice->lines);
	return choice->first;
}

struct members *pahole_members(const struct pahole *pahole, const char *structure, uint32_t number,
			       struct error *error)
{
	const struct type_reader reader = { (void *)pahole, type_read, member_read };
	uint32_t root = root_choose(pahole, structure, number, error);
	const struct pahole_node *node = node_by(pahole, root);
	struct members *members;

	if (!root)
		return NULL;
	if (node->bare && (node->closed || node->excerpt || !node->first)) {
		error_at(error, pahole->name, node->bare, 1,
			 "a member of struct %.60s whose offset or name is missing, expected "
			 "NAME; /* OFFSET SIZE */ (pahole before 1.25 does not know C11's _Atomic)",
			 structure);
		return NULL;
	}
	members = members_read(&reader, structure, root, error);
	if (members) {
		members->line = node->line;
		members->cut = !node->closed || !node->sized;
	}
	return members;
}

const char *pahole_name(const struct pahole *pahole, uint32_t number)
{
	const struct pahole_node *node;

	if (number >= pahole->root_count)
		return NULL;
	node = node_by(pahole, pahole->roots[number]);
	return node->type ? node->type : "";
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Takes the text over. */
static struct pahole *text_read(const char *name, char *text, size_t length, struct error *error)
{
	struct pahole *pahole = calloc(1, sizeof(*pahole));

	if (pahole)
		pahole->text = text;
	else
		free(text);
	if (pahole && (pahole->name = strdup(name)) &&
	    (pahole->nodes = calloc(64, sizeof(*pahole->nodes)))) {
		pahole->capacity = 64;
		if (pahole_tree_read(pahole, length, error) && roots_sort(pahole, error)) {
			if (pahole->root_count)
				return pahole;
			error_set(error,
				  "%.200s: no struct, expected text as pahole prints it: "
				  "NAME; /* OFFSET SIZE */",
				  name);
		}
	} else {
		error_set(error, "out of memory");
	}
	pahole_close(pahole);
	return NULL;
}

struct pahole *pahole_parse(const char *name, const char *text, size_t length, struct error *error)
{
	char *copy = malloc(length + 1);

	if (!copy)
		return error_set(error, "out of memory"), NULL;
	memcpy(copy, text, length);
	return text_read(name, copy, length, error);
}

struct pahole *pahole_open(const char *path, struct error *error)
{
	size_t length;
	bool input = !strcmp(path, "-");
	char *text = input ? file_read_input(PAHOLE_LIMIT, &length, error)
			   : file_read(path, PAHOLE_LIMIT, &length, error);

	return text ? text_read(input ? "standard input" : path, text, length, error) : NULL;
}

void pahole_close(struct pahole *pahole)
{
	if (!pahole)
		return;
	free(pahole->name);
	free(pahole->text);
	free(pahole->nodes);
	free(pahole->roots);
	free(pahole->sorted);
	free(pahole);
}
