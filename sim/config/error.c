/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at `text`; 0 where there is none that a terminal can be trusted
 * with: a malformed sequence, a C0 or a C1 control. */
static size_t printable_length(const unsigned char *text)
{
	size_t length;

	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return text[0] == 0xc2 && text[1] < 0xa0 ? 0 : length;
}

void text_escape(char *out, size_t room, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at && room > sizeof("\\xNN")) {
		size_t length = printable_length(at);

		if (length)
			memcpy(out, at, length);
		else
			snprintf(out, room, "\\x%02x", *at);
		at += length ? length : 1;
		room -= length ? length : 4;
		out += length ? length : 4;
	}
	*out = '\0';
}

static bool error_record(struct error *error, const char *place, const char *format, va_list args)
{
	char text[sizeof(error->text)];
	size_t used;

	if (error->text[0])
		return false;
	used = (size_t)snprintf(text, sizeof(text), "%s", place);
	vsnprintf(text + used, sizeof(text) - used, format, args);
	text_escape(error->text, sizeof(error->text), text);
	return false;
}

bool error_at(struct error *error, const char *file, unsigned line, unsigned column,
	      const char *format, ...)
{
	char place[320];
	va_list args;

	snprintf(place, sizeof(place), "%.256s:%u:%u: ", file, line, column);
	va_start(args, format);
	error_record(error, place, format, args);
	va_end(args);
	return false;
}

bool error_set(struct error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_record(error, "", format, args);
	va_end(args);
	return false;
}
