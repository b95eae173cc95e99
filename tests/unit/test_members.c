/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs from debug information. What the readers must find is what a program says that the
 * same compiler made of the same source: offsetof and sizeof, and of bit-fields the bytes that
 * change. BTF, which not every compiler writes, is also written here by hand. */
#include "layout/btf.h"
#include "layout/dwarf.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include <CUnit/CUnit.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is compiled ----------------------------------------------------------------------- */

static const char header[] = "#include <stddef.h>\n"
			     "typedef struct { long counter; } atomic;\n"
			     "typedef const volatile int often_qualified;\n"
			     "struct list { struct list *next, *prev; };\n"
			     "struct sample {\n"
			     "	char first;\n"
			     "	atomic usage;\n"
			     "	union { struct list swap; struct { int a, b; } memsw; };\n"
			     "	often_qualified q;\n"
			     "	unsigned narrow : 3, wide : 7, : 5, later : 12;\n"
			     "	struct { short table[3][2]; struct list lists[2]; } in;\n"
			     "	enum { NO, YES } choice;\n"
			     "	void (*call)(void);\n"
			     "	double real;\n"
			     "	__attribute__((aligned(64))) int apart;\n"
			     "	struct sample *self;\n"
			     "	char tail[];\n"
			     "};\n"
			     "typedef struct sample sample_t;\n"
			     "struct unknown;\n";

static const char use[] = "#include \"sample.h\"\n"
			  "struct unknown *elsewhere;\n"
			  "long use(sample_t *s) { return s->usage.counter; }\n";

static const char define[] = "struct unknown { int x, y; };\n"
			     "int look(struct unknown *u) { return u->y; }\n";

static const char define_again[] = "struct unknown { char z; };\n"
				   "int taste(struct unknown *u) { return u->z; }\n";

#define FIELDS(X)        \
	X(first)         \
	X(usage)         \
	X(usage.counter) \
	X(swap)          \
	X(swap.next)     \
	X(swap.prev)     \
	X(memsw)         \
	X(memsw.a)       \
	X(memsw.b)       \
	X(q)             \
	X(in)            \
	X(in.table)      \
	X(in.lists)      \
	X(choice)        \
	X(call)          \
	X(real)          \
	X(apart)         \
	X(self)
#define PRINT(name)                                                                      \
	"	printf(\"" #name " %zu %zu 0\\n\", offsetof(struct sample, " #name "), " \
	"sizeof(((struct sample *)0)->" #name "));\n"
#define PRINT_BITS(name, bits)                                  \
	"	memset(&s, 0, sizeof(s)); s." #name " = -1;\n"  \
	"	for (first = 0; !bytes[first]; first++) ;\n"          \
	"	for (last = sizeof(s); !bytes[last - 1]; last--) ;\n" \
	"	printf(\"" #name " %zu %zu " #bits "\\n\", first, last - first);\n"

static const char program[] =
	"#include \"sample.h\"\n"
	"#include <stdio.h>\n"
	"#include <string.h>\n"
	"int main(void) {\n"
	"	struct sample s;\n"
	"	unsigned char *bytes = (unsigned char *)&s;\n"
	"	size_t first, last;\n" FIELDS(PRINT) PRINT_BITS(narrow, 3) PRINT_BITS(wide, 7)
		PRINT_BITS(
			later,
			12) "	printf(\"tail %zu 0 0\\n\", offsetof(struct sample, tail));\n"
			    "	printf(\"size %zu %zu 0\\n\", sizeof(s), _Alignof(struct "
			    "sample));\n"
			    "	return 0;\n"
			    "}\n";

enum { EXPECTED_COUNT = 18 + 3 + 1 };

static struct expectation {
	char name[40];
	uint32_t offset, size, bits;
} expected[EXPECTED_COUNT];
static uint32_t expected_size, expected_align;

static int shell(const char *format, const char *flags)
{
	const char *compiler = getenv("CC");
	char command[1024];

	snprintf(command, sizeof(command), format, scratch_directory(), compiler ? compiler : "gcc",
		 flags);
	return system(command);
}

/* Compiles the sources into use.o, define.o, again.o and, of all three, all.a. Returns whether
 * the compiler took the flags. */
static bool compile(const char *flags)
{
	return !shell(
		"cd '%s' && rm -f *.o all.a && for f in use define again; do %s %s -c -o $f.o "
		"$f.c 2>err || exit 1; done && ar rc all.a define.o use.o again.o",
		flags);
}

static bool program_tell(void)
{
	FILE *file;
	int read = 0;

	if (shell("cd '%s' && %s -w %s -o tell tell.c && ./tell >told", "") ||
	    !(file = fopen(path_of("told"), "r")))
		return false;
	for (int k = 0; k < EXPECTED_COUNT; k++)
		read += fscanf(file, "%39s %u %u %u", expected[k].name, &expected[k].offset,
			       &expected[k].size, &expected[k].bits) == 4;
	read += fscanf(file, " size %u %u 0", &expected_size, &expected_align) == 2;
	fclose(file);
	return read == EXPECTED_COUNT + 1;
}

static bool source_write(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	return file && fputs(text, file) >= 0 && !fclose(file);
}

static int suite_start(void)
{
	return !(!scratch_make() && source_write("sample.h", header) &&
		 source_write("use.c", use) && source_write("define.c", define) &&
		 source_write("again.c", define_again) && source_write("tell.c", program) &&
		 program_tell());
}

/* ---- helpers -------------------------------------------------------------------------------- */

static void expect_sample(const struct members *members)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->size, expected_size);
	CU_ASSERT_EQUAL(members->count, EXPECTED_COUNT);
	for (int k = 0; k < EXPECTED_COUNT; k++) {
		const struct expectation *want = &expected[k];
		const struct member *found = members_find(members, want->name);

		CU_ASSERT_PTR_NOT_NULL_FATAL(found);
		if (found->offset != want->offset || found->size != want->size ||
		    found->bits != want->bits)
			printf("\n  %s: %u %u %u, expected %u %u %u\n", want->name, found->offset,
			       found->size, found->bits, want->offset, want->size, want->bits);
		CU_ASSERT_EQUAL(found->offset, want->offset);
		CU_ASSERT_EQUAL(found->size, want->size);
		CU_ASSERT_EQUAL(found->bits, want->bits);
	}
}

/* Opened, read and closed. */
static struct members *from_dwarf(const char *name, const char *structure, struct error *error)
{
	struct dwarf *dwarf = dwarf_open(path_of(name), error);
	struct members *members = dwarf ? dwarf_members(dwarf, structure, error) : NULL;

	dwarf_close(dwarf);
	return members;
}

static struct members *from_btf(const char *name, const char *structure, struct error *error)
{
	struct btf_file *file = btf_file_open(path_of(name), NULL, error);
	struct members *members = file ? btf_file_members(file, structure, error) : NULL;

	btf_file_close(file);
	return members;
}

/* ---- DWARF ---------------------------------------------------------------------------------- */

static void dwarf_of_every_version_says_what_the_compiler_did(void)
{
	static const char *const flags[] = { "-g",
					     "-gdwarf-5",
					     "-gdwarf-4",
					     "-gdwarf-3 -gstrict-dwarf",
					     "-gdwarf-2 -gstrict-dwarf",
					     "-g -gz",
					     "-g -O2" };

	for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++) {
		struct error error = { "" };
		struct members *members;

		CU_ASSERT_FATAL(compile(flags[k]));
		members = from_dwarf("use.o", "sample", &error);
		CU_ASSERT_STRING_EQUAL(error.text, "");
		expect_sample(members);
		members_free(members);
	}
}

/* In a section of its own in version 4. */
static void type_units_of_a_library_are_read(void)
{
	static const char *const flags[] = { "-gdwarf-4 -fdebug-types-section",
					     "-gdwarf-5 -fdebug-types-section" };

	for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++) {
		struct error error = { "" };
		struct members *members;

		CU_ASSERT_FATAL(!shell("cd '%s' && %s %s -shared -fPIC -o use.so use.c", flags[k]));
		members = from_dwarf("use.so", "sample", &error);
		expect_sample(members);
		members_free(members);
	}
}

/* Version 5 has alignments that were asked for; the compilers write them with earlier ones too. */
static void dwarf_knows_the_alignment(void)
{
	struct error error = { "" };
	struct members *members;

	CU_ASSERT_FATAL(compile("-gdwarf-5"));
	members = from_dwarf("use.o", "sample", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->align, expected_align);
	members_free(members);
}

static void a_typedef_stands_for_its_struct(void)
{
	struct error error = { "" };
	struct members *members;

	CU_ASSERT_FATAL(compile("-g"));
	members = from_dwarf("use.o", "sample_t", &error);
	expect_sample(members);
	members_free(members);
}

static void a_declaration_is_no_definition(void)
{
	struct error error = { "" };
	struct members *members;

	CU_ASSERT_FATAL(compile("-g"));
	CU_ASSERT_PTR_NULL(from_dwarf("use.o", "unknown", &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	members = from_dwarf("define.o", "unknown", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->count, 2);
	members_free(members);
}

static void in_an_archive_the_first_definition_is_found(void)
{
	struct error error = { "" };
	struct members *members;

	CU_ASSERT_FATAL(compile("-g"));
	members = from_dwarf("all.a", "sample", &error);
	expect_sample(members);
	members_free(members);
	members = from_dwarf("all.a", "unknown", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->count, 2);
	members_free(members);
}

static void a_file_without_dwarf_is_refused(void)
{
	struct error error = { "" };
	char text[600];

	CU_ASSERT_FATAL(compile("-g0"));
	CU_ASSERT_PTR_NULL(from_dwarf("use.o", "sample", &error));
	snprintf(text, sizeof(text), "%s: no debug information, expected DWARF as cc -g makes it",
		 path_of("use.o"));
	CU_ASSERT_STRING_EQUAL(error.text, text);
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(from_dwarf("use.c", "sample", &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "expected an ELF file"));
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(from_dwarf("absent", "sample", &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "absent: No such file or directory"));
}

/* ---- BTF ------------------------------------------------------------------------------------ */

static void btf_says_what_the_compiler_did(void)
{
	struct error error = { "" };
	struct members *members;

	if (!compile("-gbtf")) {
		test_skip("the compiler writes no BTF (gcc 12 does)");
		return;
	}
	members = from_btf("use.o", "sample", &error);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	expect_sample(members);
	members_free(members);
}

static void btf_save(struct btf *btf, const char *name)
{
	FILE *file = fopen(path_of(name), "wb");
	uint32_t size;
	const void *bytes = btf__raw_data(btf, &size);

	CU_ASSERT_FATAL(file && bytes && fwrite(bytes, 1, size, file) == size);
	fclose(file);
	btf__free(btf);
}

/* struct s { long a; union { int b; short c[4]; }; unsigned d : 3, e : 7; struct t { char f; }
 * *g, h; } */
static void btf_of_hand_made_types_is_read(void)
{
	static const struct member want[] = {
		{ .name = (char *)"a", .offset = 0, .size = 8, .bits = 0, .leaf = true },
		{ .name = (char *)"b", .offset = 8, .size = 4, .bits = 0, .leaf = true },
		{ .name = (char *)"c", .offset = 8, .size = 8, .bits = 0, .leaf = true },
		{ .name = (char *)"d", .offset = 16, .size = 1, .bits = 3, .leaf = true },
		{ .name = (char *)"e", .offset = 16, .size = 2, .bits = 7, .leaf = true },
		{ .name = (char *)"g", .offset = 24, .size = 8, .bits = 0, .leaf = true },
		{ .name = (char *)"h", .offset = 32, .size = 1, .bits = 0, .leaf = false },
		{ .name = (char *)"h.f", .offset = 32, .size = 1, .bits = 0, .leaf = true },
	};
	struct btf *btf = btf__new_empty();
	int integer = btf__add_int(btf, "int", 4, BTF_INT_SIGNED),
	    word = btf__add_int(btf, "long", 8, BTF_INT_SIGNED),
	    half = btf__add_int(btf, "short", 2, BTF_INT_SIGNED),
	    byte = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int array = btf__add_array(btf, integer, half, 4);
	int either = btf__add_union(btf, "", 8);
	struct error error = { "" };
	struct members *members;
	int inner, pointer, constant;

	btf__add_field(btf, "b", integer, 0, 0);
	btf__add_field(btf, "c", array, 0, 0);
	inner = btf__add_struct(btf, "t", 1);
	btf__add_field(btf, "f", byte, 0, 0);
	pointer = btf__add_ptr(btf, inner);
	constant = btf__add_const(btf, btf__add_typedef(btf, "t_t", inner));
	btf__add_struct(btf, "s", 40);
	btf__add_field(btf, "a", word, 0, 0);
	btf__add_field(btf, "", either, 64, 0);
	btf__add_field(btf, "d", integer, 128, 3);
	btf__add_field(btf, "e", integer, 131, 7);
	btf__add_field(btf, "g", pointer, 192, 0);
	btf__add_field(btf, "h", constant, 256, 0);
	btf_save(btf, "raw.btf");

	members = from_btf("raw.btf", "s", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->size, 40);
	CU_ASSERT_EQUAL(members->align, 8);
	CU_ASSERT_EQUAL_FATAL(members->count, sizeof(want) / sizeof(*want));
	for (uint32_t k = 0; k < members->count; k++) {
		CU_ASSERT_STRING_EQUAL(members->all[k].name, want[k].name);
		CU_ASSERT_EQUAL(members->all[k].offset, want[k].offset);
		CU_ASSERT_EQUAL(members->all[k].size, want[k].size);
		CU_ASSERT_EQUAL(members->all[k].bits, want[k].bits);
		CU_ASSERT_EQUAL(members->all[k].leaf, want[k].leaf);
	}
	members_free(members);
	CU_ASSERT_PTR_NULL(from_btf("raw.btf", "nothing", &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
}

/* A struct that has itself for a member, and a typedef of itself. */
static void btf_that_goes_round_in_circles_is_refused(void)
{
	struct btf *btf = btf__new_empty();
	struct error error = { "" };
	int inside = btf__add_struct(btf, "s", 8);

	btf__add_field(btf, "again", inside, 0, 0);
	btf__add_struct(btf, "t", 8);
	btf__add_field(btf, "x", inside + 2, 0, 0);
	btf__add_typedef(btf, "loop", inside + 2);
	btf_save(btf, "loop.btf");
	CU_ASSERT_PTR_NULL(from_btf("loop.btf", "s", &error));
	CU_ASSERT_STRING_EQUAL(error.text, "struct s: nested more than 16 deep");
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(from_btf("loop.btf", "t", &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "damaged BTF"));
}

static void a_file_without_btf_is_refused(void)
{
	struct error error = { "" };
	char text[600];

	CU_ASSERT_PTR_NULL(from_btf("use.c", "sample", &error));
	snprintf(text, sizeof(text), "%s: no BTF, expected an ELF file with .BTF, or BTF alone",
		 path_of("use.c"));
	CU_ASSERT_STRING_EQUAL(error.text, text);
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(from_btf("absent", "sample", &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "absent: No such file or directory"));
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* A struct of `size` bytes whose members are all as `member` says, one after the other without
 * end. */
struct endless {
	struct type type;
	struct type_member member;
};

static bool endless_type(void *context, uint64_t id, struct type *type, struct error *error)
{
	struct endless *endless = context;

	(void)error;
	*type = id == 1 ? (struct type){ 64, 0, true, 2, NULL } : endless->type;
	return true;
}

static bool endless_member(void *context, uint64_t id, struct type_member *member,
			   struct error *error)
{
	(void)id;
	(void)error;
	*member = ((struct endless *)context)->member;
	return true;
}

static void whatever_a_file_says_the_walk_ends(void)
{
	static const struct {
		struct endless endless;
		const char *error;
	} cases[] = {
		{ { { 4, 4, false, 0, NULL }, { "x", 9, 0, 0, 0, 2 } },
		  "struct s: more than 16384 members" },
		{ { { 4, 4, false, 0, NULL }, { NULL, 9, 0, 0, 0, 2 } },
		  "struct s: more than 16384 members" },
		{ { { 4, 0, true, 2, NULL }, { "x", 9, 0, 0, 0, 2 } },
		  "struct s: nested more than 16 deep" },
		{ { { 4, 4, false, 0, NULL }, { "x", 9, 62 * 8, 0, 0, 0 } },
		  "struct s: member 'x' ends beyond the 64 bytes of the struct" },
		{ { { 65, 4, false, 0, NULL }, { "x", 9, 0, 0, 0, 0 } },
		  "struct s: a member has more bytes than the struct" },
		{ { { 4, 4, false, 0, NULL }, { "x", 9, 0, 0, 33, 0 } },
		  "struct s: a member has more bytes than the struct" },
		{ { { 4, 4, false, 0, NULL }, { "x", 9, UINT64_MAX, 0, 0, 0 } },
		  "struct s: a member beyond its end" },
		{ { { 4, 4, false, 0, NULL }, { "x", 9, 4, 0, 0, 0 } },
		  "struct s: member 'x' starts within a byte" },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct endless endless = cases[k].endless;
		struct error error = { "" };

		CU_ASSERT_PTR_NULL(members_read(
			&(struct type_reader){ &endless, endless_type, endless_member }, "s", 1,
			&error));
		CU_ASSERT_STRING_EQUAL(error.text, cases[k].error);
	}
}

/* ---- layouts -------------------------------------------------------------------------------- */

static void a_layout_has_the_leaves(void)
{
	struct error error = { "" };
	struct members *members;
	struct layout *layout;

	CU_ASSERT_FATAL(compile("-g"));
	members = from_dwarf("use.o", "sample", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	layout = members_layout(members, "sample-1", "a test", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(layout);
	CU_ASSERT_STRING_EQUAL(layout->name, "sample-1");
	CU_ASSERT_STRING_EQUAL(layout->structure, "sample");
	CU_ASSERT_EQUAL(layout->size, expected_size);
	CU_ASSERT_EQUAL(layout->field_count, EXPECTED_COUNT - 4);
	CU_ASSERT_PTR_NULL(layout_find(layout, "usage"));
	CU_ASSERT_PTR_NOT_NULL(layout_find(layout, "usage.counter"));
	CU_ASSERT_PTR_NOT_NULL(layout_find(layout, "memsw.b"));
	CU_ASSERT_PTR_NOT_NULL(layout_find(layout, "in.lists"));
	layout_free(layout);
	members_free(members);
}

struct reports {
	int count;
	const char *field;
	const struct member *found;
};

static void report(void *context, const struct disagreement *disagreement)
{
	struct reports *reports = context;

	reports->count++;
	reports->field = disagreement->field ? disagreement->field->name : "";
	reports->found = disagreement->found;
}

/* Against a struct { int x, y; }. */
static void every_disagreement_is_reported(void)
{
	static const struct {
		uint32_t size;
		const char *name;
		uint32_t offset, bytes;
		const char *field; /* that is reported; NULL: none, "": the size */
	} cases[] = {
		{ 8, "y", 4, 4, NULL }, { 8, "y", 0, 4, "y" }, { 8, "y", 4, 2, "y" },
		{ 8, "z", 4, 4, "z" },  { 16, "y", 4, 4, "" },
	};
	struct error error = { "" };
	struct members *members;

	CU_ASSERT_FATAL(compile("-g"));
	members = from_dwarf("define.o", "unknown", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct layout *layout = layout_new("unknown-1", "unknown", "a test");
		struct reports reports = { 0 };

		layout->size = cases[k].size;
		layout_add(layout, "", cases[k].name, cases[k].offset, cases[k].bytes);
		CU_ASSERT_EQUAL(members_verify(members, layout, report, &reports),
				(cases[k].field != NULL));
		CU_ASSERT_EQUAL_FATAL(reports.count, (cases[k].field != NULL));
		if (cases[k].field) {
			CU_ASSERT_STRING_EQUAL(reports.field, cases[k].field);
			CU_ASSERT_EQUAL(reports.found != NULL, (*cases[k].field == 'y'));
		}
		layout_free(layout);
	}
	members_free(members);
}

/* ---- the command ---------------------------------------------------------------------------- */

static void layout_write(const char *name, const char *y)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "layout: unknown-1\nstruct: unknown\nsize: 8 B\nalign: 4 B\nsource: test\n"
		 "fields:\n  x: {offset: 0, size: 4}\n  y: %s\n",
		 y);
	file_write(name, text);
}

static void verify_says_with_its_status_whether_layouts_agree(void)
{
	CU_ASSERT_FATAL(compile("-g"));
	layout_write("good.yaml", "{offset: 4, size: 4}");
	layout_write("bad.yaml", "{offset: 6, size: 2}");
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./good.yaml --dwarf define.o"), 0);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./good.yaml ./bad.yaml --dwarf define.o"), 1);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./bad.yaml ./good.yaml --dwarf all.a"), 1);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./good.yaml --dwarf use.o"), 1);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./good.yaml --btf use.c"), 2);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./none.yaml --dwarf define.o"), 2);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./good.yaml"), 2);
	CU_ASSERT_EQUAL(hitm_run("", "layout verify ./good.yaml --dwarf define.o --btf x"), 2);
}

void suite_members(void)
{
	CU_pSuite suite = CU_add_suite("members", suite_start, scratch_remove);

	CU_ADD_TEST(suite, dwarf_of_every_version_says_what_the_compiler_did);
	CU_ADD_TEST(suite, type_units_of_a_library_are_read);
	CU_ADD_TEST(suite, dwarf_knows_the_alignment);
	CU_ADD_TEST(suite, a_typedef_stands_for_its_struct);
	CU_ADD_TEST(suite, a_declaration_is_no_definition);
	CU_ADD_TEST(suite, in_an_archive_the_first_definition_is_found);
	CU_ADD_TEST(suite, a_file_without_dwarf_is_refused);
	CU_ADD_TEST(suite, btf_says_what_the_compiler_did);
	CU_ADD_TEST(suite, btf_of_hand_made_types_is_read);
	CU_ADD_TEST(suite, btf_that_goes_round_in_circles_is_refused);
	CU_ADD_TEST(suite, a_file_without_btf_is_refused);
	CU_ADD_TEST(suite, whatever_a_file_says_the_walk_ends);
	CU_ADD_TEST(suite, a_layout_has_the_leaves);
	CU_ADD_TEST(suite, every_disagreement_is_reported);
	CU_ADD_TEST(suite, verify_says_with_its_status_whether_layouts_agree);
}
