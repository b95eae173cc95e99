/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is made of a struct. */
struct import {
	struct layout_command *command;
	const struct layout_types *types;
	char name[256]; /* of the layout */
	char *text;     /* YAML */
	size_t length;
};

/* ---- names ---------------------------------------------------------------------------------- */

static bool ends_in_yaml(const char *path)
{
	size_t length = strlen(path);

	return length > 5 && !strcmp(path + length - 5, ".yaml");
}

/* A layout has the name of its file, by which others may nest it. */
static bool name_choose(struct import *import, const char *structure, struct error *error)
{
	const char *out = import->command->out, *slash = out ? strrchr(out, '/') : NULL;
	const char *name = import->command->name;
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";

	if (out && ends_in_yaml(out))
		snprintf(import->name, sizeof(import->name), "%.*s",
			 (int)strlen(slash ? slash + 1 : out) - 5, slash ? slash + 1 : out);
	else
		snprintf(import->name, sizeof(import->name), "%s", structure);
	if (name && out && ends_in_yaml(out) && strcmp(name, import->name))
		return error_set(error,
				 "hitm layout import: --name '%.60s', expected '%.60s' as --out "
				 "calls the file",
				 name, import->name);
	if (name)
		snprintf(import->name, sizeof(import->name), "%s", name);
	return (*import->name && *import->name != '-' &&
		strspn(import->name, letters) == strlen(import->name)) ||
	       error_set(error,
			 "hitm layout import: '%.60s' names no layout, expected a --name of "
			 "letters, digits, _ . -",
			 import->name);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void comment_write(const struct import *import, const struct members *members, char *text,
			  size_t size)
{
	bool bits = false;

	for (uint32_t k = 0; k < members->count; k++)
		bits |= members->all[k].bits != 0;
	snprintf(text, size, "%s%s%s",
		 import->types->dwarf ? ""
				      : "The alignment is that of the members, as far as it is "
					"known from their sizes.\n",
		 bits ? "Bit-fields have the bytes that they lie in; those that share bytes are in "
			"union_with.\n"
		      : "",
		 members->cut ? "The size was not in the text: it is the end of the last member, "
				"of a struct rounded up to 64.\n"
			      : "");
}

/* Without the text where there was no memory. */
static bool text_save(struct import *import, const struct layout *layout,
		      const struct layout_nested *nested, uint32_t nested_count,
		      const char *comment, struct error *error)
{
	FILE *file;

	free(import->text);
	import->text = NULL;
	file = open_memstream(&import->text, &import->length);
	if (file)
		layout_save(file, layout, nested, nested_count, comment);
	return (file && !fclose(file) && import->text) || error_set(error, "out of memory");
}

/* What is written has been read back; --flat writes what nested layouts have become there. */
static bool text_make(struct import *import, const struct members *members,
		      const struct layout *layout, const struct layout_nested *nested,
		      uint32_t nested_count, struct error *error)
{
	char comment[512];
	struct layout *back = NULL;
	bool good;

	comment_write(import, members, comment, sizeof(comment));
	good = text_save(import, layout, nested, nested_count, comment, error) &&
	       (back = layout_parse(import->command->directory, import->name, import->text,
				    import->length, error));
	if (good && import->command->flat)
		good = text_save(import, back, NULL, 0, comment, error);
	layout_free(back);
	return good;
}

static bool struct_convert(struct import *import, const struct members *members,
			   struct error *error)
{
	struct layout_command *command = import->command;
	struct layout_nested *nested = calloc(members->count + 1, sizeof(*nested));
	uint32_t nested_count = 0;
	struct layout *layout = NULL;
	char origin[512], source[600];
	bool good;

	layout_types_describe(import->types, origin, sizeof(origin));
	if (members->line)
		snprintf(source, sizeof(source), "%s, line %u%s", origin, members->line,
			 members->cut ? "; its size is a guess" : "");
	else
		snprintf(source, sizeof(source), "%s", origin);
	if (nested)
		layout =
			members_layout_nested(members, import->name, source, command->nestings,
					      command->nesting_count, nested, &nested_count, error);
	else
		error_set(error, "out of memory");
	good = layout && text_make(import, members, layout, nested, nested_count, error);
	layout_free(layout);
	free(nested);
	return good;
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool text_write(const struct import *import, struct error *error)
{
	const char *out = import->command->out;
	char name[sizeof(import->name) + 5];
	struct output output;
	bool opened;

	if (!out) {
		fwrite(import->text, 1, import->length, stdout);
		return output_flush(error);
	}
	snprintf(name, sizeof(name), "%s.yaml", import->name);
	opened = ends_in_yaml(out) ? output_open_path(&output, out, error)
				   : output_open(&output, out, name, error);
	if (!opened)
		return false;
	fwrite(import->text, 1, import->length, output.file);
	return output_close(&output, error);
}

static bool import_one(struct import *import, const char *structure, struct error *error)
{
	struct members *members =
		layout_types_members(import->types, structure, import->command->nth, error);
	bool good = members && name_choose(import, structure, error) &&
		    struct_convert(import, members, error) && text_write(import, error);

	if (!members && !error->text[0])
		layout_types_unknown(import->types, structure, error);
	members_free(members);
	free(import->text);
	import->text = NULL;
	return good;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static bool options_fit(const struct layout_command *command, int count, struct error *error)
{
	if (!count)
		return error_set(error, "hitm layout import: a struct was expected; hitm layout -h "
					"shows how");
	if (count > 1 && command->name)
		return error_set(error, "hitm layout import: --name, expected one struct then");
	if (count > 1 && (!command->out || ends_in_yaml(command->out)))
		return error_set(error, "hitm layout import: several structs, expected --out "
					"DIRECTORY then");
	if (command->nth && !command->pahole)
		return error_set(error, "hitm layout import: --nth, expected --pahole with it");
	return true;
}

/* A mistake in a name shows. */
static bool nestings_are_used(const struct layout_command *command, struct error *error)
{
	for (uint32_t k = 0; k < command->nesting_count; k++)
		if (!command->nestings[k].used)
			return error_set(error,
					 "hitm layout import: --nested %.60s, expected the struct "
					 "of a member",
					 command->nestings[k].type);
	return true;
}

int layout_import(struct layout_command *command, int count, char **names, struct error *error)
{
	struct layout_types types = { .path = NULL };
	struct import import = { .command = command, .types = &types };
	bool good = options_fit(command, count, error) &&
		    layout_types_open(&types, command, "import", error);

	for (int k = 0; k < count && good; k++)
		good = import_one(&import, names[k], error);
	good = good && nestings_are_used(command, error);
	layout_types_close(&types);
	return good ? STATUS_DONE : STATUS_REFUSED;
}
