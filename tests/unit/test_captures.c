/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures of others, which are not part of the project: read with the counts that an independent look
 * at them finds, or refused for the right reason. */
#include "tests/unit/suites.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct capture {
	const char *file;
	const char *format; /* NULL: refused */
	uint64_t read, used, lost;
	const char *refusal; /* words of it, also of one that comes at the end */
};

/* read: lines that match the pattern of a sample's head in perf's text; samples that perf script 6.1 prints
 * of a perf.data; lines of a letter and ADDRESS,SIZE in lackey's; records of the view of drmemtrace. used:
 * lines L, S and M of lackey; what the captured program had done, where breakpoints come in pairs. Rows of
 * perf c2c are counted in test_c2c.c. */
#define READ(file, format, read, used, lost)         \
	{                                            \
		file, format, read, used, lost, NULL \
	}
#define REFUSED(file, words)               \
	{                                  \
		file, NULL, 0, 0, 0, words \
	}
#define EMPTY(file, read, words)                       \
	{                                              \
		file, "perf-script", read, 0, 0, words \
	}

static const struct capture captures[] = {
	READ("local/heapctr-attach-w-rw.perf.data", "perf-data", 500, 300, 0),
	READ("local/heapctr-attach-w-rw.script.txt", "perf-script", 500, 300, 0),
	READ("local/odd-thread-names.default.script.txt", "perf-script", 20, 20, 0),
	READ("local/odd-thread-names.perf.data", "perf-data", 20, 20, 0),
	READ("local/odd-thread-names.script.txt", "perf-script", 20, 20, 0),
	REFUSED("local/pagectr-4fields.ctf-babeltrace.head40.txt", "Common Trace Format"),
	READ("local/pagectr-4fields.default.script.txt", "perf-script", 1604, 1604, 0),
	REFUSED("local/pagectr-4fields.dump-samples.head60.txt", "raw dump"),
	READ("local/pagectr-4fields.header-mmap.head120.txt", "perf-script", 57, 57, 0),
	REFUSED("local/pagectr-4fields.mem-report.txt", "a report of perf"),
	READ("local/pagectr-4fields.ns-wide.script.txt", "perf-script", 1604, 1604, 0),
	READ("local/pagectr-4fields.perf.data", "perf-data", 1604, 1604, 0),
	READ("local/pagectr-4fields.srcline.script.txt", "perf-script", 1604, 1604, 0),
	READ("local/pagectr-callchain-addr.script.txt", "perf-script", 41, 41, 0),
	READ("local/pagectr-callchain.perf.data", "perf-data", 41, 41, 0),
	READ("local/pagectr-callchain.script.txt", "perf-script", 41, 41, 0),
	READ("local/pagectr-lackey.excerpt.txt", "lackey", 2008, 661, 0),
	READ("local/pagectr-lost.excerpt.script.txt", "perf-script", 28, 28, 965),
	READ("local/pagectr-lost.perf.data", "perf-data", 11036, 11036, 965),
	READ("local/pagectr-page-faults.perf.data", "perf-data", 64, 64, 0),
	READ("local/pagectr-page-faults.script.txt", "perf-script", 64, 64, 0),
	REFUSED("local/pagectr-perf-trace-faults.txt", "perf trace"),
	REFUSED("local/pagectr-uprobes.perf.data", "no event with addresses of data"),
	EMPTY("local/pagectr-uprobes.script.txt", 401, "no sample of an access to data"),
	READ("local/pagectr-w-and-rw.perf.data", "perf-data", 1001, 601, 0),
	REFUSED("memtrace/amd-ibs-toolkit-op-1k.csv", "IBS toolkit"),
	REFUSED("memtrace/cs4223-bodytrack_2.head20000.data", "courses on caches"),
	READ("memtrace/drmemtrace-view-doc-excerpt.txt", "drmemtrace", 31, 10, 0),
	REFUSED("memtrace/drmemtrace.allasm_x86_64.trace.zip", "binary trace of DynamoRIO"),
	REFUSED("memtrace/drmemtrace.small.x64.trace", "binary trace of DynamoRIO"),
	REFUSED("memtrace/drmemtrace.threadsig.872906.trace.zip", "binary trace of DynamoRIO"),
	REFUSED("memtrace/ftrace-function-doc.txt", "ftrace"),
	REFUSED("memtrace/ftrace-function_graph-doc.txt", "ftrace"),
	READ("memtrace/gem5-tgen-simple-mem.trc", "gem5", 2, 2, 0),
	READ("memtrace/lackey-cachelab-long.head40000.trace", "lackey", 40000, 40000, 0),
	READ("memtrace/lackey-cachelab-trans.trace", "lackey", 596, 218, 0),
	READ("memtrace/lackey-style-yi2.trace", "lackey", 16, 16, 0),
	REFUSED("memtrace/memgaze-pt-ubench-O3-n500k-buf8k-p100000.head20000.trace", "MemGaze"),
	REFUSED("memtrace/mitos-lulesh-inorder.head4000.csv", "Mitos"),
	REFUSED("memtrace/mitos-lulesh-pebs-samples.csv", "Mitos"),
	REFUSED("memtrace/om-deshmukh-trace.2t.short.txt", "courses on caches"),
	READ("memtrace/pin-pinatrace-sized.head20000.out", "pinatrace", 19997, 19997, 0),
	READ("memtrace/pin-pinatrace-sized.tail3.out", "pinatrace", 3, 3, 0),
	REFUSED("perf-c2c/mmap_lock-layouts.pahole.txt", "layout import --pahole"),
	READ("perf-data/ivb-pebs-loads-freq.perf.data", "perf-data", 14, 14, 0),
	REFUSED("perf-data/robust-sleep-filemode.perf.data", "no event with addresses of data"),
	REFUSED("perf-data/robust-sleep-zstd.perf.data", "no event with addresses of data"),
	REFUSED("perf-data/robust-sleep-zstd2-pipe.perf.data", "pipe"),
	READ("perf-data/skx-pebs-loads-weight_struct.perf.data", "perf-data", 14, 14, 0),
	REFUSED("perf-mem/amd-ibs-6.19-doc-examples.txt", "a report of perf"),
	REFUSED("perf-mem/amd-ibs-F-mem-sample-snoop.mem-report.txt", "a report of perf"),
	REFUSED("perf-mem/annotate-data-type-group-struct_page.txt", "a report of perf"),
	REFUSED("perf-mem/annotate-data-type-pcpu_hot.txt", "a report of perf"),
	REFUSED("perf-mem/ivb-pebs-loads-freq.mem-report.txt", "a report of perf"),
	REFUSED("perf-mem/ppc-report-type-typeoff-hierarchy.txt", "a report of perf"),
	REFUSED("perf-mem/skx-pebs-loads-weight_struct.mem-report.txt", "a report of perf"),
	REFUSED("perf-mem/skx-report-mem-mode.txt", "a report of perf"),
	REFUSED("perf-script/amd-ibs-raw-dump.txt", "raw dump"),
	EMPTY("perf-script/arm-spe-5.19-OP.script.txt", 4, "no data address"),
	EMPTY("perf-script/arm-spe-pre5.19-no-OP.script.txt", 4, "no data address"),
	REFUSED("perf-script/intel-noploop-event-weight.script.txt", "without a process"),
	READ("perf-script/ivb-pebs-loads-freq.default.script.txt", "perf-script", 14, 14, 0),
	READ("perf-script/ivb-pebs-loads-freq.ns-wide.script.txt", "perf-script", 14, 14, 0),
	EMPTY("perf-script/multi-event-callchain.head300.txt", 85,
	      "no sample of an access to data"),
	EMPTY("perf-script/page-faults-callchain-java.txt", 23, "no data address"),
	REFUSED("perf-script/pid-slash-tid-callchain.head120.txt", "without a process"),
	EMPTY("perf-script/robust-empty-line.txt", 2, "no sample of an access to data"),
	EMPTY("perf-script/robust-versioned-vmlinux.txt", 1, "no sample of an access to data"),
	EMPTY("perf-script/robust-weird-stack-line.txt", 2, "no sample of an access to data"),
	READ("perf-script/skx-pebs-loads-weight_struct.default.script.txt", "perf-script", 14, 14,
	     0),
	READ("perf-script/skx-pebs-loads-weight_struct.ns-wide.script.txt", "perf-script", 14, 14,
	     0),
};

enum { CAPTURES = sizeof(captures) / sizeof(*captures) };

static bool refused_for(const struct capture *capture, const struct error *error)
{
	return capture->refusal && strstr(error->text, capture->refusal) &&
	       !strchr(error->text, '\n');
}

static void check_counts(const struct capture *capture, const struct trace_summary *summary)
{
	bool right = summary->read == capture->read && summary->used == capture->used &&
		     summary->lost == capture->lost;

	CU_ASSERT_TRUE(right);
	if (!right)
		printf("%s: read %llu, used %llu, lost %llu\n", capture->file,
		       (unsigned long long)summary->read, (unsigned long long)summary->used,
		       (unsigned long long)summary->lost);
}

static void check_capture(const char *path, const struct capture *capture)
{
	struct error error = { "" };
	struct trace *trace = trace_open(path, NULL, &error);
	struct trace_record record;
	enum trace_step step = STEP_FAILED;

	while (trace && (step = trace_next(trace, &record, &error)) == STEP_RECORD)
		;
	if (capture->refusal && !refused_for(capture, &error))
		printf("%s: %s\n", capture->file, error.text);
	CU_ASSERT_EQUAL(step == STEP_END && !error.text[0], !capture->refusal);
	CU_ASSERT_TRUE(!capture->refusal || refused_for(capture, &error));
	CU_ASSERT_EQUAL(trace != NULL, capture->format != NULL);
	if (trace && capture->format) {
		CU_ASSERT_STRING_EQUAL(trace_summary(trace)->format, capture->format);
		check_counts(capture, trace_summary(trace));
	}
	trace_close(trace);
}

static void captures_of_others_are_read_or_refused_for_the_right_reason(void)
{
	const char *shared = getenv("HITM_SHARED");
	char path[1024];
	int found = 0;

	for (int k = 0; k < CAPTURES; k++) {
		snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared",
			 captures[k].file);
		if (access(path, R_OK))
			continue;
		found++;
		check_capture(path, &captures[k]);
	}
	if (!found)
		test_skip("captures of others are not here (HITM_SHARED names where)");
}

void suite_captures(void)
{
	CU_pSuite suite = CU_add_suite("captures", NULL, NULL);

	CU_ADD_TEST(suite, captures_of_others_are_read_or_refused_for_the_right_reason);
}
