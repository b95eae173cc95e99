/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the project's own files are: in a checkout, beside the command; installed, in share/hitm.
 */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "config/error.h"
#include <stddef.h>

/* The path of a file of the project such as "plots/bars.gp": the first that exists of ./RELATIVE
 * (the current directory, if it is a checkout), the checkout that the command was built in, and
 * HITM_DATADIR; where none exists, the last. Returns buffer. */
const char *data_path(char *buffer, size_t size, const char *relative);

/* What a user named: a path where it names a file or ends in ".yaml", else NAME of configs/KIND.
 * Returns buffer. */
const char *named_path(char *buffer, size_t size, const char *kind, const char *name);

/* The .yaml files of configs/KIND by name, in order; *directory is where they are. The caller frees
 * each and the array. Their number; below 0, with errno, where the directory cannot be read. */
struct dirent;
int config_files(const char *kind, char *directory, size_t size, struct dirent ***files);

#endif
