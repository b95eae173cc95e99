/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/traces.h"
#include "engine/random.h"
#include "trace/perf_data_format.h"
#include "trace/writer.h"

enum {
	TABLE = 1 << 20,    /* words of 8 bytes */
	APART = 20 * 1000,  /* ns from one sample to the next, at most */
	LEAST_LATENCY = 30, /* cycles */
	LATENCIES = 500,    /* more than that, at most */
	PERIOD = 1009       /* accesses that a sample stands for */
};
static const uint64_t table = 0x7f0000000000, code = 0x401000;

/* A sample as every form has it; the next one, on whichever CPU. */
struct sample {
	uint64_t time, address, ip;
	uint32_t cpu, latency;
	bool store;
};

static void sample_next(struct sample *sample, struct random *random)
{
	sample->cpu = (uint32_t)random_below(random, TRACES_CPUS);
	sample->store = random_below(random, 4) == 0;
	sample->address = table + 8 * random_below(random, TABLE);
	sample->ip = code + 16 * random_below(random, 64);
	sample->latency = LEAST_LATENCY + (uint32_t)random_below(random, LATENCIES);
	sample->time += 1 + random_below(random, APART);
}

static uint32_t thread_of(uint32_t cpu)
{
	return 1001 + cpu;
}

static bool written(FILE *out)
{
	return !fflush(out) && !ferror(out);
}

/* ---- perf script ---------------------------------------------------------------------------- */

bool traces_perf_script(FILE *out, uint32_t records)
{
	static const struct {
		const char *event, *word;
	} kinds[] = {
		{ "cpu/mem-loads,ldlat=30/P", "     10668100842 |OP LOAD|LVL L3 hit|SNP None|TLB "
					      "L1 or L2 hit|LCK No|BLK  N/A" },
		{ "cpu/mem-stores/P", "      1e05080144 |OP STORE|LVL L1 hit|SNP N/A|TLB N/A|LCK "
				      "No|BLK  N/A         " },
	};
	struct random random = random_stream(1, "bench.perf_script", 0);
	struct sample sample = { 0 };

	for (uint32_t k = 0; k < records; k++) {
		sample_next(&sample, &random);
		fprintf(out,
			"%16s %7d/%-7u [%03u] %5llu.%09llu: %10d %24s: %16llx %s %16u %16llx "
			"update_table+0x%llx (/usr/bin/server)\n",
			"worker", 1000, thread_of(sample.cpu), sample.cpu,
			(unsigned long long)sample.time / 1000000000,
			(unsigned long long)sample.time % 1000000000, PERIOD,
			kinds[sample.store].event, (unsigned long long)sample.address,
			kinds[sample.store].word, sample.store ? 0 : sample.latency,
			(unsigned long long)sample.ip, (unsigned long long)(sample.ip - code));
	}
	return written(out);
}

/* ---- perf.data ------------------------------------------------------------------------------ */

enum {
	EVENTS = 2,
	ATTR_SIZE = 128,
	IDS_AT = FILE_HEADER,
	ATTRS_AT = IDS_AT + 8 * EVENTS,
	DATA_AT = ATTRS_AT + EVENTS * (ATTR_SIZE + FILE_SECTION),
	SAMPLE_BYTES = 80,
	EACH = 64 /* records of a CPU in a round */
};

static void put16(unsigned char *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(unsigned char *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(unsigned char *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

/* The file's header, and the events of loads and of stores. */
static void put_header(FILE *out, uint64_t data_size)
{
	static const uint64_t configs[EVENTS] = { 0x01cd, 0x82d0 };
	unsigned char bytes[DATA_AT] = "PERFILE2";

	put64(bytes + FILE_HEADER_SIZE_AT, FILE_HEADER);
	put64(bytes + FILE_ATTR_SIZE_AT, ATTR_SIZE + FILE_SECTION);
	put64(bytes + FILE_ATTRS_AT, ATTRS_AT);
	put64(bytes + FILE_ATTRS_AT + 8, EVENTS * (ATTR_SIZE + FILE_SECTION));
	put64(bytes + FILE_DATA_AT, DATA_AT);
	put64(bytes + FILE_DATA_AT + 8, data_size);
	for (uint32_t k = 0; k < EVENTS; k++) {
		unsigned char *attr = bytes + ATTRS_AT + k * (ATTR_SIZE + FILE_SECTION);

		put32(attr + ATTR_TYPE_AT, TYPE_RAW);
		put32(attr + ATTR_SIZE_AT, ATTR_SIZE);
		put64(attr + ATTR_CONFIG_AT, configs[k]);
		put64(attr + ATTR_PERIOD_AT, PERIOD);
		put64(attr + ATTR_SAMPLE_TYPE_AT,
		      SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR |
			      SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_WEIGHT | SAMPLE_DATA_SRC);
		put64(attr + ATTR_SIZE, IDS_AT + 8 * k);
		put64(attr + ATTR_SIZE + 8, 8);
		put64(bytes + IDS_AT + 8 * k, 1 + k);
	}
	fwrite(bytes, 1, sizeof(bytes), out);
}

static void put_record_header(unsigned char *at, uint32_t type, uint16_t size)
{
	put32(at, type);
	put16(at + RECORD_SIZE_AT, size);
}

/* Operation, levels as bits, snoop, and the level's number, with 16 added where it is remote. */
#define DATA_SRC(op, levels, snoop, number) \
	((op) | (levels) << 5 | (uint64_t)(snoop) << 19 | (uint64_t)(number) << 33)

static void put_sample(FILE *out, const struct sample *sample, struct random *random)
{
	/* From L1, fill buffer, L3 (more often), another core's cache, another socket's, and memory. */
	static const uint64_t loads[] = {
		DATA_SRC(2, 0x0a, 0, 0x1),    DATA_SRC(2, 0x12, 0, 0xc), DATA_SRC(2, 0x42, 2, 0x3),
		DATA_SRC(2, 0x42, 2, 0x3),    DATA_SRC(2, 0x42, 4, 0x3), DATA_SRC(2, 0x42, 16, 0x3),
		DATA_SRC(2, 0x402, 16, 0x13), DATA_SRC(2, 0x82, 2, 0xd),
	};
	static const uint64_t store = DATA_SRC(4, 0x0a, 0, 0xf);
	unsigned char bytes[SAMPLE_BYTES] = { 0 };

	put_record_header(bytes, RECORD_SAMPLE, SAMPLE_BYTES);
	put64(bytes + 8, 1 + sample->store);
	put64(bytes + 16, sample->ip);
	put32(bytes + 24, 1000);
	put32(bytes + 28, thread_of(sample->cpu));
	put64(bytes + 32, sample->time);
	put64(bytes + 40, sample->address);
	put32(bytes + 48, sample->cpu);
	put64(bytes + 56, PERIOD);
	put64(bytes + 64, sample->store ? 0 : sample->latency);
	put64(bytes + 72, sample->store ? store : loads[random_below(random, 8)]);
	fwrite(bytes, 1, sizeof(bytes), out);
}

/* A round is what happened in some time, CPU by CPU, and the last of it only in the next one. */
bool traces_perf_data(FILE *out, uint32_t records)
{
	static const uint64_t round_time = (uint64_t)EACH * APART / 2;
	struct random random = random_stream(1, "bench.perf_data", 0);
	unsigned char ended[RECORD_HEADER] = { 0 };
	uint32_t rounds = records / (EACH * TRACES_CPUS) + 1, left = records;

	put_header(out, (uint64_t)SAMPLE_BYTES * records + (uint64_t)sizeof(ended) * rounds);
	put_record_header(ended, RECORD_FINISHED_ROUND, sizeof(ended));
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t cpu = 0; cpu < TRACES_CPUS; cpu++) {
			struct sample sample = { .time = round * round_time + cpu };

			for (uint32_t k = 0; k < EACH && left; k++, left--) {
				sample_next(&sample, &random);
				sample.cpu = cpu;
				put_sample(out, &sample, &random);
			}
		}
		fwrite(ended, 1, sizeof(ended), out);
	}
	return written(out);
}

/* ---- hitm's own forms ----------------------------------------------------------------------- */

enum { OWN_LINES = 16, SHARED_LINES = 8, LINE = 64, GAP = 3 /* ns, of all threads together */ };

/* One access in 16 adds to a shared counter, one adds to the thread's own, the others load and store. */
static void access_next(struct trace_record *record, struct random *random)
{
	uint32_t cpu = (uint32_t)random_below(random, TRACES_CPUS);
	uint64_t which = random_below(random, 16), own = table + cpu * OWN_LINES * LINE;

	record->time += random_below(random, GAP);
	record->tid = thread_of(cpu);
	record->cpu = cpu;
	record->op = which < 2 ? TRACE_ATOMIC : which < 6 ? TRACE_STORE : TRACE_LOAD;
	record->address = which == 0 ? code + LINE * random_below(random, SHARED_LINES)
				     : own + 8 * random_below(random, OWN_LINES * LINE / 8);
	record->ip = code + 16 * which;
}

static bool write_own(FILE *out, const char *form, uint32_t records)
{
	struct error error = { "" };
	struct trace_writer *writer = trace_writer_open(out, form, KIND_COMPLETE, NULL, 0, &error);
	struct random random = random_stream(1, "bench.own", 0);
	struct trace_record record = { .weight = 1, .cpus = 1, .pid = 1000, .size = 8 };
	bool good = writer;

	record.known = KNOWN_TIME | KNOWN_CPU | KNOWN_PID | KNOWN_TID | KNOWN_SIZE | KNOWN_IP |
		       KNOWN_ADDRESS;
	for (uint32_t k = 0; good && k < records; k++) {
		access_next(&record, &random);
		good = trace_write(writer, &record, &error);
	}
	return trace_writer_close(writer, &error) && good;
}

bool traces_text(FILE *out, uint32_t records)
{
	return write_own(out, "trace", records);
}

bool traces_binary(FILE *out, uint32_t records)
{
	return write_own(out, "trace-binary", records);
}
