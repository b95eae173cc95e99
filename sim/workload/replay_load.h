/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture in memory, as a replay needs it: what each lane did, step by step, at places that are
 * numbered. */
#ifndef WORKLOAD_REPLAY_LOAD_H
#define WORKLOAD_REPLAY_LOAD_H

#include "layout/layout.h"
#include "trace/trace.h"

enum {
	REPLAY_PLACES_MAX = 1 << 21,
	REPLAY_LANES_MAX = 1 << 16,
	REPLAY_OBJECTS_MAX = 4096,
	REPLAY_STEPS_MAX = 1 << 28
};

enum { REPLAY_NO_LANE = UINT32_MAX };

/* An object of the captured program: where it lay, and the layout it had then. */
struct replay_object {
	const char *name;
	const struct layout *layout;
	uint64_t address;
};

/* Bytes that were accessed together, at one address. */
struct replay_place {
	uint64_t address;
	uint16_t size;   /* 0: not known */
	uint16_t object; /* 1 + its number; 0: none */
	uint32_t first;  /* the lane that accessed it first */
};

/* One access, or of a profile one kind of access. */
struct replay_step {
	uint32_t amount; /* ns since the step before; of a profile its weight. At most 2^32 - 1. */
	uint32_t what;   /* place, operation and whether it follows, in one: step_what */
};

/* Of a profile, a load that found its line in its own cache, or on its way there, *follows*: it came after
 * another access of the same thread to the same line. */
static inline uint32_t step_what(uint32_t place, enum trace_op op, bool follows)
{
	return (place * 2 + follows) * TRACE_OPS + op;
}

static inline uint32_t step_place(uint32_t what)
{
	return what / (2 * TRACE_OPS);
}

static inline enum trace_op step_op(uint32_t what)
{
	return (enum trace_op)(what % TRACE_OPS);
}

static inline bool step_follows(uint32_t what)
{
	return what / TRACE_OPS % 2;
}

/* A thread of the captured program, or one of its CPUs. */
struct replay_lane {
	uint32_t id;  /* tid or cpu; of an aggregate, which has neither, its number */
	uint32_t cpu; /* on which it was seen first; UINT32_MAX: not known */
	uint32_t count, capacity;
	uint64_t first,
		last; /* times; of a profile they bound what it stands for. Unknown: last < first */
	struct replay_step *steps;
};

enum replay_by { REPLAY_BY_THREAD, REPLAY_BY_CPU };
enum replay_only { REPLAY_ALL, REPLAY_OBJECTS };

/* How to take it. */
struct replay_choice {
	const char *path, *format; /* format NULL: recognised */
	const struct replay_object *objects;
	uint32_t object_count;
	enum replay_by by;
	enum replay_only only;
	bool fixed_order; /* note the order of all steps */
	double clock;     /* Hz, of the cycles in which latencies are told */
	uint32_t lanes;   /* of an aggregate; 0: as many as CPUs did anything together */
};

struct replay {
	struct trace_summary summary;
	enum trace_kind kind; /* that steps are of */
	uint32_t lane_count;
	struct replay_lane *lanes;
	uint32_t place_count;
	struct replay_place *places; /* in the order in which they were first accessed */
	uint64_t step_count;
	uint16_t *order; /* with fixed_order: whose turn it is, step by step */
	uint64_t
		outside; /* records left out: that no object holds, with REPLAY_OBJECTS; without an address, of no
			     field known */
	uint64_t stores; /* weight of stores, atomics and what may be either */
};

/* Reads a capture. NULL with *error set; the caller frees it. Objects may not overlap; they are sorted
 * by address. */
struct replay *replay_load(const struct replay_choice *choice, struct error *error);
void replay_free(struct replay *replay);

/* Adds to a profile what it lacks: stores of this weight, by all lanes alike, to `size` bytes of an
 * object (1 + its number). False with *error set. */
bool replay_add_stores(struct replay *replay, uint16_t object, uint64_t address, uint16_t size,
		       uint64_t weight, struct error *error);

#endif
