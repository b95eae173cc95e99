/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files from strangers, whole and in memory. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "config/error.h"
#include <stddef.h>

/* Opens a regular file to be read; what is none is refused unopened, since to open a FIFO or a device
 * is an act already. Returns a descriptor, which the caller closes; -1 with *error set: `PATH: reason`. */
int file_open(const char *path, struct error *error);

/* Reads a regular file of at most `most` bytes (whole MiB), opened as above. Returns the bytes, which the caller
 * frees, and their number in *length; NULL with *error set: `PATH: reason`. */
char *file_read(const char *path, size_t most, size_t *length, struct error *error);

/* The same of standard input, which may be anything; in messages it is "standard input". */
char *file_read_input(size_t most, size_t *length, struct error *error);

/* Records that a text is longer than `most` bytes, placed at its start. Returns false. */
bool file_too_long(const char *name, size_t most, struct error *error);

#endif
