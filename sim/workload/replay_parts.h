/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the replay: replay.c reads settings, replay_objects.c places objects,
 * replay_places.c cuts accesses into pieces, replay_amend.c adds what a capture lacks, replay_threads.c puts lanes on
 * cpus, replay_lines.c names
 * what no object holds, replay_profile.c prepares draws, replay_run.c is what the threads do. */
#ifndef WORKLOAD_REPLAY_PARTS_H
#define WORKLOAD_REPLAY_PARTS_H

#include "workload/replay_load.h"
#include "workload/workload.h"

/* A captured access in simulated memory: pieces of 1, 2, 4 or 8 bytes, none across a line, that are
 * accessed in this order. */
struct replay_pieces {
	uint32_t first, count;
};

/* All that the threads of one replay share. */
struct replay_plan {
	struct replay *replay;
	struct replay_pieces *of_place; /* by place */
	struct place *pieces;
	uint32_t piece_count;
	uint8_t unknown;      /* enum trace_op that TRACE_ACCESS is replayed as */
	double cycles_per_ns; /* of gaps: the clock, scaled as the user says */
	double gap;           /* of a profile without times: cycles between accesses */
	bool profile, in_order;
	struct thread **threads; /* by lane */
	uint64_t seed;
};

enum { REPLAY_PLACE_RECORDED, REPLAY_PLACE_COMPACT, REPLAY_PLACE_SPREAD };
enum { REPLAY_HOME_TOUCH, REPLAY_HOME_INTERLEAVE };
enum { REPLAY_PAGE = 4096 };

struct replay_settings {
	const char *model, *trace, *format;
	const struct node *objects, *replace, *atomics, *stores, *cpus;
	int only, by, order, unknown, placement, home;
	double gaps;
	struct duration gap;
	uint32_t threads, seed;
};

/* An object, and where it is replayed. */
struct replay_placed {
	struct replay_object was; /* must be first: replay_load searches them */
	const struct node *node;
	const char *base;         /* name without [k] */
	const struct layout *now; /* the layout it is replayed on */
	uint32_t number;          /* of the object in memory */
};

struct replay_building {
	struct build *build;
	const struct replay_settings *settings;
	struct replay_plan *plan;
	struct replay_object *objects; /* by address */
	struct replay_placed *placed;  /* alike */
	uint32_t object_count;
};

/* The steps of building, each false with *error set. */
bool replay_read_objects(struct replay_building *building, struct error *error);
bool replay_place_objects(struct replay_building *building, struct error *error);
bool replay_cut_places(struct replay_building *building, struct error *error);
bool replay_complete_profile(struct replay_building *building, struct error *error);
bool replay_lock_fields(struct replay_building *building, struct error *error);
bool replay_add_threads(struct replay_building *building, struct error *error);

/* The line that an address was in when it was captured: 64 bytes, on whatever machine that has been. */
static inline uint64_t replay_captured_line(uint64_t address)
{
	return address / 64;
}

/* Accesses of a profile to draw from, with the weights up to and with each. */
struct replay_draws {
	uint32_t count;
	uint64_t *sums;
	uint32_t *what;
};

/* What follows an access to a captured line: draws of it, so many each time on average. */
struct replay_followers {
	uint64_t line;
	double each_time;
	struct replay_draws draws;
};

/* One thread's part; argument of the body. */
struct replay_worker {
	struct replay_plan *plan;
	const struct replay_lane *lane;
	/* of a profile: */
	struct replay_draws first; /* accesses that come first at their line */
	uint32_t follower_count;
	struct replay_followers *followers; /* in order of line */
	double interval;                    /* mean cycles from one of these to the next */
};

/* Makes a profile's lane into draws. */
bool replay_profile(struct build *build, struct replay_worker *worker, struct error *error);

void replay_body(struct thread *self, void *worker);

/* Makes objects of lines that several lanes use, one of them to write, and that no object holds: each
 * with a field for every place that was accessed, so that it can be told which cost which. The
 * busiest ones; false with *error set. */
bool replay_name_lines(struct build *build, const struct replay *replay, struct error *error);

#endif
