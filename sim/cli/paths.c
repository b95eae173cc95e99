/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/paths.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* The directories above the command, as far up as a checkout may be (build/hitm,
 * build/SANITIZERS/hitm). */
static bool beside_command(char *buffer, size_t size, const char *relative)
{
	char self[PATH_SIZE];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return false;
	self[length] = '\0';
	for (int up = 0; up < 4; up++) {
		char *slash = strrchr(self, '/');

		if (!slash)
			return false;
		*slash = '\0';
		snprintf(buffer, size, "%s/%s", self, relative);
		if (access(buffer, F_OK) == 0)
			return true;
	}
	return false;
}

const char *data_path(char *buffer, size_t size, const char *relative)
{
	snprintf(buffer, size, "%s", relative);
	if (access(buffer, F_OK) != 0 && !beside_command(buffer, size, relative))
		snprintf(buffer, size, "%s/%s", HITM_DATADIR, relative);
	return buffer;
}

const char *named_path(char *buffer, size_t size, const char *kind, const char *name)
{
	char relative[PATH_SIZE];
	size_t length = strlen(name);

	if (access(name, F_OK) == 0 || strchr(name, '/') ||
	    (length > 5 && !strcmp(name + length - 5, ".yaml"))) {
		snprintf(buffer, size, "%s", name);
		return buffer;
	}
	snprintf(relative, sizeof(relative), "configs/%s/%s.yaml", kind, name);
	return data_path(buffer, size, relative);
}

static int is_yaml(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".yaml");
}

int config_files(const char *kind, char *directory, size_t size, struct dirent ***files)
{
	char relative[PATH_SIZE];

	snprintf(relative, sizeof(relative), "configs/%s", kind);
	return scandir(data_path(directory, size, relative), files, is_yaml, alphasort);
}
