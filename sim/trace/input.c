/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/input.h"
#include "config/file.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { WINDOW = 1 << 20, PACKED = 256 << 10, PACKED_HEAD = 4 };

enum packing { PLAIN, GZIP, ZSTD };

/* What is ahead lies in [at, end): of the window, or of the memory that was given. Packed bytes wait
 * in `packed`; plain ones of a file are read into the window at once. */
struct input {
	const char *name;
	const unsigned char *at, *end;
	uint64_t end_offset; /* of `end`, after decompression */
	uint64_t line_number;
	int fd; /* -1: memory, all of it ahead from the start */
	bool regular, ended;
	uint64_t size;
	enum packing packing;
	bool frame_open; /* packed, and inside a frame: an end here would be too soon */
	z_stream gzip;
	ZSTD_DStream *zstd;
	const unsigned char *packed, *packed_end;
	unsigned char *packed_buffer, *window;
	struct error failure; /* met when looking ahead */
};

/* ---- bytes as they lie in the file ---------------------------------------------------------- */

/* Reads on, to at most `most` bytes. 0 at the end, or with the failure noted. */
static size_t read_file(struct input *input, unsigned char *to, size_t most)
{
	ssize_t got;

	if (input->fd < 0)
		return 0;
	do
		got = read(input->fd, to, most);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		error_set(&input->failure, "%s: %s", input->name, strerror(errno));
	return got > 0 ? (size_t)got : 0;
}

/* ---- unpacking ------------------------------------------------------------------------------ */

static bool corrupt(struct input *input, const char *why)
{
	return error_set(&input->failure, "%s: compressed with %s, but corrupt: %s", input->name,
			 input->packing == GZIP ? "gzip" : "zstd", why ? why : "no reason given");
}

static size_t unpack_gzip(struct input *input, unsigned char *to, size_t most)
{
	z_stream *gzip = &input->gzip;
	int status;

	gzip->next_in = (z_const Bytef *)(uintptr_t)input->packed;
	gzip->avail_in = (uInt)(input->packed_end - input->packed);
	gzip->next_out = to;
	gzip->avail_out = (uInt)most;
	status = inflate(gzip, Z_NO_FLUSH);
	input->packed = gzip->next_in;
	input->frame_open = status != Z_STREAM_END;
	if (status == Z_STREAM_END)
		inflateReset(gzip); /* another member may follow */
	else if (status != Z_OK && status != Z_BUF_ERROR)
		corrupt(input, gzip->msg);
	return most - gzip->avail_out;
}

static size_t unpack_zstd(struct input *input, unsigned char *to, size_t most)
{
	ZSTD_inBuffer in = { input->packed, (size_t)(input->packed_end - input->packed), 0 };
	ZSTD_outBuffer out = { to, most, 0 };
	size_t status = ZSTD_decompressStream(input->zstd, &out, &in);

	input->packed += in.pos;
	input->frame_open = status != 0;
	if (ZSTD_isError(status))
		corrupt(input, ZSTD_getErrorName(status));
	return out.pos;
}

static size_t unpack(struct input *input, unsigned char *to, size_t most)
{
	for (;;) {
		size_t got;
		bool starved = input->packed == input->packed_end;

		if (starved) {
			got = read_file(input, input->packed_buffer, PACKED);
			if (got) {
				input->packed = input->packed_buffer;
				input->packed_end = input->packed + got;
			} else if (!input->frame_open) {
				return 0;
			}
			starved = !got;
		}
		got = input->packing == GZIP ? unpack_gzip(input, to, most)
					     : unpack_zstd(input, to, most);
		if (got || input->failure.text[0])
			return got;
		if (starved) {
			corrupt(input, "it ends too soon");
			return 0;
		}
	}
}

/* ---- the window ----------------------------------------------------------------------------- */

/* Sees to it that `wanted` bytes are ahead in one piece, or all that there are. */
static void fill(struct input *input, size_t wanted)
{
	size_t ahead = (size_t)(input->end - input->at);

	if (ahead >= wanted || input->ended)
		return;
	memmove(input->window, input->at, ahead);
	input->at = input->window;
	while (ahead < wanted && !input->ended) {
		unsigned char *to = input->window + ahead;
		size_t room = WINDOW - ahead;
		size_t got = input->packing == PLAIN ? read_file(input, to, room)
						     : unpack(input, to, room);

		ahead += got;
		input->end_offset += got;
		input->ended = !got;
	}
	input->end = input->window + ahead;
}

/* After the first bytes have been seen: are they packed? */
static bool start_unpacking(struct input *input, struct error *error)
{
	static const unsigned char gzip[] = { 0x1f, 0x8b, 8 }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	size_t ahead = (size_t)(input->end - input->at);

	if (ahead >= sizeof(gzip) && !memcmp(input->at, gzip, sizeof(gzip)))
		input->packing = GZIP;
	else if (ahead >= sizeof(zstd) && !memcmp(input->at, zstd, sizeof(zstd)))
		input->packing = ZSTD;
	else
		return true;
	if (input->packing == GZIP ? inflateInit2(&input->gzip, 15 + 16) != Z_OK
				   : !(input->zstd = ZSTD_createDStream()))
		return error_set(error, "out of memory");
	if (input->fd >= 0) {
		input->packed_buffer = malloc(PACKED);
		if (!input->packed_buffer)
			return error_set(error, "out of memory");
		memcpy(input->packed_buffer, input->at, ahead);
		input->packed = input->packed_buffer;
	} else {
		input->packed = input->at;
		input->window = malloc(WINDOW);
		if (!input->window)
			return error_set(error, "out of memory");
	}
	input->packed_end = input->packed + ahead;
	input->at = input->end = input->window;
	input->end_offset = 0;
	input->ended = false;
	input->frame_open = true;
	return true;
}

/* ---- opening -------------------------------------------------------------------------------- */

static struct input *input_new(const char *name, struct error *error)
{
	struct input *input = calloc(1, sizeof(*input));

	if (input)
		input->name = strdup(name);
	if (input && input->name) {
		input->fd = -1;
		return input;
	}
	free(input);
	error_set(error, "out of memory");
	return NULL;
}

static bool open_file(struct input *input, const char *path, struct error *error)
{
	struct stat about;
	bool standard = !strcmp(path, "-");

	input->fd = standard ? dup(STDIN_FILENO) : file_open(path, error);
	if (input->fd < 0 || fstat(input->fd, &about))
		return error_set(error, "%s: %s", path, strerror(errno));
	/* Standard input is read on from where it is. */
	input->regular = !standard && S_ISREG(about.st_mode);
	input->size = input->regular ? (uint64_t)about.st_size : 0;
	input->window = malloc(WINDOW);
	if (!input->window)
		return error_set(error, "out of memory");
	input->at = input->end = input->window;
	/* As much as fits where packed bytes are kept, should these be packed. */
	size_t got = 0, more = 1;

	while (more && got < PACKED_HEAD)
		got += more = read_file(input, input->window + got, PACKED - got);
	input->end += got;
	input->end_offset = got;
	input->ended = !more;
	if (!input->failure.text[0])
		return true;
	*error = input->failure;
	return false;
}

struct input *input_open(const char *path, struct error *error)
{
	struct input *input = input_new(strcmp(path, "-") ? path : "standard input", error);

	if (input && open_file(input, path, error) && start_unpacking(input, error))
		return input;
	input_close(input);
	return NULL;
}

struct input *input_open_memory(const char *name, const void *bytes, size_t length,
				struct error *error)
{
	struct input *input = input_new(name, error);

	if (!input)
		return NULL;
	input->at = bytes;
	input->end = input->at + length;
	input->end_offset = input->size = length;
	input->regular = input->ended = true;
	if (start_unpacking(input, error))
		return input;
	input_close(input);
	return NULL;
}

void input_close(struct input *input)
{
	if (!input)
		return;
	if (input->packing == GZIP)
		inflateEnd(&input->gzip);
	ZSTD_freeDStream(input->zstd);
	if (input->fd >= 0)
		close(input->fd);
	free(input->window);
	free(input->packed_buffer);
	free((void *)(uintptr_t)input->name);
	free(input);
}

/* ---- reading -------------------------------------------------------------------------------- */

const char *input_name(const struct input *input)
{
	return input->name;
}

uint64_t input_line_number(const struct input *input)
{
	return input->line_number;
}

uint64_t input_offset(const struct input *input)
{
	return input->end_offset - (uint64_t)(input->end - input->at);
}

uint64_t input_size(const struct input *input)
{
	return input->packing == PLAIN && input->regular ? input->size : 0;
}

/* What was met when looking ahead becomes an error once all before it has been read. */
static bool report(const struct input *input, struct error *error)
{
	if (input->failure.text[0])
		*error = input->failure;
	return false;
}

static const unsigned char *line_end(const struct input *input, size_t from)
{
	size_t ahead = (size_t)(input->end - input->at);
	size_t within = ahead > INPUT_LINE_MOST + 2 ? INPUT_LINE_MOST + 2 : ahead;

	return from < within ? memchr(input->at + from, '\n', within - from) : NULL;
}

bool input_line(struct input *input, struct text *line, struct error *error)
{
	size_t ahead = (size_t)(input->end - input->at), length;
	const unsigned char *end = line_end(input, 0);

	if (!end) {
		fill(input, INPUT_LINE_MOST + 2);
		end = line_end(input, ahead);
	}
	ahead = (size_t)(input->end - input->at);
	if (!ahead)
		return report(input, error);
	length = end ? (size_t)(end - input->at) : ahead;
	*line = (struct text){ (const char *)input->at, (uint32_t)length };
	input->line_number++;
	if (length && input->at[length - 1] == '\r')
		line->length--;
	if (line->length > INPUT_LINE_MOST)
		return error_at(error, input->name, (unsigned)input->line_number, 1,
				"a line of more than %d KiB, expected a capture",
				INPUT_LINE_MOST >> 10);
	input->at += end ? length + 1 : length;
	return true;
}

size_t input_peek(struct input *input, size_t most, const unsigned char **bytes)
{
	size_t ahead;

	fill(input, most);
	ahead = (size_t)(input->end - input->at);
	*bytes = input->at;
	return ahead < most ? ahead : most;
}

bool input_failed(const struct input *input, struct error *error)
{
	report(input, error);
	return input->failure.text[0];
}

bool input_skip(struct input *input, uint64_t bytes, struct error *error)
{
	while (bytes) {
		uint64_t ahead = (uint64_t)(input->end - input->at);

		if (!ahead) {
			fill(input, 1);
			ahead = (uint64_t)(input->end - input->at);
		}
		if (!ahead)
			return input->failure.text[0]
				       ? report(input, error)
				       : error_set(error,
						   "%s: ends at byte %llu, in the middle of what "
						   "it holds",
						   input->name,
						   (unsigned long long)input_offset(input));
		if (ahead > bytes)
			ahead = bytes;
		input->at += ahead;
		bytes -= ahead;
	}
	return true;
}

bool input_seek(struct input *input, uint64_t offset, struct error *error)
{
	uint64_t ahead_from = input_offset(input);

	if (!input_size(input) || offset > input->size)
		return error_set(error, "%s: no byte %llu to go to", input->name,
				 (unsigned long long)offset);
	if (input->fd < 0) { /* all of it lies there */
		input->at = input->end - (input->size - offset);
		return true;
	}
	if (offset >= ahead_from && offset <= input->end_offset) {
		input->at += offset - ahead_from;
		return true;
	}
	if (lseek(input->fd, (off_t)offset, SEEK_SET) < 0)
		return error_set(error, "%s: %s", input->name, strerror(errno));
	input->at = input->end = input->window;
	input->end_offset = offset;
	input->ended = false;
	return true;
}

bool input_line_error(const struct input *input, unsigned column, struct error *error,
		      const char *format, ...)
{
	char text[384];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_at(error, input->name, (unsigned)input->line_number, column, "%s", text);
}

bool input_byte_error(const struct input *input, uint64_t offset, struct error *error,
		      const char *format, ...)
{
	char text[384];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_set(error, "%s: at byte %llu: %s", input->name, (unsigned long long)offset,
			 text);
}
