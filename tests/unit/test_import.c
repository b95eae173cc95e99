/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layouts that `hitm layout import` writes: they are read back as they were, and say what the compiler did,
 * what a text says, and where they come from. */
#include "layout/btf.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include <CUnit/CUnit.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- helpers -------------------------------------------------------------------------------- */

static void expect_output(const char *arguments, const char *want)
{
	CU_ASSERT_EQUAL(hitm_run("", arguments), 0);
	CU_ASSERT_STRING_EQUAL(file_text("err"), "");
	CU_ASSERT_STRING_EQUAL(file_text("out"), want);
}

/* One line, and status 2; nothing is printed. */
static void expect_mistake(const char *arguments, const char *message)
{
	char line[600];

	CU_ASSERT_EQUAL(hitm_run("", arguments), 2);
	snprintf(line, sizeof(line), "%s\n", message);
	CU_ASSERT_STRING_EQUAL(file_text("err"), line);
	CU_ASSERT_STRING_EQUAL(file_text("out"), "");
}

static struct layout *read_back(const struct layout *layout, const struct layout_nested *nested,
				uint32_t count, struct error *error)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	struct layout *back;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	layout_save(file, layout, nested, count, "a comment\nof two lines\n");
	fclose(file);
	back = layout_parse("configs/layouts", layout->name, text, length, error);
	free(text);
	return back;
}

static bool are_equal(const struct layout *a, const struct layout *b)
{
	bool equal = !strcmp(a->name, b->name) && !strcmp(a->structure, b->structure) &&
		     !strcmp(a->source, b->source) && a->size == b->size && a->align == b->align &&
		     a->field_count == b->field_count;

	for (uint32_t k = 0; equal && k < a->field_count; k++)
		equal = !strcmp(a->fields[k].name, b->fields[k].name) &&
			a->fields[k].offset == b->fields[k].offset &&
			a->fields[k].size == b->fields[k].size;
	return equal;
}

/* ---- the writer ----------------------------------------------------------------------------- */

static void whatever_overlaps_is_read_back(void)
{
	static const struct layout_field fields[] = { { "a", 0, 8 },        { "b", 0, 2 },
						      { "c", 2, 12 },       { "none", 4, 0 },
						      { "d", 8, 4 },        { "e", 12, 4 },
						      { "list[0]", 16, 8 }, { "in.x", 20, 4 },
						      { "f", 24, 8 } };
	struct layout *layout = layout_new("l", "s", "it's \"x\": #1, {a}, \\"), *back;
	struct error error = { "" };

	layout->size = layout->align = 32;
	for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++)
		layout_add(layout, "", fields[k].name, fields[k].offset, fields[k].size);
	back = read_back(layout, NULL, 0, &error);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_FATAL(back && are_equal(layout, back));
	layout_free(back);
	layout_free(layout);
}

struct round_trip {
	uint32_t same, different, empty, limits;
};

static bool round_trip_one(void *context, const char *name, const struct members *members,
			   const struct error *refusal)
{
	struct round_trip *trip = context;
	struct error error = { "" };
	struct layout *layout, *back;

	(void)refusal;
	if (!members) {
		trip->limits++;
		return true;
	}
	layout = members_layout(members, "imported", "a test", &error);
	back = layout ? read_back(layout, NULL, 0, &error) : NULL;
	if (!layout && strstr(error.text, "has no members"))
		trip->empty++;
	else if (back && are_equal(layout, back))
		trip->same++;
	else if (!trip->different++)
		printf("\n  %s: %s\n", name, error.text);
	layout_free(layout);
	layout_free(back);
	return true;
}

static void all_structs_of_the_running_kernel_are_read_back(void)
{
	struct round_trip trip = { 0 };
	struct error error = { "" };
	struct btf_file *file = btf_file_open(BTF_KERNEL, NULL, &error);

	if (!file) {
		test_skip("a kernel with BTF");
		return;
	}
	btf_file_each(file, round_trip_one, &trip);
	CU_ASSERT_EQUAL(trip.different, 0);
	CU_ASSERT(trip.same > 1000 && trip.empty < 100 && trip.limits * 8 < trip.same);
	btf_file_close(file);
}

/* ---- the command ---------------------------------------------------------------------------- */

static const char paste[] = "struct s {\n"
			    "	int a; /* 0 4 */\n"
			    "	union {\n"
			    "		struct lock one; /* 8 16 */\n"
			    "		long two; /* 8 8 */\n"
			    "	}; /* 8 16 */\n"
			    "	unsigned int f:3; /* 24: 0 4 */\n"
			    "	unsigned int g:7; /* 24: 3 4 */\n"
			    "	/* size: 32, cachelines: 1 */\n"
			    "};\n"
			    "struct t { int x; /* 0 4 */ /* size: 4 */ };\n";

#define ALIGNMENT \
	"# The alignment is that of the members, as far as it is known from their sizes.\n"
#define BITS                                                                           \
	"# Bit-fields have the bytes that they lie in; those that share bytes are in " \
	"union_with.\n"

static void a_struct_is_written_as_a_layout_that_says_where_it_is_from(void)
{
	file_write("paste", paste);
	expect_output("layout import s --pahole paste",
		      ALIGNMENT BITS "layout: s\n"
				     "struct: s\n"
				     "size: 32 B\n"
				     "align: 8 B\n"
				     "source: 'pahole text paste, line 1'\n"
				     "fields:\n"
				     "  a: {offset: 0, size: 4}\n"
				     "  one: {offset: 8, size: 16}\n"
				     "  two: {offset: 8, size: 8, union_with: one}\n"
				     "  f: {offset: 24, size: 1}\n"
				     "  g: {offset: 24, size: 2, union_with: f}\n");
}

static void an_excerpt_says_that_its_size_is_a_guess(void)
{
	file_write("excerpt", "int a; /* 60 4 */\nint b; /* 64 4 */\n");
	expect_output(
		"layout import s --pahole excerpt --name s-5.12", ALIGNMENT
		"# The size was not in the text: it is the end of the last member, of a struct "
		"rounded up to 64.\n"
		"layout: s-5.12\n"
		"struct: s\n"
		"size: 128 B\n"
		"align: 4 B\n"
		"source: 'pahole text excerpt, line 1; its size is a guess'\n"
		"fields:\n"
		"  a: {offset: 60, size: 4}\n"
		"  b: {offset: 64, size: 4}\n");
}

static const char lock[] = "layout: lock\nstruct: lock\nsize: 16 B\nalign: 8 B\nsource: test\n"
			   "fields:\n  count: {offset: 0, size: 8}\n"
			   "  owner: {offset: 8, size: 8}\n";

static void a_member_may_have_a_layout_of_its_own(void)
{
	file_write("paste", paste);
	file_write("lock.yaml", lock);
	CU_ASSERT_EQUAL(hitm_run("", "layout import s --pahole paste --nested lock=lock.yaml"), 0);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(file_text("out"), "  one: {offset: 8, size: 16, layout: lock.yaml}\n"));
	CU_ASSERT_EQUAL(
		hitm_run("", "layout import s --pahole paste --nested lock=lock.yaml --flat"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"),
				      "  one.count: {offset: 8, size: 8}\n"
				      "  two: {offset: 8, size: 8, union_with: one.count}\n"
				      "  one.owner: {offset: 16, size: 8}\n"));
}

/* Its members are there, but those of the layout stand for them. */
static void a_struct_that_is_known_may_have_a_layout_too(void)
{
	file_write("lock.yaml", lock);
	file_write("paste", "struct s { struct lock one; /* 0 16 */ long two; /* 16 8 */ "
			    "/* size: 24 */ };\nstruct lock { long c; /* 0 8 */ long o; "
			    "/* 8 8 */ /* size: 16 */ };\n");
	CU_ASSERT_EQUAL(hitm_run("", "layout import s --pahole paste"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"), "fields:\n"
							"  one.c: {offset: 0, size: 8}\n"
							"  one.o: {offset: 8, size: 8}\n"
							"  two: {offset: 16, size: 8}\n"));
	CU_ASSERT_EQUAL(hitm_run("", "layout import s --pahole paste --nested lock=lock.yaml"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"),
				      "fields:\n"
				      "  one: {offset: 0, size: 16, layout: lock.yaml}\n"
				      "  two: {offset: 16, size: 8}\n"));
}

static void a_file_gives_the_layout_its_name(void)
{
	file_write("paste", paste);
	expect_output("layout import s --pahole paste --out new/dir/s-6.1.yaml", "");
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("new/dir/s-6.1.yaml"), "layout: s-6.1\n"));
	expect_output("layout check new/dir/s-6.1.yaml", "new/dir/s-6.1.yaml: ok\n");
	expect_output("layout import s t --pahole paste --out both", "");
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("both/s.yaml"), "layout: s\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("both/t.yaml"), "layout: t\n"));
}

static void standard_input_is_read(void)
{
	char command[2048];

	file_write("paste", paste);
	snprintf(command, sizeof(command), "layout import t --pahole - <'%s'", path_of("paste"));
	CU_ASSERT_EQUAL(hitm_run("", command), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"), "source: 'pahole text on standard input, "
							"line 11'\n"));
}

/* `verify` reads what was written, and holds it against sizes and offsets that are not ours: those
 * that the program itself has printed. */
static void what_is_compiled_is_imported(void)
{
	const char *compiler = getenv("CC");
	char command[1500];

	file_write("a.c", "#include <stdatomic.h>\n#include <stddef.h>\n#include <stdio.h>\n"
			  "struct in { _Atomic long n; _Atomic int m[2]; };\n"
			  "struct s { char c; struct in in; _Alignas(64) atomic_int last; } s;\n"
			  "#define P(f) printf(\"  %s: {offset: %zu, size: %zu}\\n\", #f, "
			  "offsetof(struct s, f), sizeof(s.f))\n"
			  "int main(void) { printf(\"size: %zu B\\nalign: %zu B\\n\", sizeof(s), "
			  "_Alignof(struct s)); puts(\"source: DWARF of a\\nfields:\");\n"
			  "P(c); P(in.n); P(in.m); P(last); return 0; }\n");
	snprintf(command, sizeof(command),
		 "cd '%s' && %s -g -o a a.c && { echo 'layout: s'; echo 'struct: s'; ./a; } | "
		 "sed \"s/DWARF of a/'&'/\" >want",
		 scratch_directory(), compiler ? compiler : "gcc");
	CU_ASSERT_FATAL(!system(command));
	CU_ASSERT_EQUAL(hitm_run("", "layout import s --dwarf a --out got"), 0);
	snprintf(command, sizeof(command), "cd '%s' && diff want got/s.yaml", scratch_directory());
	CU_ASSERT(!system(command));
}

static void debug_information_in_another_file_is_found(void)
{
	const char *compiler = getenv("CC");
	char command[1000];

	file_write("b.c", "struct s { int a, b; } s; int main(void) { return s.a; }\n");
	snprintf(command, sizeof(command),
		 "cd '%s' && %s -g -o b b.c && objcopy --only-keep-debug b b.debug && "
		 "objcopy --strip-debug --add-gnu-debuglink=b.debug b && rm b.c",
		 scratch_directory(), compiler ? compiler : "gcc");
	CU_ASSERT_FATAL(!system(command));
	CU_ASSERT_EQUAL(hitm_run("", "layout import s --dwarf b"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"), "  b: {offset: 4, size: 4}\n"));
	unlink(path_of("b.debug"));
	CU_ASSERT_EQUAL(hitm_run("", "layout import s --dwarf b"), 2);
}

/* A kernel with an int, and a module with a struct of one. */
static void btf_of_a_module_goes_on_from_its_kernel(void)
{
	struct btf *base = btf__new_empty(), *module;
	int integer = btf__add_int(base, "int", 4, BTF_INT_SIGNED);
	const char *const names[] = { "kernel.btf", "module.btf" };

	btf__add_struct(base, "unused", 4);
	btf__add_field(base, "i", integer, 0, 0);
	module = btf__new_empty_split(base);
	btf__add_struct(module, "s", 8);
	btf__add_field(module, "a", integer, 0, 0);
	btf__add_field(module, "b", integer, 32, 0);
	for (int k = 0; k < 2; k++) {
		FILE *file = fopen(path_of(names[k]), "wb");
		uint32_t size;
		const void *bytes = btf__raw_data(k ? module : base, &size);

		CU_ASSERT_FATAL(file && bytes && fwrite(bytes, 1, size, file) == size);
		fclose(file);
	}
	btf__free(module);
	btf__free(base);
	expect_output("layout import s --btf module.btf --btf-base kernel.btf",
		      ALIGNMENT "layout: s\nstruct: s\nsize: 8 B\nalign: 4 B\n"
				"source: 'BTF of module.btf'\nfields:\n"
				"  a: {offset: 0, size: 4}\n  b: {offset: 4, size: 4}\n");
}

static void a_struct_that_is_not_there_names_the_nearest(void)
{
	file_write("paste", "struct page_counter { int x; /* 0 4 */ /* size: 4 */ };\n");
	expect_mistake("layout import page_conter --pahole paste",
		       "paste: no struct page_conter, did you mean 'page_counter'?");
	expect_mistake("layout import zzz --pahole paste",
		       "paste: no struct zzz, expected one that it has");
}

static void options_that_do_not_fit_are_refused(void)
{
	file_write("paste", paste);
	file_write("lock.yaml", lock);
	expect_mistake("layout import --pahole paste",
		       "hitm layout import: a struct was expected; hitm layout -h shows how");
	expect_mistake("layout import s",
		       "hitm layout import: one of --dwarf, --btf and --pahole was expected; hitm "
		       "layout -h shows how");
	expect_mistake("layout import s t --pahole paste",
		       "hitm layout import: several structs, expected --out DIRECTORY then");
	expect_mistake("layout import s t --pahole paste --out x --name y",
		       "hitm layout import: --name, expected one struct then");
	expect_mistake("layout import s --pahole paste --name a/b",
		       "hitm layout import: 'a/b' names no layout, expected a --name of letters, "
		       "digits, _ . -");
	expect_mistake("layout import s --pahole paste --name a --out b.yaml",
		       "hitm layout import: --name 'a', expected 'b' as --out calls the file");
	expect_mistake("layout import s --pahole paste --nested lock",
		       "hitm layout: --nested 'lock', expected STRUCT=LAYOUT");
	expect_mistake("layout import s --pahole paste --out x --nested lok=lock.yaml",
		       "hitm layout import: --nested lok, expected the struct of a member");
	expect_mistake("layout import s --btf paste --nth 2",
		       "hitm layout import: --nth, expected --pahole with it");
	expect_mistake("layout import s --pahole absent", "absent: No such file or directory");
}

void suite_import(void)
{
	CU_pSuite suite = CU_add_suite("import", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, whatever_overlaps_is_read_back);
	CU_ADD_TEST(suite, all_structs_of_the_running_kernel_are_read_back);
	CU_ADD_TEST(suite, a_struct_is_written_as_a_layout_that_says_where_it_is_from);
	CU_ADD_TEST(suite, an_excerpt_says_that_its_size_is_a_guess);
	CU_ADD_TEST(suite, a_member_may_have_a_layout_of_its_own);
	CU_ADD_TEST(suite, a_struct_that_is_known_may_have_a_layout_too);
	CU_ADD_TEST(suite, a_file_gives_the_layout_its_name);
	CU_ADD_TEST(suite, standard_input_is_read);
	CU_ADD_TEST(suite, what_is_compiled_is_imported);
	CU_ADD_TEST(suite, debug_information_in_another_file_is_found);
	CU_ADD_TEST(suite, btf_of_a_module_goes_on_from_its_kernel);
	CU_ADD_TEST(suite, a_struct_that_is_not_there_names_the_nearest);
	CU_ADD_TEST(suite, options_that_do_not_fit_are_refused);
}
