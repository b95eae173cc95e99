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

const char *file_text(const char *name)
{
	static char text[1 << 20];
	FILE *file = fopen(path_of(name), "r");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
	return text;
}

int hitm_run(const char *variables, const char *arguments)
{
	const char *command = getenv("HITM");
	char line[1024], *absolute = realpath(command ? command : "build/hitm", NULL);

	if (!absolute) {
		CU_FAIL_FATAL("there is no command to test");
		return -1;
	}
	/* Only what hangs is ended: under sanitizers a command takes minutes. */
	snprintf(line, sizeof(line), "cd %s && timeout 300 env %s '%s' %s >out 2>err", directory,
		 variables, absolute, arguments);
	free(absolute);
	int status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
