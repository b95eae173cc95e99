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
#include <stdint.h>
#include "config/error.h"

enum { FABRIC_CORES_MAX = 1024, FABRIC_SOCKETS_MAX = 16 };

/* A latency between two cores of one kind of distance: the mean over pairs, and how far pairs lie
 * apart. */
struct spread {
	double low, mean, high; /* ns; low = mean = high: no spread */
};

/* Whole transactions as a machine file states them, all in ns and uncontended, except `cycles`. */
struct fabric_timing {
	double clock; /* Hz, core */
	double scale; /* factor on transfers, hand-offs and upgrades */
	double llc;   /* load that hits the LLC of its socket */
	double dram_local, dram_remote;
	struct spread
		hand_off[2]; /* [0] same socket, [1] across: owner to owner, with the RMW itself */
	double dirty[2][2];  /* load of a line dirty elsewhere; [across][home at requester] */
	double clean[2];     /* load of a line that others share; [across] (one that is exclusive
				elsewhere takes `dirty`: nobody knows) */
	double upgrade[2];   /* S to M with a sharer; [across] */
	double invalidate_serial; /* more for each further sharer */
	double home_occupancy;    /* a line's home is busy for so long with each answer */
	uint64_t locked_rmw;      /* cycles of a locked RMW on a line that is owned */
	double link_bandwidth; /* bytes a second of the link between sockets, each way; 0: no limit
				*/
};

struct fabric {
	uint32_t cores, sockets;
	uint32_t cores_per_socket;
	uint32_t line;                          /* bytes */
	uint64_t request;                       /* cache to home, all but data */
	uint64_t forward;                       /* home to cache, all but data */
	uint64_t own[2], read[2][2], ack[2];    /* answers between caches */
	uint64_t clean[2], llc, dram[2], grant; /* answers of the home */
	uint64_t share[2]; /* answer of a forwarder: clean less the way to it */
	uint64_t invalidate_serial, home_occupancy;
	uint64_t lookahead;     /* the least of all legs: nothing reaches a core sooner */
	uint64_t longest;       /* the most of all legs */
	int32_t *own_offset[2]; /* [across][pair]: distance against the mean, cycles */
	double link_cycles;     /* that a line occupies a link */
	double *link_free;      /* [from * sockets + to]: when the link is free again */
};

/* Derives the legs. An answer that would take less than a cycle is an error that names the figures
 * at odds. NULL on error. */
struct fabric *fabric_new(uint32_t sockets, uint32_t cores_per_socket, uint32_t line,
			  const struct fabric_timing *timing, struct error *error);
void fabric_free(struct fabric *fabric);

static inline uint32_t fabric_socket(const struct fabric *fabric, uint32_t core)
{
	return core / fabric->cores_per_socket;
}

/* Cycles of an answer from one cache to another: data with ownership, data to read, an Inv-Ack. */
uint64_t fabric_own(const struct fabric *fabric, uint32_t from, uint32_t to);
uint64_t fabric_read(const struct fabric *fabric, uint32_t from, uint32_t to, uint32_t home);
uint64_t fabric_ack(const struct fabric *fabric, uint32_t from, uint32_t to);

/* Cycles of a line's data from a cache to the line's home. */
uint64_t fabric_write_back(const struct fabric *fabric, uint32_t from, uint32_t home);

/* Cycles that a line of data sent at `now` waits for the link between two sockets; books the link.
 */
uint64_t fabric_link_wait(struct fabric *fabric, uint32_t from_socket, uint32_t to_socket,
			  uint64_t now);

#endif
