/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine files: configs/machines/NAME.yaml.
 *
 *   machine: NAME
 *   about: one line
 *   clock: core clock, e.g. 2.3 GHz; one cycle of the simulation
 *   topology:
 *     sockets: N                1 to 16
 *     cores_per_socket: N       at most 1024 cores in all
 *     cores_per_die: N          default: 0, no dies; a die of a package, or a tile of one
 *     cores_per_cluster: N      default: 0, no clusters; cores that share a last-level cache or an L2:
 *                               a CCX, a DSU. Clusters divide dies, dies divide sockets
 *     smt: N                    threads of a core, 1 to 8; at most 2048 CPUs in all
 *     line: 64 B                32, 64 or 128
 *   core:
 *     l1, l2: {size, ways, latency}   private to a core; size = sets x ways x line, the sets a
 *                                     power of two; the L2 has more ways than the core has threads
 *     locked_rmw: TIME          a locked operation on a line that is owned and in the L1
 *     locked_cmpxchg: TIME      a compare-exchange there; default: locked_rmw
 *     fence: TIME               mfence with an empty store buffer
 *     store_buffer: N           entries, 1 to 128
 *     merge_stores: BOOL        a store to the place of the youngest one that waits takes no entry;
 *                               default: false
 *     store_forward: TIME       a load that the store buffer serves
 *     loads_in_flight: N        lines that a thread may wait for at once, 1 to 24
 *     smt_slowdown: X           factor on WORK of the threads of a core that has several, 1 to 8
 *   llc: {size, ways, latency}  of a socket; latency of a load that hits the one of its own socket
 *   dram: {local: TIME, remote: TIME}
 *   transfer:                   whole transactions, uncontended unless said otherwise
 *     hand_off:                 ownership of a contended line from core to core, with the locked
 *                               operation itself; compare-exchange matrices measure it
 *       clock: FREQUENCY        of the cores measured; default: clock
 *       same_core: TIME         the same from one thread of a core to another; default: locked_rmw
 *       same_cluster, same_die, same_socket, cross_socket: {min: TIME, median: TIME, max: TIME,
 *                               home_away: TIME}
 *                               over pairs of cores whose nearest common level that is; min and
 *                               max default to the median, and the median stands for the mean (the
 *                               two differ by 0.3 ns at most in the matrices cited). home_away: the
 *                               median where the line's home is in the socket of neither; default:
 *                               no more than elsewhere
 *     dirty:                    a load of a line that is dirty in another core
 *       same_cluster, same_die, same_socket: TIME
 *       cross_socket: {home_at_owner: TIME, home_at_requester: TIME}
 *     clean: {same_cluster: TIME, same_die: TIME, same_socket: TIME, cross_socket: TIME}
 *                               a load of a line that others share, the nearest of them there
 *     upgrade: the same keys    from shared to owned, with one sharer
 *     invalidate_serial: TIME   more for each further sharer
 *     home_occupancy: TIME      the home of a line is busy for so long with each answer
 *     far_occupancy: TIME       and with an operation that it does itself (atomics: far); default:
 *                               home_occupancy
 *     retain: TIME              a core keeps a line that others wait for so long once the data have
 *                               come, and longer until the locked operation under way is done: it
 *                               does several a visit; default: 0, one
 *     migratory: BOOL           a core that had written a line when it lost it asks to own it even to
 *                               read it, as it would find it dirty elsewhere, and keeps it for a
 *                               locked operation at least; default: false
 *     scale: X                  factor on hand_off, dirty, clean and upgrade; default 1
 *   link: {bandwidth: 34 GB/s}  between two sockets, each way; default: no limit
 *   discipline: random, fifo, socket_batch or biased   who is next among those that wait for a line
 *   batch: N                    of socket_batch: hand-overs in a row within a socket; default 8
 *   bias: X                     of biased, which is random but for the weight of those in the
 *                               cluster of the core last served (the socket, without clusters):
 *                               X against 1; default 1
 *   s_eviction: silent or exact whether the home hears of a shared line that is evicted
 *   home: ahead or blocking     see coherence/protocol.def
 *   protocol: mesi, mesif or moesi    default mesi
 *   atomics: near, far or far_adds    default near. far: a locked operation on a line that the core
 *                               does not own is done at the line's home; far_adds: only an addition
 *                               that returns nothing
 *   sources: {KEY: where the figure was published, ...}
 *   assumed: {KEY: why, ...}
 *   published: [{figure: NAME, threads: N, at: WHICH, value: X, source: TEXT, part: TEXT,
 *                set: {KEY: VALUE}, input: BOOL}, ...]
 *
 * TIME is `50 ns` or `18 cycles` of the core clock. Nothing else has a default but these:
 *   A transaction that is not given takes hand_off - locked_rmw (of a visit) + half an LLC hit: the line's way
 *   from core to core, and the short way to the line's order point and back that a request hides
 *   while it queues. On Skylake-SP it gives 48 - 7.8 + 9.8 = 50 ns for a dirty line, which is what
 *   Intel MLC measures there (49.4 to 49.9 ns, github.com/gjbex/Code-optimization).
 *   A machine of one socket needs no cross_socket and no remote figures.
 *
 * The hand-off is the one figure that mixes clocks: the transfer is uncore time, the locked
 * operation in it core cycles. It is split at hand_off.clock and put together again at `clock`.
 *
 * Every figure must have a line under sources or assumed; the key of a map covers what is in it.
 *
 * Under published stands what was measured on the machine, for `hitm probe` to compare. `input`
 * marks what the file itself was written from: agreement there shows nothing. Where another part of
 * the same die was measured, `part` names it and `set` says in which settings it differs. Of a figure
 * over pairs of cores the median is meant, unless `at` says min, p10, p90 or max. */
#ifndef MACHINE_MACHINE_FILE_H
#define MACHINE_MACHINE_FILE_H

#include "config/schema.h"
#include "machine/machine.h"

/* Fills *config from a machine file, with seed 1, run-ahead on, and no paranoid checks. The name
 * lives as long as the document. False with *error at the place of the mistake. */
bool machine_file_read(const struct node *root, struct machine_config *config, struct error *error);

/* Every setting with its unit, defaults filled in; sources and published figures left out. The
 * caller owns the reference. NULL with *error where machine_file_read would fail. */
json_t *machine_file_json(const struct node *root, struct error *error);

/* Which of all pairs of cores a figure is of. */
enum figure_at { AT_MEDIAN, AT_MIN, AT_P10, AT_P90, AT_MAX };
extern const char *const figure_at_names[]; /* in that order; the last is NULL */

/* A published figure of the machine. */
struct machine_figure {
	const char *figure; /* name of a probe: workload/probe.h */
	uint32_t threads;   /* 0: does not matter */
	int at;             /* enum figure_at */
	const struct node *value;
	const struct node *set; /* a map of dotted keys to other values, or NULL */
	const char *part;       /* what was measured, if another part; or NULL */
	const char *source;
	bool input;
};

/* The first entry under published, the others through next; NULL where there is none. */
static inline const struct node *machine_file_published(const struct node *root)
{
	const struct node *list = node_get(root, "published");

	return list ? list->first : NULL;
}

/* Reads one of them. machine_file_read has done so with all, except that it does not know which
 * figures there are. */
bool machine_file_figure(const struct node *entry, struct machine_figure *figure,
			 struct error *error);

#endif
