/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm plot RESULTS.json...`: pictures from results files. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

/* argv[0] is "plot". Returns the exit status: 0 done, 1 gnuplot is missing or failed, 2 bad usage
 * or input. */
int cli_plot(int argc, char **argv);

#endif
