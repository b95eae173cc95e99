/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data files, built here byte by byte as perf's documentation of the format and perf_event.h
 * have them, in both byte orders. */
#include "tests/unit/suites.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* ---- files ---------------------------------------------------------------------------------- */

/* Bits of sample_type, in the order of the header; fields lie in the order of perf_event.h. */
enum {
	IP = 1 << 0,
	TID = 1 << 1,
	TIME = 1 << 2,
	ADDR = 1 << 3,
	READ = 1 << 4,
	CALLCHAIN = 1 << 5,
	ID = 1 << 6,
	CPU = 1 << 7,
	PERIOD = 1 << 8,
	STREAM_ID = 1 << 9,
	RAW = 1 << 10,
	BRANCH_STACK = 1 << 11,
	REGS_USER = 1 << 12,
	STACK_USER = 1 << 13,
	WEIGHT = 1 << 14,
	DATA_SRC = 1 << 15,
	IDENTIFIER = 1 << 16,
	PHYS_ADDR = 1 << 19,
	WEIGHT_STRUCT = 1 << 24
};

enum { MMAP2 = 10, LOST = 2, COMM = 3, THROTTLE = 5, FORK = 7, SAMPLE = 9, LOST_SAMPLES = 13 };
enum { FINISHED_ROUND = 68, AUXTRACE = 71, COMPRESSED = 81, COMPRESSED2 = 83 };
enum { SOFTWARE = 1, RAW_PMU = 4, BREAKPOINT = 5, WRITES = 2, ACCESSES = 3, CODE = 4 };
enum { LOADS = 0x1cd, STORES = 0x82d0 };
enum { FREQUENCY = 1 << 10, SAMPLE_ID_ALL = 1 << 18 };
enum { LOAD = 2, STORE = 4, PREFETCH = 8, LEVEL_L1 = 8 << 5, LOCKED = 2 << 24 };

struct event {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags;
	uint32_t bp_type;
	uint64_t address, length; /* config1, config2 */
	uint64_t branch_type, registers;
	const char *name; /* NULL: no event has one in the file */
};

struct image {
	bool big;
	unsigned char *bytes;
	size_t size, room, data, record;
	uint32_t attr_size;
	const struct event *events;
	uint32_t count;
};

static void put(struct image *image, const void *bytes, size_t size)
{
	while (image->size + size > image->room) {
		image->room = image->room ? 2 * image->room : 4096;
		image->bytes = realloc(image->bytes, image->room);
		CU_ASSERT_PTR_NOT_NULL_FATAL(image->bytes);
	}
	memcpy(image->bytes + image->size, bytes, size);
	image->size += size;
}

static void put_16(struct image *image, uint16_t value)
{
	value = image->big ? htobe16(value) : htole16(value);
	put(image, &value, sizeof(value));
}

static void put_32(struct image *image, uint32_t value)
{
	value = image->big ? htobe32(value) : htole32(value);
	put(image, &value, sizeof(value));
}

static void put_64(struct image *image, uint64_t value)
{
	value = image->big ? htobe64(value) : htole64(value);
	put(image, &value, sizeof(value));
}

static void patch_64(struct image *image, size_t at, uint64_t value)
{
	value = image->big ? htobe64(value) : htole64(value);
	memcpy(image->bytes + at, &value, sizeof(value));
}

/* A bit field of a big-endian host starts with the highest bit of each byte. */
static void put_flags(struct image *image, uint64_t flags)
{
	for (int byte = 0; byte < 8; byte++) {
		unsigned char bits = (unsigned char)(flags >> 8 * byte), turned = 0;

		for (int bit = 0; bit < 8; bit++)
			turned = (unsigned char)(turned << 1 | (bits >> bit & 1));
		put(image, image->big ? &turned : &bits, 1);
	}
}

static uint64_t id_of(uint32_t event)
{
	return 1000 + event;
}

static void put_attr(struct image *image, const struct event *event, uint32_t k, bool size_zero)
{
	size_t start = image->size;

	put_32(image, event->type);
	put_32(image, size_zero ? 0 : image->attr_size);
	put_64(image, event->config);
	put_64(image, event->period);
	put_64(image, event->sample_type);
	put_64(image, event->read_format);
	put_flags(image, event->flags);
	put_32(image, 0);
	put_32(image, event->bp_type);
	put_64(image, event->address);
	put_64(image, event->length);
	put_64(image, event->branch_type);
	put_64(image, event->registers);
	while (image->size < start + image->attr_size)
		put(image, "", 1);
	image->size = start + image->attr_size;
	put_64(image, 104 + 8 * k);
	put_64(image, 8);
}

static void image_attrs(struct image *image, bool size_zero)
{
	put(image, image->big ? "2ELIFREP" : "PERFILE2", 8);
	put_64(image, 104);
	put_64(image, image->attr_size + 16);
	put_64(image, 104 + 8 * image->count);
	put_64(image, image->count * (image->attr_size + 16));
	image->data = 104 + image->count * (8 + image->attr_size + 16);
	put_64(image, image->data);
	while (image->size < 104)
		put_64(image, 0);
	for (uint32_t k = 0; k < image->count; k++)
		put_64(image, id_of(k));
	for (uint32_t k = 0; k < image->count; k++)
		put_attr(image, &image->events[k], k, size_zero);
}

static struct image image_start(bool big, const struct event *events, uint32_t count)
{
	struct image image = { .big = big, .attr_size = 128, .events = events, .count = count };

	image_attrs(&image, false);
	return image;
}

static void record_start(struct image *image, uint32_t type)
{
	image->record = image->size;
	put_32(image, type);
	put_32(image, 0);
}

static void record_end(struct image *image)
{
	size_t end = image->size;

	image->size = image->record + 6;
	put_16(image, (uint16_t)(end - image->record));
	image->size = end;
}

static void put_record(struct image *image, uint32_t type, const uint64_t *words, size_t count)
{
	record_start(image, type);
	for (size_t k = 0; k < count; k++)
		put_64(image, words[k]);
	record_end(image);
}

/* A record of words of 64 bits. */
#define RECORD(image, type, ...)                                   \
	put_record(image, type, (const uint64_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* Two halves of 32 bits, in this order in the file. */
static uint64_t halves(const struct image *image, uint32_t first, uint32_t second)
{
	return image->big ? (uint64_t)first << 32 | second : (uint64_t)second << 32 | first;
}

static void image_end(struct image *image)
{
	size_t section;

	patch_64(image, 48, image->size - image->data);
	if (!image->count || !image->events[0].name)
		return;
	patch_64(image, 72, 1 << 12);
	section = image->size;
	put_64(image, section + 16);
	put_64(image, 0);
	put_32(image, image->count);
	put_32(image, image->attr_size);
	for (uint32_t k = 0; k < image->count; k++) {
		const char *name = image->events[k].name;

		for (uint32_t byte = 0; byte < image->attr_size; byte++)
			put(image, "", 1);
		put_32(image, 1);
		put_32(image, (uint32_t)strlen(name) + 1);
		put(image, name, strlen(name) + 1);
		put_64(image, id_of(k));
	}
}

/* ---- reading -------------------------------------------------------------------------------- */

enum { KEPT = 64 };

struct reading {
	struct trace_record records[KEPT];
	char thread_names[KEPT][16], events[KEPT][64];
	uint32_t count;
	enum trace_step step;
	struct trace_summary summary;
	struct error error;
};

static void text_copy(char *to, size_t room, struct text text)
{
	CU_ASSERT(!text.length || !memchr(text.at, '\0', text.length));
	snprintf(to, room, "%.*s", (int)text.length, text.at ? text.at : "");
}

static void keep(struct reading *reading, const struct trace_record *record)
{
	uint32_t k = reading->count++;

	if (k >= KEPT)
		return;
	reading->records[k] = *record;
	text_copy(reading->thread_names[k], 16, record->thread_name);
	text_copy(reading->events[k], 64, record->event);
}

static void expect_sums(const struct trace_summary *summary)
{
	uint64_t sum = summary->used;

	for (int why = 0; why < DROPS; why++)
		sum += summary->dropped[why];
	CU_ASSERT_EQUAL(summary->read, sum);
}

static struct reading read_trace(struct trace *trace, struct reading reading)
{
	struct trace_record record;

	if (!trace)
		return reading;
	while ((reading.step = trace_next(trace, &record, &reading.error)) == STEP_RECORD)
		keep(&reading, &record);
	reading.summary = *trace_summary(trace);
	expect_sums(&reading.summary);
	trace_close(trace);
	return reading;
}

static struct reading read_bytes(const void *bytes, size_t size)
{
	struct reading reading = { .step = STEP_FAILED };
	struct trace *trace = trace_open_memory("f", bytes, size, "perf-data", &reading.error);

	return read_trace(trace, reading);
}

static struct reading image_read(struct image *image)
{
	struct reading reading = read_bytes(image->bytes, image->size);

	free(image->bytes);
	image->bytes = NULL;
	return reading;
}

static struct reading finish(struct image *image)
{
	image_end(image);
	return image_read(image);
}

static bool has_note(const struct reading *reading, const char *words)
{
	for (uint32_t k = 0; k < reading->summary.note_count; k++)
		if (strstr(reading->summary.notes[k], words))
			return true;
	return false;
}

static void expect_failed(const struct reading *reading, const char *expected)
{
	CU_ASSERT_EQUAL(reading->step, STEP_FAILED);
	CU_ASSERT_PTR_NOT_NULL(strstr(reading->error.text, expected));
	if (!strstr(reading->error.text, expected))
		printf("\n   got: %s\n  want: %s\n", reading->error.text, expected);
}

/* ---- fields --------------------------------------------------------------------------------- */

static const struct event watch = { .type = BREAKPOINT,
				    .period = 1,
				    .sample_type = IP | TID | TIME,
				    .flags = SAMPLE_ID_ALL,
				    .bp_type = ACCESSES,
				    .address = 0x1000,
				    .length = 8 };

static void every_field_is_read_in_both_byte_orders(void)
{
	const struct event loads = { .type = RAW_PMU,
				     .config = LOADS,
				     .sample_type = IP | TID | TIME | ADDR | ID | STREAM_ID | CPU |
						    PERIOD | WEIGHT | DATA_SRC | PHYS_ADDR,
				     .address = 30,
				     .name = "cpu/mem-loads/P" };

	for (int big = 0; big < 2; big++) {
		struct image image = image_start(big, &loads, 1);
		struct reading reading;
		const struct trace_record *record = &reading.records[0];

		RECORD(&image, SAMPLE, 0x401234, halves(&image, 20, 21), 5000000001,
		       0xffff8000000010c8, 1000, 7, halves(&image, 3, 0), 1009, 77, LOAD | LEVEL_L1,
		       0x9000);
		reading = finish(&image);
		CU_ASSERT_EQUAL(reading.step, STEP_END);
		CU_ASSERT_EQUAL_FATAL(reading.count, 1);
		CU_ASSERT_EQUAL(record->ip, 0x401234);
		CU_ASSERT_EQUAL(record->pid, 20);
		CU_ASSERT_EQUAL(record->tid, 21);
		CU_ASSERT_EQUAL(record->time, 5000000001);
		CU_ASSERT_EQUAL(record->address, 0xffff8000000010c8);
		CU_ASSERT_EQUAL(record->cpu, 3);
		CU_ASSERT_EQUAL(record->weight, 1009);
		CU_ASSERT_EQUAL(record->latency, 77);
		CU_ASSERT_EQUAL(record->op, TRACE_LOAD);
		CU_ASSERT_EQUAL(record->source, SOURCE_L1);
		CU_ASSERT_EQUAL(record->known, KNOWN_TIME | KNOWN_CPU | KNOWN_PID | KNOWN_TID |
						       KNOWN_IP | KNOWN_LATENCY | KNOWN_ADDRESS);
		CU_ASSERT_STRING_EQUAL(reading.events[0], "cpu/mem-loads/P");
		CU_ASSERT_EQUAL(reading.summary.kind, KIND_SAMPLED);
		CU_ASSERT(has_note(&reading, "ldlat=30"));
	}
}

/* As a sample has them: READ of a group of two, three frames, 12 raw bytes with their count, two
 * branches, two registers, 16 bytes of stack of which 8 are meant. */
static void put_varying(struct image *image)
{
	static const uint64_t read[] = { 2, 50, 50, 11, 1000, 0, 12, 1001, 0 };
	static const uint64_t middle[] = { 3, 1, 2, 3 };
	static const uint64_t branches[] = { 2, 99, 1, 2, 3, 4, 5, 6 };
	static const uint64_t rest[] = { 2, 71, 72, 16, 81, 82, 8 };

	for (int k = 0; k < 9; k++)
		put_64(image, read[k]);
	for (int k = 0; k < 4; k++)
		put_64(image, middle[k]);
	put_32(image, 12);
	put(image, "abcdefghijkl", 12);
	for (int k = 0; k < 8; k++)
		put_64(image, branches[k]);
	for (int k = 0; k < 7; k++)
		put_64(image, rest[k]);
}

static const struct event varied = {
	.type = RAW_PMU,
	.period = 5,
	.sample_type = ADDR | READ | CALLCHAIN | RAW | BRANCH_STACK | REGS_USER | STACK_USER |
		       WEIGHT_STRUCT | DATA_SRC,
	.read_format = 1 | 2 | 4 | 8 | 16,
	.branch_type = 1 << 17,
	.registers = 0x10001,
};

static void fields_behind_those_that_vary_in_size_are_found(void)
{
	for (int big = 0; big < 2; big++) {
		struct image image = image_start(big, &varied, 1);
		struct reading reading;

		record_start(&image, SAMPLE);
		put_64(&image, 0x7000);
		put_varying(&image);
		put_64(&image, 0xaaaabbbb00000042); /* three weights: the lowest is the latency */
		put_64(&image, STORE);
		record_end(&image);
		reading = finish(&image);
		CU_ASSERT_EQUAL_FATAL(reading.count, 1);
		CU_ASSERT_EQUAL(reading.records[0].latency, 0x42);
		CU_ASSERT_EQUAL(reading.records[0].op, TRACE_STORE);
		CU_ASSERT_EQUAL(reading.records[0].weight, 5);
		CU_ASSERT_EQUAL(reading.records[0].known, KNOWN_ADDRESS | KNOWN_LATENCY);
	}
}

static void hostile_counts_in_a_sample_drop_it(void)
{
	static const uint64_t alone[] = { READ, CALLCHAIN, RAW, BRANCH_STACK, STACK_USER };

	for (size_t k = 0; k < sizeof(alone) / sizeof(*alone); k++) {
		struct event event = varied;
		struct image image;
		struct reading reading;

		event.sample_type = ADDR | alone[k] | DATA_SRC;
		image = image_start(false, &event, 1);
		RECORD(&image, SAMPLE, 0x7000, UINT64_MAX, 0, 0, LOAD);
		RECORD(&image, SAMPLE, 0x7000, 1ULL << 61 | 1U << 31, 0, 0, LOAD);
		RECORD(&image, SAMPLE, 0x7000);
		record_start(&image, SAMPLE); /* nothing behind the header */
		record_end(&image);
		reading = finish(&image);
		CU_ASSERT_EQUAL(reading.step, STEP_END);
		CU_ASSERT_EQUAL(reading.summary.dropped[DROP_REJECTED], 4);
		CU_ASSERT(has_note(&reading, "shorter than"));
	}
}

static void attributes_of_every_size_are_read(void)
{
	static const uint32_t sizes[] = { 64, 72, 96, 112, 128, 136, 144, 256 };

	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		struct image image = { .attr_size = sizes[k], .events = &watch, .count = 1 };
		struct reading reading;

		image_attrs(&image, sizes[k] == 64); /* 0 stands for the first version's 64 */
		RECORD(&image, SAMPLE, 1, halves(&image, 2, 3), 4);
		reading = finish(&image);
		CU_ASSERT_EQUAL_FATAL(reading.count, 1);
		CU_ASSERT_EQUAL(reading.records[0].address, 0x1000);
		CU_ASSERT_EQUAL(reading.records[0].size, sizes[k] > 64 ? 8 : 0);
	}
}

static void events_with_different_fields_are_told_apart(void)
{
	static const uint64_t by[] = { IDENTIFIER, ID };

	for (int k = 0; k < 2; k++) {
		struct event events[] = {
			{ .type = RAW_PMU, .sample_type = IP | ADDR | DATA_SRC | by[k] },
			{ .type = RAW_PMU, .sample_type = IP | ADDR | CPU | DATA_SRC | by[k] }
		};
		struct image image = image_start(false, events, 2);
		struct reading reading;

		if (by[k] == IDENTIFIER) {
			RECORD(&image, SAMPLE, id_of(1), 1, 0x10, 6, LOAD);
			RECORD(&image, SAMPLE, id_of(0), 1, 0x20, STORE);
			RECORD(&image, SAMPLE, id_of(2), 1, 0x20, STORE);
		} else {
			RECORD(&image, SAMPLE, 1, 0x10, id_of(1), 6, LOAD);
			RECORD(&image, SAMPLE, 1, 0x20, id_of(0), STORE);
			RECORD(&image, SAMPLE, 1, 0x20, id_of(2), STORE);
		}
		reading = finish(&image);
		CU_ASSERT_EQUAL_FATAL(reading.count, 2);
		CU_ASSERT_EQUAL(reading.records[0].cpu, 6);
		CU_ASSERT_EQUAL(reading.records[0].op, TRACE_LOAD);
		CU_ASSERT_EQUAL(reading.records[1].address, 0x20);
		CU_ASSERT_EQUAL(reading.records[1].op, TRACE_STORE);
		CU_ASSERT_EQUAL(reading.summary.dropped[DROP_REJECTED], 1);
	}
}

static void a_sample_weighs_its_period(void)
{
	static const struct {
		struct event event;
		uint64_t in_sample, weight;
	} rows[] = {
		{ { .period = 100, .sample_type = ADDR | PERIOD }, 7, 7 },
		{ { .period = 100, .sample_type = ADDR }, 0, 100 },
		{ { .period = 4000, .sample_type = ADDR, .flags = FREQUENCY }, 0, 1 },
		{ { .period = 4000, .sample_type = ADDR | PERIOD, .flags = FREQUENCY }, 0, 1 },
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		for (int big = 0; big < 2; big++) {
			struct event event = rows[k].event;
			struct image image;
			struct reading reading;

			event.type = RAW_PMU;
			event.config = LOADS;
			image = image_start(big, &event, 1);
			RECORD(&image, SAMPLE, 0x10, rows[k].in_sample);
			reading = finish(&image);
			CU_ASSERT_EQUAL_FATAL(reading.count, 1);
			CU_ASSERT_EQUAL(reading.records[0].weight, rows[k].weight);
		}
	}
}

/* ---- what was done -------------------------------------------------------------------------- */

static void operations_come_from_the_bits_and_else_from_the_event(void)
{
	static const struct {
		uint64_t config;
		const char *name;
		uint64_t bits;
		int op, drop; /* -1: none */
	} rows[] = {
		{ 1, "e", LOAD, TRACE_LOAD, -1 },
		{ 1, "e", STORE, TRACE_STORE, -1 },
		{ 1, "e", LOAD | STORE, TRACE_MODIFY, -1 },
		{ 1, "e", LOAD | LOCKED, TRACE_ATOMIC, -1 },
		{ 1, "e", STORE | LOCKED, TRACE_ATOMIC, -1 },
		{ 1, "e", PREFETCH, -1, DROP_PREFETCH },
		{ 1, "e", 16, -1, DROP_NOT_DATA }, /* of an instruction */
		{ 1, "e", LOAD | 0x2000 << 5, -1, DROP_UNCACHED },
		{ 1, "e", 1, -1, DROP_NOT_DATA }, /* not available, and no hint */
		{ 1, "cpu_atom/mem-loads,ldlat=30/P", 1, TRACE_LOAD, -1 },
		{ 1, "cpu_atom/mem-stores/P", 1, TRACE_STORE, -1 },
		{ 1, "ld_blocks.store_forward", 1, -1, DROP_NOT_DATA },
		{ STORES, "e", 1, TRACE_STORE, -1 },
		{ LOADS, "e", 1, TRACE_LOAD, -1 },
		{ LOADS, "e", STORE, TRACE_STORE, -1 }, /* bits come first */
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		struct event event = { .type = RAW_PMU,
				       .config = rows[k].config,
				       .sample_type = ADDR | DATA_SRC,
				       .name = rows[k].name };
		struct image image = image_start(false, &event, 1);
		struct reading reading;

		RECORD(&image, SAMPLE, 0x10, rows[k].bits);
		reading = finish(&image);
		if (rows[k].drop >= 0) {
			CU_ASSERT_EQUAL(reading.count, 0);
			CU_ASSERT_EQUAL(reading.summary.dropped[rows[k].drop], 1);
		} else {
			CU_ASSERT_EQUAL_FATAL(reading.count, 1);
			CU_ASSERT_EQUAL(reading.records[0].op, rows[k].op);
		}
	}
}

/* Every operation with each of the 128 ways to say where the address's page was found. */
static void words_that_differ_little_keep_their_meanings(void)
{
	static const uint64_t operations[] = { LOAD, STORE, LOAD | LOCKED, PREFETCH };
	struct event event = { .type = RAW_PMU, .config = LOADS, .sample_type = ADDR | DATA_SRC };
	struct image image = image_start(false, &event, 1);
	struct reading reading;

	for (uint64_t pass = 0; pass < 2; pass++)
		for (uint64_t tlb = 0; tlb < 128; tlb++)
			for (size_t k = 0; k < sizeof(operations) / sizeof(*operations); k++)
				RECORD(&image, SAMPLE, 0x10, operations[k] | tlb << 26);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_LOAD], 256);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_STORE], 256);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_ATOMIC], 256);
	CU_ASSERT_EQUAL(reading.summary.dropped[DROP_PREFETCH], 256);
}

static void samples_without_an_address_are_dropped(void)
{
	const struct event loads = { .type = RAW_PMU, .sample_type = ADDR | DATA_SRC };
	struct image image = image_start(false, &loads, 1);
	struct reading reading;

	RECORD(&image, SAMPLE, 0, LOAD);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.dropped[DROP_NO_ADDRESS], 1);
	CU_ASSERT_EQUAL(reading.summary.read, 1);
}

static void an_atomic_sampled_as_load_and_as_store_counts_once(void)
{
	const struct event events[] = {
		{ .type = RAW_PMU, .config = LOADS, .sample_type = ID | ADDR | DATA_SRC },
		{ .type = RAW_PMU, .config = STORES, .sample_type = ID | ADDR | DATA_SRC }
	};

	for (uint32_t first = 0; first < 2; first++) { /* both events, then only that of stores */
		struct image image = image_start(false, events + first, 2 - first);
		struct reading reading;

		RECORD(&image, SAMPLE, 0x10, id_of(0), LOAD | LOCKED);
		RECORD(&image, SAMPLE, 0x10, id_of(1 - first), STORE | LOCKED);
		RECORD(&image, SAMPLE, 0x10, id_of(1 - first), STORE);
		reading = finish(&image);
		CU_ASSERT_EQUAL(reading.summary.ops[TRACE_ATOMIC], first ? 2 : 1);
		CU_ASSERT_EQUAL(reading.summary.ops[TRACE_STORE], 1);
		CU_ASSERT_EQUAL(reading.summary.dropped[DROP_DUPLICATE], first ? 0 : 1);
		CU_ASSERT_EQUAL(has_note(&reading, "duplicates"), !first);
	}
}

static void page_faults_are_accesses_that_may_be_either(void)
{
	const struct event faults = {
		.type = SOFTWARE, .config = 2, .period = 1, .sample_type = ADDR
	};
	struct image image = image_start(false, &faults, 1);
	struct reading reading;

	RECORD(&image, SAMPLE, 0x7fff0010);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_ACCESS], 1);
	CU_ASSERT_EQUAL(reading.summary.kind, KIND_SAMPLED);
	CU_ASSERT_STRING_EQUAL(reading.events[0], "page-faults");
}

/* ---- breakpoints ---------------------------------------------------------------------------- */

static void a_breakpoint_says_what_it_watches(void)
{
	for (int big = 0; big < 2; big++) {
		struct image image = image_start(big, &watch, 1);
		struct reading reading;

		RECORD(&image, SAMPLE, 0x400000, halves(&image, 5, 6), 70);
		reading = finish(&image);
		CU_ASSERT_EQUAL_FATAL(reading.count, 1);
		CU_ASSERT_EQUAL(reading.records[0].address, 0x1000);
		CU_ASSERT_EQUAL(reading.records[0].size, 8);
		CU_ASSERT_EQUAL(reading.records[0].op, TRACE_ACCESS);
		CU_ASSERT_EQUAL(reading.summary.kind, KIND_COMPLETE);
		CU_ASSERT_STRING_EQUAL(reading.events[0], "mem:0x1000/8:rw");
	}
}

static void a_breakpoint_for_stores_gives_stores(void)
{
	struct event stores = watch;
	struct image image;
	struct reading reading;

	stores.bp_type = WRITES;
	stores.period = 100;
	image = image_start(false, &stores, 1);
	RECORD(&image, SAMPLE, 0x400000, halves(&image, 5, 6), 70);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_STORE], 1);
	CU_ASSERT_EQUAL(reading.summary.weight, 100);
	CU_ASSERT_EQUAL(reading.summary.kind, KIND_SAMPLED);
}

static void breakpoints_on_different_places_decide_nothing(void)
{
	struct event events[] = { watch, watch };
	struct image image;
	struct reading reading;

	events[0].sample_type = events[1].sample_type = IDENTIFIER | TIME;
	events[0].bp_type = WRITES;
	events[0].address = 0x1008;
	image = image_start(false, events, 2);
	RECORD(&image, SAMPLE, id_of(0), 10);
	RECORD(&image, SAMPLE, id_of(1), 20);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_STORE], 1);
	CU_ASSERT_EQUAL(reading.summary.ops[TRACE_ACCESS], 1);
}

/* Records of two breakpoints on 0x1000, and two on 0x1008: thread, ip, event, time. */
enum { W, RW, W2, RW2 };

struct hit {
	uint32_t tid;
	uint64_t ip;
	uint32_t event;
	uint64_t time;
};

static struct reading read_hits(const struct hit *hits, uint32_t count)
{
	struct event events[4];
	struct image image;

	for (int k = 0; k < 4; k++) {
		events[k] = watch;
		events[k].sample_type |= IDENTIFIER;
		events[k].bp_type = k % 2 ? ACCESSES : WRITES;
		events[k].address = k < 2 ? 0x1000 : 0x1008;
	}
	image = image_start(false, events, 4);
	for (uint32_t k = 0; k < count; k++)
		RECORD(&image, SAMPLE, id_of(hits[k].event), hits[k].ip,
		       halves(&image, 1, hits[k].tid), hits[k].time);
	return finish(&image);
}

#define READ_HITS(...)                                 \
	read_hits((const struct hit[]){ __VA_ARGS__ }, \
		  sizeof((const struct hit[]){ __VA_ARGS__ }) / sizeof(struct hit))

static void expect_hits(const struct reading *reading, uint64_t loads, uint64_t stores,
			uint64_t duplicates)
{
	CU_ASSERT_EQUAL(reading->summary.ops[TRACE_LOAD], loads);
	CU_ASSERT_EQUAL(reading->summary.ops[TRACE_STORE], stores);
	CU_ASSERT_EQUAL(reading->summary.dropped[DROP_DUPLICATE], duplicates);
	CU_ASSERT_EQUAL(reading->summary.backwards, 0);
}

static void two_breakpoints_on_a_place_tell_loads_from_stores(void)
{
	struct reading reading = READ_HITS({ 1, 10, W, 100 }, { 1, 10, RW, 600 }, /* a store */
					   { 1, 20, RW, 20000 },                  /* a load */
					   { 1, 10, RW, 40000 }, { 1, 10, W, 40500 });

	expect_hits(&reading, 1, 2, 2);
	CU_ASSERT_EQUAL(reading.records[0].time, 100);
	CU_ASSERT_EQUAL(reading.records[0].op, TRACE_STORE);
	CU_ASSERT_EQUAL(reading.records[1].op, TRACE_LOAD);
	CU_ASSERT_EQUAL(reading.records[2].time, 40000);
}

static void halves_of_a_store_are_of_one_thread_and_one_instruction(void)
{
	struct reading reading = READ_HITS({ 1, 10, W, 100 }, { 2, 10, RW, 200 });

	expect_hits(&reading, 1, 1, 0);
	reading = READ_HITS({ 1, 10, W, 100 }, { 1, 14, RW, 200 });
	expect_hits(&reading, 1, 1, 0);
	reading = READ_HITS({ 1, 10, W, 100 }, { 1, 10, RW2, 200 });
	expect_hits(&reading, 1, 1, 0);
	reading = READ_HITS({ 1, 10, W, 100 }, { 1, 10, W, 200 });
	expect_hits(&reading, 0, 2, 0);
}

static void halves_of_a_store_stay_together_when_the_thread_loses_its_cpu(void)
{
	struct reading reading = READ_HITS({ 1, 10, W, 100 }, { 2, 10, W, 3000000 },
					   { 2, 10, RW, 3000400 }, { 1, 10, RW, 4000000 });

	expect_hits(&reading, 0, 2, 2);
	CU_ASSERT_EQUAL(reading.records[1].tid, 2);
}

static void halves_of_a_store_are_near_when_something_is_between(void)
{
	struct reading reading = READ_HITS({ 1, 10, W, 100 }, { 1, 10, W2, 200 },
					   { 1, 10, RW, 300 }, { 1, 10, RW2, 400 });

	expect_hits(&reading, 0, 2, 2);
	reading = READ_HITS({ 1, 10, W, 100 }, { 1, 20, RW, 4000 }, { 1, 10, RW, 5101 });
	expect_hits(&reading, 2, 1, 0);
	reading = READ_HITS({ 1, 10, W, 100 }, { 1, 20, RW, 4000 }, { 1, 10, RW, 5100 });
	expect_hits(&reading, 1, 1, 1);
}

/* A record that waits in vain holds up no more than 256 others. */
static void a_half_that_stays_alone_does_not_hold_up_all(void)
{
	struct hit hits[601] = { { 1, 10, W, 1 } };
	struct reading reading;

	for (uint32_t k = 1; k < 600; k++)
		hits[k] = (struct hit){ 2, 20, RW, 100 * k };
	hits[600] = (struct hit){ 1, 10, RW, 70000 };
	reading = read_hits(hits, 601);
	expect_hits(&reading, 600, 1, 0);
	CU_ASSERT_EQUAL(reading.records[0].tid, 1);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void put_hit(struct image *image, uint32_t tid, uint64_t time)
{
	RECORD(image, SAMPLE, 0x400000 + time, halves(image, tid, tid), time);
}

static void expect_times(const struct reading *reading, const uint64_t *times, uint32_t count)
{
	CU_ASSERT_EQUAL_FATAL(reading->count, count);
	for (uint32_t k = 0; k < count; k++)
		CU_ASSERT_EQUAL(reading->records[k].time, times[k]);
}

/* Two CPUs, two rounds: what the second brings may be earlier than the last of the first. */
static void records_come_by_time(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	put_hit(&image, 1, 10);
	put_hit(&image, 1, 30);
	put_hit(&image, 2, 20);
	put_hit(&image, 3, 30);
	put_hit(&image, 2, 50);
	RECORD(&image, FINISHED_ROUND);
	put_hit(&image, 1, 40);
	put_hit(&image, 1, 60);
	put_hit(&image, 2, 55);
	RECORD(&image, FINISHED_ROUND);
	put_hit(&image, 1, 70);
	put_hit(&image, 2, 57);
	reading = finish(&image);
	expect_times(&reading, (const uint64_t[]){ 10, 20, 30, 30, 40, 50, 55, 57, 60, 70 }, 10);
	CU_ASSERT_EQUAL(reading.records[2].tid, 1); /* the same time: as they came */
	CU_ASSERT_EQUAL(reading.records[3].tid, 3);
	CU_ASSERT_EQUAL(reading.summary.backwards, 0);
}

/* Few and many of them. */
static void times_however_far_apart_are_put_in_order(void)
{
	enum { MOST = 60 };

	for (uint32_t count = 2; count <= MOST; count++) {
		struct image image = image_start(false, &watch, 1);
		uint64_t times[MOST];
		struct reading reading;

		for (uint32_t k = 0; k < count; k++)
			times[k] = (UINT64_MAX >> 4) / count * (k + 1) + k % 7;
		for (uint32_t k = 0; k < count; k++) /* evens, then odds the other way round */
			put_hit(&image, 1, times[2 * k < count ? 2 * k : 2 * (count - k - 1) + 1]);
		reading = finish(&image);
		expect_times(&reading, times, count);
	}
}

static void records_of_one_time_come_as_they_are(void)
{
	enum { MOST = 60 };
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	for (uint32_t k = 0; k < MOST; k++)
		put_hit(&image, k, 1000 - k / 4);
	reading = finish(&image);
	CU_ASSERT_EQUAL_FATAL(reading.count, MOST);
	for (uint32_t k = 0; k < MOST; k++)
		CU_ASSERT_EQUAL(reading.records[k].tid, MOST - 4 - k / 4 * 4 + k % 4);
}

/* perf promises no more than this, so that memory is bounded. */
static void what_comes_later_than_its_round_is_counted_as_backwards(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	put_hit(&image, 1, 50);
	RECORD(&image, FINISHED_ROUND);
	RECORD(&image, FINISHED_ROUND);
	put_hit(&image, 2, 40);
	reading = finish(&image);
	expect_times(&reading, (const uint64_t[]){ 50, 40 }, 2);
	CU_ASSERT_EQUAL(reading.summary.backwards, 1);
}

static void no_more_than_a_bounded_number_of_records_waits(void)
{
	enum { BOUND = 1 << 20 };
	struct event event = watch;
	struct image image;
	struct reading reading;

	event.sample_type = TIME;
	image = image_start(false, &event, 1);
	for (uint64_t k = 0; k < BOUND; k++)
		RECORD(&image, SAMPLE, 1000 + (k ^ 1)); /* neighbours swapped */
	RECORD(&image, SAMPLE, 900);                    /* too late to be the first */
	RECORD(&image, SAMPLE, 1000 + 3 * BOUND / 4);   /* but this is not */
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.count, BOUND + 2);
	CU_ASSERT_EQUAL(reading.records[0].time, 1000);
	CU_ASSERT_EQUAL(reading.records[1].time, 1001);
	CU_ASSERT_EQUAL(reading.summary.backwards, 1);
}

static void records_without_times_come_as_they_are(void)
{
	struct event event = watch;
	struct image image;
	struct reading reading;

	event.sample_type = IP;
	image = image_start(false, &event, 1);
	for (uint64_t ip = 9; ip > 5; ip--)
		RECORD(&image, SAMPLE, ip);
	reading = finish(&image);
	CU_ASSERT_EQUAL_FATAL(reading.count, 4);
	for (uint64_t k = 0; k < 4; k++)
		CU_ASSERT_EQUAL(reading.records[k].ip, 9 - k);
	CU_ASSERT_EQUAL(reading.summary.without_time, 4);
	CU_ASSERT_EQUAL(reading.summary.without_tid, 4);
}

/* ---- threads -------------------------------------------------------------------------------- */

/* With what follows it by sample_id_all: thread and time. */
static void put_name(struct image *image, uint32_t tid, const char *name, uint64_t time)
{
	char bytes[24] = "";

	record_start(image, COMM);
	put_32(image, tid);
	put_32(image, tid);
	memcpy(bytes, name, strlen(name));
	put(image, bytes, (strlen(name) + 8) / 8 * 8);
	put_32(image, tid);
	put_32(image, tid);
	put_64(image, time);
	record_end(image);
}

static void put_fork(struct image *image, uint32_t tid, uint32_t parent, uint64_t time)
{
	RECORD(image, FORK, halves(image, parent, parent), halves(image, tid, parent), time,
	       halves(image, parent, parent), time);
}

static void threads_have_the_names_of_their_time_and_inherit_them(void)
{
	for (int big = 0; big < 2; big++) {
		struct image image = image_start(big, &watch, 1);
		struct reading reading;

		put_name(&image, 1, "a: 12 [003] 1.5", 0); /* written by perf at its start */
		put_hit(&image, 1, 10);
		put_hit(&image, 1, 30);
		put_hit(&image, 2, 40);
		put_hit(&image, 2, 60);
		put_hit(&image, 0, 70);
		put_hit(&image, 7, 80);
		put_fork(&image, 2, 1, 35);
		put_name(&image, 1, "later", 20);
		put_name(&image, 2, "child", 50);
		reading = finish(&image);
		CU_ASSERT_EQUAL_FATAL(reading.count, 6);
		CU_ASSERT_STRING_EQUAL(reading.thread_names[0], "a: 12 [003] 1.5");
		CU_ASSERT_STRING_EQUAL(reading.thread_names[1], "later");
		CU_ASSERT_STRING_EQUAL(reading.thread_names[2], "later");
		CU_ASSERT_STRING_EQUAL(reading.thread_names[3], "child");
		CU_ASSERT_STRING_EQUAL(reading.thread_names[4], "swapper");
		CU_ASSERT_STRING_EQUAL(reading.thread_names[5], "");
		CU_ASSERT_EQUAL(reading.summary.skipped[SKIP_TASK], 4);
	}
}

static void a_thread_that_is_gone_is_not_known(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	RECORD(&image, SAMPLE, 1, UINT64_MAX, 5);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.without_tid, 1);
	CU_ASSERT_EQUAL(reading.records[0].tid, 0);
}

/* More threads than names are kept for: those have none. */
static void names_of_threads_are_bounded(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	for (uint32_t tid = 1; tid <= TRACE_THREADS_MAX; tid++)
		put_name(&image, tid, "t", 0);
	put_hit(&image, TRACE_THREADS_MAX - 1, 1);
	put_hit(&image, TRACE_THREADS_MAX, 2);
	reading = finish(&image);
	CU_ASSERT_STRING_EQUAL(reading.thread_names[0], "t");
	CU_ASSERT_STRING_EQUAL(reading.thread_names[1], "");
	CU_ASSERT(has_note(&reading, "65536 threads"));
}

/* ---- what is missing ------------------------------------------------------------------------ */

static struct reading read_losses(uint64_t read_format)
{
	struct event event = watch;
	struct image image;

	event.read_format = read_format;
	image = image_start(false, &event, 1);
	put_hit(&image, 1, 10);
	RECORD(&image, LOST, id_of(0), 136);
	RECORD(&image, LOST, id_of(0), 30);
	RECORD(&image, LOST_SAMPLES, 160);
	return finish(&image);
}

static void lost_records_are_counted_once(void)
{
	struct reading reading = read_losses(0);

	CU_ASSERT_EQUAL(reading.summary.lost, 136 + 30 + 160);
	reading = read_losses(16); /* the event counts the same losses */
	CU_ASSERT_EQUAL(reading.summary.lost, 136 + 30);
	CU_ASSERT_EQUAL(reading.summary.kind, KIND_SAMPLED);
	CU_ASSERT(has_note(&reading, "some were lost"));
}

static void records_dropped_by_a_filter_are_not_lost(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	put_hit(&image, 1, 10);
	RECORD(&image, LOST_SAMPLES, 160);
	image.bytes[image.record + 5] = 0x80; /* misc, bit 15 */
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.lost, 0);
	CU_ASSERT_EQUAL(reading.summary.kind, KIND_COMPLETE);
}

static void events_held_back_leave_no_complete_trace(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	put_hit(&image, 1, 10);
	RECORD(&image, THROTTLE, 1, 2, 3);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.summary.kind, KIND_SAMPLED);
	CU_ASSERT(has_note(&reading, "held events back 1 times"));
}

static void a_file_cut_short_is_read_to_its_end(void)
{
	struct image image = image_start(false, &watch, 1);

	for (uint64_t time = 1; time <= 3; time++)
		put_hit(&image, 1, time);
	image_end(&image);
	for (size_t cut = 0; cut <= 3 * 32; cut++) {
		struct reading reading = read_bytes(image.bytes, image.size - cut);

		CU_ASSERT_EQUAL(reading.step, STEP_END);
		CU_ASSERT_EQUAL(reading.summary.used, 3 - (cut + 31) / 32);
		CU_ASSERT_EQUAL(reading.summary.dropped[DROP_TRUNCATED], cut % 32 ? 1 : 0);
		CU_ASSERT_EQUAL(has_note(&reading, "ends before"), cut > 0);
	}
	free(image.bytes);
}

static void a_file_that_was_not_finished_is_read(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	put_hit(&image, 1, 10);
	put_hit(&image, 1, 20);
	reading = image_read(&image); /* the size of its records still 0 */
	CU_ASSERT_EQUAL(reading.summary.used, 2);
	CU_ASSERT(has_note(&reading, "not finished"));
}

static void every_kind_of_record_is_accounted_for(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	put_hit(&image, 1, 10);
	RECORD(&image, MMAP2, 1, 2, 3);
	RECORD(&image, 79, 1, 2, 3);  /* TIME_CONV */
	RECORD(&image, 300, 1, 2, 3); /* none that there is */
	RECORD(&image, COMM, 1);      /* too short */
	RECORD(&image, FORK, 1);
	RECORD(&image, LOST, 1);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.step, STEP_END);
	CU_ASSERT_EQUAL(reading.summary.read, 1);
	CU_ASSERT_EQUAL(reading.summary.skipped[SKIP_TASK], 3);
	CU_ASSERT_EQUAL(reading.summary.skipped[SKIP_MESSAGE], 2);
	CU_ASSERT_EQUAL(reading.summary.skipped[SKIP_UNPARSED], 1);
}

/* ---- compressed ----------------------------------------------------------------------------- */

/* What perf record -z does: all records through one zstd stream, flushed at each compressed record;
 * pieces of 50 bytes, so that most begin in the middle of a record. */
static void compress_records(struct image *to, const struct image *from, uint32_t type)
{
	ZSTD_CStream *zstd = ZSTD_createCStream();
	unsigned char packed[512];

	for (size_t at = from->data; at < from->size; at += 50) {
		size_t length = from->size - at < 50 ? from->size - at : 50;
		ZSTD_inBuffer in = { from->bytes + at, length, 0 };
		ZSTD_outBuffer out = { packed, sizeof(packed), 0 };

		CU_ASSERT_EQUAL(ZSTD_compressStream(zstd, &out, &in) >> 32, 0);
		CU_ASSERT_EQUAL(ZSTD_flushStream(zstd, &out), 0);
		record_start(to, type);
		if (type == COMPRESSED2)
			put_64(to, out.pos);
		put(to, packed, out.pos);
		while (type == COMPRESSED2 && to->size % 8)
			put(to, "\xff", 1);
		record_end(to);
	}
	ZSTD_freeCStream(zstd);
}

static struct image image_of_hits(bool big, uint64_t count)
{
	struct image image = image_start(big, &watch, 1);

	for (uint64_t time = 1; time <= count; time++)
		put_hit(&image, 1, time);
	return image;
}

static void compressed_records_are_unpacked(void)
{
	for (uint32_t type = COMPRESSED; type <= COMPRESSED2; type += 2) {
		struct image plain = image_of_hits(false, 40);
		struct image image = image_start(false, &watch, 1);
		struct reading reading;

		compress_records(&image, &plain, type);
		reading = finish(&image);
		CU_ASSERT_EQUAL(reading.step, STEP_END);
		CU_ASSERT_EQUAL_FATAL(reading.count, 40);
		for (uint64_t k = 0; k < 40; k++)
			CU_ASSERT_EQUAL(reading.records[k].time, k + 1);
		CU_ASSERT_EQUAL(reading.summary.dropped[DROP_TRUNCATED], 0);
		free(plain.bytes);
	}
}

static void compressed_records_that_end_too_soon_are_cut(void)
{
	struct image plain = image_of_hits(false, 3);
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	plain.size -= 5;
	compress_records(&image, &plain, COMPRESSED);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.count, 2);
	CU_ASSERT_EQUAL(reading.summary.dropped[DROP_TRUNCATED], 1);
	free(plain.bytes);
}

static void compressed_records_that_are_damaged_are_refused(void)
{
	struct image image = image_start(false, &watch, 1);
	struct reading reading;

	RECORD(&image, COMPRESSED, 0x1234567812345678, 5);
	reading = finish(&image);
	expect_failed(&reading, "that zstd cannot unpack");
	image = image_start(false, &watch, 1);
	RECORD(&image, COMPRESSED2, 9, 5);
	reading = finish(&image);
	expect_failed(&reading, "more in it than its 24 bytes");
}

/* 100 MB of zeros in a few kilobytes, more than any buffer of perf's. */
static void a_compressed_record_cannot_stand_for_more_than_it_may(void)
{
	struct image image = image_start(false, &watch, 1);
	size_t size = 100 << 20;
	void *zeros = calloc(1, size);
	unsigned char packed[32 << 10];
	size_t length = ZSTD_compress(packed, sizeof(packed), zeros, size, 1);
	struct reading reading;

	/* Records without any content, so that all of them can be read. */
	for (size_t at = 0; at < size; at += 8)
		memcpy((char *)zeros + at, "\x4f\0\0\0\0\0\x8", 8);
	length = ZSTD_compress(packed, sizeof(packed), zeros, size, 1);
	CU_ASSERT_FATAL(!ZSTD_isError(length));
	record_start(&image, COMPRESSED);
	put(&image, packed, length);
	record_end(&image);
	reading = finish(&image);
	expect_failed(&reading, "more than the 67108864 bytes");
	free(zeros);
}

/* What is far behind in it cannot be reached without reading all before. */
static void a_compressed_file_is_read_without_the_names_at_its_end(void)
{
	struct event named = watch;
	struct image image;
	size_t room = 1 << 20, length;
	void *packed = malloc(room);
	struct reading reading;

	named.name = "named";
	image = image_start(false, &named, 1);
	for (uint64_t time = 1; time <= 10000; time++)
		put_hit(&image, 1, time);
	image_end(&image);
	length = ZSTD_compress(packed, room, image.bytes, image.size, 1);
	CU_ASSERT_FATAL(!ZSTD_isError(length));
	reading = read_bytes(packed, length);
	free(packed);
	CU_ASSERT_EQUAL(reading.count, 10000);
	CU_ASSERT_STRING_EQUAL(reading.events[0], "mem:0x1000/8:rw");
	CU_ASSERT(has_note(&reading, "no names of events"));
	reading = image_read(&image);
	CU_ASSERT_EQUAL(reading.count, 10000);
	CU_ASSERT_STRING_EQUAL(reading.events[0], "named");
}

/* ---- refused -------------------------------------------------------------------------------- */

static void what_is_no_file_of_records_is_refused_with_what_to_do(void)
{
	static const struct {
		size_t at;
		const char *bytes; /* put there */
		size_t size;
		const char *expected;
	} rows[] = {
		{ 0, "PERFFILE", 8, "f: perf.data of version 1, expected version 2" },
		{ 0, "PERFILE3", 8, "f: no perf.data file" },
		{ 8, "\x10", 1, "perf inject -i THIS -o FILE" },
		{ 8, "\x20", 1, "f: at byte 8: a header of 32 bytes, expected 104" },
		{ 16, "\x00", 1, "f: at byte 16: attributes of 0 bytes, expected 80 to 4096" },
		{ 16, "\x90\xff", 2, "attributes of 65424 bytes" },
		{ 32, "\x08", 1, "f: at byte 24: 0 events, expected 1 to 4096" },
		{ 35, "\x7f", 1, "events, expected 1 to 4096" },
		{ 31, "\xff", 1, "attributes of events that are not there" },
		{ 48, "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
		  "f: at byte 40: records beyond any file's end" },
		{ 74, "\x04", 1, "perf script --itrace=M" },
		{ 116, "\x3f", 1, "f: at byte 116: attributes of 63 bytes, expected 64 to 128" },
		{ 116, "\x81", 1, "f: at byte 116: attributes of 129 bytes" },
		{ 241, "\x07", 1, "identifiers of events that are not there" },
		{ 251, "\x01", 1, "more than 262144 identifiers of events" },
		{ 255, "\xff", 1, "more than 262144 identifiers of events" },
		{ 247, "\xff", 1, "identifiers of events that are not there" },
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		struct image image = image_of_hits(false, 1);
		struct reading reading;

		image_end(&image);
		memcpy(image.bytes + rows[k].at, rows[k].bytes, rows[k].size);
		reading = image_read(&image);
		expect_failed(&reading, rows[k].expected);
	}
}

static void a_header_cut_short_is_refused(void)
{
	struct image image = image_of_hits(false, 1);

	image_end(&image);
	for (size_t size = 0; size < image.data; size++) {
		struct reading reading = read_bytes(image.bytes, size);

		expect_failed(&reading, size < 16    ? "no perf.data file"
					: size < 104 ? "ends in its header"
						     : "that are not there");
	}
	free(image.bytes);
}

static void a_file_without_addresses_is_refused_with_its_events(void)
{
	const struct event events[] = {
		{ .type = 0, .sample_type = IP | IDENTIFIER, .name = "cycles:P" },
		{ .type = SOFTWARE,
		  .config = 9,
		  .sample_type = IP | IDENTIFIER | ADDR,
		  .name = "dummy:u" }
	};
	struct event code = watch;
	struct image image = image_start(false, events, 2);
	struct reading reading;

	RECORD(&image, SAMPLE, id_of(0), 1);
	reading = finish(&image);
	expect_failed(&reading, "only cycles:P, dummy:u; expected a file of 'perf mem record");
	code.bp_type = CODE;
	image = image_start(false, &code, 1);
	reading = finish(&image);
	expect_failed(&reading, "only mem:0x1000/8:x;");
}

static void events_that_cannot_be_told_apart_are_refused(void)
{
	const struct event same[] = { watch, watch };
	struct event differ[] = { watch, watch };
	struct image image = image_start(false, same, 2);
	struct reading reading = finish(&image);

	expect_failed(&reading, "2 events, and samples that do not say of which they are");
	differ[0].sample_type = IP | ID;
	differ[1].sample_type = ID;
	image = image_start(false, differ, 2);
	reading = finish(&image);
	expect_failed(&reading, "2 events, and samples that do not say of which they are");
}

static void records_with_more_behind_them_are_refused(void)
{
	struct image image = image_of_hits(false, 1);
	struct reading reading;

	RECORD(&image, AUXTRACE, 1 << 20, 0, 0, 0, 0);
	reading = finish(&image);
	CU_ASSERT_EQUAL(reading.count, 0); /* it still waited for its turn */
	expect_failed(&reading, "f: at byte 288: an AUX trace");
	image = image_of_hits(false, 1);
	RECORD(&image, 66, 1 << 20);
	reading = finish(&image);
	expect_failed(&reading, "perf inject");
}

static void records_of_impossible_sizes_are_refused(void)
{
	for (uint16_t size = 0; size < 8; size++) {
		struct image image = image_of_hits(false, 1);
		struct reading reading;
		char expected[80];

		RECORD(&image, SAMPLE, 1, 2, 3);
		image.bytes[image.record + 6] = (unsigned char)size;
		reading = finish(&image);
		snprintf(expected, sizeof(expected),
			 "f: at byte 288: a record of %u bytes, expected at least 8", size);
		expect_failed(&reading, expected);
	}
}

/* ---- captures ------------------------------------------------------------------------------- */

static struct reading read_capture(const char *name)
{
	struct reading reading = { .step = STEP_FAILED };
	const char *shared = getenv("HITM_SHARED");
	char path[512];

	snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared", name);
	return read_trace(trace_open(path, NULL, &reading.error), reading);
}

/* What perf 6.1 prints of them, counted with grep in the texts beside the files; programs that did
 * 801 accesses by count; 200 stores and 100 loads; and so on. */
static void captures_give_what_perf_prints_of_them(void)
{
	static const struct {
		const char *name;
		uint64_t read, ops[TRACE_OPS], lost, weight;
		uint32_t threads;
	} rows[] = {
		{ "local/pagectr-4fields.perf.data", 1604, { 0, 0, 0, 0, 1604 }, 0, 1604, 3 },
		{ "local/pagectr-w-and-rw.perf.data", 1001, { 201, 400 }, 0, 601, 3 },
		{ "local/heapctr-attach-w-rw.perf.data", 500, { 100, 200 }, 0, 300, 2 },
		{ "local/odd-thread-names.perf.data", 20, { 0, 0, 0, 0, 20 }, 0, 20, 4 },
		{ "local/pagectr-callchain.perf.data", 41, { 0, 0, 0, 0, 41 }, 0, 41, 3 },
		{ "local/pagectr-page-faults.perf.data", 64, { 0, 0, 0, 0, 64 }, 0, 64, 3 },
		{ "local/pagectr-lost.perf.data", 11036, { 0, 0, 0, 0, 11036 }, 965, 11036, 3 },
		{ "perf-data/ivb-pebs-loads-freq.perf.data", 14, { 13, 0, 1 }, 0, 5911, 1 },
		{ "perf-data/skx-pebs-loads-weight_struct.perf.data",
		  14,
		  { 12, 0, 2 },
		  0,
		  140126,
		  12 },
	};
	struct reading reading = read_capture(rows[0].name);

	if (reading.step == STEP_FAILED && !reading.summary.read) {
		test_skip("without the captures of ../shared/data (HITM_SHARED)");
		return;
	}
	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		reading = read_capture(rows[k].name);
		CU_ASSERT_EQUAL(reading.step, STEP_END);
		CU_ASSERT_EQUAL(reading.summary.read, rows[k].read);
		CU_ASSERT(!memcmp(reading.summary.ops, rows[k].ops, sizeof(rows[k].ops)));
		CU_ASSERT_EQUAL(reading.summary.lost, rows[k].lost);
		CU_ASSERT_EQUAL(reading.summary.weight, rows[k].weight);
		CU_ASSERT_EQUAL(reading.summary.threads, rows[k].threads);
		CU_ASSERT_EQUAL(reading.summary.backwards, 0);
	}
	reading = read_capture("perf-data/robust-sleep-zstd2-pipe.perf.data");
	expect_failed(&reading, "perf inject");
	reading = read_capture("perf-data/robust-sleep-zstd.perf.data");
	expect_failed(&reading, "only cycles:P;");
	reading = read_capture("local/pagectr-uprobes.perf.data");
	expect_failed(&reading, "only pc:usage_rmw, pc:max_ld, pc:wm_ld,");
}

/* ---- the suite ------------------------------------------------------------------------------ */

void suite_perf_data(void)
{
	CU_pSuite suite = CU_add_suite("perf_data", NULL, NULL);

	CU_ADD_TEST(suite, every_field_is_read_in_both_byte_orders);
	CU_ADD_TEST(suite, fields_behind_those_that_vary_in_size_are_found);
	CU_ADD_TEST(suite, hostile_counts_in_a_sample_drop_it);
	CU_ADD_TEST(suite, attributes_of_every_size_are_read);
	CU_ADD_TEST(suite, events_with_different_fields_are_told_apart);
	CU_ADD_TEST(suite, a_sample_weighs_its_period);
	CU_ADD_TEST(suite, operations_come_from_the_bits_and_else_from_the_event);
	CU_ADD_TEST(suite, words_that_differ_little_keep_their_meanings);
	CU_ADD_TEST(suite, samples_without_an_address_are_dropped);
	CU_ADD_TEST(suite, an_atomic_sampled_as_load_and_as_store_counts_once);
	CU_ADD_TEST(suite, page_faults_are_accesses_that_may_be_either);
	CU_ADD_TEST(suite, a_breakpoint_says_what_it_watches);
	CU_ADD_TEST(suite, a_breakpoint_for_stores_gives_stores);
	CU_ADD_TEST(suite, breakpoints_on_different_places_decide_nothing);
	CU_ADD_TEST(suite, two_breakpoints_on_a_place_tell_loads_from_stores);
	CU_ADD_TEST(suite, halves_of_a_store_are_of_one_thread_and_one_instruction);
	CU_ADD_TEST(suite, halves_of_a_store_stay_together_when_the_thread_loses_its_cpu);
	CU_ADD_TEST(suite, halves_of_a_store_are_near_when_something_is_between);
	CU_ADD_TEST(suite, a_half_that_stays_alone_does_not_hold_up_all);
	CU_ADD_TEST(suite, records_come_by_time);
	CU_ADD_TEST(suite, times_however_far_apart_are_put_in_order);
	CU_ADD_TEST(suite, records_of_one_time_come_as_they_are);
	CU_ADD_TEST(suite, what_comes_later_than_its_round_is_counted_as_backwards);
	CU_ADD_TEST(suite, no_more_than_a_bounded_number_of_records_waits);
	CU_ADD_TEST(suite, records_without_times_come_as_they_are);
	CU_ADD_TEST(suite, threads_have_the_names_of_their_time_and_inherit_them);
	CU_ADD_TEST(suite, a_thread_that_is_gone_is_not_known);
	CU_ADD_TEST(suite, names_of_threads_are_bounded);
	CU_ADD_TEST(suite, lost_records_are_counted_once);
	CU_ADD_TEST(suite, records_dropped_by_a_filter_are_not_lost);
	CU_ADD_TEST(suite, events_held_back_leave_no_complete_trace);
	CU_ADD_TEST(suite, a_file_cut_short_is_read_to_its_end);
	CU_ADD_TEST(suite, a_file_that_was_not_finished_is_read);
	CU_ADD_TEST(suite, every_kind_of_record_is_accounted_for);
	CU_ADD_TEST(suite, compressed_records_are_unpacked);
	CU_ADD_TEST(suite, compressed_records_that_end_too_soon_are_cut);
	CU_ADD_TEST(suite, compressed_records_that_are_damaged_are_refused);
	CU_ADD_TEST(suite, a_compressed_record_cannot_stand_for_more_than_it_may);
	CU_ADD_TEST(suite, a_compressed_file_is_read_without_the_names_at_its_end);
	CU_ADD_TEST(suite, what_is_no_file_of_records_is_refused_with_what_to_do);
	CU_ADD_TEST(suite, a_header_cut_short_is_refused);
	CU_ADD_TEST(suite, a_file_without_addresses_is_refused_with_its_events);
	CU_ADD_TEST(suite, events_that_cannot_be_told_apart_are_refused);
	CU_ADD_TEST(suite, records_with_more_behind_them_are_refused);
	CU_ADD_TEST(suite, records_of_impossible_sizes_are_refused);
	CU_ADD_TEST(suite, captures_give_what_perf_prints_of_them);
}
