/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs what `hitm record` has planned. */
#ifndef CLI_RECORD_RUN_H
#define CLI_RECORD_RUN_H

#include "native/capture.h"
#include <stddef.h>

/* Where the shell would find a program: its path into `path`. False where it is not there, or may not
 * be executed. */
bool program_find(const char *name, char *path, size_t size);

/* Runs perf, and waits for it; no shell is between. Ctrl-C ends the captured command and perf, not
 * this one. *status is what `wait` says of perf, which ends as the captured command does. False
 * with *error set where there is no capture afterwards. */
bool record_run(const struct capture_run *run, int *status, struct error *error);

/* Has perf print what it alone can decode into a file. */
bool record_decode(const struct capture_run *run, const char *path, struct error *error);

#endif
