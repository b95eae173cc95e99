/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzz targets share. A target, tests/fuzz/fuzz_NAME.c, defines LLVMFuzzerTestOneInput:
 * libFuzzer calls it, or the driver of driver.c. It aborts where the code under test is wrong. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "config/error.h"
#include "config/yaml.h"
#include "trace/trace.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name that inputs have in messages. */
#define FUZZ_NAME "input"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints the condition that does not hold, with the message of an error or NULL, and aborts. */
void fuzz_fail(const char *file, int line, const char *what, const struct error *error)
	__attribute__((noreturn));
#define FUZZ_EXPECT(condition, error)                                     \
	do {                                                              \
		if (!(condition))                                         \
			fuzz_fail(__FILE__, __LINE__, #condition, error); \
	} while (0)

/* A refusal is one printable line that says where: `input:LINE:COLUMN: what is wrong`. */
void fuzz_expect_refusal(const struct error *error);
/* A place that is no line: `input: what is wrong`, or one of another source than the input. */
void fuzz_expect_message(const struct error *error);

/* Parses text that must be right. */
struct document *fuzz_document(const char *name, const char *text);

/* Reads bytes as a capture of this format, to its end or to what is wrong with it. Every record is sound,
 * and counted; where `lines`, so is every line. */
void fuzz_trace(const char *format, bool lines, const uint8_t *data, size_t size);

/* The same, and what holds of this format alone; members may be NULL. */
struct fuzz_more {
	void (*record)(const struct trace_record *record);
	void (*end)(const struct trace *trace, enum trace_step step);
};
void fuzz_trace_with(const char *format, bool lines, const struct fuzz_more *more,
		     const uint8_t *data, size_t size);

#endif
