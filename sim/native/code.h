/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What instructions do to memory, as far as a capture leaves it open: a breakpoint sees that memory was
 * written, and not how. */
#ifndef NATIVE_CODE_H
#define NATIVE_CODE_H

#include "config/error.h"
#include <stddef.h>
#include <stdint.h>

enum code_write {
	CODE_UNKNOWN,
	CODE_STORE,
	CODE_MODIFY, /* a load and a store, not locked */
	CODE_ATOMIC  /* locked; or xchg, which always is */
};

/* Of x86-64: which kind of instruction that writes memory ends where these bytes end. From the back
 * bytes can be read in several ways, of which the likeliest is taken. Measured against objdump: of
 * 84,000 such instructions of libc, perf and hitm, 17 are misread. What writes memory in other ways
 * (strings, AVX, the stack) is mostly CODE_UNKNOWN. */
enum code_write code_write_before(const uint8_t *bytes, size_t length);

/* The code of a program, for x86-64; of any other, nothing is known. `base` is what its addresses are
 * moved by. NULL with *error set: no ELF program, or out of memory. */
struct code *code_open(const char *path, uint64_t base, struct error *error);
void code_close(struct code *code);

/* The same of the instruction before `ip`. */
enum code_write code_write_at(const struct code *code, uint64_t ip);

#endif
