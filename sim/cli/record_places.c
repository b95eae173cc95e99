/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* strchrnul */
#include "cli/record_places.h"
#include "cli/paths.h"
#include "layout/dwarf.h"
#include "native/symbol.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, PART_SIZE = 256, BREAKPOINT_BYTES = 8 };

struct object {
	char name[PART_SIZE], structure[PATH_SIZE], where[PART_SIZE];
};

/* ---- NAME=STRUCT@WHERE ---------------------------------------------------------------------- */

static bool read_part(char *part, size_t size, const char *from, const char *end)
{
	return end && end > from && (size_t)(end - from) < size &&
	       snprintf(part, size, "%.*s", (int)(end - from), from) > 0;
}

static bool read_object(struct object *object, const char *text, struct error *error)
{
	const char *equals = strchr(text, '='), *at = equals ? strrchr(equals, '@') : NULL;

	return (at && read_part(object->name, sizeof(object->name), text, equals) &&
		read_part(object->structure, sizeof(object->structure), equals + 1, at) &&
		read_part(object->where, sizeof(object->where), at + 1, strchr(at, '\0'))) ||
	       error_set(error,
			 "hitm record: --object '%.100s', expected NAME=STRUCT@SYMBOL or "
			 "NAME=STRUCT@0xADDRESS",
			 text);
}

static bool has_layout(const struct object *object)
{
	char path[PATH_SIZE];

	return strchr(object->structure, '/') ||
	       !access(named_path(path, sizeof(path), "layouts", object->structure), F_OK);
}

/* A layout, where there is one of this name; else a struct of the program. */
static struct layout *object_layout(const struct object *object, const struct record_target *target,
				    struct error *error)
{
	char directory[PATH_SIZE];
	struct members *members;
	struct layout *layout;
	struct dwarf *dwarf;

	if (has_layout(object))
		return layout_load(data_path(directory, sizeof(directory), "configs/layouts"),
				   object->structure, NULL, error);
	dwarf = dwarf_open(target->program, error);
	members = dwarf ? dwarf_members(dwarf, object->structure, error) : NULL;
	layout =
		members ? members_layout(members, object->structure, target->program, error) : NULL;
	if (!layout)
		error_set(error, "hitm record: '%.100s' is no layout, and no struct of %s",
			  object->structure, target->program);
	members_free(members);
	dwarf_close(dwarf);
	return layout;
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* What the addresses in the program are moved by in the running process. */
static bool running_base(const struct record_target *target, uint64_t *base, struct error *error)
{
	char maps[PATH_SIZE], link[PATH_SIZE], exe[PATH_SIZE];
	ssize_t length;

	snprintf(maps, sizeof(maps), "%s/proc/%" PRIu64 "/maps", target->root, target->pid);
	snprintf(link, sizeof(link), "%s/proc/%" PRIu64 "/exe", target->root, target->pid);
	length = readlink(link, exe, sizeof(exe) - 1);
	if (length < 0)
		return error_set(error, "%s: %m", link);
	exe[length] = '\0';
	return symbol_base(target->program, maps, exe, base, error);
}

static bool symbol_address(const struct object *object, const struct record_target *target,
			   uint32_t size, uint64_t *address, struct error *error)
{
	uint64_t base = 0;
	struct symbol symbol;

	if (!symbol_find(target->program, object->where, &symbol, error))
		return false;
	if (symbol.size && symbol.size < size)
		return error_set(
			error, "%s: '%s' has %" PRIu64 " bytes, and struct %s has %" PRIu32,
			target->program, object->where, symbol.size, object->structure, size);
	if (symbol.movable && !target->pid)
		return error_set(error,
				 "%s is position-independent: where '%s' lies is known once it "
				 "runs. Link it with -no-pie; or start it, and give --pid",
				 target->program, object->where);
	if (symbol.movable && !running_base(target, &base, error))
		return false;
	*address = base + symbol.address;
	return true;
}

static bool object_address(const struct object *object, const struct record_target *target,
			   uint32_t size, uint64_t *address, struct error *error)
{
	char *end;

	if (strncmp(object->where, "0x", 2))
		return symbol_address(object, target, size, address, error);
	errno = 0;
	*address = strtoull(object->where, &end, 16);
	return (!*end && end > object->where + 2 && !errno && *address <= UINT64_MAX - size) ||
	       error_set(error, "hitm record: '%.100s' is no address", object->where);
}

/* ---- fields --------------------------------------------------------------------------------- */

/* The most that one breakpoint takes: a power of two, at a multiple of itself. */
static uint32_t piece_size(uint64_t address, uint32_t left)
{
	uint32_t size = BREAKPOINT_BYTES;

	while (size > left || address % size)
		size /= 2;
	return size;
}

static bool add_field(struct record_places *places, const char *object, uint64_t address,
		      const struct layout_field *field, struct error *error)
{
	for (uint32_t done = 0, size; done < field->size; done += size) {
		uint64_t at = address + field->offset + done;

		size = piece_size(at, field->size - done);
		if (places->count == RECORD_PLACES)
			return error_set(error,
					 "hitm record: over %d places to watch; --fields A,B names "
					 "those that matter",
					 RECORD_PLACES);
		if (!(done ? words_add(&places->names, "%s.%s+%" PRIu32, object, field->name, done)
			   : words_add(&places->names, "%s.%s", object, field->name)))
			return error_set(error, "out of memory");
		places->all[places->count] =
			(struct capture_place){ .name = places->names.all[places->names.count - 1],
						.address = at,
						.size = (uint8_t)size };
		places->count++;
	}
	return true;
}

/* Each of a list with commas. */
static bool add_named(struct record_places *places, const struct object *object, uint64_t address,
		      const struct layout *layout, const char *fields, struct error *error)
{
	bool done = true;

	for (const char *at = fields, *end; done; at = end + 1) {
		const struct layout_field *field;
		char name[PART_SIZE];

		end = strchrnul(at, ',');
		snprintf(name, sizeof(name), "%.*s", (int)(end - at), at);
		field = layout_find(layout, name);
		done = field ? add_field(places, object->name, address, field, error)
			     : error_set(error, "hitm record: struct %s has no field '%.100s'",
					 object->structure, name);
		if (!*end)
			break;
	}
	return done;
}

/* For the trace: what has no file of a layout cannot be named there. */
static bool declare(struct record_places *places, const struct object *object, uint64_t address,
		    struct error *error)
{
	struct words *names = &places->names;

	if (!has_layout(object))
		return true;
	if (places->object_count == RECORD_OBJECTS)
		return error_set(error, "hitm record: over %d objects", RECORD_OBJECTS);
	if (!words_add(names, "%s", object->name) || !words_add(names, "%s", object->structure))
		return error_set(error, "out of memory");
	places->objects[places->object_count++] =
		(struct trace_object){ .name = names->all[names->count - 2],
				       .layout = names->all[names->count - 1],
				       .address = address };
	return true;
}

bool record_places_add(struct record_places *places, const struct record_target *target,
		       const char *object, const char *fields, struct error *error)
{
	struct object parts;
	struct layout *layout;
	uint64_t address = 0;
	bool done;

	if (!read_object(&parts, object, error))
		return false;
	layout = object_layout(&parts, target, error);
	done = layout && object_address(&parts, target, layout->size, &address, error);
	if (done && fields)
		done = add_named(places, &parts, address, layout, fields, error);
	for (uint32_t k = 0; done && !fields && k < layout->field_count; k++)
		done = add_field(places, parts.name, address, &layout->fields[k], error);
	layout_free(layout);
	return done && declare(places, &parts, address, error);
}

void record_places_free(struct record_places *places)
{
	words_free(&places->names);
	places->count = 0;
}

struct code *record_target_code(const struct record_target *target)
{
	struct error none = { "" };
	uint64_t base = 0;

	if (target->pid && !running_base(target, &base, &none))
		return NULL;
	/* Of a movable program that is not there yet, no address will be in the file. */
	return code_open(target->program, base, &none);
}
