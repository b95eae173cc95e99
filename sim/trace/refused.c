/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that people have at hand and that are not read: what each is, why, and what to hand in. */
#define _GNU_SOURCE /* memmem */
#include "trace/din.h"
#include "trace/formats.h"
#include "trace/lines.h"
#include <string.h>

#define PERF_SCRIPT                                                                               \
	"`perf script -G --ns -F comm,pid,tid,cpu,time,period,event,addr,data_src,weight,ip,sym," \
	"symoff,dso`"

/* ---- pieces of lines ------------------------------------------------------------------------ */

static bool has(struct text line, const char *words)
{
	return memmem(line.at, line.length, words, strlen(words));
}

static bool starts(struct text line, const char *words)
{
	struct scan scan = scan_text(line);

	return scan_word(&scan, words);
}

static bool head_starts(const unsigned char *head, size_t length, const char *bytes, size_t count)
{
	return length >= count && !memcmp(head, bytes, count);
}

/* A heading, which headers of a file and messages may come before. */
static enum line_verdict if_met(bool met)
{
	return met ? LINE_FITS : LINE_IGNORED;
}

/* ---- perf ----------------------------------------------------------------------------------- */

/* "1 1912527895259 0xf4d0 [0x48]: PERF_RECORD_SAMPLE(IP, 0x2): ...", without the lines of perf script
 * that -D may leave in between; or registers of AMD's IBS. */
static enum line_verdict judge_perf_dump(struct text line)
{
	if (has(line, " |OP ") || has(line, "|LVL "))
		return LINE_DIFFERS;
	return if_met((has(line, " [0x") && has(line, "]: PERF_RECORD_SAMPLE(")) ||
		      starts(line, "ibs_op_ctl:"));
}

static bool recognise_perf_dump(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, UINT32_MAX, judge_perf_dump);
}

/* perf report and perf mem report say "Samples: 14  of event 'EVENT'" above their columns. */
static enum line_verdict judge_perf_report(struct text line)
{
	struct scan scan = scan_text(line);

	scan_char(&scan, '#');
	scan_blanks(&scan);
	return if_met((scan_word(&scan, "Samples: ") && has(line, " of event")) ||
		      scan_word(&scan, "Annotate type: '"));
}

static bool recognise_perf_report(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_perf_report);
}

/* "     0.053 ( 0.000 ms): comm/8370 minfault [...". */
static enum line_verdict judge_perf_trace(struct text line)
{
	struct scan scan = scan_text(line);
	uint64_t time;

	scan_blanks(&scan);
	if (!scan_seconds(&scan, &time) || !scan_word(&scan, " ("))
		return LINE_IGNORED;
	scan_blanks(&scan);
	if (!scan_seconds(&scan, &time))
		scan_char(&scan, '?');
	scan_blanks(&scan);
	return if_met(scan_word(&scan, "ms): ") || scan_word(&scan, "): "));
}

static bool recognise_perf_trace(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_perf_trace);
}

/* Text of perf script in which no sample has what its reader needs, known by perf's header or by an
 * event with modifiers, as in "cpu/mem-loads/P:". */
static enum line_verdict judge_perf_columns(struct text line)
{
	return if_met((starts(line, "# cmdline : ") && has(line, "perf")) || has(line, "/P: ") ||
		      has(line, "/pp: ") || has(line, "/ppp: "));
}

static bool recognise_perf_columns(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_perf_columns) &&
	       !trace_format_perf_script.recognise(head, length) &&
	       !recognise_perf_dump(head, length) && !recognise_perf_report(head, length);
}

static bool recognise_perf_json(const unsigned char *head, size_t length)
{
	return length && *head == '{' && memmem(head, length, "\"linux-perf-json-version\"", 25);
}

/* As babeltrace prints: "[00:31:52.527895259] (+0.000018081) EVENT: { cpu_id = 1 }, { ... }". */
static enum line_verdict judge_ctf(struct text line)
{
	if (starts(line, "[") && has(line, "] (+") && has(line, ": { "))
		return LINE_FITS;
	return LINE_DIFFERS;
}

static bool recognise_ctf(const unsigned char *head, size_t length)
{
	return head_starts(head, length, "\xc1\x1f\xfc\xc1", 4) ||
	       head_starts(head, length, "/* CTF 1.", 9) ||
	       lines_recognise(head, length, 1, judge_ctf);
}

/* ---- other tools ---------------------------------------------------------------------------- */

static enum line_verdict judge_ftrace(struct text line)
{
	return starts(line, "# tracer: ") ? LINE_FITS : LINE_DIFFERS;
}

static bool recognise_ftrace(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_ftrace);
}

/* A zip archive of chunk.0000 and so on; or entries of 2 bytes type, 2 size and 8 value, of which the
 * first is a header, with a version, and the second a thread, a process or a marker. */
static bool recognise_drmemtrace_binary(const unsigned char *head, size_t length)
{
	enum { HEADER = 25, THREAD = 22, PROCESS = 24, MARKER = 28, ZIP_NAME = 30 };
	static const unsigned char zeros[7];

	if (head_starts(head, length, "PK\3\4", 4))
		return length > ZIP_NAME + 6 && !memcmp(head + ZIP_NAME, "chunk.", 6);
	return length >= 24 && head[0] == HEADER && !head[1] && !head[3] && head[4] &&
	       !memcmp(head + 5, zeros, 7) && !head[13] &&
	       (head[12] == THREAD || head[12] == PROCESS || head[12] == MARKER);
}

/* "0xIP 0xADDRESS CPU SECONDS SAMPLE". */
static enum line_verdict judge_memgaze(struct text line)
{
	struct scan scan = scan_text(line);
	uint64_t value;

	return scan_word(&scan, "0x") && scan_hex(&scan, &value) && scan_word(&scan, " 0x") &&
			       scan_hex(&scan, &value) && scan_gap(&scan) &&
			       scan_decimal(&scan, &value) && scan_gap(&scan) &&
			       scan_seconds(&scan, &value)
		       ? LINE_FITS
		       : LINE_DIFFERS;
}

static bool recognise_memgaze(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 32, judge_memgaze);
}

static enum line_verdict judge_mitos(struct text line)
{
	return starts(line, "variable,source,line,time,") ? LINE_FITS : LINE_DIFFERS;
}

static bool recognise_mitos(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_mitos);
}

static enum line_verdict judge_ibs_csv(struct text line)
{
	return starts(line, "TSC,CPU_Number,TID,PID,") ? LINE_FITS : LINE_DIFFERS;
}

static bool recognise_ibs_csv(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_ibs_csv);
}

/* "0 0x7fe891b0" as din, but 2 is so many cycles of computing; and "0 r 1ce026e0". */
static enum line_verdict judge_course(struct text line)
{
	enum { CYCLES_MOST = 0xffff }; /* what is more is an address, and the file is of Dinero */
	struct scan scan = scan_text(line);
	struct din_line din;
	uint64_t value;

	if (!line.length)
		return LINE_IGNORED;
	if (scan_decimal(&scan, &value) && scan_gap(&scan) &&
	    (scan_word(&scan, "r ") || scan_word(&scan, "w ")))
		return scan_hex(&scan, &value) ? LINE_FITS : LINE_DIFFERS;
	if (!din_parse(line, &din) || din.label > '2' || din.size || din.commented ||
	    (din.label == '2' && din.address > CYCLES_MOST))
		return LINE_DIFFERS;
	return LINE_FITS;
}

static bool recognise_course(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, UINT32_MAX, judge_course);
}

static enum line_verdict judge_pahole(struct text line)
{
	return if_met(has(line, "/* --- cacheline ") || has(line, ", cachelines: "));
}

static bool recognise_pahole(const unsigned char *head, size_t length)
{
	return lines_recognise(head, length, 1, judge_pahole);
}

/* --------------------------------------------------------------------------------------------- */

const struct trace_format trace_refused[REFUSED_FORMATS] = {
	[REFUSED_PERF_DUMP] = {
		.name = "perf-dump",
		.about = "perf report -D, perf script -D",
		.recognise = recognise_perf_dump,
		.refusal = "a raw dump of perf's -D; hand in the perf.data that it is of, or what "
			   PERF_SCRIPT " prints of that",
	},
	[REFUSED_PERF_REPORT] = {
		.name = "perf-report",
		.about = "perf report, perf mem report, perf annotate --data-type",
		.recognise = recognise_perf_report,
		.refusal = "a report of perf, which has sums but neither threads nor times; hand in the "
			   "perf.data that it is of, or what " PERF_SCRIPT " prints of that",
	},
	[REFUSED_PERF_TRACE] = {
		.name = "perf-trace",
		.about = "perf trace",
		.recognise = recognise_perf_trace,
		.refusal = "text of `perf trace`, whose page faults are first touches only; record memory "
			   "events or breakpoints, and hand in the perf.data",
	},
	[REFUSED_PERF_COLUMNS] = {
		.name = "perf-columns",
		.about = "perf script with too few columns",
		.recognise = recognise_perf_columns,
		.refusal = "text of perf script without a process, a time or an event in its lines; hand "
			   "in what " PERF_SCRIPT " prints",
	},
	[REFUSED_PERF_JSON] = {
		.name = "perf-json",
		.about = "perf data convert --to-json",
		.recognise = recognise_perf_json,
		.refusal = "an export of `perf data convert --to-json`, which leaves data addresses out; "
			   "hand in the perf.data itself",
	},
	[REFUSED_CTF] = {
		.name = "ctf",
		.about = "perf data convert --to-ctf, LTTng, and babeltrace's text of them",
		.recognise = recognise_ctf,
		.refusal = "a trace in the Common Trace Format, into which perf puts no data addresses; "
			   "hand in the perf.data itself",
	},
	[REFUSED_FTRACE] = {
		.name = "ftrace",
		.about = "the kernel's function tracers",
		.recognise = recognise_ftrace,
		.refusal = "text of ftrace, which has functions but no data addresses; record memory "
			   "events or breakpoints with perf, and hand in the perf.data",
	},
	[REFUSED_DRMEMTRACE_BINARY] = {
		.name = "drmemtrace-binary",
		.about = "DynamoRIO's own files",
		.recognise = recognise_drmemtrace_binary,
		.refusal = "a binary trace of DynamoRIO; hand in what `drrun -t drmemtrace -tool view "
			   "-indir DIRECTORY 2>&1` prints of it",
	},
	[REFUSED_MEMGAZE] = {
		.name = "memgaze",
		.about = "MemGaze",
		.recognise = recognise_memgaze,
		.refusal = "a trace of MemGaze, which has bursts of loads but neither stores nor threads; "
			   "record loads and stores with `perf mem record`, and hand in the perf.data",
	},
	[REFUSED_MITOS] = {
		.name = "mitos",
		.about = "Mitos, MemAxes",
		.recognise = recognise_mitos,
		.refusal = "samples of Mitos, in which an index stands for the address; record with "
			   "`perf mem record`, and hand in the perf.data",
	},
	[REFUSED_IBS_CSV] = {
		.name = "ibs-csv",
		.about = "AMD's IBS toolkit",
		.recognise = recognise_ibs_csv,
		.refusal = "a table of AMD's IBS toolkit; record with `perf mem record`, and hand in the "
			   "perf.data, or write its columns TSC, CPU, TID, LdOp, StOp, LinAd and MemWidth as "
			   "a trace of hitm",
	},
	[REFUSED_PAHOLE] = {
		.name = "pahole",
		.about = "pahole",
		.recognise = recognise_pahole,
		.refusal = "structs as pahole prints them, and no capture; `hitm layout import --pahole` "
			   "reads them",
	},
	[REFUSED_COURSE] = {
		.name = "course",
		.about = "homework on coherence: LABEL ADDRESS, or THREAD r|w ADDRESS",
		.recognise = recognise_course,
		.refusal = "a trace as courses on caches have them, whose columns have no one meaning; "
			   "write it as a trace of hitm, or say --from din if 0 is a read, 1 a write and 2 an "
			   "instruction in it",
	},
};
