/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout/btf.h"
#include "config/schema.h"
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHAIN_LIMIT = 64, /* typedefs and qualifiers in a row */
	FILE_LIMIT = 1 << 30,
};

#define NO_BTF "%.200s: no BTF, expected an ELF file with .BTF, or BTF alone"

struct btf_file {
	struct btf *btf, *base; /* the base, if there is one, is freed after it */
	char *path;
};

static bool damaged(const struct btf_file *file, struct error *error)
{
	return error_set(error, "%.200s: damaged BTF: a type refers to none", file->path);
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool is_compound(const struct btf_type *type)
{
	return btf_is_struct(type) || btf_is_union(type);
}

/* The id of the type behind typedefs, qualifiers and tags; 0 where there is none, or it is void. */
static uint32_t stripped(const struct btf_file *file, uint32_t id)
{
	for (int k = 0; k < CHAIN_LIMIT; k++) {
		const struct btf_type *type = btf__type_by_id(file->btf, id);

		if (!type)
			return 0;
		if (!(btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type)))
			return id;
		id = type->type;
	}
	return 0;
}

/* The element of an array of arrays, and how many there are. Of another type, 1 of itself. */
static uint32_t element_of(const struct btf_file *file, uint32_t id, uint64_t *count)
{
	*count = 1;
	id = stripped(file, id);
	for (int k = 0; id && k < CHAIN_LIMIT; k++) {
		const struct btf_type *type = btf__type_by_id(file->btf, id);

		if (!btf_is_array(type))
			return id;
		if (__builtin_mul_overflow(*count, btf_array(type)->nelems, count))
			return 0;
		id = stripped(file, btf_array(type)->type);
	}
	return 0;
}

/* A member's id is its struct's id and its own number. */
static bool type_read(void *context, uint64_t id, struct type *type, struct error *error)
{
	const struct btf_file *file = context;
	uint64_t count;
	uint32_t whole = stripped(file, (uint32_t)id), element = element_of(file, whole, &count);
	const struct btf_type *from = btf__type_by_id(file->btf, element);

	if (!element)
		return damaged(file, error);
	if (btf_is_ptr(from))
		type->size = btf__pointer_size(file->btf);
	else if (is_compound(from) || btf_is_int(from) || btf_is_any_enum(from) ||
		 btf_is_float(from))
		type->size = from->size;
	type->align = is_compound(from) ? 0 : type->size;
	type->compound = is_compound(from) && element == whole;
	type->name = type->compound ? btf__name_by_offset(file->btf, from->name_off) : NULL;
	if (type->compound && btf_vlen(from))
		type->first_member = (uint64_t)element << 16;
	return !__builtin_mul_overflow(type->size, count, &type->size) || damaged(file, error);
}

static bool member_read(void *context, uint64_t id, struct type_member *member, struct error *error)
{
	const struct btf_file *file = context;
	const struct btf_type *type = btf__type_by_id(file->btf, (uint32_t)(id >> 16));
	uint32_t number = id & 0xffff;

	if (!type || !is_compound(type) || number >= btf_vlen(type))
		return damaged(file, error);
	member->name = btf__name_by_offset(file->btf, btf_members(type)[number].name_off);
	member->type = btf_members(type)[number].type;
	member->bit_offset = btf_member_bit_offset(type, number);
	member->bits = btf_member_bitfield_size(type, number);
	member->next = number + 1u < btf_vlen(type) ? id + 1 : 0;
	return true;
}

/* ---- structs -------------------------------------------------------------------------------- */

/* The name by which a struct or union is known, or NULL where this is none. A typedef counts as one
 * of its own where `any` says so, else only where the struct has no other name. */
static const char *struct_name(const struct btf_file *file, uint32_t id, bool any)
{
	const struct btf_type *type = btf__type_by_id(file->btf, id), *behind = type;
	const char *name = btf__name_by_offset(file->btf, type->name_off), *own;

	if (!name || !*name || !(is_compound(type) || btf_is_typedef(type)))
		return NULL;
	if (btf_is_typedef(type)) {
		id = stripped(file, id);
		behind = id ? btf__type_by_id(file->btf, id) : NULL;
		own = behind ? btf__name_by_offset(file->btf, behind->name_off) : NULL;
		if (!behind || !is_compound(behind) || (!any && own && *own))
			return NULL;
	}
	return name;
}

struct members *btf_file_members(struct btf_file *file, const char *structure, struct error *error)
{
	const struct type_reader reader = { file, type_read, member_read };

	for (uint32_t id = 1; id < btf__type_cnt(file->btf); id++) {
		const char *name = struct_name(file, id, true);

		if (name && !strcmp(name, structure))
			return members_read(&reader, structure, id, error);
	}
	return NULL;
}

void btf_file_each(struct btf_file *file,
		   bool (*each)(void *context, const char *name, const struct members *members,
				const struct error *refusal),
		   void *context)
{
	const struct type_reader reader = { file, type_read, member_read };
	bool more = true;

	for (uint32_t id = 1; more && id < btf__type_cnt(file->btf); id++) {
		const char *name = struct_name(file, id, false);
		struct error refusal = { "" };
		struct members *members;

		if (!name)
			continue;
		members = members_read(&reader, name, id, &refusal);
		more = each(context, name, members, &refusal);
		members_free(members);
	}
}

const char *btf_file_nearest(struct btf_file *file, const char *structure)
{
	const char **names = calloc(btf__type_cnt(file->btf) + 1, sizeof(*names)), *near;
	size_t count = 0;

	for (uint32_t id = 1; names && id < btf__type_cnt(file->btf); id++)
		if ((names[count] = struct_name(file, id, true)))
			count++;
	near = names ? nearest(structure, names) : NULL;
	free(names);
	return near;
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool is_readable(const char *path, struct error *error)
{
	struct stat status;

	if (stat(path, &status))
		return error_set(error, "%.200s: %s", path, strerror(errno));
	return (S_ISREG(status.st_mode) && status.st_size <= FILE_LIMIT) ||
	       error_set(error, "%.200s: expected a file of at most 1 GiB", path);
}

/* Without a base, only what stands alone can be parsed: the strings of what does not begin with
 * none. */
static bool parse(struct btf_file *file, const char *path, const char *base, struct error *error)
{
	const char *kernel = base ? base : BTF_KERNEL;

	if (!is_readable(path, error) || (base && !is_readable(base, error)))
		return false;
	file->btf = base ? NULL : btf__parse(path, NULL);
	if (file->btf || (!base && (!strcmp(path, BTF_KERNEL) || access(BTF_KERNEL, R_OK))))
		return file->btf || error_set(error, NO_BTF, path);
	file->base = btf__parse(kernel, NULL);
	if (!file->base)
		return error_set(error, NO_BTF, kernel);
	file->btf = btf__parse_split(path, file->base);
	return file->btf || error_set(error, NO_BTF, path);
}

struct btf_file *btf_file_open(const char *path, const char *base, struct error *error)
{
	struct btf_file *file = calloc(1, sizeof(*file));

	libbpf_set_print(NULL);
	if (!file || !(file->path = strdup(path)))
		error_set(error, "out of memory");
	else if (parse(file, path, base, error))
		return file;
	btf_file_close(file);
	return NULL;
}

void btf_file_close(struct btf_file *file)
{
	if (!file)
		return;
	btf__free(file->btf);
	btf__free(file->base);
	free(file->path);
	free(file);
}
