/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Litmus tests: programs of a few instructions a thread, and a condition on how they may end.
 *
 * The text is that of the `.litmus` files of the herd and litmus tools, as far as x86 goes: X86 with
 * operands in Intel's order, X86_64 in AT&T's.
 *
 *   X86_64 SB
 *   "a load may pass an older store to another location"
 *   { uint64_t x; uint64_t y; 0:rax=0; }
 *    P0            | P1            ;
 *    movq $1,(x)   | movq $1,(y)   ;
 *    movq (y),%rax | movq (x),%rax ;
 *   exists (0:rax=0 /\ 1:rax=0)
 */
#ifndef CHECK_LITMUS_H
#define CHECK_LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "config/error.h"

enum {
	LITMUS_TEXT_MAX = 64 << 10, /* bytes */
	LITMUS_THREADS_MAX = 8,
	LITMUS_STEPS_MAX = 16, /* a thread */
	LITMUS_LOCATIONS_MAX = 8,
	LITMUS_REGISTERS_MAX = 16, /* a thread: rax is 0 */
	LITMUS_NAMES_MAX = 64,     /* that one test observes */
	LITMUS_NODES_MAX = 512,    /* of one condition */
	LITMUS_NESTING_MAX = 32,   /* of parentheses and negations */
	LITMUS_NAME_SIZE = 128,
	LITMUS_LOCATION_SIZE = 32
};

enum litmus_operation {
	LITMUS_LOAD,             /* target = [location] */
	LITMUS_STORE,            /* [location] = operand */
	LITMUS_SET,              /* target = operand */
	LITMUS_EXCHANGE,         /* locked: [location] = operand, target = what it was */
	LITMUS_ADD,              /* locked: [location] += operand */
	LITMUS_FETCH_ADD,        /* locked: the same, target = what it was */
	LITMUS_COMPARE_EXCHANGE, /* locked: if [location] is what target holds, [location] =
				    operand; else target = [location]. target is rax */
	LITMUS_FENCE,            /* mfence */
	LITMUS_NOTHING           /* lfence, sfence: they order nothing among these operations */
};

struct litmus_step {
	enum litmus_operation operation;
	uint8_t size;     /* bytes: 1, 2, 4 or 8 */
	uint8_t location; /* index; of an operation on memory */
	uint8_t target;   /* register */
	uint8_t source;   /* register that is the operand, unless it is `value` */
	bool immediate;
	uint64_t value; /* cut to `size` bytes */
};

struct litmus_thread {
	uint32_t count;
	struct litmus_step steps[LITMUS_STEPS_MAX];
	uint64_t initial[LITMUS_REGISTERS_MAX];
};

struct litmus_location {
	char name[LITMUS_LOCATION_SIZE];
	uint8_t size; /* bytes; every access has it */
	uint64_t initial;
};

/* What a condition may ask for: the low `size` bytes of a register, or a location. */
struct litmus_name {
	bool is_location;
	uint8_t thread; /* of a register */
	uint8_t index;  /* register or location */
	uint8_t size;
};

/* A condition in postfix order. It holds of a list of values, one for each observed name. */
struct litmus_condition {
	uint32_t count; /* 0: it holds always */
	struct litmus_node {
		enum { LITMUS_EQUALS, LITMUS_NOT, LITMUS_AND, LITMUS_OR } kind;
		uint8_t name; /* of LITMUS_EQUALS */
		uint64_t value;
	} nodes[LITMUS_NODES_MAX];
};

enum litmus_quantifier { LITMUS_EXISTS, LITMUS_NOT_EXISTS, LITMUS_FORALL };

struct litmus {
	char name[LITMUS_NAME_SIZE];
	uint32_t thread_count, location_count, name_count;
	struct litmus_thread threads[LITMUS_THREADS_MAX];
	struct litmus_location locations[LITMUS_LOCATIONS_MAX];
	/* What `locations`, the filter and the condition mention, in the order in which they do so:
	 * final states are told apart by these alone. */
	struct litmus_name names[LITMUS_NAMES_MAX];
	struct litmus_condition filter; /* final states that it does not hold of do not count */
	enum litmus_quantifier quantifier;
	struct litmus_condition condition;
};

/* Reads a test from memory; `name` stands for the file in messages. False with *error set,
 * `file:line:column: what is there, what was expected`, where the text is not a test of these kinds
 * or exceeds a limit above. Locations and registers start as 0 unless the test says otherwise. A
 * location has the size of its type or else of its accesses (4 bytes if neither tells), which must
 * all agree. */
bool litmus_read(struct litmus *litmus, const char *text, size_t length, const char *name,
		 struct error *error);

/* The same from a regular file. */
bool litmus_load(struct litmus *litmus, const char *path, struct error *error);

/* Does it hold of these values, one for each of the test's names? */
bool litmus_holds(const struct litmus_condition *condition, const uint64_t *values);

/* Writes the k-th observed name as conditions have it: "x", "0:rax". */
void litmus_name_text(const struct litmus *litmus, uint32_t k, char *out, size_t room);

/* The low `size` bytes of a value. */
static inline uint64_t litmus_cut(uint64_t value, uint8_t size)
{
	return size == 8 ? value : value & ((1ull << (8 * size)) - 1);
}

/* What a register holds once `size` bytes were written to it: 4 bytes clear the upper half, fewer
 * leave the rest alone. `value` is cut already. */
static inline uint64_t litmus_merge(uint64_t old, uint64_t value, uint8_t size)
{
	return size >= 4 ? value : (old & ~((1ull << (8 * size)) - 1)) | value;
}

/* The operand of a step, given the thread's registers. */
static inline uint64_t litmus_operand(const struct litmus_step *step, const uint64_t *registers)
{
	return step->immediate ? step->value : litmus_cut(registers[step->source], step->size);
}

#endif
