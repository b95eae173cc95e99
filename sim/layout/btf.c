/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout/btf.h"
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	CHAIN_LIMIT = 64, /* typedefs and qualifiers in a row */
	FILE_LIMIT = 1 << 30,
};

struct btf_file {
	struct btf *btf;
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

struct members *btf_file_members(struct btf_file *file, const char *structure, struct error *error)
{
	const struct type_reader reader = { file, type_read, member_read };

	for (uint32_t id = 1; id < btf__type_cnt(file->btf); id++) {
		const struct btf_type *type = btf__type_by_id(file->btf, id);
		const char *name = btf__name_by_offset(file->btf, type->name_off);

		if (name && !strcmp(name, structure) &&
		    (is_compound(type) || btf_is_typedef(type)) && stripped(file, id) &&
		    is_compound(btf__type_by_id(file->btf, stripped(file, id))))
			return members_read(&reader, structure, id, error);
	}
	return NULL;
}

/* ---- files ---------------------------------------------------------------------------------- */

struct btf_file *btf_file_open(const char *path, struct error *error)
{
	struct btf_file *file = calloc(1, sizeof(*file));
	struct stat status;

	libbpf_set_print(NULL);
	if (!file || !(file->path = strdup(path))) {
		error_set(error, "out of memory");
	} else if (stat(path, &status)) {
		error_set(error, "%.200s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode) || status.st_size > FILE_LIMIT) {
		error_set(error, "%.200s: expected a file of at most 1 GiB", path);
	} else {
		file->btf = btf__parse(path, NULL);
		if (file->btf)
			return file;
		error_set(error, "%.200s: no BTF, expected an ELF file with .BTF, or BTF alone",
			  path);
	}
	btf_file_close(file);
	return NULL;
}

void btf_file_close(struct btf_file *file)
{
	if (!file)
		return;
	btf__free(file->btf);
	free(file->path);
	free(file);
}
