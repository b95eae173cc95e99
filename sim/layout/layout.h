/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layouts of C structs, as YAML files say: which field lies at which offset. */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include "config/yaml.h"
#include <stdint.h>
#include <stdio.h>

struct layout_field {
	const char *name; /* dotted through nested structs: "memory.usage" */
	uint32_t offset;  /* bytes from the start of the outermost struct */
	uint32_t size;
};

/* Leaves only: a nested struct stands for its fields. In order of offset. */
struct layout {
	const char *name;      /* "mem_cgroup-6.0-rc1" */
	const char *structure; /* the C struct: "mem_cgroup" */
	const char *source;    /* where the offsets come from */
	uint32_t size, align;
	uint32_t field_count;
	struct layout_field *fields;
};

enum {
	LAYOUT_FIELD_LIMIT = 4096,
	LAYOUT_NAME_LIMIT = 512, /* letters of a field's name */
};

/* An empty layout, and a field more in it, kept in order of offset (fields at the same offset stay
 * as they came); the name is `prefix.name`, or `name` where the prefix is empty. Strings are
 * copied. Out of memory, or past LAYOUT_FIELD_LIMIT fields, they return NULL and false. */
struct layout *layout_new(const char *name, const char *structure, const char *source);
bool layout_add(struct layout *layout, const char *prefix, const char *name, uint32_t offset,
		uint32_t size);

/* clang-format off */
/* Loads a layout and those it nests, by name from `directory` (`configs/layouts`), or by path where `name`
 * ends in ".yaml". `at` is the node that named it, for messages about a file that is not there; may be NULL.
 *
 *	layout: page_counter-5.15         the name of the file; a layout loaded by path may have another
 *	struct: page_counter
 *	size: 112 B
 *	align: 8 B
 *	source: where the offsets come from
 *	fields:                           offset and size in bytes; size 0: a flexible array, overlaps nothing
 *	  usage: {offset: 0, size: 8}
 *	  inner: {offset: 8, size: 40, layout: NAME}         a struct with a file of its own, beside this one
 *	  other: {offset: 8, size: 40, union_with: inner}    unions join: members may overlap each other
 *
 * Refuses: fields that overlap and are in no union, a field beyond the struct, a nested layout whose size
 * differs, cyclic nesting, size 0 or over 1 MiB, an alignment that is no power of two or over 4096 (the
 * size need not be a multiple of it), over 4096 fields, over 16 levels of nesting.
 * Returns NULL with *error set; the caller frees the layout. */
/* clang-format on */
struct layout *layout_load(const char *directory, const char *name, const struct node *at,
			   struct error *error);

/* The same with documents from elsewhere than a directory: `find` returns the one of this name,
 * which is freed then, or NULL with *error set. */
struct layout_source {
	struct document *(*find)(const void *context, const char *name, const struct node *at,
				 struct error *error);
	const void *context;
};
struct layout *layout_read(const struct layout_source *source, const char *name,
			   const struct node *at, struct error *error);
/* The same of text; layouts that it nests come from `directory`. In messages it is `name`.yaml. */
struct layout *layout_parse(const char *directory, const char *name, const char *text,
			    size_t length, struct error *error);
void layout_free(struct layout *layout);

/* A field of a layout that is a struct with a layout of its own. */
struct layout_nested {
	const char *field, *layout; /* "mmap_lock", "rw_semaphore-6.1" */
};

/* Writes what layout_load reads back to the same layout: fields that overlap are joined by `union_with`.
 * Fields that `nested` (of `nested_count`) names get `layout: NAME`. The comment, lines or NULL, comes first.
 * What the file does not take shows when it is closed or flushed. */
void layout_save(FILE *file, const struct layout *layout, const struct layout_nested *nested,
		 uint32_t nested_count, const char *comment);

/* The field with this dotted name, or NULL. */
const struct layout_field *layout_find(const struct layout *layout, const char *name);
/* The field that covers a byte, the first one named in a union, or NULL for padding (or a member
 * the file leaves out). */
const struct layout_field *layout_covering(const struct layout *layout, uint32_t offset);

/* A layout in which every field has lines of its own: what layout can win at most. Fields that
 * overlap, members of a union, stay on each other. `line` is the size of a line in bytes. Returns
 * NULL only out of memory; the caller frees the layout. */
struct layout *layout_spread(const struct layout *layout, uint32_t line);

#endif
