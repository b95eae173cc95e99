/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of `perf script`: each trap that lies in it, on lines written for the test in the grammar of
 * perf 4 to 6; and captures, where they lie beside the project. */
#include "tests/unit/suites.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */

static struct {
	char records[1 << 14]; /* one a line: comm pid/tid cpu time op address/size ... */
	struct trace_summary summary;
	struct error error;
	enum trace_step last;
	uint64_t count;
} got;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	size_t used = strlen(got.records);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(got.records + used, sizeof(got.records) - used, format, arguments);
	va_end(arguments);
}

static void add_number(const char *before, bool known, unsigned long long value)
{
	if (known)
		add("%s%llu", before, value);
	else
		add("%s-", before);
}

/* "comm pid/tid [cpu] time op address/size wWEIGHT lLATENCY source ip symbol" */
static void add_record(const struct trace_record *r)
{
	add("%.*s", (int)r->thread_name.length, r->thread_name.at);
	add_number(" ", r->known & KNOWN_PID, r->pid);
	add_number("/", r->known & KNOWN_TID, r->tid);
	add_number(" [", r->known & KNOWN_CPU, r->cpu);
	add_number("] ", r->known & KNOWN_TIME, r->time);
	add(" %c %llx", trace_op_letters[r->op], (unsigned long long)r->address);
	add_number("/", r->known & KNOWN_SIZE, r->size);
	add(" w%llu", (unsigned long long)r->weight);
	add_number(" l", r->known & KNOWN_LATENCY, r->latency);
	add(" %s", trace_source_names[r->source]);
	if (r->known & KNOWN_IP)
		add(" %llx", (unsigned long long)r->ip);
	add(" %.*s\n", (int)r->symbol.length, r->symbol.at);
	CU_ASSERT(r->known & KNOWN_ADDRESS);
}

static void drain(struct trace *trace)
{
	struct trace_record record;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	while ((got.last = trace_next(trace, &record, &got.error)) == STEP_RECORD) {
		if (got.count++ < 40)
			add_record(&record);
	}
	got.summary = *trace_summary(trace);
	trace_close(trace);
}

static void read_bytes(const char *text, size_t length)
{
	memset(&got, 0, sizeof(got));
	drain(trace_open_memory("t", text, length, "perf-script", &got.error));
}

static void expect_text(const char *have, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(have, expected);
	if (strcmp(have, expected))
		printf("\n   got: %s\n  want: %s\n", have, expected);
}

/* These lines, and nothing but these records. */
static void expect(const char *text, const char *records)
{
	read_bytes(text, strlen(text));
	CU_ASSERT_EQUAL(got.last, STEP_END);
	expect_text(got.records, records);
	CU_ASSERT_EQUAL(got.summary.used, got.count);
}

static void expect_number(const char *what, uint64_t have, uint64_t expected)
{
	CU_ASSERT_EQUAL(have, expected);
	if (have != expected)
		printf("\n   %s: got %llu, want %llu\n", what, (unsigned long long)have,
		       (unsigned long long)expected);
}

#define EXPECT_NUMBER(member, expected) \
	expect_number(#member, (uint64_t)got.summary.member, expected)

static bool has_note(const char *part)
{
	for (uint32_t k = 0; k < got.summary.note_count; k++)
		if (strstr(got.summary.notes[k], part))
			return true;
	return false;
}

/* data_src and words: a load from L1, one that found the line modified in this socket, a locked load,
 * a locked store. */
#define L1_LOAD      "68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
#define HITM_LOAD    "10668800842 |OP LOAD|LVL L3 or L3 hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A"
#define LOCKED_LOAD  "6a100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A"
#define LOCKED_STORE "6a100144 |OP STORE|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A"
#define HEAD         "  worker 12/34 [003] 5.000001: "
#define LOADS        HEAD "1 cpu/mem-loads,ldlat=30/P: "
#define STORES       HEAD "1 cpu/mem-stores/P: "
#define TAIL         " 401268 add+0x8 (./prog)\n"

/* ---- the line ---- */

static void all_columns_of_one_line(void)
{
	expect("          worker    12/34    [003]     5.000001234:       1009 "
	       "cpu/mem-loads,ldlat=30/P:     7f0000001040      " HITM_LOAD
	       "              96           ffffffff814041a3 step_once+0x1f (/opt/a/prog)  "
	       "2a92090c0\n",
	       "worker 12/34 [3] 5000001234 R 7f0000001040/- w1009 l96 hitm_local ffffffff814041a3 "
	       "step_once\n");
	EXPECT_NUMBER(kind, KIND_SAMPLED);
	CU_ASSERT(has_note("loads faster than 30 cycles were not sampled (ldlat=30)"));
}

static void three_weight_columns_of_newer_versions(void)
{
	expect(LOADS "7f40 " L1_LOAD " 5 7 0" TAIL,
	       "worker 12/34 [3] 5000001000 R 7f40/- w1 l5 l1 401268 add\n");
}

static void thread_names_that_look_like_something_else(void)
{
	expect(" [ET_NET 0]  7/8  [000]  1.000001: 1 mem:0x40: 7f1040 401268 w (./p)\n"
	       "  DOM Worker  7/9 [001] 1.000002: 1 mem:0x40: 7f1041 401268 w (./p)\n"
	       "a: 12 [003] 1.5  7/10 [002]  1.000003: 1 mem:0x40: 7f1042 401268 w (./p)\n"
	       "1 2.000000: x  7/11 [002]  1.000004: 1 mem:0x40: 7f1043 401268 w (./p)\n"
	       "pool/worker-1  7/12 [002]  1.000005: 1 mem:0x40: 7f1044 401268 w (./p)\n"
	       ":-1  -1/-1 [002]  1.000006: 1 mem:0x40: 7f1045 401268 w (./p)\n"
	       "kworker/u16:3-events_unbound  7/13 [002]  1.000007: 1 mem:0x40: 7f1046 401268 w "
	       "(./p)\n",
	       "[ET_NET 0] 7/8 [0] 1000001000 ? 7f1040/- w1 l- - 401268 w\n"
	       "DOM Worker 7/9 [1] 1000002000 ? 7f1041/- w1 l- - 401268 w\n"
	       "a: 12 [003] 1.5 7/10 [2] 1000003000 ? 7f1042/- w1 l- - 401268 w\n"
	       "1 2.000000: x 7/11 [2] 1000004000 ? 7f1043/- w1 l- - 401268 w\n"
	       "pool/worker-1 7/12 [2] 1000005000 ? 7f1044/- w1 l- - 401268 w\n"
	       ":-1 -/- [2] 1000006000 ? 7f1045/- w1 l- - 401268 w\n"
	       "kworker/u16:3-events_unbound 7/13 [2] 1000007000 ? 7f1046/- w1 l- - 401268 w\n");
}

static void a_time_in_the_text_of_a_symbol_is_not_the_time(void)
{
	expect(HEAD "1 mem:0x40: 7f1040 401268 f<1 2.000000: x>+0x4 (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 f<1 2.000000: x>\n");
}

static void event_names_with_colons_and_commas(void)
{
	expect(HEAD "10009 MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned: "
		    "ffffffffa5e120e8 " L1_LOAD " 225 0 ffffffffa4470d46 [unknown] "
		    "([kernel.kallsyms])\n",
	       "worker 12/34 [3] 5000001000 R ffffffffa5e120e8/- w10009 l225 l1 ffffffffa4470d46 "
	       "\n");
	CU_ASSERT(has_note("ldlat=64"));
}

static void event_names_that_ran_together_leave_the_address_column(void)
{
	expect(HEAD "mem:0x40/8:rw:u,mem:0x60/8:rw:u: 7f1040" TAIL,
	       "worker 12/34 [3] 5000001000 ? 7f1040/8 w1 l- - 401268 add\n");
	expect(HEAD "mem:0x40/8:rw:u,mem:0x60/8:rw:u: 401268 add (./p)\n", "");
	EXPECT_NUMBER(dropped[DROP_NO_ADDRESS], 1);
}

static void leading_zeros_of_a_breakpoint_are_a_number(void)
{
	expect(HEAD "1 mem:0x0000000000404080: 401221 w+0x31 (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 404080/- w1 l- - 401221 w\n");
	CU_ASSERT(has_note("taken from their names"));
}

static void a_breakpoint_names_its_length_and_access(void)
{
	expect(HEAD "1 mem:0x404080/4:w:u: 404080" TAIL HEAD "1 mem:0x404090/2:r: 404090" TAIL HEAD
		    "1 mem:0x4040a0/8:rw:k: 4040a0" TAIL,
	       "worker 12/34 [3] 5000001000 W 404080/4 w1 l- - 401268 add\n"
	       "worker 12/34 [3] 5000001000 R 404090/2 w1 l- - 401268 add\n"
	       "worker 12/34 [3] 5000001000 ? 4040a0/8 w1 l- - 401268 add\n");
	EXPECT_NUMBER(kind, KIND_COMPLETE);
}

static void address_zero_is_none(void)
{
	expect(LOADS "0 " L1_LOAD " 7" TAIL LOADS "7f1040 " L1_LOAD " 7" TAIL,
	       "worker 12/34 [3] 5000001000 R 7f1040/- w1 l7 l1 401268 add\n");
	EXPECT_NUMBER(read, 2);
	EXPECT_NUMBER(dropped[DROP_NO_ADDRESS], 1);
}

static void a_kernel_instruction_may_access_the_user(void)
{
	expect(LOADS "7ffe1040 " L1_LOAD
		     " 7 ffffffff81000010 copy_from_user+0x10 ([kernel.kallsyms])\n",
	       "worker 12/34 [3] 5000001000 R 7ffe1040/- w1 l7 l1 ffffffff81000010 "
	       "copy_from_user\n");
}

static void page_faults_have_two_symbols(void)
{
	expect(HEAD "1 page-faults:u: 7ff5c0c94e06 _rtld_global (/usr/lib/ld.so) 7ff5c0c7c7ad "
		    "_dl_start+0x1 (/usr/lib/ld.so) 0\n",
	       "worker 12/34 [3] 5000001000 ? 7ff5c0c94e06/- w1 l- - 7ff5c0c7c7ad _dl_start\n");
	EXPECT_NUMBER(kind, KIND_SAMPLED);
	CU_ASSERT(has_note("first accesses to pages"));
}

static void a_symbol_and_a_physical_address_are_no_second_symbol(void)
{
	expect(HEAD "1 page-faults:u: 401268 main (./prog) 2a92090c0 4K 4K\n", "");
	EXPECT_NUMBER(dropped[DROP_NO_ADDRESS], 1);
}

static void page_fault_tracepoints_say_the_access(void)
{
	expect(HEAD "exceptions:page_fault_user: address=0x7f01 ip=0x401268 error_code=0x6\n" HEAD
		    "exceptions:page_fault_user: address=0x7f02 ip=0x401268 error_code=0x4\n" HEAD
		    "exceptions:page_fault_user: address=0x401268 ip=0x401268 error_code=0x14\n",
	       "worker 12/34 [3] 5000001000 W 7f01/- w1 l- - 401268 \n"
	       "worker 12/34 [3] 5000001000 R 7f02/- w1 l- - 401268 \n");
	EXPECT_NUMBER(dropped[DROP_NOT_DATA], 1);
}

static void probes_count_by_an_argument_called_addr(void)
{
	expect(HEAD "prog:chg: (401260) c=0x4040c0 n=1\n" HEAD "prog:ld: (401268) addr=0x4040e0\n",
	       "worker 12/34 [3] 5000001000 ? 4040e0/- w1 l- - \n");
	EXPECT_NUMBER(dropped[DROP_NOT_DATA], 1);
	CU_ASSERT(has_note("probes never hit locked instructions"));
}

/* ---- data_src ---- */

static void words_of_data_src_may_be_cut(void)
{
	expect(LOADS
	       "7f1040 10668100842 |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L1 or L2 hit|LC 33" TAIL
		       LOADS "7f1041 68100142 |OP LOAD|LVL L1 hit|SNP None|TLB Fa 34" TAIL,
	       "worker 12/34 [3] 5000001000 R 7f1040/- w1 l33 llc 401268 add\n"
	       "worker 12/34 [3] 5000001000 R 7f1041/- w1 l34 l1 401268 add\n");
}

static void words_of_data_src_changed_with_versions(void)
{
	expect(LOADS
	       "7f1040 68100142 L1 hit|SNP None|TLB L1 or L2 hit|LCK No 7" TAIL LOADS
	       "7f1041 68100242 |OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No 8" TAIL
		       LOADS
	       "7f1042 68100242 |OP LOAD|LVL Unknown level 7 hit|SNP None|BLK  N/A 9" TAIL,
	       "worker 12/34 [3] 5000001000 R 7f1040/- w1 l7 l1 401268 add\n"
	       "worker 12/34 [3] 5000001000 R 7f1041/- w1 l8 fill_buffer 401268 add\n"
	       "worker 12/34 [3] 5000001000 R 7f1042/- w1 l9 fill_buffer 401268 add\n");
}

static void unknown_groups_of_data_src_are_passed_over(void)
{
	expect(HEAD
	       "1 memory: 7f1040 444000288100144 |OP STORE SIMD|LVL L1 hit|SNP None|TLB Walker "
	       "hit|LCK No|BLK  N/A|AFF PRED SG 12" TAIL,
	       "worker 12/34 [3] 5000001000 W 7f1040/- w1 l12 l1 401268 add\n");
}

static void op_comes_from_bits_and_not_from_words_or_names(void)
{
	expect(LOADS "7f1040 68100144 |OP LOAD|LVL L1 hit|SNP None|LCK No 7" TAIL,
	       "worker 12/34 [3] 5000001000 W 7f1040/- w1 l7 l1 401268 add\n");
}

static void without_data_src_the_event_names_the_op(void)
{
	expect(HEAD "1 cpu_atom/mem-loads,ldlat=30/P: 7f0000001040 33 401268 add+0x8 (./p)\n" HEAD
		    "1 cpu_atom/mem-stores/P: 7f0000001041 0 401268 add+0x8 (./p)\n",
	       "worker 12/34 [3] 5000001000 R 7f0000001040/- w1 l33 - 401268 add\n"
	       "worker 12/34 [3] 5000001000 W 7f0000001041/- w1 l- - 401268 add\n");
}

static void prefetches_and_uncached_accesses_are_not_used(void)
{
	expect(HEAD "1 ibs_op//: 7f1040 68100148 |OP PFETCH|LVL L1 hit|SNP N/A 7" TAIL HEAD
		    "1 ibs_op//: 7f1041 140042 |OP LOAD|LVL Uncached hit|SNP N/A 7" TAIL LOADS
		    "7f1042 " L1_LOAD " 7" TAIL,
	       "worker 12/34 [3] 5000001000 R 7f1042/- w1 l7 l1 401268 add\n");
	EXPECT_NUMBER(dropped[DROP_PREFETCH], 1);
	EXPECT_NUMBER(dropped[DROP_UNCACHED], 1);
}

static void a_locked_load_is_an_atomic_and_its_store_a_duplicate(void)
{
	expect(STORES "7f1040 " LOCKED_STORE " 0" TAIL LOADS "7f1040 " LOCKED_LOAD " 7" TAIL STORES
		      "7f1048 " LOCKED_STORE " 0" TAIL,
	       "worker 12/34 [3] 5000001000 A 7f1040/- w1 l7 l1 401268 add\n");
	EXPECT_NUMBER(dropped[DROP_DUPLICATE], 2);
	CU_ASSERT(has_note("counted by the load event"));
}

static void a_locked_store_counts_where_no_load_event_does(void)
{
	expect(STORES "7f1040 " LOCKED_STORE " 0" TAIL LOADS "7f1040 " L1_LOAD " 7" TAIL,
	       "worker 12/34 [3] 5000001000 A 7f1040/- w1 l- l1 401268 add\n"
	       "worker 12/34 [3] 5000001000 R 7f1040/- w1 l7 l1 401268 add\n");
	EXPECT_NUMBER(dropped[DROP_DUPLICATE], 0);
}

static void a_word_may_say_load_and_store(void)
{
	expect(LOADS "7f1040 " LOCKED_LOAD " 7" TAIL HEAD
		     "1 ibs_op//: 7f1041 68100146 |OP LOAD|LVL L1 hit|SNP None|LCK No 7" TAIL HEAD
		     "1 ibs_op//: 7f1042 6a100146 |OP LOAD|LVL L1 hit|SNP None|LCK Yes 7" TAIL,
	       "worker 12/34 [3] 5000001000 A 7f1040/- w1 l7 l1 401268 add\n"
	       "worker 12/34 [3] 5000001000 M 7f1041/- w1 l7 l1 401268 add\n"
	       "worker 12/34 [3] 5000001000 A 7f1042/- w1 l7 l1 401268 add\n");
}

static void arm_spe_says_one_access_several_times(void)
{
#define SPE "7f1040 88000182 |OP LOAD|LVL L1 miss|SNP N/A|TLB Walker hit|LCK No|BLK  N/A 7" TAIL
	expect(HEAD "1 l1d-miss: " SPE HEAD "1 l1d-access: " SPE HEAD "1 tlb-access: " SPE HEAD
		    "1 memory: " SPE HEAD "1 instructions: 401268 add (./p)\n",
	       "worker 12/34 [3] 5000001000 R 7f1040/- w1 l7 - 401268 add\n");
	EXPECT_NUMBER(dropped[DROP_DUPLICATE], 3);
	EXPECT_NUMBER(dropped[DROP_NOT_DATA], 1);
	CU_ASSERT(has_note("'memory'"));
#undef SPE
}

/* ---- call chains and other lines ---- */

static void the_first_frame_of_a_call_chain_is_the_ip(void)
{
	expect("worker 12/34 [003] 5.000001: 1 mem:0x4040c0:           4040c0\n"
	       "\t            1268 try_charge+0x8 (./p)\n\t   0 [unknown] ([unknown])\n\n"
	       "worker 12/34 [003] 5.000002: 1 mem:0x4040c0: \n"
	       "\t            1254 uncharge+0x4 (./p)\n\n",
	       "worker 12/34 [3] 5000001000 ? 4040c0/- w1 l- - 1268 try_charge\n"
	       "worker 12/34 [3] 5000002000 ? 4040c0/- w1 l- - 1254 uncharge\n");
	EXPECT_NUMBER(skipped[SKIP_CONTINUATION], 3);
}

static void a_call_chain_may_be_empty_or_odd(void)
{
	expect("worker 12/34 [003] 5.000001: 1 mem:0x4040c0: \n\n"
	       "worker 12/34 [003] 5.000002: 1 mem:0x4040c0: \n\tNO_FRAME\n\n"
	       "worker 12/34 [003] 5.000003: 1 mem:0x4040c0: \n\n\t 1254 late+0x4 (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 4040c0/- w1 l- - \n"
	       "worker 12/34 [3] 5000002000 ? 4040c0/- w1 l- - \n"
	       "worker 12/34 [3] 5000003000 ? 4040c0/- w1 l- - 1254 late\n");
}

static void lines_of_sources_are_continuations(void)
{
	expect(HEAD "1 mem:0x40: 7f1040 401268 w (./p)\n  prog.c:25\n" HEAD
		    "1 mem:0x40: 7f1041 401268 w (./p)\n  ??:0\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n"
	       "worker 12/34 [3] 5000001000 ? 7f1041/- w1 l- - 401268 w\n");
	EXPECT_NUMBER(skipped[SKIP_CONTINUATION], 2);
}

static void a_cpu_may_lack(void)
{
	expect("perf 34 5.000001: 1 cpu/mem-loads/pp: 7f1040 " L1_LOAD " 7" TAIL,
	       "perf -/34 [-] 5000001000 R 7f1040/- w1 l7 l1 401268 add\n");
	CU_ASSERT(has_note("30 cycles"));
}

static void a_time_may_lack(void)
{
	expect("  perf 34 [001] 62 cpu/mem-loads/pp: 7f1040 " L1_LOAD " 7" TAIL
	       "  perf 34 cpu/mem-loads/pp: 7f1041 " L1_LOAD " 7" TAIL
	       "cpu/mem-loads/pp: 7f0000001042 401268 add (./p)\n",
	       "perf -/34 [1] - R 7f1040/- w62 l7 l1 401268 add\n"
	       "perf -/34 [-] - R 7f1041/- w1 l7 l1 401268 add\n"
	       " -/- [-] - R 7f0000001042/- w1 l- - 401268 add\n");
}

static void columns_of_addresses_alone_will_do(void)
{
	expect("7f0000001040 " L1_LOAD "\n", " -/- [-] - R 7f0000001040/- w1 l- l1 \n");
}

static void times_of_six_or_nine_digits(void)
{
	expect("p 1/2 [0] 1.5: x\np 1/2 [0] 1.000002: 1 mem:0x40: 7f1040 401268 w (./p)\n"
	       "p 1/2 [0] 1.000000003: 1 mem:0x40: 7f1041 401268 w (./p)\n",
	       "p 1/2 [0] 1000002000 ? 7f1040/- w1 l- - 401268 w\n"
	       "p 1/2 [0] 1000000003 ? 7f1041/- w1 l- - 401268 w\n");
	EXPECT_NUMBER(skipped[SKIP_UNPARSED], 1);
	EXPECT_NUMBER(backwards, 1);
}

static void records_about_tasks_are_no_samples(void)
{
	expect("  p  1/1 [000] 0.000000: PERF_RECORD_COMM exec: p:1/1\n"
	       "  p  1/1 [000] 0.000001: PERF_RECORD_MMAP2 1/1: [0x400000(0x1000) @ 0 fe:00 1 2]: "
	       "r-xp ./p\n"
	       "  p  1/1 [000] 0.000002: PERF_RECORD_FORK(1:1):(0:0)\n"
	       "  p  1/1 [000] 0.000003: PERF_RECORD_LOST lost 136\n"
	       "  p  1/1 [000] 0.000004: PERF_RECORD_LOST_SAMPLES lost 4\n" HEAD
	       "1 mem:0x40: 7f1040 401268 w (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
	EXPECT_NUMBER(skipped[SKIP_TASK], 5);
	EXPECT_NUMBER(lost, 140);
}

static void the_header_names_the_machine_and_the_command(void)
{
	expect("# ========\n# cpudesc : Example CPU\n# cmdline : perf record -a\n# "
	       "========\n#\n" HEAD "1 mem:0x40: 7f1040 401268 w (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
	EXPECT_NUMBER(skipped[SKIP_COMMENT], 5);
	CU_ASSERT(has_note("Example CPU") && has_note("perf record -a"));
}

static void warnings_in_between_are_messages(void)
{
	expect("No kallsyms or vmlinux with build-id 0123 was found\n"
	       "'trace' not valid for hardware events. Ignoring.\n" HEAD
	       "1 mem:0x40: 7f1040 401268 w (./p)\nWhat is this?\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
	EXPECT_NUMBER(skipped[SKIP_MESSAGE], 2);
	EXPECT_NUMBER(skipped[SKIP_UNPARSED], 1);
	expect_text(got.summary.first_unparsed, "4: What is this?");
}

static void details_of_a_dump_are_continuations(void)
{
	expect("28 5000001 0xe6860 [0x48]: PERF_RECORD_SAMPLE(IP, 0x4001): 12/34: 0x401268 period: "
	       "1 "
	       "addr: 0x1040\n... weight: 225,0x0,0x0\n . data_src: 0x68100142\n ... thread: "
	       "w:34\n" LOADS "7f1040 " L1_LOAD " 7" TAIL,
	       "worker 12/34 [3] 5000001000 R 7f1040/- w1 l7 l1 401268 add\n");
	EXPECT_NUMBER(read, 1);
	EXPECT_NUMBER(skipped[SKIP_CONTINUATION], 4);
}

static void objects_of_unusual_names(void)
{
	expect(HEAD "1 mem:0x40: 7f1040 401268 [unknown] ([JIT app cache])\n" HEAD
		    "1 mem:0x40: 7f1041 401269 tick (/memfd:code (deleted))\n" HEAD
		    "1 mem:0x40: 7f1042 40126a bpf_prog_0a_run+0xb (bpf_prog_0a_run)\n" HEAD
		    "1 mem:0x40: 7f1043 40126b (//anon)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 \n"
	       "worker 12/34 [3] 5000001000 ? 7f1041/- w1 l- - 401269 tick\n"
	       "worker 12/34 [3] 5000001000 ? 7f1042/- w1 l- - 40126a bpf_prog_0a_run\n"
	       "worker 12/34 [3] 5000001000 ? 7f1043/- w1 l- - 40126b \n");
}

static void symbols_with_blanks_and_parentheses(void)
{
	expect(HEAD "1 mem:0x40: 7f1040 401268 std::map<int, long>::at(int const&) (.cold)+0x12 "
		    "(./p)\n" HEAD
		    "1 mem:0x40: 7f1041 401268 operator|(Mask, Mask) (/opt/my dir/p)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 std::map<int, long>::at(int "
	       "const&) (.cold)\n"
	       "worker 12/34 [3] 5000001000 ? 7f1041/- w1 l- - 401268 operator|(Mask, Mask)\n");
}

static void symbols_that_look_hexadecimal(void)
{
	expect(HEAD "1 mem:0x40: 7f1040 401268 add (./p)\n" HEAD
		    "1 mem:0x40: 7f1041 401268 face (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 add\n"
	       "worker 12/34 [3] 5000001000 ? 7f1041/- w1 l- - 401268 face\n");
}

static void weights_are_periods_and_not_counts(void)
{
	expect("p 1 1.000001: 1 cpu/mem-loads/pp: 7f1040 " L1_LOAD " 7" TAIL
	       "p 1 1.000002: 618 cpu/mem-loads/pp: 7f1040 " L1_LOAD " 7" TAIL
	       "p 1 1.000003: 0 cpu/mem-loads/pp: 7f1040 " L1_LOAD " 7" TAIL,
	       "p -/1 [-] 1000001000 R 7f1040/- w1 l7 l1 401268 add\n"
	       "p -/1 [-] 1000002000 R 7f1040/- w618 l7 l1 401268 add\n"
	       "p -/1 [-] 1000003000 R 7f1040/- w1 l7 l1 401268 add\n");
	EXPECT_NUMBER(weight, 620);
}

static void guests_come_before_the_name(void)
{
	expect("VM:13376 VCPU:003 my prog 7/8 [003] 1.000001: 1 mem:0x40: 7f1040 401268 w (./p)\n",
	       "my prog 7/8 [3] 1000001000 ? 7f1040/- w1 l- - 401268 w\n");
}

static void mailers_turn_blanks_into_tabs_and_line_ends_into_two(void)
{
	expect("\tworker\t12/34\t[003] 5.000001:\t1 mem:0x40:\t7f1040\t401268 w\t(./p)\r\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
}

static void the_mode_after_the_cpu(void)
{
	expect("worker 12/34 [003] Kp 5.000001: 1 mem:0x40: 7f1040 401268 w (./p)\n",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
}

/* ---- loads and stores of breakpoints ---- */

#define HIT(time, address, ip) \
	"w 1/2 [0] 1." time ": 1 mem:0x" address ": " address " " ip " f+0x1 (./p)\n"

static void two_events_on_an_address_report_a_store_twice(void)
{
	expect(HIT("000010000", "404040", "401268") HIT("000011000", "404040", "401268")
		       HIT("000030000", "404040", "401270") HIT("000050000", "404040", "401268")
			       HIT("000050400", "404040", "401268"),
	       "w 1/2 [0] 1000010000 W 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000030000 R 404040/- w1 l- - 401270 f\n"
	       "w 1/2 [0] 1000050000 W 404040/- w1 l- - 401268 f\n");
	EXPECT_NUMBER(dropped[DROP_DUPLICATE], 2);
	EXPECT_NUMBER(read, 5);
}

static void twins_need_the_same_thread_instruction_and_time(void)
{
	expect(HIT("000010000", "404040", "401268") HIT("000011000", "404040", "401268") HIT(
		       "000030000", "404040", "401268") HIT("000035001", "404040", "401268")
		       HIT("000050000", "404040",
			   "401268") "w 1/3 [0] 1.000050001: 1 mem:0x404040: 404040 401268 f "
				     "(./p)\n" HIT("000050002", "404040", "401269"),
	       "w 1/2 [0] 1000010000 W 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000030000 R 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000035001 R 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000050000 R 404040/- w1 l- - 401268 f\n"
	       "w 1/3 [0] 1000050001 R 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000050002 R 404040/- w1 l- - 401269 f\n");
}

static void twins_of_two_threads_may_interleave(void)
{
	expect(HIT("000010000", "404040",
		   "401268") "w 1/3 [1] 1.000010500: 1 mem:0x404040: 404040 401268 f "
			     "(./p)\n" HIT("000011000", "404040",
					   "401268") "w 1/3 [1] 1.000011500: 1 mem:0x404040: "
						     "404040 401268 f (./p)\n",
	       "w 1/2 [0] 1000010000 W 404040/- w1 l- - 401268 f\n"
	       "w 1/3 [1] 1000010500 W 404040/- w1 l- - 401268 f\n");
}

static void one_event_that_hits_fast_has_no_twins(void)
{
	expect(HIT("000010000", "404040", "401268") HIT("000011000", "404040", "401268")
		       HIT("000012000", "404040", "401268") HIT("000030000", "404040", "401270")
			       HIT("000031000", "404040", "401270"),
	       "w 1/2 [0] 1000010000 ? 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000011000 ? 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000012000 ? 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000030000 ? 404040/- w1 l- - 401270 f\n"
	       "w 1/2 [0] 1000031000 ? 404040/- w1 l- - 401270 f\n");
	CU_ASSERT(has_note("perf.data has it"));
}

/* Of numbers that the reader's table of runs keeps in one place. */
static void two_threads_that_hit_at_once_are_no_twins(void)
{
	expect(HIT("000010000", "404040",
		   "401268") "w 1/57 [1] 1.000010500: 1 mem:0x404040: 404040 401268 f (./p)\n",
	       "w 1/2 [0] 1000010000 ? 404040/- w1 l- - 401268 f\n"
	       "w 1/57 [1] 1000010500 ? 404040/- w1 l- - 401268 f\n");
}

static void the_command_line_tells_which_events_watch_an_address(void)
{
	expect("# cmdline : perf record -e mem:0x404040/8:w -e mem:0x404040/8:rw -e "
	       "mem:0x404048/4:rw:u "
	       "-e "
	       "mem:0x404050/2:w ./p\n" HIT("000010000", "404040", "401268")
		       HIT("000011000", "404040", "401268") HIT("000012000", "404040", "401270")
			       HIT("000013000", "404048", "401271")
				       HIT("000014000", "404048", "401271")
					       HIT("000019000", "404050", "401272")
						       HIT("000020000", "404050", "401272"),
	       "w 1/2 [0] 1000010000 W 404040/8 w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000012000 R 404040/8 w1 l- - 401270 f\n"
	       "w 1/2 [0] 1000013000 ? 404048/4 w1 l- - 401271 f\n"
	       "w 1/2 [0] 1000014000 ? 404048/4 w1 l- - 401271 f\n"
	       "w 1/2 [0] 1000019000 W 404050/2 w1 l- - 401272 f\n"
	       "w 1/2 [0] 1000020000 W 404050/2 w1 l- - 401272 f\n");
}

static void the_list_of_events_tells_it_too(void)
{
	expect("# event : name = mem:0x404040, , id = { 1 }, type = 5\n"
	       "# event : name = mem:0x0000404040, , id = { 2 }, type = 5\n"
	       "# event : name = mem:0x404048, , id = { 3 }, type = 5\n" HIT("000010000", "404040",
									     "401268")
		       HIT("000020000", "404048", "401270") HIT("000021000", "404048", "401270"),
	       "w 1/2 [0] 1000010000 R 404040/- w1 l- - 401268 f\n"
	       "w 1/2 [0] 1000020000 ? 404048/- w1 l- - 401270 f\n"
	       "w 1/2 [0] 1000021000 ? 404048/- w1 l- - 401270 f\n");
}

/* ---- what is refused, and what is not ---- */

static void text_without_addresses_is_answered_with_the_command(void)
{
	static const char text[] = HEAD "1 cpu/mem-loads/P: 401268 add (./p)\n";

	read_bytes(text, strlen(text));
	CU_ASSERT_EQUAL(got.last, STEP_END);
	expect_text(
		got.error.text,
		"t: no data address in any of 1 samples, expected the columns of `perf script "
		"-G --ns -F comm,pid,tid,cpu,time,period,event,addr,phys_addr,data_src,weight,ip,"
		"sym,symoff,dso`");
}

static void text_without_memory_events_says_what_would_do(void)
{
	static const char text[] = HEAD "1 cycles: 401268 add (./p)\n";

	read_bytes(text, strlen(text));
	expect_text(
		got.error.text,
		"t: no sample of an access to data, expected some of memory events, as `perf mem "
		"record` and `perf record -e mem:ADDRESS` take");
	EXPECT_NUMBER(dropped[DROP_NOT_DATA], 1);
}

static void a_line_that_the_end_cuts_off_is_not_used(void)
{
	expect(HEAD "1 mem:0x40: 7f1040 401268 w (./p)\n" HEAD "1 mem:0x40: 10",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
	EXPECT_NUMBER(dropped[DROP_TRUNCATED], 1);
	EXPECT_NUMBER(read, 2);
	expect(HEAD "1 mem:0x40: 7f1040 401268 w (./p)",
	       "worker 12/34 [3] 5000001000 ? 7f1040/- w1 l- - 401268 w\n");
}

static void numbers_that_exceed_their_width_are_no_columns(void)
{
	expect("w 1/4294967296 [0] 1.000001: 1 mem:0x40: 7f1040 401268 w (./p)\n"
	       "w 1/2 [0] 99999999999999999999.000001: 1 mem:0x40: 7f1040 401268 w (./p)\n"
	       "w 1/2 [0] 1.000001: 1 mem:0x40: 11112222333344445 401268 w (./p)\n"
	       "w 1/2 [0] 1.000001: 1 mem:0x40: 7f1040 401268 w (./p)\n",
	       "w 1/4294967296 -/- [0] 1000001000 ? 7f1040/- w1 l- - 401268 w\n"
	       "w 1/2 [0] 1000001000 ? 40/- w1 l- - \n"
	       "w 1/2 [0] 1000001000 ? 7f1040/- w1 l- - 401268 w\n");
}

static void a_line_longer_than_any_of_perf_is_refused(void)
{
	size_t length = 1 << 20;
	char *text = malloc(length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	memset(text, 'x', length);
	read_bytes(text, length);
	free(text);
	CU_ASSERT_EQUAL(got.last, STEP_FAILED);
	CU_ASSERT(!strncmp(got.error.text, "t:1:1: a line of more than", 26));
}

static void any_bytes_end_in_one_sentence(void)
{
	char bytes[512];

	for (size_t k = 0; k < sizeof(bytes); k++)
		bytes[k] = (char)(k * 37 + (k >> 3));
	read_bytes(bytes, sizeof(bytes));
	CU_ASSERT(got.last != STEP_RECORD && got.error.text[0] && got.count == 0);
	read_bytes("", 0);
	CU_ASSERT(got.last == STEP_END && got.error.text[0]);
}

static void only_text_of_perf_is_recognised(void)
{
	static const struct {
		const char *text;
		bool is;
	} cases[] = {
		{ LOADS "7f1040 " L1_LOAD " 7" TAIL, true },
		{ "# a comment\n\n" HEAD "1 mem:0x40: 401268 w (./p)\n", true },
		{ "  p  1/1 [000] 0.000000: PERF_RECORD_COMM exec: p:1/1\n", true },
		{ "    bash-1977  [000] .... 17284.993652: sys_close <-system_call_fastpath\n",
		  false },
		{ " L 04222cb0,8\n S 04222cb8,8\n", false },
		{ "0x401000: R 0x7ffe10  8 0x1\n", false },
		{ "plain words\nand 12 numbers: 3\n", false },
		{ "", false },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		bool is = trace_format_find("perf-script")
				  ->recognise((const unsigned char *)cases[k].text,
					      strlen(cases[k].text));

		CU_ASSERT_EQUAL(is, cases[k].is);
		if (is != cases[k].is)
			printf("\n   %s", cases[k].text);
	}
}

/* ---- captures ---- */

static bool read_capture(const char *name)
{
	const char *shared = getenv("HITM_SHARED");
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared", name);
	file = fopen(path, "r");
	if (!file) {
		test_skip("the captures of perf, in HITM_SHARED");
		return false;
	}
	fclose(file);
	memset(&got, 0, sizeof(got));
	drain(trace_open(path, NULL, &got.error));
	return true;
}

/* Counted with grep and awk. */
static void captures_are_read_to_the_last_record(void)
{
	static const struct {
		const char *name;
		uint64_t read, used, loads, stores, atomics, weight, lost;
	} cases[] = {
		{ "local/pagectr-4fields.default.script.txt", 1604, 1604, 0, 0, 0, 1604, 0 },
		{ "local/pagectr-4fields.ns-wide.script.txt", 1604, 1604, 0, 0, 0, 1604, 0 },
		{ "local/pagectr-4fields.srcline.script.txt", 1604, 1604, 0, 0, 0, 1604, 0 },
		{ "local/pagectr-callchain.script.txt", 41, 41, 0, 0, 0, 41, 0 },
		{ "local/pagectr-callchain-addr.script.txt", 41, 41, 0, 0, 0, 41, 0 },
		{ "local/odd-thread-names.default.script.txt", 20, 20, 0, 0, 0, 20, 0 },
		{ "local/odd-thread-names.script.txt", 20, 20, 0, 0, 0, 20, 0 },
		{ "local/pagectr-lost.excerpt.script.txt", 28, 28, 0, 0, 0, 28, 965 },
		{ "local/pagectr-page-faults.script.txt", 64, 64, 0, 0, 0, 64, 0 },
		{ "local/pagectr-page_fault_user-tracepoint.script.txt", 65, 41, 14, 27, 0, 41, 0 },
		{ "local/pagectr-uprobes.script.txt", 401, 0, 0, 0, 0, 0, 0 },
		/* 200 + 198 stores by pairs; 200 + 1 loads, and 2 pairs split by preemption. */
		{ "local/pagectr-w-and-rw.script.txt", 1001, 603, 205, 398, 0, 603, 0 },
		{ "local/heapctr-attach-w-rw.script.txt", 500, 300, 100, 200, 0, 300, 0 },
		{ "perf-script/ivb-pebs-loads-freq.default.script.txt", 14, 14, 13, 0, 1, 5911, 0 },
		{ "perf-script/ivb-pebs-loads-freq.ns-wide.script.txt", 14, 14, 13, 0, 1, 5911, 0 },
		{ "perf-script/ivb-pebs-loads-freq.dump-samples.txt", 14, 14, 13, 0, 1, 5911, 0 },
		{ "perf-script/skx-pebs-loads-weight_struct.default.script.txt", 14, 14, 12, 0, 2,
		  140126, 0 },
		{ "perf-script/skx-pebs-loads-weight_struct.ns-wide.script.txt", 14, 14, 12, 0, 2,
		  140126, 0 },
		{ "perf-script/arm-spe-5.19-OP.script.txt", 4, 0, 0, 0, 0, 0, 0 },
		{ "perf-script/arm-spe-pre5.19-no-OP.script.txt", 4, 0, 0, 0, 0, 0, 0 },
		{ "perf-script/amd-ibs-6.x-F-data_src.script.txt", 6, 0, 0, 0, 0, 0, 0 },
		{ "perf-script/page-faults-callchain-java.txt", 23, 0, 0, 0, 0, 0, 0 },
		{ "perf-script/skx-with-mmap-task-events.head400.txt", 0, 0, 0, 0, 0, 0, 0 },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		if (!read_capture(cases[k].name))
			return;
		EXPECT_NUMBER(read, cases[k].read);
		EXPECT_NUMBER(used, cases[k].used);
		EXPECT_NUMBER(ops[TRACE_LOAD], cases[k].loads);
		EXPECT_NUMBER(ops[TRACE_STORE], cases[k].stores);
		EXPECT_NUMBER(ops[TRACE_ATOMIC], cases[k].atomics);
		EXPECT_NUMBER(weight, cases[k].weight);
		EXPECT_NUMBER(lost, cases[k].lost);
		CU_ASSERT(cases[k].used || got.error.text[0]);
	}
}

void suite_perf_script(void)
{
	CU_pSuite suite = CU_add_suite("perf_script", NULL, NULL);

	CU_ADD_TEST(suite, all_columns_of_one_line);
	CU_ADD_TEST(suite, three_weight_columns_of_newer_versions);
	CU_ADD_TEST(suite, thread_names_that_look_like_something_else);
	CU_ADD_TEST(suite, a_time_in_the_text_of_a_symbol_is_not_the_time);
	CU_ADD_TEST(suite, event_names_with_colons_and_commas);
	CU_ADD_TEST(suite, event_names_that_ran_together_leave_the_address_column);
	CU_ADD_TEST(suite, leading_zeros_of_a_breakpoint_are_a_number);
	CU_ADD_TEST(suite, a_breakpoint_names_its_length_and_access);
	CU_ADD_TEST(suite, address_zero_is_none);
	CU_ADD_TEST(suite, a_kernel_instruction_may_access_the_user);
	CU_ADD_TEST(suite, page_faults_have_two_symbols);
	CU_ADD_TEST(suite, a_symbol_and_a_physical_address_are_no_second_symbol);
	CU_ADD_TEST(suite, page_fault_tracepoints_say_the_access);
	CU_ADD_TEST(suite, probes_count_by_an_argument_called_addr);
	CU_ADD_TEST(suite, words_of_data_src_may_be_cut);
	CU_ADD_TEST(suite, words_of_data_src_changed_with_versions);
	CU_ADD_TEST(suite, unknown_groups_of_data_src_are_passed_over);
	CU_ADD_TEST(suite, op_comes_from_bits_and_not_from_words_or_names);
	CU_ADD_TEST(suite, without_data_src_the_event_names_the_op);
	CU_ADD_TEST(suite, prefetches_and_uncached_accesses_are_not_used);
	CU_ADD_TEST(suite, a_locked_load_is_an_atomic_and_its_store_a_duplicate);
	CU_ADD_TEST(suite, a_locked_store_counts_where_no_load_event_does);
	CU_ADD_TEST(suite, a_word_may_say_load_and_store);
	CU_ADD_TEST(suite, arm_spe_says_one_access_several_times);
	CU_ADD_TEST(suite, the_first_frame_of_a_call_chain_is_the_ip);
	CU_ADD_TEST(suite, a_call_chain_may_be_empty_or_odd);
	CU_ADD_TEST(suite, lines_of_sources_are_continuations);
	CU_ADD_TEST(suite, a_cpu_may_lack);
	CU_ADD_TEST(suite, a_time_may_lack);
	CU_ADD_TEST(suite, columns_of_addresses_alone_will_do);
	CU_ADD_TEST(suite, times_of_six_or_nine_digits);
	CU_ADD_TEST(suite, records_about_tasks_are_no_samples);
	CU_ADD_TEST(suite, the_header_names_the_machine_and_the_command);
	CU_ADD_TEST(suite, warnings_in_between_are_messages);
	CU_ADD_TEST(suite, details_of_a_dump_are_continuations);
	CU_ADD_TEST(suite, objects_of_unusual_names);
	CU_ADD_TEST(suite, symbols_with_blanks_and_parentheses);
	CU_ADD_TEST(suite, symbols_that_look_hexadecimal);
	CU_ADD_TEST(suite, weights_are_periods_and_not_counts);
	CU_ADD_TEST(suite, guests_come_before_the_name);
	CU_ADD_TEST(suite, mailers_turn_blanks_into_tabs_and_line_ends_into_two);
	CU_ADD_TEST(suite, the_mode_after_the_cpu);
	CU_ADD_TEST(suite, two_events_on_an_address_report_a_store_twice);
	CU_ADD_TEST(suite, twins_need_the_same_thread_instruction_and_time);
	CU_ADD_TEST(suite, twins_of_two_threads_may_interleave);
	CU_ADD_TEST(suite, one_event_that_hits_fast_has_no_twins);
	CU_ADD_TEST(suite, two_threads_that_hit_at_once_are_no_twins);
	CU_ADD_TEST(suite, the_command_line_tells_which_events_watch_an_address);
	CU_ADD_TEST(suite, the_list_of_events_tells_it_too);
	CU_ADD_TEST(suite, text_without_addresses_is_answered_with_the_command);
	CU_ADD_TEST(suite, text_without_memory_events_says_what_would_do);
	CU_ADD_TEST(suite, a_line_that_the_end_cuts_off_is_not_used);
	CU_ADD_TEST(suite, numbers_that_exceed_their_width_are_no_columns);
	CU_ADD_TEST(suite, a_line_longer_than_any_of_perf_is_refused);
	CU_ADD_TEST(suite, any_bytes_end_in_one_sentence);
	CU_ADD_TEST(suite, only_text_of_perf_is_recognised);
	CU_ADD_TEST(suite, captures_are_read_to_the_last_record);
}
