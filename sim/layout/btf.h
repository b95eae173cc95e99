/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs from BTF, the Linux kernel's own type information. */
#ifndef LAYOUT_BTF_H
#define LAYOUT_BTF_H

#include "layout/members.h"

#define BTF_KERNEL "/sys/kernel/btf/vmlinux" /* of the kernel that runs */

/* The BTF in an ELF file's section .BTF, or a file of nothing else, as /sys/kernel/btf/vmlinux.
 * That of a kernel module (/sys/kernel/btf/MODULE, or .BTF of MODULE.ko) goes on from that of the kernel it
 * was built with: the file `base`, or where that is NULL /sys/kernel/btf/vmlinux. NULL with *error set:
 * `path: what is wrong`. Makes libbpf print nothing in this process. */
struct btf_file *btf_file_open(const char *path, const char *base, struct error *error);
void btf_file_close(struct btf_file *file);

/* The first struct or union with this name, or a typedef of one. BTF does not know alignments
 * that were asked for: the alignment is that of the members. NULL with *error set, or with
 * *error empty where there is no such struct; the caller frees it. */
struct members *btf_file_members(struct btf_file *file, const char *structure, struct error *error);

/* Calls `each` for all structs and unions with a name, or with a typedef's where they have none of their own, in
 * order of the file (that of the base comes first). `members` lasts until `each` returns; it is NULL where the struct
 * cannot be had, which *refusal then says: it is empty, has over 1 MiB, too many members, or too
 * deep ones. Memory: one struct at a time. Stops when `each` returns false. */
void btf_file_each(struct btf_file *file,
		   bool (*each)(void *context, const char *name, const struct members *members,
				const struct error *refusal),
		   void *context);

/* The known name nearest to `structure`, or NULL; lasts as long as the file is open. */
const char *btf_file_nearest(struct btf_file *file, const char *structure);

#endif
