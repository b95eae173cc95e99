/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

/* `hitm export`. Returns the exit status. */
int cli_export(int argc, char **argv);

#endif
