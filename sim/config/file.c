/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_open(const char *path, struct error *error)
{
	struct stat status;
	int file;

	if (stat(path, &status))
		return error_set(error, "%s: %s", path, strerror(errno)), -1;
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s: not a regular file, expected one", path), -1;
	file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file < 0)
		return error_set(error, "%s: %s", path, strerror(errno)), -1;
	if (!fstat(file, &status) && S_ISREG(status.st_mode))
		return file;
	close(file);
	return error_set(error, "%s: not a regular file, expected one", path), -1;
}

/* Up to `room` bytes: fewer only at the end of the file, or where reading fails (-1). */
static ssize_t read_whole(int file, char *text, size_t room)
{
	size_t length = 0;

	while (length < room) {
		ssize_t got = read(file, text + length, room - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

bool file_too_long(const char *name, size_t most, struct error *error)
{
	return error_at(error, name, 1, 1, "too long, expected at most %zu MiB", most >> 20);
}

char *file_read(const char *path, size_t most, size_t *length, struct error *error)
{
	int file = file_open(path, error);
	char *text = file < 0 ? NULL : malloc(most + 1);
	ssize_t got;

	if (file < 0)
		return NULL;
	/* One byte more than allowed tells a file that is too long, or grows, from one that fits. */
	got = text ? read_whole(file, text, most + 1) : -1;
	if (got < 0)
		error_set(error, "%s: %s", path, strerror(errno));
	else if ((size_t)got > most)
		file_too_long(path, most, error);
	close(file);
	if (got >= 0 && (size_t)got <= most) {
		*length = (size_t)got;
		return text;
	}
	free(text);
	return NULL;
}

char *file_read_input(size_t most, size_t *length, struct error *error)
{
	char *text = malloc(most + 1);
	ssize_t got = text ? read_whole(STDIN_FILENO, text, most + 1) : -1;

	if (got >= 0 && (size_t)got <= most) {
		*length = (size_t)got;
		return text;
	}
	if (got < 0)
		error_set(error, "standard input: %s", strerror(errno));
	else
		file_too_long("standard input", most, error);
	free(text);
	return NULL;
}
