/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record_run.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool program_find(const char *name, char *path, size_t size)
{
	const char *from = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return !access(path, X_OK);
	}
	for (size_t length; from && *from; from += length + (from[length] == ':')) {
		length = strcspn(from, ":");
		snprintf(path, size, "%.*s/%s", length ? (int)length : 1, length ? from : ".",
			 name);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

/* Starts a command whose standard output goes to a file, unless that is NULL, and which takes
 * interrupts though this one does not. 0, or an errno. */
static int spawn(char **arguments, const char *out, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t interrupts;
	int status = posix_spawn_file_actions_init(&actions);

	if (status)
		return status;
	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigaddset(&interrupts, SIGQUIT);
	if (out)
		status = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out,
							  O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!status)
		status = posix_spawnattr_init(&attributes);
	if (!status) {
		posix_spawnattr_setsigdefault(&attributes, &interrupts);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		status = posix_spawnp(child, arguments[0], &actions, &attributes, arguments,
				      environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

static bool wait_for(pid_t child, int *status)
{
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

/* As system(3) does: the interrupt is for those who run. */
static bool run_command(char **arguments, const char *out, int *status, struct error *error)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	pid_t child;
	int failure;
	bool done;

	fflush(stdout);
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	failure = spawn(arguments, out, &child);
	done = !failure && wait_for(child, status);
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return done || error_set(error, "hitm record: %s cannot be run: %s", arguments[0],
				 strerror(failure ? failure : errno));
}

/* perf makes the file before it knows whether it may capture, and fills it afterwards. */
static bool captured(const char *path)
{
	struct stat info;

	return !stat(path, &info) && info.st_size;
}

bool record_run(const struct capture_run *run, int *status, struct error *error)
{
	struct stat about;

	/* Removed, since perf would keep an old one: a link or a device must not be. */
	if (!lstat(run->out, &about) && !S_ISREG(about.st_mode))
		return error_set(error, "%s: not a file, and perf writes to files alone", run->out);
	if (unlink(run->out) && errno != ENOENT)
		return error_set(error, "%s: %m", run->out);
	if (!run_command(run->command.all, NULL, status, error))
		return false;
	return captured(run->out) ||
	       error_set(error, "hitm record: perf has captured nothing; what it says is above");
}

bool record_decode(const struct capture_run *run, const char *path, struct error *error)
{
	int status = 0;

	return run_command(run->decode.all, path, &status, error) &&
	       ((WIFEXITED(status) && !WEXITSTATUS(status)) ||
		error_set(error, "hitm record: perf cannot print %s; what it says is above",
			  run->out));
}
