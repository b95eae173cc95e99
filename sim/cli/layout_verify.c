/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_verbs.h"
#include "cli/output.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A layout and the struct that it is of. */
struct verification {
	const struct layout *layout;
	const struct members *members;
	bool headed;
};

static void print_disagreement(void *context, const struct disagreement *disagreement)
{
	struct verification *verification = context;
	const struct layout_field *field = disagreement->field;
	const struct member *found = disagreement->found;

	if (!verification->headed)
		printf("%s: does not agree with struct %s\n"
		       "  %-32s %16s %16s\n",
		       verification->layout->name, verification->layout->structure,
		       "field: offset, size", "in the layout", "found");
	verification->headed = true;
	if (!field)
		printf("  %-32s %16u %16u\n", "(size of the struct)", verification->layout->size,
		       verification->members->size);
	else if (!found)
		printf("  %-32s %9u, %5u %16s\n", field->name, field->offset, field->size,
		       "no such field");
	else
		printf("  %-32s %9u, %5u %9u, %5u%s\n", field->name, field->offset, field->size,
		       found->offset, found->size, found->bits ? " (a bit-field)" : "");
}

static void print_nothing(void *context, const struct disagreement *disagreement)
{
	(void)context;
	(void)disagreement;
}

enum verdict { AGREES, DISAGREES, ABSENT, FAILED };

/* In `detail`, every disagreement is printed; else a line says how many there are. */
static enum verdict verify_one(const struct layout_command *command,
			       const struct layout_types *types, const char *name, bool detail,
			       struct error *error)
{
	struct layout *layout = layout_load(command->directory, name, NULL, error);
	struct members *members =
		layout ? layout_types_members(types, layout->structure, 0, error) : NULL;
	struct verification verification = { layout, members, false };
	enum verdict verdict = error->text[0] ? FAILED : ABSENT;

	if (members) {
		uint32_t count =
			members_verify(members, layout, detail ? print_disagreement : print_nothing,
				       &verification);

		verdict = count ? DISAGREES : AGREES;
		if (!count)
			printf("%s: agrees with struct %s: %u fields, %u bytes\n", layout->name,
			       layout->structure, layout->field_count, layout->size);
		else if (!detail)
			printf("%s: does not agree with struct %s: %u disagreements\n",
			       layout->name, layout->structure, count);
	} else if (verdict == ABSENT && detail) {
		printf("%s: no struct %s in %s\n", layout->name, layout->structure, types->path);
	}
	members_free(members);
	layout_free(layout);
	return verdict;
}

static int is_layout_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".yaml");
}

/* Which of all layouts are those of this file? */
static int verify_all(const struct layout_command *command, const struct layout_types *types,
		      struct error *error)
{
	struct dirent **files;
	int count = scandir(command->directory, &files, is_layout_file, alphasort);
	int verdicts[FAILED + 1] = { 0 };

	if (count < 0) {
		error_set(error, "%.200s: no layouts there", command->directory);
		return STATUS_REFUSED;
	}
	for (int k = 0; k < count; k++) {
		files[k]->d_name[strlen(files[k]->d_name) - 5] = '\0';
		if (!verdicts[FAILED])
			verdicts[verify_one(command, types, files[k]->d_name, false, error)]++;
		free(files[k]);
	}
	free(files);
	if (verdicts[FAILED])
		return STATUS_REFUSED;
	printf("%d of %d layouts agree; %s has no struct for %d\n", verdicts[AGREES], count,
	       types->path, verdicts[ABSENT]);
	return verdicts[AGREES] ? STATUS_DONE : STATUS_DISAGREES;
}

int layout_verify(struct layout_command *command, int count, char **names, struct error *error)
{
	struct layout_types types;
	int status = STATUS_DONE;

	if (!layout_types_open(&types, command, "verify", error))
		return STATUS_REFUSED;
	if (!count)
		status = verify_all(command, &types, error);
	for (int k = 0; k < count && status != STATUS_REFUSED; k++) {
		enum verdict verdict = verify_one(command, &types, names[k], true, error);

		if (verdict != AGREES)
			status = verdict == FAILED ? STATUS_REFUSED : STATUS_DISAGREES;
	}
	layout_types_close(&types);
	return status;
}
