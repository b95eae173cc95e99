/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs from BTF, the Linux kernel's own type information. */
#ifndef LAYOUT_BTF_H
#define LAYOUT_BTF_H

#include "layout/members.h"

/* The BTF in an ELF file's section .BTF, or a file of nothing else, as /sys/kernel/btf/vmlinux.
 * That of kernel modules, which refers to the kernel's, cannot be read. NULL with *error set:
 * `path: what is wrong`. Makes libbpf print nothing in this process. */
struct btf_file *btf_file_open(const char *path, struct error *error);
void btf_file_close(struct btf_file *file);

/* The first struct or union with this name, or a typedef of one. BTF does not know alignments
 * that were asked for: the alignment is that of the members. NULL with *error set, or with
 * *error empty where there is no such struct; the caller frees it. */
struct members *btf_file_members(struct btf_file *file, const char *structure, struct error *error);

#endif
