/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/pinned.h"
#include "check/pinned.def"

const struct pinned pinned_counts[] = {
#define PIN(protocol, eviction, home, atomics, caches, lines, states, rules)            \
	{ { PROTOCOL_##protocol, EVICTION_##eviction, HOME_##home, ATOMICS_##atomics }, \
	  caches,                                                                       \
	  lines,                                                                        \
	  states,                                                                       \
	  rules },
	PINNED_COUNTS(PIN)
#undef PIN
};

const uint32_t pinned_count = sizeof(pinned_counts) / sizeof(*pinned_counts);
