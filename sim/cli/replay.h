/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

/* `hitm replay`. Returns the exit status. */
int cli_replay(int argc, char **argv);

#endif
