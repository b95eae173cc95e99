/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Litmus tests: the reader, the oracle against verdicts computed elsewhere, and the timed machine
 * against the oracle. The tests read configs/litmus and are run in the root of the project. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include "check/litmus_explore.h"
#include <CUnit/CUnit.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_text(struct litmus *litmus, const char *text, struct error *error)
{
	*error = (struct error){ "" };
	return litmus_read(litmus, text, strlen(text), "t", error);
}

/* A test that must be sound. */
static void expect_read(struct litmus *litmus, const char *text)
{
	struct error error;

	if (read_text(litmus, text, &error))
		return;
	printf("\n  %s\n", error.text);
	CU_FAIL_FATAL("a sound test is refused");
}

static void expect_refused(const char *text, const char *message)
{
	struct litmus litmus;
	struct error error;

	CU_ASSERT_FALSE(read_text(&litmus, text, &error));
	CU_ASSERT_STRING_EQUAL(error.text, message);
	if (strcmp(error.text, message))
		printf("\n   got: %s\n  want: %s\n", error.text, message);
}

/* ---- the reader: what it takes -------------------------------------------------------------- */

/* One thread, one instruction, on x and y of the size that the instruction has. */
struct sample {
	const char *dialect, *text;
	struct litmus_step step;
};

#define REGISTER_A 0
#define REGISTER_B 1

static const struct sample samples[] = {
	{ "X86_64", "movq $1,(x)", { LITMUS_STORE, 8, 0, 0, 0, true, 1 } },
	{ "X86_64", "movl $-1,(x)", { LITMUS_STORE, 4, 0, 0, 0, true, 0xffffffff } },
	{ "X86_64", "movw %bx,(x)", { LITMUS_STORE, 2, 0, REGISTER_B, REGISTER_B, false, 0 } },
	{ "X86_64", "mov %bl,(x)", { LITMUS_STORE, 1, 0, REGISTER_B, REGISTER_B, false, 0 } },
	{ "X86_64", "movq (x),%rbx", { LITMUS_LOAD, 8, 0, REGISTER_B, REGISTER_B, false, 0 } },
	{ "X86_64", "movl ( x ) , %eax", { LITMUS_LOAD, 4, 0, 0, 0, false, 0 } },
	{ "X86_64", "movq $0x10,%r15", { LITMUS_SET, 8, 0, 15, 15, true, 16 } },
	{ "X86_64", "movq %rax,%rbx", { LITMUS_SET, 8, 0, REGISTER_B, REGISTER_A, false, 0 } },
	{ "X86_64", "xchgq %rax,(x)", { LITMUS_EXCHANGE, 8, 0, 0, 0, false, 0 } },
	{ "X86_64", "lock xchgq (x),%rbx", { LITMUS_EXCHANGE, 8, 0, 1, 1, false, 0 } },
	{ "X86_64", "lock addq $2,(x)", { LITMUS_ADD, 8, 0, 0, 0, true, 2 } },
	{ "X86_64", "lock addl %ebx,(x)", { LITMUS_ADD, 4, 0, 1, 1, false, 0 } },
	{ "X86_64", "lock incb (x)", { LITMUS_ADD, 1, 0, 0, 0, true, 1 } },
	{ "X86_64", "lock decw (x)", { LITMUS_ADD, 2, 0, 0, 0, true, 0xffff } },
	{ "X86_64", "lock xaddq %rbx,(x)", { LITMUS_FETCH_ADD, 8, 0, 1, 1, false, 0 } },
	{ "X86_64", "lock cmpxchgq %rbx,(x)", { LITMUS_COMPARE_EXCHANGE, 8, 0, 0, 1, false, 0 } },
	{ "X86_64", "mfence", { LITMUS_FENCE, 0, 0, 0, 0, true, 0 } },
	{ "X86_64", "lfence", { LITMUS_NOTHING, 0, 0, 0, 0, true, 0 } },
	{ "X86_64", "SFENCE", { LITMUS_NOTHING, 0, 0, 0, 0, true, 0 } },
	{ "X86", "MOV [x],$1", { LITMUS_STORE, 4, 0, 0, 0, true, 1 } },
	{ "X86", "MOV [x],1", { LITMUS_STORE, 4, 0, 0, 0, true, 1 } },
	{ "X86", "mov [x],EBX", { LITMUS_STORE, 4, 0, 1, 1, false, 0 } },
	{ "X86", "MOV EBX,[x]", { LITMUS_LOAD, 4, 0, 1, 1, false, 0 } },
	{ "X86", "MOVQ RBX,RAX", { LITMUS_SET, 8, 0, REGISTER_B, REGISTER_A, false, 0 } },
	{ "X86", "MOV AL,$-128", { LITMUS_SET, 1, 0, 0, 0, true, 0x80 } },
	{ "X86", "XCHG [x],EAX", { LITMUS_EXCHANGE, 4, 0, 0, 0, false, 0 } },
	{ "X86", "XCHG EAX,[x]", { LITMUS_EXCHANGE, 4, 0, 0, 0, false, 0 } },
	{ "X86", "LOCK ADD [x],$1", { LITMUS_ADD, 4, 0, 0, 0, true, 1 } },
	{ "X86", "LOCK INC [x]", { LITMUS_ADD, 4, 0, 0, 0, true, 1 } },
	{ "X86", "LOCK DEC [x]", { LITMUS_ADD, 4, 0, 0, 0, true, 0xffffffff } },
	{ "X86", "LOCK XADD [x],EBX", { LITMUS_FETCH_ADD, 4, 0, 1, 1, false, 0 } },
	{ "X86", "LOCK CMPXCHG [x],EBX", { LITMUS_COMPARE_EXCHANGE, 4, 0, 0, 1, false, 0 } },
	{ "X86", "MFENCE", { LITMUS_FENCE, 0, 0, 0, 0, true, 0 } },
};

static void check_step(const struct sample *sample, const struct litmus_step *got)
{
	const struct litmus_step *want = &sample->step;
	bool same = got->operation == want->operation && got->size == want->size &&
		    got->location == want->location && got->target == want->target &&
		    got->source == want->source && got->immediate == want->immediate &&
		    (!want->immediate || got->value == want->value ||
		     want->operation == LITMUS_FENCE || want->operation == LITMUS_NOTHING);

	CU_ASSERT(same);
	if (!same)
		printf("\n  %s: %d size %u location %u target %u source %u immediate %d value "
		       "%llu\n",
		       sample->text, (int)got->operation, got->size, got->location, got->target,
		       got->source, got->immediate, (unsigned long long)got->value);
}

static void every_instruction_is_read_in_both_dialects(void)
{
	for (size_t k = 0; k < sizeof(samples) / sizeof(samples[0]); k++) {
		struct litmus litmus;
		char text[256];

		snprintf(text, sizeof(text), "%s one\n{ }\n P0 ;\n %s ;\nexists (0:RAX=0)\n",
			 samples[k].dialect, samples[k].text);
		expect_read(&litmus, text);
		CU_ASSERT_EQUAL_FATAL(litmus.thread_count, 1);
		CU_ASSERT_EQUAL_FATAL(litmus.threads[0].count, 1);
		check_step(&samples[k], &litmus.threads[0].steps[0]);
	}
}

static void columns_are_threads(void)
{
	struct litmus litmus;

	expect_read(&litmus, "X86_64 a.b-c+d\n{ }\n P0 | P1 | P2 ;\n"
			     " movq $1,(x) | | mfence ;\n | movq (x),%rax | movq (y),%rcx ;\n"
			     "exists (x=1)");
	CU_ASSERT_STRING_EQUAL(litmus.name, "a.b-c+d");
	CU_ASSERT_EQUAL(litmus.thread_count, 3);
	CU_ASSERT_EQUAL(litmus.threads[0].count, 1);
	CU_ASSERT_EQUAL(litmus.threads[1].count, 1);
	CU_ASSERT_EQUAL(litmus.threads[2].count, 2);
	CU_ASSERT_EQUAL(litmus.threads[2].steps[1].operation, LITMUS_LOAD);
	CU_ASSERT_EQUAL(litmus.threads[2].steps[1].location, 1);
	CU_ASSERT_EQUAL(litmus.location_count, 2);
	CU_ASSERT_STRING_EQUAL(litmus.locations[1].name, "y");
}

static void initial_values_have_types(void)
{
	struct litmus litmus;

	expect_read(&litmus,
		    "X86_64 a\n{ x=3; uint8_t y=255; int64_t z; [v]=-1; uint64_t 1:rbx=-2;\n"
		    "0:eax=0xff; int w }\n"
		    " P0 | P1 ;\n movq (x),%rax | movw (v),%ax ;\nexists (x=3)");
	CU_ASSERT_EQUAL(litmus.location_count, 5);
	CU_ASSERT_EQUAL(litmus.locations[0].initial, 3);
	CU_ASSERT_EQUAL(litmus.locations[0].size, 8); /* of the access */
	CU_ASSERT_EQUAL(litmus.locations[1].initial, 255);
	CU_ASSERT_EQUAL(litmus.locations[1].size, 1);
	CU_ASSERT_EQUAL(litmus.locations[2].size, 8);
	CU_ASSERT_EQUAL(litmus.locations[3].initial, 0xffff);
	CU_ASSERT_EQUAL(litmus.locations[4].size, 4);
	CU_ASSERT_EQUAL(litmus.threads[0].initial[0], 255);
	CU_ASSERT_EQUAL(litmus.threads[1].initial[1], (uint64_t)-2);
}

static void notes_and_comments_are_passed_over(void)
{
	struct litmus litmus;

	expect_read(&litmus,
		    "(* first *) X86_64 a (* here * and ( there *)\n\"says \n { nothing }\"\n"
		    "Cycle=Rfe {Fre}\nRelax=\nSafe = a \"b\"\n(* x86 *) { (* none *) }\n"
		    " P0 (* one *) ;\n (**) mfence (***) ;\nexists (* some *) (0:rax=0) (* end *)");
	CU_ASSERT_EQUAL(litmus.threads[0].count, 1);
	CU_ASSERT_EQUAL(litmus.name_count, 1);
}

static void check_name(const struct litmus *litmus, uint32_t k, const char *want)
{
	char text[LITMUS_LOCATION_SIZE];

	litmus_name_text(litmus, k, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, want);
}

static void observed_names_stand_in_order_and_once(void)
{
	struct litmus litmus;

	expect_read(&litmus,
		    "X86 a\n{ x=0; y=0; }\n P0 | P1 ;\n MFENCE | MFENCE ;\n"
		    "locations [y; 1:EBX;]\nfilter (0:AL=1)\nexists (y=1 /\\ [x]=2 \\/ 0:R9=3)");
	CU_ASSERT_EQUAL_FATAL(litmus.name_count, 5);
	check_name(&litmus, 0, "y");
	check_name(&litmus, 1, "1:ebx");
	check_name(&litmus, 2, "0:al");
	check_name(&litmus, 3, "x");
	check_name(&litmus, 4, "0:r9");
	CU_ASSERT_EQUAL(litmus.filter.count, 1);
	CU_ASSERT_EQUAL(litmus.quantifier, LITMUS_EXISTS);
}

static void quantifiers_are_told_apart(void)
{
	static const struct {
		const char *text;
		enum litmus_quantifier quantifier;
	} cases[] = { { "exists", LITMUS_EXISTS },
		      { "~exists", LITMUS_NOT_EXISTS },
		      { "~ exists", LITMUS_NOT_EXISTS },
		      { "forall", LITMUS_FORALL } };

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct litmus litmus;
		char text[128];

		snprintf(text, sizeof(text), "X86 a\n{}\n P0 ;\n MFENCE ;\n%s 0:EAX=0",
			 cases[k].text);
		expect_read(&litmus, text);
		CU_ASSERT_EQUAL(litmus.quantifier, cases[k].quantifier);
	}
}

/* Conditions on a, b and c, and of which of the eight combinations they hold: bit 4a + 2b + c. */
static void negation_binds_before_and_before_or(void)
{
	static const struct {
		const char *text;
		uint32_t holds;
	} cases[] = {
		{ "a=1", 0xf0 },
		{ "a=1 /\\ b=1", 0xc0 },
		{ "a=1 \\/ b=1", 0xfc },
		{ "a=1 \\/ b=1 /\\ c=1", 0xf8 },
		{ "a=1 /\\ b=1 \\/ c=1", 0xea },
		{ "(a=1 \\/ b=1) /\\ c=1", 0xa8 },
		{ "not a=1 /\\ b=1", 0x0c },
		{ "~a=1 \\/ b=1", 0xcf },
		{ "not (a=1 /\\ b=1)", 0x3f },
		{ "not not (a=1)", 0xf0 },
		{ "~(a=1 \\/ (b=0 /\\ not (c=1)))", 0x0e },
		{ "a=0 /\\ (b=0 /\\ c=1 \\/ b=1 /\\ c=0) \\/ a=1 /\\ (b=0 \\/ c=1)", 0xb6 },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct litmus litmus;
		char text[256];
		uint32_t holds = 0;

		snprintf(text, sizeof(text),
			 "X86 a\n{ a; b; c; }\n P0 ;\n MFENCE ;\nlocations [a;b;c]\nexists (%s)",
			 cases[k].text);
		expect_read(&litmus, text);
		for (uint32_t v = 0; v < 8; v++) {
			uint64_t values[3] = { v >> 2 & 1, v >> 1 & 1, v & 1 };

			holds |= (uint32_t)litmus_holds(&litmus.condition, values) << v;
		}
		CU_ASSERT_EQUAL(holds, cases[k].holds);
		if (holds != cases[k].holds)
			printf("\n  %s: %#x\n", cases[k].text, holds);
	}
}

/* ---- the reader: what it refuses ------------------------------------------------------------ */

#define HEAD "X86_64 a\n{ uint64_t x; }\n P0 | P1 ;\n"
#define TAIL "\nexists (x=1)"

static void whatever_is_wrong_is_told_with_its_place(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "t:1:1: the text ends, expected X86 or X86_64" },
		{ "\n AArch64 a", "t:2:2: 'AArch64', expected X86 or X86_64" },
		{ "X86\n", "t:2:1: the text ends, expected the test's name" },
		{ "X86 a\tb {", "t:1:9: '{', expected = or {" },
		{ "X86 a \"b", "t:1:7: an explanation without end, expected \"" },
		{ "X86 (* a", "t:1:5: a comment without end, expected *)" },
		{ "X86 a\n{ x=1", "t:2:6: the text ends, expected ; or }" },
		{ "X86 a\n{ x=y }", "t:2:5: 'y', expected a number" },
		{ "X86 a\n{ x=1y }", "t:2:6: 'y', expected a digit" },
		{ "X86 a\n{ x=0x }", "t:2:7: ' ', expected a digit" },
		{ "X86 a\n{ int8_t x=256 }",
		  "t:2:12: a number out of range, expected one of 1 bytes" },
		{ "X86 a\n{ int8_t x=-129 }",
		  "t:2:12: a number out of range, expected one of 1 bytes" },
		{ "X86 a\n{ x=18446744073709551616 }",
		  "t:2:5: a number out of range, expected at most 64 bits" },
		{ "X86 a\n{ x=-9223372036854775809 }",
		  "t:2:5: a number out of range, expected at least -2^63" },
		{ "X86 a\n{ 8:EAX=1 }", "t:2:3: a thread out of range, expected one below 8" },
		{ "X86 a\n{ 0:EXX=1 }", "t:2:5: 'EXX', expected a register" },
		{ "X86 a\n{ 0 EAX=1 }", "t:2:5: 'EAX', expected a colon and a register" },
		{ "X86 a\n{ int int x }", "t:2:11: 'x', expected ; or }" },
		{ "X86 a\n{ 1:EAX=1 }\n P0 ;",
		  "t:2:3: a register of thread 1, expected one below 1" },
		{ "X86 a\n{ }\n P1 ;", "t:3:2: 'P1', expected P0" },
		{ "X86 a\n{ }\n P0 | P2 ;",
		  "t:3:7: 'P2', expected the next thread, P and its number" },
		{ "X86 a\n{ }\n P0 P1 ;", "t:3:5: 'P1', expected | or ;" },
		{ HEAD "mfence ;" TAIL, "t:4:8: ';', expected | and the next thread" },
		{ HEAD "mfence | | ;" TAIL, "t:4:10: '|', expected ; after the last thread" },
		{ HEAD "jmp | ;" TAIL,
		  "t:4:1: 'jmp', expected mov, xchg, mfence, lfence, sfence or a locked add, xadd, "
		  "cmpxchg, inc or dec" },
		{ HEAD "addq $1,(x) | ;" TAIL, "t:4:1: add without lock, expected it with" },
		{ HEAD "lock movq $1,(x) | ;" TAIL, "t:4:1: mov with lock, expected it without" },
		{ HEAD "movq $1,x | ;" TAIL,
		  "t:4:9: 'x', expected $number, %register or (location)" },
		{ HEAD "movq 1,(x) | ;" TAIL,
		  "t:4:6: '1', expected $number, %register or (location)" },
		{ HEAD "movq $1,(x | ;" TAIL, "t:4:12: '|', expected the end of the address" },
		{ HEAD "movq $1 | ;" TAIL,
		  "t:4:1: operands that the instruction does not take, expected those of a load, a "
		  "store or a locked operation" },
		{ HEAD "movq (x),(x) | ;" TAIL,
		  "t:4:1: operands that the instruction does not take, expected those of a load, a "
		  "store or a locked operation" },
		{ HEAD "mfence (x) | ;" TAIL,
		  "t:4:1: operands that the instruction does not take, expected those of a load, a "
		  "store or a locked operation" },
		{ HEAD "movq $1,%eax | ;" TAIL, "t:4:9: a register of 4 bytes, expected one of 8" },
		{ HEAD "movq %eax,%rbx | ;" TAIL,
		  "t:4:6: a register of 4 bytes, expected one of 8" },
		{ HEAD "movl $1,(x) | ;" TAIL,
		  "t:4:9: x with 4 bytes, expected 8, its size so far" },
		{ HEAD "movb $256,%al | ;" TAIL,
		  "t:4:6: a number out of range, expected one of 1 bytes" },
		{ "X86 a\n{ x=65536; }\n P0 ;\n MOV AX,[x] ;\nexists (x=1)",
		  "t:4:9: x with 2 bytes, expected room for its initial value" },
		{ HEAD "mfence | ;", "t:4:11: the text ends, expected exists, ~exists or forall" },
		{ HEAD "mfence | ;\n~forall (x=1)",
		  "t:5:2: 'forall', expected exists, ~exists or forall" },
		{ HEAD "mfence | ;\nexists",
		  "t:5:7: the text ends, expected the name of a location" },
		{ HEAD "mfence | ;\nexists (x)", "t:5:10: ')', expected = and a number" },
		{ HEAD "mfence | ;\nexists (x=1", "t:5:12: the text ends, expected /\\, \\/ or )" },
		{ HEAD "mfence | ;\nexists (x=1) (x=1)",
		  "t:5:14: '(', expected the end of the text" },
		{ HEAD "mfence | ;\nexists (y=1)",
		  "t:5:9: 'y', expected a location that the test uses" },
		{ HEAD "mfence | ;\nexists (2:rax=1)",
		  "t:5:9: a thread out of range, expected one below 2" },
		{ HEAD "mfence | ;\nexists (1:al=256)",
		  "t:5:14: a number out of range, expected one of 1 bytes" },
		{ HEAD "mfence | ;\nlocations x", "t:5:11: 'x', expected [ and what to observe" },
		{ HEAD "mfence | ;\nlocations [x y]", "t:5:14: 'y', expected ; or ]" },
		{ HEAD "mfence | \001 ;" TAIL, "t:4:10: the byte 0x01, expected mov, xchg, mfence, "
					       "lfence, sfence or a locked add, "
					       "xadd, cmpxchg, inc or dec" },
		{ HEAD "mfence | ;" TAIL " \xe2\x88\xa7",
		  "t:5:14: '\\xe2', expected the end of the text" },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		expect_refused(cases[k].text, cases[k].message);
}

/* `count` times `piece` between `before` and `after`; '%' in the piece is the number, from 0. */
static void repeated(char *out, const char *before, const char *piece, int count, const char *after)
{
	out = stpcpy(out, before);
	for (int k = 0; k < count; k++)
		for (const char *p = piece; *p; p++)
			out += *p == '%' ? sprintf(out, "%d", k) : (*out = *p, 1);
	strcpy(out, after);
}

static void limits_hold_to_the_last_one(void)
{
	static const struct {
		const char *before, *piece;
		int most;
		const char *after, *message;
	} cases[] = {
		{ "X86 a {} P0", "|", 0, ";exists 0:EAX=0",
		  "t:1:13: ';', expected the next thread, P and its number" },
		{ "X86 a { ", "x%;", LITMUS_LOCATIONS_MAX, "} P0; exists x0=0",
		  "t:1:33: a location too many, expected at most 8" },
		{ "X86 a {} P0;", "MFENCE;", LITMUS_STEPS_MAX, "exists 0:EAX=0",
		  "t:1:125: an instruction too many, expected at most 16 a thread" },
		{ "X86 a {} P0; exists ", "~", LITMUS_NESTING_MAX, "0:EAX=0",
		  "t:1:53: too deep a condition, expected at most 32 levels" },
		{ "X86 a {x} P0; exists x=0", "/\\ x=0", LITMUS_NODES_MAX / 2 - 1, "",
		  "t:1:1555: too long a condition, expected at most 512 terms and operators" },
		{ "X86 a", "b", LITMUS_NAME_SIZE - 2, " {} P0; exists 0:EAX=0",
		  "t:1:5: a name of 128 characters, expected fewer than 128" },
		{ "X86 a {", "x", LITMUS_LOCATION_SIZE - 1, "} P0; exists 0:EAX=0",
		  "t:1:8: a location of 32 characters, expected fewer than 32" },
	};
	static char text[4096];

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct litmus litmus;

		repeated(text, cases[k].before, cases[k].piece, cases[k].most, cases[k].after);
		expect_read(&litmus, text);
		repeated(text, cases[k].before, cases[k].piece, cases[k].most + 1, cases[k].after);
		expect_refused(text, cases[k].message);
	}
}

static void eight_threads_are_the_most(void)
{
	struct litmus litmus;

	expect_read(&litmus, "X86 a {} P0|P1|P2|P3|P4|P5|P6|P7; exists 7:EAX=0");
	expect_refused("X86 a {} P0|P1|P2|P3|P4|P5|P6|P7|P8; exists 7:EAX=0",
		       "t:1:34: a thread too many, expected at most 8");
}

static void sixty_four_names_are_the_most(void)
{
	static const char *const sizes[] = { "R%dD", "R%dW", "R%dB", "R%d" };
	static char text[2048];
	struct litmus litmus;
	char *at = stpcpy(text, "X86 a {} P0|P1|P2; locations [");

	for (int k = 0; k < LITMUS_NAMES_MAX; k++) {
		at += sprintf(at, "%d:", k / 32);
		at += sprintf(at, sizes[k % 4], 8 + k / 4 % 8);
		at = stpcpy(at, ";");
	}
	strcpy(at, "] exists 0:R8=0");
	expect_read(&litmus, text);
	CU_ASSERT_EQUAL(litmus.name_count, LITMUS_NAMES_MAX);
	strcpy(at, "2:EAX] exists 0:R8=0");
	CU_ASSERT_FALSE(read_text(&litmus, text, &(struct error){ "" }));
}

/* Cut anywhere, a test is no test; and its last byte but the line's end counts. */
static void a_test_cut_short_is_refused(void)
{
	static const char text[] =
		"X86_64 a\n\"b\"\n(* c *)\n{ uint64_t x=1; 0:rax=1 }\n P0 | P1 ;\n"
		" lock xaddq %rax,(x) | movq (x),%rbx ;\n"
		"locations [x;]\nfilter (x=2)\nexists (not (0:rax=1 /\\ 1:rbx=2))";
	struct litmus litmus;

	expect_read(&litmus, text);
	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		struct error error = { "" };
		/* so long and no longer: a sanitizer sees what lies behind it read */
		char *exact = malloc(length ? length : 1);

		CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
		memcpy(exact, text, length);
		CU_ASSERT_FALSE(litmus_read(&litmus, exact, length, "t", &error));
		CU_ASSERT(!strncmp(error.text, "t:", 2));
		free(exact);
	}
}

/* Bytes changed, dropped and doubled at random: refused with a place, or read. */
static void no_text_crashes_the_reader(void)
{
	static const char sound[] = "X86_64 a\n\"b\"\n{ uint64_t x=1; 0:rax=1 }\n P0 | P1 ;\n"
				    " lock cmpxchgq %rax,(x) | movl $1,(y) ;\n"
				    "filter (x=2)\nexists (~(0:rax=1 /\\ 1:rbx=2) \\/ y=1)";
	struct random random = random_stream(1, "litmus", 0);
	uint32_t read = 0;

	for (int round = 0; round < 20000; round++) {
		struct litmus litmus;
		struct error error = { "" };
		char text[sizeof(sound)];

		memcpy(text, sound, sizeof(sound));
		for (uint64_t k = 1 + random_below(&random, 3); k > 0; k--) {
			size_t at = random_below(&random, sizeof(sound) - 1);
			size_t from = random_below(&random, sizeof(sound) - 1);

			text[at] =
				random_below(&random, 2) ? sound[from] : (char)random_next(&random);
		}
		if (litmus_read(&litmus, text, sizeof(sound) - 1, "t", &error))
			read++;
		else
			CU_ASSERT(!strncmp(error.text, "t:", 2));
	}
	CU_ASSERT(read > 0 && read < 10000);
}

static void files_are_regular_and_not_too_long(void)
{
	static char big[LITMUS_TEXT_MAX + 2];
	struct litmus litmus;
	struct error error = { "" };

	file_write("t.litmus", "X86 a {} P0; exists 0:EAX=0");
	CU_ASSERT(litmus_load(&litmus, path_of("t.litmus"), &error));
	file_write("t.litmus", "X86 a {} P0; exists");
	CU_ASSERT_FALSE(litmus_load(&litmus, path_of("t.litmus"), &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "t.litmus:1:20: the text ends"));
	error = (struct error){ "" };
	CU_ASSERT_FALSE(litmus_load(&litmus, scratch_directory(), &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "not a regular file"));
	error = (struct error){ "" };
	CU_ASSERT_FALSE(litmus_load(&litmus, path_of("none.litmus"), &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "No such file"));
	error = (struct error){ "" };
	memset(big, ' ', LITMUS_TEXT_MAX + 1);
	file_write("t.litmus", big);
	CU_ASSERT_FALSE(litmus_load(&litmus, path_of("t.litmus"), &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "t.litmus:1:1: more than 65536 bytes"));
	memcpy(big, "X86 a {} P0; exists 0:EAX=0", 27);
	big[LITMUS_TEXT_MAX] = '\0';
	file_write("t.litmus", big);
	error = (struct error){ "" };
	CU_ASSERT(litmus_load(&litmus, path_of("t.litmus"), &error));
}

/* ---- tests with known verdicts -------------------------------------------------------------- */

enum { TESTS_MAX = 400 };

/* A line of an expected.tsv. */
struct known {
	char name[LITMUS_NAME_SIZE], tso[16], sc[16];
	unsigned long states, matching, sc_states;
	char file[256]; /* in the same folder; "" where the name tells it */
	struct litmus litmus;
};

struct catalogue {
	uint32_t count;
	struct known tests[TESTS_MAX];
};

/* Reads what a folder's expected.tsv lists. NULL where there is none. */
static struct catalogue *catalogue_load(const char *folder)
{
	struct catalogue *catalogue = calloc(1, sizeof(*catalogue));
	char path[1024], line[1024];
	FILE *file;

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	snprintf(path, sizeof(path), "%s/expected.tsv", folder);
	file = fopen(path, "r");
	while (file && catalogue->count < TESTS_MAX && fgets(line, sizeof(line), file)) {
		struct known *known = &catalogue->tests[catalogue->count];
		struct error error = { "" };

		if (line[0] == '#')
			continue;
		int got = sscanf(line, "%127s %15s %lu %lu %15s %lu %255s", known->name, known->tso,
				 &known->states, &known->matching, known->sc, &known->sc_states,
				 known->file);

		CU_ASSERT_FATAL(got >= 6);
		snprintf(path, sizeof(path), "%s/%s%s", folder,
			 got == 7 ? known->file : known->name, got == 7 ? "" : ".litmus");
		if (litmus_load(&known->litmus, path, &error))
			catalogue->count++;
		else
			printf("\n  %s\n", error.text);
		CU_ASSERT_EQUAL_FATAL(error.text[0], '\0');
		CU_ASSERT_STRING_EQUAL(known->litmus.name, known->name);
	}
	if (file) {
		fclose(file);
		return catalogue;
	}
	free(catalogue);
	return NULL;
}

static struct known *catalogue_find(struct catalogue *catalogue, const char *name)
{
	for (uint32_t k = 0; k < catalogue->count; k++)
		if (!strcmp(catalogue->tests[k].name, name))
			return &catalogue->tests[k];
	CU_FAIL_FATAL("no such litmus test");
	return NULL;
}

static struct tso_result explored(const struct litmus *litmus, uint32_t buffer)
{
	struct tso_result result;
	struct error error = { "" };

	if (!tso_explore(litmus, buffer, TSO_STATES_MAX, &result, &error)) {
		printf("\n  %s\n", error.text);
		CU_FAIL_FATAL("the oracle gave up");
	}
	return result;
}

static void check_verdict(const struct known *known, uint32_t buffer, const char *verdict,
			  unsigned long states)
{
	struct tso_result result = explored(&known->litmus, buffer);
	bool right = !strcmp(tso_verdict_name(result.verdict), verdict) && result.count == states;

	if (buffer)
		right = right && result.matching == known->matching;
	CU_ASSERT(right);
	if (!right)
		printf("\n  %s, buffer of %u: %s, %zu states, %zu matching\n", known->name, buffer,
		       tso_verdict_name(result.verdict), result.count, result.matching);
	tso_free(&result);
}

static void check_catalogue(struct catalogue *catalogue)
{
	for (uint32_t k = 0; k < catalogue->count; k++) {
		const struct known *known = &catalogue->tests[k];

		check_verdict(known, TSO_BUFFER, known->tso, known->states);
		check_verdict(known, TSO_SC, known->sc, known->sc_states);
	}
}

static void the_oracle_agrees_with_other_oracles(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");
	glob_t found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	CU_ASSERT_EQUAL(glob("configs/litmus/*.litmus", 0, NULL, &found), 0);
	CU_ASSERT_EQUAL(catalogue->count, found.gl_pathc); /* none without a verdict */
	globfree(&found);
	check_catalogue(catalogue);
	free(catalogue);
}

/* Tests that may be read but not handed on. */
static void the_oracle_agrees_on_tests_kept_elsewhere(void)
{
	const char *shared = getenv("HITM_SHARED");
	char folder[512];

	snprintf(folder, sizeof(folder), "%s/data/litmus", shared ? shared : "../shared");
	struct catalogue *catalogue = catalogue_load(folder);

	if (!catalogue) {
		test_skip("$HITM_SHARED has no litmus tests");
		return;
	}
	CU_ASSERT_EQUAL(catalogue->count, 300);
	check_catalogue(catalogue);
	free(catalogue);
}

/* Over the protocol's table, wherever variables lie. */
static void tests_kept_elsewhere_end_as_on_x86_tso(void)
{
	const char *shared = getenv("HITM_SHARED");
	char folder[512];
	uint32_t wrong = 0;

	snprintf(folder, sizeof(folder), "%s/data/litmus", shared ? shared : "../shared");
	struct catalogue *catalogue = catalogue_load(folder);

	if (!catalogue) {
		test_skip("$HITM_SHARED has no litmus tests");
		return;
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : wrong)
	for (uint32_t k = 0; k < 3 * catalogue->count; k++) {
		const struct litmus *litmus = &catalogue->tests[k / 3].litmus;
		struct litmus_explore_options options = {
			.variant = protocol_variant_at(k / 3 % PROTOCOL_VARIANTS),
			.variables = (enum litmus_variables)(1 << k % 3)
		};
		struct litmus_explore_result result;
		struct tso_result expected;
		struct error error = { "" };

		wrong += !tso_explore(litmus, TSO_BUFFER, TSO_STATES_MAX, &expected, &error) ||
			 litmus_explore(litmus, &expected, &options, &result) != LITMUS_EQUAL;
		tso_free(&expected);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	free(catalogue);
}

/* ---- the oracle ----------------------------------------------------------------------------- */

static void outcomes_are_sorted_and_found(void)
{
	static const uint64_t sb[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
	struct litmus litmus;

	expect_read(&litmus, "X86_64 SB {} P0 | P1; movq $1,(x) | movq $1,(y);\n"
			     "movq (y),%rax | movq (x),%rax; exists (0:rax=0 /\\ 1:rax=0)");
	struct tso_result result = explored(&litmus, TSO_BUFFER);

	CU_ASSERT_EQUAL_FATAL(result.count, 4);
	CU_ASSERT_EQUAL_FATAL(result.width, 2);
	CU_ASSERT_EQUAL(memcmp(result.outcomes, sb, sizeof(sb)), 0);
	for (size_t k = 0; k < 4; k++)
		CU_ASSERT_EQUAL(tso_find(&result, sb[k]), k);
	CU_ASSERT_EQUAL(tso_find(&result, (const uint64_t[]){ 1, 2 }), SIZE_MAX);
	CU_ASSERT_EQUAL(tso_find(&result, (const uint64_t[]){ 0, ~0ull }), SIZE_MAX);
	tso_free(&result);
}

/* The load of z may pass both stores only if the buffer holds both. */
static void a_store_waits_for_room_in_the_buffer(void)
{
	struct litmus litmus;
	size_t matching[3];

	expect_read(&litmus, "X86_64 a {} P0 | P1; movq $1,(x) | movq $1,(z);\n"
			     "movq $1,(y) | mfence; movq (z),%rax | movq (x),%rbx;\n"
			     "exists (0:rax=0 /\\ 1:rbx=0)");
	for (uint32_t buffer = 0; buffer < 3; buffer++) {
		struct tso_result result = explored(&litmus, buffer);

		matching[buffer] = result.matching;
		tso_free(&result);
	}
	CU_ASSERT_EQUAL(matching[0], 0);
	CU_ASSERT_EQUAL(matching[1], 0);
	CU_ASSERT_EQUAL(matching[2], 1);
}

static void too_many_states_are_refused(void)
{
	static char text[8192];
	struct litmus litmus;
	struct tso_result result;
	struct error error = { "" };
	char *at = stpcpy(text, "X86_64 big {} P0|P1|P2|P3|P4|P5|P6|P7;");

	for (int row = 0; row < LITMUS_STEPS_MAX; row++)
		for (int k = 0; k < LITMUS_THREADS_MAX; k++)
			at += sprintf(at, " movq $%d,(x%d) %c", row, (row + k) % 8,
				      k < 7 ? '|' : ';');
	strcpy(at, "exists (x0=1)");
	expect_read(&litmus, text);
	CU_ASSERT_FALSE(tso_explore(&litmus, TSO_BUFFER, 10000, &result, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "big: more than 10000 states, expected a smaller test");
	error = (struct error){ "" };
	CU_ASSERT_FALSE(tso_explore(&litmus, TSO_BUFFER, TSO_STATES_MAX, &result, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "states, expected a smaller test"));
}

/* ---- the timed machine ---------------------------------------------------------------------- */

enum { VARIANTS = PROTOCOL_VARIANTS * 3 };

/* Every protocol under every discipline. */
static struct litmus_timed_config variant(uint32_t number, uint64_t executions)
{
	return (struct litmus_timed_config){
		.coherence = { .line = 64,
			       .protocol = (enum protocol_kind)(number % 3),
			       .eviction = (enum s_eviction)(number / 3 % 2),
			       .home = (enum home_kind)(number / 6 % 2),
			       .atomics = (enum atomics)(number / 12 % 2),
			       .discipline = (enum discipline)(number / 24),
			       .batch = 8 },
		.executions = executions,
		.seed = number,
	};
}

static struct litmus_timed_result timed(const struct litmus *litmus,
					const struct litmus_timed_config *config,
					const struct tso_result *expected)
{
	struct litmus_timed_result result;
	struct error error = { "" };

	if (!litmus_timed(litmus, config, expected, &result, &error)) {
		printf("\n  %s\n", error.text);
		CU_FAIL_FATAL("the simulator gave up");
	}
	return result;
}

/* What many executions of a test came to. */
struct tally {
	uint64_t executions, forbidden;
	uint64_t seen[64]; /* by outcome */
	struct error error;
};

/* Asserts nothing, so that tests may be run in several threads. */
static void tally_run(const struct litmus *litmus, const struct tso_result *expected,
		      uint64_t executions, struct tally *tally)
{
	for (uint32_t number = 0; number < VARIANTS; number++) {
		struct litmus_timed_config config = variant(number, executions);
		struct litmus_timed_result result;

		if (!litmus_timed(litmus, &config, expected, &result, &tally->error))
			return;
		tally->executions += result.executions;
		tally->forbidden += result.forbidden;
		for (size_t k = 0; k < expected->count && k < 64; k++)
			tally->seen[k] += result.seen[k];
		litmus_timed_free(&result);
	}
}

enum { EXECUTIONS = 40 }; /* of each test in each variant */

static void no_execution_ends_as_tso_forbids(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");
	struct tally *tallies = calloc(TESTS_MAX, sizeof(*tallies));
	uint64_t executions = 0;

	CU_ASSERT_FATAL(catalogue && tallies);
#pragma omp parallel for schedule(dynamic)
	for (uint32_t k = 0; k < catalogue->count; k++) {
		struct tso_result expected;
		const struct litmus *litmus = &catalogue->tests[k].litmus;

		if (!tso_explore(litmus, TSO_BUFFER, TSO_STATES_MAX, &expected, &tallies[k].error))
			continue;
		tally_run(litmus, &expected, EXECUTIONS, &tallies[k]);
		tso_free(&expected);
	}
	for (uint32_t k = 0; k < catalogue->count; k++) {
		const struct tally *tally = &tallies[k];

		CU_ASSERT_EQUAL(tally->forbidden, 0);
		CU_ASSERT_STRING_EQUAL(tally->error.text, "");
		if (tally->forbidden || tally->error.text[0])
			printf("\n  %s: %llu of %llu forbidden %s\n", catalogue->tests[k].name,
			       (unsigned long long)tally->forbidden,
			       (unsigned long long)tally->executions, tally->error.text);
		executions += tally->executions;
	}
	CU_ASSERT_EQUAL(executions, (uint64_t)catalogue->count * VARIANTS * EXECUTIONS);
	free(tallies);
	free(catalogue);
}

/* The simulator would keep TSO if it kept sequential consistency, but it would not be x86. */
static void every_outcome_that_tso_allows_is_seen(void)
{
	static const char *const names[] = {
		"SB",         "R",           "SB+rfi-pos", "n6",
		"amd3",       "4.SB",        "n8",         "rwc-unfenced",
		"SB+lfences", "R+mfence+po", "SB+xadd+po", "SB+cas-fail+po",
		"MP",         "LB",          "IRIW"
	};
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const struct known *known = catalogue_find(catalogue, names[n]);
		struct tso_result expected = explored(&known->litmus, TSO_BUFFER);
		struct tally tally = { 0 };
		size_t unseen = 0;

		tally_run(&known->litmus, &expected, 60, &tally);
		for (size_t k = 0; k < expected.count; k++)
			unseen += !tally.seen[k];
		CU_ASSERT_EQUAL(unseen, 0);
		CU_ASSERT_EQUAL(tally.forbidden, 0);
		if (unseen)
			printf("\n  %s: %zu of %zu outcomes unseen\n", known->name, unseen,
			       expected.count);
		tso_free(&expected);
	}
	free(catalogue);
}

/* In lines that somebody holds beforehand: a store to a line that is owned is visible at once, and a
 * load of one that is absent waits as long as the store. */
static void stores_pass_loads_wherever_threads_and_variables_are(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	const struct known *sb = catalogue_find(catalogue, "SB");
	struct tso_result expected = explored(&sb->litmus, TSO_BUFFER);

	for (uint32_t k = 0; k < 4 * 3 * 2 * 2; k++) {
		struct litmus_timed_config config = variant(k, 400);

		config.threads = (uint8_t)(1u << k % 4);
		config.variables = (uint8_t)(1u << k / 4 % 3);
		config.evictions = (uint8_t)(1u << k / 12 % 2);
		config.groups = (uint8_t)(1u << k / 24);
		config.prefetches = LITMUS_ON;
		struct litmus_timed_result result = timed(&sb->litmus, &config, &expected);

		CU_ASSERT(result.seen[0] > 0);
		litmus_timed_free(&result);
	}
	tso_free(&expected);
	free(catalogue);
}

static void a_seed_fixes_every_count(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	const struct known *known = catalogue_find(catalogue, "4.SB");
	struct tso_result expected = explored(&known->litmus, TSO_BUFFER);
	struct litmus_timed_config config = variant(0, 1500);
	struct litmus_timed_result first = timed(&known->litmus, &config, &expected);
	struct litmus_timed_result again = timed(&known->litmus, &config, &expected);
	size_t bytes = expected.count * sizeof(*first.seen);

	CU_ASSERT_EQUAL(memcmp(first.seen, again.seen, bytes), 0);
	litmus_timed_free(&again);
	config.seed++;
	again = timed(&known->litmus, &config, &expected);
	CU_ASSERT_NOT_EQUAL(memcmp(first.seen, again.seen, bytes), 0);
	litmus_timed_free(&again);
	litmus_timed_free(&first);
	tso_free(&expected);
	free(catalogue);
}

static void executions_that_the_filter_rejects_are_set_aside(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	const struct known *known = catalogue_find(catalogue, "MP-filtered");
	struct tso_result expected = explored(&known->litmus, TSO_BUFFER);
	struct litmus_timed_config config = variant(0, 1000);
	struct litmus_timed_result result = timed(&known->litmus, &config, &expected);

	CU_ASSERT(result.filtered > 100);
	CU_ASSERT(result.seen[0] > 100);
	CU_ASSERT_EQUAL(result.filtered + result.seen[0], 1000);
	litmus_timed_free(&result);
	tso_free(&expected);
	free(catalogue);
}

static void a_test_may_be_as_large_or_as_small_as_can_be(void)
{
	static char text[8192];
	char *at = stpcpy(text, "X86_64 big {} P0|P1|P2|P3|P4|P5|P6|P7;");
	struct litmus big, small;
	struct litmus_timed_config config = variant(0, 50);
	const uint64_t zero = 0, most = LITMUS_THREADS_MAX * LITMUS_STEPS_MAX / 8;

	for (int row = 0; row < LITMUS_STEPS_MAX; row++)
		for (int k = 0; k < LITMUS_THREADS_MAX; k++)
			at += sprintf(at, " lock incq (x%d) %c", (row + k) % 8, k < 7 ? '|' : ';');
	strcpy(at, "exists (x0=1)");
	expect_read(&big, text);
	expect_read(&small, "X86 small {} P0; exists 0:EAX=0");
	struct tso_result of_big = { .width = 1, .count = 1, .outcomes = &(uint64_t){ most } };
	struct tso_result of_small = { .width = 1, .count = 1, .outcomes = &(uint64_t){ zero } };

	for (int k = 0; k < 2; k++) {
		struct litmus_timed_result result =
			timed(k ? &big : &small, &config, k ? &of_big : &of_small);

		CU_ASSERT_EQUAL(result.seen[0], 50);
		CU_ASSERT_EQUAL(result.forbidden, 0);
		litmus_timed_free(&result);
	}
}

static void a_machine_that_cannot_be_is_refused(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	const struct known *known = catalogue_find(catalogue, "SB");
	struct tso_result expected = explored(&known->litmus, TSO_BUFFER);
	struct litmus_timed_config config = variant(0, 10);
	struct litmus_timed_result result;
	struct error error = { "" };

	config.coherence.line = 48;
	CU_ASSERT_FALSE(litmus_timed(&known->litmus, &config, &expected, &result, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "a line of 48 bytes"));
	tso_free(&expected);
	free(catalogue);
}

/* ---- that the check can fail ---------------------------------------------------------------- */

/* Plays one program and judges it by the outcomes of another. */
static uint64_t forbidden_of(const struct litmus *played, const struct tso_result *expected)
{
	struct tally tally = { 0 };

	tally_run(played, expected, 60, &tally);
	CU_ASSERT_STRING_EQUAL(tally.error.text, "");
	return tally.forbidden;
}

static void what_sequential_consistency_forbids_is_caught(void)
{
	static const char *const names[] = { "SB", "R", "SB+rfi-pos", "n6", "3.SB" };
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const struct known *known = catalogue_find(catalogue, names[n]);
		struct tso_result sc = explored(&known->litmus, TSO_SC);

		CU_ASSERT(forbidden_of(&known->litmus, &sc) > 0);
		tso_free(&sc);
	}
	free(catalogue);
}

/* And can be seen again: no execution depends on how many follow it. */
static void the_first_forbidden_outcome_is_told(void)
{
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	const struct known *sb = catalogue_find(catalogue, "SB");
	struct tso_result sc = explored(&sb->litmus, TSO_SC);
	struct litmus_timed_config config = variant(0, 2500);
	struct litmus_timed_result all = timed(&sb->litmus, &config, &sc);

	CU_ASSERT(all.forbidden > 1);
	CU_ASSERT_EQUAL(all.values[0], 0);
	CU_ASSERT_EQUAL(all.values[1], 0);
	config.executions = all.first + 1;
	struct litmus_timed_result first = timed(&sb->litmus, &config, &sc);

	CU_ASSERT_EQUAL(first.forbidden, 1);
	CU_ASSERT_EQUAL(first.first, all.first);
	CU_ASSERT_EQUAL(first.executions, all.first + 1);
	litmus_timed_free(&first);
	litmus_timed_free(&all);
	tso_free(&sc);
	free(catalogue);
}

/* As if the machine's fences did not drain the store buffer. */
static void fences_that_do_nothing_are_caught(void)
{
	static const char *const names[] = { "SB+mfences", "R+po+mfence",  "amd10",
					     "rwc-fenced", "3.SB+mfences", "n7+mfence" };
	struct catalogue *catalogue = catalogue_load("configs/litmus");

	CU_ASSERT_PTR_NOT_NULL_FATAL(catalogue);
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		struct known *known = catalogue_find(catalogue, names[n]);
		struct tso_result expected = explored(&known->litmus, TSO_BUFFER);

		for (uint32_t t = 0; t < known->litmus.thread_count; t++)
			for (uint32_t k = 0; k < known->litmus.threads[t].count; k++)
				if (known->litmus.threads[t].steps[k].operation == LITMUS_FENCE)
					known->litmus.threads[t].steps[k].operation =
						LITMUS_NOTHING;
		CU_ASSERT(forbidden_of(&known->litmus, &expected) > 0);
		tso_free(&expected);
	}
	free(catalogue);
}

/* As if locked operations neither drained the store buffer nor were of one piece. */
static void locked_operations_in_two_pieces_are_caught(void)
{
	static const struct {
		const char *whole, *pieces;
	} cases[] = {
		{ "X86_64 inc {uint64_t x;} P0 | P1; lock incq (x) | lock incq (x); exists (x=1)",
		  "X86_64 inc {uint64_t x;} P0 | P1; movq (x),%rax | movq (x),%rax;\n"
		  "movq $1,(x) | movq $1,(x); exists (x=1)" },
		{ "X86_64 swap {uint64_t x; 0:rax=1; 1:rax=1} P0 | P1;\n"
		  "xchgq %rax,(x) | xchgq %rax,(x); exists (0:rax=0 /\\ 1:rax=0)",
		  "X86_64 swap {uint64_t x; 0:rax=1; 1:rax=1} P0 | P1;\n"
		  "movq (x),%rax | movq (x),%rax; movq $1,(x) | movq $1,(x);\n"
		  "exists (0:rax=0 /\\ 1:rax=0)" },
		{ "X86_64 SB {uint64_t x; uint64_t y;} P0 | P1; movq $1,%rax | movq $1,%rax;\n"
		  "xchgq %rax,(x) | xchgq %rax,(y); movq (y),%rbx | movq (x),%rbx;\n"
		  "exists (0:rbx=0 /\\ 1:rbx=0)",
		  "X86_64 SB {uint64_t x; uint64_t y;} P0 | P1; movq $1,(x) | movq $1,(y);\n"
		  "movq (y),%rbx | movq (x),%rbx; exists (0:rbx=0 /\\ 1:rbx=0)" },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct litmus whole, pieces;

		expect_read(&whole, cases[k].whole);
		expect_read(&pieces, cases[k].pieces);
		struct tso_result expected = explored(&whole, TSO_BUFFER);

		CU_ASSERT_EQUAL(forbidden_of(&whole, &expected), 0);
		CU_ASSERT(forbidden_of(&pieces, &expected) > 0);
		tso_free(&expected);
	}
}

void suite_litmus(void)
{
	CU_pSuite suite = CU_add_suite("litmus", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, every_instruction_is_read_in_both_dialects);
	CU_ADD_TEST(suite, columns_are_threads);
	CU_ADD_TEST(suite, initial_values_have_types);
	CU_ADD_TEST(suite, notes_and_comments_are_passed_over);
	CU_ADD_TEST(suite, observed_names_stand_in_order_and_once);
	CU_ADD_TEST(suite, quantifiers_are_told_apart);
	CU_ADD_TEST(suite, negation_binds_before_and_before_or);
	CU_ADD_TEST(suite, whatever_is_wrong_is_told_with_its_place);
	CU_ADD_TEST(suite, limits_hold_to_the_last_one);
	CU_ADD_TEST(suite, eight_threads_are_the_most);
	CU_ADD_TEST(suite, sixty_four_names_are_the_most);
	CU_ADD_TEST(suite, a_test_cut_short_is_refused);
	CU_ADD_TEST(suite, no_text_crashes_the_reader);
	CU_ADD_TEST(suite, files_are_regular_and_not_too_long);
	CU_ADD_TEST(suite, the_oracle_agrees_with_other_oracles);
	CU_ADD_TEST(suite, the_oracle_agrees_on_tests_kept_elsewhere);
	CU_ADD_TEST(suite, tests_kept_elsewhere_end_as_on_x86_tso);
	CU_ADD_TEST(suite, outcomes_are_sorted_and_found);
	CU_ADD_TEST(suite, a_store_waits_for_room_in_the_buffer);
	CU_ADD_TEST(suite, too_many_states_are_refused);
	CU_ADD_TEST(suite, no_execution_ends_as_tso_forbids);
	CU_ADD_TEST(suite, every_outcome_that_tso_allows_is_seen);
	CU_ADD_TEST(suite, stores_pass_loads_wherever_threads_and_variables_are);
	CU_ADD_TEST(suite, a_seed_fixes_every_count);
	CU_ADD_TEST(suite, executions_that_the_filter_rejects_are_set_aside);
	CU_ADD_TEST(suite, a_test_may_be_as_large_or_as_small_as_can_be);
	CU_ADD_TEST(suite, a_machine_that_cannot_be_is_refused);
	CU_ADD_TEST(suite, what_sequential_consistency_forbids_is_caught);
	CU_ADD_TEST(suite, the_first_forbidden_outcome_is_told);
	CU_ADD_TEST(suite, fences_that_do_nothing_are_caught);
	CU_ADD_TEST(suite, locked_operations_in_two_pieces_are_caught);
}
