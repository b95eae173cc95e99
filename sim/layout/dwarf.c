/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout/dwarf.h"
#include "config/schema.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_LIMIT = 64 /* typedefs and qualifiers in a row */ };

/* libdwfl, and not libdw alone, because it relocates the sections of objects. */
struct dwarf {
	Dwfl *dwfl;
	char *path;
};

/* A search for a struct, and then the way through it. */
struct search {
	const struct dwarf *file;
	Dwarf *dwarf; /* of the module at hand */
	const char *structure;
	const char *near; /* the name nearest to it so far */
	struct members *members;
	struct error *error;
};

/* ---- entries -------------------------------------------------------------------------------- */

static bool damaged(const struct search *search, struct error *error)
{
	const char *why = dwarf_errmsg(-1);

	return error_set(error, "%.200s: struct %.60s: damaged DWARF: %s", search->file->path,
			 search->structure, why ? why : "an entry refers to nothing");
}

/* An entry by a number that is not 0. Type units of DWARF 4 are a section of their own. */
static uint64_t id_of(Dwarf_Die *die)
{
	Dwarf_Half version = 0;
	uint8_t unit = 0;

	dwarf_cu_info(die->cu, &version, &unit, NULL, NULL, NULL, NULL, NULL);
	return dwarf_dieoffset(die) << 1 | (version == 4 && unit == DW_UT_type);
}

static bool die_of(const struct search *search, uint64_t id, Dwarf_Die *die, struct error *error)
{
	if ((id & 1 ? dwarf_offdie_types : dwarf_offdie)(search->dwarf, id >> 1, die))
		return true;
	return damaged(search, error);
}

/* A number of an entry, or 0 where it has no such attribute. DWARF 2 has members' offsets as
 * expressions. */
static uint64_t number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value = 0;
	Dwarf_Op *op;
	size_t count;

	if (!dwarf_attr(die, attribute, &found))
		return 0;
	if (!dwarf_formudata(&found, &value))
		return value;
	if (!dwarf_getlocation(&found, &op, &count) && count == 1 && op->atom == DW_OP_plus_uconst)
		return op->number;
	return 0;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute found;

	return dwarf_attr(die, DW_AT_type, &found) && dwarf_formref_die(&found, type);
}

/* The entry behind typedefs and qualifiers. */
static bool strip(Dwarf_Die *die)
{
	for (int k = 0; k < CHAIN_LIMIT; k++)
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!type_of(die, die))
				return false;
			break;
		default:
			return true;
		}
	return false;
}

/* In bytes; 0 where it is not known. clang leaves it to the machine how many a pointer has. */
static uint64_t size_of(Dwarf_Die *die)
{
	Dwarf_Die unit;
	uint8_t address = 0, offset;

	if (dwarf_tag(die) == DW_TAG_pointer_type && !dwarf_hasattr(die, DW_AT_byte_size) &&
	    dwarf_diecu(die, &unit, &address, &offset))
		return address;
	return number_of(die, DW_AT_byte_size);
}

static bool is_compound(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

/* To the next sibling; damaged files may lead back. */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return !dwarf_siblingof(die, die) && dwarf_dieoffset(die) > before;
}

/* ---- types ---------------------------------------------------------------------------------- */

/* How many elements; 0 where a dimension is not known. */
static uint64_t element_count(Dwarf_Die *array)
{
	Dwarf_Die bounds;
	uint64_t count = 1;
	bool more = !dwarf_child(array, &bounds);

	for (; more; more = next_sibling(&bounds)) {
		uint64_t dimension = number_of(&bounds, DW_AT_count);

		if (dwarf_tag(&bounds) != DW_TAG_subrange_type)
			continue;
		if (!dimension && dwarf_hasattr(&bounds, DW_AT_upper_bound))
			dimension = number_of(&bounds, DW_AT_upper_bound) + 1;
		if (dimension > MEMBERS_SIZE || __builtin_mul_overflow(count, dimension, &count))
			return UINT64_MAX;
	}
	return count;
}

static bool array_read(Dwarf_Die *array, struct type *type)
{
	Dwarf_Die element;
	uint64_t count = element_count(array);
	unsigned dimensions = 0;

	do {
		if (!type_of(dimensions ? &element : array, &element) || !strip(&element) ||
		    ++dimensions > CHAIN_LIMIT)
			return false;
		if (dwarf_tag(&element) == DW_TAG_array_type &&
		    __builtin_mul_overflow(count, element_count(&element), &count))
			return false;
	} while (dwarf_tag(&element) == DW_TAG_array_type);
	type->size = size_of(&element);
	type->align = is_compound(&element) ? number_of(&element, DW_AT_alignment) : type->size;
	return !__builtin_mul_overflow(type->size, count, &type->size);
}

static bool type_read(void *context, uint64_t id, struct type *type, struct error *error)
{
	const struct search *search = context;
	Dwarf_Die die, child;

	if (!die_of(search, id, &die, error))
		return false;
	if (!strip(&die))
		return damaged(search, error);
	if (dwarf_tag(&die) == DW_TAG_array_type)
		return array_read(&die, type) || damaged(search, error);
	type->size = size_of(&die);
	type->align = number_of(&die, DW_AT_alignment);
	type->compound = is_compound(&die);
	type->name = type->compound ? dwarf_diename(&die) : NULL;
	if (type->compound && !dwarf_child(&die, &child))
		type->first_member = id_of(&child);
	if (!type->compound && !type->align)
		type->align = type->size;
	return true;
}

/* Where a member's bits begin. Before DWARF 4, a bit-field counts from the most significant bit
 * of the unit that holds it. */
static uint64_t bit_offset_of(Dwarf_Die *die, uint64_t bits)
{
	uint64_t start = 8 * number_of(die, DW_AT_data_member_location);
	Dwarf_Die type;

	if (dwarf_hasattr(die, DW_AT_data_bit_offset))
		return number_of(die, DW_AT_data_bit_offset);
	if (bits && dwarf_hasattr(die, DW_AT_bit_offset)) {
		uint64_t unit = number_of(die, DW_AT_byte_size);

		if (!unit && type_of(die, &type) && strip(&type))
			unit = size_of(&type);
		start += 8 * unit - number_of(die, DW_AT_bit_offset) - bits;
	}
	return start;
}

/* What is no member (functions and types of C++) becomes one without a name that has no members. */
static bool member_read(void *context, uint64_t id, struct type_member *member, struct error *error)
{
	const struct search *search = context;
	Dwarf_Die die, type;
	int tag;

	if (!die_of(search, id, &die, error))
		return false;
	tag = dwarf_tag(&die);
	if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	    !dwarf_hasattr(&die, DW_AT_external)) {
		if (!type_of(&die, &type))
			return damaged(search, error);
		member->name = dwarf_diename(&die);
		member->bits = (uint32_t)number_of(&die, DW_AT_bit_size);
		member->bit_offset = bit_offset_of(&die, member->bits);
		member->align = number_of(&die, DW_AT_alignment);
		member->type = id_of(&type);
	}
	if (next_sibling(&die))
		member->next = id_of(&die);
	return true;
}

/* ---- structs -------------------------------------------------------------------------------- */

/* Is this the definition? Then it is read. */
static bool entry_matches(struct search *search, Dwarf_Die *entry)
{
	const struct type_reader reader = { search, type_read, member_read };
	const char *name = dwarf_diename(entry);
	Dwarf_Die die = *entry;

	if (!name || strcmp(name, search->structure) ||
	    !(is_compound(entry) || dwarf_tag(entry) == DW_TAG_typedef) || !strip(&die) ||
	    !is_compound(&die) || !dwarf_hasattr(&die, DW_AT_byte_size))
		return false;
	search->members = members_read(&reader, search->structure, id_of(&die), search->error);
	return true;
}

/* At file scope, in every unit of a module: until `each` returns true. */
static bool entries_search(struct search *search, Dwfl_Module *module,
			   bool (*each)(struct search *search, Dwarf_Die *entry))
{
	Dwarf_Addr bias;
	Dwarf_CU *unit = NULL;
	Dwarf_Die top, entry;

	search->dwarf = dwfl_module_getdwarf(module, &bias);
	while (search->dwarf &&
	       !dwarf_get_units(search->dwarf, unit, &unit, NULL, NULL, &top, NULL))
		for (bool more = !dwarf_child(&top, &entry); more; more = next_sibling(&entry))
			if (each(search, &entry))
				return true;
	return false;
}

static int module_search(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start,
			 void *context)
{
	(void)userdata, (void)name, (void)start;
	return entries_search(context, module, entry_matches) ? DWARF_CB_ABORT : DWARF_CB_OK;
}

struct members *dwarf_members(struct dwarf *dwarf, const char *structure, struct error *error)
{
	struct search search = { .file = dwarf, .structure = structure, .error = error };

	dwfl_getmodules(dwarf->dwfl, module_search, &search, 0);
	return search.members;
}

/* Keeps the nearer of this name and the nearest so far. */
static bool entry_compare(struct search *search, Dwarf_Die *entry)
{
	const char *names[] = { search->near, dwarf_diename(entry), NULL };
	Dwarf_Die die = *entry;

	if (!names[1] || !(is_compound(entry) || dwarf_tag(entry) == DW_TAG_typedef) ||
	    !strip(&die) || !is_compound(&die) || !dwarf_hasattr(&die, DW_AT_byte_size))
		return false;
	search->near = nearest(search->structure, names[0] ? names : names + 1);
	return false;
}

static int module_compare(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start,
			  void *context)
{
	(void)userdata, (void)name, (void)start;
	entries_search(context, module, entry_compare);
	return DWARF_CB_OK;
}

char *dwarf_nearest(struct dwarf *dwarf, const char *structure)
{
	struct search search = { .file = dwarf, .structure = structure };

	dwfl_getmodules(dwarf->dwfl, module_compare, &search, 0);
	return search.near ? strdup(search.near) : NULL;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int has_dwarf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start,
		     void *context)
{
	Dwarf_Addr bias;

	(void)userdata, (void)name, (void)start;
	*(bool *)context |= dwfl_module_getdwarf(module, &bias) != NULL;
	return DWARF_CB_OK;
}

struct dwarf *dwarf_open(const char *path, struct error *error)
{
	static const Dwfl_Callbacks callbacks = { .find_debuginfo = dwfl_standard_find_debuginfo,
						  .section_address = dwfl_offline_section_address };
	struct dwarf *dwarf = calloc(1, sizeof(*dwarf));
	bool found = false;

	if (dwarf)
		dwarf->path = strdup(path);
	if (!dwarf || !dwarf->path || !(dwarf->dwfl = dwfl_begin(&callbacks))) {
		error_set(error, "out of memory");
	} else if (errno = 0, !dwfl_report_offline(dwarf->dwfl, "", path, -1)) {
		error_set(error, "%.200s: %s, expected an ELF file", path,
			  errno ? strerror(errno) : dwfl_errmsg(-1));
	} else {
		dwfl_report_end(dwarf->dwfl, NULL, NULL);
		dwfl_getmodules(dwarf->dwfl, has_dwarf, &found, 0);
		if (found)
			return dwarf;
		error_set(error, "%.200s: no debug information, expected DWARF as cc -g makes it",
			  path);
	}
	dwarf_close(dwarf);
	return NULL;
}

void dwarf_close(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	if (dwarf->dwfl)
		dwfl_end(dwarf->dwfl);
	free(dwarf->path);
	free(dwarf);
}
