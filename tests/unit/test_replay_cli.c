/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hitm replay` and `hitm export` as their users meet them: the same bytes each time, and mistakes that give
 * one line and no files. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include <CUnit/CUnit.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 1 << 20, STATUS_REFUSED = 2 };

static void succeed(const char *arguments)
{
	int status = hitm_run("", arguments);

	CU_ASSERT_EQUAL(status, 0);
	if (status)
		printf("\n  hitm %s\n  %s", arguments, file_text("err"));
}

/* What it prints; the caller frees it. */
static char *printed(const char *arguments)
{
	char *text;

	succeed(arguments);
	text = strdup(file_text("out"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	return text;
}

static void expect_same(const char *left, const char *right)
{
	char *one = printed(left), *other = printed(right);

	CU_ASSERT(strlen(one) > 500);
	CU_ASSERT_STRING_EQUAL(one, other);
	free(one);
	free(other);
}

static void copy(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cd %s && cp %s %s", scratch_directory(), from, to);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* ---- captures ------------------------------------------------------------------------------- */

#define OBJECT "-O x=micro-together@0x10000 "

static const char complete[] = "# hitm-trace 1\n# kind complete\n"
			       "100 0 1 W 0x10000 8 1\n150 20 2 W 0x10008 8 1\n"
			       "300 0 1 W 0x10000 8 1\n350 20 2 W 0x10008 8 1\n"
			       "500 0 1 A 0x10000 8 1\n550 20 2 R 0x10038 8 1\n";
static const char sampled[] =
	"# hitm-trace 1\n# kind sampled\n"
	"1 0 1 W 0x10000 8 50\n2 20 2 R 0x10008 8 50\n3 20 2 W 0x10008 8 10\n";

/* ---- the same bytes ------------------------------------------------------------------------- */

static void test_replays_are_the_same_each_time(void)
{
	file_write("c", complete);
	file_write("s", sampled);
	expect_same("replay c " OBJECT "-l x=micro-padded -f json",
		    "replay c " OBJECT "-l x=micro-padded -f json");
	expect_same(
		"replay s " OBJECT "-l x=micro-padded -f json -s measure.duration='100 us' -j 1",
		"replay s " OBJECT "-l x=micro-padded -f json -s measure.duration='100 us' -j 3");
}

/* Text, binary, and either packed. */
static void test_forms_of_one_trace_give_the_same_replay(void)
{
	static const char replay[] = "replay t -l stats=example-stats-apart -f json";
	char command[256], *expected;

	succeed("export false-sharing -o text -s measure.duration='10 us' -s measure.warmup='1 "
		"us'");
	succeed("export false-sharing -o binary -t trace-binary -s measure.duration='10 us' -s "
		"measure.warmup='1 us'");
	succeed("replay text -w again");
	succeed("replay text -w text.bin --as trace-binary");
	snprintf(command, sizeof(command),
		 "cd %s && gzip -c text >text.gz && cmp -s text again && cmp -s text.bin binary && "
		 "! cmp -s text binary",
		 scratch_directory());
	CU_ASSERT_EQUAL(system(command), 0);
	copy("text", "t");
	expected = printed(replay);
	for (int k = 0; k < 2; k++) {
		char *other;
		json_t *one, *two;

		copy(k ? "text.gz" : "binary", "t");
		other = printed(replay);
		one = json_loads(expected, 0, NULL);
		two = json_loads(other, 0, NULL);
		CU_ASSERT(json_is_object(one));
		CU_ASSERT(json_equal(json_object_get(one, "variants"),
				     json_object_get(two, "variants")));
		CU_ASSERT_EQUAL(json_array_size(json_object_get(one, "variants")), 2);
		json_decref(one);
		json_decref(two);
		free(other);
	}
	free(expected);
}

/* Fields that are moved to lines of their own: no cycle of false sharing is left, and as many accesses. */
static void test_another_layout_is_told_beside_the_captured_one(void)
{
	char *text;
	json_t *results;

	file_write("c", complete);
	text = printed("replay c " OBJECT "-l x=micro-padded -f json");
	results = json_loads(text, 0, NULL);
	for (size_t k = 0; k < 2; k++) {
		json_t *variant = json_array_get(json_object_get(results, "variants"), k);
		json_t *cycles = json_object_get(variant, "cycles");
		json_t *field, *fields = json_object_get(variant, "fields");
		json_int_t accesses = 0;
		size_t f;

		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(variant, "name")),
				       k ? "x=micro-padded" : "captured");
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(cycles, "false_sharing")) == 0,
				k == 1);
		json_array_foreach(fields, f, field) accesses +=
			json_integer_value(json_object_get(field, "loads")) +
			json_integer_value(json_object_get(field, "stores")) +
			json_integer_value(json_object_get(field, "rmws"));
		CU_ASSERT_EQUAL(accesses, 6);
	}
	json_decref(results);
	free(text);
}

/* ---- mistakes ------------------------------------------------------------------------------- */

static const struct {
	const char *arguments, *error;
} mistakes[] = {
	{ "replay", "0 traces" },
	{ "replay c s", "2 traces" },
	{ "replay -", "standard input can be read once only" },
	{ "replay missing", "missing: No such file" },
	{ "replay .", ".: not a regular file" },
	{ "replay c --from nothing", "no format 'nothing'" },
	{ "replay empty", "empty: empty, expected a capture" },
	{ "replay none", "none: no access in it that can be replayed" },
	{ "replay c -O x", "--object 'x', expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O =micro-together@0x10000", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=@0x10000", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together@here", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together@0x10000000000000000", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together@0x10000*64", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together@0x10000*64x0", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together@0x10000*64x4097", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c -O x=micro-together@0x10000*0x2", "expected NAME=LAYOUT@ADDRESS" },
	{ "replay c " OBJECT OBJECT, "--object x twice" },
	{ "replay c " OBJECT "-O y=micro-together@0x10020", "y lies within x" },
	{ "replay c -O x=micro-togehter@0x10000", "did you mean 'micro-together'?" },
	{ "replay c -O x.y=micro-together@0x10000", "'x.y' is no name" },
	{ "replay c " OBJECT "-l y=micro-padded", "no object 'y'" },
	{ "replay c " OBJECT "-l x", "--layout 'x', expected OBJECT=LAYOUT" },
	{ "replay c " OBJECT "-l x=micro-paded", "did you mean 'micro-padded'?" },
	{ "replay c " OBJECT "-l x=page_counter-6.1", "expected one of struct micro" },
	{ "replay c " OBJECT "--atomic x.nothing", "no 'x.nothing'" },
	{ "replay c " OBJECT "--store x.slot0=5",
	  "is no profile, expected stores for profiles alone" },
	{ "replay c " OBJECT "--store x.slot0", "expected OBJECT.FIELD=WEIGHT" },
	{ "replay s " OBJECT "--order recorded", "a profile has no order" },
	{ "replay c --map 0=1,20=1", "two threads on cpu 1" },
	{ "replay c --map 0=", "expected recorded, compact, spread or CPU=CPU" },
	{ "replay c --map nowhere", "unknown value 'nowhere'" },
	{ "replay c --only some", "unknown value 'some'" },
	{ "replay c --by core", "unknown value 'core'" },
	{ "replay c --order any", "unknown value 'any'" },
	{ "replay c --home far", "unknown value 'far'" },
	{ "replay c --unknown guess", "unknown value 'guess'" },
	{ "replay c --gaps -1", "-1" },
	{ "replay c --seeds 0", "seeds" },
	{ "replay c --ideal world", "no counterfactual 'world'" },
	{ "replay c -m nothing", "no machine 'nothing'" },
	{ "replay c --set workload.nothing=1", "nothing" },
	{ "replay c -w c/x", "c/x: Not a directory" },
	{ "replay c -w x --as lkp", "no form 'lkp' to write" },
	{ "replay c -E missing -O x=micro-together@symbol", "missing" },
	{ "export micro", "no --out" },
	{ "export -o x", "0 experiments" },
	{ "export nothing -o x", "no 'nothing' among experiments" },
	{ "export micro -o x -v 'add, alon'", "such as add, alone" },
	{ "export micro -o x -m nothing", "no 'nothing' among machines" },
	{ "export micro -o x -t nothing", "no form 'nothing' to write" },
	{ "export micro -o c/x", "c/x: Not a directory" },
	{ "export micro -o x -s measure.duration=soon", "soon" },
};

static bool is_there(const char *name)
{
	return !access(path_of(name), F_OK);
}

static void test_mistakes_are_one_line_and_leave_no_files(void)
{
	file_write("c", complete);
	file_write("s", sampled);
	file_write("empty", "");
	file_write("none", "# hitm-trace 1\n# kind complete\n");
	for (size_t k = 0; k < sizeof(mistakes) / sizeof(*mistakes); k++) {
		bool replays = !strncmp(mistakes[k].arguments, "replay", 6);
		char arguments[512];
		const char *error, *end;
		int status;
		bool right;

		snprintf(arguments, sizeof(arguments), "%s%s", mistakes[k].arguments,
			 replays ? " -o results" : "");
		status = hitm_run("", arguments);
		error = file_text("err");
		end = strchr(error, '\n');
		right = status == STATUS_REFUSED && end && !end[1] &&
			strstr(error, mistakes[k].error);
		CU_ASSERT(right);
		if (!right)
			printf("\n  hitm %s\n  status: %d\n     got: %s    want: %s\n", arguments,
			       status, error, mistakes[k].error);
		CU_ASSERT(!is_there("x") && !is_there("results/report-skx-2s-18c.txt") &&
			  !is_there("results/results-skx-2s-18c.json"));
	}
}

/* An object is accessed also where the capture has its field's name and no address. */
static void test_a_field_alone_is_an_access_to_its_object(void)
{
	char *text;

	file_write("f", "# hitm-trace 1\n# kind complete\n1 0 1 W - 8 1 x.slot0\n"
			"2 1 2 W - 8 1 x.slot1\n");
	text = printed("replay f " OBJECT "-f json");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"field\": \"x.slot0\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"field\": \"x.slot1\""));
	free(text);
}

/* As root one may replace /dev/full by a file, and would not want to. */
static void test_a_device_is_written_to_and_stays(void)
{
	char target[32] = "";

	file_write("c", complete);
	CU_ASSERT_EQUAL_FATAL(symlink("/dev/full", path_of("full")), 0);
	CU_ASSERT_NOT_EQUAL(hitm_run("", "replay c " OBJECT "-w full"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "No space left on device"));
	CU_ASSERT_EQUAL(readlink(path_of("full"), target, sizeof(target) - 1), 9);
	CU_ASSERT_STRING_EQUAL(target, "/dev/full");
}

/* What it prints before is not mistaken for results. */
static void test_a_mistake_leaves_no_json(void)
{
	file_write("c", complete);
	CU_ASSERT_EQUAL(hitm_run("", "replay c " OBJECT "-l x=micro-paded -f json"),
			STATUS_REFUSED);
	CU_ASSERT_STRING_EQUAL(file_text("out"), "");
	CU_ASSERT_EQUAL(hitm_run("", "replay c " OBJECT "--store x.slot0=5 -f csv"),
			STATUS_REFUSED);
	CU_ASSERT_STRING_EQUAL(file_text("out"), "");
}

void suite_replay_cli(void)
{
	CU_pSuite suite = CU_add_suite("replay_cli", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, test_replays_are_the_same_each_time);
	CU_ADD_TEST(suite, test_forms_of_one_trace_give_the_same_replay);
	CU_ADD_TEST(suite, test_another_layout_is_told_beside_the_captured_one);
	CU_ADD_TEST(suite, test_mistakes_are_one_line_and_leave_no_files);
	CU_ADD_TEST(suite, test_a_field_alone_is_an_access_to_its_object);
	CU_ADD_TEST(suite, test_a_device_is_written_to_and_stays);
	CU_ADD_TEST(suite, test_a_mistake_leaves_no_json);
}
