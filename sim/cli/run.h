/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm run EXPERIMENT`: simulate every variant, compare with what is published. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

/* argv[0] is "run". Returns the exit status: 0 done, 2 bad usage or input. */
int cli_run(int argc, char **argv);

#endif
