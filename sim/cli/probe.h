/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm probe MACHINE`: virtual microbenchmarks beside published figures. */
#ifndef CLI_PROBE_H
#define CLI_PROBE_H

/* argv[0] is "probe". Returns the exit status: 0 done, 2 bad usage or input. */
int cli_probe(int argc, char **argv);

#endif
