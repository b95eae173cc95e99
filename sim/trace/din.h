/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a label and a hexadecimal number: of Dinero, and of homework on caches. */
#ifndef TRACE_DIN_H
#define TRACE_DIN_H

#include "trace/scan.h"

struct din_line {
	char label; /* '0' to '4', or one of "rwimcv" */
	uint64_t address;
	uint64_t size;  /* bytes; 0: not said */
	bool prefixed;  /* the address begins with 0x */
	bool commented; /* more follows */
};

bool din_parse(struct text line, struct din_line *din);

#endif
