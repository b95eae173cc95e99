/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
 * appendix A. */
#include "native/code.h"
#include "native/elf_file.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH_MOST = 15 /* bytes of an instruction */ };

/* ---- instructions --------------------------------------------------------------------------- */

/* Bytes of the value that follows. Z: four, or two with the prefix 66. */
enum immediate { NONE, BYTE, Z };
enum effect { STORES = CODE_STORE, MODIFIES = CODE_MODIFY, EXCHANGES = CODE_ATOMIC };

/* Opcodes first to last of a map whose operand in memory is written, where bits 3 to 5 of ModRM, if they
 * belong to the opcode, are among `of`. */
struct opcodes {
	uint8_t first, last, of, immediate, effect;
};

enum { ANY = 0xff };

static const struct opcodes one_byte[] = {
	{ 0x00, 0x01, ANY, NONE, MODIFIES },  /* add */
	{ 0x08, 0x09, ANY, NONE, MODIFIES },  /* or */
	{ 0x10, 0x11, ANY, NONE, MODIFIES },  /* adc */
	{ 0x18, 0x19, ANY, NONE, MODIFIES },  /* sbb */
	{ 0x20, 0x21, ANY, NONE, MODIFIES },  /* and */
	{ 0x28, 0x29, ANY, NONE, MODIFIES },  /* sub */
	{ 0x30, 0x31, ANY, NONE, MODIFIES },  /* xor */
	{ 0x80, 0x80, 0x7f, BYTE, MODIFIES }, /* the same of a value; 7 compares */
	{ 0x81, 0x81, 0x7f, Z, MODIFIES },    /* ... */
	{ 0x83, 0x83, 0x7f, BYTE, MODIFIES }, /* ... */
	{ 0x86, 0x87, ANY, NONE, EXCHANGES }, /* xchg */
	{ 0x88, 0x89, ANY, NONE, STORES },    /* mov */
	{ 0xc0, 0xc1, ANY, BYTE, MODIFIES },  /* shifts */
	{ 0xc6, 0xc6, 0x01, BYTE, STORES },   /* mov of a value */
	{ 0xc7, 0xc7, 0x01, Z, STORES },      /* ... */
	{ 0xd0, 0xd3, ANY, NONE, MODIFIES },  /* shifts */
	{ 0xf6, 0xf7, 0x0c, NONE, MODIFIES }, /* not, neg */
	{ 0xfe, 0xff, 0x03, NONE, MODIFIES }, /* inc, dec */
};

/* After 0f. */
static const struct opcodes two_byte[] = {
	{ 0x11, 0x11, ANY, NONE, STORES },    /* movups and its like */
	{ 0x13, 0x13, ANY, NONE, STORES },    /* movlps */
	{ 0x17, 0x17, ANY, NONE, STORES },    /* movhps */
	{ 0x29, 0x29, ANY, NONE, STORES },    /* movaps */
	{ 0x2b, 0x2b, ANY, NONE, STORES },    /* movntps */
	{ 0x7e, 0x7f, ANY, NONE, STORES },    /* movd, movdqa */
	{ 0x90, 0x9f, ANY, NONE, STORES },    /* setcc */
	{ 0xab, 0xab, ANY, NONE, MODIFIES },  /* bts */
	{ 0xb0, 0xb1, ANY, NONE, MODIFIES },  /* cmpxchg */
	{ 0xb3, 0xb3, ANY, NONE, MODIFIES },  /* btr */
	{ 0xba, 0xba, 0xe0, BYTE, MODIFIES }, /* bts, btr, btc of a value */
	{ 0xbb, 0xbb, ANY, NONE, MODIFIES },  /* btc */
	{ 0xc0, 0xc1, ANY, NONE, MODIFIES },  /* xadd */
	{ 0xc3, 0xc3, ANY, NONE, STORES },    /* movnti */
	{ 0xc7, 0xc7, 0x02, NONE, MODIFIES }, /* cmpxchg8b, cmpxchg16b */
	{ 0xd6, 0xd6, ANY, NONE, STORES },    /* movq */
	{ 0xe7, 0xe7, ANY, NONE, STORES },    /* movntq */
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct opcodes *find_opcode(const struct opcodes *map, size_t count, uint8_t opcode,
					 unsigned extension)
{
	for (size_t k = 0; k < count; k++)
		if (opcode >= map[k].first && opcode <= map[k].last && map[k].of >> extension & 1)
			return &map[k];
	return NULL;
}

/* Bytes of ModRM and what of the address follows it; 0 where the operand is a register. `next` is
 * the byte after ModRM. */
static size_t address_length(uint8_t modrm, uint8_t next)
{
	unsigned mode = modrm >> 6, base = modrm & 7;
	size_t sib = base == 4;

	if (mode == 3)
		return 0;
	if (sib)
		base = next & 7;
	return 1 + sib + (mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0);
}

struct prefixes {
	size_t length;
	bool lock, short_value;
};

static struct prefixes read_prefixes(const uint8_t *bytes, size_t length)
{
	static const uint8_t all[] = { 0xf0, 0x66, 0xf2, 0xf3, 0x64, 0x65 };
	struct prefixes prefixes = { 0 };

	for (; prefixes.length < length; prefixes.length++) {
		uint8_t byte = bytes[prefixes.length];

		if (!memchr(all, byte, sizeof(all)))
			break;
		prefixes.lock |= byte == 0xf0;
		prefixes.short_value |= byte == 0x66;
	}
	prefixes.length += prefixes.length < length && (bytes[prefixes.length] & 0xf0) == 0x40;
	return prefixes;
}

/* What the instruction does that takes up just these bytes. */
static enum code_write parse(const uint8_t *bytes, size_t length, bool *lock)
{
	struct prefixes prefixes = read_prefixes(bytes, length);
	size_t at = prefixes.length, address;
	bool second = at < length && bytes[at] == 0x0f;
	const struct opcodes *opcode;

	at += second;
	if (at + 2 > length)
		return CODE_UNKNOWN;
	opcode = find_opcode(second ? two_byte : one_byte,
			     second ? COUNT(two_byte) : COUNT(one_byte), bytes[at],
			     bytes[at + 1] >> 3 & 7);
	address = address_length(bytes[at + 1], at + 2 < length ? bytes[at + 2] : 0);
	if (!opcode || !address)
		return CODE_UNKNOWN;
	at += 1 + address;
	if (opcode->immediate != NONE)
		at += opcode->immediate == BYTE ? 1 : prefixes.short_value ? 2 : 4;
	if (at != length || (prefixes.lock && opcode->effect == STORES))
		return CODE_UNKNOWN;
	*lock = prefixes.lock;
	return prefixes.lock ? CODE_ATOMIC : (enum code_write)opcode->effect;
}

/* A prefix f0 is rarely anything else; and what is added to is mostly 00 or 01, as bytes of
 * displacements and values often are: hence this order, and not the longest. */
static unsigned confidence(enum code_write write, bool lock)
{
	static const unsigned of[] = { [CODE_UNKNOWN] = 0,
				       [CODE_MODIFY] = 1,
				       [CODE_ATOMIC] = 2, /* xchg */
				       [CODE_STORE] = 3 };

	return lock ? 4 : of[write];
}

enum code_write code_write_before(const uint8_t *bytes, size_t length)
{
	enum code_write best = CODE_UNKNOWN;
	unsigned most = 0;

	for (size_t k = 1; k <= LENGTH_MOST && k <= length; k++) {
		const uint8_t *start = bytes + length - k;
		bool lock = false;
		enum code_write write = parse(start, k, &lock);
		unsigned sure = confidence(write, lock);

		if (sure > most) {
			best = write;
			most = sure;
		}
	}
	return best;
}

/* ---- programs ------------------------------------------------------------------------------- */

struct code {
	struct elf_file elf;
	uint64_t base;
};

struct code *code_open(const char *path, uint64_t base, struct error *error)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code) {
		error_set(error, "out of memory");
		return NULL;
	}
	code->base = base;
	if (elf_file_open(&code->elf, path, error))
		return code;
	free(code);
	return NULL;
}

void code_close(struct code *code)
{
	if (!code)
		return;
	elf_file_close(&code->elf);
	free(code);
}

enum code_write code_write_at(const struct code *code, uint64_t ip)
{
	uint8_t bytes[LENGTH_MOST];
	uint64_t end = ip - code->base;
	size_t count;

	if (code->elf.header.e_machine != EM_X86_64 || elf_getphdrnum(code->elf.elf, &count))
		return CODE_UNKNOWN;
	for (size_t k = 0; k < count; k++) {
		GElf_Phdr segment;
		uint64_t into;
		ssize_t length;

		if (!gelf_getphdr(code->elf.elf, (int)k, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || end <= segment.p_vaddr ||
		    end - segment.p_vaddr > segment.p_filesz)
			continue;
		into = end - segment.p_vaddr;
		length = into < LENGTH_MOST ? (ssize_t)into : LENGTH_MOST;
		if (pread(code->elf.file, bytes, (size_t)length,
			  (off_t)(segment.p_offset + into) - length) == length)
			return code_write_before(bytes, (size_t)length);
	}
	return CODE_UNKNOWN;
}
