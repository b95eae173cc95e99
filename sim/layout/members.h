/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs as debug information has them, with every member at any depth, and what is made of
 * them: layouts, and checks of layouts. layout/dwarf.h and layout/btf.h read them. */
#ifndef LAYOUT_MEMBERS_H
#define LAYOUT_MEMBERS_H

#include "layout/layout.h"

/* A member; one of an anonymous struct or union counts as one of the struct around it. */
struct member {
	char *name;      /* dotted through nested structs: "memory", "memory.usage" */
	uint32_t offset; /* bytes from the start of the outermost struct */
	uint32_t size;   /* bytes; 0: a flexible array, or an empty struct */
	/* Of a bit-field how many bits, else 0. `offset` and `size` are then of the bytes that
	 * these bits lie in, which neighbours may share. */
	uint32_t bits;
	bool leaf;  /* no struct or union with members; an array, whatever of, is a leaf */
	char *type; /* the struct or union it is, without that word, or NULL */
};

/* In order of declaration, a nested struct before its members. */
struct members {
	char *structure;
	uint32_t size;
	uint32_t align; /* the most that it or a member asks for, as far as the source knows */
	uint32_t count;
	struct member *all;
	uint32_t line; /* of text, where the struct begins there; else 0 */
	bool cut;      /* the size is missing, and a guess */
};

enum {
	MEMBERS_LIMIT = 4 * LAYOUT_FIELD_LIMIT,
	MEMBERS_DEPTH = 16, /* of structs in structs */
	MEMBERS_SIZE = 1 << 20,
};

/* ---- reading: for those who read some format ------------------------------------------------ */

/* A type, without typedefs and qualifiers. */
struct type {
	uint64_t size;
	uint64_t align;        /* that it asks for by itself, else 0; bytes */
	bool compound;         /* a struct or a union */
	uint64_t first_member; /* an id, if compound; 0: has none */
	const char *name;      /* of a struct or union, or NULL. Holds as that of a member does. */
};

struct type_member {
	const char *name; /* NULL or "": anonymous. Holds until the next call. */
	uint64_t type;
	uint64_t bit_offset;
	uint64_t align; /* as in struct type */
	uint32_t bits;  /* of a bit-field, else 0 */
	uint64_t next;  /* an id; 0: the last */
};

/* How a format is read. Ids are its own, but 0 is none. Both return false with *error set. */
struct type_reader {
	void *context;
	bool (*type)(void *context, uint64_t id, struct type *type, struct error *error);
	bool (*member)(void *context, uint64_t id, struct type_member *member, struct error *error);
};

/* All members of the struct with this id. Whatever the reader comes up with ends within the
 * limits above. NULL with *error set; the caller frees it. */
struct members *members_read(const struct type_reader *reader, const char *structure, uint64_t id,
			     struct error *error);
void members_free(struct members *members);

/* ---- use ------------------------------------------------------------------------------------ */

/* The first member with this dotted name, or NULL. */
const struct member *members_find(const struct members *members, const char *name);

/* Members that are structs of this type have a layout of their own. */
struct nesting {
	const char *type, *layout;
	uint32_t used; /* by so many members; counted by members_layout_nested */
};

/* A layout of the leaves, but that members whose struct has a layout of its own count as leaves: these
 * are put in `nested`, which has room for as many as there are members, and are counted in *nested_count;
 * their names are those of the members. NULL with *error set, where there are none or too many; the
 * caller frees it. */
struct layout *members_layout_nested(const struct members *members, const char *name,
				     const char *source, struct nesting *nestings,
				     uint32_t nesting_count, struct layout_nested *nested,
				     uint32_t *nested_count, struct error *error);
/* The same without any such. */
struct layout *members_layout(const struct members *members, const char *name, const char *source,
			      struct error *error);

/* Where a layout is at odds with the struct: a field, or (NULL) the struct's size. */
struct disagreement {
	const struct layout_field *field;
	const struct member *found; /* NULL: no such member */
};

/* Every field that the layout names must be a member, of this offset and size; and the sizes of
 * the structs must agree. Members that the layout leaves out do not matter, nor does the
 * alignment, which BTF does not know. Calls `report` for each disagreement, in order of the
 * fields; returns how many there are. */
uint32_t members_verify(const struct members *members, const struct layout *layout,
			void (*report)(void *context, const struct disagreement *disagreement),
			void *context);

#endif
