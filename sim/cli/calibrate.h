/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

/* hitm calibrate. Returns the exit status. */
int cli_calibrate(int argc, char **argv);

#endif
