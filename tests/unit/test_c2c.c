/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of perf c2c. The reports here were written for these tests, in the forms that perf has had; each
 * began with counts, of which the shares were worked out as perf does. What real reports hold was
 * counted by hand. */
#define _GNU_SOURCE /* memmem, asprintf */
#include "engine/random.h"
#include "tests/unit/suites.h"
#include "trace/c2c.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading a report ----------------------------------------------------------------------- */

enum { RECORDS_KEPT = 256 };

struct kept {
	struct trace_record record;
	char symbol[300], name[80];
};

struct report {
	struct error error;
	enum trace_step last;
	struct trace *trace;
	const struct trace_summary *summary;
	const struct c2c_line *lines;
	uint32_t line_count;
	uint64_t count; /* of records; the first are kept */
	struct kept kept[RECORDS_KEPT];
};

static void copy(char *to, size_t room, struct text text)
{
	snprintf(to, room, "%.*s", (int)text.length, text.length ? text.at : "");
}

static void read_all(struct report *report)
{
	struct trace_record record;
	uint64_t dropped = 0;

	while ((report->last = trace_next(report->trace, &record, &report->error)) == STEP_RECORD) {
		struct kept *kept;

		CU_ASSERT_TRUE(record.weight >= 1 && record.cpus >= 1);
		if (report->count++ >= RECORDS_KEPT)
			continue;
		kept = &report->kept[report->count - 1];
		kept->record = record;
		copy(kept->symbol, sizeof(kept->symbol), record.symbol);
		copy(kept->name, sizeof(kept->name), record.thread_name);
	}
	report->summary = trace_summary(report->trace);
	report->line_count = c2c_lines(report->trace, &report->lines);
	for (int why = 0; why < DROPS; why++)
		dropped += report->summary->dropped[why];
	CU_ASSERT_EQUAL(report->summary->read, report->summary->used + dropped);
	CU_ASSERT_EQUAL(report->summary->used, report->count);
}

static struct report *read_bytes(const char *bytes, size_t length, const char *format)
{
	static const struct trace_summary none;
	struct report *report = calloc(1, sizeof(*report));

	report->summary = &none;
	report->trace = trace_open_memory("r.txt", bytes, length, format, &report->error);
	if (report->trace)
		read_all(report);
	else
		report->last = STEP_FAILED;
	return report;
}

static struct report *read_text(const char *text)
{
	return read_bytes(text, strlen(text), NULL);
}

static void drop(struct report *report)
{
	trace_close(report->trace);
	free(report);
}

static bool noted(const struct report *report, const char *words)
{
	for (uint32_t k = 0; k < report->summary->note_count; k++)
		if (strstr(report->summary->notes[k], words))
			return true;
	return false;
}

struct expected {
	uint8_t op, source;
	uint64_t address, weight, ip;
	uint32_t latency, cpus;
	const char *symbol;
};

static void expect_records(const struct report *report, const struct expected *expected,
			   size_t count)
{
	CU_ASSERT_EQUAL(report->last, STEP_END);
	CU_ASSERT_EQUAL(report->count, count);
	for (size_t k = 0; k < count && k < report->count; k++) {
		const struct trace_record *record = &report->kept[k].record;

		CU_ASSERT_EQUAL(record->op, expected[k].op);
		CU_ASSERT_EQUAL(record->source, expected[k].source);
		CU_ASSERT_EQUAL(record->address, expected[k].address);
		CU_ASSERT_EQUAL(record->weight, expected[k].weight);
		CU_ASSERT_EQUAL(record->ip, expected[k].ip);
		CU_ASSERT_EQUAL(record->latency, expected[k].latency);
		CU_ASSERT_EQUAL(record->cpus, expected[k].cpus);
		if (expected[k].symbol)
			CU_ASSERT_STRING_EQUAL(report->kept[k].symbol, expected[k].symbol);
		CU_ASSERT_EQUAL(record->known & (KNOWN_ADDRESS | KNOWN_IP),
				KNOWN_ADDRESS | KNOWN_IP);
		CU_ASSERT_EQUAL(!!(record->known & KNOWN_LATENCY), expected[k].latency != 0);
		CU_ASSERT_FALSE(record->known & (KNOWN_TIME | KNOWN_CPU | KNOWN_SIZE | KNOWN_TID));
	}
}

#define EXPECT(report, ...)                                                                \
	do {                                                                               \
		static const struct expected expected_[] = { __VA_ARGS__ };                \
		expect_records(report, expected_, sizeof(expected_) / sizeof(*expected_)); \
	} while (0)

/* ---- the sets of columns -------------------------------------------------------------------- */

#define BAR    "=================================================\n"
#define TABLE  BAR "           Shared Data Cache Line Table          \n" BAR "#\n"
#define PARETO BAR "      Shared Cache Line Distribution Pareto      \n" BAR "#\n"
#define DASHES "  -------------------------------------------------------------\n"

/* Of 8 remote HITM 5 and 3, of 4 local 1 and 3, of 200 stores that hit 150 and 50, of 10 that missed all in
 * the second row. */
static const char first_form[] = TABLE
	"#                              Total      Rmt  ----- LLC Load Hitm -----  ---- Store "
	"Reference ----  --- Load Dram ----      LLC    Total  ----- Core Load Hit -----  -- LLC "
	"Load Hit --\n"
	"# Index           Cacheline  records     Hitm    Total      Lcl      Rmt    Total    "
	"L1Hit "
	"  L1Miss       Lcl       Rmt  Ld Miss    Loads       FB       L1       L2       Llc       "
	"Rmt\n"
	"# .....  ..................  .......  .......  .......  .......  .......  .......  "
	"....... "
	" .......  ........  ........  .......  .......  .......  .......  .......  ........  "
	"........\n"
	"#\n"
	"      0            0x500100      300   60.00%       12        4        8      210      "
	"200 "
	"      10         1         2       11       90       20       30        7        17       "
	"  "
	"9\n" PARETO "#        ----- HITM -----  -- Store Refs --        Data address              "
	"              "
	"   ---------- cycles ----------       cpu                                     Shared\n"
	"#   Num      Rmt      Lcl   L1 Hit  L1 Miss              Offset      Pid        Code "
	"address  rmt hitm  lcl hitm      load       cnt               Symbol                "
	"Object "
	"                 Source:Line  Node{cpu list}\n"
	"# .....  .......  .......  .......  .......  ..................  .......  "
	"..................  ........  ........  ........  ........  ...................  "
	"....................  ...........................  ....\n"
	"#\n" DASHES "      0        8        4      200       10            0x500100\n" DASHES
	"          62.50%   25.00%   75.00%    0.00%                 0x0    4711            "
	"0x401111     611     622     633         9  [.] lock_it          a.out               "
	"  a.c:10   0{0-1,3}  1{16-17,40}  2{64}  3{81}\n"
	"          37.50%   75.00%   25.00%  100.00%                0x20    4711            "
	"0x402222      744      755      766         2  [.] read_it          a.out               "
	"  a.c:20   1{18}  2{65}\n";

static void the_first_form_has_no_records_column(void)
{
	struct report *report = read_text(first_form);

	EXPECT(report, { TRACE_LOAD, SOURCE_HITM_REMOTE, 0x500100, 5, 0x401111, 611, 9, "lock_it" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500100, 1, 0x401111, 622, 9, "lock_it" },
	       { TRACE_STORE, SOURCE_UNKNOWN, 0x500100, 150, 0x401111, 0, 9, "lock_it" },
	       { TRACE_LOAD, SOURCE_HITM_REMOTE, 0x500120, 3, 0x402222, 744, 2, "read_it" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500120, 3, 0x402222, 755, 2, "read_it" },
	       { TRACE_STORE, SOURCE_UNKNOWN, 0x500120, 60, 0x402222, 0, 2, "read_it" });
	CU_ASSERT_TRUE(report->kept[0].record.known & KNOWN_PID);
	CU_ASSERT_EQUAL(report->kept[0].record.pid, 4711);
	CU_ASSERT_TRUE(noted(report, "rows without a total"));
	CU_ASSERT_EQUAL(report->summary->kind, KIND_AGGREGATE);
	drop(report);
}

#define SECOND_TABLE                                                                              \
	TABLE "#        ----------- Cacheline ----------    Total      Tot  ----- LLC Load Hitm " \
	      "-----  ---- Store Reference ----  --- Load Dram ----      LLC    Total  ----- "    \
	      "Core Load Hit -----  -- LLC Load Hit --\n"                                         \
	      "# Index             Address  Node  PA cnt  records     Hitm    Total      Lcl  "   \
	      "    Rmt    Total    L1Hit   L1Miss       Lcl       Rmt  Ld Miss    Loads       "   \
	      "FB       L1       L2       Llc       Rmt\n"                                        \
	      "#\n"                                                                               \
	      "      0  0xffff888000012340   0-1   12      300   60.00%       12        4  "      \
	      "      8      210      200       10         1         2       11       90       "   \
	      "20       30        7        17         9\n"
#define SECOND_NAMES                                                                               \
	"#        ----- HITM -----  -- Store Refs --  --------- Data address ---------           " \
	"                    ---------- cycles ----------    Total       cpu                     " \
	"                     Shared\n"                                                            \
	"#   Num      Rmt      Lcl   L1 Hit  L1 Miss              Offset  Node  PA cnt      Pid  " \
	"      Code address  rmt hitm  lcl hitm      load  records       cnt                     " \
	"  Symbol             Object                 Source:Line  Node\n"                          \
	"# .....  .......  .......  .......  .......  ..................  ....  ......  .......  " \
	"..................  ........  ........  ........  .......  ........  .................."  \
	".........  .................  ..........................  ....\n"                         \
	"#\n"

static const char second_form[] = SECOND_TABLE PARETO SECOND_NAMES DASHES
	"      0        8        4      200       10  0xffff888000012340\n" DASHES
	"          62.50%   25.00%   75.00%    0.00%                 0x0   0-1       1    501  "
	"0xffffffff81001111      4000      361      352      200         1  [k] "
	"put_the_last_one     [kernel.kallsyms]  put_the_last_one+19      1{8}\n"
	"          37.50%   75.00%   25.00%  100.00%                 0x8     1       1    502  "
	"0xffffffff81002222      4100      453      374      100         2  [k] take_one      "
	"           [kernel.kallsyms]  take_one+3                   0{0}  1{24}\n";

#define SECOND_EXPECTED                                                                            \
	{ TRACE_LOAD, SOURCE_HITM_REMOTE, 0xffff888000012340, 5, 0xffffffff81001111, 4000,         \
	  1,          "put_the_last_one" },                                                        \
		{ TRACE_LOAD, SOURCE_HITM_LOCAL, 0xffff888000012340, 1, 0xffffffff81001111, 361,   \
		  1,          "put_the_last_one" },                                                \
		{ TRACE_STORE, SOURCE_UNKNOWN,    0xffff888000012340, 150, 0xffffffff81001111, 0,  \
		  1,           "put_the_last_one" },                                               \
		{ TRACE_LOAD, SOURCE_UNKNOWN,    0xffff888000012340, 44, 0xffffffff81001111, 352,  \
		  1,          "put_the_last_one" },                                                \
		{ TRACE_LOAD, SOURCE_HITM_REMOTE, 0xffff888000012348, 3, 0xffffffff81002222, 4100, \
		  2,          "take_one" },                                                        \
		{ TRACE_LOAD, SOURCE_HITM_LOCAL, 0xffff888000012348, 3, 0xffffffff81002222, 453,   \
		  2,          "take_one" },                                                        \
		{ TRACE_STORE, SOURCE_UNKNOWN, 0xffff888000012348, 60, 0xffffffff81002222, 0,      \
		  2,           "take_one" },                                                       \
	{                                                                                          \
		TRACE_LOAD, SOURCE_UNKNOWN, 0xffff888000012348, 34, 0xffffffff81002222, 374, 2,    \
			"take_one"                                                                 \
	}

static void other_loads_are_what_is_left_of_the_records(void)
{
	struct report *report = read_text(second_form);

	EXPECT(report, SECOND_EXPECTED);
	CU_ASSERT_EQUAL(report->kept[4].record.pid, 502);
	CU_ASSERT_FALSE(noted(report, "rows without a total"));
	CU_ASSERT_FALSE(noted(report, "taken for HITM"));
	drop(report);
}

#define TABLE_5_11                                                                                \
	"#        ----------- Cacheline ----------      Tot  ------- Load Hitm -------    Total " \
	"   Total    Total  ---- Stores ----  ----- Core Load Hit -----  - LLC Load Hit --  - "   \
	"RMT "                                                                                    \
	"Load Hit --  --- Load Dram ----\n"                                                       \
	"# Index             Address  Node  PA cnt     Hitm    Total  LclHitm  RmtHitm  records " \
	"   Loads   Stores    L1Hit   L1Miss       FB       L1       L2    LclHit  LclHitm    "   \
	"RmtHit  RmtHitm       Lcl       Rmt\n"
#define NAMES_5_11                                                                                 \
	"#        ----- HITM -----  -- Store Refs --  --------- Data address ---------           " \
	"           ---------- cycles ----------    Total       cpu                              " \
	"               Shared\n"                                                                  \
	"#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss              Offset  Node  PA cnt        "    \
	"Code address  rmt hitm  lcl hitm      load  records       cnt                          "  \
	"Symbol             Object        Source:Line  Node\n"                                     \
	"# .....  .......  .......  .......  .......  ..................  ....  ......  "          \
	"..................  ........  ........  ........  .......  ........  "                    \
	"..............................  .................  .................  ....\n"             \
	"#\n"
#define ROWS_5_11                                                                                \
	DASHES "      0       10       20        6        4  0xff11000000abc000\n" DASHES        \
	       "          30.00%   40.00%   50.00%   25.00%                 0x0     0       1  " \
	       "0xffffffff81003333       851       620       429       15        49  [k] "       \
	       "wait_for_turn       [kernel.kallsyms]  queue.h:19   0  1\n"                      \
	       "          70.00%   60.00%   50.00%   75.00%                0x38     0       1  " \
	       "0xffffffff81004444       458       111       186       25        48  [k] "       \
	       "give_back                [kernel.kallsyms]  queue.h:94           0  1\n"

static const char third_form[] = TABLE TABLE_5_11
	"#\n"
	"      0  0xff11000000abc000     0   11   90.91%       30       20       10       40      "
	" 30       10        6        4        1        2        3         4       20         5    "
	"  "
	" 10         7         8\n"
	"      1  0xff11000000abd000     1     5    9.09%        3        2        1        3      "
	" "
	"  3        0        0        0        0        0        0         0        2         0    "
	"  "
	"  1         0         0\n" PARETO NAMES_5_11 ROWS_5_11;

#define THIRD_EXPECTED                                                                            \
	{ TRACE_LOAD, SOURCE_HITM_REMOTE, 0xff11000000abc000, 3, 0xffffffff81003333, 851,         \
	  49,         "wait_for_turn" },                                                          \
		{ TRACE_LOAD, SOURCE_HITM_LOCAL, 0xff11000000abc000, 8, 0xffffffff81003333, 620,  \
		  49,         "wait_for_turn" },                                                  \
		{ TRACE_STORE, SOURCE_UNKNOWN, 0xff11000000abc000, 4, 0xffffffff81003333, 0,      \
		  49,          "wait_for_turn" },                                                 \
		{ TRACE_LOAD, SOURCE_HITM_REMOTE, 0xff11000000abc038, 7, 0xffffffff81004444, 458, \
		  48,         "give_back" },                                                      \
		{ TRACE_LOAD, SOURCE_HITM_LOCAL, 0xff11000000abc038, 12, 0xffffffff81004444, 111, \
		  48,         "give_back" },                                                      \
	{                                                                                         \
		TRACE_STORE, SOURCE_UNKNOWN, 0xff11000000abc038, 6, 0xffffffff81004444, 0, 48,    \
			"give_back"                                                               \
	}

static void no_other_loads_where_all_records_are_told(void)
{
	struct report *report = read_text(third_form);

	EXPECT(report, THIRD_EXPECTED);
	CU_ASSERT_EQUAL(report->summary->without_tid, 6);
	drop(report);
}

#define NAMES_5_19                                                                                 \
	"#        ----- HITM -----  ------- Store Refs ------  --------- Data address ---------  " \
	"                    ---------- cycles ----------    Total       cpu                     " \
	"             Shared\n"                                                                    \
	"#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss      N/A              Offset  Node  PA cnt  " \
	"      Code address  rmt hitm  lcl hitm      load  records       cnt                  "    \
	"Symbol             Object              Source:Line  Node\n"                               \
	"# .....  .......  .......  .......  .......  .......  ..................  ....  ......  " \
	"..................  ........  ........  ........  .......  ........  "                    \
	"......................  .................  .......................  ....\n"               \
	"#\n"
#define DASHES_5_19 "  ----------------------------------------------------------------------\n"

static const char fourth_form[] = TABLE
	"#        ----------- Cacheline ----------      Tot  ------- Load Hitm -------    Total    "
	"Total    Total  --------- Stores --------  ----- Core Load Hit -----  - LLC Load Hit --  "
	"- "
	"RMT Load Hit --  --- Load Dram ----\n"
	"#\n"
	"      0      0x555500000080     0    17   100.00%      250      252        2     6044     "
	"3550     2494     2024      470        5      528     2672       78        20      252    "
	" "
	"    9        2         3         4\n" PARETO NAMES_5_19 DASHES_5_19
	"      0        2      250     2000      400        5      0x555500000080\n" DASHES_5_19
	"           0.00%    0.80%   90.00%    0.00%   40.00%                 0x0     0       1    "
	" "
	" 0x555500005555         0      1800       878     3029         3  [.] 0x0000000000005555  "
	"two_counters  two_counters[5555]   0\n"
	"         100.00%   99.20%   10.00%  100.00%   60.00%                0x20     0       1    "
	" "
	" 0x555500006666       900       141       103     1131         2  [.] 0x0000000000006666  "
	"two_counters  two_counters[6666]   0\n";

static void stores_of_no_level_count_as_stores(void)
{
	struct report *report = read_text(fourth_form);

	EXPECT(report,
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x555500000080, 2, 0x555500005555, 1800, 3,
		 "0x0000000000005555" },
	       { TRACE_STORE, SOURCE_UNKNOWN, 0x555500000080, 1802, 0x555500005555, 0, 3,
		 "0x0000000000005555" },
	       { TRACE_LOAD, SOURCE_UNKNOWN, 0x555500000080, 1225, 0x555500005555, 878, 3,
		 "0x0000000000005555" },
	       { TRACE_LOAD, SOURCE_HITM_REMOTE, 0x5555000000a0, 2, 0x555500006666, 900, 2,
		 "0x0000000000006666" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x5555000000a0, 248, 0x555500006666, 141, 2,
		 "0x0000000000006666" },
	       { TRACE_STORE, SOURCE_UNKNOWN, 0x5555000000a0, 603, 0x555500006666, 0, 2,
		 "0x0000000000006666" },
	       { TRACE_LOAD, SOURCE_UNKNOWN, 0x5555000000a0, 278, 0x555500006666, 103, 2,
		 "0x0000000000006666" });
	drop(report);
}

static const char peer_form[] = TABLE
	"#        ----------- Cacheline ----------     Peer  ------- Load Peer -------    Total    "
	"Total    Total  --------- Stores --------  ----- Core Load Hit -----  - LLC Load Hit --  "
	"- "
	"RMT Load Hit --  --- Load Dram ----\n"
	"#\n"
	"      0            0x433140   N/A    7   100.00%      106      100        6      148      "
	"118       30        0        0       30        0        1        2        11        0     "
	" "
	"   6        0         0         0\n" PARETO
	"#        -- Peer Snoop --  ------- Store Refs ------  --------- Data address ---------    "
	" "
	"                 ---------- cycles ----------    Total       cpu                          "
	" "
	"    Shared\n"
	"#   Num      Rmt      Lcl   L1 Hit  L1 Miss      N/A              Offset  Node  PA cnt    "
	" "
	"   Code address  rmt peer  lcl peer      load  records       cnt                      "
	"Symbol   Object                Source:Line  Node{cpus %peers %stores}\n"
	"# .....  .......  .......  .......  .......  .......  ..................  ....  ......  "
	"..................  ........  ........  ........  .......  ........  "
	"..........................  .......  .........................  ....\n"
	"#\n" DASHES_5_19
	"      0        6      100        0        0       30            0x433140\n" DASHES_5_19
	"           0.00%    0.00%    0.00%    0.00%  100.00%                 0x8   N/A       0    "
	" "
	"       0x407777         0         0         0       30         4  [.] writer              "
	" "
	"   pulls  pulls.c:15               0{ 2 100.0%    n/a}\n"
	"         100.00%  100.00%    0.00%    0.00%    0.00%                0x20   N/A       0    "
	" "
	"       0x408888      401      402      403      118         4  [.] reader               "
	"   pulls  pulls.c:18               0{ 2 100.0%    n/a}\n";

static void peer_loads_are_no_hitm(void)
{
	struct report *report = read_text(peer_form);

	EXPECT(report, { TRACE_STORE, SOURCE_UNKNOWN, 0x433148, 30, 0x407777, 0, 4, "writer" },
	       { TRACE_LOAD, SOURCE_PEER_REMOTE, 0x433160, 6, 0x408888, 401, 4, "reader" },
	       { TRACE_LOAD, SOURCE_PEER_LOCAL, 0x433160, 100, 0x408888, 402, 4, "reader" },
	       { TRACE_LOAD, SOURCE_UNKNOWN, 0x433160, 12, 0x408888, 403, 4, "reader" });
	CU_ASSERT_TRUE(noted(report, "106 peer loads"));
	drop(report);
}

/* With a column of means more, and that peers are displayed told by the details alone. */
static void a_fourth_mean_is_passed_over(void)
{
	struct report *report = read_text(
		BAR
		"                 c2c details                     \n" BAR
		"  Cachelines sort on                : Peer Snoop\n" PARETO DASHES
		"      0        0        4        0        0        4            0x433140\n" DASHES
		"  0.00%  100.00%  0.00%  0.00%  50.00%  0x8  0  1  0x407777  0  33  44  55  9  4 "
		" [.] reader  pulls  pulls.c:15  0\n");

	EXPECT(report, { TRACE_LOAD, SOURCE_PEER_LOCAL, 0x433148, 4, 0x407777, 33, 4, "reader" },
	       { TRACE_STORE, SOURCE_UNKNOWN, 0x433148, 2, 0x407777, 0, 4, "reader" },
	       { TRACE_LOAD, SOURCE_UNKNOWN, 0x433148, 3, 0x407777, 55, 4, "reader" });
	drop(report);
}

/* ---- what pasting does to a report ---------------------------------------------------------- */

/* Writes a text again, each line by itself. */
static char *rewritten(const char *text,
		       void (*line)(FILE *out, const char *text, int length, int number))
{
	char *copied = NULL;
	size_t size;
	FILE *out = open_memstream(&copied, &size);
	int number = 1;

	for (const char *end; *text; text = end + 1) {
		end = strchr(text, '\n');
		line(out, text, (int)(end - text), number++);
	}
	fclose(out);
	return copied;
}

static void numbered(FILE *out, const char *text, int length, int number)
{
	fprintf(out, "%6d\t%.*s\n", number, length, text);
}

/* As cat -b does. */
static void numbered_but_empty(FILE *out, const char *text, int length, int number)
{
	if (length)
		fprintf(out, "%6d  %.*s\n", number, length, text);
	else
		fputs("       \n", out);
}

static void quoted(FILE *out, const char *text, int length, int number)
{
	(void)number;
	fprintf(out, "> > %.*s\n", length, text);
}

static void with_carriage_return(FILE *out, const char *text, int length, int number)
{
	(void)number;
	fprintf(out, "%.*s\r\n", length, text);
}

static void without_ruler(FILE *out, const char *text, int length, int number)
{
	(void)number;
	if (!memmem(text, (size_t)length, "....", 4))
		fprintf(out, "%.*s\n", length, text);
}

static void squeezed(FILE *out, const char *text, int length, int number)
{
	(void)number;
	for (int k = 0; k < length; k++)
		if (text[k] != ' ' || !k || text[k - 1] != ' ')
			putc(text[k], out);
	putc('\n', out);
}

static void with_tabs(FILE *out, const char *text, int length, int number)
{
	(void)number;
	for (int k = 0; k < length; k++)
		if (k + 1 < length && text[k] == ' ' && text[k + 1] == ' ') {
			putc('\t', out);
			k++;
		} else {
			putc(text[k], out);
		}
	putc('\n', out);
}

/* As the kernel's documentation shows them. */
static void hash_before_dashes(FILE *out, const char *text, int length, int number)
{
	bool dashes = length > 4 && !strncmp(text, "  --", 4);

	fprintf(out, "%s%.*s\n", dashes ? "  #" : "", dashes && number == 1 ? length - 2 : length,
		dashes && number == 1 ? text + 2 : text);
}

static void expect_the_same(void (*line)(FILE *out, const char *text, int length, int number))
{
	char *second = rewritten(second_form, line), *third = rewritten(third_form, line);
	struct report *report = read_text(second);

	EXPECT(report, SECOND_EXPECTED);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 0);
	drop(report);
	report = read_text(third);
	EXPECT(report, THIRD_EXPECTED);
	CU_ASSERT_EQUAL(report->line_count, 2);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 0);
	drop(report);
	free(second);
	free(third);
}

static void numbers_of_lines_are_passed_over(void)
{
	expect_the_same(numbered);
	expect_the_same(numbered_but_empty);
}

static void marks_of_quotation_are_passed_over(void)
{
	expect_the_same(quoted);
}

static void lines_may_end_in_carriage_return(void)
{
	expect_the_same(with_carriage_return);
}

static void the_ruler_may_be_missing(void)
{
	expect_the_same(without_ruler);
}

static void blanks_may_be_squeezed_or_tabs(void)
{
	expect_the_same(squeezed);
	expect_the_same(with_tabs);
}

static void dashes_may_have_a_hash_before_them(void)
{
	char *rows = rewritten(ROWS_5_11, hash_before_dashes);
	struct report *report = read_text(rows);

	EXPECT(report, THIRD_EXPECTED);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_COMMENT], 2);
	drop(report);
	free(rows);
	expect_the_same(hash_before_dashes);
}

static void rows_alone_are_enough(void)
{
	struct report *report = read_text(ROWS_5_11);

	EXPECT(report, THIRD_EXPECTED);
	CU_ASSERT_EQUAL(report->line_count, 1);
	CU_ASSERT_FALSE(report->lines[0].listed);
	CU_ASSERT_TRUE(noted(report, "taken for HITM"));
	CU_ASSERT_EQUAL(report->lines[0].counts[C2C_HITM_LOCAL], 20);
	CU_ASSERT_EQUAL(report->lines[0].counts[C2C_STORE_L1_MISS], 4);
	drop(report);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define HEADING DASHES "      0        0       10        0        0            0x500000\n" DASHES

/* A report of one row of ten local HITM loads, its columns up to the CPUs as given, and what follows them. */
static struct report *read_row(const char *columns, const char *rest)
{
	char text[2048];

	snprintf(text, sizeof(text), PARETO HEADING "  0.00%% 100.00%% 0.00%% 0.00%% %s  %s\n",
		 columns, rest);
	return read_text(text);
}

static void expect_symbol(const char *rest, const char *symbol)
{
	struct report *report = read_row("0x8  0  1  0x401000  0  90  40  10  2", rest);

	EXPECT(report, { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500008, 10, 0x401000, 90, 2, NULL });
	CU_ASSERT_STRING_EQUAL(report->kept[0].symbol, symbol);
	drop(report);
}

static void symbols_hold_blanks_and_brackets(void)
{
	expect_symbol("[.] store::Table::Get(Key const&, void*, bool (*)(void*, int))  bench  "
		      "store::Table::Get(Key const&)+204   0",
		      "store::Table::Get(Key const&, void*, bool (*)(void*, int))");
	expect_symbol("[.] store::Table::Find(Key const&) const       bench  t.cc:1        0",
		      "store::Table::Find(Key const&) const");
	expect_symbol("[.] Get(Key const&, std::map<int, int>) bench t.cc:1 0",
		      "Get(Key const&, std::map<int, int>)");
	expect_symbol("[k] cut_off_in_the_middle_of_its_na  [kernel.kallsyms]  a.h:1  0  1",
		      "cut_off_in_the_middle_of_its_na");
	expect_symbol("[.] std::__atomic_base<int>::operat\tbench\tt.cc:1\t0",
		      "std::__atomic_base<int>::operat");
	expect_symbol("[.] cut(Key const bench t.cc:1 0", "cut(Key");
	expect_symbol("[.] alone", "alone");
	expect_symbol("[.]", "");
	expect_symbol("", "");
}

static void nodes_may_list_their_cpus(void)
{
	expect_symbol("[k] f  [kernel.kallsyms]  a.h:1  0{0-1,4}  1{24-25,120}  2{48}", "f");
	expect_symbol("[k] f  [kernel.kallsyms]  a.h:1  0{ 2 100.0%    n/a}", "f");
}

static void expect_thread(const char *columns, uint32_t pid, uint32_t tid, const char *name)
{
	struct report *report = read_row(columns, "[.] f  a.out  a.c:1  0");

	CU_ASSERT_EQUAL(report->count, 1);
	CU_ASSERT_EQUAL(report->kept[0].record.known & (KNOWN_TID | KNOWN_IP),
			KNOWN_TID | KNOWN_IP);
	CU_ASSERT_EQUAL(!!(report->kept[0].record.known & KNOWN_PID), pid != 0);
	CU_ASSERT_EQUAL(report->kept[0].record.pid, pid);
	CU_ASSERT_EQUAL(report->kept[0].record.tid, tid);
	CU_ASSERT_EQUAL(report->kept[0].record.ip, 0x401000);
	CU_ASSERT_EQUAL(report->kept[0].record.cpus, 2);
	CU_ASSERT_STRING_EQUAL(report->kept[0].name, name);
	CU_ASSERT_STRING_EQUAL(report->kept[0].symbol, "f");
	drop(report);
}

static void threads_are_told_whatever_their_name(void)
{
	expect_thread("0x8  0  1  40  41:lock_th    0x401000  0  90  40  10  2", 40, 41, "lock_th");
	expect_thread("0x8  0  1  41:DOM Worker    0x401000  0  90  40  10  2", 0, 41,
		      "DOM Worker");
	expect_thread("0x8  0  1  40  41:[ET_NET 0]    0x401000  0  90  40  10  2", 40, 41,
		      "[ET_NET 0]");
	expect_thread("0x8  0  1  40  41:a: 12 1.5    0x401000  0  90  40  10  2", 40, 41,
		      "a: 12 1.5");
	expect_thread("0x8  40  41:0x7 9 9 9    0x401000  0  90  40  2", 40, 41, "0x7 9 9 9");
	expect_thread("0x8  0  1  40  41:    0x401000  0  90  40  10  2", 40, 41, "");
}

/* Without instructions (-c pid) only the ruler tells which number is which. */
static void the_ruler_tells_numbers_apart(void)
{
	struct report *report = read_text(
		PARETO
		"#        ----- HITM -----  -- Store Refs --  --------- Data address ---------  "
		"         ---------- cycles ----------    Total  cpu\n"
		"#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss              Offset  Node  PA cnt  "
		"    Pid  rmt hitm  lcl hitm      load  records  cnt  Node\n"
		"# .....  .......  .......  .......  .......  ..................  ....  ......  "
		".......  ........  ........  ........  .......  ...  ....\n" HEADING
		"  0.00% 100.00% 0.00% 0.00%  0x10  0  1  77  0  91  41  30  3  0  1\n");

	CU_ASSERT_EQUAL(report->count, 2);
	CU_ASSERT_EQUAL(report->kept[0].record.known & (KNOWN_IP | KNOWN_PID), KNOWN_PID);
	CU_ASSERT_EQUAL(report->kept[0].record.pid, 77);
	CU_ASSERT_EQUAL(report->kept[0].record.latency, 91);
	CU_ASSERT_EQUAL(report->kept[0].record.weight, 10);
	CU_ASSERT_EQUAL(report->kept[1].record.weight, 20);
	CU_ASSERT_EQUAL(report->kept[1].record.latency, 41);
	CU_ASSERT_EQUAL(report->kept[1].record.cpus, 3);
	drop(report);
}

static void call_chains_are_passed_over(void)
{
	static const char chain[] =
		"            |\n"
		"            |--57.14%--put_the_last_one\n"
		"            |          std::vector<int, std::allocator<int> >::push_back\n"
		"            |          main\n"
		"            |\n"
		"             --42.86%--take_one\n"
		"                       entry\n"
		"                       12\n"
		"\n";
	const char *second_row = strstr(second_form, "          37.50%");
	struct report *report;
	char *text;

	CU_ASSERT_TRUE(asprintf(&text, "%.*s%s%s%s", (int)(second_row - second_form), second_form,
				chain, second_row, chain) > 0);
	report = read_text(text);
	EXPECT(report, SECOND_EXPECTED);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_CONTINUATION], 16);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 0);
	drop(report);
	free(text);
}

static void shares_that_are_no_number_are_none(void)
{
	struct report *report =
		read_text(PARETO HEADING "  -nan% 100.00% -nan% nan% 0x8 0 1 0x401000 0 90 40 10 2 "
					 " [.] f  a  a.c:1  0\n");

	EXPECT(report, { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500008, 10, 0x401000, 90, 2, "f" });
	drop(report);
}

static void double_lines_have_offsets_to_7f(void)
{
	struct report *report = read_row("0x7f  0  1  0x401000  0  90  40  10  2", "[.] f");

	EXPECT(report, { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x50007f, 10, 0x401000, 90, 2, "f" });
	CU_ASSERT_TRUE(noted(report, "pairs of 64 bytes"));
	drop(report);
	report = read_row("0x3f  0  1  0x401000  0  90  40  10  2", "[.] f");
	CU_ASSERT_FALSE(noted(report, "pairs of 64 bytes"));
	drop(report);
}

/* ---- counts from shares --------------------------------------------------------------------- */

enum { ROWS = 60 };

/* Rows of counts drawn at random, each share printed as perf prints it. */
static char *random_report(struct random *random, uint32_t limit, uint32_t counts[ROWS])
{
	uint32_t total = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int k = 0; k < ROWS; k++)
		total += counts[k] = (uint32_t)random_below(random, limit);
	fprintf(out, PARETO DASHES " 0 0 %u 0 0 0x500000\n" DASHES, total);
	for (int k = 0; k < ROWS; k++)
		fprintf(out,
			" 0.00%% %.2f%% 0.00%% 0.00%% 0x%x 0 1 0x%x 0 90 40 %u 2 [.] f a a.c:1 0\n",
			100.0 * counts[k] / total, k, 0x1000 + k, counts[k]);
	fclose(out);
	return text;
}

static void counts_of_less_than_10000_come_back_exactly(void)
{
	struct random random = random_stream(1, "c2c", 0);
	uint32_t counts[ROWS];

	for (int round = 0; round < 200; round++) {
		char *text =
			random_report(&random, 2 + (uint32_t)random_below(&random, 165), counts);
		struct report *report = read_text(text);
		uint32_t at = 0;

		for (int k = 0; k < ROWS; k++) {
			if (!counts[k])
				continue;
			CU_ASSERT_EQUAL(report->kept[at].record.address, 0x500000 + (uint64_t)k);
			CU_ASSERT_EQUAL(report->kept[at].record.weight, counts[k]);
			CU_ASSERT_EQUAL(report->kept[at++].record.source, SOURCE_HITM_LOCAL);
		}
		CU_ASSERT_EQUAL(report->count, at);
		CU_ASSERT_EQUAL(report->summary->dropped[DROP_EMPTY], ROWS - at);
		drop(report);
		free(text);
	}
}

/* The total that its heading gives a report's one line. */
static uint64_t total_of(const struct report *report)
{
	return report->lines[0].counts[C2C_HITM_LOCAL];
}

static void larger_counts_never_exceed_their_total(void)
{
	struct random random = random_stream(2, "c2c", 0);
	uint32_t counts[ROWS], reached = 0;

	for (int round = 0; round < 100; round++) {
		char *text = random_report(&random, 60000000, counts);
		struct report *report = read_text(text);
		uint64_t total = total_of(report), sum = 0;

		for (uint64_t k = 0; k < report->count; k++) {
			const struct trace_record *record = &report->kept[k].record;
			double counted = counts[record->address - 0x500000];

			if (record->source != SOURCE_HITM_LOCAL)
				continue;
			sum += record->weight;
			/* the share's last digit, and all shares taken as parts of their sum */
			CU_ASSERT_DOUBLE_EQUAL((double)record->weight, counted,
					       0.00005 * ((double)total + ROWS * counted) + 1);
		}
		CU_ASSERT_TRUE(sum <= total);
		reached += sum == total;
		drop(report);
		free(text);
	}
	CU_ASSERT_TRUE(reached > 20); /* or the limit was never met */
}

/* Two halves of three would be two and two: of what gained the same, the first gives back. */
static void what_rounding_gained_is_given_back_first(void)
{
	struct report *report =
		read_text(PARETO DASHES " 0 0 5 0 0 0x500000\n" DASHES
					" 0.00% 30.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n"
					" 0.00% 32.00% 0.00% 0.00% 0x1 0 1 0x12 0 9 4 0 2 [.] f\n"
					" 0.00% 38.00% 0.00% 0.00% 0x2 0 1 0x13 0 9 4 0 2 [.] f\n");

	/* 1.5, 1.6 and 1.9 of 5 */
	EXPECT(report, { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500000, 1, 0x11, 9, 2, "f" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500001, 2, 0x12, 9, 2, "f" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500002, 2, 0x13, 9, 2, "f" });
	CU_ASSERT_FALSE(noted(report, "more than 100 %"));
	drop(report);
}

static void shares_beyond_all_are_parts_of_their_sum(void)
{
	struct report *report = read_text(
		PARETO HEADING " 0.00% 80.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n"
			       " 0.00% 80.00% 0.00% 0.00% 0x1 0 1 0x12 0 9 4 0 2 [.] f\n"
			       " 0.00% 80.00% 0.00% 0.00% 0x2 0 1 0x13 0 9 4 0 2 [.] f\n");

	EXPECT(report, { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500000, 3, 0x11, 9, 2, "f" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500001, 3, 0x12, 9, 2, "f" },
	       { TRACE_LOAD, SOURCE_HITM_LOCAL, 0x500002, 3, 0x13, 9, 2, "f" });
	CU_ASSERT_TRUE(noted(report, "more than 100 %"));
	drop(report);
}

/* ---- cache lines ---------------------------------------------------------------------------- */

static void expect_counts(const char *text, const uint32_t counts[C2C_COUNTS], uint32_t share)
{
	struct report *report = read_text(text);

	CU_ASSERT_TRUE_FATAL(report->line_count >= 1);
	for (int k = 0; k < C2C_COUNTS; k++)
		CU_ASSERT_EQUAL(report->lines[0].counts[k], counts[k]);
	CU_ASSERT_EQUAL(report->lines[0].share, share);
	CU_ASSERT_EQUAL(report->lines[0].rows, 2);
	CU_ASSERT_TRUE(report->lines[0].listed);
	drop(report);
}

static void each_set_of_columns_gives_the_lines_counts(void)
{
	static const uint32_t early[C2C_COUNTS] = {
		[C2C_RECORDS] = 300,         [C2C_LOADS] = 90,      [C2C_STORES] = 210,
		[C2C_HITM_LOCAL] = 4,        [C2C_HITM_REMOTE] = 8, [C2C_STORE_L1_HIT] = 200,
		[C2C_STORE_L1_MISS] = 10,    [C2C_DRAM_LOCAL] = 1,  [C2C_DRAM_REMOTE] = 2,
		[C2C_LOAD_FILL_BUFFER] = 20, [C2C_LOAD_L1] = 30,    [C2C_LOAD_L2] = 7,
		[C2C_LOAD_LLC] = 17,         [C2C_LOAD_REMOTE] = 9,
	};
	static const uint32_t third[C2C_COUNTS] = {
		[C2C_RECORDS] = 40,         [C2C_LOADS] = 30,       [C2C_STORES] = 10,
		[C2C_HITM_LOCAL] = 20,      [C2C_HITM_REMOTE] = 10, [C2C_STORE_L1_HIT] = 6,
		[C2C_STORE_L1_MISS] = 4,    [C2C_DRAM_LOCAL] = 7,   [C2C_DRAM_REMOTE] = 8,
		[C2C_LOAD_FILL_BUFFER] = 1, [C2C_LOAD_L1] = 2,      [C2C_LOAD_L2] = 3,
		[C2C_LOAD_LLC] = 4,         [C2C_LOAD_REMOTE] = 5,
	};
	static const uint32_t fourth[C2C_COUNTS] = {
		[C2C_RECORDS] = 6044,      [C2C_LOADS] = 3550,           [C2C_STORES] = 2494,
		[C2C_HITM_LOCAL] = 252,    [C2C_HITM_REMOTE] = 2,        [C2C_STORE_L1_HIT] = 2024,
		[C2C_STORE_L1_MISS] = 470, [C2C_STORE_NO_LEVEL] = 5,     [C2C_DRAM_LOCAL] = 3,
		[C2C_DRAM_REMOTE] = 4,     [C2C_LOAD_FILL_BUFFER] = 528, [C2C_LOAD_L1] = 2672,
		[C2C_LOAD_L2] = 78,        [C2C_LOAD_LLC] = 20,          [C2C_LOAD_REMOTE] = 9,
	};
	static const uint32_t peer[C2C_COUNTS] = {
		[C2C_RECORDS] = 148,    [C2C_LOADS] = 118,     [C2C_STORES] = 30,
		[C2C_PEER_LOCAL] = 100, [C2C_PEER_REMOTE] = 6, [C2C_STORE_NO_LEVEL] = 30,
		[C2C_LOAD_L1] = 1,      [C2C_LOAD_L2] = 2,     [C2C_LOAD_LLC] = 11,
		[C2C_LOAD_REMOTE] = 6,
	};

	expect_counts(first_form, early, 6000);
	expect_counts(second_form, early, 6000);
	expect_counts(third_form, third, 9091);
	expect_counts(fourth_form, fourth, 10000);
	expect_counts(peer_form, peer, 10000);
}

static void lines_without_rows_are_listed_too(void)
{
	struct report *report = read_text(third_form);

	CU_ASSERT_EQUAL(report->line_count, 2);
	CU_ASSERT_EQUAL(report->lines[1].address, 0xff11000000abd000);
	CU_ASSERT_EQUAL(report->lines[1].rows, 0);
	CU_ASSERT_EQUAL(report->lines[1].counts[C2C_HITM_REMOTE], 1);
	CU_ASSERT_TRUE(noted(report, "2 rows of 1 cache lines, of 2"));
	CU_ASSERT_TRUE(noted(report, "hold 30 HITM loads, 90.91 %"));
	drop(report);
}

static void lines_beyond_the_limit_keep_their_records(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report *report;

	fputs(PARETO, out);
	for (int k = 0; k <= C2C_LINES_MAX; k++)
		fprintf(out,
			DASHES " %d 0 1 0 0 0x%x\n" DASHES
			       " 0.00%% 100.00%% 0.00%% 0.00%% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n",
			k, 0x1000 + 64 * k);
	fclose(out);
	report = read_text(text);
	CU_ASSERT_EQUAL(report->count, C2C_LINES_MAX + 1);
	CU_ASSERT_EQUAL(report->line_count, C2C_LINES_MAX);
	CU_ASSERT_TRUE(noted(report, "more than 4096 cache lines"));
	drop(report);
	free(text);
}

static void too_many_rows_of_a_line_are_refused(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report *report;

	fputs(HEADING, out);
	for (int k = 0; k <= C2C_ROWS_MAX; k++)
		fputs("0.00% 0.01% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n", out);
	fclose(out);
	report = read_text(text);
	CU_ASSERT_EQUAL(report->last, STEP_FAILED);
	CU_ASSERT_STRING_EQUAL(report->error.text,
			       "r.txt:65540:1: more than 65536 rows of one cache line, expected a "
			       "report of perf c2c");
	drop(report);
	free(text);
}

static void another_format_has_no_lines(void)
{
	struct trace_format other = { .name = "other" };
	struct trace trace = { .format = &other };
	const struct c2c_line *lines;

	CU_ASSERT_EQUAL(c2c_lines(&trace, &lines), 0);
	CU_ASSERT_PTR_NULL(lines);
}

/* ---- reports without rows ------------------------------------------------------------------- */

#define TOTALS                                                                 \
	BAR "            Trace Event Information              \n" BAR          \
	    "  Total records                     :       4040\n"               \
	    "  Locked Load/Store Operations      :         77\n"               \
	    "  Load Operations                   :       3000\n"               \
	    "  Load Local HITM                   :         60\n"               \
	    "  Load Remote HITM                  :         40\n"               \
	    "  LLC Misses to Local DRAM          :       -nan%\n"              \
	    "  Store Operations                  :          0\n"               \
	    "  No Page Map Rejects               :        505\n"               \
	    "  Unable to parse data source       :       1010\n"               \
	    "\n" BAR "    Global Shared Cache Line Event Information   \n" BAR \
	    "  Total Shared Cache Lines          :          0\n"               \
	    "  Load HITs on shared lines         :          0\n\n"
#define DETAILS                                                                \
	BAR "                 c2c details                     \n" BAR          \
	    "  Events                            : cpu/mem-loads,ldlat=42/P\n" \
	    "                                    : cpu/mem-stores/P\n"         \
	    "  Cachelines sort on                : Total HITMs\n"              \
	    "  Cacheline data grouping           : offset,iaddr\n\n"

static void totals_alone_say_what_is_missing(void)
{
	struct report *report = read_text(TOTALS DETAILS);

	CU_ASSERT_EQUAL(report->last, STEP_END);
	CU_ASSERT_EQUAL(report->summary->read, 0);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 0);
	CU_ASSERT_TRUE(noted(report, "without --stats"));
	CU_ASSERT_TRUE(noted(report, "perf sampled 4040 accesses"));
	CU_ASSERT_TRUE(noted(report, "77 of them were locked"));
	CU_ASSERT_TRUE(noted(report, "of 1010 of them perf could not parse the data source"));
	CU_ASSERT_TRUE(noted(report, "505 of them perf rejected for want of a page map"));
	CU_ASSERT_TRUE(noted(report, "faster than 42 cycles"));
	CU_ASSERT_TRUE(noted(report, "no store: who writes is not known"));
	drop(report);
}

static void no_shared_line_is_said(void)
{
	struct report *report = read_text(TOTALS DETAILS TABLE TABLE_5_11 "#\n\n" PARETO);

	CU_ASSERT_EQUAL(report->last, STEP_END);
	CU_ASSERT_EQUAL(report->count, 0);
	CU_ASSERT_EQUAL(report->line_count, 0);
	CU_ASSERT_TRUE(noted(report, "no cache line is shared"));
	CU_ASSERT_FALSE(noted(report, "--stats"));
	drop(report);
}

static void a_line_table_alone_asks_for_the_rest(void)
{
	const char *pareto = strstr(third_form, PARETO);
	struct report *report = read_bytes(third_form, (size_t)(pareto - third_form), NULL);

	CU_ASSERT_EQUAL(report->last, STEP_END);
	CU_ASSERT_EQUAL(report->line_count, 2);
	CU_ASSERT_TRUE(noted(report, "hand in the whole report"));
	drop(report);
}

static void the_part_of_all_hitm_is_told(void)
{
	struct report *report = read_text(
		TOTALS PARETO HEADING " 0.00% 50.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n");

	CU_ASSERT_TRUE(noted(report, "hold 10 HITM loads of all 100 (10.00 %)"));
	drop(report);
}

/* ---- what is wrong -------------------------------------------------------------------------- */

static void a_row_that_stands_for_nothing_is_dropped(void)
{
	struct report *report =
		read_text(PARETO HEADING " 0.00% 0.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n");

	CU_ASSERT_EQUAL(report->count, 0);
	CU_ASSERT_EQUAL(report->summary->read, 1);
	CU_ASSERT_EQUAL(report->summary->dropped[DROP_EMPTY], 1);
	drop(report);
}

static void rows_before_any_line_have_no_address(void)
{
	struct report *report =
		read_text(PARETO " 0.00% 9.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n" HEADING
				 " 0.00% 90.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f\n");

	CU_ASSERT_EQUAL(report->count, 1);
	CU_ASSERT_EQUAL(report->kept[0].record.weight, 9);
	CU_ASSERT_EQUAL(report->summary->dropped[DROP_NO_ADDRESS], 1);
	drop(report);
}

/* Wherever the file ends, what was there before is read, and a row is either whole or dropped. */
static void a_report_may_end_anywhere(void)
{
	size_t length = sizeof(third_form) - 1;
	uint64_t before = 0;

	for (size_t end = 1; end < length; end++) {
		struct report *report = read_bytes(third_form, end, "c2c");

		CU_ASSERT_TRUE(report->last == STEP_END ||
			       strstr(report->error.text, "nothing of a report"));
		CU_ASSERT_TRUE(report->count >= before);
		before = report->count;
		drop(report);
	}
	CU_ASSERT_EQUAL(before, 6);
	struct report *report = read_bytes(third_form, length - 60, NULL);

	CU_ASSERT_EQUAL(report->count, 6); /* only the object and the source were cut */
	drop(report);
	report = read_bytes(third_form, length - 90, NULL);
	CU_ASSERT_EQUAL(report->count, 3);
	CU_ASSERT_EQUAL(report->summary->dropped[DROP_TRUNCATED], 1);
	drop(report);
}

static void numbers_that_are_none_are_not_read(void)
{
	static const char *const rows[] = {
		" 0.00% 100.01% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f",
		" 0.00% 42949673.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f", /* 2^32 + 4 in 1/10,000 */
		" 0.00% 1e2% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f",
		" 0.00% 99999999999999999999.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f",
		" 0.00% -50.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x100 0 1 0x11 0 9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x10000000000000000 0 1 0x11 0 9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x0 0 1 0x10000000000000000 0 9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x0 0 1 0x11 0 -9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 4294967296 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x0 0 1 9999999999:f 0x11 0 9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f", /* a share too many */
		" 0.00% 50.00% 0.00% 0x0 0 1 0x11 0 9 4 0 2 [.] f",             /* ... too few */
		" 0.00% 50.00% 0.00% 0.00% 0x0 0 1 0x11 0 9 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00% 0x0 0 1 2 3 0x11 0 9 4 0 2 [.] f",
		" 0.00% 50.00% 0.00% 0.00%",
		" 0.00%",
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		struct report *report;
		char text[1024];

		snprintf(text, sizeof(text), PARETO HEADING "%s\n" DASHES, rows[k]);
		report = read_text(text);
		CU_ASSERT_EQUAL(report->last, STEP_END);
		CU_ASSERT_EQUAL(report->count, 0);
		CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 1);
		CU_ASSERT_TRUE(!strncmp(report->summary->first_unparsed, "8: ", 3));
		drop(report);
	}
}

static void an_address_beyond_64_bits_is_not_read(void)
{
	struct report *report = read_text(
		PARETO DASHES " 0 0 9 0 0 0xffffffffffffffff\n" DASHES
			      " 0.00% 50.00% 0.00% 0.00% 0x1 0 1 0x11 0 9 4 0 2 [.] f\n" DASHES);

	CU_ASSERT_EQUAL(report->count, 0);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 1);
	drop(report);
}

static void expect_refusal(const char *bytes, size_t length, const char *format, const char *words)
{
	struct report *report = read_bytes(bytes, length, format);

	CU_ASSERT_EQUAL(report->last, STEP_FAILED);
	CU_ASSERT_PTR_NOT_NULL(strstr(report->error.text, words));
	CU_ASSERT_PTR_NULL(strchr(report->error.text, '\n'));
	drop(report);
}

static void what_is_no_report_is_refused(void)
{
	static const char garbage[] = "\0\377%\n0x\n- - -\n> 12\t";
	size_t length = 1 << 20;
	char *wide = malloc(length);

	memset(wide, '9', length);
	expect_refusal("", 0, "c2c", "nothing of a report of perf c2c");
	expect_refusal(garbage, sizeof(garbage), "c2c", "nothing of a report of perf c2c");
	expect_refusal(wide, length, "c2c", "r.txt:1:1: a line of more than 64 KiB");
	free(wide);
}

static void other_texts_are_not_taken_for_reports(void)
{
	static const char *const others[] = {
		"cc1  123 [003]  5.000001: cpu/mem-loads/: ffff888000012340 5080144 a\n",
		"--------------------\n 0 0 1 0 0\n--------------------\n",
		"the Shared Cache Line Distribution Pareto shows which code\n",
		"=================================================\n",
		"",
	};

	for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
		CU_ASSERT_FALSE(trace_format_find("c2c")->recognise(
			(const unsigned char *)others[k], strlen(others[k])));
}

/* ---- real reports --------------------------------------------------------------------------- */

static struct report *read_capture(const char *name)
{
	const char *shared = getenv("HITM_SHARED");
	struct report *report = calloc(1, sizeof(*report));
	struct error missing = { "" };
	char path[4096];

	snprintf(path, sizeof(path), "%s/data/captures/perf-c2c/%s.c2c.txt",
		 shared ? shared : "../shared", name);
	report->trace = trace_open(path, NULL, &missing);
	if (report->trace) {
		read_all(report);
		CU_ASSERT_EQUAL(report->last, STEP_END);
		CU_ASSERT_EQUAL(report->summary->skipped[SKIP_UNPARSED], 0);
		return report;
	}
	test_skip(missing.text);
	free(report);
	return NULL;
}

/* Over records of this operation, source (SOURCES: any HITM) and address (0: any). */
static uint64_t sum(const struct report *report, enum trace_op op, int source, uint64_t address)
{
	uint64_t weight = 0;

	for (uint64_t k = 0; k < report->count; k++) {
		const struct trace_record *record = &report->kept[k].record;
		bool hitm =
			record->source == SOURCE_HITM_LOCAL || record->source == SOURCE_HITM_REMOTE;

		if (record->op == op && (source == SOURCES ? hitm : record->source == source) &&
		    (!address || record->address == address))
			weight += record->weight;
	}
	return weight;
}

/* The reading that its sender published: of the line's HITM the owner's (0x8) is 95 %, count's (0x0) about
 * 2 %. */
static void mmap_lock_reads_as_its_sender_read_it(void)
{
	const uint64_t line = 0xff110002a24ffc00;
	struct report *report = read_capture("mmap_lock-new-kernel");

	if (!report)
		return;
	/* 18 + 3, 9 + 10, 0 + 2; and 713 + 893, 534 + 603, 3 + 3, 0 + 1 */
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCES, line), 42);
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCES, line + 8), 2750);
	CU_ASSERT_DOUBLE_EQUAL((double)sum(report, TRACE_LOAD, SOURCES, line + 8) / 2845, 0.95,
			       0.02);
	CU_ASSERT_DOUBLE_EQUAL((double)sum(report, TRACE_LOAD, SOURCES, line) / 2845, 0.02, 0.006);
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_REMOTE, 0), 1310 + 108);
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_LOCAL, 0), 1535 + 136);
	/* all rows' totals: 8720 of the first line, 393 of the second */
	CU_ASSERT_EQUAL(report->summary->weight, 8720 + 393);
	CU_ASSERT_EQUAL(report->line_count, 6);
	CU_ASSERT_EQUAL(report->lines[5].counts[C2C_HITM_LOCAL], 44);
	CU_ASSERT_TRUE(noted(report, "241161"));
	CU_ASSERT_TRUE(noted(report, "50306"));
	CU_ASSERT_TRUE(noted(report, "hold 3089 HITM loads of all 10109 (30.56 %)"));
	drop(report);
}

static void the_numbered_report_reads_as_it_stands(void)
{
	struct report *report = read_capture("joemario-4socket-numbered-lines");

	if (!report)
		return;
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_REMOTE, 0), 9834 + 2832 + 12 + 9 + 8);
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_LOCAL, 0), 2269 + 1119 + 3 + 0 + 1);
	CU_ASSERT_EQUAL(sum(report, TRACE_STORE, SOURCE_UNKNOWN, 0), 109504 + 161 + 1 + 117);
	CU_ASSERT_EQUAL(report->line_count, 5);
	CU_ASSERT_EQUAL(report->lines[0].rows, 6);
	CU_ASSERT_EQUAL(report->lines[4].rows, 11);
	CU_ASSERT_STRING_EQUAL(report->kept[report->count - 1].symbol, "_raw_spin_lock_irqsave");
	drop(report);
}

static void the_report_with_chains_skips_them(void)
{
	struct report *report = read_capture("root_user-callchains");

	if (!report)
		return;
	CU_ASSERT_EQUAL(report->count, 9);
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_LOCAL, 0), 18 + 18 + 14);
	CU_ASSERT_EQUAL(sum(report, TRACE_STORE, SOURCE_UNKNOWN, 0), 165 + 160 + 177);
	CU_ASSERT_EQUAL(report->summary->weight, 928 + 948 + 698);
	CU_ASSERT_EQUAL(report->summary->skipped[SKIP_CONTINUATION], 32);
	CU_ASSERT_EQUAL(report->line_count, 4);
	CU_ASSERT_EQUAL(report->lines[3].counts[C2C_LOAD_FILL_BUFFER], 12);
	drop(report);
}

/* Its rows are all that perf sampled of the line: 7840. */
static void the_report_of_all_loads_has_threads(void)
{
	struct report *report = read_capture("false_sharing-tid-all-display");

	if (!report)
		return;
	CU_ASSERT_EQUAL(report->summary->weight, 7840);
	CU_ASSERT_EQUAL(report->summary->threads, 4);
	CU_ASSERT_EQUAL(sum(report, TRACE_STORE, SOURCE_UNKNOWN, 0), 2633 + 616);
	CU_ASSERT_EQUAL(report->kept[0].record.tid, 28082);
	CU_ASSERT_STRING_EQUAL(report->kept[0].name, "lock_th");
	CU_ASSERT_STRING_EQUAL(report->kept[report->count - 1].name, "reader_thd");
	CU_ASSERT_EQUAL(report->lines[0].counts[C2C_HITM_LOCAL], 883);
	drop(report);
}

static void the_report_of_long_names_has_them_whole(void)
{
	struct report *report = read_capture("cpp-symbols-with-spaces");

	if (!report)
		return;
	CU_ASSERT_EQUAL(report->count, 8);
	CU_ASSERT_EQUAL(report->summary->weight, 146 + 54 + 300 + 250);
	CU_ASSERT_STRING_EQUAL(
		report->kept[7].symbol,
		"rocksdb::ExpanseMemTableRep::FindLeafBlockForSeek(rocksdb::Slice const&, char "
		"const*) const");
	drop(report);
}

static void the_rows_of_the_documentation_are_read(void)
{
	struct report *report = read_capture("lkp-doc-tlb_flush1.pareto");

	if (!report)
		return;
	/* 42.29, 13.10, 11.20 and 7.62 % of 2374; 23.29 % */
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_LOCAL, 0xff1100088366d888),
			1004 + 311 + 266 + 181);
	CU_ASSERT_EQUAL(sum(report, TRACE_LOAD, SOURCE_HITM_LOCAL, 0xff1100088366d890), 553);
	CU_ASSERT_EQUAL(report->summary->weight, 5312 + 3551 + 555 + 632 + 1051);
	drop(report);
}

static void real_reports_without_lines_say_so(void)
{
	struct report *report = read_capture("lkp-stats-only");

	if (!report)
		return;
	CU_ASSERT_TRUE(noted(report, "perf sampled 326320 accesses"));
	CU_ASSERT_TRUE(noted(report, "without --stats"));
	drop(report);
	report = read_capture("skx-no-shared-lines");
	if (!report)
		return;
	CU_ASSERT_TRUE(noted(report, "no cache line is shared"));
	CU_ASSERT_TRUE(noted(report, "faster than 64 cycles"));
	CU_ASSERT_TRUE(noted(report, "9 of them perf rejected"));
	drop(report);
}

void suite_c2c(void)
{
	CU_pSuite suite = CU_add_suite("c2c", NULL, NULL);

	CU_ADD_TEST(suite, the_first_form_has_no_records_column);
	CU_ADD_TEST(suite, other_loads_are_what_is_left_of_the_records);
	CU_ADD_TEST(suite, no_other_loads_where_all_records_are_told);
	CU_ADD_TEST(suite, stores_of_no_level_count_as_stores);
	CU_ADD_TEST(suite, peer_loads_are_no_hitm);
	CU_ADD_TEST(suite, a_fourth_mean_is_passed_over);
	CU_ADD_TEST(suite, numbers_of_lines_are_passed_over);
	CU_ADD_TEST(suite, marks_of_quotation_are_passed_over);
	CU_ADD_TEST(suite, lines_may_end_in_carriage_return);
	CU_ADD_TEST(suite, the_ruler_may_be_missing);
	CU_ADD_TEST(suite, blanks_may_be_squeezed_or_tabs);
	CU_ADD_TEST(suite, dashes_may_have_a_hash_before_them);
	CU_ADD_TEST(suite, rows_alone_are_enough);
	CU_ADD_TEST(suite, symbols_hold_blanks_and_brackets);
	CU_ADD_TEST(suite, nodes_may_list_their_cpus);
	CU_ADD_TEST(suite, threads_are_told_whatever_their_name);
	CU_ADD_TEST(suite, the_ruler_tells_numbers_apart);
	CU_ADD_TEST(suite, call_chains_are_passed_over);
	CU_ADD_TEST(suite, shares_that_are_no_number_are_none);
	CU_ADD_TEST(suite, double_lines_have_offsets_to_7f);
	CU_ADD_TEST(suite, counts_of_less_than_10000_come_back_exactly);
	CU_ADD_TEST(suite, larger_counts_never_exceed_their_total);
	CU_ADD_TEST(suite, what_rounding_gained_is_given_back_first);
	CU_ADD_TEST(suite, shares_beyond_all_are_parts_of_their_sum);
	CU_ADD_TEST(suite, each_set_of_columns_gives_the_lines_counts);
	CU_ADD_TEST(suite, lines_without_rows_are_listed_too);
	CU_ADD_TEST(suite, lines_beyond_the_limit_keep_their_records);
	CU_ADD_TEST(suite, too_many_rows_of_a_line_are_refused);
	CU_ADD_TEST(suite, another_format_has_no_lines);
	CU_ADD_TEST(suite, totals_alone_say_what_is_missing);
	CU_ADD_TEST(suite, no_shared_line_is_said);
	CU_ADD_TEST(suite, a_line_table_alone_asks_for_the_rest);
	CU_ADD_TEST(suite, the_part_of_all_hitm_is_told);
	CU_ADD_TEST(suite, a_row_that_stands_for_nothing_is_dropped);
	CU_ADD_TEST(suite, rows_before_any_line_have_no_address);
	CU_ADD_TEST(suite, a_report_may_end_anywhere);
	CU_ADD_TEST(suite, numbers_that_are_none_are_not_read);
	CU_ADD_TEST(suite, an_address_beyond_64_bits_is_not_read);
	CU_ADD_TEST(suite, what_is_no_report_is_refused);
	CU_ADD_TEST(suite, other_texts_are_not_taken_for_reports);
	CU_ADD_TEST(suite, mmap_lock_reads_as_its_sender_read_it);
	CU_ADD_TEST(suite, the_numbered_report_reads_as_it_stands);
	CU_ADD_TEST(suite, the_report_with_chains_skips_them);
	CU_ADD_TEST(suite, the_report_of_all_loads_has_threads);
	CU_ADD_TEST(suite, the_report_of_long_names_has_them_whole);
	CU_ADD_TEST(suite, the_rows_of_the_documentation_are_read);
	CU_ADD_TEST(suite, real_reports_without_lines_say_so);
}
