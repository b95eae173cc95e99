/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm check --table: the rows of protocol.def that a variant has. */
#ifndef CLI_CHECK_TABLE_H
#define CLI_CHECK_TABLE_H

#include "coherence/protocol.h"
#include <stdio.h>

void check_table_print(FILE *out, const struct protocol_variant *variant, bool markdown);

#endif
