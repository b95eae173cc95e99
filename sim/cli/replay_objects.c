/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include "native/symbol.h"
#include "trace/scan.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 4096, STRIDE_MAX = 1 << 30 };

static bool unreadable(const char *text, struct error *error)
{
	return error_set(error,
			 "hitm replay: --object '%.120s', expected NAME=LAYOUT@ADDRESS, with a "
			 "hexadecimal address or, with --elf, SYMBOL or SYMBOL+OFFSET; and "
			 "*STRIDExCOUNT after it for several",
			 text);
}

/* `*192x8` after the place: eight of them, 192 bytes from one to the next. */
static bool read_array(struct scan *scan, struct given_object *object)
{
	uint64_t count;

	if (!scan_char(scan, '*'))
		return true;
	if (!scan_decimal(scan, &object->stride) || !scan_char(scan, 'x') ||
	    !scan_decimal(scan, &count) || !object->stride || object->stride > STRIDE_MAX ||
	    !count || count > OBJECTS_MAX)
		return false;
	object->count = (uint32_t)count;
	return true;
}

/* A symbol of the ELF file, and what is added to it. */
static bool read_symbol(struct scan *scan, const char *elf, uint64_t *address, struct error *error)
{
	struct symbol symbol;
	char name[256];
	size_t length = 0;
	uint64_t more = 0;

	while (scan->at + length < scan->end && !strchr("+*", scan->at[length]))
		length++;
	if (!length || length >= sizeof(name))
		return error_set(error, "hitm replay: no symbol, expected one of %s", elf);
	memcpy(name, scan->at, length);
	name[length] = '\0';
	scan->at += length;
	if (!symbol_find(elf, name, &symbol, error))
		return false;
	if (symbol.movable)
		return error_set(
			error,
			"hitm replay: %s is loaded anywhere, so that %s says nothing of where "
			"%s was; expected its address at run time",
			elf, elf, name);
	if (scan_char(scan, '+') && !scan_hex(scan, &more))
		return error_set(error, "hitm replay: %s+..., expected a number of bytes", name);
	*address = symbol.address + more;
	return true;
}

static bool read_object(const char *text, const char *elf, struct given_object *object,
			struct error *error)
{
	const char *equals = strchr(text, '='), *at = strrchr(text, '@');
	struct scan scan;

	if (!equals || !at || at < equals || equals == text || at == equals + 1 ||
	    (size_t)(equals - text) >= sizeof(object->name) ||
	    (size_t)(at - equals - 1) >= sizeof(object->layout_name))
		return unreadable(text, error);
	*object = (struct given_object){ .count = 1 };
	memcpy(object->name, text, (size_t)(equals - text));
	memcpy(object->layout_name, equals + 1, (size_t)(at - equals - 1));
	scan = (struct scan){ at + 1, at + strlen(at) };
	if (elf && scan.at < scan.end && (*scan.at < '0' || *scan.at > '9')) {
		if (!read_symbol(&scan, elf, &object->address, error))
			return false;
	} else if (!scan_hex(&scan, &object->address)) {
		return unreadable(text, error);
	}
	return (read_array(&scan, object) && scan_ended(&scan)) || unreadable(text, error);
}

static bool is_given(const struct replay_command *command, const char *name)
{
	for (uint32_t k = 0; k < command->given_count; k++)
		if (!strcmp(command->given[k].name, name))
			return true;
	return false;
}

/* Takes it over, with its layout loaded. */
static bool add_object(struct replay_command *command, const struct given_object *object,
		       struct error *error)
{
	struct given_object *added = &command->given[command->given_count];

	*added = *object;
	added->layout = layout_load(command->directory, object->layout_name, NULL, error);
	if (!added->layout)
		return false;
	if (!added->stride)
		added->stride = added->layout->size;
	command->given_count++;
	return true;
}

static bool add_given(struct replay_command *command, const char *text, struct error *error)
{
	struct given_object object;

	if (!read_object(text, command->elf, &object, error))
		return false;
	if (is_given(command, object.name))
		return error_set(error, "hitm replay: --object %s twice, expected names apart",
				 object.name);
	return add_object(command, &object, error);
}

static bool add_declared(struct replay_command *command, const struct trace_object *from,
			 struct error *error)
{
	struct given_object object = { .address = from->address, .count = 1 };

	if (is_given(command, from->name))
		return true;
	if (strlen(from->name) >= sizeof(object.name) ||
	    strlen(from->layout) >= sizeof(object.layout_name))
		return error_set(error, "%s: object %.80s, expected a shorter name and layout",
				 command->trace, from->name);
	strcpy(object.name, from->name);
	strcpy(object.layout_name, from->layout);
	return add_object(command, &object, error);
}

bool replay_objects_read(struct replay_command *command, const struct tally *tally,
			 struct error *error)
{
	command->given =
		calloc(command->objects.count + tally->object_count + 1, sizeof(*command->given));
	if (!command->given)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < command->objects.count; k++)
		if (!add_given(command, command->objects.all[k], error))
			return false;
	for (uint32_t k = 0; k < tally->object_count; k++)
		if (!add_declared(command, &tally->objects[k], error))
			return false;
	return true;
}

void replay_objects_free(struct replay_command *command)
{
	for (uint32_t k = 0; k < command->given_count; k++)
		layout_free(command->given[k].layout);
	free(command->given);
	command->given = NULL;
	command->given_count = 0;
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* The object that holds an address, of an array which one, and where in it; NULL: none. */
static const struct given_object *object_at(const struct replay_command *command, uint64_t address,
					    uint32_t *number, uint32_t *offset)
{
	for (uint32_t k = 0; k < command->given_count; k++) {
		const struct given_object *object = &command->given[k];
		uint64_t into = address - object->address;

		if (address < object->address || into / object->stride >= object->count ||
		    into % object->stride >= object->layout->size)
			continue;
		*number = (uint32_t)(into / object->stride);
		*offset = (uint32_t)(into % object->stride);
		return object;
	}
	return NULL;
}

bool replay_object_name(const struct replay_command *command, uint64_t address, const char *array,
			char *name, size_t size, uint64_t *start)
{
	const struct given_object *object;
	const struct layout_field *field;
	char element[32] = "";
	uint32_t number, offset;

	object = object_at(command, address, &number, &offset);
	*start = address;
	if (!object) {
		snprintf(name, size, "0x%" PRIx64, address);
		return false;
	}
	if (object->count > 1)
		snprintf(element, sizeof(element), array, number);
	field = layout_covering(object->layout, offset);
	if (field)
		*start -= offset - field->offset;
	snprintf(name, size, "%s%s.%s", object->name, element, field ? field->name : "(padding)");
	return true;
}

/* Of records that have a field's name alone, or are at too many addresses, it is not known. */
static bool is_touched(const struct given_object *object, const struct tally *tally)
{
	for (uint32_t k = 0; k < object->count; k++) {
		uint64_t address = object->address + k * object->stride;
		uint32_t place = tally_from(tally, address);

		if (place < tally->count &&
		    tally->places[place].address - address < object->layout->size)
			return true;
	}
	return tally->crowded || tally->named;
}

bool replay_objects_touched(const struct replay_command *command, const struct tally *tally,
			    struct error *error)
{
	for (uint32_t k = 0; k < command->objects.count; k++)
		if (!is_touched(&command->given[k], tally))
			return error_set(
				error,
				"hitm replay: --object %s: no access of the capture lies in it",
				command->objects.all[k]);
	return true;
}
