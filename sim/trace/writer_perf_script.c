/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace as `perf script -F comm,pid,tid,cpu,time,period,event,addr,data_src,weight,ip,sym,dso --ns`
 * prints samples of perf mem, for other tools. What was done and where the data came from are in the
 * bits of data_src: union perf_mem_data_src of include/uapi/linux/perf_event.h. */
#include "trace/writer.h"
#include <inttypes.h>

/* Of each operation, its event's name, and the word and its bits: op from bit 0, lock from bit 24. */
static const struct {
	const char *event, *words, *lock;
	uint64_t bits;
} ops[TRACE_OPS] = {
	[TRACE_LOAD] = { "cpu/mem-loads/P", "LOAD", "No", 0x2 },
	[TRACE_STORE] = { "cpu/mem-stores/P", "STORE", "No", 0x4 },
	[TRACE_ATOMIC] = { "cpu/mem-loads/P", "LOAD", "Yes", 0x2 | 2ULL << 24 },
	[TRACE_MODIFY] = { "cpu/mem-stores/P", "LOAD|STORE", "No", 0x6 },
	[TRACE_ACCESS] = { "mem_access", "N/A", "N/A", 0x1 | 1ULL << 24 },
};

/* lvl from bit 5, snoop from 19, lvl_num from 33, remote 37, snoopx from 38, hops from 43. */
#define BITS(lvl, snoop, number, remote, snoopx, hops)                                      \
	((lvl##ULL) << 5 | (snoop##ULL) << 19 | (number##ULL) << 33 | (remote##ULL) << 37 | \
	 (snoopx##ULL) << 38 | (hops##ULL) << 43)

/* The level and the snoop, in words and in bits. */
static const struct {
	const char *level, *snoop;
	uint64_t bits;
} sources[SOURCES] = {
	[SOURCE_UNKNOWN] = { "N/A", "N/A", BITS(0x1, 0x1, 0xf, 0, 0, 0) },
	[SOURCE_L1] = { "L1 hit", "None", BITS(0xa, 0x2, 0x1, 0, 0, 0) },
	[SOURCE_FILL_BUFFER] = { "LFB/MAB hit", "None", BITS(0x12, 0x2, 0xc, 0, 0, 0) },
	[SOURCE_L2] = { "L2 hit", "None", BITS(0x22, 0x2, 0x2, 0, 0, 0) },
	[SOURCE_LLC] = { "L3 hit", "None", BITS(0x42, 0x2, 0x3, 0, 0, 0) },
	[SOURCE_HITM_LOCAL] = { "L3 hit", "HitM", BITS(0x42, 0x10, 0x3, 0, 0, 0) },
	[SOURCE_HITM_REMOTE] = { "Remote Cache (1 hop) hit", "HitM",
				 BITS(0x402, 0x10, 0x3, 1, 0, 0) },
	[SOURCE_PEER_LOCAL] = { "L3 hit", "Peer", BITS(0x42, 0x0, 0x3, 0, 2, 0) },
	[SOURCE_PEER_REMOTE] = { "Remote Cache (1 hop) hit", "Peer",
				 BITS(0x402, 0x0, 0x3, 1, 2, 0) },
	[SOURCE_CLEAN_REMOTE] = { "Remote Cache (1 hop) hit", "Hit",
				  BITS(0x402, 0x4, 0x3, 1, 0, 0) },
	[SOURCE_DRAM_LOCAL] = { "Local RAM hit", "None", BITS(0x82, 0x2, 0xd, 0, 0, 0) },
	[SOURCE_DRAM_REMOTE] = { "Remote RAM (1 hop) hit", "None", BITS(0x102, 0x2, 0xd, 1, 0, 0) },
	[SOURCE_UNCACHED] = { "Uncached hit", "N/A", BITS(0x2002, 0x1, 0x8, 0, 0, 0) },
};

static void write_thread(FILE *out, const struct trace_record *record)
{
	uint32_t pid = record->known & KNOWN_PID ? record->pid : record->tid;

	if (record->thread_name.length)
		fprintf(out, "%16.*s ", (int)record->thread_name.length, record->thread_name.at);
	else
		fprintf(out, "%15s%" PRIu32 " ", ":", record->tid);
	fprintf(out, "%7" PRIu32 "/%-7" PRIu32 " ", pid, record->tid);
	if (record->known & KNOWN_CPU)
		fprintf(out, "[%03" PRIu32 "] ", record->cpu);
	fprintf(out, "%5" PRIu64 ".%09" PRIu64 ": ", record->time / 1000000000,
		record->time % 1000000000);
}

static bool perf_script_begin(struct trace_writer *writer, enum trace_kind kind,
			      const struct trace_object *objects, uint32_t object_count,
			      struct error *error)
{
	(void)writer, (void)kind, (void)objects, (void)object_count, (void)error;
	return true;
}

static bool perf_script_write(struct trace_writer *writer, const struct trace_record *record,
			      struct error *error)
{
	FILE *out = writer->out;
	struct text event = record->event;
	uint64_t data_src = ops[record->op].bits | sources[record->source].bits;

	if (!(record->known & KNOWN_ADDRESS) || !(record->known & KNOWN_TIME) || record->cpus > 1)
		return error_set(error,
				 "perf script has no lines for records without an address or "
				 "a time, or of several CPUs together; write a trace instead");
	write_thread(out, record);
	fprintf(out, "%10" PRIu64 " ", record->weight);
	if (event.length)
		fprintf(out, "%.*s: ", (int)event.length, event.at);
	else
		fprintf(out, "%s: ", ops[record->op].event);
	fprintf(out, "%16" PRIx64 " %16" PRIx64 " |OP %s|LVL %s|SNP %s|TLB N/A|LCK %s|BLK  N/A ",
		record->address, data_src, ops[record->op].words, sources[record->source].level,
		sources[record->source].snoop, ops[record->op].lock);
	fprintf(out, "%16" PRIu32 " %16" PRIx64 " ", record->latency, record->ip);
	if (record->symbol.length)
		fprintf(out, "%.*s ([unknown])\n", (int)record->symbol.length, record->symbol.at);
	else
		fputs("[unknown] ([unknown])\n", out);
	return true;
}

const struct trace_form trace_form_perf_script = {
	.name = "perf-script",
	.begin = perf_script_begin,
	.write = perf_script_write,
};
