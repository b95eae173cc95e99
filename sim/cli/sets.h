/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The --set PATH=VALUE of commands that take an experiment. */
#ifndef CLI_SETS_H
#define CLI_SETS_H

#include "workload/simulation.h"

enum { SETS_MAX = 64 };

struct sets {
	const char *all[SETS_MAX]; /* the caller's */
	int count;
};

/* One more; `command` is for messages: "run". */
bool sets_add(struct sets *sets, const char *command, const char *text, struct error *error);
/* All of them, in order. */
bool sets_apply(const struct sets *sets, struct setting *setting, struct error *error);

#endif
