/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs from the text that pahole prints, as people paste it: whole or cut, quoted and folded by
 * mail programs, with prose about it, several structs in one text, in any form (also -E, --hex). */
#ifndef LAYOUT_PAHOLE_H
#define LAYOUT_PAHOLE_H

#include "layout/members.h"

enum { PAHOLE_LIMIT = 32 << 20 /* bytes of text */ };

/* Reads all structs of a file, or of standard input where the path is "-". What is not pahole's is passed
 * over. NULL with *error set: `path: what is wrong`. */
struct pahole *pahole_open(const char *path, struct error *error);
/* The same from memory, which is copied; `name` stands for the path in messages. */
struct pahole *pahole_parse(const char *name, const char *text, size_t length, struct error *error);
void pahole_close(struct pahole *pahole);

/* The struct or union with this name. Members without a struct's head, as people quote a part of one, may
 * be of any struct: they are an excerpt, and taken where there is no struct of this name. Of several,
 * `number`, from 1 in order of the text, says which, structs of this name and excerpts counted
 * together; 0: there must be but one.
 *
 * A member that is a struct has members of its own where they are printed within it (-E), or where
 * the text has one struct of that name and size. A struct whose size is not printed is `cut`: the size is
 * the end of its last member, rounded up to 64 but for unions. The alignment is a guess from sizes and
 * offsets, but for __aligned__.
 *
 * NULL with *error set, or with *error empty where there is no such struct; the caller frees it. */
struct members *pahole_members(const struct pahole *pahole, const char *structure, uint32_t number,
			       struct error *error);

/* The name of a struct with members, from 0 on; "" of an excerpt; NULL at the end. */
const char *pahole_name(const struct pahole *pahole, uint32_t number);

#endif
