/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/scratch.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char directory[32];

int scratch_make(void)
{
	strcpy(directory, "/tmp/hitm-test-XXXXXX");
	return !mkdtemp(directory);
}

int scratch_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

const char *scratch_directory(void)
{
	return directory;
}

const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

void file_write(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

int hitm_run(const char *variables, const char *arguments)
{
	const char *command = getenv("HITM");
	char line[1024], *absolute = realpath(command ? command : "build/hitm", NULL);

	if (!absolute) {
		CU_FAIL_FATAL("there is no command to test");
		return -1;
	}
	snprintf(line, sizeof(line), "cd %s && timeout 60 env %s '%s' %s >out 2>err", directory,
		 variables, absolute, arguments);
	free(absolute);
	int status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
