/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/mangle.h"
#include <string.h>

enum { CHANGES_MAX = 6, FEW = 64, PIECE = 256 };

struct mangled {
	uint8_t *bytes;
	size_t size, room;
};

static size_t draw(struct random *random, size_t bound)
{
	return (size_t)random_below(random, bound);
}

/* Puts a piece in place of `gone` bytes at `at`, if there is room. */
static void splice(struct mangled *text, size_t at, size_t gone, const struct mangle_text *piece)
{
	if (text->size - gone + piece->size > text->room)
		return;
	memmove(text->bytes + at + piece->size, text->bytes + at + gone, text->size - at - gone);
	if (piece->size)
		memmove(text->bytes + at, piece->bytes, piece->size);
	text->size = text->size - gone + piece->size;
}

/* A word, a number at the edge of something, or a piece of another text. */
static struct mangle_text draw_piece(const struct mangle_stock *stock, struct random *random)
{
	static const char *const edges[] = {
		"0",          "1",
		"-1",         "2147483648",
		"4294967296", "1e308",
		"1e400",      "\n",
		"{}",         "[]",
		"'",          "\"",
		"\xc2\x80",   "\xf0\x9f\x98\x80",
		": ",         "- ",
		"  ",         "0.1",
		"",           "18446744073709551616",
	};
	const struct mangle_text *other;
	size_t at;

	if (stock->word_count && draw(random, 2))
		return stock->words[draw(random, stock->word_count)];
	if (draw(random, 3)) {
		const char *edge = edges[draw(random, sizeof(edges) / sizeof(*edges))];

		return (struct mangle_text){ (const uint8_t *)edge, strlen(edge) };
	}
	other = &stock->texts[draw(random, stock->text_count)];
	at = draw(random, other->size + 1);
	return (struct mangle_text){ other->bytes + at,
				     draw(random, (other->size - at) % PIECE + 1) };
}

static void change(const struct mangle_stock *stock, struct random *random, struct mangled *text)
{
	size_t at = draw(random, text->size + 1), left = text->size - at;
	size_t few = left ? draw(random, left < FEW ? left : FEW) + 1 : 0;
	uint8_t copy[FEW];
	struct mangle_text piece = { copy, 0 };

	switch (draw(random, 6)) {
	case 0: /* one byte */
		if (left)
			text->bytes[at] = (uint8_t)draw(random, 256);
		break;
	case 1:
		if (left)
			text->bytes[at] ^= (uint8_t)(1u << draw(random, 8));
		break;
	case 2:
		splice(text, at, few, &piece);
		break;
	case 3: /* twice the same */
		memcpy(copy, text->bytes + at, few);
		piece.size = few;
		splice(text, at, 0, &piece);
		break;
	default:
		piece = draw_piece(stock, random);
		splice(text, at, draw(random, 2) ? 0 : (few < piece.size ? few : piece.size),
		       &piece);
	}
	if (draw(random, 64) == 0)
		text->size = draw(random, text->size + 1);
}

size_t mangle(const struct mangle_stock *stock, struct random *random, uint8_t *out, size_t room)
{
	const struct mangle_text *from = &stock->texts[draw(random, stock->text_count)];
	struct mangled text = { out, from->size < room ? from->size : room, room };

	memcpy(out, from->bytes, text.size);
	for (size_t changes = 1 + draw(random, CHANGES_MAX); changes; changes--)
		change(stock, random, &text);
	return text.size;
}
