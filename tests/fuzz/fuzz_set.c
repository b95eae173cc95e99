/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overrides as `hitm run --set PATH=VALUE` takes them, one a line, laid over a document: each is
 * refused and changes nothing, or is what the document then holds. */
#include "tests/fuzz/fuzz.h"
#include "config/schema.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDES_MAX = 3 };

static const char base_text[] =
	"{machine: {clock: 1 GHz, core: {l1: {size: 32 KiB, ways: 8}}}, list: [1, {a: b}],\n"
	" variants: {base: {}, A: {workload.batch: 64}}, workload: {model: loop, batch: 32}}\n";

static char *print(const struct document *document)
{
	json_t *json = node_json(document_root(document));
	char *text = json_dumps(json, 0);

	FUZZ_EXPECT(text, NULL);
	json_decref(json);
	return text;
}

static void expect_set(const struct document *document, const char *path, const char *value)
{
	struct error error = { "" };
	struct document *parsed = document_parse(FUZZ_NAME, value, strlen(value), &error);
	const struct node *node = node_at(document_root(document), path);
	json_t *expected, *got;

	FUZZ_EXPECT(parsed && node, &error);
	expected = node_json(document_root(parsed));
	got = node_json(node);
	FUZZ_EXPECT(json_equal(expected, got), NULL);
	json_decref(expected);
	json_decref(got);
	document_free(parsed);
}

/* Returns what the document holds then; `before` is what it holds now, and is freed. */
static char *set(struct document *document, const char *path, const char *value, char *before)
{
	struct error error = { "" };
	bool done = document_set(document, path, value, FUZZ_NAME, &error);
	char *after = print(document);

	if (done) {
		FUZZ_EXPECT(!error.text[0], &error);
		expect_set(document, path, value);
	} else {
		fuzz_expect_refusal(&error);
		FUZZ_EXPECT(!strcmp(before, after), &error);
	}
	free(before);
	return after;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct document *document = fuzz_document("base", base_text);
	char *text = strndup((const char *)data, size), *rest = text, *line;
	char *printed = print(document);

	FUZZ_EXPECT(text, NULL);
	for (int k = 0; k < OVERRIDES_MAX && (line = strsep(&rest, "\n")); k++) {
		char *equals = strchr(line, '=');

		if (equals) {
			*equals = '\0';
			printed = set(document, line, equals + 1, printed);
		}
	}
	free(printed);
	free(text);
	document_free(document);
	return 0;
}
