/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long messages travel.
 *
 * What can be measured on a machine is whole transactions: an LLC hit, a dirty transfer, a
 * hand-off, an upgrade. The legs behind them are derived (see fabric_new): the way to the line's
 * order point and from it to a cache are short and the same for all, and the answer carries the
 * distance between the two caches. A request that waits in a queue hides the short legs, so that
 * the hand-over of a contended line takes the answer alone, as measured (a hand-off costs hardly
 * less than an isolated transfer). */
#ifndef COHERENCE_FABRIC_H
#define COHERENCE_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "config/error.h"

enum { FABRIC_CORES_MAX = 1024, FABRIC_SOCKETS_MAX = 16 };

/* Where cores are. Numbers of cores nest: those of a cluster (cores that share a last-level cache or
 * an L2: a CCX, a DSU), of a die and of a socket lie beside each other. 0: no such level. */
struct topology {
	uint32_t sockets, cores_per_socket, cores_per_die, cores_per_cluster;
};

/* How far two cores are from each other: the nearest level that they share. */
enum distance {
	DISTANCE_CLUSTER,
	DISTANCE_DIE,
	DISTANCE_SOCKET,
	DISTANCE_CROSS, /* nothing: they are in different sockets */
	DISTANCES
};

/* Where a line's home is, as the two cores of a transaction see it. */
enum home_place { HOMED_AT_OWNER, HOMED_AT_REQUESTER, HOMED_ELSEWHERE, HOME_PLACES };

/* A latency between two cores of one kind of distance: the mean over pairs, and how far pairs lie
 * apart. */
struct spread {
	double low, mean, high; /* ns; low = mean = high: no spread */
};

/* Whole transactions as a machine file states them, all in ns and uncontended, except the cycles
 * that say so. Distances that the topology lacks are ignored. */
struct fabric_timing {
	double clock; /* Hz, core */
	double scale; /* factor on transfers, hand-offs and upgrades */
	double llc;   /* load that hits the LLC of its socket */
	double dram_local, dram_remote;
	struct spread hand_off[DISTANCES]; /* owner to owner, with what the owner does meanwhile */
	double away[DISTANCES];            /* more where the line's home is in neither socket */
	double dirty[DISTANCES][2];        /* load of a line dirty elsewhere; [home at requester] */
	double clean[DISTANCES];   /* load of a line that others share (one that is exclusive
				       elsewhere takes `dirty`: nobody knows) */
	double upgrade[DISTANCES]; /* S to M with a sharer */
	double invalidate_serial;  /* more for each further sharer */
	double home_occupancy;     /* a line's home is busy for so long with each answer */
	double far_occupancy;      /* and with an operation that it does itself */
	uint64_t locked_cmpxchg;   /* cycles of a compare-exchange on a line that is owned */
	uint64_t retain; /* cycles for which an owner keeps a line that others wait for, once its
			    data have come; it ends with the operation under way */
	double link_bandwidth; /* bytes a second of the link between sockets, each way; 0: no limit
				*/
};

struct fabric {
	struct topology topology;
	uint32_t cores;
	uint32_t line;    /* bytes */
	uint64_t request; /* cache to home, all but data */
	uint64_t forward; /* home to cache, all but data */
	uint64_t own[DISTANCES][HOME_PLACES], read[DISTANCES][HOME_PLACES],
		ack[DISTANCES];                         /* answers between caches */
	uint64_t clean[DISTANCES], llc, dram[2], grant; /* answers of the home; dram: [remote] */
	uint64_t share[DISTANCES]; /* answer of a forwarder: clean less the way to it */
	uint64_t invalidate_serial, home_occupancy, far_occupancy, retain;
	uint64_t lookahead; /* the least of all legs: nothing reaches a core sooner */
	uint64_t longest;   /* the most of all legs */
	struct fabric_pair {
		int32_t offset;   /* against the mean of the distance, cycles */
		uint8_t distance; /* enum distance */
	} * pairs;                /* [from * cores + to] */
	double link_cycles;       /* that a line occupies a link */
	double *link_free;        /* [from * sockets + to]: when the link is free again */
};

/* Between two different cores. */
enum distance topology_distance(const struct topology *topology, uint32_t a, uint32_t b);

/* Is there a pair of cores at this distance? */
bool topology_has(const struct topology *topology, enum distance distance);

/* Derives the legs. An answer that would take less than a cycle is an error that names the figures
 * at odds. NULL on error. */
struct fabric *fabric_new(const struct topology *topology, uint32_t line,
			  const struct fabric_timing *timing, struct error *error);
void fabric_free(struct fabric *fabric);

static inline uint32_t fabric_socket(const struct fabric *fabric, uint32_t core)
{
	return core / fabric->topology.cores_per_socket;
}

/* The cores that are nearest to a core: its cluster, or its socket where there are no clusters. */
static inline uint32_t fabric_neighbourhood(const struct fabric *fabric, uint32_t core)
{
	uint32_t cluster = fabric->topology.cores_per_cluster;

	return core / (cluster ? cluster : fabric->topology.cores_per_socket);
}

static inline enum distance fabric_distance(const struct fabric *fabric, uint32_t a, uint32_t b)
{
	return (enum distance)fabric->pairs[(size_t)a * fabric->cores + b].distance;
}

/* Cycles of an answer from one cache to another: data with ownership, data to read, an Inv-Ack. The
 * socket of the line's home is `home`. */
uint64_t fabric_own(const struct fabric *fabric, uint32_t from, uint32_t to, uint32_t home);
uint64_t fabric_read(const struct fabric *fabric, uint32_t from, uint32_t to, uint32_t home);
uint64_t fabric_ack(const struct fabric *fabric, uint32_t from, uint32_t to);

/* Cycles of a line's data from a cache to the line's home. */
uint64_t fabric_write_back(const struct fabric *fabric, uint32_t from, uint32_t home);

/* Cycles that a line of data sent at `now` waits for the link between two sockets; books the link.
 */
uint64_t fabric_link_wait(struct fabric *fabric, uint32_t from_socket, uint32_t to_socket,
			  uint64_t now);

#endif
