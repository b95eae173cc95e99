/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/elf_file.h"
#include <fcntl.h>
#include <unistd.h>

void elf_file_close(struct elf_file *elf)
{
	if (elf->elf)
		elf_end(elf->elf);
	if (elf->file >= 0)
		close(elf->file);
}

bool elf_file_open(struct elf_file *elf, const char *path, struct error *error)
{
	*elf = (struct elf_file){ .file = open(path, O_RDONLY | O_CLOEXEC) };
	if (elf->file < 0)
		return error_set(error, "%s: %m", path);
	if (elf_version(EV_CURRENT) != EV_NONE)
		elf->elf = elf_begin(elf->file, ELF_C_READ, NULL);
	if (elf->elf && elf_kind(elf->elf) == ELF_K_ELF && gelf_getehdr(elf->elf, &elf->header) &&
	    (elf->header.e_type == ET_EXEC || elf->header.e_type == ET_DYN))
		return true;
	elf_file_close(elf);
	return error_set(error, "%s: no ELF program, whose symbols could be looked up", path);
}
