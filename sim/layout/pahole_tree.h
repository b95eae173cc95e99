/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structs of pahole's text as trees of what is printed. */
#ifndef LAYOUT_PAHOLE_TREE_H
#define LAYOUT_PAHOLE_TREE_H

#include "config/error.h"
#include <stddef.h>
#include <stdint.h>

/* A member, or a struct of the text; known by its number, from 1. */
struct pahole_node {
	const char *name; /* NULL: none */
	const char *
		type; /* of a plain member: "rw_semaphore", "spinlock_t"; of a struct its name; or NULL */
	uint32_t parent, first, last, next;
	uint32_t line;
	uint32_t offset, size;   /* bytes; from the start of the struct that has no parent */
	uint32_t bits, position; /* of a bit-field: how many, and the first, counted in its unit */
	uint32_t align;          /* that __aligned__ asks for, else 0 */
	uint32_t elements;       /* of an array; else 1 */
	uint32_t end;            /* of the last byte of any member so far */
	uint32_t floor;          /* where the next member may begin at the earliest */
	uint32_t bare;           /* the line of a member that has no offset, or 0 */
	bool compound, is_union; /* printed with its members */
	bool excerpt;            /* members of a struct whose head is not there */
	bool packed;
	bool placed;  /* its offset is printed, as old versions did not in unions */
	bool sized;   /* its size is printed */
	bool closed;  /* its end is there */
	bool falling; /* positions of bit-fields fall: they count from the most significant bit */
};

enum { PAHOLE_NODE_LIMIT = 1 << 20, PAHOLE_DEPTH = 64 };

struct pahole {
	char *name, *text;
	struct pahole_node *nodes; /* from 1 */
	uint32_t count, capacity;
	uint32_t *roots; /* structs with members, in order of the text */
	uint32_t root_count;
	uint32_t *sorted; /* those with a name, by name, size and place */
	uint32_t sorted_count;
};

/* Fills nodes and roots from the text. False with *error set. */
bool pahole_tree_read(struct pahole *pahole, size_t length, struct error *error);

#endif
