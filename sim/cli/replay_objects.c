/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include "native/symbol.h"
#include "trace/scan.h"
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
	    (size_t)(at - equals - 1) >= sizeof(object->layout))
		return unreadable(text, error);
	*object = (struct given_object){ .count = 1 };
	memcpy(object->name, text, (size_t)(equals - text));
	memcpy(object->layout, equals + 1, (size_t)(at - equals - 1));
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

bool replay_objects_read(struct replay_command *command, const struct tally *tally,
			 struct error *error)
{
	command->given =
		calloc(command->objects.count + tally->object_count + 1, sizeof(*command->given));
	if (!command->given)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < command->objects.count; k++) {
		struct given_object object;

		if (!read_object(command->objects.all[k], command->elf, &object, error))
			return false;
		if (is_given(command, object.name))
			return error_set(error,
					 "hitm replay: --object %s twice, expected names apart",
					 object.name);
		command->given[command->given_count++] = object;
	}
	for (uint32_t k = 0; k < tally->object_count; k++) {
		struct given_object *object = &command->given[command->given_count];
		const struct trace_object *from = &tally->objects[k];

		if (is_given(command, from->name))
			continue;
		*object = (struct given_object){ .address = from->address, .count = 1 };
		snprintf(object->name, sizeof(object->name), "%s", from->name);
		snprintf(object->layout, sizeof(object->layout), "%s", from->layout);
		command->given_count++;
	}
	return true;
}
