/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs from the text that pahole prints. What must be found is what the text says to who reads it; and
 * of all structs of the kernel that runs, what its BTF says. */
#include "layout/btf.h"
#include "layout/pahole.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers -------------------------------------------------------------------------------- */

/* Parsed, read and closed. */
static struct members *members_of(const char *text, const char *structure, uint32_t number,
				  struct error *error)
{
	struct pahole *pahole = pahole_parse("paste", text, strlen(text), error);
	struct members *members = pahole ? pahole_members(pahole, structure, number, error) : NULL;

	pahole_close(pahole);
	return members;
}

/* "NAME OFFSET SIZE[:BITS]; ..." of the leaves. */
static const char *leaves_of(const struct members *members)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t k = 0; k < members->count && used < sizeof(text) - 100; k++) {
		const struct member *member = &members->all[k];

		if (!member->leaf)
			continue;
		used += (size_t)snprintf(text + used, 99, "%s%.60s %u %u", used ? "; " : "",
					 member->name, member->offset, member->size);
		if (member->bits)
			used += (size_t)snprintf(text + used, 20, ":%u", member->bits);
	}
	return text;
}

static void expect_struct(const char *text, const char *structure, uint32_t number, uint32_t size,
			  const char *leaves)
{
	struct error error = { "" };
	struct members *members = members_of(text, structure, number, &error);

	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->size, size);
	CU_ASSERT_STRING_EQUAL(leaves_of(members), leaves);
	if (strcmp(leaves_of(members), leaves))
		printf("\n  got:  %s\n  want: %s\n", leaves_of(members), leaves);
	members_free(members);
}

static void expect_refusal(const char *text, const char *structure, uint32_t number,
			   const char *message)
{
	struct error error = { "" };

	CU_ASSERT_PTR_NULL(members_of(text, structure, number, &error));
	CU_ASSERT_STRING_EQUAL(error.text, message);
}

/* ---- forms of members ----------------------------------------------------------------------- */

static const char sample[] =
	"struct sample {\n"
	"	long unsigned int          flags;                /*     0     8 */\n"
	"	struct sample *            parent;               /*     8     8 */\n"
	"	void                       (*call)(struct sample *, int); /*    16     8 */\n"
	"	int                        (*calls[2])(void);    /*    24    16 */\n"
	"	short int                  table[3][2];          /*    40    12 */\n"
	"	enum {\n"
	"		NO  = 0,\n"
	"		YES = 1,\n"
	"	} choice;                                        /*    52     4 */\n"
	"	unsigned int               narrow:3;             /*    56: 0  4 */\n"
	"	unsigned int               wide:7;               /*    56: 3  4 */\n"
	"\n"
	"	/* XXX 5 bits hole, try to pack */\n"
	"	unsigned int               :5;\n"
	"\n"
	"	unsigned int               later:12;             /*    56:15 4 */\n"
	"\n"
	"	/* XXX 5 bits hole, try to pack */\n"
	"	/* XXX 4 bytes hole, try to pack */\n"
	"\n"
	"	/* --- cacheline 1 boundary (64 bytes) --- */\n"
	"	spinlock_t                 lock __attribute__((__aligned__(64))); /*    64     4 "
	"*/\n"
	"	union {\n"
	"		struct {\n"
	"			u16        low;                  /*    68     2 */\n"
	"			u16        high;                 /*    70     2 */\n"
	"		};                                       /*    68     4 */\n"
	"		u32                both;                 /*    68     4 */\n"
	"	};                                               /*    68     4 */\n"
	"	struct {\n"
	"		int                x;                    /*    72     4 */\n"
	"	} in;                                            /*    72     4 */\n"
	"	struct {\n"
	"		int                y;                    /*     0     4 */\n"
	"	} * elsewhere;                                   /*    80     8 */\n"
	"	char                       tail[];               /*    88     0 */\n"
	"\n"
	"	/* size: 128, cachelines: 2, members: 14 */\n"
	"	/* padding: 40 */\n"
	"} __attribute__((__aligned__(64)));\n";

static const char sample_leaves[] =
	"flags 0 8; parent 8 8; call 16 8; calls 24 16; table 40 12; choice 52 4; narrow 56 1:3; "
	"wide 56 2:7; later 57 3:12; lock 64 4; low 68 2; high 70 2; both 68 4; in.x 72 4; "
	"elsewhere 80 8; tail 88 0";

static void members_of_every_form_are_read(void)
{
	struct error error = { "" };
	struct members *members = members_of(sample, "sample", 0, &error);

	expect_struct(sample, "sample", 0, 128, sample_leaves);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->align, 64);
	CU_ASSERT_EQUAL(members->line, 1);
	CU_ASSERT_FALSE(members->cut);
	members_free(members);
}

/* Every line quoted twice and ended by CR LF, tabs and runs of blanks changed, comments folded. */
static void what_mails_do_to_the_text_does_not_matter(void)
{
	static char text[3 * sizeof(sample)];
	size_t used = 0;

	for (const char *c = sample; *c; c++) {
		if (c == sample || c[-1] == '\n')
			used += (size_t)sprintf(text + used, "%s", "> > ");
		if (*c == '\n')
			text[used++] = '\r';
		if (*c == ' ' && c[1] == ' ')
			continue;
		if (!strncmp(c, "     8 */", 9) || !strncmp(c, " 4 */", 5))
			used += (size_t)sprintf(text + used, "%s", "\r\n> > ");
		text[used++] = *c;
	}
	expect_struct(text, "sample", 0, 128, sample_leaves);
}

static void numbers_may_be_hexadecimal(void)
{
	expect_struct("struct s { int a; /* 0 0x4 */ int b; /* 0x3c 0x4 */ /* size: 0x40, "
		      "cachelines: 0x1 */ };",
		      "s", 0, 64, "a 0 4; b 60 4");
}

/* Versions before 1.13 counted from the most significant bit: positions fall then. */
static void bits_that_fall_count_from_the_other_end(void)
{
	expect_struct("struct s {\n"
		      "	unsigned char a:1; /* 0: 7 1 */\n"
		      "	unsigned char b:2; /* 0: 5 1 */\n"
		      "	unsigned int c:9; /* 4:23 4 */\n"
		      "	unsigned int d:3; /* 4:20 4 */\n"
		      "	/* size: 8, cachelines: 1 */\n};\n",
		      "s", 0, 8, "a 0 1:1; b 0 1:2; c 4 2:9; d 5 1:3");
}

/* A char, and an int of 24 bits behind it in the same unit. */
static void a_unit_may_begin_before_the_bits(void)
{
	expect_struct("struct s { short a; /* 0 2 */ char b; /* 2 1 */ int c:8; /* 0:24 4 */ "
		      "int d; /* 4 4 */ /* size: 8, cachelines: 1 */ };",
		      "s", 0, 8, "a 0 2; b 2 1; c 3 1:8; d 4 4");
}

static void old_versions_print_no_offsets_in_unions(void)
{
	expect_struct("struct s {\n"
		      "	long a; /*     0     8 */\n"
		      "	union {\n"
		      "		int b; /*           4 */\n"
		      "		struct {\n"
		      "			short c; /*     8     2 */\n"
		      "			short d; /*    10     2 */\n"
		      "		}; /*           4 */\n"
		      "	} u; /*     8     4 */\n"
		      "	/* size: 16, cachelines: 1 */\n};\n",
		      "s", 0, 16, "a 0 8; u.b 8 4; u.c 8 2; u.d 10 2");
}

static void a_packed_struct_has_no_alignment(void)
{
	struct error error = { "" };
	struct members *members = members_of("struct s { int a; /* 0 4 */ int b; /* 4 4 */ "
					     "/* size: 8 */ } __attribute__((__packed__));",
					     "s", 0, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_EQUAL(members->align, 1);
	members_free(members);
}

/* ---- nested structs ------------------------------------------------------------------------- */

static void a_struct_elsewhere_in_the_text_is_nested(void)
{
	static const char text[] = "struct outer {\n"
				   "	int a; /* 0 4 */\n"
				   "	struct inner one; /* 4 8 */\n"
				   "	struct inner many[2]; /* 12 16 */\n"
				   "	struct inner * far; /* 32 8 */\n"
				   "	struct unknown other; /* 40 24 */\n"
				   "	/* size: 64, cachelines: 1 */\n};\n"
				   "struct inner { int x; /* 0 4 */ int y; /* 4 4 */ "
				   "/* size: 8 */ };\n"
				   "struct unknown { int z; /* 0 4 */ /* size: 4 */ };\n";

	expect_struct(text, "outer", 0, 64,
		      "a 0 4; one.x 4 4; one.y 8 4; many 12 16; far 32 8; other 40 24");
	expect_struct(text, "inner", 0, 8, "x 0 4; y 4 4");
}

static void the_expanded_form_has_names_after_the_members(void)
{
	expect_struct("struct s {\n"
		      "	struct load {\n"
		      "		long unsigned int weight; /* 0 8 */\n"
		      "		/* typedef u32 -> __u32 */ unsigned int inv; /* 8 4 */\n"
		      "	}load; /* 0 16 */\n\n"
		      "	/* XXX last struct has 4 bytes of padding */\n\n"
		      "	/* typedef atomic_t */ struct {\n"
		      "		int counter; /* 16 4 */\n"
		      "	} usage; /* 16 4 */\n"
		      "	/* typedef call_t */ struct s * (*call)(struct s *); /* 24 8 */\n"
		      "	/* size: 32, cachelines: 1 */\n};\n",
		      "s", 0, 32, "load.weight 0 8; load.inv 8 4; usage.counter 16 4; call 24 8");
}

static void a_struct_that_contains_itself_is_refused(void)
{
	expect_refusal("struct s { struct s again; /* 0 8 */ /* size: 8 */ };", "s", 0,
		       "struct s: nested more than 16 deep");
}

/* ---- what is cut ---------------------------------------------------------------------------- */

static const char cut[] = "/* after */\n"
			  "struct sample {\n"
			  "	struct {\n"
			  "		long mapped;               /*     0     8 */\n"
			  "		int pinned;                /*     8     4 */\n"
			  "\n"
			  "		/* XXX 4 bytes hole */\n"
			  "\n"
			  "		struct semaphore sem;      /*    16    40 */\n"
			  "		long peak;                 /*    56     8 */\n"
			  "		/* --- cacheline 1 boundary (64 bytes) --- */\n"
			  "		long peaks;                /*    64     8 */\n"
			  "\n"
			  "/* before */\n"
			  "		int pinned;                /*     8     4 */\n"
			  "		struct semaphore sem;      /*    12    40 */\n"
			  "		long peak;                 /*    56     8 */\n";

static void of_what_is_cut_the_size_is_a_guess(void)
{
	struct error error = { "" };
	struct members *members = members_of(cut, "sample", 1, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	CU_ASSERT_TRUE(members->cut);
	CU_ASSERT_EQUAL(members->line, 2);
	members_free(members);
	expect_struct(cut, "sample", 0, 128,
		      "mapped 0 8; pinned 8 4; sem 16 40; peak 56 8; peaks 64 8");
}

/* Offsets that fall tell where the other struct begins. */
static void an_excerpt_is_taken_by_its_number(void)
{
	expect_struct(cut, "sample", 2, 64, "pinned 8 4; sem 12 40; peak 56 8");
	expect_refusal(cut, "sample", 3, "paste: no struct sample number 3, expected 1 to 2");
	expect_refusal(cut, "other", 0,
		       "paste: 1 members that may be of struct other, at line 15: expected a "
		       "number (--nth)");
}

static void an_excerpt_alone_may_be_of_any_struct(void)
{
	expect_struct("	int a; /* 124 4 */\n	struct { int b; /* 128 4 */ } in; /* 128 4 */\n",
		      "any", 0, 192, "a 124 4; in.b 128 4");
}

/* Which members would have been in `v`? */
static void an_excerpt_from_within_a_named_struct_is_refused(void)
{
	expect_struct("int a; /* 8 4 */ }; /* 0 12 */ int b; /* 12 4 */", "s", 0, 64,
		      "a 8 4; b 12 4");
	expect_refusal("int a; /* 8 4 */\n} v; /* 0 12 */\nint b; /* 12 4 */", "s", 0,
		       "paste:2:1: a member of struct s whose offset or name is missing, expected "
		       "NAME; /* OFFSET SIZE */ (pahole before 1.25 does not know C11's _Atomic)");
}

static void two_structs_with_one_name_need_a_number(void)
{
	static const char text[] = "struct s { int old; /* 0 4 */ /* size: 4 */ };\n"
				   "struct s { int new; /* 0 4 */ /* size: 4 */ };\n";

	expect_refusal(text, "s", 0, "paste: 2 structs s, at line 1, 2: expected a number (--nth)");
	expect_struct(text, "s", 2, 4, "new 0 4");
}

/* ---- what is not pahole's ------------------------------------------------------------------- */

static void prose_and_code_are_passed_over(void)
{
	static char text[sizeof(sample) + 400];

	snprintf(text, sizeof(text),
		 "On Monday, someone wrote; see struct sample below:\n"
		 "-struct other {\n-	int x;\n-};\n"
		 "static int f(struct sample *s)\n{\n	return s->flags; /* 0 */\n}\n"
		 "(it's here\n%s\nregards; }\n",
		 sample);
	expect_struct(text, "sample", 0, 128, sample_leaves);
}

static void text_without_structs_is_refused(void)
{
	static const char *const texts[] = { "",           "struct s { int a; };",   "/* 0 8 */",
					     "\n\n{}{}};", "struct s { int a; /* 0", ":13 x" };

	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
		struct error error = { "" };
		struct pahole *pahole = pahole_parse("paste", texts[k], strlen(texts[k]), &error);

		if (pahole) /* without offsets a struct is known, but cannot be had */
			CU_ASSERT_PTR_NULL(pahole_members(pahole, "s", 0, &error));
		CU_ASSERT_STRING_NOT_EQUAL(error.text, "");
		pahole_close(pahole);
	}
}

static void a_member_without_its_offset_is_refused(void)
{
	static const char message[] =
		"paste:3:1: a member of struct s whose offset or name is missing, expected NAME; "
		"/* OFFSET SIZE */ (pahole before 1.25 does not know C11's _Atomic)";

	expect_refusal(
		"struct s {\n	int a; /* 0 4 */\n	int b;\n	/* size: 8 */\n};\n", "s",
		0, message);
	expect_refusal("struct s {\n	int a; /* 0 4 */\n	<ERROR(f:1609): 0 not found!>\n"
		       "	int c; /* 8 4 */\n	/* size: 12 */\n};\n",
		       "s", 0, message);
}

static void a_member_beyond_the_end_is_refused(void)
{
	expect_refusal("struct s { int a; /* 8 4 */ /* size: 8 */ };", "s", 0,
		       "struct s: member 'a' ends beyond the 8 bytes of the struct");
	expect_refusal("struct s { int a; /* 0 99999999999999999999 */ /* size: 8 */ };", "s", 0,
		       "struct s: a member has more bytes than the struct");
	expect_refusal("struct s { int a; /* 0 4 */ /* size: 99999999999999999999 */ };", "s", 0,
		       "struct s has 1073741824 bytes, expected 1 to 1048576");
}

static void nesting_without_end_is_refused(void)
{
	static char text[70 * 9 + 1];
	struct error error = { "" };

	for (int k = 0; k < 70; k++)
		strcat(text, "struct {\n");
	CU_ASSERT_PTR_NULL(pahole_parse("paste", text, strlen(text), &error));
	CU_ASSERT_STRING_EQUAL(error.text, "paste:64:1: structs nested more than 64 deep");
}

/* Whatever is missing at the end, what is there is read or refused. */
static void text_may_end_anywhere(void)
{
	for (size_t length = 0; length < sizeof(sample); length++) {
		struct error error = { "" };
		struct pahole *pahole = pahole_parse("paste", sample, length, &error);
		struct members *members =
			pahole ? pahole_members(pahole, "sample", 0, &error) : NULL;

		CU_ASSERT_EQUAL(members == NULL, error.text[0] != '\0');
		if (members && length < sizeof(sample) - 40)
			CU_ASSERT_TRUE(members->cut || members->size == 128);
		members_free(members);
		pahole_close(pahole);
	}
}

/* ---- real text ------------------------------------------------------------------------------ */

/* BTF and what pahole makes of it. */
struct comparison {
	struct pahole *pahole;
	uint32_t same, different, ambiguous, absent, refused, guessed;
};

/* Of two structs with one name and size the text cannot say which a member is: such a one is a leaf. */
static bool is_leaf_around(const struct members *members, const char *name)
{
	char outer[LAYOUT_NAME_LIMIT + 1];
	const struct member *found = NULL;
	char *dot;

	snprintf(outer, sizeof(outer), "%s", name);
	while (!found && (dot = strrchr(outer, '.'))) {
		*dot = '\0';
		found = members_find(members, outer);
	}
	return found && found->leaf;
}

static bool members_agree(const struct members *text, const struct members *btf)
{
	bool good = text->size == btf->size;

	for (uint32_t k = 0; k < btf->count && good; k++) {
		const struct member *want = &btf->all[k], *found;

		if (!want->leaf)
			continue;
		found = members_find(text, want->name);
		good = found ? found->offset == want->offset && found->size == want->size &&
				       found->bits == want->bits
			     : is_leaf_around(text, want->name);
	}
	return good;
}

static bool compare(void *context, const char *name, const struct members *btf,
		    const struct error *refusal)
{
	struct comparison *comparison = context;
	struct error error = { "" };
	struct members *text = btf ? pahole_members(comparison->pahole, name, 0, &error) : NULL;

	(void)refusal;
	if (!btf)
		return true;
	if (!text && !error.text[0])
		comparison->absent++;
	else if (!text && strstr(error.text, "(--nth)"))
		comparison->ambiguous++;
	else if (!text)
		comparison->refused++;
	else if (members_agree(text, btf))
		comparison->same++;
	else if (text->cut)
		comparison->guessed++; /* of unions pahole does not print the size */
	else
		comparison->different++;
	if ((text || error.text[0]) && comparison->different + comparison->refused == 1)
		printf("\n  %s: %s\n", name, error.text);
	members_free(text);
	return true;
}

/* pahole reads the same BTF by code of its own. */
static void structs_of_the_running_kernel_are_what_its_btf_says(void)
{
	struct comparison comparison = { 0 };
	struct error error = { "" };
	struct btf_file *file = btf_file_open(BTF_KERNEL, NULL, &error);
	char command[600];

	snprintf(command, sizeof(command), "pahole %s 2>/dev/null >'%s'", BTF_KERNEL,
		 path_of("kernel.pahole"));
	if (!file || system(command) ||
	    !(comparison.pahole = pahole_open(path_of("kernel.pahole"), &error))) {
		btf_file_close(file);
		test_skip("pahole, and a kernel with BTF");
		return;
	}
	btf_file_each(file, compare, &comparison);
	CU_ASSERT_EQUAL(comparison.different, 0);
	CU_ASSERT_EQUAL(comparison.refused, 0);
	CU_ASSERT(comparison.same > 1000 && comparison.guessed * 1000 < comparison.same);
	CU_ASSERT((comparison.absent + comparison.ambiguous) * 20 < comparison.same);
	pahole_close(comparison.pahole);
	btf_file_close(file);
}

/* What was posted in June 2021 of a lock that a new field had moved by 8 bytes. */
static void a_mail_with_two_kernels_is_read(void)
{
	static const char name[] = "data/captures/perf-c2c/mmap_lock-layouts.pahole.txt";
	const char *shared = getenv("HITM_SHARED");
	static const uint32_t offsets[] = { 128, 120 };
	struct error error = { "" };
	struct pahole *pahole;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", shared ? shared : "../shared", name);
	pahole = pahole_open(path, &error);
	if (!pahole) {
		test_skip("the layouts of mmap_lock, in HITM_SHARED");
		return;
	}
	for (uint32_t k = 0; k < 2; k++) {
		struct members *members = pahole_members(pahole, "mm_struct", k + 1, &error);
		const struct member *lock = members ? members_find(members, "mmap_lock") : NULL;

		CU_ASSERT_PTR_NOT_NULL_FATAL(lock);
		CU_ASSERT_EQUAL(lock->offset, offsets[k]);
		CU_ASSERT_EQUAL(lock->size, 40);
		CU_ASSERT_STRING_EQUAL(lock->type, "rw_semaphore");
		CU_ASSERT_TRUE(members->cut);
		CU_ASSERT_EQUAL(members->size, (k ? 192 : 256));
		members_free(members);
	}
	pahole_close(pahole);
}

void suite_pahole(void)
{
	CU_pSuite suite = CU_add_suite("pahole", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, members_of_every_form_are_read);
	CU_ADD_TEST(suite, what_mails_do_to_the_text_does_not_matter);
	CU_ADD_TEST(suite, numbers_may_be_hexadecimal);
	CU_ADD_TEST(suite, bits_that_fall_count_from_the_other_end);
	CU_ADD_TEST(suite, a_unit_may_begin_before_the_bits);
	CU_ADD_TEST(suite, old_versions_print_no_offsets_in_unions);
	CU_ADD_TEST(suite, a_packed_struct_has_no_alignment);
	CU_ADD_TEST(suite, a_struct_elsewhere_in_the_text_is_nested);
	CU_ADD_TEST(suite, the_expanded_form_has_names_after_the_members);
	CU_ADD_TEST(suite, a_struct_that_contains_itself_is_refused);
	CU_ADD_TEST(suite, of_what_is_cut_the_size_is_a_guess);
	CU_ADD_TEST(suite, an_excerpt_is_taken_by_its_number);
	CU_ADD_TEST(suite, an_excerpt_alone_may_be_of_any_struct);
	CU_ADD_TEST(suite, an_excerpt_from_within_a_named_struct_is_refused);
	CU_ADD_TEST(suite, two_structs_with_one_name_need_a_number);
	CU_ADD_TEST(suite, prose_and_code_are_passed_over);
	CU_ADD_TEST(suite, text_without_structs_is_refused);
	CU_ADD_TEST(suite, a_member_without_its_offset_is_refused);
	CU_ADD_TEST(suite, a_member_beyond_the_end_is_refused);
	CU_ADD_TEST(suite, nesting_without_end_is_refused);
	CU_ADD_TEST(suite, text_may_end_anywhere);
	CU_ADD_TEST(suite, structs_of_the_running_kernel_are_what_its_btf_says);
	CU_ADD_TEST(suite, a_mail_with_two_kernels_is_read);
}
