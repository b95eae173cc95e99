/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of pahole's output, and of what mails make of it. */
#ifndef LAYOUT_PAHOLE_TOKEN_H
#define LAYOUT_PAHOLE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_COMMENT, /* one in C's old form; without its ends */
	TOKEN_OTHER    /* a single character */
};

struct token {
	enum token_kind kind;
	char *text; /* in the text that is read, not ended by a NUL */
	size_t length;
	uint64_t number; /* at most TOKEN_NUMBER_MOST, which also stands for all that is greater */
	uint32_t line;   /* where it begins, from 1 */
	bool spaced;     /* after a blank, or a line's end */
};

enum { TOKEN_NUMBER_MOST = 1 << 30 };

struct token_reader {
	char *next, *end;
	uint32_t line;
};

/* Readies text, which it changes, for token_next: blanks instead of quotation marks at the starts of
 * lines ("> > "), control characters and no-break spaces. */
struct token_reader token_start(char *text, size_t length);
struct token token_next(struct token_reader *reader);

bool token_is(const struct token *token, const char *word);

/* Up to `most` numbers of a comment that has nothing but numbers, blanks and colons, as
 * "8: 0  4" has. Returns how many there are; 0 where there is anything else in it. */
unsigned comment_numbers(const struct token *comment, uint64_t *numbers, unsigned most);

#endif
