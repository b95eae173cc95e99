/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What x86 instructions do to memory, seen from their end: bytes as GNU as 2.40 assembles them. */
#include "tests/unit/suites.h"
#include "native/code.h"
#include <CUnit/CUnit.h>
#include <stdio.h>

struct instruction {
	const char *text;
	uint8_t length, bytes[10];
};

static void expect(enum code_write expected, const struct instruction *all, size_t count)
{
	/* What comes before, none of which may make a difference: ret, nop, push, a call's end. */
	static const uint8_t before[] = { 0xc3, 0x90, 0x55, 0xe8, 0x12 };
	uint8_t bytes[sizeof(before) + 10];

	for (size_t k = 0; k < count; k++)
		for (size_t more = 0; more <= sizeof(before); more++) {
			size_t length = 0;

			for (size_t b = 0; b < more; b++)
				bytes[length++] = before[b];
			for (size_t b = 0; b < all[k].length; b++)
				bytes[length++] = all[k].bytes[b];
			CU_ASSERT_EQUAL(code_write_before(bytes, length), expected);
			if (code_write_before(bytes, length) != expected)
				printf("\n  %s after %zu bytes\n", all[k].text, more);
		}
}

#define EXPECT(expected, all) expect(expected, all, sizeof(all) / sizeof(*(all)))

static void locked_instructions_and_exchanges_are_atomic(void)
{
	static const struct instruction all[] = {
		{ "lock xadd %rcx,0x2c98(%rip)", 9, { 0xf0, 0x48, 0x0f, 0xc1, 0x0d, 0x98, 0x2c } },
		{ "lock addq $1,0x2c52(%rip)", 9, { 0xf0, 0x48, 0x83, 0x05, 0x52, 0x2c, 0, 0, 1 } },
		{ "lock incl (%rax)", 3, { 0xf0, 0xff, 0x00 } },
		{ "lock cmpxchg16b 16(%rsp,%rbx,8)",
		  7,
		  { 0xf0, 0x48, 0x0f, 0xc7, 0x4c, 0xdc, 0x10 } },
		{ "lock btsq $3,8(%r12)", 8, { 0xf0, 0x49, 0x0f, 0xba, 0x6c, 0x24, 8, 3 } },
		{ "lock addw $0x1234,(%r13)", 8, { 0x66, 0xf0, 0x41, 0x81, 0x45, 0, 0x34, 0x12 } },
		{ "xchg %rax,(%rdi)", 3, { 0x48, 0x87, 0x07 } },
		{ "xchg %eax,0x404080", 7, { 0x87, 0x04, 0x25, 0x80, 0x40, 0x40, 0 } },
	};

	EXPECT(CODE_ATOMIC, all);
}

static void moves_are_stores(void)
{
	static const struct instruction all[] = {
		{ "mov %rcx,0x2c19(%rip)", 7, { 0x48, 0x89, 0x0d, 0x19, 0x2c, 0, 0 } },
		{ "movq $7,0x10(%rbp)", 8, { 0x48, 0xc7, 0x45, 0x10, 7, 0, 0, 0 } },
		{ "movb $1,(%rax,%rax,1)", 4, { 0xc6, 0x04, 0x00, 1 } },
		{ "movups %xmm0,0x40(%rdi)", 4, { 0x0f, 0x11, 0x47, 0x40 } },
		{ "sete 3(%rax)", 4, { 0x0f, 0x94, 0x40, 3 } },
	};

	EXPECT(CODE_STORE, all);
}

static void arithmetic_without_a_lock_modifies(void)
{
	static const struct instruction all[] = {
		{ "addq $1,0x18(%rax)", 5, { 0x48, 0x83, 0x40, 0x18, 1 } },
		{ "decl (%rdx)", 2, { 0xff, 0x0a } },
	};

	EXPECT(CODE_MODIFY, all);
}

static void what_writes_no_memory_is_not_known(void)
{
	static const struct instruction all[] = {
		{ "not %rax", 3, { 0x48, 0xf7, 0xd0 } },
		{ "mov (%rdi),%rax", 3, { 0x48, 0x8b, 0x07 } },
		{ "cmpq $1,(%rdi)", 4, { 0x48, 0x83, 0x3f, 1 } },
		{ "ret", 1, { 0xc3 } },
	};

	EXPECT(CODE_UNKNOWN, all);
	CU_ASSERT_EQUAL(code_write_before(NULL, 0), CODE_UNKNOWN);
}

void suite_code(void)
{
	CU_pSuite suite = CU_add_suite("code", NULL, NULL);

	CU_ADD_TEST(suite, locked_instructions_and_exchanges_are_atomic);
	CU_ADD_TEST(suite, moves_are_stores);
	CU_ADD_TEST(suite, arithmetic_without_a_lock_modifies);
	CU_ADD_TEST(suite, what_writes_no_memory_is_not_known);
}
