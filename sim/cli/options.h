/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all commands say of their options alike. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "config/error.h"
#include <stdint.h>

/* A whole number from `least` to `most`; `command` and `option` are for the message: "run", "jobs".
 * False with *error set where it is none. */
bool option_number(const char *command, const char *option, const char *text, uint64_t least,
		   uint64_t most, uint64_t *number, struct error *error);

/* Sets *error for what getopt_long, with a ':' at the start of its letters, has returned for an
 * option without its value (':') or for one that there is not. Returns false. */
bool option_refused(const char *command, int option, char **argv, struct error *error);

/* "layout" or "atomics": which counterfactual is to be simulated too. `command` is for the message. */
bool option_ideal(const char *command, const char *text, bool *layout, bool *atomics,
		  struct error *error);

#endif
