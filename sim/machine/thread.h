/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hardware threads: what the code under study calls, and how x86-TSO makes it wait.
 *
 * A thread has a local time. It runs ahead of the event queue as long as nothing under way can
 * reach its core; then it takes its turn as an event of the queue. Stores go through a FIFO store
 * buffer with forwarding; a locked operation waits until the buffer is empty and older loads are
 * done, and holds the line until it has stored; loads that are read together miss together. */
#ifndef MACHINE_THREAD_H
#define MACHINE_THREAD_H

#include "coherence/coherence.h"
#include "engine/coroutine.h"
#include "machine/place.h"

enum { STORES_MAX = 128 };

enum cycles { CYCLES_WORK, CYCLES_HIT, CYCLES_ATOMIC, CYCLES_IDLE, CYCLES_COUNT };

struct field_counts {
	uint64_t loads, stores, rmws;
};

/* Cycles that a thread waited for a line. */
struct stall {
	uint32_t thread, core;
	struct copy *copy;
	struct origin origin; /* the access that waited */
	uint64_t cycles;      /* in all; they are part of the time that the thread spent */
	uint64_t queued;      /* of these, in queues behind others */
	bool upgrade;         /* a copy to read was there, and others had to give theirs up */
	bool local;           /* the line was here: the wait was for another thread of the core */
	uint64_t until;       /* cycle at which the wait ended */
};

struct thread;

enum access_kind { ACCESS_KIND_LOAD, ACCESS_KIND_STORE, ACCESS_KIND_LOCKED };

/* What the layer above hears from threads. Members may be NULL. */
struct meter {
	void *context;
	void (*stalled)(void *context, struct thread *thread, const struct stall *stall);
	void (*touched)(void *context, uint32_t core, struct copy *copy,
			const struct origin *origin);
	void (*operation)(void *context, struct thread *thread, uint32_t operation, uint64_t begin,
			  uint64_t end);
	void (*finished)(void *context, struct thread *thread); /* its body has returned */
	/* an access of a thread that is heard, which began at `begin`, is done, or, of a store, in the
	 * store buffer */
	void (*accessed)(void *context, struct thread *thread, const struct place *place,
			 enum access_kind kind, uint64_t begin);
};

/* Why a thread does not run. */
enum blocked {
	BLOCKED_NOT,
	BLOCKED_TURN,
	BLOCKED_LOAD,
	BLOCKED_RMW,
	BLOCKED_FULL,
	BLOCKED_DRAIN,
	BLOCKED_GROUP,
	BLOCKED_SIGNAL
};

/* A load of a group, from its issue until it is consumed. */
struct group_load {
	struct access access; /* must be first */
	uint64_t address, value;
	enum {
		LOAD_FREE,
		LOAD_FLYING,
		LOAD_BOUND,
		LOAD_RETIRED,
		LOAD_REPLAY,
		LOAD_LATER,
		LOAD_ORPHAN
	} state;
	bool stale; /* flying, and its data are to be asked for again when they come */
};

struct store {
	uint64_t address, value;
	uint16_t field;
	uint8_t size;
};

struct thread {
	struct machine *machine;
	struct core *core;
	uint32_t number, cpu, source, count;
	uint64_t time;    /* local; at or after the event being run */
	uint64_t last;    /* local time of the last access: the cause of the next */
	uint64_t horizon; /* local time may not reach this without taking a turn */
	enum blocked blocked;
	uint64_t blocked_since;
	bool finished;
	bool heard; /* the meter's `accessed` is to be called */
	double smt; /* factor on WORK: more than 1 where the core has another thread, busy or not */
	uint64_t cycles[CYCLES_COUNT];
	uint64_t wait_cycles; /* all stalls */
	struct field_counts *counts;
	struct random random;
	uint64_t operation_begin[OPERATION_MAX];
	uint64_t settle, settle_time; /* line of the last locked operation, and when it ends */
	uint64_t result;              /* of the access that blocked */
	struct access load, drain;
	struct {
		struct access access;
		enum rmw rmw;
		uint64_t operand, expected;
		uint64_t hold; /* cycles that a locked operation holds its line: the machine's
				  locked_rmw, unless a test says otherwise */
		uint64_t cmpxchg_more; /* that a compare-exchange holds it longer */
		uint64_t held; /* by the one under way: longer after another thread's of the core */
	} locked;
	struct group_load loads[GROUP_MAX]; /* storage */
	uint8_t group[GROUP_MAX];           /* program order: indices into loads */
	uint32_t group_count, group_next;
	struct store stores[STORES_MAX]; /* ring */
	uint32_t store_head, store_count;
	uint64_t signals;
	struct thread *next_ready, *next_replay, *sibling;
	bool replay;
	struct coroutine *coroutine;
	void (*body)(struct thread *self, void *argument);
	void *argument;
};

/* ---- for the code under study, inside a thread ---------------------------------------------- */

uint64_t thread_load(struct thread *self, const struct place *place);
void thread_store(struct thread *self, const struct place *place, uint64_t value);
/* A locked read-modify-write. `operand` is added, stored, or stored if the old value equals
 * `expected`. Returns the old value, in the width of the field. A compare-exchange that fails takes
 * the line all the same. */
uint64_t thread_rmw(struct thread *self, const struct place *place, enum rmw rmw, uint64_t operand,
		    uint64_t expected);
/* mfence: waits until every earlier store is visible. */
void thread_fence(struct thread *self);
/* These places will be read, in this order, before the next locked operation: their misses overlap,
 * as an out-of-order core overlaps loads between two serialising instructions. A hint about time;
 * values are read when the data come, and read again where a later invalidation would show a
 * reordering that TSO forbids. */
void thread_together(struct thread *self, const struct place *const *places, uint32_t count);
/* Computes for so many cycles, more where the core's other threads compute too. */
void thread_work(struct thread *self, double cycles);
/* Marks the begin and the end of an operation (below OPERATION_MAX), for throughput and latency. */
void thread_begin(struct thread *self, uint32_t operation);
void thread_end(struct thread *self, uint32_t operation);
/* Waits until everything before the thread's local time has happened everywhere: for what looks
 * beyond the core. */
void thread_in_order(struct thread *self);
/* The thread's own time, in cycles. */
static inline uint64_t thread_now(const struct thread *self)
{
	return self->time;
}
/* Does nothing until its time is `until`. */
void thread_pace(struct thread *self, uint64_t until);
/* A thread that touches no memory would never let others run, and one that does nothing would never
 * get on: what began at `begin` takes a cycle or more, and waits its turn if nothing in it has. */
void thread_move_on(struct thread *self, uint64_t begin, bool touched);
/* Lets `other` pass one await. It hears of it no sooner than any message could reach it. */
void thread_signal(struct thread *self, struct thread *other);
void thread_await(struct thread *self);

/* ---- for the machine ------------------------------------------------------------------------ */

/* struct client. */
uint64_t thread_perform(void *machine, struct access *access, struct copy *copy, uint64_t now);
void thread_operate(void *machine, struct access *access, struct copy *at_home);
void thread_lost(void *machine, uint32_t core, uint64_t line_address);
/* Runs a thread that is ready, or whose WAKE has come, from the event being handled. */
void thread_run(struct thread *thread);
void thread_wake(struct thread *thread);
/* Asks again for loads whose early values were lost. */
void thread_replay(struct thread *thread);
void thread_signalled(struct thread *thread);
/* Leaves the run from wherever it is, which only returns outside one. `defect` says why. */
void machine_give_up(void *machine);

#endif
