/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of the code under study in simulated memory, and the fields that accesses are booked to.
 */
#ifndef WORKLOAD_MEMORY_H
#define WORKLOAD_MEMORY_H

#include "layout/layout.h"
#include "machine/machine.h"

/* Connects one place of a handle with a field of a layout. A second name is for versions that call
 * it otherwise. */
struct binding {
	const char *field, *or_else;
	size_t place; /* offsetof the struct place in the handle */
};

/* An object: a layout at an address. */
struct object {
	const char *name; /* "A", "root", "cpu 3"; for reports */
	const struct layout *layout;
	uint64_t address;
	uint16_t first_field; /* number of the layout's field 0 */
};

struct memory {
	struct machine *machine;
	unsigned char *real; /* its likeness on the host, see memory_realize; or NULL */
	uint64_t next;
	struct object *objects;
	uint32_t object_count, object_capacity;
	struct field_block {
		const struct layout *layout;
		uint16_t first;
	} * blocks;
	uint32_t block_count;
	uint32_t field_count; /* numbers given so far; number 0 is no field */
};

bool memory_init(struct memory *memory, struct machine *machine);
void memory_release(struct memory *memory);

/* Places an object at the next address that is a multiple of `align` (a power of two; at least the
 * layout's own) and homes its lines in a socket. Returns its number. The layout must outlive the
 * memory; the name is copied. On failure *error is set. */
uint32_t memory_place(struct memory *memory, const struct layout *layout, const char *name,
		      uint32_t align, uint32_t socket, struct error *error);

/* The same at an address of its own: a multiple of 8, and of the lines it covers none is another
 * object's. */
uint32_t memory_place_at(struct memory *memory, const struct layout *layout, const char *name,
			 uint64_t address, uint32_t socket, struct error *error);

/* Fills the places of a handle from an object's layout; fields that it lacks get size 0. The table
 * ends with field == NULL. A field of more than 8 bytes or across a line is an error. */
bool memory_bind(const struct memory *memory, uint32_t object, const struct binding *bindings,
		 void *handle, struct error *error);

/* Gives a field of 1 to 8 bytes its value before the run; nothing where the place has size 0. */
void memory_set(struct memory *memory, const struct place *place, uint64_t value);
/* Its value now, wherever it is, of the likeness if there is one; for use when nothing is under way.
 */
uint64_t memory_get(const struct memory *memory, const struct place *place);

/* Lays out all that has been placed so far on the host, with the values it has, on lines that lie as
 * the simulated ones do. What real threads do is then done there. Returns the address at which
 * simulated address 0 would be; the memory owns it. NULL with *error set. */
unsigned char *memory_realize(struct memory *memory, struct error *error);

/* The field with this number, and its struct. NULL for number 0. */
const struct layout_field *memory_field(const struct memory *memory, uint16_t number,
					const struct layout **layout);
/* The object that holds an address, or NULL. */
const struct object *memory_object(const struct memory *memory, uint64_t address);

#endif
