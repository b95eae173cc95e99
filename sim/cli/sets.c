/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/sets.h"
#include <stdio.h>
#include <string.h>

enum { SET_PATH_SIZE = 256 };

bool sets_add(struct sets *sets, const char *command, const char *text, struct error *error)
{
	const char *equals = strchr(text, '=');

	if (!equals)
		return error_set(error, "hitm %s: --set '%.60s', expected PATH=VALUE", command,
				 text);
	if (equals - text >= SET_PATH_SIZE)
		return error_set(error, "hitm %s: --set with a path of more than %d characters",
				 command, SET_PATH_SIZE - 1);
	if (sets->count == SETS_MAX)
		return error_set(error, "hitm %s: more than %d --set", command, SETS_MAX);
	sets->all[sets->count++] = text;
	return true;
}

bool sets_apply(const struct sets *sets, struct setting *setting, struct error *error)
{
	for (int k = 0; k < sets->count; k++) {
		const char *equals = strchr(sets->all[k], '=');
		char path[SET_PATH_SIZE], name[SET_PATH_SIZE + 60];

		snprintf(path, sizeof(path), "%.*s", (int)(equals - sets->all[k]), sets->all[k]);
		snprintf(name, sizeof(name), "--set %s", sets->all[k]);
		if (!setting_override_text(setting, path, equals + 1, name, error))
			return false;
	}
	return true;
}
