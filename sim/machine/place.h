/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What code under study says of an access, to simulated threads and to real ones alike. */
#ifndef MACHINE_PLACE_H
#define MACHINE_PLACE_H

#include <stdint.h>

/* Operations whose rate is counted, and loads in flight together, at most. */
enum { OPERATION_MAX = 8, GROUP_MAX = 24 };

/* A field of an object. size 0: the layout has no such field. */
struct place {
	uint64_t address; /* of simulated memory; natively, from the start of its likeness */
	uint16_t field;   /* number, for attribution */
	uint8_t size;     /* 1, 2, 4 or 8 bytes, not across a line */
};

/* STADD is an addition that returns nothing: what may be done at the home where `atomics` are
 * far_adds. */
enum rmw { RMW_ADD, RMW_XCHG, RMW_CMPXCHG, RMW_STADD };

#endif
