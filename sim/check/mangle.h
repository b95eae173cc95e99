/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts changed at random, for parsers to refuse. The same stream makes the same texts everywhere. */
#ifndef CHECK_MANGLE_H
#define CHECK_MANGLE_H

#include "engine/random.h"
#include <stddef.h>

struct mangle_text {
	const uint8_t *bytes;
	size_t size;
};

/* What texts are made from: right ones, at least one, and words of their language. */
struct mangle_stock {
	const struct mangle_text *texts, *words;
	size_t text_count, word_count;
};

/* Writes one of the texts, changed one to six times, into `out`, which has `room` bytes; no more of
 * a text is used than fits. Returns its size. */
size_t mangle(const struct mangle_stock *stock, struct random *random, uint8_t *out, size_t room);

#endif
