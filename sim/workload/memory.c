/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/memory.h"
#include <stdlib.h>
#include <string.h>

/* Objects lie on the host as in simulated memory, relative to pages too. */
enum { MEMORY_START = 1 << 20, REAL_ALIGN = 4096 };

bool memory_init(struct memory *memory, struct machine *machine)
{
	*memory = (struct memory){ .machine = machine, .next = MEMORY_START, .field_count = 1 };
	return true;
}

void memory_release(struct memory *memory)
{
	for (uint32_t k = 0; k < memory->object_count; k++)
		free((char *)(uintptr_t)memory->objects[k].name);
	free(memory->objects);
	free(memory->blocks);
	free(memory->real);
	*memory = (struct memory){ 0 };
}

/* The number of a layout's first field: each layout gets a block of numbers, once. 0 without memory
 * or numbers. */
static uint16_t field_block(struct memory *memory, const struct layout *layout)
{
	struct field_block *blocks;

	for (uint32_t k = 0; k < memory->block_count; k++)
		if (memory->blocks[k].layout == layout)
			return memory->blocks[k].first;
	if (memory->field_count + layout->field_count > UINT16_MAX)
		return 0;
	blocks = realloc(memory->blocks, (memory->block_count + 1) * sizeof(*blocks));
	if (!blocks)
		return 0;
	memory->blocks = blocks;
	blocks[memory->block_count++] =
		(struct field_block){ layout, (uint16_t)memory->field_count };
	memory->field_count += layout->field_count;
	return blocks[memory->block_count - 1].first;
}

/* Room for one object more; NULL without memory. */
static struct object *object_room(struct memory *memory)
{
	if (memory->object_count == memory->object_capacity) {
		uint32_t capacity = memory->object_capacity ? 2 * memory->object_capacity : 64;
		struct object *objects = realloc(memory->objects, capacity * sizeof(*objects));

		if (!objects)
			return NULL;
		memory->objects = objects;
		memory->object_capacity = capacity;
	}
	return &memory->objects[memory->object_count];
}

uint32_t memory_place_at(struct memory *memory, const struct layout *layout, const char *name,
			 uint64_t address, uint32_t socket, struct error *error)
{
	uint32_t line = memory->machine->config.coherence.line;
	struct object *object = object_room(memory);
	uint16_t first = field_block(memory, layout);
	char *copy = strdup(name);

	if (!object || !first || !copy) {
		free(copy);
		error_set(error, "out of memory, or of field numbers, for %s", name);
		return 0;
	}
	memory->object_count++;
	*object = (struct object){ copy, layout, address, first };
	for (uint64_t at = address / line * line; at < address + layout->size; at += line)
		coherence_set_home(memory->machine->coherence, at, socket);
	return memory->object_count - 1;
}

uint32_t memory_place(struct memory *memory, const struct layout *layout, const char *name,
		      uint32_t align, uint32_t socket, struct error *error)
{
	uint64_t unit = align > layout->align ? align : layout->align;

	memory->next = (memory->next + unit - 1) / unit * unit + layout->size;
	return memory_place_at(memory, layout, name, memory->next - layout->size, socket, error);
}

bool memory_bind(const struct memory *memory, uint32_t number, const struct binding *bindings,
		 void *handle, struct error *error)
{
	const struct object *object = &memory->objects[number];
	uint32_t line = memory->machine->config.coherence.line;

	for (; bindings->field; bindings++) {
		struct place *place = (struct place *)(void *)((char *)handle + bindings->place);
		const struct layout_field *field = layout_find(object->layout, bindings->field);

		if (!field && bindings->or_else)
			field = layout_find(object->layout, bindings->or_else);
		*place = (struct place){ 0 };
		if (!field)
			continue;
		uint64_t address = object->address + field->offset;

		if (field->size > 8 || (field->size & (field->size - 1)) ||
		    address % line + field->size > line)
			return error_set(error,
					 "layout %s: field %s has %u bytes at offset %u, expected "
					 "1, 2, 4 or 8 within a line",
					 object->layout->name, field->name, field->size,
					 field->offset);
		place->address = address;
		place->size = (uint8_t)field->size;
		place->field = (uint16_t)(object->first_field + (field - object->layout->fields));
	}
	return true;
}

void memory_set(struct memory *memory, const struct place *place, uint64_t value)
{
	coherence_poke(memory->machine->coherence, place->address, &value, place->size);
}

uint64_t memory_get(const struct memory *memory, const struct place *place)
{
	uint64_t value = 0;

	if (memory->real)
		memcpy(&value, memory->real + (place->address - MEMORY_START), place->size);
	else
		coherence_peek(memory->machine->coherence, place->address, &value, place->size);
	return value;
}

unsigned char *memory_realize(struct memory *memory, struct error *error)
{
	size_t size = (memory->next - MEMORY_START + REAL_ALIGN) / REAL_ALIGN * REAL_ALIGN;

	free(memory->real);
	memory->real = aligned_alloc(REAL_ALIGN, size);
	if (!memory->real) {
		error_set(error, "out of memory");
		return NULL;
	}
	for (size_t at = 0; at < size; at += memory->machine->config.coherence.line)
		coherence_peek(memory->machine->coherence, MEMORY_START + at, memory->real + at,
			       memory->machine->config.coherence.line);
	return (unsigned char *)((uintptr_t)memory->real - MEMORY_START);
}

const struct layout_field *memory_field(const struct memory *memory, uint16_t number,
					const struct layout **layout)
{
	for (uint32_t k = 0; k < memory->block_count; k++) {
		const struct field_block *block = &memory->blocks[k];

		if (number >= block->first && number < block->first + block->layout->field_count) {
			*layout = block->layout;
			return &block->layout->fields[number - block->first];
		}
	}
	return NULL;
}

const struct object *memory_object(const struct memory *memory, uint64_t address)
{
	for (uint32_t k = 0; k < memory->object_count; k++) {
		const struct object *object = &memory->objects[k];

		if (address >= object->address && address < object->address + object->layout->size)
			return object;
	}
	return NULL;
}
