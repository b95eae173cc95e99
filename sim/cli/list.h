/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm list [KIND]`: what can be named. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

/* argv[0] is "list". Returns the exit status: 0 done, 2 bad usage, or a file that is no such thing.
 */
int cli_list(int argc, char **argv);

#endif
