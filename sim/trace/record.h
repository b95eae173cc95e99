/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One access, or a sample that stands for many, as every capture format is read into it. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdint.h>

/* What was done to memory. */
enum trace_op {
	TRACE_LOAD,
	TRACE_STORE,
	TRACE_ATOMIC, /* a locked read-modify-write */
	TRACE_MODIFY, /* a load and a store by one instruction; whether locked is not known */
	TRACE_ACCESS, /* a load or a store: which is not known */
	TRACE_OPS
};

/* Where a load's data came from, as the hardware said. */
enum trace_source {
	SOURCE_UNKNOWN,
	SOURCE_L1,
	SOURCE_FILL_BUFFER,
	SOURCE_L2,
	SOURCE_LLC,
	SOURCE_HITM_LOCAL,  /* modified in another core's cache, of this socket */
	SOURCE_HITM_REMOTE, /* ... of another socket */
	SOURCE_PEER_LOCAL,  /* from another core's cache, clean or dirty */
	SOURCE_PEER_REMOTE,
	SOURCE_CLEAN_REMOTE, /* clean in another socket's cache */
	SOURCE_DRAM_LOCAL,
	SOURCE_DRAM_REMOTE,
	SOURCE_UNCACHED, /* I/O or uncached memory */
	SOURCES
};

/* Members of a record that a format, or one line of it, need not have. */
enum trace_known {
	KNOWN_TIME = 1,
	KNOWN_CPU = 2,
	KNOWN_PID = 4,
	KNOWN_TID = 8,
	KNOWN_SIZE = 16,
	KNOWN_IP = 32,
	KNOWN_LATENCY = 64,
	KNOWN_ADDRESS = 128
};

/* Characters that are not ended by NUL; at NULL: none. They belong to the reader and last until its
 * next record. */
struct text {
	const char *at;
	uint32_t length;
};

struct trace_record {
	uint64_t time;    /* ns, from whatever start */
	uint64_t address; /* of the first byte; virtual where the format has it */
	uint64_t ip;      /* of the instruction, or of the one after it, as the format has it */
	uint64_t weight;  /* accesses that it stands for, at least 1 */
	uint32_t pid, tid, cpu;
	uint32_t cpus;    /* CPUs that did these accesses together; 1 but for aggregates */
	uint32_t latency; /* core cycles */
	uint16_t size;    /* bytes, at least 1 where known */
	uint8_t op;       /* enum trace_op */
	uint8_t source;   /* enum trace_source */
	uint8_t known;    /* of enum trace_known; what is not known is 0 (but weight and cpus) */
	struct text thread_name, event, symbol;
	struct text field; /* "OBJECT.FIELD" where the format has it */
};

/* One letter an operation, and a word a source, as the native text form writes them. */
extern const char trace_op_letters[TRACE_OPS + 1];    /* "RWAM?" */
extern const char *const trace_source_names[SOURCES]; /* "-", "l1", "fb", ... */

#endif
