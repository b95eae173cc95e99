/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a program's global objects lie in memory. */
#ifndef NATIVE_SYMBOL_H
#define NATIVE_SYMBOL_H

#include "config/error.h"
#include <stdint.h>

struct symbol {
	uint64_t address; /* as the file says; of a movable program, from where it is loaded */
	uint64_t size;    /* bytes; 0: the file does not say */
	bool movable;     /* position-independent: loaded anywhere */
};

/* The data object of this name in an ELF file's symbol table (or, stripped, in that of dynamic
 * symbols). False with *error set: no ELF file, no such object, several of them, thread-local. */
bool symbol_find(const char *path, const char *name, struct symbol *symbol, struct error *error);

/* Where the movable program `path` of a running process is loaded: what is to be added to its
 * symbols. `maps` is the process' /proc/PID/maps, and `exe` what its /proc/PID/exe points to.
 * False with *error set. */
bool symbol_base(const char *path, const char *maps, const char *exe, uint64_t *base,
		 struct error *error);

#endif
