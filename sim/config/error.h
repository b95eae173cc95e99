/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line that says what is wrong, kept until the command prints it. */
#ifndef CONFIG_ERROR_H
#define CONFIG_ERROR_H

#include <stdbool.h>
#include <stddef.h>

struct error {
	char text[512]; /* empty: nothing went wrong */
};

/* Records `file:line:column: message`. The first error is kept: what follows it is its echo.
 * Returns false, so that a failing function can end in `return error_at(...)`. */
bool error_at(struct error *error, const char *file, unsigned line, unsigned column,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Records a message that has no place in a file. Returns false. */
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names come from strangers and messages go to terminals: copies a text, as much as `room` holds with
 * its end, and shows what does not print as \xNN. The copy is valid UTF-8. */
void text_escape(char *out, size_t room, const char *text);

#endif
