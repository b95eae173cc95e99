/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* memmem */
#include "layout/pahole_token.h"
#include <ctype.h>
#include <string.h>

static bool is_word_part(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Decimal, or hexadecimal after 0x as pahole --hex prints it. */
static uint64_t number_read(const char *text, size_t length)
{
	bool hex = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
	uint64_t value = 0;

	for (size_t k = hex ? 2 : 0; k < length && isxdigit((unsigned char)text[k]); k++) {
		unsigned char c = (unsigned char)text[k];
		unsigned digit = isdigit(c) ? c - (unsigned)'0' : (c | 0x20U) - 'a' + 10;

		if (digit >= (hex ? 16 : 10))
			break;
		value = value * (hex ? 16 : 10) + digit;
		if (value > TOKEN_NUMBER_MOST)
			return TOKEN_NUMBER_MOST;
	}
	return value;
}

struct token_reader token_start(char *text, size_t length)
{
	bool at_start = true;

	for (size_t k = 0; k < length; k++) {
		unsigned char c = (unsigned char)text[k];

		if (c == 0xc2 && k + 1 < length && (unsigned char)text[k + 1] == 0xa0)
			text[k] = text[k + 1] = ' ';
		if ((c < ' ' && c != '\n') || c == 0x7f || (at_start && c == '>'))
			text[k] = ' ';
		at_start = c == '\n' || (at_start && text[k] == ' ');
	}
	return (struct token_reader){ text, text + length, 1 };
}

static void comment_read(struct token_reader *reader, struct token *token)
{
	char *end = memmem(reader->next + 2, (size_t)(reader->end - reader->next) - 2, "*/", 2);

	token->kind = TOKEN_COMMENT;
	token->text = reader->next + 2;
	token->length = (size_t)((end ? end : reader->end) - token->text);
	reader->next = end ? end + 2 : reader->end;
	for (size_t k = 0; k < token->length; k++)
		reader->line += token->text[k] == '\n';
}

struct token token_next(struct token_reader *reader)
{
	struct token token = { .kind = TOKEN_END };
	const char *start = reader->next;

	for (; reader->next < reader->end && isspace((unsigned char)*reader->next); reader->next++)
		reader->line += *reader->next == '\n';
	token.line = reader->line;
	token.text = reader->next;
	token.spaced = token.text > start;
	if (reader->next == reader->end)
		return token;
	if (reader->end - reader->next >= 2 && !memcmp(reader->next, "/*", 2)) {
		comment_read(reader, &token);
		return token;
	}
	token.kind = TOKEN_OTHER;
	if (is_word_part(*token.text))
		token.kind = isdigit((unsigned char)*token.text) ? TOKEN_NUMBER : TOKEN_WORD;
	do
		reader->next++;
	while (token.kind != TOKEN_OTHER && reader->next < reader->end &&
	       is_word_part(*reader->next));
	token.length = (size_t)(reader->next - token.text);
	if (token.kind == TOKEN_NUMBER)
		token.number = number_read(token.text, token.length);
	return token;
}

bool token_is(const struct token *token, const char *word)
{
	return token->kind != TOKEN_COMMENT && token->length == strlen(word) &&
	       !memcmp(token->text, word, token->length);
}

unsigned comment_numbers(const struct token *comment, uint64_t *numbers, unsigned most)
{
	struct token_reader reader = { comment->text, comment->text + comment->length, 1 };
	unsigned count = 0;

	for (;;) {
		struct token token = token_next(&reader);

		if (token.kind == TOKEN_END)
			return count;
		if (token.kind == TOKEN_OTHER && *token.text == ':' && count)
			continue;
		if (token.kind != TOKEN_NUMBER || count == most)
			return 0;
		numbers[count++] = token.number;
	}
}
