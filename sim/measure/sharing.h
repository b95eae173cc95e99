/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a cache lacked a line: never had it, had to make room, or lost it to another core, and then
 * whether what that core wrote was used (true sharing) or lay beside (false sharing).
 *
 * Dubois, Skeppstedt, Ricciulli, Ramamurthy and Stenström, "The detection and elimination of
 * useless misses in multiprocessors" (ISCA 1993): a miss on an invalidated line is true sharing if,
 * during the lifetime of the copy it brings, the core touches a word that another core has written
 * since the core's last essential miss on the line; else it is false sharing. So the verdict falls
 * when such a word is touched, or when the copy is lost. Upgrades, which are no misses, are
 * classified by the word at once: did the reader who made them necessary read what is now written?
 */
#ifndef MEASURE_SHARING_H
#define MEASURE_SHARING_H

#include "machine/machine.h"

enum verdict { VERDICT_COLD, VERDICT_CAPACITY, VERDICT_TRUE, VERDICT_FALSE, VERDICT_COUNT };

/* Stall cycles of accesses to one field that one other field's access caused. */
struct pair {
	uint16_t victim, culprit; /* numbers of fields; culprit 0: nobody */
	uint8_t verdict;
	uint64_t cycles, queued, count;
};

struct sharing;

struct sharing *sharing_new(struct machine *machine);
void sharing_free(struct sharing *sharing);

/* Observers to be put into the coherence system and the meter; context is the sharing. */
void sharing_gained(void *context, uint32_t core, struct copy *copy, uint64_t now);
void sharing_lost(void *context, uint32_t core, struct copy *copy, enum loss loss,
		  const struct origin *by, uint64_t now);
void sharing_touched(void *context, uint32_t core, struct copy *copy, const struct origin *origin);

/* Books a stall to its pair; where the verdict is still open it follows. */
void sharing_stalled(struct sharing *sharing, const struct stall *stall);

/* Ends the lifetimes of a core's copies: what was not found to be true sharing was false. */
void sharing_finish(struct sharing *sharing, uint32_t core);

/* The pairs, by cycles, the most first (then by victim and culprit). They belong to the sharing. */
const struct pair *sharing_pairs(struct sharing *sharing, uint32_t *count);

#endif
