/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm's own forms of a trace: what one writes the reader finds, what people write by hand is read or
 * refused at its place, and a file that is cut off is noticed. */
#define _GNU_SOURCE /* open_memstream */
#include "engine/random.h"
#include "tests/unit/suites.h"
#include "trace/writer.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const native[] = { "trace", "trace-binary" };

struct bytes {
	char *at;
	size_t length;
};

/* ---- writing to memory ---------------------------------------------------------------------- */

static struct bytes write_all(const char *form, enum trace_kind kind,
			      const struct trace_object *objects, uint32_t object_count,
			      const struct trace_record *records, size_t count)
{
	struct error error = { "" };
	struct bytes bytes = { NULL, 0 };
	FILE *out = open_memstream(&bytes.at, &bytes.length);
	struct trace_writer *writer =
		trace_writer_open(out, form, kind, objects, object_count, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
	for (size_t k = 0; k < count; k++)
		CU_ASSERT(trace_write(writer, &records[k], &error));
	CU_ASSERT(trace_writer_close(writer, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	fclose(out);
	return bytes;
}

static struct text text(const char *string)
{
	return (struct text){ string, (uint32_t)strlen(string) };
}

static void expect_text(struct text got, struct text expected)
{
	CU_ASSERT_EQUAL(got.length, expected.length);
	CU_ASSERT(got.length == expected.length &&
		  (!got.length || !memcmp(got.at, expected.at, got.length)));
}

/* All but the names of threads and events, for which the native forms have no place. */
static void expect_record(const struct trace_record *got, const struct trace_record *expected)
{
	CU_ASSERT_EQUAL(got->known, expected->known);
	CU_ASSERT_EQUAL(got->time, expected->time);
	CU_ASSERT_EQUAL(got->address, expected->address);
	CU_ASSERT_EQUAL(got->ip, expected->ip);
	CU_ASSERT_EQUAL(got->weight, expected->weight);
	CU_ASSERT_EQUAL(got->pid, expected->pid);
	CU_ASSERT_EQUAL(got->tid, expected->tid);
	CU_ASSERT_EQUAL(got->cpu, expected->cpu);
	CU_ASSERT_EQUAL(got->cpus, expected->cpus);
	CU_ASSERT_EQUAL(got->latency, expected->latency);
	CU_ASSERT_EQUAL(got->size, expected->size);
	CU_ASSERT_EQUAL(got->op, expected->op);
	CU_ASSERT_EQUAL(got->source, expected->source);
	expect_text(got->field, expected->field);
	expect_text(got->symbol, expected->symbol);
}

/* Reads to the end; returns how many records there were. */
static size_t read_all(struct bytes bytes, const char *format, struct trace_summary *summary,
		       struct error *error)
{
	struct trace *trace = trace_open_memory("t", bytes.at, bytes.length, format, error);
	struct trace_record record;
	size_t count = 0;

	if (!trace)
		return 0;
	while (trace_next(trace, &record, error) == STEP_RECORD)
		count++;
	if (summary)
		*summary = *trace_summary(trace);
	trace_close(trace);
	return count;
}

static struct bytes unpacked(struct bytes packed)
{
	struct error error = { "" };
	struct input *input = input_open_memory("t", packed.at, packed.length, &error);
	const unsigned char *ahead;
	struct bytes plain;

	CU_ASSERT_PTR_NOT_NULL_FATAL(input);
	plain.length = input_peek(input, INPUT_PEEK_MOST, &ahead);
	plain.at = malloc(plain.length);
	memcpy(plain.at, ahead, plain.length);
	input_close(input);
	return plain;
}

/* ---- what is written is read ---------------------------------------------------------------- */

/* A number of any magnitude. */
static uint64_t any(struct random *random, unsigned bits)
{
	return random_next(random) >> (63 - random_next(random) % bits);
}

/* Of numbers of at most so many bits: where these are few, places and threads come again. */
static void random_record(struct trace_record *record, struct random *random, unsigned most)
{
	static const char *const names[] = { "", "", "root.usage", "a-b.c[3].x", "try_charge" };
	unsigned few = most < 16 ? most : 16, more = most < 32 ? most : 32;

	*record = (struct trace_record){ .cpus = 1, .weight = any(random, most) | 1 };
	record->known = (uint8_t)(random_next(random) | KNOWN_ADDRESS);
	record->time = record->known & KNOWN_TIME ? any(random, most) : 0;
	record->address = any(random, most);
	record->ip = record->known & KNOWN_IP ? any(random, most) : 0;
	record->pid = record->known & KNOWN_PID ? (uint32_t)any(random, more) : 0;
	record->tid = record->known & KNOWN_TID ? (uint32_t)any(random, more) : 0;
	record->cpu = record->known & KNOWN_CPU ? (uint32_t)any(random, few) : 0;
	if (!(record->known & KNOWN_CPU))
		record->cpus = (uint32_t)any(random, few) | 1;
	record->latency = record->known & KNOWN_LATENCY ? (uint32_t)any(random, more) : 0;
	record->size = record->known & KNOWN_SIZE ? (uint16_t)(any(random, few) | 1) : 0;
	record->op = (uint8_t)(random_next(random) % TRACE_OPS);
	record->source = (uint8_t)(random_next(random) % SOURCES);
	record->field = text(names[random_next(random) % 4]);
	record->symbol = text(names[random_next(random) % 5]);
}

enum { RANDOM_RECORDS = 20000 };

static void expect_records_come_back(const char *form, const struct trace_record *records)
{
	struct error error = { "" };
	struct bytes bytes = write_all(form, KIND_SAMPLED, NULL, 0, records, RANDOM_RECORDS);
	struct trace *trace = trace_open_memory("t", bytes.at, bytes.length, NULL, &error);
	struct trace_record got;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_STRING_EQUAL(trace_summary(trace)->format, form);
	/* Threads are more than trace_next would count: straight from the reader. */
	for (int k = 0; k < RANDOM_RECORDS; k++) {
		got = (struct trace_record){ .weight = 1, .cpus = 1 };
		CU_ASSERT_EQUAL_FATAL(trace->format->next(trace, &got, &error), STEP_RECORD);
		expect_record(&got, &records[k]);
	}
	CU_ASSERT_EQUAL(trace->format->next(trace, &got, &error), STEP_END);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	trace_close(trace);
	free(bytes.at);
}

static void test_random_records_come_back(void)
{
	static const unsigned bits[] = { 64, 3 };
	struct random random = random_stream(1, "native-trace", 0);
	struct trace_record *records = calloc(RANDOM_RECORDS, sizeof(*records));

	for (int of = 0; of < 2; of++) {
		for (int k = 0; k < RANDOM_RECORDS; k++)
			random_record(&records[k], &random, bits[of]);
		for (int form = 0; form < 2; form++)
			expect_records_come_back(native[form], records);
	}
	free(records);
}

static void test_kind_and_objects_come_back(void)
{
	static const struct trace_object objects[] = {
		{ "root", "page_counter-6.1", 0x7f0000 },
		{ "a-1.b", "some where/else.yaml", 0 },
	};

	for (int form = 0; form < 2; form++)
		for (int kind = KIND_UNKNOWN; kind <= KIND_AGGREGATE; kind++) {
			struct error error = { "" };
			struct bytes bytes =
				write_all(native[form], (enum trace_kind)kind, objects, 2, NULL, 0);
			struct trace *trace =
				trace_open_memory("t", bytes.at, bytes.length, NULL, &error);
			struct trace_object object;

			CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
			CU_ASSERT_EQUAL(trace_summary(trace)->kind, (enum trace_kind)kind);
			for (uint32_t k = 0; k < 2; k++) {
				CU_ASSERT_FATAL(trace_object(trace, k, &object));
				CU_ASSERT_STRING_EQUAL(object.name, objects[k].name);
				CU_ASSERT_STRING_EQUAL(object.layout, objects[k].layout);
				CU_ASSERT_EQUAL(object.address, objects[k].address);
			}
			CU_ASSERT_FALSE(trace_object(trace, 2, &object));
			trace_close(trace);
			free(bytes.at);
		}
}

static void test_texts_that_no_line_holds_are_made_fit(void)
{
	char long_name[2 * TRACE_TEXT_MOST];
	struct trace_record record = { .weight = 1, .cpus = 1, .known = KNOWN_ADDRESS };
	struct error error = { "" };

	memset(long_name, 'n', sizeof(long_name));
	for (int form = 0; form < 2; form++) {
		struct bytes bytes;
		struct trace *trace;
		struct trace_record got;

		record.field = text("a.b c\n");
		record.symbol = text(" operator new\t(unsigned) ");
		bytes = write_all(native[form], KIND_COMPLETE, NULL, 0, &record, 1);
		trace = trace_open_memory("t", bytes.at, bytes.length, NULL, &error);
		CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
		CU_ASSERT_EQUAL(trace_next(trace, &got, &error), STEP_RECORD);
		expect_text(got.field, text("a.b_c_"));
		expect_text(got.symbol, text("operator new?(unsigned)"));
		trace_close(trace);
		free(bytes.at);

		record.field = text("-");
		record.symbol = (struct text){ long_name, sizeof(long_name) };
		bytes = write_all(native[form], KIND_COMPLETE, NULL, 0, &record, 1);
		trace = trace_open_memory("t", bytes.at, bytes.length, NULL, &error);
		CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
		CU_ASSERT_EQUAL(trace_next(trace, &got, &error), STEP_RECORD);
		expect_text(got.field, text(""));
		CU_ASSERT_EQUAL(got.symbol.length, TRACE_TEXT_MOST);
		trace_close(trace);
		free(bytes.at);
	}
}

static void test_writer_refuses_what_no_form_holds(void)
{
	const struct trace_object bad_name = { "two words", "l", 0 }, bad_layout = { "a", " l", 0 };
	const struct trace_record nowhere = { .weight = 1, .cpus = 1, .known = KNOWN_TIME };
	struct error error = { "" };
	struct bytes bytes;
	FILE *out = open_memstream(&bytes.at, &bytes.length);
	struct trace_writer *writer;

	CU_ASSERT_PTR_NULL(trace_writer_open(out, "csv", KIND_SAMPLED, NULL, 0, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no form 'csv'"));
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(trace_writer_open(out, "trace", KIND_SAMPLED, &bad_name, 1, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'two words'"));
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(trace_writer_open(out, "trace", KIND_SAMPLED, &bad_layout, 1, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "bad layout ' l'"));
	error.text[0] = '\0';
	writer = trace_writer_open(out, "perf-script", KIND_SAMPLED, NULL, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
	CU_ASSERT_FALSE(trace_write(writer, &nowhere, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "without an address"));
	CU_ASSERT(trace_writer_close(writer, &error));
	fclose(out);
	free(bytes.at);
}

static void test_a_full_disk_is_noticed(void)
{
	const struct trace_record record = { .weight = 1, .cpus = 1, .known = KNOWN_ADDRESS };

	for (int form = 0; form < 2; form++) {
		struct error error = { "" };
		FILE *out = fopen("/dev/full", "w");
		struct trace_writer *writer =
			trace_writer_open(out, native[form], KIND_SAMPLED, NULL, 0, &error);

		CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
		trace_write(writer, &record, &error);
		CU_ASSERT_FALSE(trace_writer_close(writer, &error));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "No space left on device"));
		fclose(out);
	}
}

/* Two threads, five instructions each whose data lie far apart, and times that jitter. */
static void fill_loop(struct trace_record *records, uint32_t count)
{
	struct random random = random_stream(1, "loop", 0);
	uint64_t time = 1000000;

	for (uint32_t k = 0; k < count; k++) {
		uint32_t step = k / 2 % 5;

		time += 3 + random_next(&random) % 16;
		records[k] = (struct trace_record){
			.known = KNOWN_TIME | KNOWN_ADDRESS | KNOWN_IP | KNOWN_TID | KNOWN_CPU |
				 KNOWN_SIZE,
			.time = time,
			.address = 0x404000 + ((uint64_t)step << 32) + (k % 2 << 20),
			.ip = 0x401200 + 5 * step,
			.weight = 1,
			.cpus = 1,
			.tid = 700 + k % 2,
			.cpu = k % 2,
			.size = 8,
			.op = (uint8_t)(step % TRACE_OPS),
			.symbol = text("loop"),
		};
	}
}

/* Of a record: place, thread, time, address and weight, a byte each; and half a byte that cannot be
 * guessed, which is the time's jitter. */
static void test_binary_form_is_short_on_a_tight_loop(void)
{
	enum { COUNT = 40000, TELLING = 400 };
	struct trace_record *records = calloc(COUNT, sizeof(*records));
	struct bytes bytes, plain;

	fill_loop(records, COUNT);
	bytes = write_all("trace-binary", KIND_COMPLETE, NULL, 0, records, COUNT);
	plain = unpacked(bytes);
	CU_ASSERT(plain.length < 5 * COUNT + TELLING);
	CU_ASSERT(bytes.length < COUNT);
	CU_ASSERT_EQUAL(read_all(bytes, NULL, NULL, &(struct error){ "" }), COUNT);
	free(plain.at);
	free(bytes.at);
	free(records);
}

/* ---- text by hand --------------------------------------------------------------------------- */

#define HEAD "# hitm-trace 1\n"

static bool next_of(const char *lines, struct trace_record *record, struct error *error)
{
	struct trace *trace = trace_open_memory("t", lines, strlen(lines), NULL, error);
	bool got = trace && trace_next(trace, record, error) == STEP_RECORD;

	trace_close(trace); /* texts point into `lines` */
	return got;
}

static void test_text_columns(void)
{
	struct error error = { "" };
	struct trace_record record;

	CU_ASSERT_FATAL(next_of(HEAD "12034 3 17/1712 A 0x7f0010 8 5 root.usage hitm_local 480 "
				     "0x401260 operator new(int)\n",
				&record, &error));
	expect_record(&record,
		      &(struct trace_record){
			      .known = KNOWN_TIME | KNOWN_CPU | KNOWN_PID | KNOWN_TID |
				       KNOWN_ADDRESS | KNOWN_SIZE | KNOWN_LATENCY | KNOWN_IP,
			      .time = 12034,
			      .cpu = 3,
			      .cpus = 1,
			      .pid = 17,
			      .tid = 1712,
			      .op = TRACE_ATOMIC,
			      .address = 0x7f0010,
			      .size = 8,
			      .weight = 5,
			      .field = text("root.usage"),
			      .source = SOURCE_HITM_LOCAL,
			      .latency = 480,
			      .ip = 0x401260,
			      .symbol = text("operator new(int)"),
		      });
}

static void test_text_columns_may_be_unknown_or_left_out(void)
{
	struct error error = { "" };
	struct trace_record record;

	CU_ASSERT_FATAL(next_of(HEAD "- - - - 0x10 - 1\n", &record, &error));
	expect_record(&record, &(struct trace_record){ .known = KNOWN_ADDRESS,
						       .op = TRACE_ACCESS,
						       .address = 0x10,
						       .weight = 1,
						       .cpus = 1 });
	CU_ASSERT_FATAL(next_of(HEAD "- x49 7/- M - - 900 a.b - - - -\r\n", &record, &error));
	expect_record(&record, &(struct trace_record){ .known = KNOWN_PID,
						       .op = TRACE_MODIFY,
						       .pid = 7,
						       .weight = 900,
						       .field = text("a.b"),
						       .cpus = 49 });
	CU_ASSERT_FATAL(next_of(HEAD "# a remark\n\n \t\n1\t2  3 W 0xff 1 2", &record, &error));
	CU_ASSERT_EQUAL(record.op, TRACE_STORE);
	CU_ASSERT_EQUAL(record.address, 0xff);
	CU_ASSERT_EQUAL(record.weight, 2);
}

static void test_text_record_without_place_is_dropped(void)
{
	static const char lines[] = HEAD "1 2 3 R - 8 1\n1 2 3 R 0x8 8 1\n";
	struct trace_summary summary;
	struct error error = { "" };

	CU_ASSERT_EQUAL(read_all((struct bytes){ (char *)(uintptr_t)lines, sizeof(lines) - 1 },
				 NULL, &summary, &error),
			1);
	CU_ASSERT_EQUAL(summary.read, 2);
	CU_ASSERT_EQUAL(summary.dropped[DROP_NO_ADDRESS], 1);
}

static const struct {
	const char *lines, *error;
} mistakes[] = {
	{ "x", "t:1:1: no heading, expected '# hitm-trace 1'" },
	{ "# hitm-trace 2\n", "t:1:14: a version that is not known, expected 1" },
	{ "# hitm-trace 12\n", "t:1:14: a version" },
	{ HEAD "# kind some\n", "t:2:8: bad kind, expected complete, sampled, aggregate" },
	{ HEAD "# object\n", "t:2:9: bad name of an object" },
	{ HEAD "# object a/b l 0x1\n", "t:2:10: bad name of an object" },
	{ HEAD "# object a 0x1\n", "t:2:12: bad layout of an object" },
	{ HEAD "# object a l 12\n", "t:2:14: bad address of an object" },
	{ HEAD "# object a l 0x1z\n", "t:2:14: bad address of an object" },
	{ HEAD "1 2 3 R 0x8 8 1\n# object a l 0x1\n", "t:3:1: kind and objects come before" },
	{ HEAD "1\n", "t:2:2: no cpu, expected a CPU's number" },
	{ HEAD "1 2 3 R 0x8 8\n", "t:2:14: no weight, expected how many" },
	{ HEAD "-1 2 3 R 0x8 8 1\n", "t:2:1: bad time, expected ns" },
	{ HEAD "18446744073709551616 2 3 R 0x8 8 1\n", "t:2:1: bad time" },
	{ HEAD "1 65536 3 R 0x8 8 1\n", "t:2:3: bad cpu" },
	{ HEAD "1 x0 3 R 0x8 8 1\n", "t:2:3: bad cpu" },
	{ HEAD "1 2 4294967296 R 0x8 8 1\n", "t:2:5: bad thread" },
	{ HEAD "1 2 3/ R 0x8 8 1\n", "t:2:5: bad thread" },
	{ HEAD "1 2 3 X 0x8 8 1\n", "t:2:7: bad operation, expected R, W, A, M or ?" },
	{ HEAD "1 2 3 RW 0x8 8 1\n", "t:2:7: bad operation" },
	{ HEAD "1 2 3 R 8 8 1\n", "t:2:9: bad address, expected 0x" },
	{ HEAD "1 2 3 R 0x10000000000000000 8 1\n", "t:2:9: bad address" },
	{ HEAD "1 2 3 R 0x8 0 1\n", "t:2:13: bad size, expected 1 to 65535" },
	{ HEAD "1 2 3 R 0x8 65536 1\n", "t:2:13: bad size" },
	{ HEAD "1 2 3 R 0x8 8 0\n", "t:2:15: bad weight" },
	{ HEAD "1 2 3 R 0x8 8 1 f far\n", "t:2:19: bad source, expected l1" },
	{ HEAD "1 2 3 R 0x8 8 1 f l1 4294967296\n", "t:2:22: bad latency" },
	{ HEAD "1 2 3 R 0x8 8 1 f l1 1 401\n", "t:2:24: bad instruction" },
};

static void test_text_mistakes_are_shown_in_their_place(void)
{
	for (size_t k = 0; k < sizeof(mistakes) / sizeof(*mistakes); k++) {
		struct error error = { "" };
		struct bytes bytes = { (char *)(uintptr_t)mistakes[k].lines,
				       strlen(mistakes[k].lines) };

		read_all(bytes, "trace", NULL, &error);
		if (strncmp(error.text, mistakes[k].error, strlen(mistakes[k].error)))
			CU_FAIL(error.text);
	}
	CU_PASS("all");
}

/* ---- binary, damaged ------------------------------------------------------------------------ */

static struct bytes small_trace(void)
{
	static const struct trace_object object = { "root", "page_counter-6.1", 0x7f0000 };
	struct random random = random_stream(2, "native-trace", 0);
	struct trace_record records[20];

	for (int k = 0; k < 20; k++)
		random_record(&records[k], &random, 64);
	return write_all("trace-binary", KIND_SAMPLED, &object, 1, records, 20);
}

static void expect_cut_is_noticed(struct bytes whole)
{
	for (size_t length = 0; length < whole.length; length++) {
		struct error error = { "" };
		char *cut = malloc(length + 1); /* of its very size, for sanitizers */

		memcpy(cut, whole.at, length);
		read_all((struct bytes){ cut, length }, "trace-binary", NULL, &error);
		CU_ASSERT_STRING_NOT_EQUAL(error.text, "");
		free(cut);
	}
}

static void test_binary_that_is_cut_off_anywhere_is_noticed(void)
{
	struct bytes packed = small_trace(), plain = unpacked(packed);
	struct error error = { "" };

	CU_ASSERT_EQUAL(read_all(plain, NULL, NULL, &error), 20);
	expect_cut_is_noticed(packed);
	expect_cut_is_noticed(plain);
	free(plain.at);
	free(packed.at);
}

static const struct {
	const char *bytes; /* after the heading, kind and number of objects */
	size_t length;
	const char *error;
} damages[] = {
#define BYTES(bytes) bytes, sizeof(bytes) - 1
	{ BYTES("\0\1"), "t: at byte 10: not as many records as it says at its end" },
	{ BYTES("\0\0\0"), "t: at byte 12: more after the end" },
	{ BYTES("\1\0\0\5\0\0\0\0\0"), "t: at byte 13: bad operation, expected at most 4" },
	{ BYTES("\1\0\0\0\0\15\0\0\0"), "t: at byte 15: bad source, expected at most 12" },
	{ BYTES("\1\0\0\0\1\0\0\0\0"), "t: at byte 10: a place that contradicts itself" },
	{ BYTES("\1\0\2\0\0\0\0\0\0"), "t: at byte 10: a place that contradicts itself" },
	{ BYTES("\1\200\40\0\0\0\0\0\0\0"), "t: at byte 11: bad place, expected at most 0" },
	{ BYTES("\2\0\0\0\0\0\0"), "t: at byte 10: a thread that contradicts itself" },
	{ BYTES("\2\0\0\377\377\377\377\20\0\0\1"), "t: at byte 13: bad process, expected" },
	{ BYTES("\3\0\2"), "t: at byte 10: a record of a place or a thread that was not told" },
	{ BYTES("\1\0\0\0\0\0\0\0\0\2\0\0\0\0\0\1\3\0\0"),
	  "t: at byte 26: a record with no weight" },
	{ BYTES("\1\0\0\0\0\0\377\377\377\377\377\377\377\377\377\2\0\0"),
	  "t: at byte 16: a number of more than 64 bits" },
	{ BYTES("\1\0\0\0\0\0\0\200\10"), "t: at byte 17: bad field, expected at most 1023" },
};

static void test_binary_damages_are_shown_in_their_place(void)
{
	for (size_t k = 0; k < sizeof(damages) / sizeof(*damages); k++) {
		struct error error = { "" };
		char bytes[64] = "hitmtrc\1\1\0";

		memcpy(bytes + 10, damages[k].bytes, damages[k].length);
		read_all((struct bytes){ bytes, 10 + damages[k].length }, NULL, NULL, &error);
		if (strncmp(error.text, damages[k].error, strlen(damages[k].error)))
			CU_FAIL(error.text);
	}
	CU_PASS("all");
}

/* ---- as perf script prints ------------------------------------------------------------------ */

static void test_perf_script_form(void)
{
	static const struct trace_record records[] = {
		{ .known = KNOWN_TIME | KNOWN_CPU | KNOWN_PID | KNOWN_TID | KNOWN_ADDRESS |
			   KNOWN_LATENCY | KNOWN_IP,
		  .time = 12000034567,
		  .cpu = 3,
		  .cpus = 1,
		  .pid = 17,
		  .tid = 1712,
		  .op = TRACE_ATOMIC,
		  .address = 0x7f0010,
		  .weight = 5,
		  .source = SOURCE_HITM_REMOTE,
		  .latency = 480,
		  .ip = 0x401260,
		  .symbol = { "charge+0x4", 10 },
		  .thread_name = { "a b", 3 } },
		{ .known = KNOWN_TIME | KNOWN_TID | KNOWN_ADDRESS,
		  .cpus = 1,
		  .tid = 9,
		  .op = TRACE_STORE,
		  .address = 0xffffffff81000000,
		  .weight = 1 },
	};
	/* OP LOAD 0x2; LVL HIT and RCE1 0x402 << 5; HITM 0x10 << 19; LOCKED 2 << 24; LVL_NUM L3 3 << 33;
	 * REMOTE 1 << 37: 0x2602808042. Stores: 0x4; NA of all else: 1 << 5, 1 << 19, 0xf << 33. */
	static const char expected[] =
		"             a b      17/1712    [003]    12.000034567:          5 "
		"cpu/mem-loads/P: "
		"          7f0010       2602808042 |OP LOAD|LVL Remote Cache (1 hop) hit|SNP HitM|"
		"TLB N/A|LCK Yes|BLK  N/A              480           401260 charge+0x4 "
		"([unknown])\n"
		"              :9       9/9           0.000000000:          1 cpu/mem-stores/P: "
		"ffffffff81000000       1e00080024 |OP STORE|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  "
		"N/A "
		"               0                0 [unknown] ([unknown])\n";
	struct bytes bytes = write_all("perf-script", KIND_SAMPLED, NULL, 0, records, 2);

	CU_ASSERT_EQUAL(bytes.length, sizeof(expected) - 1);
	CU_ASSERT_STRING_EQUAL(bytes.at, expected);
	free(bytes.at);
}

/* What has no place in perf script, or is not to be used there, is not asked for: sizes, fields and uncached
 * memory. */
static void test_perf_script_form_is_read_by_its_reader(void)
{
	struct trace_record records[TRACE_OPS * (SOURCES - 1)], got;
	struct error error = { "" };
	struct bytes bytes;
	struct trace *trace;
	uint32_t count = 0;

	for (int op = 0; op < TRACE_OPS; op++)
		for (int source = 0; source < SOURCES; source++)
			if (source != SOURCE_UNCACHED) {
				records[count] = (struct trace_record){
					.known = KNOWN_TIME | KNOWN_CPU | KNOWN_PID | KNOWN_TID |
						 KNOWN_ADDRESS | KNOWN_LATENCY | KNOWN_IP,
					.time = 1000000000 + 100000 * count,
					.cpu = count % 7,
					.cpus = 1,
					.pid = 17,
					.tid = 1700 + count % 3,
					.op = (uint8_t)op,
					.source = (uint8_t)source,
					.address = 0x7f0000 + 64 * count,
					.weight = 1 + count,
					.latency = 1 + count,
					.ip = 0x401000 + count,
					.symbol = text("operator new"),
					.thread_name = text("a: 12 [003] 1.5"),
				};
				count++;
			}
	bytes = write_all("perf-script", KIND_SAMPLED, NULL, 0, records, count);
	trace = trace_open_memory("t", bytes.at, bytes.length, NULL, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	for (uint32_t k = 0; k < count; k++) {
		CU_ASSERT_EQUAL_FATAL(trace_next(trace, &got, &error), STEP_RECORD);
		expect_record(&got, &records[k]);
		expect_text(got.thread_name, records[k].thread_name);
	}
	CU_ASSERT_EQUAL(trace_next(trace, &got, &error), STEP_END);
	CU_ASSERT_EQUAL(trace_summary(trace)->skipped[SKIP_UNPARSED], 0);
	trace_close(trace);
	free(bytes.at);
}

void suite_native_trace(void)
{
	CU_pSuite suite = CU_add_suite("native_trace", NULL, NULL);

	CU_ADD_TEST(suite, test_random_records_come_back);
	CU_ADD_TEST(suite, test_kind_and_objects_come_back);
	CU_ADD_TEST(suite, test_texts_that_no_line_holds_are_made_fit);
	CU_ADD_TEST(suite, test_writer_refuses_what_no_form_holds);
	CU_ADD_TEST(suite, test_a_full_disk_is_noticed);
	CU_ADD_TEST(suite, test_binary_form_is_short_on_a_tight_loop);
	CU_ADD_TEST(suite, test_text_columns);
	CU_ADD_TEST(suite, test_text_columns_may_be_unknown_or_left_out);
	CU_ADD_TEST(suite, test_text_record_without_place_is_dropped);
	CU_ADD_TEST(suite, test_text_mistakes_are_shown_in_their_place);
	CU_ADD_TEST(suite, test_binary_that_is_cut_off_anywhere_is_noticed);
	CU_ADD_TEST(suite, test_binary_damages_are_shown_in_their_place);
	CU_ADD_TEST(suite, test_perf_script_form);
	CU_ADD_TEST(suite, test_perf_script_form_is_read_by_its_reader);
}
