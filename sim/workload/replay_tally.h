/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture added up by address, in one pass: what it was measured to do, before anything is simulated. */
#ifndef WORKLOAD_REPLAY_TALLY_H
#define WORKLOAD_REPLAY_TALLY_H

#include "trace/trace.h"

enum { TALLY_PLACES_MAX = 1 << 20 };

/* Weights of all records at an address. */
struct tally_place {
	uint64_t address;
	uint64_t ops[TRACE_OPS];
	uint64_t hitm
		[2]; /* loads and atomics that hit a modified line: local, remote; or a peer's */
	uint64_t load_hitm; /* of these, loads */
	uint64_t total;
	uint16_t size; /* the largest; 0: not known */
};

struct tally {
	struct trace_summary summary;
	uint32_t count;
	struct tally_place *places; /* in order of address */
	uint64_t crowded;           /* records at yet other addresses than these many */
	uint64_t named;             /* records that have a field and no address: not in places */
	struct error nothing;       /* why there is no record that can be used; else empty */
	bool peers;                 /* hitm counts peers: the capture has no HITM */
	uint32_t object_count;
	struct trace_object *objects; /* that the capture declares */
};

/* Reads it all. `format` NULL: recognised. False with *error set, and nothing to free. */
bool tally_read(struct tally *tally, const char *path, const char *format, struct error *error);
void tally_free(struct tally *tally);

/* The first place at or after an address: its number, or `count`. */
uint32_t tally_from(const struct tally *tally, uint64_t address);

#endif
