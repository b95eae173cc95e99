/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_verbs.h"
#include "config/schema.h"
#include "layout/btf.h"
#include "layout/dwarf.h"
#include "layout/pahole.h"
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

bool layout_types_open(struct layout_types *types, const struct layout_command *command,
		       const char *verb, struct error *error)
{
	int given = !!command->dwarf + !!command->btf + !!command->pahole;

	*types = (struct layout_types){ .path = command->dwarf ? command->dwarf
						: command->btf ? command->btf
							       : command->pahole };
	if (given != 1)
		return error_set(error,
				 "hitm layout %s: one of --dwarf, --btf and --pahole was "
				 "expected; hitm layout -h shows how",
				 verb);
	if (command->dwarf)
		types->dwarf = dwarf_open(command->dwarf, error);
	else if (command->btf)
		types->btf = btf_file_open(command->btf, command->btf_base, error);
	else
		types->pahole = pahole_open(command->pahole, error);
	return types->dwarf || types->btf || types->pahole;
}

void layout_types_close(struct layout_types *types)
{
	dwarf_close(types->dwarf);
	btf_file_close(types->btf);
	pahole_close(types->pahole);
}

struct members *layout_types_members(const struct layout_types *types, const char *structure,
				     uint32_t number, struct error *error)
{
	if (types->dwarf)
		return dwarf_members(types->dwarf, structure, error);
	if (types->btf)
		return btf_file_members(types->btf, structure, error);
	return pahole_members(types->pahole, structure, number, error);
}

static char *pahole_nearest(const struct pahole *pahole, const char *structure)
{
	const char *near = NULL, *name;

	for (uint32_t k = 0; (name = pahole_name(pahole, k)); k++)
		near = nearest(structure, (const char *[]){ near ? near : name, name, NULL });
	return near ? strdup(near) : NULL;
}

bool layout_types_unknown(const struct layout_types *types, const char *structure,
			  struct error *error)
{
	const char *known = types->btf ? btf_file_nearest(types->btf, structure) : NULL;
	char *near = types->dwarf ? dwarf_nearest(types->dwarf, structure)
		     : known      ? strdup(known)
		     : types->btf ? NULL
				  : pahole_nearest(types->pahole, structure);

	error_set(error, "%.200s: no struct %.60s, %s%.60s%s", types->path, structure,
		  near ? "did you mean '" : "expected one that it has", near ? near : "",
		  near ? "'?" : "");
	free(near);
	return false;
}

void layout_types_describe(const struct layout_types *types, char *text, size_t size)
{
	struct utsname host;

	if (types->btf && !strncmp(types->path, "/sys/kernel/btf/", 16) && !uname(&host))
		snprintf(text, size, "BTF of the running Linux %s, %s", host.release, types->path);
	else
		snprintf(text, size, "%s %s",
			 types->dwarf ? "DWARF of"
			 : types->btf ? "BTF of"
				      : "pahole text",
			 strcmp(types->path, "-") ? types->path : "on standard input");
}
