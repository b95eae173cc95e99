/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files from strangers, whole and in memory. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "config/error.h"
#include <stddef.h>

/* Reads a regular file of at most `most` bytes (whole MiB); what is no regular file is refused
 * unread, since to open a FIFO or a device is an act already. Returns the bytes, which the caller
 * frees, and their number in *length; NULL with *error set: `PATH: reason`. */
char *file_read(const char *path, size_t most, size_t *length, struct error *error);

/* Records that a text is longer than `most` bytes, placed at its start. Returns false. */
bool file_too_long(const char *name, size_t most, struct error *error);

#endif
