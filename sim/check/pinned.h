/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of pinned.def. */
#ifndef CHECK_PINNED_H
#define CHECK_PINNED_H

#include "coherence/protocol.h"

struct pinned {
	struct protocol_variant variant;
	uint32_t caches, lines;
	uint64_t states, rules;
};

extern const struct pinned pinned_counts[];
extern const uint32_t pinned_count;

#endif
