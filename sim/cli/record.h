/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm record [options] -- COMMAND`: how perf captures the memory accesses of a
 * command here, and doing it. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

/* argv[0] is "record". Returns the exit status: 0 done, 1 the captured command failed, 2 bad usage,
 * or nothing can be captured here. */
int cli_record(int argc, char **argv);

#endif
