/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs from the DWARF of compiled files. */
#ifndef LAYOUT_DWARF_H
#define LAYOUT_DWARF_H

#include "layout/members.h"

/* The DWARF of an object, a program, a library, a kernel module or an archive of objects,
 * relocated and decompressed where need be. Debug information kept in another file is found as
 * libdwfl finds it: by build ID or debug link, beside the file and in /usr/lib/debug (where
 * DEBUGINFOD_URLS is set, at those servers too). Type units (-fdebug-types-section) are seen in what is linked alone. NULL with *error
 * set: `path: what is wrong`. */
struct dwarf *dwarf_open(const char *path, struct error *error);
void dwarf_close(struct dwarf *dwarf);

/* The first complete definition at file scope of a struct or union with this name, or of a
 * typedef of one. DWARF knows alignments that were asked for. NULL with *error set, or with
 * *error empty where there is no such struct; the caller frees it. */
struct members *dwarf_members(struct dwarf *dwarf, const char *structure, struct error *error);

/* The known name nearest to `structure`, or NULL; the caller frees it. */
char *dwarf_nearest(struct dwarf *dwarf, const char *structure);

#endif
