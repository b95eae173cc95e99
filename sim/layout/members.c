/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* asprintf */
#include "layout/members.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A walk down the members. Every struct that is entered takes up depth, and every member, named
 * or not, one of a limited number: types that contain themselves, which only damaged files have,
 * come to an end. */
struct walk {
	const struct type_reader *reader;
	struct members *members;
	uint32_t capacity, visited, depth;
	struct error *error;
};

/* ---- reading -------------------------------------------------------------------------------- */

static bool room_make(struct walk *walk)
{
	struct members *members = walk->members;
	uint32_t capacity = walk->capacity ? 2 * walk->capacity : 64;
	struct member *all;

	if (members->count < walk->capacity)
		return true;
	all = reallocarray(members->all, capacity, sizeof(*all));
	if (!all)
		return error_set(walk->error, "out of memory");
	members->all = all;
	walk->capacity = capacity;
	return true;
}

static bool member_add(struct walk *walk, const char *prefix, const struct type_member *from,
		       uint64_t bit, const struct type *type)
{
	struct members *members = walk->members;
	uint64_t bits = from->bits ? bit % 8 + from->bits : 8 * type->size;
	struct member member = { .offset = (uint32_t)(bit / 8),
				 .size = (uint32_t)((bits + 7) / 8),
				 .bits = from->bits,
				 .leaf = !type->compound || !type->first_member };

	if (!from->bits && bit % 8)
		return error_set(walk->error, "struct %.60s: member '%.60s' starts within a byte",
				 members->structure, from->name);
	if (bit / 8 + member.size > members->size)
		return error_set(walk->error,
				 "struct %.60s: member '%.60s' ends beyond the %u bytes of the "
				 "struct",
				 members->structure, from->name, members->size);
	if (strlen(prefix) + strlen(from->name) >= LAYOUT_NAME_LIMIT)
		return error_set(walk->error, "struct %.60s: a member's name has over %d letters",
				 members->structure, LAYOUT_NAME_LIMIT);
	if (!room_make(walk))
		return false;
	if (type->name && *type->name && !(member.type = strdup(type->name)))
		return error_set(walk->error, "out of memory");
	if (asprintf(&member.name, "%s%s%s", prefix, *prefix ? "." : "", from->name) < 0) {
		free(member.type);
		return error_set(walk->error, "out of memory");
	}
	members->all[members->count++] = member;
	return true;
}

static bool compound_read(struct walk *walk, const char *prefix, const struct type *type,
			  uint64_t bit);

/* The size of a C struct is a multiple of its alignment: a packed one has no more than that
 * allows. */
static void align_raise(struct members *members, uint64_t align)
{
	if (!align || align & (align - 1))
		return;
	while (members->size % align)
		align /= 2;
	if (align > members->align)
		members->align = (uint32_t)align;
}

static bool member_read(struct walk *walk, const char *prefix, const struct type_member *member,
			uint64_t bit)
{
	bool named = member->name && *member->name;
	struct type type = { 0 };
	char name[LAYOUT_NAME_LIMIT + 1];

	if (!walk->reader->type(walk->reader->context, member->type, &type, walk->error))
		return false;
	if (type.size > walk->members->size || member->bits > 8 * type.size)
		return error_set(walk->error,
				 "struct %.60s: a member has more bytes than the struct",
				 walk->members->structure);
	align_raise(walk->members, type.align);
	align_raise(walk->members, member->align);
	if (named && !member_add(walk, prefix, member, bit, &type))
		return false;
	if (!type.compound)
		return true;
	snprintf(name, sizeof(name), "%s",
		 named ? walk->members->all[walk->members->count - 1].name : prefix);
	return compound_read(walk, name, &type, bit);
}

static bool compound_read(struct walk *walk, const char *prefix, const struct type *type,
			  uint64_t bit)
{
	struct type_member member;

	if (walk->depth == MEMBERS_DEPTH)
		return error_set(walk->error, "struct %.60s: nested more than %d deep",
				 walk->members->structure, MEMBERS_DEPTH);
	walk->depth++;
	for (uint64_t id = type->first_member; id; id = member.next) {
		member = (struct type_member){ 0 };
		if (!walk->reader->member(walk->reader->context, id, &member, walk->error))
			return false;
		if (walk->visited++ == MEMBERS_LIMIT)
			return error_set(walk->error, "struct %.60s: more than %d members",
					 walk->members->structure, MEMBERS_LIMIT);
		if (member.bit_offset > 8 * (uint64_t)MEMBERS_SIZE)
			return error_set(walk->error, "struct %.60s: a member beyond its end",
					 walk->members->structure);
		if (!member_read(walk, prefix, &member, bit + member.bit_offset))
			return false;
	}
	walk->depth--;
	return true;
}

struct members *members_read(const struct type_reader *reader, const char *structure, uint64_t id,
			     struct error *error)
{
	struct members *members = calloc(1, sizeof(*members));
	struct walk walk = { .reader = reader, .members = members, .error = error };
	struct type type = { 0 };

	if (!members || !(members->structure = strdup(structure))) {
		free(members);
		return error_set(error, "out of memory"), NULL;
	}
	members->align = 1;
	if (reader->type(reader->context, id, &type, error)) {
		if (!type.compound || type.size < 1 || type.size > MEMBERS_SIZE) {
			error_set(error, "struct %.60s has %llu bytes, expected 1 to %d", structure,
				  (unsigned long long)type.size, MEMBERS_SIZE);
		} else {
			members->size = (uint32_t)type.size;
			align_raise(members, type.align);
			if (compound_read(&walk, "", &type, 0))
				return members;
		}
	}
	members_free(members);
	return NULL;
}

void members_free(struct members *members)
{
	if (!members)
		return;
	for (uint32_t k = 0; k < members->count; k++) {
		free(members->all[k].name);
		free(members->all[k].type);
	}
	free(members->all);
	free(members->structure);
	free(members);
}

/* ---- use ------------------------------------------------------------------------------------ */

const struct member *members_find(const struct members *members, const char *name)
{
	for (uint32_t k = 0; k < members->count; k++)
		if (!strcmp(members->all[k].name, name))
			return &members->all[k];
	return NULL;
}

static struct nesting *nesting_find(struct nesting *nestings, uint32_t count,
				    const struct member *member)
{
	for (uint32_t k = 0; k < count; k++)
		if (member->type && !strcmp(nestings[k].type, member->type))
			return &nestings[k];
	return NULL;
}

/* Members of C++'s base classes may have the same name, and those of what is no pahole's text. */
static bool leaf_add(struct layout *layout, const struct member *member, struct error *error)
{
	if (layout_find(layout, member->name))
		return error_set(error, "struct %.60s: two members are called '%.60s'",
				 layout->structure, member->name);
	return layout_add(layout, "", member->name, member->offset, member->size) ||
	       error_set(error, "struct %.60s: out of memory, or over %d fields", layout->structure,
			 LAYOUT_FIELD_LIMIT);
}

static bool is_within(const struct member *member, const struct member *outer)
{
	size_t length = strlen(outer->name);

	return !strncmp(member->name, outer->name, length) && member->name[length] == '.';
}

struct layout *members_layout_nested(const struct members *members, const char *name,
				     const char *source, struct nesting *nestings,
				     uint32_t nesting_count, struct layout_nested *nested,
				     uint32_t *nested_count, struct error *error)
{
	struct layout *layout = layout_new(name, members->structure, source);
	const struct member *outer = NULL; /* the last that has a layout of its own */
	bool good = layout || error_set(error, "out of memory");

	for (uint32_t k = 0; k < members->count && good; k++) {
		const struct member *member = &members->all[k];
		struct nesting *nesting = nesting_find(nestings, nesting_count, member);

		if (outer && is_within(member, outer))
			continue;
		if (nesting) {
			outer = member;
			nesting->used++;
			nested[(*nested_count)++] =
				(struct layout_nested){ member->name, nesting->layout };
		}
		if (member->leaf || nesting)
			good = leaf_add(layout, member, error);
	}
	if (good && !layout->field_count)
		good = error_set(error, "struct %.60s has no members", members->structure);
	if (!good) {
		layout_free(layout);
		return NULL;
	}
	layout->size = members->size;
	layout->align = members->align;
	return layout;
}

struct layout *members_layout(const struct members *members, const char *name, const char *source,
			      struct error *error)
{
	return members_layout_nested(members, name, source, NULL, 0, NULL, NULL, error);
}

uint32_t members_verify(const struct members *members, const struct layout *layout,
			void (*report)(void *context, const struct disagreement *disagreement),
			void *context)
{
	uint32_t count = layout->size != members->size;

	if (count)
		report(context, &(struct disagreement){ NULL, NULL });
	for (uint32_t k = 0; k < layout->field_count; k++) {
		const struct layout_field *field = &layout->fields[k];
		const struct member *found = members_find(members, field->name);

		if (found && found->offset == field->offset && found->size == field->size)
			continue;
		report(context, &(struct disagreement){ field, found });
		count++;
	}
	return count;
}
