/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML files, from friends and from strangers, to typed structs. */
#include "tests/unit/suites.h"
#include "config/schema.h"
#include <CUnit/CUnit.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- helpers ---- */

static void expect_text(const char *got, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected))
		printf("\n   got: %s\n  want: %s\n", got, expected);
}

static void expect_refusal_of(const char *text, size_t length, const char *expected)
{
	struct error error = { 0 };
	struct document *document = document_parse("f", text, length, &error);

	CU_ASSERT_PTR_NULL(document);
	expect_text(error.text, expected);
	document_free(document);
}

static void expect_refusal(const char *text, const char *expected)
{
	expect_refusal_of(text, strlen(text), expected);
}

static struct document *parse(const char *text)
{
	struct error error = { 0 };
	struct document *document = document_parse("f", text, strlen(text), &error);

	expect_text(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	return document;
}

static void expect_scalar(const struct document *document, const char *path, const char *expected)
{
	const struct node *node = node_at(document_root(document), path);

	CU_ASSERT_PTR_NOT_NULL_FATAL(node);
	CU_ASSERT_EQUAL_FATAL(node->kind, NODE_SCALAR);
	expect_text(node->text, expected);
}

/* `unit` written `count` times; the caller frees it. */
static char *repeat(const char *unit, size_t count)
{
	size_t length = strlen(unit);
	char *text = malloc(length * count + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * length, unit, length);
	text[length * count] = '\0';
	return text;
}

static void expect_file_refused(const char *path, const char *reason)
{
	struct error error = { 0 };
	char expected[256];

	snprintf(expected, sizeof(expected), "%s%s", path, reason);
	CU_ASSERT_PTR_NULL(document_load(path, &error));
	expect_text(error.text, expected);
}

/* ---- trees ---- */

static void nodes_know_their_line_and_column(void)
{
	struct document *document = parse("a: 1\nb:\n  - x\n  -   {c: deep}\n");
	const struct node *item = node_get(document_root(document), "b")->first->next;
	const struct node *deep = node_get(item, "c");

	CU_ASSERT_EQUAL(item->line, 4);
	CU_ASSERT_EQUAL(item->column, 7);
	CU_ASSERT_EQUAL(deep->key_line, 4);
	CU_ASSERT_EQUAL(deep->key_column, 8);
	CU_ASSERT_EQUAL(deep->column, 11);
	document_free(document);
}

static void children_keep_the_order_of_the_file(void)
{
	struct document *document = parse("{z: 1, a: 2, m: 3}");
	const struct node *child = document_root(document)->first;

	CU_ASSERT_EQUAL(node_count(document_root(document)), 3);
	CU_ASSERT_STRING_EQUAL(child->key, "z");
	CU_ASSERT_STRING_EQUAL(child->next->key, "a");
	CU_ASSERT_STRING_EQUAL(child->next->next->key, "m");
	document_free(document);
}

static void a_path_that_leads_nowhere_finds_nothing(void)
{
	struct document *document = parse("a: {b: 1}\nlist: [x]\n");
	const struct node *root = document_root(document);

	CU_ASSERT_PTR_NULL(node_at(root, "a.c"));
	CU_ASSERT_PTR_NULL(node_at(root, "a.b.c"));
	CU_ASSERT_PTR_NULL(node_at(root, "list.0"));
	CU_ASSERT_PTR_NULL(node_at(root, ""));
	CU_ASSERT_PTR_NULL(node_at(NULL, "a"));
	CU_ASSERT_PTR_NULL(node_get(node_at(root, "a.b"), "x"));
	document_free(document);
}

static void windows_line_ends_change_nothing(void)
{
	struct document *document = parse("a: 1\r\nb:\r\n  c: two words\r\n");

	expect_scalar(document, "a", "1");
	expect_scalar(document, "b.c", "two words");
	CU_ASSERT_EQUAL(node_at(document_root(document), "b.c")->line, 3);
	document_free(document);
}

static void a_byte_order_mark_is_skipped(void)
{
	struct document *document = parse("\xef\xbb\xbf"
					  "a: 1\n");

	expect_scalar(document, "a", "1");
	CU_ASSERT_EQUAL(document_root(document)->first->column, 4);
	document_free(document);
}

/* ---- strangers' YAML ---- */

static void aliases_are_refused(void)
{
	expect_refusal("a: &x [1]\n", "f:1:4: aliases, anchors and tags are refused, "
				      "expected the value itself");
	expect_refusal("a: *x\n", "f:1:4: aliases, anchors and tags are refused, "
				  "expected the value itself");
	expect_refusal("a: &x 1\n", "f:1:4: anchors and tags are refused, expected a plain value");
	expect_refusal("a: 1\n&k b: 2\n",
		       "f:2:1: anchors and tags are refused, expected a plain value");
	expect_refusal("&r {a: 1}\n", "f:1:1: aliases, anchors and tags are refused, "
				      "expected the value itself");
}

static void an_alias_bomb_is_refused_at_its_first_anchor(void)
{
	expect_refusal("a: &a [x, x, x, x, x, x, x, x, x]\n"
		       "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
		       "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n",
		       "f:1:4: aliases, anchors and tags are refused, expected the value itself");
}

static void tags_are_refused(void)
{
	expect_refusal("a: !!int 3\n",
		       "f:1:4: anchors and tags are refused, expected a plain value");
	expect_refusal("a: !x [1]\n", "f:1:4: aliases, anchors and tags are refused, "
				      "expected the value itself");
}

/* libyaml compares each %TAG with all before it, and all of them make one event. */
static void directives_are_refused(void)
{
	char *many = repeat("%TAG !a! b\n", 90000);

	expect_refusal("a: 1\n...\n%YAML 1.1\n---\nb: 2\n",
		       "f:3:1: a line starts with '%', expected no directives");
	expect_refusal("#\xe2\x80\xa8%TAG !a! b\n",
		       "f:1:1: a line starts with '%', expected no directives");
	expect_refusal(many, "f:1:1: a line starts with '%', expected no directives");
	free(many);
}

static void a_percent_sign_within_a_line_is_text(void)
{
	struct document *document = parse("a: 100 % \xc3\xa9%\n");

	expect_scalar(document, "a", "100 % \xc3\xa9%");
	document_free(document);
}

static void a_second_document_is_refused(void)
{
	expect_refusal("a: 1\n---\nb: 2\n", "f:2:1: a second document, expected one");
}

static void a_key_given_twice_is_refused(void)
{
	expect_refusal("a: 1\nb: 2\na: 3\n", "f:3:1: key 'a' is given twice, first at line 1");
	expect_refusal("m:\n  {x: 1, \"x\": 2}\n",
		       "f:2:10: key 'x' is given twice, first at line 2");
}

static void a_key_that_is_no_text_is_refused(void)
{
	expect_refusal("? [a]\n: 1\n", "f:1:3: a key must be plain text");
}

static void nesting_stops_at_32_levels(void)
{
	char *open = repeat("[", 32), *close = repeat("]", 32), text[80];
	struct document *document;

	snprintf(text, sizeof(text), "%s%s", open, close);
	document = parse(text);
	document_free(document);
	snprintf(text, sizeof(text), "[%s%s]", open, close);
	expect_refusal(text, "f:1:33: nested too deep, expected at most 32 levels");
	free(open);
	free(close);
}

static void bottomless_nesting_is_refused(void)
{
	char *lists = repeat("[", 100000), *maps = repeat("{a: ", 50000);

	expect_refusal(lists, "f:1:33: nested too deep, expected at most 32 levels");
	expect_refusal(maps, "f:1:129: nested too deep, expected at most 32 levels");
	free(lists);
	free(maps);
}

static void many_keys_in_one_map_are_read(void)
{
	char *text = malloc(1 << 20);
	struct document *document;
	size_t used = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (unsigned i = 0; i < 60000; i++)
		used += (size_t)sprintf(text + used, "k%u: %u\n", i, i);
	document = parse(text);
	CU_ASSERT_EQUAL(node_count(document_root(document)), 60000);
	expect_scalar(document, "k59999", "59999");
	document_free(document);
	free(text);
}

static void a_scalar_is_at_most_4_kib(void)
{
	char *longest = repeat("x", 4096), *longer = repeat("x", 4097);
	struct document *document = parse(longest);

	CU_ASSERT_EQUAL(strlen(document_root(document)->text), 4096);
	document_free(document);
	expect_refusal(longer, "f:1:1: text is too long, expected at most 4096 bytes");
	free(longest);
	free(longer);
}

static void a_name_of_a_megabyte_is_refused(void)
{
	char *name = repeat("x", (1 << 20) - 4);

	memcpy(name + (1 << 20) - 5, "\"", 1);
	name[0] = '"';
	expect_refusal(name, "f:1:1: text is too long, expected at most 4096 bytes");
	free(name);
}

static void a_text_over_one_mebibyte_is_refused(void)
{
	char *text = repeat("\n", (1 << 20) + 1);

	expect_refusal(text, "f:1:1: too long, expected at most 1 MiB");
	free(text);
}

static void control_characters_are_refused(void)
{
	expect_refusal("a: 1\nb: \"\\e[2J\"\n", "f:2:4: control character in text, expected none");
	expect_refusal("a: \"x\\0y\"\n", "f:1:4: control character in text, expected none");
	expect_refusal("\"\\N\": 1\n", "f:1:1: control character in text, expected none");
	expect_refusal_of("a: \0\n", 5, "f:1:4: not YAML: control characters are not allowed");
}

static void text_that_is_not_utf8_is_refused(void)
{
	expect_refusal("a: 1\nb: \xff\n", "f:2:4: not YAML: invalid leading UTF-8 octet");
	expect_refusal_of("\xff\xfe"
			  "a\0",
			  4, "f:1:1: not YAML: invalid leading UTF-8 octet");
}

static void nothing_is_refused(void)
{
	expect_refusal("", "f:1:1: empty, expected YAML");
	expect_refusal("\n# only a comment\n", "f:1:1: empty, expected YAML");
}

static void a_list_left_open_is_refused_with_its_place(void)
{
	expect_refusal("a: [1, 2\nb: 3\n", "f:2:2: not YAML: did not find expected ',' or ']' "
					   "while parsing a flow sequence");
}

/* The oracle: accepted, or refused with a place. */
static void a_file_cut_at_any_byte_is_read_or_refused_with_its_place(void)
{
	static const char text[] =
		"# c\nmachine: \"sk\\x41\"\r\ntopology: {sockets: 2, line: 64 B}\n"
		"sources:\n  - 'it''s'\n  - [a, {b: c}]\n? long\n: |\n  block\n"
		"about: >-\n  folded \xc3\xa9\n";

	for (size_t length = 0; length < sizeof(text); length++) {
		struct error error = { 0 };
		char *cut = malloc(length + 1); /* exact, so that a sanitizer sees a byte too far */
		struct document *document;
		unsigned line, column;

		CU_ASSERT_PTR_NOT_NULL_FATAL(cut);
		memcpy(cut, text, length);
		document = document_parse("f", cut, length, &error);
		if (document)
			expect_text(error.text, "");
		else
			CU_ASSERT_EQUAL(sscanf(error.text, "f:%u:%u: ", &line, &column), 2);
		document_free(document);
		free(cut);
	}
}

/* ---- strangers' files ---- */

static void what_is_no_regular_file_is_refused_unread(void)
{
	char directory[] = "/tmp/hitm-config-XXXXXX", fifo[64];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	CU_ASSERT_EQUAL_FATAL(mkfifo(fifo, 0600), 0);
	expect_file_refused(directory, ": not a regular file, expected one");
	expect_file_refused(fifo, ": not a regular file, expected one");
	expect_file_refused("/dev/zero", ": not a regular file, expected one");
	expect_file_refused("/dev/null", ": not a regular file, expected one");
	unlink(fifo);
	rmdir(directory);
}

static void a_file_that_is_not_there_is_named(void)
{
	expect_file_refused("configs/none.yaml", ": No such file or directory");
}

static void a_file_that_may_not_be_read_is_named(void)
{
	char path[] = "/tmp/hitm-config-XXXXXX";
	int file;

	if (geteuid() == 0) {
		test_skip("root may read every file");
		return;
	}
	file = mkstemp(path);
	CU_ASSERT_FATAL(file >= 0);
	CU_ASSERT_EQUAL(fchmod(file, 0), 0);
	expect_file_refused(path, ": Permission denied");
	close(file);
	unlink(path);
}

static void a_file_of_one_mebibyte_is_read_and_one_more_byte_is_not(void)
{
	char path[] = "/tmp/hitm-config-XXXXXX", *text = repeat("\n", (1 << 20) + 1);
	struct error error = { 0 };
	struct document *document;
	int file = mkstemp(path);

	CU_ASSERT_FATAL(file >= 0);
	text[0] = 'x';
	CU_ASSERT_EQUAL(write(file, text, 1 << 20), 1 << 20);
	document = document_load(path, &error);
	CU_ASSERT_PTR_NOT_NULL(document);
	expect_text(error.text, "");
	document_free(document);
	CU_ASSERT_EQUAL(write(file, "\n", 1), 1);
	expect_file_refused(path, ":1:1: too long, expected at most 1 MiB");
	close(file);
	unlink(path);
	free(text);
}

/* ---- messages ---- */

static void a_message_shows_control_characters_as_numbers(void)
{
	struct error error = { 0 };

	CU_ASSERT_FALSE(error_at(&error, "a\033b", 1, 2, "%s", "\r\n\x7f\xc2\x9b\xff \xc3\xa9"));
	expect_text(error.text, "a\\x1bb:1:2: \\x0d\\x0a\\x7f\\xc2\\x9b\\xff \xc3\xa9");
}

static void the_first_error_is_kept(void)
{
	struct error error = { 0 };

	error_set(&error, "first");
	error_at(&error, "f", 1, 1, "second");
	expect_text(error.text, "first");
}

static void a_long_message_is_cut_to_fit(void)
{
	struct error error = { 0 };
	char *name = repeat("\001", 600);

	error_at(&error, name, 1, 1, "%s", name);
	CU_ASSERT(strlen(error.text) < sizeof(error.text));
	CU_ASSERT_NSTRING_EQUAL(error.text, "\\x01\\x01", 8);
	free(name);
}

/* ---- overrides ---- */

static void expect_set(struct document *document, const char *path, const char *value,
		       const char *expected)
{
	struct error error = { 0 };

	CU_ASSERT_EQUAL(document_set(document, path, value, "--set", &error), !*expected);
	expect_text(error.text, expected);
}

static void an_override_replaces_adds_and_makes_maps_on_the_way(void)
{
	struct document *document = parse("a: {b: 1, c: 2}\n");

	expect_set(document, "a.b", "50 ns", "");
	expect_set(document, "x.y.z", "[1, {k: v}]", "");
	expect_set(document, "a.d", "new", "");
	expect_scalar(document, "a.b", "50 ns");
	expect_scalar(document, "a.c", "2");
	expect_scalar(document, "a.d", "new");
	CU_ASSERT_EQUAL(node_at(document_root(document), "x.y.z")->kind, NODE_LIST);
	CU_ASSERT_STRING_EQUAL(node_at(document_root(document), "a.b")->next->key, "c");
	CU_ASSERT_STRING_EQUAL(node_at(document_root(document), "a.b")->file, "--set");
	document_free(document);
}

static void a_variant_with_plus_signs_is_one_step_of_a_path(void)
{
	struct document *document = parse("published: {A: 1}\n");

	expect_set(document, "published.A+B+C", "20120.3", "");
	expect_scalar(document, "published.A+B+C", "20120.3");
	document_free(document);
}

static void an_override_through_a_value_is_refused(void)
{
	struct document *document = parse("a: 1\nl: [x]\n");

	expect_set(document, "a.b", "2", "--set:1:1: 'b' is not in a map, expected one");
	expect_set(document, "l.0", "2", "--set:1:1: '0' is not in a map, expected one");
	expect_scalar(document, "a", "1");
	document_free(document);
}

static void a_malformed_path_is_refused(void)
{
	struct document *document = parse("a: 1\n");
	char *deep = repeat("a.", 40);

	strcpy(deep + 78, "b");
	expect_set(document, "", "2", "--set:1:1: a path with an empty step, expected name.name");
	expect_set(document, "b..c", "2",
		   "--set:1:1: a path with an empty step, expected name.name");
	expect_set(document, "b.", "2", "--set:1:1: a path with an empty step, expected name.name");
	expect_set(document, deep, "2", "--set:1:1: a path too deep, expected at most 32 levels");
	CU_ASSERT_EQUAL(node_count(document_root(document)), 1);
	document_free(document);
	free(deep);
}

static void a_malformed_override_is_refused(void)
{
	struct document *document = parse("a: 1\n");

	expect_set(document, "a", "", "--set:1:1: empty, expected YAML");
	expect_set(document, "a", "*x",
		   "--set:1:1: aliases, anchors and tags are refused, "
		   "expected the value itself");
	expect_scalar(document, "a", "1");
	document_free(document);
}

static void a_copy_is_overridden_apart(void)
{
	struct document *document = parse("a: {b: 1}\n"), *copy = document_copy(document);

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	expect_set(copy, "a.b", "2", "");
	expect_scalar(document, "a.b", "1");
	document_free(document);
	expect_scalar(copy, "a.b", "2");
	CU_ASSERT_STRING_EQUAL(document_root(copy)->file, "f");
	document_free(copy);
}

static void a_value_can_be_set_inside_itself(void)
{
	struct document *document = parse("a: {b: 1}\n");
	struct error error = { 0 };

	CU_ASSERT_TRUE(document_set_node(document, "a.c", document_root(document), &error));
	expect_scalar(document, "a.c.a.b", "1");
	CU_ASSERT_PTR_NULL(node_at(document_root(document), "a.c.a.c"));
	document_free(document);
}

/* ---- typed values ---- */

struct sample {
	const char *name;
	int64_t whole;
	uint32_t count;
	double real, clock;
	bool flag;
	int choice;
	struct duration latency;
	uint64_t size;
	struct {
		uint32_t ways;
	} inner;
	const struct node *rest;
};

static const char *const disciplines[] = { "random", "fifo", "socket_batch", NULL };

static const struct key inner_keys[] = {
	{ .name = "ways",
	  .type = VALUE_COUNT,
	  .offset = offsetof(struct sample, inner.ways) - offsetof(struct sample, inner),
	  .required = true,
	  .min = 1,
	  .max = 64 },
	{ .name = NULL },
};

#define KEY(key, kind, ...)                                                                     \
	{                                                                                       \
		.name = #key, .type = kind, .offset = offsetof(struct sample, key), __VA_ARGS__ \
	}
static const struct key sample_keys[] = {
	KEY(name, VALUE_STRING, .required = true),
	KEY(whole, VALUE_INT),
	KEY(count, VALUE_COUNT),
	KEY(real, VALUE_REAL),
	KEY(clock, VALUE_FREQUENCY, .min = 1e8, .max = 1e10),
	KEY(flag, VALUE_BOOL),
	KEY(choice, VALUE_CHOICE, .choices = disciplines),
	KEY(latency, VALUE_DURATION),
	KEY(size, VALUE_SIZE, .min = 1, .max = 1 << 20),
	KEY(inner, VALUE_MAP, .keys = inner_keys),
	KEY(rest, VALUE_NODE),
	{ .name = NULL },
};

static void expect_sample_refused(const char *text, const char *expected)
{
	struct document *document = parse(text);
	struct sample sample = { 0 };
	struct error error = { 0 };

	CU_ASSERT_FALSE(schema_read(document_root(document), sample_keys, &sample, &error));
	expect_text(error.text, expected);
	document_free(document);
}

static void a_map_fills_a_struct_and_leaves_defaults(void)
{
	struct document *document =
		parse("name: skx\nwhole: -7\nreal: 2.5e-1\nclock: 2.3 GHz\n"
		      "flag: true\nchoice: fifo\nlatency: 1.2 us\nsize: 32 KiB\n"
		      "inner: {ways: 8}\nrest: [1]\n");
	struct sample sample = { .count = 42 };
	struct error error = { 0 };

	CU_ASSERT_TRUE(schema_read(document_root(document), sample_keys, &sample, &error));
	expect_text(error.text, "");
	CU_ASSERT_STRING_EQUAL(sample.name, "skx");
	CU_ASSERT_EQUAL(sample.whole, -7);
	CU_ASSERT_EQUAL(sample.count, 42);
	CU_ASSERT_EQUAL(sample.real, 0.25);
	CU_ASSERT_EQUAL(sample.clock, 2.3e9);
	CU_ASSERT_TRUE(sample.flag);
	CU_ASSERT_EQUAL(sample.choice, 1);
	CU_ASSERT_EQUAL(sample.latency.value, 1200);
	CU_ASSERT_FALSE(sample.latency.cycles);
	CU_ASSERT_EQUAL(sample.size, 32768);
	CU_ASSERT_EQUAL(sample.inner.ways, 8);
	CU_ASSERT_EQUAL(sample.rest->kind, NODE_LIST);
	document_free(document);
}

static void a_struct_as_json_is_written_as_a_file_would(void)
{
	struct document *document =
		parse("{name: n, clock: 100 MHz, choice: fifo, latency: 18 cycles, "
		      "size: 4032 B, inner: {ways: 8}, rest: {a: [x]}}");
	struct sample sample = { .real = 0.5 };
	struct error error = { 0 };
	json_t *json, *expected;

	CU_ASSERT_TRUE(schema_read(document_root(document), sample_keys, &sample, &error));
	json = schema_json(sample_keys, &sample);
	expected = json_pack("{ss si si sf ss sb ss ss ss s{si} s{s[s]}}", "name", "n", "whole", 0,
			     "count", 0, "real", 0.5, "clock", "100 MHz", "flag", 0, "choice",
			     "fifo", "latency", "18 cycles", "size", "4032 B", "inner", "ways", 8,
			     "rest", "a", "x");
	CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
	CU_ASSERT_TRUE(json_equal(json, expected));
	json_decref(json);
	json_decref(expected);
	document_free(document);
}

static void an_unknown_key_names_the_nearest_known_one(void)
{
	expect_sample_refused("name: x\nlatancy: 3 ns\n",
			      "f:2:1: unknown key 'latancy', did you mean 'latency'? expected one "
			      "of: name, whole, count, real, clock, flag, choice, latency, size, "
			      "inner, rest");
	expect_sample_refused("name: x\nCLOCK: 3\n",
			      "f:2:1: unknown key 'CLOCK', did you mean 'clock'? expected one of: "
			      "name, whole, count, real, clock, flag, choice, latency, size, "
			      "inner, rest");
	expect_sample_refused("inner:\n  zzz: 1\n",
			      "f:2:3: unknown key 'zzz', expected one of: ways");
}

static void an_unknown_choice_names_the_nearest_known_one(void)
{
	expect_sample_refused(
		"choice: rand\n",
		"f:1:9: unknown value 'rand', did you mean 'random'? expected one of: "
		"random, fifo, socket_batch");
}

static void a_missing_key_is_named_at_its_map(void)
{
	expect_sample_refused("\nwhole: 1\n", "f:2:1: key 'name' is missing, expected it here");
	expect_sample_refused("name: n\ninner: {}\n",
			      "f:2:8: key 'ways' is missing, expected it here");
}

static void a_value_of_another_kind_is_refused(void)
{
	expect_sample_refused("just text\n", "f:1:1: 'just text', expected a map");
	expect_sample_refused("- a\n", "f:1:1: a list, expected a map");
	expect_sample_refused("name: {a: 1}\n", "f:1:7: a map, expected text");
	expect_sample_refused("name:\n", "f:1:6: no value, expected text");
	expect_sample_refused("inner: 3\n", "f:1:8: '3', expected a map");
	expect_sample_refused("latency: [1]\n", "f:1:10: a list, expected a time in ns, us, ms, s "
						"or cycles, such as 50 ns");
}

static void a_missing_or_wrong_unit_names_those_allowed(void)
{
	expect_sample_refused("latency: 50\n", "f:1:10: '50', expected a time in ns, us, ms, s or "
					       "cycles, such as 50 ns");
	expect_sample_refused("latency: 50 NS\n", "f:1:10: '50 NS', expected a time in ns, us, ms, "
						  "s or cycles, such as 50 ns");
	expect_sample_refused("clock: 2.3 Ghz\n", "f:1:8: '2.3 Ghz', expected a frequency in Hz, "
						  "kHz, MHz or GHz, such as 2.3 GHz");
	expect_sample_refused("size: 32 KB\n", "f:1:7: '32 KB', expected a size in B, KiB, MiB or "
					       "GiB, such as 64 B");
	expect_sample_refused("size: 64 B more\n", "f:1:7: '64 B more', expected a size in B, KiB, "
						   "MiB or GiB, such as 64 B");
}

static void a_number_out_of_range_names_the_range(void)
{
	expect_sample_refused("inner: {ways: 65}\n",
			      "f:1:15: 65 is out of range, expected 1 to 64");
	expect_sample_refused("clock: 1 MHz\n",
			      "f:1:8: 1 MHz is out of range, expected 100 MHz to 10 GHz");
	expect_sample_refused("size: 2 MiB\n",
			      "f:1:7: 2 MiB is out of range, expected 1 B to 1 MiB");
	expect_sample_refused("latency: -1 ns\n",
			      "f:1:10: -1 ns is out of range, expected 0 to 1e+15");
	expect_sample_refused("count: 4294967296\n",
			      "f:1:8: 4294967296 is out of range, expected 0 to 4294967295");
}

/* ---- numbers, one by one ---- */

/* Reads `text` as the only value of a file by the type; false where it is refused. */
static bool scalar(enum value_type type, const char *text, void *out)
{
	struct document *document = parse(text);
	struct key key = { .type = type };
	struct error error = { 0 };
	bool read = scalar_read(document_root(document), &key, out, &error);

	CU_ASSERT_EQUAL(read, !error.text[0]);
	document_free(document);
	return read;
}

static void whole_numbers_are_exact_to_their_limits(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "-1", -1 },
		{ "2147483647", INT32_MAX },
		{ "2147483648", 2147483648 },
		{ "4294967296", 4294967296 },
		{ "9007199254740993", 9007199254740993 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t value = 12345;

		CU_ASSERT_TRUE(scalar(VALUE_INT, cases[i].text, &value));
		CU_ASSERT_EQUAL(value, cases[i].value);
	}
}

static void counts_are_exact_to_their_limits(void)
{
	uint32_t count = 1;

	CU_ASSERT_TRUE(scalar(VALUE_COUNT, "0", &count));
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_TRUE(scalar(VALUE_COUNT, "2147483648", &count));
	CU_ASSERT_EQUAL(count, 2147483648U);
	CU_ASSERT_TRUE(scalar(VALUE_COUNT, "4294967295", &count));
	CU_ASSERT_EQUAL(count, UINT32_MAX);
	CU_ASSERT_FALSE(scalar(VALUE_COUNT, "4294967296", &count));
	CU_ASSERT_FALSE(scalar(VALUE_COUNT, "-1", &count));
}

static void what_only_looks_like_a_number_is_refused(void)
{
	static const char *const texts[] = {
		"08",  "010",  "0x10", "1_000", "1:30",     "NO",     "~",        "''",    "null",
		"nan", ".nan", "inf",  "-inf",  ".inf",     "+1",     "-",        "1e",    "1.",
		".5",  "- 1",  "--1",  "1 000", "1,5",      "0b1",    "0o7",      "1e400", "0x1p3",
		"1d",  "1f",   "true", "1 ",    "infinity", "-1e400", "\xd9\xa1", NULL,
	};

	for (size_t i = 0; texts[i]; i++) {
		union {
			int64_t whole;
			uint32_t count;
			double real;
		} out;
		bool trimmed = !strcmp(texts[i], "1 "); /* by YAML: to us it is "1" */

		CU_ASSERT_EQUAL(scalar(VALUE_INT, texts[i], &out), trimmed);
		CU_ASSERT_EQUAL(scalar(VALUE_COUNT, texts[i], &out), trimmed);
		CU_ASSERT_EQUAL(scalar(VALUE_REAL, texts[i], &out), trimmed);
	}
}

static void whole_numbers_have_no_fraction_and_no_exponent(void)
{
	int64_t value;

	CU_ASSERT_FALSE(scalar(VALUE_INT, "3.0", &value));
	CU_ASSERT_FALSE(scalar(VALUE_INT, "1e3", &value));
	CU_ASSERT_FALSE(scalar(VALUE_INT, "9223372036854775808", &value));
	CU_ASSERT_FALSE(scalar(VALUE_INT, "-9223372036854775809", &value));
	CU_ASSERT_FALSE(scalar(VALUE_INT,
			       "1"
			       "00000000000000000000000000000000",
			       &value));
}

static void reals_are_the_nearest_double(void)
{
	double value;

	CU_ASSERT_TRUE(scalar(VALUE_REAL, "0.1", &value));
	CU_ASSERT_EQUAL(value, 0.1);
	CU_ASSERT_TRUE(scalar(VALUE_REAL, "-1.5e-3", &value));
	CU_ASSERT_EQUAL(value, -0.0015);
	CU_ASSERT_TRUE(scalar(VALUE_REAL, "1E+2", &value));
	CU_ASSERT_EQUAL(value, 100);
	CU_ASSERT_TRUE(scalar(VALUE_REAL, "1.7976931348623157e308", &value));
	CU_ASSERT_EQUAL(value, DBL_MAX);
}

static void sizes_are_whole_bytes_below_2_to_the_53(void)
{
	uint64_t size;

	CU_ASSERT_TRUE(scalar(VALUE_SIZE, "1.5 KiB", &size));
	CU_ASSERT_EQUAL(size, 1536);
	CU_ASSERT_TRUE(scalar(VALUE_SIZE, "9007199254740991 B", &size));
	CU_ASSERT_EQUAL(size, 9007199254740991);
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "9007199254740992 B", &size));
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "9007199254740993 B", &size));
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "9007199254740993 GiB", &size));
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "0.3 KiB", &size));
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "-64 B", &size));
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "1e400 B", &size));
	CU_ASSERT_FALSE(scalar(VALUE_SIZE, "64", &size));
}

static void times_come_in_nanoseconds_or_cycles(void)
{
	struct duration time;

	CU_ASSERT_TRUE(scalar(VALUE_DURATION, "0 ns", &time));
	CU_ASSERT_EQUAL(time.value, 0);
	CU_ASSERT_TRUE(scalar(VALUE_DURATION, "2 ms", &time));
	CU_ASSERT_EQUAL(time.value, 2e6);
	CU_ASSERT_TRUE(scalar(VALUE_DURATION, "18 cycles", &time));
	CU_ASSERT_TRUE(time.cycles);
	CU_ASSERT_EQUAL(time.value, 18);
	CU_ASSERT_FALSE(scalar(VALUE_DURATION, "1e16 ns", &time));
	CU_ASSERT_FALSE(scalar(VALUE_DURATION, "1e400 ns", &time));
	CU_ASSERT_FALSE(scalar(VALUE_DURATION, "-0.5 ns", &time));
}

static void only_true_and_false_are_booleans(void)
{
	static const char *const texts[] = { "NO", "yes", "on", "True", "1", "0", "~", NULL };
	bool flag;

	CU_ASSERT_TRUE(scalar(VALUE_BOOL, "true", &flag));
	CU_ASSERT_TRUE(flag);
	CU_ASSERT_TRUE(scalar(VALUE_BOOL, "false", &flag));
	CU_ASSERT_FALSE(flag);
	for (size_t i = 0; texts[i]; i++)
		CU_ASSERT_FALSE(scalar(VALUE_BOOL, texts[i], &flag));
}

static void a_scalar_by_itself_keeps_to_its_range(void)
{
	struct document *document = parse("5");
	const struct node *node = document_root(document);
	struct error error = { 0 };
	uint32_t count;
	double real;

	CU_ASSERT_TRUE(node_count_value(node, 1, 5, &count, &error));
	CU_ASSERT_EQUAL(count, 5);
	CU_ASSERT_TRUE(node_real(node, 0, 0, &real, &error));
	CU_ASSERT_FALSE(node_count_value(node, 6, 9, &count, &error));
	expect_text(error.text, "f:1:1: 5 is out of range, expected 6 to 9");
	document_free(document);
}

static void time_is_converted_by_the_clock(void)
{
	struct duration ns = { 50, false }, cycles = { 18, true };

	CU_ASSERT_EQUAL(duration_cycles(ns, 2.3e9), 115);
	CU_ASSERT_EQUAL(duration_cycles((struct duration){ 1, false }, 2.5e9),
			3); /* 2.5, away from 0 */
	CU_ASSERT_EQUAL(duration_cycles(cycles, 2.3e9), 18);
	CU_ASSERT_DOUBLE_EQUAL(duration_ns(cycles, 2e9), 9, 1e-12);
	CU_ASSERT_EQUAL(duration_ns(ns, 2e9), 50);
}

static void what_is_written_as_json_reads_back_equal(void)
{
	static const char *const texts[] = { "2.3 GHz", "3.14159265358979 MHz",
					     "1 kHz",   "1234567 Hz",
					     "7.7 GHz", NULL };
	const struct key key = { .type = VALUE_FREQUENCY };

	for (size_t i = 0; texts[i]; i++) {
		double first, second;
		json_t *json;

		CU_ASSERT_TRUE(scalar(VALUE_FREQUENCY, texts[i], &first));
		json = scalar_json(&key, &first);
		CU_ASSERT_TRUE(scalar(VALUE_FREQUENCY, json_string_value(json), &second));
		CU_ASSERT_EQUAL(first, second);
		json_decref(json);
	}
}

static void the_nearest_word_is_near(void)
{
	static const char *const words[] = { "latency", "ways", "size", "random", "ns", NULL };

	CU_ASSERT_STRING_EQUAL(nearest("latnecy", words), "latency");
	CU_ASSERT_STRING_EQUAL(nearest("SIZE", words), "size");
	CU_ASSERT_STRING_EQUAL(nearest("sizes", words), "size");
	CU_ASSERT_STRING_EQUAL(nearest("us", words), "ns");
	CU_ASSERT_STRING_EQUAL(nearest("lat", words), "latency");
	CU_ASSERT_PTR_NULL(nearest("bandwidth", words));
	CU_ASSERT_PTR_NULL(nearest("", words));
	CU_ASSERT_PTR_NULL(nearest("x", words));
}

void suite_config(void)
{
	CU_pSuite suite = CU_add_suite("config", NULL, NULL);

	CU_ADD_TEST(suite, nodes_know_their_line_and_column);
	CU_ADD_TEST(suite, children_keep_the_order_of_the_file);
	CU_ADD_TEST(suite, a_path_that_leads_nowhere_finds_nothing);
	CU_ADD_TEST(suite, windows_line_ends_change_nothing);
	CU_ADD_TEST(suite, a_byte_order_mark_is_skipped);
	CU_ADD_TEST(suite, aliases_are_refused);
	CU_ADD_TEST(suite, an_alias_bomb_is_refused_at_its_first_anchor);
	CU_ADD_TEST(suite, tags_are_refused);
	CU_ADD_TEST(suite, directives_are_refused);
	CU_ADD_TEST(suite, a_percent_sign_within_a_line_is_text);
	CU_ADD_TEST(suite, a_second_document_is_refused);
	CU_ADD_TEST(suite, a_key_given_twice_is_refused);
	CU_ADD_TEST(suite, a_key_that_is_no_text_is_refused);
	CU_ADD_TEST(suite, nesting_stops_at_32_levels);
	CU_ADD_TEST(suite, bottomless_nesting_is_refused);
	CU_ADD_TEST(suite, many_keys_in_one_map_are_read);
	CU_ADD_TEST(suite, a_scalar_is_at_most_4_kib);
	CU_ADD_TEST(suite, a_name_of_a_megabyte_is_refused);
	CU_ADD_TEST(suite, a_text_over_one_mebibyte_is_refused);
	CU_ADD_TEST(suite, control_characters_are_refused);
	CU_ADD_TEST(suite, text_that_is_not_utf8_is_refused);
	CU_ADD_TEST(suite, nothing_is_refused);
	CU_ADD_TEST(suite, a_list_left_open_is_refused_with_its_place);
	CU_ADD_TEST(suite, a_file_cut_at_any_byte_is_read_or_refused_with_its_place);
	CU_ADD_TEST(suite, what_is_no_regular_file_is_refused_unread);
	CU_ADD_TEST(suite, a_file_that_is_not_there_is_named);
	CU_ADD_TEST(suite, a_file_that_may_not_be_read_is_named);
	CU_ADD_TEST(suite, a_file_of_one_mebibyte_is_read_and_one_more_byte_is_not);
	CU_ADD_TEST(suite, a_message_shows_control_characters_as_numbers);
	CU_ADD_TEST(suite, the_first_error_is_kept);
	CU_ADD_TEST(suite, a_long_message_is_cut_to_fit);
	CU_ADD_TEST(suite, an_override_replaces_adds_and_makes_maps_on_the_way);
	CU_ADD_TEST(suite, a_variant_with_plus_signs_is_one_step_of_a_path);
	CU_ADD_TEST(suite, an_override_through_a_value_is_refused);
	CU_ADD_TEST(suite, a_malformed_path_is_refused);
	CU_ADD_TEST(suite, a_malformed_override_is_refused);
	CU_ADD_TEST(suite, a_copy_is_overridden_apart);
	CU_ADD_TEST(suite, a_value_can_be_set_inside_itself);
	CU_ADD_TEST(suite, a_map_fills_a_struct_and_leaves_defaults);
	CU_ADD_TEST(suite, a_struct_as_json_is_written_as_a_file_would);
	CU_ADD_TEST(suite, an_unknown_key_names_the_nearest_known_one);
	CU_ADD_TEST(suite, an_unknown_choice_names_the_nearest_known_one);
	CU_ADD_TEST(suite, a_missing_key_is_named_at_its_map);
	CU_ADD_TEST(suite, a_value_of_another_kind_is_refused);
	CU_ADD_TEST(suite, a_missing_or_wrong_unit_names_those_allowed);
	CU_ADD_TEST(suite, a_number_out_of_range_names_the_range);
	CU_ADD_TEST(suite, whole_numbers_are_exact_to_their_limits);
	CU_ADD_TEST(suite, counts_are_exact_to_their_limits);
	CU_ADD_TEST(suite, what_only_looks_like_a_number_is_refused);
	CU_ADD_TEST(suite, whole_numbers_have_no_fraction_and_no_exponent);
	CU_ADD_TEST(suite, reals_are_the_nearest_double);
	CU_ADD_TEST(suite, sizes_are_whole_bytes_below_2_to_the_53);
	CU_ADD_TEST(suite, times_come_in_nanoseconds_or_cycles);
	CU_ADD_TEST(suite, only_true_and_false_are_booleans);
	CU_ADD_TEST(suite, a_scalar_by_itself_keeps_to_its_range);
	CU_ADD_TEST(suite, time_is_converted_by_the_clock);
	CU_ADD_TEST(suite, what_is_written_as_json_reads_back_equal);
	CU_ADD_TEST(suite, the_nearest_word_is_near);
}
