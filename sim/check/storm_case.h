/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random tests of the whole simulator: from one seed a machine, and a storm on it.
 *
 * A case has so many *knobs*. Each is drawn from a stream of its own, so that a knob that is held
 * moves no other; the seed and the knobs held are the whole case. */
#ifndef CHECK_STORM_CASE_H
#define CHECK_STORM_CASE_H

#include "check/storm.h"

/* name, least, most, the simplest, how it is drawn: UNIFORM or LOG (small ones as often as large),
 * names of its values. Times are in cycles. The salt changes nothing but what the threads draw. */
#define STORM_KNOBS(X)                                              \
	X(salt, 0, 9999, 0, UNIFORM, "")                            \
	X(accesses, 1, 300, 1, LOG, "")                             \
	X(threads, 2, 256, 2, LOG, "")                              \
	X(lines, 1, 8, 1, UNIFORM, "")                              \
	X(sockets, 1, 4, 1, UNIFORM, "")                            \
	X(smt, 1, 4, 1, LOG, "")                                    \
	X(roles, 1, 31, 1, UNIFORM, "")                             \
	X(deeds, 0, 15, 0, UNIFORM, "")                             \
	X(hot, 0, 8, 0, UNIFORM, "")                                \
	X(work, 1, 300, 1, LOG, "")                                 \
	X(conflict, 0, 1, 0, UNIFORM, "no yes")                     \
	X(line, 0, 2, 1, UNIFORM, "32 64 128")                      \
	X(l1, 1, 4, 4, UNIFORM, "")                                 \
	X(l2, 1, 4, 4, UNIFORM, "")                                 \
	X(llc, 1, 4, 4, UNIFORM, "")                                \
	X(protocol, 0, 2, 0, UNIFORM, "mesi mesif moesi")           \
	X(atomics, 0, 1, 0, UNIFORM, "near far")                    \
	X(eviction, 0, 1, 0, UNIFORM, "silent exact")               \
	X(home, 0, 1, 0, UNIFORM, "ahead blocking")                 \
	X(discipline, 0, 3, 1, UNIFORM, "random fifo batch biased") \
	X(batch, 1, 8, 1, UNIFORM, "")                              \
	X(bias, 1, 40, 1, LOG, "")                                  \
	X(cluster, 0, 4, 0, LOG, "")                                \
	X(stores, 1, 56, 1, LOG, "")                                \
	X(loads, 1, 12, 1, LOG, "")                                 \
	X(leg, 1, 25, 1, LOG, "")                                   \
	X(transfer, 0, 400, 0, LOG, "")                             \
	X(clean, 0, 400, 0, LOG, "")                                \
	X(acks, 0, 400, 0, LOG, "")                                 \
	X(memory, 0, 400, 0, LOG, "")                               \
	X(across, 0, 400, 0, LOG, "")                               \
	X(late, 0, 400, 0, LOG, "")                                 \
	X(spread, 0, 100, 0, UNIFORM, "")                           \
	X(serial, 0, 40, 0, LOG, "")                                \
	X(occupancy, 0, 40, 0, LOG, "")                             \
	X(link, 0, 60, 0, LOG, "")                                  \
	X(rmw, 1, 40, 1, LOG, "")                                   \
	X(migratory, 0, 1, 0, UNIFORM, "no yes")                    \
	X(retain, 0, 200, 0, LOG, "")                               \
	X(far_occupancy, 0, 40, 0, LOG, "")                         \
	X(away, 0, 400, 0, LOG, "")                                 \
	X(ahead, 0, 1, 1, UNIFORM, "no yes")

#define NAME_KNOB(name, ...) KNOB_##name,
enum storm_knob { STORM_KNOBS(NAME_KNOB) STORM_KNOB_COUNT };
#undef NAME_KNOB

struct storm_case {
	uint64_t seed;
	struct {
		uint32_t low, high; /* drawn from low to high; held where they are equal */
	} knob[STORM_KNOB_COUNT];
	/* Called before the run, for a mistake to be planted. NULL: none. */
	void (*prepare)(struct coherence *coherence, void *context);
	void *context;
};

/* How a case went. */
enum storm_verdict {
	STORM_HELD,
	STORM_WRONG,    /* a value that no order of the accesses explains */
	STORM_PROTOCOL, /* the rest as enum defect */
	STORM_STALE,
	STORM_COPIES,
	STORM_STUCK,
	STORM_REFUSED /* no such machine, or no memory */
};

struct storm_result {
	enum storm_verdict verdict;
	struct error error; /* what went wrong, where it did not hold */
	uint64_t accesses, events;
	uint64_t cycles;      /* at the end */
	uint64_t fingerprint; /* of all times, counts and values */
	struct visits visits;
};

/* The case of a seed, with every knob free. */
struct storm_case storm_case(uint64_t seed);

/* "threads=7" holds a knob, "threads=2..8" draws it from fewer values. False with *error set where
 * there is no such knob or value. */
bool storm_hold(struct storm_case *storm, const char *setting, struct error *error);

/* What the knob is in this case. */
uint32_t storm_knob(const struct storm_case *storm, enum storm_knob knob);

/* Runs it. True if it held; *result says what happened either way. */
bool storm_run(const struct storm_case *storm, struct storm_result *result);

/* Looks for a simpler case that fails in the same way: fewer accesses, threads and lines, then a
 * simpler machine. Runs at most `attempts` cases; holds the knobs of *storm to the simplest that was
 * found and leaves its result. Returns how many were run. */
uint32_t storm_shrink(struct storm_case *storm, struct storm_result *result, uint32_t attempts);

/* The command that runs exactly this case: "hitm check --storm SEED KNOB=VALUE ...", with the knobs
 * that are not free. Returns what snprintf returns. */
int storm_command(const struct storm_case *storm, char *text, size_t size);

#endif
