/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all readers of captures stand on: bytes and lines of files, packed ones too; numbers in text;
 * and what is counted of any capture. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include "trace/scan.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { MIB = 1 << 20 };

/* ---- helpers -------------------------------------------------------------------------------- */

struct bytes {
	char *at;
	size_t length;
};

static void add(struct bytes *bytes, const void *more, size_t length)
{
	bytes->at = realloc(bytes->at, bytes->length + length + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes->at);
	if (length)
		memcpy(bytes->at + bytes->length, more, length);
	bytes->length += length;
}

/* The byte at any offset of a long file: of a period that divides no power of two. */
static char pattern(uint64_t offset)
{
	return (char)('a' + offset % 23);
}

static struct bytes patterned(size_t length)
{
	struct bytes bytes = { malloc(length), length };

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes.at);
	for (size_t k = 0; k < length; k++)
		bytes.at[k] = pattern(k);
	return bytes;
}

/* One gzip member, or one zstd frame, that holds these bytes. */
static void add_gzip(struct bytes *to, const void *from, size_t length)
{
	uLong most = compressBound(length) + 32;
	Bytef *packed = malloc(most);
	z_stream stream = { .next_in = (z_const Bytef *)(uintptr_t)from,
			    .avail_in = (uInt)length,
			    .next_out = packed,
			    .avail_out = (uInt)most };

	CU_ASSERT_EQUAL_FATAL(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			      Z_OK);
	CU_ASSERT_EQUAL(deflate(&stream, Z_FINISH), Z_STREAM_END);
	add(to, packed, stream.total_out);
	deflateEnd(&stream);
	free(packed);
}

static void add_zstd(struct bytes *to, const void *from, size_t length)
{
	size_t most = ZSTD_compressBound(length), used;
	void *packed = malloc(most);

	CU_ASSERT_PTR_NOT_NULL_FATAL(packed);
	used = ZSTD_compress(packed, most, from, length, 1);
	CU_ASSERT_FALSE(ZSTD_isError(used));
	add(to, packed, used);
	free(packed);
}

typedef void add_packed(struct bytes *to, const void *from, size_t length);

static const struct {
	const char *name;
	add_packed *add;
} packings[] = { { "gzip", add_gzip }, { "zstd", add_zstd } };

enum { PACKINGS = sizeof(packings) / sizeof(*packings) };

static void file_of(const char *name, const struct bytes *bytes)
{
	FILE *file = fopen(path_of(name), "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fwrite(bytes->at, 1, bytes->length, file), bytes->length);
	fclose(file);
}

/* The same bytes as a file and in memory. */
static struct input *open_either(bool in_memory, const struct bytes *bytes)
{
	struct error error = { "" };
	struct input *input;

	if (in_memory) {
		input = input_open_memory("t", bytes->at, bytes->length, &error);
	} else {
		file_of("t", bytes);
		input = input_open(path_of("t"), &error);
	}
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(input);
	return input;
}

static void expect_line(struct input *input, const void *bytes, size_t length)
{
	struct error error = { "" };
	struct text line;

	CU_ASSERT_TRUE_FATAL(input_line(input, &line, &error));
	CU_ASSERT_EQUAL(line.length, length);
	CU_ASSERT(line.length == length && !memcmp(line.at, bytes, length));
}

/* The end: of a file that could be read `error` is empty, else a single line that begins so. */
static void expect_end(struct input *input, const char *begins)
{
	struct error error = { "" };
	struct text line;
	bool right;

	CU_ASSERT_FALSE(input_line(input, &line, &error));
	right = *begins ? !strncmp(error.text, begins, strlen(begins)) : !error.text[0];
	CU_ASSERT(right);
	if (!right)
		printf("\n  got: %s\n want: %s\n", error.text, begins);
	CU_ASSERT_PTR_NULL(strchr(error.text, '\n'));
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void test_lines_end_with_lf_or_crlf_or_the_file(void)
{
	static const char text[] = "one\ntwo\r\n\n\r\nmid\rdle\nnul\0nul\nlast";

	for (int in_memory = 0; in_memory < 2; in_memory++) {
		struct bytes bytes = { (char *)(uintptr_t)text, sizeof(text) - 1 };
		struct input *input = open_either(in_memory, &bytes);

		CU_ASSERT_EQUAL(input_line_number(input), 0);
		expect_line(input, "one", 3);
		expect_line(input, "two", 3);
		expect_line(input, "", 0);
		expect_line(input, "", 0);
		expect_line(input, "mid\rdle", 7);
		expect_line(input, "nul\0nul", 7);
		CU_ASSERT_EQUAL(input_line_number(input), 6);
		expect_line(input, "last", 4);
		expect_end(input, "");
		expect_end(input, "");
		CU_ASSERT_EQUAL(input_line_number(input), 7);
		CU_ASSERT_EQUAL(input_offset(input), sizeof(text) - 1);
		input_close(input);
	}
}

/* Between two short lines, so that the long one lies nowhere in particular. */
static void read_long_line(bool in_memory, size_t length, const char *ending, bool fits)
{
	struct bytes bytes = { NULL, 0 }, line = patterned(length);
	struct input *input;

	add(&bytes, "first\n", 6);
	add(&bytes, line.at, length);
	add(&bytes, ending, strlen(ending));
	if (*ending)
		add(&bytes, "after", 5);
	input = open_either(in_memory, &bytes);
	expect_line(input, "first", 5);
	if (fits) {
		expect_line(input, line.at, length);
		if (*ending)
			expect_line(input, "after", 5);
		expect_end(input, "");
	} else {
		char place[280];

		snprintf(place, sizeof(place), "%s:2:1: a line of more than 64 KiB",
			 input_name(input));
		expect_end(input, place);
	}
	input_close(input);
	free(bytes.at);
	free(line.at);
}

static void test_the_longest_line_is_read_and_one_longer_refused(void)
{
	static const char *const endings[] = { "\n", "\r\n", "" };

	for (int in_memory = 0; in_memory < 2; in_memory++)
		for (size_t k = 0; k < sizeof(endings) / sizeof(*endings); k++) {
			read_long_line(in_memory, INPUT_LINE_MOST, endings[k], true);
			read_long_line(in_memory, INPUT_LINE_MOST + 1, endings[k], false);
			read_long_line(in_memory, 3 * MIB, endings[k], false);
		}
}

/* Lines of growing length, some of which lie across the ends of windows. */
static void test_lines_across_windows(void)
{
	struct bytes line = patterned(4000), bytes = { NULL, 0 };

	for (size_t length = 0; length < 4000; length += 3) {
		add(&bytes, line.at, length);
		add(&bytes, "\r\n", 2);
	}
	CU_ASSERT_FATAL(bytes.length > 2 * MIB);
	for (int in_memory = 0; in_memory < 2; in_memory++) {
		struct input *input = open_either(in_memory, &bytes);

		for (size_t length = 0; length < 4000; length += 3)
			expect_line(input, line.at, length);
		expect_end(input, "");
		input_close(input);
	}
	free(bytes.at);
	free(line.at);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void expect_ahead(struct input *input, uint64_t offset, size_t wanted, size_t there)
{
	const unsigned char *bytes;
	size_t got = input_peek(input, wanted, &bytes), wrong = 0;

	CU_ASSERT_EQUAL(got, there);
	CU_ASSERT_EQUAL(input_offset(input), offset);
	for (size_t k = 0; k < got; k++)
		wrong += bytes[k] != (unsigned char)pattern(offset + k);
	CU_ASSERT_EQUAL(wrong, 0);
}

static void skip(struct input *input, uint64_t bytes)
{
	struct error error = { "" };

	CU_ASSERT(input_skip(input, bytes, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
}

static void test_peek_and_skip_over_windows(void)
{
	const size_t length = 3 * MIB + 100;
	struct bytes plain = patterned(length), packed[1 + PACKINGS] = { plain };
	struct error error;

	for (int k = 0; k < PACKINGS; k++)
		packings[k].add(&packed[1 + k], plain.at, plain.length);
	for (int k = 0; k < 2 * (1 + PACKINGS); k++) {
		struct input *input = open_either(k % 2, &packed[k / 2]);

		expect_ahead(input, 0, INPUT_PEEK_MOST, INPUT_PEEK_MOST);
		skip(input, MIB - 10);
		expect_ahead(input, MIB - 10, INPUT_PEEK_MOST, INPUT_PEEK_MOST);
		expect_ahead(input, MIB - 10, 1, 1);
		skip(input, 2 * MIB);
		expect_ahead(input, 3 * MIB - 10, INPUT_PEEK_MOST, 110);
		skip(input, 110);
		expect_ahead(input, length, 10, 0);
		error.text[0] = '\0';
		CU_ASSERT_FALSE(input_skip(input, 1, &error));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, ": ends at byte 3145828, "));
		input_close(input);
	}
	for (int k = 0; k < 1 + PACKINGS; k++)
		free(packed[k].at);
}

static void seek(struct input *input, uint64_t offset)
{
	struct error error = { "" };

	CU_ASSERT(input_seek(input, offset, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
}

static void test_seek_forth_and_back_and_no_further_than_the_end(void)
{
	const size_t length = 3 * MIB;
	struct bytes bytes = patterned(length);
	struct error error = { "" };

	for (int in_memory = 0; in_memory < 2; in_memory++) {
		struct input *input = open_either(in_memory, &bytes);

		CU_ASSERT_EQUAL(input_size(input), length);
		seek(input, 100);
		expect_ahead(input, 100, 1000, 1000);
		seek(input, 2 * MIB + 1);
		expect_ahead(input, 2 * MIB + 1, 1000, 1000);
		seek(input, 2 * MIB + 501);
		expect_ahead(input, 2 * MIB + 501, 1000, 1000);
		seek(input, 7);
		expect_ahead(input, 7, INPUT_PEEK_MOST, INPUT_PEEK_MOST);
		seek(input, length);
		expect_ahead(input, length, 10, 0);
		seek(input, length - 3);
		expect_ahead(input, length - 3, 10, 3);
		error.text[0] = '\0';
		CU_ASSERT_FALSE(input_seek(input, length + 1, &error));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no byte 3145729 to go to"));
		input_close(input);
	}
	free(bytes.at);
}

static void test_packed_files_have_no_size_and_no_seek(void)
{
	for (int k = 0; k < 2 * PACKINGS; k++) {
		struct bytes bytes = { NULL, 0 };
		struct error error = { "" };
		struct input *input;

		packings[k / 2].add(&bytes, "text\n", 5);
		input = open_either(k % 2, &bytes);
		CU_ASSERT_EQUAL(input_size(input), 0);
		CU_ASSERT_FALSE(input_seek(input, 0, &error));
		CU_ASSERT(error.text[0]);
		input_close(input);
		free(bytes.at);
	}
}

/* ---- packed --------------------------------------------------------------------------------- */

/* Sizes about the window's and the packed buffer's, which are powers of two, and none at all. */
static void test_packed_files_of_awkward_sizes(void)
{
	static const size_t sizes[] = { 0,       1,   (256 << 10) - 1, 256 << 10,
					MIB - 1, MIB, MIB + 1,         2 * MIB };
	struct bytes plain = patterned(2 * MIB);

	for (size_t k = 0; k < 2 * PACKINGS * sizeof(sizes) / sizeof(*sizes); k++) {
		struct bytes bytes = { NULL, 0 };
		size_t size = sizes[k / (2 * PACKINGS)];
		struct input *input;

		packings[k / 2 % PACKINGS].add(&bytes, plain.at, size);
		input = open_either(k % 2, &bytes);
		skip(input, size ? size - 1 : 0);
		expect_ahead(input, size ? size - 1 : 0, 10, size ? 1 : 0);
		skip(input, size ? 1 : 0);
		expect_end(input, "");
		input_close(input);
		free(bytes.at);
	}
	free(plain.at);
}

static void test_packed_members_follow_each_other(void)
{
	for (int k = 0; k < 2 * PACKINGS; k++) {
		struct bytes bytes = { NULL, 0 };
		struct input *input;

		packings[k / 2].add(&bytes, "one\ntw", 6);
		packings[k / 2].add(&bytes, "", 0);
		packings[k / 2].add(&bytes, "o\nthree\n", 8);
		input = open_either(k % 2, &bytes);
		expect_line(input, "one", 3);
		expect_line(input, "two", 3);
		expect_line(input, "three", 5);
		expect_end(input, "");
		input_close(input);
		free(bytes.at);
	}
}

/* Reads lines to the end; the error, empty if there is none. */
static struct error read_all(const struct bytes *bytes, bool in_memory)
{
	struct input *input = open_either(in_memory, bytes);
	struct error error = { "" };
	struct text line;

	while (input_line(input, &line, &error))
		;
	CU_ASSERT_PTR_NULL(strchr(error.text, '\n'));
	input_close(input);
	return error;
}

static void test_packed_files_cut_off_anywhere_are_refused(void)
{
	for (int k = 0; k < PACKINGS; k++) {
		struct bytes bytes = { NULL, 0 };

		packings[k].add(&bytes, "some lines\nof text\nthat is packed\n", 34);
		for (size_t length = 5; length <= bytes.length; length++) {
			struct bytes cut = { bytes.at, length };
			struct error error = read_all(&cut, length % 2);

			CU_ASSERT_EQUAL(!error.text[0], length == bytes.length);
			if (length < bytes.length)
				CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "it ends too soon"));
		}
		free(bytes.at);
	}
}

static void test_packed_files_that_are_corrupt_are_refused(void)
{
	for (int k = 0; k < PACKINGS; k++) {
		struct bytes plain = patterned(100000), bytes = { NULL, 0 };
		struct error error;

		for (size_t at = 99; at < plain.length; at += 100)
			plain.at[at] = '\n';
		packings[k].add(&bytes, plain.at, plain.length);
		add(&bytes, "no member of any kind", 21);
		error = read_all(&bytes, k);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "but corrupt: "));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, packings[k].name));
		free(bytes.at);
		free(plain.at);
	}
}

/* All lines before the damage are read: what was met when looking ahead comes last. */
static void test_what_lies_before_the_damage_is_read(void)
{
	struct bytes bytes = { NULL, 0 };
	struct input *input;

	add_gzip(&bytes, "one\ntwo\n", 8);
	add(&bytes, "\x1f\x8b\x08garbage", 10);
	input = open_either(false, &bytes);
	expect_line(input, "one", 3);
	expect_line(input, "two", 3);
	expect_end(input, input_name(input));
	input_close(input);
	free(bytes.at);
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* In a process of its own, whose peak is its own. 0: all bytes read, in less than 32 MiB more than before. */
static int read_in_child(const char *path, uint64_t length)
{
	pid_t child;
	int status = -1;

	fflush(NULL);
	child = fork();
	if (!child) {
		long before = peak_kib();
		struct error error = { "" };
		struct input *input = input_open(path, &error);
		bool done = input && input_skip(input, length, &error) &&
			    input_offset(input) == length && !input_skip(input, 1, &error);

		_exit(!done ? 1 : peak_kib() - before >= 32 << 10 ? 2 : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_a_bomb_is_read_in_constant_memory(void)
{
	const size_t length = 128 * MIB;
	void *zeros = calloc(1, length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(zeros);
	for (int k = 0; k < PACKINGS; k++) {
		struct bytes bytes = { NULL, 0 };

		packings[k].add(&bytes, zeros, length);
		file_of("bomb", &bytes);
		CU_ASSERT(bytes.length < MIB);
		CU_ASSERT_EQUAL(read_in_child(path_of("bomb"), length), 0);
		free(bytes.at);
	}
	free(zeros);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void test_what_is_no_file_is_refused(void)
{
	static const struct {
		const char *name, *reason;
	} cases[] = { { "missing", "No such file" },
		      { "fifo", "not a regular file" },
		      { "directory", "not a regular file" } };

	CU_ASSERT_EQUAL(mkfifo(path_of("fifo"), 0600), 0);
	CU_ASSERT_EQUAL(mkdir(path_of("directory"), 0700), 0);
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		const char *path = path_of(cases[k].name);
		struct error error = { "" };

		CU_ASSERT_PTR_NULL(input_open(path, &error));
		CU_ASSERT_EQUAL(strncmp(error.text, path, strlen(path)), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, cases[k].reason));
		CU_ASSERT_PTR_NULL(strchr(error.text, '\n'));
	}
}

/* ---- numbers -------------------------------------------------------------------------------- */

enum number { DECIMAL, HEX, SECONDS };

static const struct {
	const char *text;
	enum number number;
	bool good;
	uint64_t value;
	size_t taken; /* characters */
} numbers[] = {
	{ "0", DECIMAL, true, 0, 1 },
	{ "007x", DECIMAL, true, 7, 3 },
	{ "18446744073709551615", DECIMAL, true, UINT64_MAX, 20 },
	{ "18446744073709551616", DECIMAL, false, 0, 0 },
	{ "18446744073709551620", DECIMAL, false, 0, 0 },
	{ "184467440737095516150", DECIMAL, false, 0, 0 },
	{ "000000000000000000000000000001", DECIMAL, true, 1, 30 },
	{ "", DECIMAL, false, 0, 0 },
	{ "-1", DECIMAL, false, 0, 0 },
	{ "+1", DECIMAL, false, 0, 0 },
	{ " 1", DECIMAL, false, 0, 0 },
	{ "ff", HEX, true, 255, 2 },
	{ "0xFf ", HEX, true, 255, 4 },
	{ "0Xa", HEX, true, 10, 3 },
	{ "0x", HEX, true, 0, 1 }, /* the digit 0, and an x after it */
	{ "0xg", HEX, true, 0, 1 },
	{ "x1", HEX, false, 0, 0 },
	{ "g", HEX, false, 0, 0 },
	{ "", HEX, false, 0, 0 },
	{ "ffffffffffffffff", HEX, true, UINT64_MAX, 16 },
	{ "0xffffffffffffffff", HEX, true, UINT64_MAX, 18 },
	{ "0x10000000000000000", HEX, false, 0, 0 },
	{ "10000000000000000", HEX, false, 0, 0 },
	{ "00000000000000000001", HEX, true, 1, 20 },
	{ "@", HEX, false, 0, 0 }, /* between digits and letters */
	{ "`", HEX, false, 0, 0 },
	{ "1.5", SECONDS, true, 1500000000, 3 },
	{ "0.000000001", SECONDS, true, 1, 11 },
	{ "12.12", SECONDS, true, 12120000000, 5 },
	{ "12.123", SECONDS, true, 12123000000, 6 },
	{ "12.1234", SECONDS, true, 12123400000, 7 },
	{ "12.12345", SECONDS, true, 12123450000, 8 },
	{ "12.123456:", SECONDS, true, 12123456000, 9 },
	{ "12.1234567", SECONDS, true, 12123456700, 10 },
	{ "12.12345678", SECONDS, true, 12123456780, 11 },
	{ "12.123456789", SECONDS, true, 12123456789, 12 },
	{ "12.1234567890", SECONDS, false, 0, 0 },
	{ "12", SECONDS, false, 0, 0 },
	{ "12.", SECONDS, false, 0, 0 },
	{ ".5", SECONDS, false, 0, 0 },
	{ "-1.5", SECONDS, false, 0, 0 },
	{ "18446744073.709551615", SECONDS, true, UINT64_MAX, 21 },
	{ "18446744073.709551616", SECONDS, false, 0, 0 },
	{ "18446744074.0", SECONDS, false, 0, 0 },
};

static void test_numbers(void)
{
	static bool (*const scans[])(struct scan *, uint64_t *) = {
		[DECIMAL] = scan_decimal, [HEX] = scan_hex, [SECONDS] = scan_seconds
	};

	for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
		size_t length = strlen(numbers[k].text);
		char *text = malloc(length + 1); /* with nothing behind it that may be read */
		struct scan scan = { text, text + length };
		uint64_t value = 0;
		bool good;

		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		memcpy(text, numbers[k].text, length);
		good = scans[numbers[k].number](&scan, &value);
		CU_ASSERT_EQUAL(good, numbers[k].good);
		CU_ASSERT_EQUAL(value, numbers[k].value);
		CU_ASSERT_EQUAL((size_t)(scan.at - text), numbers[k].taken);
		free(text);
	}
}

/* ---- any capture ---------------------------------------------------------------------------- */

static struct trace_summary summary;

/* Reads a text in hitm's own form. Returns the last step. */
static enum trace_step summarise(const char *text, struct error *error)
{
	struct trace *trace;
	struct trace_record record;
	enum trace_step step;

	*error = (struct error){ "" };
	trace = trace_open_memory("t", text, strlen(text), "trace", error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	while ((step = trace_next(trace, &record, error)) == STEP_RECORD)
		;
	summary = *trace_summary(trace);
	trace_close(trace);
	return step;
}

static void test_what_is_counted(void)
{
	struct error error;

	CU_ASSERT_EQUAL(summarise("# hitm-trace 1\n# kind sampled\n"
				  "500 0 1 R 0x1000 8 3 - hitm_local\n"
				  "400 3 2 W 0x1008 4 7 - -\n"
				  "600 3 2 A 0x1008 4 2 - -\n"
				  "- - - ? 0x2000 - 1\n"
				  "550 0 2 M 0x1000 8 9 - -\n"
				  "1000 0 1 R - 8 1\n",
				  &error),
			STEP_END);
	CU_ASSERT_EQUAL(summary.kind, KIND_SAMPLED);
	CU_ASSERT_EQUAL(summary.used, 5);
	CU_ASSERT_EQUAL(summary.dropped[DROP_NO_ADDRESS], 1);
	CU_ASSERT_EQUAL(summary.read, 6);
	for (int op = 0; op < TRACE_OPS; op++)
		CU_ASSERT_EQUAL(summary.ops[op], 1);
	CU_ASSERT_EQUAL(summary.sources[SOURCE_HITM_LOCAL], 1);
	CU_ASSERT_EQUAL(summary.sources[SOURCE_UNKNOWN], 4);
	CU_ASSERT_EQUAL(summary.weight, 3 + 7 + 2 + 1 + 9);
	CU_ASSERT_EQUAL(summary.weight_low, 1);
	CU_ASSERT_EQUAL(summary.weight_high, 9);
	CU_ASSERT_EQUAL(summary.threads, 2);
	CU_ASSERT_EQUAL(summary.cpus, 2);
	CU_ASSERT_EQUAL(summary.without_time, 1);
	CU_ASSERT_EQUAL(summary.without_cpu, 1);
	CU_ASSERT_EQUAL(summary.without_tid, 1);
	CU_ASSERT_EQUAL(summary.without_size, 1);
	CU_ASSERT_EQUAL(summary.first_time, 400);
	CU_ASSERT_EQUAL(summary.last_time, 600);
}

/* 400 after 500 of another thread; 550 after 600 of its own. The same again is not backwards. */
/* perf prints what it does not know as -1 in 32 bits. */
static void test_a_number_beyond_all_cpus_is_none(void)
{
	static const char text[] = " a 1/1 [4294967295] 1.000001: 1 cpu/mem-loads/P: 7f0000000008 "
				   "68100142 |OP LOAD| 7 401000 f+0x1 (p)\n";
	struct error error = { "" };
	struct trace *trace = trace_open_memory("t", text, strlen(text), "perf-script", &error);
	struct trace_record record;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_next(trace, &record, &error), STEP_RECORD);
	CU_ASSERT_EQUAL(record.known & KNOWN_CPU, 0);
	CU_ASSERT_EQUAL(record.cpu, 0);
	CU_ASSERT_EQUAL(trace_summary(trace)->without_cpu, 1);
	trace_close(trace);
}

static void test_times_that_go_backwards_are_counted(void)
{
	struct error error;

	summarise("# hitm-trace 1\n# kind complete\n"
		  "500 0 1 R 0x1000 8 1\n400 1 2 R 0x1000 8 1\n600 1 2 R 0x1000 8 1\n"
		  "550 1 2 R 0x1000 8 1\n550 1 2 R 0x1000 8 1\n"
		  "550 0 1 R 0x1000 8 1\n",
		  &error);
	CU_ASSERT_EQUAL(summary.backwards, 2);
	CU_ASSERT_EQUAL(summary.backwards_in_thread, 1);
}

static void test_weights_add_up_to_64_bits_at_most(void)
{
	struct error error;

	summarise("# hitm-trace 1\n# kind sampled\n"
		  "1 0 1 R 0x1000 8 18446744073709551615\n2 0 1 R 0x1000 8 5\n",
		  &error);
	CU_ASSERT_EQUAL(summary.weight, UINT64_MAX);
	CU_ASSERT_EQUAL(summary.used, 2);
}

static void test_too_many_threads_are_refused(void)
{
	struct bytes bytes = { NULL, 0 };
	struct error error;
	char line[64];

	add(&bytes, "# hitm-trace 1\n# kind complete\n", 31);
	bytes.at = realloc(bytes.at, 4 * MIB);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes.at);
	for (uint32_t k = 0; k <= TRACE_THREADS_MAX; k++) {
		size_t length = (size_t)snprintf(line, sizeof(line), "1 0 %u R 0x1000 8 1\n",
						 k * 2654435761u % 4000000007u);

		memcpy(bytes.at + bytes.length, line, length + 1);
		bytes.length += length;
	}
	CU_ASSERT_EQUAL(summarise(bytes.at, &error), STEP_FAILED);
	CU_ASSERT_STRING_EQUAL(error.text, "t: more than 65536 threads");
	CU_ASSERT_EQUAL(summary.used, TRACE_THREADS_MAX);
	*strrchr(bytes.at, '\n') = '\0';
	strrchr(bytes.at, '\n')[1] = '\0'; /* without the last line */
	CU_ASSERT_EQUAL(summarise(bytes.at, &error), STEP_END);
	CU_ASSERT_EQUAL(summary.threads, TRACE_THREADS_MAX);
	free(bytes.at);
}

static void test_notes_are_kept_once(void)
{
	static const char text[] = "# hitm-trace 1\n# kind complete\n";
	struct error error = { "" };
	struct trace *trace = trace_open_memory("t", text, sizeof(text) - 1, "trace", &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	for (int k = 0; k < 100; k++)
		trace_note(trace, "note %d", k / 10);
	CU_ASSERT_EQUAL(trace_summary(trace)->note_count, 10);
	CU_ASSERT_STRING_EQUAL(trace_summary(trace)->notes[9], "note 9");
	for (int k = 0; k < 100; k++)
		trace_note(trace, "more %d%300d", k, k);
	CU_ASSERT_EQUAL(trace_summary(trace)->note_count, SUMMARY_NOTES);
	trace_close(trace);
}

void suite_input(void)
{
	CU_pSuite suite = CU_add_suite("input", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, test_lines_end_with_lf_or_crlf_or_the_file);
	CU_ADD_TEST(suite, test_the_longest_line_is_read_and_one_longer_refused);
	CU_ADD_TEST(suite, test_lines_across_windows);
	CU_ADD_TEST(suite, test_peek_and_skip_over_windows);
	CU_ADD_TEST(suite, test_seek_forth_and_back_and_no_further_than_the_end);
	CU_ADD_TEST(suite, test_packed_files_have_no_size_and_no_seek);
	CU_ADD_TEST(suite, test_packed_files_of_awkward_sizes);
	CU_ADD_TEST(suite, test_packed_members_follow_each_other);
	CU_ADD_TEST(suite, test_packed_files_cut_off_anywhere_are_refused);
	CU_ADD_TEST(suite, test_packed_files_that_are_corrupt_are_refused);
	CU_ADD_TEST(suite, test_what_lies_before_the_damage_is_read);
	CU_ADD_TEST(suite, test_a_bomb_is_read_in_constant_memory);
	CU_ADD_TEST(suite, test_what_is_no_file_is_refused);
	CU_ADD_TEST(suite, test_numbers);
	CU_ADD_TEST(suite, test_what_is_counted);
	CU_ADD_TEST(suite, test_a_number_beyond_all_cpus_is_none);
	CU_ADD_TEST(suite, test_times_that_go_backwards_are_counted);
	CU_ADD_TEST(suite, test_weights_add_up_to_64_bits_at_most);
	CU_ADD_TEST(suite, test_too_many_threads_are_refused);
	CU_ADD_TEST(suite, test_notes_are_kept_once);
}
