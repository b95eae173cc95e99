/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF programs, opened. */
#ifndef NATIVE_ELF_FILE_H
#define NATIVE_ELF_FILE_H

#include "config/error.h"
#include <gelf.h>

struct elf_file {
	int file;
	Elf *elf;
	GElf_Ehdr header;
};

/* A program or a library. False with *error set, and nothing to close. */
bool elf_file_open(struct elf_file *elf, const char *path, struct error *error);
void elf_file_close(struct elf_file *elf);

#endif
