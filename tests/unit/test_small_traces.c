/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of lackey, drmemtrace, pinatrace, Dinero and gem5. Expected are what these tools say of their own
 * formats; with captures at hand, also what grep and awk count in them. */
#include "tests/unit/suites.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------- */

enum { RECORDS_MOST = 16 };

static struct {
	struct trace_record records[RECORDS_MOST]; /* whose texts are gone */
	uint32_t count;
	struct trace_summary summary;
	struct error error;
} got;

static void read_bytes(const char *format, const void *bytes, size_t length)
{
	struct trace *trace;
	struct trace_record record;
	enum trace_step step = STEP_END;

	memset(&got, 0, sizeof(got));
	trace = trace_open_memory("t", bytes, length, format, &got.error);
	if (!trace)
		return;
	while ((step = trace_next(trace, &record, &got.error)) == STEP_RECORD)
		if (got.count++ < RECORDS_MOST)
			got.records[got.count - 1] = record;
	CU_ASSERT_EQUAL(step == STEP_FAILED, got.error.text[0] != '\0');
	got.summary = *trace_summary(trace);
	trace_close(trace);
}

static void read_text(const char *format, const char *text)
{
	read_bytes(format, text, strlen(text));
}

static void expect_counts(uint64_t used, uint64_t dropped)
{
	CU_ASSERT_STRING_EQUAL(got.error.text, "");
	CU_ASSERT_EQUAL(got.summary.used, used);
	CU_ASSERT_EQUAL(got.summary.read, used + dropped);
	CU_ASSERT_EQUAL(got.summary.kind, KIND_COMPLETE);
}

static void expect_access(uint32_t k, enum trace_op op, uint64_t address, uint16_t size)
{
	CU_ASSERT_FATAL(k < got.count);
	CU_ASSERT_EQUAL(got.records[k].op, op);
	CU_ASSERT_EQUAL(got.records[k].address, address);
	CU_ASSERT_EQUAL(got.records[k].size, size);
	CU_ASSERT_EQUAL(!(got.records[k].known & KNOWN_SIZE), !size);
	CU_ASSERT(got.records[k].known & KNOWN_ADDRESS);
}

/* ---- lackey --------------------------------------------------------------------------------- */

static void test_lackey(void)
{
	read_text(NULL, "==77== Lackey, an example\n==77== \n"
			"I  0401ab70,3\n L 05a2c930,8\n S 1ffe0,4\n M 7ff000398,16\r\n"
			"--77-- warning\nSB 0401ab70\n\n"
			"==77==   total: 3\n L 0,1\n");
	CU_ASSERT_STRING_EQUAL(got.summary.format, "lackey");
	expect_counts(4, 1);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_NOT_DATA], 1);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_MESSAGE], 5);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_COMMENT], 1);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_UNPARSED], 0);
	expect_access(0, TRACE_LOAD, 0x05a2c930, 8);
	expect_access(1, TRACE_STORE, 0x1ffe0, 4);
	expect_access(2, TRACE_MODIFY, 0x7ff000398, 16);
	expect_access(3, TRACE_LOAD, 0, 1);
	CU_ASSERT_EQUAL(got.records[0].known & (KNOWN_TID | KNOWN_TIME), 0);
}

static void test_lackey_lines_that_fit_nothing_are_counted(void)
{
	read_text("lackey", " L 10,8\n L 10\n L 10,0\n L 10,65536\n L 10,8 x\n X 10,8\nL\n L g,8\n"
			    " L 11111111111111111,8\n S 10,-8\n L 1");
	expect_counts(1, 0);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_UNPARSED], 10);
	CU_ASSERT_STRING_EQUAL(got.summary.first_unparsed, "2:  L 10");
}

/* ---- drmemtrace ----------------------------------------------------------------------------- */

static void test_drmemtrace(void)
{
	read_text(NULL,
		  "Output format:\n<--record#-> <--instr#->: <Wrkld.Tid> <record details>\n"
		  "-----------------------------------\n"
		  "   1    0: W0.T32 <marker: version 6>\n"
		  "   2    0: W0.T32 <marker: timestamp 13312410768080478>\n"
		  "   3    0: W0.T32 <marker: W0.T32 on core 7>\n"
		  "   4    1: W0.T32 ifetch       3 byte(s) @ 0x0000000000401940 48 89 e7    mov\n"
		  "   5    1: W0.T32 write        8 byte(s) @ 0x00007fff9a9e3528 by PC "
		  "0x0000000000401943\n"
		  "   6    1: W0.T32 <marker: physical address for following virtual: 0x99>\n"
		  "   7    2: W0.T33 read         4 byte(s) @ 0x10 by PC 0x20\n"
		  "   8    2: W0.T33 pref-r-L1    1 byte(s) @ 0x10 by PC 0x20\n"
		  "   9    2: W0.T33 dflush      64 byte(s) @ 0x10 by PC 0x20\n"
		  "  10    3: W0.T32 ifetch      10 byte(s) @ 0x401946 48 b8 00 00 00 00 00  mov\n"
		  "  10    3: W0.T32                                            00 00 00\n"
		  "  11    3: W0.T33 <thread 33 exited>\n"
		  "View tool results:\n    3 : total instructions\n");
	CU_ASSERT_STRING_EQUAL(got.summary.format, "drmemtrace");
	expect_counts(2, 4);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_NOT_DATA], 3);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_PREFETCH], 1);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_UNPARSED], 0);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_CONTINUATION], 1);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_COMMENT], 5);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_TASK], 5);
	expect_access(0, TRACE_STORE, 0x7fff9a9e3528, 8);
	CU_ASSERT_EQUAL(got.records[0].ip, 0x401943);
	CU_ASSERT_EQUAL(got.records[0].tid, 32);
	CU_ASSERT_EQUAL(got.records[0].cpu, 7);
	CU_ASSERT_EQUAL(got.records[0].time, 13312410768080478000u);
	CU_ASSERT_EQUAL(got.records[0].known,
			KNOWN_TIME | KNOWN_CPU | KNOWN_TID | KNOWN_SIZE | KNOWN_IP | KNOWN_ADDRESS);
	expect_access(1, TRACE_LOAD, 0x10, 4);
	CU_ASSERT_EQUAL(got.records[1].tid, 33); /* of which no marker told time and core */
	CU_ASSERT_EQUAL(got.records[1].known & (KNOWN_TIME | KNOWN_CPU), 0);
}

static void test_drmemtrace_of_older_versions(void)
{
	read_text(NULL, "   5: T17 <marker: timestamp 7>\n   6: T17 <marker: tid 17 on core 2>\n"
			"   7: T17 read         8 byte(s) @ 0x30 by PC 0x40\n"
			"   8    1:   18 write        8 byte(s) @ 0x38 by PC 0x44\n");
	expect_counts(2, 0);
	CU_ASSERT_EQUAL(got.records[0].tid, 17);
	CU_ASSERT_EQUAL(got.records[0].time, 7000);
	CU_ASSERT_EQUAL(got.records[0].cpu, 2);
	CU_ASSERT_EQUAL(got.records[1].tid, 18);
}

/* Threads 1 and 1025 share a slot of what is known of threads. */
static void test_drmemtrace_forgets_rather_than_confuses_threads(void)
{
	read_text("drmemtrace", "1 0: T1 <marker: timestamp 5>\n"
				"2 0: T1025 read 8 byte(s) @ 0x30 by PC 0x40\n"
				"3 0: T1 read 8 byte(s) @ 0x30 by PC 0x40\n");
	expect_counts(2, 0);
	for (int k = 0; k < 2; k++) {
		CU_ASSERT_EQUAL(got.records[k].known & KNOWN_TIME, 0);
		CU_ASSERT_EQUAL(got.records[k].time, 0);
	}
}

static void test_drmemtrace_says_that_windows_leave_gaps(void)
{
	read_text("drmemtrace", "1 0: T1 <marker: window 0>\n2 0: T1 read 8 byte(s) @ 0x30\n");
	expect_counts(1, 0);
	CU_ASSERT_EQUAL(got.records[0].known & KNOWN_IP, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.summary.notes[1], "windows"));
}

static void test_drmemtrace_bad_timestamp(void)
{
	read_text("drmemtrace", "1 0: T1 <marker: version 1>\n"
				"2 0: T1 <marker: timestamp 18446744073709552>\n");
	CU_ASSERT_STRING_EQUAL(got.error.text, "t:2:28: bad timestamp, expected microseconds");
}

/* ---- pinatrace ------------------------------------------------------------------------------ */

static void test_pinatrace(void)
{
	read_text(NULL, "#\n# Memory Access Trace Generated By Pin\n#\n"
			"0x00007f3d82c80cc3: W 0x00007ffc3feb3cd8  8 0x7f3d82c80cc8\n"
			"0x401000: R 0x404080  4 \n"
			"0x401004: R 0x404084\n"
			"0x401008: W 0x404088 0xff\n"
			"0x40100c: P 0x404100 64\n"
			"#eof\n");
	CU_ASSERT_STRING_EQUAL(got.summary.format, "pinatrace");
	expect_counts(4, 1);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_PREFETCH], 1);
	CU_ASSERT_EQUAL(got.summary.note_count, 1);
	expect_access(0, TRACE_STORE, 0x7ffc3feb3cd8, 8);
	CU_ASSERT_EQUAL(got.records[0].ip, 0x7f3d82c80cc3);
	expect_access(1, TRACE_LOAD, 0x404080, 4);
	expect_access(2, TRACE_LOAD, 0x404084, 0);
	expect_access(3, TRACE_STORE, 0x404088, 0);
}

static void test_pinatrace_says_that_its_end_lacks(void)
{
	read_text("pinatrace", "0x401000: R 0x404080  4\n0x401000: R 0x4040");
	expect_counts(2, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.summary.notes[1], "no #eof"));
}

static void test_pinatrace_lines_that_fit_nothing_are_counted(void)
{
	read_text("pinatrace", "0x401000: R 0x404080 0\n0x401000 R 0x404080\n401000: R 0x404080\n"
			       "0x401000: X 0x404080\n0x401000: R 404080\n0x401000: R 0x404080 8x\n"
			       "0x401000: R 0x404080 99999\n0x401000: \n");
	expect_counts(0, 0);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_UNPARSED], 8);
}

/* ---- din ------------------------------------------------------------------------------------ */

static void test_din(void)
{
	read_text("din", "0 7fe891b0\n1 0x7fe891b8 a comment\n2 400100\n3 0\n4 0\n0 1000 4\n\n"
			 "5 10\n0\n0 g\n");
	expect_counts(3, 3);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_NOT_DATA], 3);
	CU_ASSERT_EQUAL(got.summary.skipped[SKIP_UNPARSED], 3);
	expect_access(0, TRACE_LOAD, 0x7fe891b0, 0);
	expect_access(1, TRACE_STORE, 0x7fe891b8, 0);
	expect_access(2, TRACE_LOAD, 0x1000, 4);
}

static void test_din_extended(void)
{
	read_text(NULL, "r 1000 8\nw 0x2000 10\nm 3000 4\ni 4000 4\nc 5000 40\nv 6000 40\n");
	CU_ASSERT_STRING_EQUAL(got.summary.format, "din");
	expect_counts(3, 3);
	expect_access(0, TRACE_LOAD, 0x1000, 8);
	expect_access(1, TRACE_STORE, 0x2000, 16); /* sizes are hexadecimal too */
	expect_access(2, TRACE_ACCESS, 0x3000, 4);
}

/* ---- gem5 ----------------------------------------------------------------------------------- */

struct bytes {
	unsigned char at[512];
	size_t length;
};

static void put_number(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes->at[bytes->length++] = (unsigned char)(value | 0x80);
	bytes->at[bytes->length++] = (unsigned char)value;
}

static void put_field(struct bytes *bytes, unsigned field, uint64_t value)
{
	put_number(bytes, field << 3);
	put_number(bytes, value);
}

static void put_message(struct bytes *bytes, const struct bytes *message)
{
	put_number(bytes, message->length);
	memcpy(bytes->at + bytes->length, message->at, message->length);
	bytes->length += message->length;
}

/* With the name of the monitor, and a table of requesters. */
static struct bytes gem5_header(uint64_t frequency)
{
	struct bytes bytes = { "gem5", 4 }, message = { { 10, 3, 'm', 'o', 'n' }, 5 };
	static const unsigned char requester[] = { 34, 6, 8, 1, 18, 2, 'c', '0' };

	put_field(&message, 2, 0);
	put_field(&message, 3, frequency);
	memcpy(message.at + message.length, requester, sizeof(requester));
	message.length += sizeof(requester);
	put_message(&bytes, &message);
	return bytes;
}

static void put_packet(struct bytes *bytes, uint64_t tick, uint64_t command, uint64_t address,
		       uint64_t size, uint64_t flags)
{
	struct bytes message = { { 0 }, 0 };

	put_field(&message, 1, tick);
	put_field(&message, 2, command);
	put_field(&message, 3, address);
	put_field(&message, 4, size);
	if (flags)
		put_field(&message, 5, flags);
	put_message(bytes, &message);
}

static void test_gem5(void)
{
	struct bytes bytes = gem5_header(1000000000000), with_pc = { { 0 }, 0 };

	put_packet(&bytes, 1500, 1, 0x80001000, 8, 0);
	put_packet(&bytes, 2999, 4, 0x80001008, 4, 0);
	put_field(&with_pc, 2, 1);
	put_field(&with_pc, 3, 0x90);
	put_field(&with_pc, 7, 0x401000);
	put_message(&bytes, &with_pc);
	read_bytes(NULL, bytes.at, bytes.length);
	CU_ASSERT_STRING_EQUAL(got.summary.format, "gem5");
	expect_counts(3, 0);
	expect_access(0, TRACE_LOAD, 0x80001000, 8);
	CU_ASSERT_EQUAL(got.records[0].time, 1);
	expect_access(1, TRACE_STORE, 0x80001008, 4);
	CU_ASSERT_EQUAL(got.records[1].time, 2);
	expect_access(2, TRACE_LOAD, 0x90, 0);
	CU_ASSERT_EQUAL(got.records[2].known, KNOWN_ADDRESS | KNOWN_IP);
	CU_ASSERT_EQUAL(got.records[2].ip, 0x401000);
}

static void test_gem5_request_flags(void)
{
	struct bytes bytes = gem5_header(1000000000000);

	put_packet(&bytes, 0, 1, 0x10, 8, 0x100);     /* INST_FETCH */
	put_packet(&bytes, 0, 1, 0x20, 8, 0x100000);  /* LOCKED_RMW, the load */
	put_packet(&bytes, 0, 4, 0x20, 8, 0x100000);  /* and the store */
	put_packet(&bytes, 0, 34, 0x30, 8, 0x400000); /* MEM_SWAP */
	put_packet(&bytes, 0, 1, 0x40, 8, 0x1000000); /* PREFETCH */
	put_packet(&bytes, 0, 22, 0x50, 8, 0);
	read_bytes(NULL, bytes.at, bytes.length);
	expect_counts(2, 4);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_NOT_DATA], 2);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_DUPLICATE], 1);
	CU_ASSERT_EQUAL(got.summary.dropped[DROP_PREFETCH], 1);
	expect_access(0, TRACE_ATOMIC, 0x20, 8);
	expect_access(1, TRACE_ATOMIC, 0x30, 8);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.summary.notes[1], "other than 1 (ReadReq)"));
}

static void test_gem5_cut_off(void)
{
	struct bytes bytes = gem5_header(1000000000000);
	size_t whole;

	put_packet(&bytes, 1500, 1, 0x80001000, 8, 0);
	whole = bytes.length;
	put_packet(&bytes, 2500, 4, 0x80001000, 8, 0);
	for (size_t length = whole + 1; length < bytes.length; length++) {
		read_bytes("gem5", bytes.at, length);
		expect_counts(1, 1);
		CU_ASSERT_EQUAL(got.summary.dropped[DROP_TRUNCATED], 1);
	}
	read_bytes("gem5", bytes.at, whole);
	expect_counts(1, 0);
}

static void test_gem5_mistakes(void)
{
	struct bytes bytes = gem5_header(0);

	read_bytes("gem5", bytes.at, bytes.length);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.error.text, "t: at byte 4: bad header"));
	read_bytes("gem5", "gem4", 4);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.error.text, "t: at byte 0: no heading"));
	bytes = gem5_header(1);
	put_packet(&bytes, UINT64_MAX, 1, 0, 1, 0);
	read_bytes("gem5", bytes.at, bytes.length);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.error.text, "a tick of more than 64 bits of ns"));
	bytes = gem5_header(1);
	put_number(&bytes, 1 << 20);
	read_bytes("gem5", bytes.at, bytes.length);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.error.text, "a packet of 1048576 bytes"));
	bytes = gem5_header(1);
	put_message(&bytes, &(struct bytes){ { 8 }, 1 });
	read_bytes("gem5", bytes.at, bytes.length);
	CU_ASSERT_PTR_NOT_NULL(strstr(got.error.text, "bytes that are no packet of gem5"));
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const char *const formats[] = { "lackey", "drmemtrace", "pinatrace", "din" };

static void test_endless_lines_are_refused(void)
{
	size_t length = 1 << 20;
	char *line = malloc(length);

	memset(line, '0', length);
	for (size_t k = 0; k < sizeof(formats) / sizeof(*formats); k++) {
		read_bytes(formats[k], line, length);
		CU_ASSERT_PTR_NOT_NULL(strstr(got.error.text, "t:1:1: a line of more than 64 KiB"));
	}
	free(line);
}

static void test_empty_files_have_no_records(void)
{
	for (size_t k = 0; k < sizeof(formats) / sizeof(*formats); k++) {
		read_text(formats[k], "");
		expect_counts(0, 0);
	}
}

/* ---- captures ------------------------------------------------------------------------------- */

static const struct {
	const char *file;
	uint64_t loads, stores, modifies, dropped;
} captures[] = { /* counted with grep -c */
		 { "memtrace/lackey-cachelab-trans.trace", 156, 42, 20, 378 },
		 { "memtrace/lackey-cachelab-long.head40000.trace", 34329, 2842, 2829, 0 },
		 { "local/pagectr-lackey.excerpt.txt", 460, 130, 71, 1347 },
		 { "memtrace/pin-pinatrace-sized.head20000.out", 13671, 6326, 0, 0 },
		 { "memtrace/drmemtrace-view-doc-excerpt.txt", 0, 10, 0, 21 },
		 { "memtrace/gem5-tgen-simple-mem.trc", 1, 1, 0, 0 }
};

static void test_captures(void)
{
	const char *shared = getenv("HITM_SHARED");
	char path[512];
	FILE *there;

	snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared",
		 captures[0].file);
	there = fopen(path, "r");
	if (!there) {
		test_skip("no captures: HITM_SHARED does not name the directory that has them");
		return;
	}
	fclose(there);
	for (size_t k = 0; k < sizeof(captures) / sizeof(*captures); k++) {
		struct error error = { "" };
		struct trace_record record;
		struct trace *trace;
		const struct trace_summary *summary;

		snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared",
			 captures[k].file);
		trace = trace_open(path, NULL, &error);
		CU_ASSERT_PTR_NOT_NULL(trace);
		if (!trace)
			continue;
		while (trace_next(trace, &record, &error) == STEP_RECORD)
			;
		summary = trace_summary(trace);
		CU_ASSERT_STRING_EQUAL(error.text, "");
		CU_ASSERT_EQUAL(summary->ops[TRACE_LOAD], captures[k].loads);
		CU_ASSERT_EQUAL(summary->ops[TRACE_STORE], captures[k].stores);
		CU_ASSERT_EQUAL(summary->ops[TRACE_MODIFY], captures[k].modifies);
		CU_ASSERT_EQUAL(summary->dropped[DROP_NOT_DATA], captures[k].dropped);
		CU_ASSERT_EQUAL(summary->read, summary->used + captures[k].dropped);
		trace_close(trace);
	}
}

void suite_small_traces(void)
{
	CU_pSuite suite = CU_add_suite("small_traces", NULL, NULL);

	CU_ADD_TEST(suite, test_lackey);
	CU_ADD_TEST(suite, test_lackey_lines_that_fit_nothing_are_counted);
	CU_ADD_TEST(suite, test_drmemtrace);
	CU_ADD_TEST(suite, test_drmemtrace_of_older_versions);
	CU_ADD_TEST(suite, test_drmemtrace_forgets_rather_than_confuses_threads);
	CU_ADD_TEST(suite, test_drmemtrace_says_that_windows_leave_gaps);
	CU_ADD_TEST(suite, test_drmemtrace_bad_timestamp);
	CU_ADD_TEST(suite, test_pinatrace);
	CU_ADD_TEST(suite, test_pinatrace_says_that_its_end_lacks);
	CU_ADD_TEST(suite, test_pinatrace_lines_that_fit_nothing_are_counted);
	CU_ADD_TEST(suite, test_din);
	CU_ADD_TEST(suite, test_din_extended);
	CU_ADD_TEST(suite, test_gem5);
	CU_ADD_TEST(suite, test_gem5_request_flags);
	CU_ADD_TEST(suite, test_gem5_cut_off);
	CU_ADD_TEST(suite, test_gem5_mistakes);
	CU_ADD_TEST(suite, test_endless_lines_are_refused);
	CU_ADD_TEST(suite, test_empty_files_have_no_records);
	CU_ADD_TEST(suite, test_captures);
}
