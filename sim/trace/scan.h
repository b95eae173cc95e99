/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of a line of text, taken from the left. What fails takes nothing. */
#ifndef TRACE_SCAN_H
#define TRACE_SCAN_H

#include "trace/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct scan {
	const char *at, *end;
};

static inline struct scan scan_text(struct text text)
{
	return (struct scan){ text.at, text.at + text.length };
}

static inline bool scan_ended(const struct scan *scan)
{
	return scan->at == scan->end;
}

/* Blanks and tabs, any number; mailers change one into the other. */
static inline void scan_blanks(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

static inline bool scan_char(struct scan *scan, char c)
{
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static inline bool scan_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length))
		return false;
	scan->at += length;
	return true;
}

/* What lies before the next blank; false where nothing does. */
static inline bool scan_token(struct scan *scan, struct text *token)
{
	const char *from = scan->at;

	while (scan->at < scan->end && *scan->at != ' ' && *scan->at != '\t')
		scan->at++;
	*token = (struct text){ from, (uint32_t)(scan->at - from) };
	return scan->at != from;
}

/* Digits without a sign, to the first character that is none; false where there is none or the value
 * exceeds 64 bits. */
bool scan_decimal(struct scan *scan, uint64_t *value);
/* The same of hexadecimal digits, of either case, with or without 0x. */
bool scan_hex(struct scan *scan, uint64_t *value);
/* Seconds with 1 to 9 digits after the point, in ns; false where it exceeds 64 bits. */
bool scan_seconds(struct scan *scan, uint64_t *ns);

/* A text against a string. */
static inline bool text_is(struct text text, const char *string)
{
	return text.length == strlen(string) && !memcmp(text.at, string, text.length);
}

#endif
