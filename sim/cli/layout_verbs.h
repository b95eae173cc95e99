/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of `hitm layout`. */
#ifndef CLI_LAYOUT_VERBS_H
#define CLI_LAYOUT_VERBS_H

#include "cli/output.h"
#include "layout/members.h"

enum { STATUS_DONE, STATUS_DISAGREES, STATUS_REFUSED };

enum { LAYOUT_PATH = 4096, LAYOUT_NESTINGS = 64 };

/* All options of all verbs; NULL or 0 where they are not given. */
struct layout_command {
	enum output_format format;
	uint32_t line;
	bool only_help, flat;
	const char *dwarf, *btf, *pahole; /* files */
	const char *btf_base;
	const char *name, *out;
	uint32_t nth; /* of several structs with one name */
	struct nesting nestings[LAYOUT_NESTINGS];
	uint32_t nesting_count;
	char directory[LAYOUT_PATH]; /* configs/layouts */
};

/* They return the exit status; STATUS_REFUSED with *error set, or with all said. */
int layout_show(struct layout_command *command, int count, char **names, struct error *error);
int layout_verify(struct layout_command *command, int count, char **names, struct error *error);
int layout_import(struct layout_command *command, int count, char **names, struct error *error);

/* ---- structs as something that is compiled has them ----------------------------------------- */

/* Where structs come from; one of the three. */
struct layout_types {
	struct dwarf *dwarf;
	struct btf_file *btf;
	struct pahole *pahole;
	const char *path;
};

/* Opens the file that the options name, which must be one. */
bool layout_types_open(struct layout_types *types, const struct layout_command *command,
		       const char *verb, struct error *error);
void layout_types_close(struct layout_types *types);

/* `number`: as of pahole_members; debug information has the first alone. NULL with *error set, or
 * empty where there is no such struct; the caller frees it. */
struct members *layout_types_members(const struct layout_types *types, const char *structure,
				     uint32_t number, struct error *error);

/* Sets *error: there is no such struct; and names the nearest. Returns false. */
bool layout_types_unknown(const struct layout_types *types, const char *structure,
			  struct error *error);

/* Says where structs come from: "DWARF of mm/memcontrol.o". */
void layout_types_describe(const struct layout_types *types, char *text, size_t size);

#endif
