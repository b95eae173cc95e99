/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a capture, a window at a time: a file, standard input, or memory; gzip and zstd are
 * undone on the way. Memory stays constant, however long the capture. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include "config/error.h"
#include "trace/record.h"
#include <stdbool.h>
#include <stddef.h>

enum {
	INPUT_LINE_MOST = 64 << 10, /* bytes of a line of text */
	INPUT_PEEK_MOST = 256 << 10 /* bytes that can be had in one piece */
};

struct input;

/* Opens a regular file, or standard input where the path is "-". NULL with *error set. */
struct input *input_open(const char *path, struct error *error);
/* The same of bytes that outlive it; `name` stands for the file in messages. */
struct input *input_open_memory(const char *name, const void *bytes, size_t length,
				struct error *error);
void input_close(struct input *input);

/* The name, for messages; the number of the last line read, from 1 (0: none yet); the offset of the next
 * byte, after decompression. */
const char *input_name(const struct input *input);
uint64_t input_line_number(const struct input *input);
uint64_t input_offset(const struct input *input);

/* The next line, without its end (LF or CR LF); the last one need not have one. False at the end,
 * and with *error set where a line is longer than INPUT_LINE_MOST or the file cannot be read on.
 * The text lasts until the next call. It may hold any byte, NUL too. */
bool input_line(struct input *input, struct text *line, struct error *error);

/* Up to `most` (at most INPUT_PEEK_MOST) bytes ahead in one piece, which stay unread: *bytes points
 * to them until the next call. Returns how many there are: fewer only near the end. An error on the
 * way counts as the end; input_skip or input_line then reports it. */
size_t input_peek(struct input *input, size_t most, const unsigned char **bytes);
/* Has something been met on the way that ends what can be read too soon? True with *error set. */
bool input_failed(const struct input *input, struct error *error);
/* Passes over so many bytes. False with *error set where there are fewer. */
bool input_skip(struct input *input, uint64_t bytes, struct error *error);

/* Of an uncompressed regular file, or memory: its size and going to an offset. input_size is 0
 * where it cannot be known, and input_seek then fails. */
uint64_t input_size(const struct input *input);
bool input_seek(struct input *input, uint64_t offset, struct error *error);

/* Records `NAME:LINE:column: ...` of the last line read (column from 1), and of a byte `NAME: at
 * byte OFFSET: ...`. They return false. */
bool input_line_error(const struct input *input, unsigned column, struct error *error,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));
bool input_byte_error(const struct input *input, uint64_t offset, struct error *error,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
