/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture is recognised by what is in it, by the one format that it has; what is not read is refused with
 * what to hand in, and what may be two formats is the user's choice. */
#include "tests/unit/suites.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples -------------------------------------------------------------------------------- */

static const struct sample {
	const char *format;
	const char *bytes;
	size_t length;
} samples[] = {
#define SAMPLE(format, bytes)                    \
	{                                        \
		format, bytes, sizeof(bytes) - 1 \
	}
	SAMPLE("trace", "# hitm-trace 1\n1 2 3 R 0x10 8 1\n"),
	SAMPLE("trace-binary", "hitmtrc\1\1\0\0\0"),
	SAMPLE("lackey", "I  00401000,3\n L 1ffe,8\n"),
	SAMPLE("lackey", "==7== Lackey\n==7==\n S 1ffe,8\n"),
	SAMPLE("lackey", " L 10,1\n"),
	SAMPLE("drmemtrace", "  1  0: W0.T12 <marker: version 6>\n"),
	SAMPLE("drmemtrace", "Output format:\n----\n 1: T12 read  8 byte(s) @ 0x10 by PC 0x20\n"),
	SAMPLE("pinatrace", "#\n# Memory Access Trace\n0x401000: R 0x7ffe10 8 0x1\n"),
	SAMPLE("pinatrace", "0x401000: W 0x7ffe10\n#eof\n"),
	SAMPLE("din", "r 1000 4\nw 2000 8\n"),
	SAMPLE("din", "2 400100\n0 7fe891b0\n1 7fe891b8\n"),
	SAMPLE("din", "0 7fe891b0\n4 0\n"),
	SAMPLE("gem5", "gem5\7\12\1m\20\0\30\1\6\10\1\20\1\30\20"),
	SAMPLE("perf-dump",
	       "1 19125 0xf4d0 [0x48]: PERF_RECORD_SAMPLE(IP, 0x2): 7/7: 0x401 period: 1 "
	       "addr: 0x4040\n . data_src: 0x1e05080021\n"),
	SAMPLE("perf-dump", "1 19125 0xf4d0 [0x48]: PERF_RECORD_SAMPLE(IP, 0x2): 7/7: 0x401\n"),
	SAMPLE("perf-dump", "ibs_op_ctl:\t000002c300061 MaxCnt 1\n"),
	SAMPLE("perf-report",
	       "# Total Lost Samples: 0\n#\n# Samples: 14  of event 'cpu/mem-loads/'\n"
	       "# Overhead  Samples\n"),
	SAMPLE("perf-report", "Samples: 8K of event 'ibs_op//', Event count (approx.): 8\n"),
	SAMPLE("perf-report", "  Annotate type: 'struct page' in vmlinux (1 samples):\n"),
	SAMPLE("perf-trace", "     0.053 ( 0.002 ms): name/12 minfault [f+0x1] => 0x7fff (?k)\n"),
	SAMPLE("perf-trace", "     0.053 (         ): name/12 read(fd: 3) ...\n"),
	SAMPLE("perf-json", "{\n\t\"linux-perf-json-version\": 1,\n"),
	SAMPLE("ctf",
	       "[00:31:52.527895259] (+0.000018081) mem:0x10: { cpu_id = 1 }, { perf_ip = 0x1 }\n"),
	SAMPLE("ctf", "\xc1\x1f\xfc\xc1more"),
	SAMPLE("ctf", "/* CTF 1.8 */\n"),
	SAMPLE("ftrace", "# tracer: function\n#\n"),
	SAMPLE("drmemtrace-binary",
	       "PK\3\4\24\0\0\0\10\0\0\0\0\0\1\1\1\1\1\1\1\1\2\2\2\2\12\0\0\0chunk.0000"),
	SAMPLE("drmemtrace-binary",
	       "\31\0\0\0\1\0\0\0\0\0\0\0\26\0\4\0\54\124\0\0\0\0\0\0\30\0\4\0\1\0\0\0\0\0\0\0"),
	SAMPLE("memgaze", "0x40b21f 0x7ffec7780340 0 13963977.121160038 1\n"),
	SAMPLE("mitos", "variable,source,line,time,iter,latency,dataSource,cpu,node,index\n"),
	SAMPLE("ibs-csv", "TSC,CPU_Number,TID,PID,Kern_mode\n1,2,3,4,0\n"),
	SAMPLE("course", "0 0x7fe891b0\n2 0x29\n"),
	SAMPLE("course", "0 r 1ce026e0\n1 w f7706ab8\n"),
};

enum { SAMPLES = sizeof(samples) / sizeof(*samples) };

/* Its bytes with CR LF at the ends of lines. */
static size_t with_carriage_returns(const struct sample *sample, char *out)
{
	size_t length = 0;

	for (size_t k = 0; k < sample->length; k++) {
		if (sample->bytes[k] == '\n')
			out[length++] = '\r';
		out[length++] = sample->bytes[k];
	}
	return length;
}

static void expect_only(const char *format, const char *bytes, size_t length)
{
	char *copy = malloc(length); /* of its very size, for sanitizers */

	memcpy(copy, bytes, length);
	for (int k = 0; trace_formats[k]; k++) {
		bool expected = !strcmp(trace_formats[k]->name, format);
		bool fits = trace_formats[k]->recognise((const unsigned char *)copy, length);

		if (fits != expected)
			fprintf(stderr, "%s %s: %.60s\n", trace_formats[k]->name,
				fits ? "takes" : "does not take", bytes);
		CU_ASSERT_EQUAL(fits, expected);
	}
	free(copy);
}

static void test_each_sample_is_of_one_format(void)
{
	for (int k = 0; k < SAMPLES; k++)
		expect_only(samples[k].format, samples[k].bytes, samples[k].length);
}

static void test_line_ends_of_dos_do_not_matter(void)
{
	char text[512];

	for (int k = 0; k < SAMPLES; k++) {
		size_t length;

		if (memchr(samples[k].bytes, '\0', samples[k].length))
			continue;
		length = with_carriage_returns(&samples[k], text);
		expect_only(samples[k].format, text, length);
	}
}

static void test_what_is_refused_says_what_to_hand_in(void)
{
	for (int k = 0; k < SAMPLES; k++) {
		struct error error = { "" };
		const struct trace_format *format = trace_format_find(samples[k].format);
		struct trace *trace;

		CU_ASSERT_PTR_NOT_NULL_FATAL(format);
		trace = trace_open_memory("t", samples[k].bytes, samples[k].length, NULL, &error);
		CU_ASSERT_EQUAL(!trace, format->refusal != NULL);
		if (!trace && format->refusal)
			CU_ASSERT_STRING_EQUAL(error.text + 3, format->refusal); /* after "t: " */
		trace_close(trace);
	}
}

/* ---- doubt ---------------------------------------------------------------------------------- */

static const char *refusal_of(const char *text, const char *format)
{
	static struct error error;
	struct trace *trace;

	error.text[0] = '\0';
	trace = trace_open_memory("t", text, strlen(text), format, &error);
	trace_close(trace);
	return error.text;
}

static void test_what_may_be_two_formats_is_the_users_choice(void)
{
	static const char either[] = "0 7fe891b0\n1 7fe891b8\n2 29\n";

	CU_ASSERT_PTR_NOT_NULL(strstr(refusal_of(either, NULL), "may be any of din, course"));
	CU_ASSERT_STRING_EQUAL(refusal_of(either, "din"), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(refusal_of(either, "course"), "no one meaning"));
	CU_ASSERT_STRING_EQUAL(refusal_of("0 0x7fe891b0\n", "din"), "");
}

static void test_what_is_no_capture_is_refused(void)
{
	static const char *const texts[] = { "some prose\n",  "int main(void) { return 0; }\n",
					     "\n\n",          "1,2,3\n4,5,6\n",
					     "# a comment\n", "gem5 is a simulator\n",
					     "L 10\n",        "0x401000: R\n",
					     "{}\n" };

	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
		CU_ASSERT_PTR_NOT_NULL(
			strstr(refusal_of(texts[k], NULL), "in none of the formats known"));
	CU_ASSERT_PTR_NOT_NULL(strstr(refusal_of("", NULL), "empty"));
}

/* A head of TRACE_HEAD bytes ends anywhere in a line, which then says nothing. */
static void test_a_line_that_the_head_cuts_off_does_not_matter(void)
{
	char *head = malloc(TRACE_HEAD);

	/* Empty lines, then whole ones up to the last two bytes. */
	for (size_t k = 0; k < TRACE_HEAD; k++)
		head[k] = k < 10 ? '\n' : "0 7fe891b0\n4 0\n"[(k + 1) % 15];
	memcpy(head + TRACE_HEAD - 2, "0x", 2);
	expect_only("din", head, TRACE_HEAD);
	CU_ASSERT_FALSE(
		trace_format_find("din")->recognise((unsigned char *)head + 1, TRACE_HEAD - 1));
	free(head);
}

/* ---- captures ------------------------------------------------------------------------------- */

static const struct {
	const char *file, *format;
} captures[] = {
	{ "memtrace/amd-ibs-toolkit-op-1k.csv", "ibs-csv" },
	{ "memtrace/cs4223-bodytrack_2.head20000.data", "course" },
	{ "memtrace/drmemtrace-view-doc-excerpt.txt", "drmemtrace" },
	{ "memtrace/drmemtrace.allasm_x86_64.trace.zip", "drmemtrace-binary" },
	{ "memtrace/drmemtrace.small.x64.trace", "drmemtrace-binary" },
	{ "memtrace/drmemtrace.threadsig.872906.trace.zip", "drmemtrace-binary" },
	{ "memtrace/ftrace-function-doc.txt", "ftrace" },
	{ "memtrace/ftrace-function_graph-doc.txt", "ftrace" },
	{ "memtrace/gem5-tgen-simple-mem.trc", "gem5" },
	{ "memtrace/lackey-cachelab-long.head40000.trace", "lackey" },
	{ "memtrace/lackey-cachelab-trans.trace", "lackey" },
	{ "memtrace/lackey-style-yi2.trace", "lackey" },
	{ "memtrace/memgaze-pt-minivite-v1-O3-n300k-buf8k-p10000000-part1.head20000.trace",
	  "memgaze" },
	{ "memtrace/memgaze-pt-ubench-O3-n500k-buf8k-p100000.head20000.trace", "memgaze" },
	{ "memtrace/mitos-lulesh-inorder.head4000.csv", "mitos" },
	{ "memtrace/mitos-lulesh-pebs-samples.csv", "mitos" },
	{ "memtrace/om-deshmukh-trace.2t.short.txt", "course" },
	{ "memtrace/pin-pinatrace-sized.head20000.out", "pinatrace" },
	{ "memtrace/pin-pinatrace-sized.tail3.out", "pinatrace" },
	{ "perf-mem/amd-ibs-6.19-doc-examples.txt", "perf-report" },
	{ "perf-mem/amd-ibs-F-mem-sample-snoop.mem-report.txt", "perf-report" },
	{ "perf-mem/annotate-data-type-group-struct_page.txt", "perf-report" },
	{ "perf-mem/annotate-data-type-pcpu_hot.txt", "perf-report" },
	{ "perf-mem/ivb-pebs-loads-freq.mem-report.txt", "perf-report" },
	{ "perf-mem/ppc-report-type-typeoff-hierarchy.txt", "perf-report" },
	{ "perf-mem/skx-pebs-loads-weight_struct.mem-report.txt", "perf-report" },
	{ "perf-mem/skx-report-mem-mode.txt", "perf-report" },
	{ "perf-script/amd-ibs-raw-dump.txt", "perf-dump" },
	{ "local/pagectr-4fields.dump-samples.head60.txt", "perf-dump" },
	{ "local/pagectr-4fields.ctf-babeltrace.head40.txt", "ctf" },
	{ "local/pagectr-4fields.mem-report.txt", "perf-report" },
	{ "local/pagectr-perf-trace-faults.txt", "perf-trace" },
	{ "local/pagectr-lackey.excerpt.txt", "lackey" },
};

/* The format that takes a file, or how many there are. */
static const char *format_of(const char *path)
{
	static char names[256];
	struct error error = { "" };
	struct input *input = input_open(path, &error);
	const unsigned char *head;
	size_t length;

	if (!input)
		return NULL;
	names[0] = '\0';
	length = input_peek(input, TRACE_HEAD, &head);
	for (int k = 0; trace_formats[k]; k++)
		if (trace_formats[k]->recognise(head, length))
			strcat(names, trace_formats[k]->name);
	input_close(input);
	return names;
}

static void test_captures_are_recognised(void)
{
	const char *shared = getenv("HITM_SHARED");
	char path[512];

	for (size_t k = 0; k < sizeof(captures) / sizeof(*captures); k++) {
		const char *format;

		snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared",
			 captures[k].file);
		format = format_of(path);
		if (!format && !k) {
			test_skip("no captures: HITM_SHARED does not name the directory that has "
				  "them");
			return;
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(format);
		if (strcmp(format, captures[k].format))
			fprintf(stderr, "%s: %s\n", captures[k].file, format);
		CU_ASSERT_STRING_EQUAL(format, captures[k].format);
	}
}

void suite_recognise(void)
{
	CU_pSuite suite = CU_add_suite("recognise", NULL, NULL);

	CU_ADD_TEST(suite, test_each_sample_is_of_one_format);
	CU_ADD_TEST(suite, test_line_ends_of_dos_do_not_matter);
	CU_ADD_TEST(suite, test_what_is_refused_says_what_to_hand_in);
	CU_ADD_TEST(suite, test_what_may_be_two_formats_is_the_users_choice);
	CU_ADD_TEST(suite, test_what_is_no_capture_is_refused);
	CU_ADD_TEST(suite, test_a_line_that_the_head_cuts_off_does_not_matter);
	CU_ADD_TEST(suite, test_captures_are_recognised);
}
