/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a perf.data file: tools/perf/Documentation/perf.data-file-format.txt for the file,
 * include/uapi/linux/perf_event.h for attributes and records. Numbers are those of the host that
 * recorded, in its byte order. */
#ifndef TRACE_PERF_DATA_FORMAT_H
#define TRACE_PERF_DATA_FORMAT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The header of the file: offsets, and features as numbers of bits. */
enum {
	FILE_HEADER_SIZE_AT = 8,
	FILE_ATTR_SIZE_AT = 16,
	FILE_ATTRS_AT = 24, /* sections: offset and size */
	FILE_DATA_AT = 40,
	FILE_FEATURES_AT = 72, /* four words of bits */
	FILE_HEADER = 104,
	FILE_PIPE_HEADER = 16,
	FILE_SECTION = 16,
	FEATURE_EVENT_DESC = 12,
	FEATURE_AUXTRACE = 18,
	FEATURE_COMPRESSED = 27,
	FEATURES = 256
};

/* struct perf_event_attr, which grew from 64 bytes; what is not there is 0. */
enum {
	ATTR_TYPE_AT = 0,
	ATTR_SIZE_AT = 4,
	ATTR_CONFIG_AT = 8,
	ATTR_PERIOD_AT = 16,
	ATTR_SAMPLE_TYPE_AT = 24,
	ATTR_READ_FORMAT_AT = 32,
	ATTR_FLAGS_AT = 40,
	ATTR_BP_TYPE_AT = 52,
	ATTR_CONFIG1_AT = 56, /* or the breakpoint's address */
	ATTR_BP_LENGTH_AT = 64,
	ATTR_BRANCH_TYPE_AT = 72,
	ATTR_REGS_USER_AT = 80,
	ATTR_SMALLEST = 64,
	ATTR_KNOWN = 128,
	ATTR_LARGEST = 4096
};

enum { TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT, TYPE_CACHE, TYPE_RAW, TYPE_BREAKPOINT };
enum {
	SOFTWARE_FAULTS = 2,
	SOFTWARE_FAULTS_MINOR = 5,
	SOFTWARE_FAULTS_MAJOR = 6,
	SOFTWARE_DUMMY = 9
};
enum { FLAG_FREQUENCY = 1 << 10, FLAG_SAMPLE_ID_ALL = 1 << 18 };
enum { BREAKPOINT_WRITE = 2, BREAKPOINT_ACCESS = 3, BREAKPOINT_CODE = 4 };
enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };

enum { READ_TIME_ENABLED = 1, READ_TIME_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

/* Bits of sample_type. Fields lie in another order than that of the bits: see perf_data_sample.c. */
enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_BRANCH_STACK = 1 << 11,
	SAMPLE_REGS_USER = 1 << 12,
	SAMPLE_STACK_USER = 1 << 13,
	SAMPLE_WEIGHT = 1 << 14,
	SAMPLE_DATA_SRC = 1 << 15,
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_WEIGHT_STRUCT = 1 << 24
};

/* A record's header: type, misc and size, then what belongs to it. */
enum { RECORD_MISC_AT = 4, RECORD_SIZE_AT = 6, RECORD_HEADER = 8 };

enum {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_THROTTLE = 5,
	RECORD_UNTHROTTLE = 6,
	RECORD_FORK = 7,
	RECORD_READ = 8,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_AUX = 11,
	RECORD_ITRACE_START = 12,
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH = 14,
	RECORD_CALLCHAIN_DEFERRED = 22, /* the last one of the kernel, in 6.19 */
	RECORD_TOOL = 64,               /* from here on perf's own */
	RECORD_TRACING_DATA = 66,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
	RECORD_TYPES = 96
};

enum { MISC_LOST_BY_FILTER = 1 << 15 };

static inline uint16_t get16(const unsigned char *at, bool big)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return big ? be16toh(value) : le16toh(value);
}

static inline uint32_t get32(const unsigned char *at, bool big)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return big ? be32toh(value) : le32toh(value);
}

static inline uint64_t get64(const unsigned char *at, bool big)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return big ? be64toh(value) : le64toh(value);
}

#endif
