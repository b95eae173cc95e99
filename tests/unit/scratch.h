/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory of its own for a suite that runs the command, and the command run in it. */
#ifndef HITM_TESTS_UNIT_SCRATCH_H
#define HITM_TESTS_UNIT_SCRATCH_H

/* Set-up and clean-up of a suite: the directory is new, and goes with all that is in it. 0: done. */
int scratch_make(void);
int scratch_remove(void);

const char *scratch_directory(void);
/* The path of a file in it; holds until the next call. */
const char *path_of(const char *name);
void file_write(const char *name, const char *text);
/* What a file in it holds, up to a MiB; "" where there is none. Holds until the next call. */
const char *file_text(const char *name);

/* Runs `hitm ARGUMENTS` ($HITM, else build/hitm) in the directory, with variables set as the shell sets
 * them ("" for none). Returns the exit status, 124 where it would not end within a minute; standard error
 * is in the file "err", standard output in "out". */
int hitm_run(const char *variables, const char *arguments);

#endif
