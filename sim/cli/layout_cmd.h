/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `hitm layout VERB NAME...`: show, check, verify and import struct layouts. */
#ifndef CLI_LAYOUT_CMD_H
#define CLI_LAYOUT_CMD_H

/* argv[0] is "layout". Returns the exit status: 0 done, 1 a layout does not agree, 2 bad
 * usage or input. */
int cli_layout(int argc, char **argv);

#endif
