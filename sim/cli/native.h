/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm native EXPERIMENT`: the code of an experiment on this host, beside the
 * simulation of it. */
#ifndef CLI_NATIVE_H
#define CLI_NATIVE_H

/* argv[0] is "native". Returns the exit status: 0 done, 1 memory did not hold what the threads did,
 * 2 bad usage or input. */
int cli_native(int argc, char **argv);

#endif
