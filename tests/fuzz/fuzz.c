/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Freed memory is watched for long by default, which is memory that the limit is not meant for. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:max_allocation_size_mb=256:abort_on_error=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:abort_on_error=1";
}

void fuzz_fail(const char *file, int line, const char *what, const struct error *error)
{
	fprintf(stderr, "%s:%d: expected %s%s%s\n", file, line, what, error ? "; error: " : "",
		error ? error->text : "");
	abort();
}

static const char *after_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && *text != '0' ? text + digits : NULL;
}

void fuzz_expect_message(const struct error *error)
{
	FUZZ_EXPECT(error->text[0], error);
	for (const char *c = error->text; *c; c++)
		FUZZ_EXPECT((unsigned char)*c >= ' ' && *c != 0x7f, error);
}

void fuzz_expect_refusal(const struct error *error)
{
	static const char name[] = FUZZ_NAME ":";
	const char *at = error->text + sizeof(name) - 1;

	fuzz_expect_message(error);
	FUZZ_EXPECT(!strncmp(error->text, name, sizeof(name) - 1), error);
	at = after_number(at);
	FUZZ_EXPECT(at && *at == ':', error);
	at = after_number(at + 1);
	FUZZ_EXPECT(at && !strncmp(at, ": ", 2) && at[2], error);
}

struct document *fuzz_document(const char *name, const char *text)
{
	struct error error = { "" };
	struct document *document = document_parse(name, text, strlen(text), &error);

	FUZZ_EXPECT(document, &error);
	return document;
}
