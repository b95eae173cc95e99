/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine: sockets, cores and hardware threads over one coherence system, and the loop that runs
 * it. */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include "machine/thread.h"
#include <setjmp.h>

enum { MACHINE_CPUS_MAX = 2048 };

/* All that a simulation takes from a machine file, in cycles. machine/machine_file.h reads it. */
struct machine_config {
	const char *name;
	double clock; /* Hz */
	uint32_t sockets, cores_per_socket, smt;
	uint32_t cores_per_die, cores_per_cluster; /* 0: no such level; see struct topology */
	struct fabric_timing timing;
	struct coherence_config coherence;
	uint64_t locked_rmw;     /* a locked operation on a line that is owned and in the L1 */
	uint64_t locked_cmpxchg; /* the same of a compare-exchange; 0: as locked_rmw */
	uint64_t sibling_delay;  /* more, where another thread of the core did the last one on it */
	uint64_t fence;
	uint64_t store_forward; /* a load that the store buffer serves */
	uint32_t store_buffer;  /* entries, at most STORES_MAX */
	bool merge_stores; /* a store to the place of the youngest one that waits takes no entry */
	uint32_t loads_in_flight; /* lines, at most GROUP_MAX */
	double smt_slowdown; /* factor on WORK of the threads of a core that has more than one */
	bool far_adds;       /* with far atomics: only additions that return nothing are */
	bool free_atomics;   /* counterfactual: a locked operation takes no longer than a store */
	bool run_ahead;      /* false: every access is an event; results are the same */
};

struct machine {
	struct machine_config config;
	struct coherence *coherence;
	struct meter meter;
	struct thread **threads;
	uint32_t thread_count;
	struct thread **on_core; /* first thread of each core; others through sibling */
	uint32_t running;        /* threads whose bodies have not returned */
	uint64_t patience;       /* cycles after which a wait is a defect */
	struct thread *ready, *replays;
	struct thread *current; /* whose body runs; NULL in the handling of events */
	jmp_buf *way_out;       /* of a run that has no memory to go on with; NULL outside one */
	bool stop;              /* set by the meter: enough has been seen */
};

/* Where the cores of a machine of this configuration are. */
static inline struct topology machine_topology(const struct machine_config *config)
{
	return (struct topology){ config->sockets, config->cores_per_socket, config->cores_per_die,
				  config->cores_per_cluster };
}

/* A machine without threads. NULL with *error set where the configuration is at odds with itself.
 */
struct machine *machine_new(const struct machine_config *config, struct error *error);
void machine_free(struct machine *machine);

/* Adds a thread on a cpu (socket-major: cpu = core + k * cores for the k-th thread of a core). Its
 * body starts at cycle 0 when the machine runs. At most one thread a cpu. NULL with *error set. */
struct thread *machine_thread(struct machine *machine, uint32_t cpu,
			      void (*body)(struct thread *, void *), void *argument,
			      struct error *error);

/* Runs until every thread's body has returned, or the meter says stop, or a defect is found (false,
 * *error set). A defect, too, is a request that waits for so long that it can have no end, or one
 * that waits when nothing is under way. */
bool machine_run(struct machine *machine, struct error *error);

/* After every body has returned: lets all that is under way arrive. False with *error set where
 * something then still waits. */
bool machine_rest(struct machine *machine, struct error *error);

#endif
