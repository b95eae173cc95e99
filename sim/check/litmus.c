/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader: a scanner by hand, one pass, and a depth limit on the only recursion. Each function
 * leaves `at` behind what it has read, or returns false with the error recorded. */
#include "check/litmus.h"
#include "config/file.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
	struct litmus *litmus;
	const char *file, *begin, *at, *end;
	bool att; /* operands in AT&T's order */
	/* the register of the highest thread that the init section names */
	uint32_t init_thread;
	const char *init_at;
	uint32_t depth;
	struct error *error;
};

struct span {
	const char *at;
	size_t length;
};

struct number {
	uint64_t value; /* two's complement */
	bool negative;
};

/* ---- messages ------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static bool refuse(const struct reader *reader,
							 const char *at, const char *format, ...)
{
	unsigned line = 1, column = 1;
	char text[256];
	va_list args;

	for (const char *p = reader->begin; p < at; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return error_at(reader->error, reader->file, line, column, "%s", text);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The word, number or character that stands at `at`, for a message. */
static bool expected(const struct reader *reader, const char *at, const char *what)
{
	const char *stop = at;

	if (at == reader->end)
		return refuse(reader, at, "the text ends, expected %s", what);
	while (stop < reader->end && stop - at < 40 && (is_letter(*stop) || is_digit(*stop)))
		stop++;
	if (stop == at && (unsigned char)*at < 0x20)
		return refuse(reader, at, "the byte 0x%02x, expected %s", (unsigned char)*at, what);
	return refuse(reader, at, "'%.*s', expected %s", stop == at ? 1 : (int)(stop - at), at,
		      what);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return memchr(" \t\r\n", c, 4);
}

static bool sees(const struct reader *reader, const char *mark)
{
	size_t length = strlen(mark);

	return (size_t)(reader->end - reader->at) >= length && !memcmp(reader->at, mark, length);
}

/* White space and comments. After a comment without end nothing more is found: the error recorded
 * is the one that stays. */
static void skip(struct reader *reader)
{
	for (;;) {
		const char *comment;

		while (reader->at < reader->end && is_blank(*reader->at))
			reader->at++;
		if (!sees(reader, "(*"))
			return;
		comment = reader->at;
		for (reader->at += 2; !sees(reader, "*)"); reader->at++)
			if (reader->at == reader->end) {
				refuse(reader, comment, "a comment without end, expected *)");
				return;
			}
		reader->at += 2;
	}
}

/* Steps over a mark and what white space follows it. */
static bool accept(struct reader *reader, const char *mark)
{
	if (!sees(reader, mark))
		return false;
	reader->at += strlen(mark);
	skip(reader);
	return true;
}

static bool require(struct reader *reader, const char *mark, const char *what)
{
	return accept(reader, mark) || expected(reader, reader->at, what);
}

/* The word that stands here, empty if none does. */
static struct span peek(const struct reader *reader)
{
	const char *stop = reader->at;

	if (stop < reader->end && is_letter(*stop))
		while (stop < reader->end && (is_letter(*stop) || is_digit(*stop)))
			stop++;
	return (struct span){ reader->at, (size_t)(stop - reader->at) };
}

static bool span_is(struct span span, const char *text)
{
	return span.length == strlen(text) && !strncasecmp(span.at, text, span.length);
}

static bool accept_word(struct reader *reader, const char *word)
{
	if (!span_is(peek(reader), word))
		return false;
	reader->at += strlen(word);
	skip(reader);
	return true;
}

static uint32_t digit_value(char c)
{
	if (is_digit(c))
		return (uint32_t)(c - '0');
	return is_letter(c) && c != '_' ? (uint32_t)((c | 0x20) - 'a') + 10 : UINT32_MAX;
}

/* Decimal or 0x, from -2^63 to 2^64 - 1. */
static bool read_number(struct reader *reader, struct number *number)
{
	const char *start = reader->at;
	bool negative = sees(reader, "-");
	uint64_t base = 10, value = 0;

	reader->at += negative;
	if (reader->at == reader->end || !is_digit(*reader->at))
		return expected(reader, start, "a number");
	if (sees(reader, "0x")) {
		base = 16;
		reader->at += 2;
	}
	const char *first = reader->at;

	for (; reader->at < reader->end && digit_value(*reader->at) < base; reader->at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_value(*reader->at), &value))
			return refuse(reader, start,
				      "a number out of range, expected at most 64 bits");
	if (reader->at == first || (reader->at < reader->end && is_letter(*reader->at)))
		return expected(reader, reader->at, "a digit");
	if (negative && value > 1ull << 63)
		return refuse(reader, start, "a number out of range, expected at least -2^63");
	*number = (struct number){ negative ? 0 - value : value, negative && value };
	skip(reader);
	return true;
}

static bool fits(const struct number *number, uint8_t size)
{
	if (size == 8)
		return true;
	if (number->negative)
		return (int64_t)number->value >= -(1ll << (8 * size - 1));
	return number->value < 1ull << (8 * size);
}

/* A number of `size` bytes. */
static bool read_value(struct reader *reader, uint8_t size, uint64_t *value)
{
	const char *start = reader->at;
	struct number number = { 0 };

	if (!read_number(reader, &number))
		return false;
	if (!fits(&number, size))
		return refuse(reader, start, "a number out of range, expected one of %u bytes",
			      size);
	*value = litmus_cut(number.value, size);
	return true;
}

/* ---- registers, locations, types ------------------------------------------------------------ */

/* Of 8, 4, 2 and 1 bytes. */
static const char *const registers[LITMUS_REGISTERS_MAX][4] = {
	{ "rax", "eax", "ax", "al" },      { "rbx", "ebx", "bx", "bl" },
	{ "rcx", "ecx", "cx", "cl" },      { "rdx", "edx", "dx", "dl" },
	{ "rsi", "esi", "si", "sil" },     { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" },     { "rsp", "esp", "sp", "spl" },
	{ "r8", "r8d", "r8w", "r8b" },     { "r9", "r9d", "r9w", "r9b" },
	{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
	{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
	{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
};

static const struct {
	const char *name;
	uint8_t size;
} types[] = {
	{ "int8_t", 1 },   { "uint8_t", 1 }, { "char", 1 },     { "int16_t", 2 },
	{ "uint16_t", 2 }, { "short", 2 },   { "int32_t", 4 },  { "uint32_t", 4 },
	{ "int", 4 },      { "int64_t", 8 }, { "uint64_t", 8 }, { "long", 8 },
};

static bool read_register(struct reader *reader, uint8_t *number, uint8_t *size)
{
	struct span word = peek(reader);

	for (uint8_t k = 0; k < LITMUS_REGISTERS_MAX; k++)
		for (uint8_t s = 0; s < 4; s++)
			if (span_is(word, registers[k][s])) {
				reader->at += word.length;
				*number = k;
				*size = (uint8_t)(8 >> s);
				skip(reader);
				return true;
			}
	return expected(reader, reader->at, "a register");
}

/* The index of a location by name. One that the test has not named yet is new, where `fresh`
 * allows it. */
static bool read_location(struct reader *reader, bool fresh, uint8_t *index)
{
	struct litmus *litmus = reader->litmus;
	struct span word = peek(reader);
	uint32_t k = 0;

	if (!word.length)
		return expected(reader, reader->at, "the name of a location");
	while (k < litmus->location_count &&
	       (strlen(litmus->locations[k].name) != word.length ||
		memcmp(litmus->locations[k].name, word.at, word.length)))
		k++;
	if (k == litmus->location_count) {
		if (!fresh)
			return expected(reader, reader->at, "a location that the test uses");
		if (k == LITMUS_LOCATIONS_MAX)
			return refuse(reader, reader->at,
				      "a location too many, expected at most %d",
				      LITMUS_LOCATIONS_MAX);
		if (word.length >= LITMUS_LOCATION_SIZE)
			return refuse(reader, reader->at,
				      "a location of %zu characters, expected fewer than %d",
				      word.length, LITMUS_LOCATION_SIZE);
		memcpy(litmus->locations[k].name, word.at, word.length);
		litmus->location_count++;
	}
	reader->at += word.length;
	*index = (uint8_t)k;
	skip(reader);
	return true;
}

/* Fixes the size of a location, or compares it. */
static bool location_size(struct reader *reader, const char *at, uint8_t index, uint8_t size)
{
	struct litmus_location *location = &reader->litmus->locations[index];
	struct number initial = { location->initial, (int64_t)location->initial < 0 };

	if (location->size && location->size != size)
		return refuse(reader, at, "%s with %u bytes, expected %u, its size so far",
			      location->name, size, location->size);
	if (!fits(&initial, size))
		return refuse(reader, at, "%s with %u bytes, expected room for its initial value",
			      location->name, size);
	location->size = size;
	location->initial = litmus_cut(location->initial, size);
	return true;
}

/* `thread:` */
static bool read_thread(struct reader *reader, uint32_t limit, uint8_t *thread)
{
	const char *start = reader->at;
	struct number number = { 0 };

	if (!read_number(reader, &number) || !require(reader, ":", "a colon and a register"))
		return false;
	if (number.value >= limit)
		return refuse(reader, start, "a thread out of range, expected one below %u", limit);
	*thread = (uint8_t)number.value;
	return true;
}

/* ---- before the program --------------------------------------------------------------------- */

static bool read_title(struct reader *reader)
{
	struct litmus *litmus = reader->litmus;
	const char *start = reader->at;

	if (accept_word(reader, "X86_64"))
		reader->att = true;
	else if (!accept_word(reader, "X86"))
		return expected(reader, start, "X86 or X86_64");
	start = reader->at;
	while (reader->at < reader->end && !is_blank(*reader->at) &&
	       !memchr("\"{;", *reader->at, 3))
		reader->at++;
	if (reader->at == start)
		return expected(reader, start, "the test's name");
	if (reader->at - start >= LITMUS_NAME_SIZE)
		return refuse(reader, start, "a name of %td characters, expected fewer than %d",
			      reader->at - start, LITMUS_NAME_SIZE);
	for (const char *p = start; p < reader->at; p++)
		if (*p <= ' ' || *p >= 0x7f)
			return expected(reader, p, "a printable character in the test's name");
	memcpy(litmus->name, start, (size_t)(reader->at - start));
	skip(reader);
	return true;
}

/* An explanation in quotes, and lines `key=value`, which only other tools read. */
static bool skip_notes(struct reader *reader)
{
	const char *start = reader->at;

	if (sees(reader, "\"")) {
		const char *close = memchr(start + 1, '"', (size_t)(reader->end - start) - 1);

		if (!close)
			return refuse(reader, start, "an explanation without end, expected \"");
		reader->at = close + 1;
		skip(reader);
	}
	while (peek(reader).length) {
		reader->at += peek(reader).length;
		skip(reader);
		if (!sees(reader, "="))
			return expected(reader, reader->at, "= or {");
		while (reader->at < reader->end && *reader->at != '\n')
			reader->at++;
		skip(reader);
	}
	return require(reader, "{", "{ and the initial values");
}

/* A type, if one stands here: it is followed by what it is the type of. Returns its size, else 0. */
static uint8_t accept_type(struct reader *reader)
{
	struct span word = peek(reader);

	for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
		if (span_is(word, types[k].name) && accept_word(reader, types[k].name))
			return types[k].size;
	return 0;
}

static bool read_init_register(struct reader *reader)
{
	uint8_t thread = 0, number = 0, size = 0;
	const char *start = reader->at;
	uint64_t *initial;

	if (!read_thread(reader, LITMUS_THREADS_MAX, &thread) ||
	    !read_register(reader, &number, &size))
		return false;
	if (!reader->init_at || thread > reader->init_thread) {
		reader->init_thread = thread;
		reader->init_at = start;
	}
	initial = &reader->litmus->threads[thread].initial[number];
	if (!accept(reader, "="))
		return true;
	return read_value(reader, size, initial);
}

static bool read_init_location(struct reader *reader, uint8_t size)
{
	bool bracket = accept(reader, "[");
	const char *start = reader->at;
	struct number number = { 0 };
	uint8_t index = 0;

	if (!read_location(reader, true, &index) || (bracket && !require(reader, "]", "]")) ||
	    (size && !location_size(reader, start, index, size)))
		return false;
	if (!accept(reader, "="))
		return true;
	struct litmus_location *location = &reader->litmus->locations[index];

	if (location->size)
		return read_value(reader, location->size, &location->initial);
	if (!read_number(reader, &number))
		return false;
	location->initial = number.value;
	return true;
}

static bool read_init(struct reader *reader)
{
	while (!accept(reader, "}")) {
		if (accept(reader, ";"))
			continue;
		uint8_t size = accept_type(reader);
		bool good = reader->at < reader->end && is_digit(*reader->at)
				    ? read_init_register(reader)
				    : read_init_location(reader, size);

		if (!good)
			return false;
		if (!sees(reader, "}") && !require(reader, ";", "; or }"))
			return false;
	}
	return true;
}

/* ---- instructions --------------------------------------------------------------------------- */

enum { NONE = 1, IMMEDIATE = 2, REGISTER = 4, MEMORY = 8 };

struct operand {
	uint8_t kind, index, size; /* of a register: its number; of memory: its location */
	struct number number;
	const char *at;
};

/* Every instruction in every form. */
static const struct form {
	const char *name;
	enum { UNLOCKED, LOCKED, EITHER } lock;
	uint8_t source, target; /* kinds of operand */
	enum litmus_operation operation;
	int64_t implied; /* operand of one that has none */
} forms[] = {
	{ "mov", UNLOCKED, IMMEDIATE | REGISTER, MEMORY, LITMUS_STORE, 0 },
	{ "mov", UNLOCKED, MEMORY, REGISTER, LITMUS_LOAD, 0 },
	{ "mov", UNLOCKED, IMMEDIATE | REGISTER, REGISTER, LITMUS_SET, 0 },
	{ "xchg", EITHER, REGISTER, MEMORY, LITMUS_EXCHANGE, 0 },
	{ "xchg", EITHER, MEMORY, REGISTER, LITMUS_EXCHANGE, 0 },
	{ "add", LOCKED, IMMEDIATE | REGISTER, MEMORY, LITMUS_ADD, 0 },
	{ "inc", LOCKED, NONE, MEMORY, LITMUS_ADD, 1 },
	{ "dec", LOCKED, NONE, MEMORY, LITMUS_ADD, -1 },
	{ "xadd", LOCKED, REGISTER, MEMORY, LITMUS_FETCH_ADD, 0 },
	{ "cmpxchg", LOCKED, REGISTER, MEMORY, LITMUS_COMPARE_EXCHANGE, 0 },
	{ "mfence", UNLOCKED, NONE, NONE, LITMUS_FENCE, 0 },
	{ "lfence", UNLOCKED, NONE, NONE, LITMUS_NOTHING, 0 },
	{ "sfence", UNLOCKED, NONE, NONE, LITMUS_NOTHING, 0 },
};

/* Is this the form's name, perhaps with a suffix that tells the size? Fences have none. */
static bool form_named(const struct form *form, struct span word, uint8_t *size)
{
	static const char suffixes[] = "bwlq";
	struct span stem = { word.at, word.length - 1 };
	const char *suffix = strchr(suffixes, word.at[word.length - 1] | 0x20);

	*size = 0;
	if (span_is(word, form->name))
		return true;
	if (!suffix || form->target == NONE || !span_is(stem, form->name))
		return false;
	*size = (uint8_t)(1 << (suffix - suffixes));
	return true;
}

static bool read_operand(struct reader *reader, struct operand *operand)
{
	bool dollar;

	operand->at = reader->at;
	operand->kind = MEMORY;
	if (accept(reader, reader->att ? "(" : "["))
		return read_location(reader, true, &operand->index) &&
		       require(reader, reader->att ? ")" : "]", "the end of the address");
	operand->kind = IMMEDIATE;
	dollar = accept(reader, "$");
	if (dollar || (!reader->att && reader->at < reader->end &&
		       (is_digit(*reader->at) || *reader->at == '-')))
		return read_number(reader, &operand->number);
	operand->kind = REGISTER;
	if (accept(reader, "%") || (!reader->att && peek(reader).length))
		return read_register(reader, &operand->index, &operand->size);
	return expected(reader, reader->at,
			reader->att ? "$number, %register or (location)"
				    : "number, register or [location]");
}

/* Up to two operands; a missing one is NONE. */
static bool read_operands(struct reader *reader, struct operand *source, struct operand *target)
{
	struct operand one = { .kind = NONE, .at = reader->at }, two = one;
	bool good = true;

	if (!sees(reader, "|") && !sees(reader, ";"))
		good = read_operand(reader, &one);
	if (good && accept(reader, ","))
		good = read_operand(reader, &two);
	if (!good)
		return false;
	bool swap = !reader->att || two.kind == NONE;

	*source = swap ? two : one;
	*target = swap ? one : two;
	return true;
}

/* The size that the suffix, a register and the location agree on. */
static bool step_size(struct reader *reader, const struct operand *const operands[2], uint8_t *size)
{
	struct litmus *litmus = reader->litmus;

	for (int k = 0; k < 2; k++) {
		if (operands[k]->kind != REGISTER)
			continue;
		if (*size && *size != operands[k]->size)
			return refuse(reader, operands[k]->at,
				      "a register of %u bytes, expected one of %u",
				      operands[k]->size, *size);
		*size = operands[k]->size;
	}
	for (int k = 0; k < 2; k++) {
		const struct operand *memory = operands[k];

		if (memory->kind != MEMORY)
			continue;
		if (!*size)
			*size = litmus->locations[memory->index].size;
		if (!*size)
			*size = 4;
		if (!location_size(reader, memory->at, memory->index, *size))
			return false;
	}
	return true;
}

static bool make_step(struct reader *reader, const struct form *form, const struct operand *source,
		      const struct operand *target, struct litmus_step *step)
{
	const struct operand *const operands[2] = { source, target };
	const struct operand *memory = source->kind == MEMORY ? source : target;
	const struct operand *reg = target->kind == REGISTER ? target : source;

	step->operation = form->operation;
	if (!step_size(reader, operands, &step->size))
		return false;
	if (source->kind == IMMEDIATE && !fits(&source->number, step->size))
		return refuse(reader, source->at, "a number out of range, expected one of %u bytes",
			      step->size);
	step->immediate = source->kind == IMMEDIATE || source->kind == NONE;
	step->value = source->kind == IMMEDIATE ? source->number.value : (uint64_t)form->implied;
	if (step->size)
		step->value = litmus_cut(step->value, step->size);
	step->location = memory->kind == MEMORY ? memory->index : 0;
	step->source = source->kind == REGISTER ? source->index : reg->index;
	step->target = form->operation == LITMUS_COMPARE_EXCHANGE ? 0 : reg->index;
	return true;
}

/* The forms of one name stand together: the first that is named and takes the operands. */
static bool read_step(struct reader *reader, struct litmus_step *step)
{
	const struct form *form = forms, *end = forms + sizeof(forms) / sizeof(forms[0]);
	struct operand source = { 0 }, target = { 0 };
	const char *start = reader->at;
	bool lock = accept_word(reader, "lock");
	struct span word = peek(reader);
	uint8_t size = 0;

	while (word.length && form < end && !form_named(form, word, &size))
		form++;
	if (!word.length || form == end)
		return expected(reader, word.at,
				"mov, xchg, mfence, lfence, sfence or a locked add, xadd, "
				"cmpxchg, inc or dec");
	if (lock ? form->lock == UNLOCKED : form->lock == LOCKED)
		return refuse(reader, start, "%s %s lock, expected it %s", form->name,
			      lock ? "with" : "without", lock ? "without" : "with");
	reader->at += word.length;
	skip(reader);
	if (!read_operands(reader, &source, &target))
		return false;
	step->size = size;
	for (; form < end && form_named(form, word, &size); form++)
		if (form->source & source.kind && form->target & target.kind)
			return make_step(reader, form, &source, &target, step);
	return refuse(reader, start, "operands that the instruction does not take, expected %s",
		      "those of a load, a store or a locked operation");
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Is this where the conditions begin? */
static bool program_ends(const struct reader *reader)
{
	static const char *const marks[] = { "locations", "filter", "exists", "forall" };

	for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
		if (span_is(peek(reader), marks[k]))
			return true;
	return sees(reader, "~") || reader->at == reader->end;
}

/* `P0 | P1 ;` */
static bool read_heads(struct reader *reader)
{
	struct litmus *litmus = reader->litmus;

	do {
		struct span word = peek(reader);
		uint32_t number = litmus->thread_count;

		if (number == LITMUS_THREADS_MAX)
			return refuse(reader, reader->at, "a thread too many, expected at most %d",
				      LITMUS_THREADS_MAX);
		if (word.length != 2 || word.at[0] != 'P' || word.at[1] != (char)('0' + number))
			return expected(reader, reader->at,
					number ? "the next thread, P and its number" : "P0");
		litmus->thread_count++;
		reader->at += word.length;
		skip(reader);
	} while (accept(reader, "|"));
	if (reader->init_at && reader->init_thread >= litmus->thread_count)
		return refuse(reader, reader->init_at,
			      "a register of thread %u, expected one below %u", reader->init_thread,
			      litmus->thread_count);
	return require(reader, ";", "| or ;");
}

/* One line of the program: an instruction or nothing for each thread. */
static bool read_row(struct reader *reader)
{
	struct litmus *litmus = reader->litmus;

	for (uint32_t k = 0; k < litmus->thread_count; k++) {
		struct litmus_thread *thread = &litmus->threads[k];
		bool last = k + 1 == litmus->thread_count;

		if (!sees(reader, "|") && !sees(reader, ";")) {
			if (thread->count == LITMUS_STEPS_MAX)
				return refuse(
					reader, reader->at,
					"an instruction too many, expected at most %d a thread",
					LITMUS_STEPS_MAX);
			if (!read_step(reader, &thread->steps[thread->count++]))
				return false;
		}
		if (!require(reader, last ? ";" : "|",
			     last ? "; after the last thread" : "| and the next thread"))
			return false;
	}
	return true;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static bool observe(struct reader *reader, const char *at, struct litmus_name name, uint8_t *index)
{
	struct litmus *litmus = reader->litmus;
	uint32_t k = 0;

	while (k < litmus->name_count &&
	       (litmus->names[k].is_location != name.is_location ||
		litmus->names[k].thread != name.thread || litmus->names[k].index != name.index ||
		litmus->names[k].size != name.size))
		k++;
	if (k == LITMUS_NAMES_MAX)
		return refuse(reader, at, "a name too many, expected at most %d", LITMUS_NAMES_MAX);
	if (k == litmus->name_count)
		litmus->names[litmus->name_count++] = name;
	*index = (uint8_t)k;
	return true;
}

/* `0:rax`, `x` or `[x]`. */
static bool read_name(struct reader *reader, uint8_t *index)
{
	const char *start = reader->at;
	struct litmus_name name = { 0 };

	if (reader->at < reader->end && is_digit(*reader->at)) {
		if (!read_thread(reader, reader->litmus->thread_count, &name.thread) ||
		    !read_register(reader, &name.index, &name.size))
			return false;
	} else {
		bool bracket = accept(reader, "[");

		name.is_location = true;
		if (!read_location(reader, false, &name.index) ||
		    (bracket && !require(reader, "]", "]")))
			return false;
		name.size = reader->litmus->locations[name.index].size;
	}
	return observe(reader, start, name, index);
}

static bool append(struct reader *reader, const char *at, struct litmus_condition *condition,
		   struct litmus_node node)
{
	if (condition->count == LITMUS_NODES_MAX)
		return refuse(reader, at,
			      "too long a condition, expected at most %d terms and operators",
			      LITMUS_NODES_MAX);
	condition->nodes[condition->count++] = node;
	return true;
}

static bool read_equation(struct reader *reader, struct litmus_condition *condition)
{
	struct litmus_node node = { .kind = LITMUS_EQUALS };
	const char *start = reader->at;

	return read_name(reader, &node.name) && require(reader, "=", "= and a number") &&
	       read_value(reader, reader->litmus->names[node.name].size, &node.value) &&
	       append(reader, start, condition, node);
}

static bool read_or(struct reader *reader, struct litmus_condition *condition);

/* A negation, parentheses, or an equation. */
static bool read_term(struct reader *reader, struct litmus_condition *condition)
{
	const char *start = reader->at;
	bool negation = accept(reader, "~") || accept_word(reader, "not"), good;

	if (!negation && !sees(reader, "("))
		return read_equation(reader, condition);
	if (++reader->depth > LITMUS_NESTING_MAX)
		return refuse(reader, start, "too deep a condition, expected at most %d levels",
			      LITMUS_NESTING_MAX);
	if (negation)
		good = read_term(reader, condition) &&
		       append(reader, start, condition, (struct litmus_node){ .kind = LITMUS_NOT });
	else
		good = accept(reader, "(") && read_or(reader, condition) &&
		       require(reader, ")", "/\\, \\/ or )");
	reader->depth--;
	return good;
}

/* /\ binds tighter than \/. */
static bool read_and(struct reader *reader, struct litmus_condition *condition)
{
	const char *at;

	if (!read_term(reader, condition))
		return false;
	for (at = reader->at; accept(reader, "/\\"); at = reader->at)
		if (!read_term(reader, condition) ||
		    !append(reader, at, condition, (struct litmus_node){ .kind = LITMUS_AND }))
			return false;
	return true;
}

static bool read_or(struct reader *reader, struct litmus_condition *condition)
{
	const char *at;

	if (!read_and(reader, condition))
		return false;
	for (at = reader->at; accept(reader, "\\/"); at = reader->at)
		if (!read_and(reader, condition) ||
		    !append(reader, at, condition, (struct litmus_node){ .kind = LITMUS_OR }))
			return false;
	return true;
}

/* `locations [ x; 0:rax; ]` */
static bool read_locations(struct reader *reader)
{
	uint8_t index = 0;

	if (!require(reader, "[", "[ and what to observe"))
		return false;
	while (!accept(reader, "]")) {
		if (!read_name(reader, &index))
			return false;
		if (!sees(reader, "]") && !require(reader, ";", "; or ]"))
			return false;
	}
	return true;
}

static bool read_quantifier(struct reader *reader)
{
	struct litmus *litmus = reader->litmus;
	bool negation = accept(reader, "~");

	litmus->quantifier = negation ? LITMUS_NOT_EXISTS : LITMUS_EXISTS;
	if (accept_word(reader, "exists"))
		return true;
	litmus->quantifier = LITMUS_FORALL;
	if (!negation && accept_word(reader, "forall"))
		return true;
	return expected(reader, reader->at, "exists, ~exists or forall");
}

static bool read_conditions(struct reader *reader)
{
	struct litmus *litmus = reader->litmus;

	if (accept_word(reader, "locations") && !read_locations(reader))
		return false;
	if (accept_word(reader, "filter") && !read_or(reader, &litmus->filter))
		return false;
	if (!read_quantifier(reader) || !read_or(reader, &litmus->condition))
		return false;
	return reader->at == reader->end || expected(reader, reader->at, "the end of the text");
}

/* ---- the whole ------------------------------------------------------------------------------ */

bool litmus_read(struct litmus *litmus, const char *text, size_t length, const char *name,
		 struct error *error)
{
	struct reader reader = { .litmus = litmus,
				 .file = name,
				 .begin = text,
				 .at = text,
				 .end = text + length,
				 .error = error };

	memset(litmus, 0, sizeof(*litmus));
	if (length > LITMUS_TEXT_MAX)
		return error_at(error, name, 1, 1, "more than %d bytes, expected a litmus test",
				LITMUS_TEXT_MAX);
	skip(&reader);
	if (!read_title(&reader) || !skip_notes(&reader) || !read_init(&reader) ||
	    !read_heads(&reader))
		return false;
	while (!program_ends(&reader))
		if (!read_row(&reader))
			return false;
	for (uint32_t k = 0; k < litmus->location_count; k++)
		if (!litmus->locations[k].size && !location_size(&reader, reader.at, (uint8_t)k, 4))
			return false;
	return read_conditions(&reader) && !error->text[0];
}

bool litmus_load(struct litmus *litmus, const char *path, struct error *error)
{
	size_t length;
	char *text = file_read(path, 1 << 20, &length, error);
	bool read = text && litmus_read(litmus, text, length, path, error);

	free(text);
	return read;
}

bool litmus_holds(const struct litmus_condition *condition, const uint64_t *values)
{
	bool stack[3 * (LITMUS_NESTING_MAX + 1)] = { true };
	uint32_t height = 0;

	for (uint32_t k = 0; k < condition->count; k++) {
		const struct litmus_node *node = &condition->nodes[k];
		bool top = height ? stack[height - 1] : false;

		if (node->kind == LITMUS_EQUALS) {
			stack[height++] = values[node->name] == node->value;
		} else if (node->kind == LITMUS_NOT) {
			stack[height - 1] = !top;
		} else {
			height--;
			stack[height - 1] = node->kind == LITMUS_AND ? stack[height - 1] && top
								     : stack[height - 1] || top;
		}
	}
	return stack[0];
}

void litmus_name_text(const struct litmus *litmus, uint32_t k, char *out, size_t room)
{
	const struct litmus_name *name = &litmus->names[k];

	if (name->is_location)
		snprintf(out, room, "%s", litmus->locations[name->index].name);
	else
		snprintf(out, room, "%u:%s", name->thread,
			 registers[name->index][3 - __builtin_ctz(name->size)]);
}
