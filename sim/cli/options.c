/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool option_number(const char *command, const char *option, const char *text, uint64_t least,
		   uint64_t most, uint64_t *number, struct error *error)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least &&
		*number <= most) ||
	       error_set(error,
			 "hitm %s: --%s '%.40s', expected a whole number from %" PRIu64
			 " to %" PRIu64,
			 command, option, text, least, most);
}

bool option_refused(const char *command, int option, char **argv, struct error *error)
{
	const char *which = argv[optind - 1];

	return option == ':'
		       ? error_set(error, "hitm %s: %s takes a value; hitm %s -h shows how",
				   command, which, command)
		       : error_set(error,
				   "hitm %s: unknown option %s; hitm %s -h shows those it has",
				   command, which, command);
}

bool option_ideal(const char *command, const char *text, bool *layout, bool *atomics,
		  struct error *error)
{
	if (!strcmp(text, "layout"))
		*layout = true;
	else if (!strcmp(text, "atomics"))
		*atomics = true;
	else
		return error_set(
			error,
			"hitm %s: no counterfactual '%.40s', expected one of: layout, atomics",
			command, text);
	return true;
}
