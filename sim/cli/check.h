/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm check: the simulator checks itself. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

int cli_check(int argc, char **argv);

#endif
