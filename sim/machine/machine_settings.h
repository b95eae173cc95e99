/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine file as it stands, with defaults by rule: between the files that read it. */
#ifndef MACHINE_MACHINE_SETTINGS_H
#define MACHINE_MACHINE_SETTINGS_H

#include "machine/machine_file.h"

struct cache_settings {
	uint64_t size;
	uint32_t ways;
	struct duration latency;
};

struct core_settings {
	struct cache_settings l1, l2;
	struct duration locked_rmw, locked_cmpxchg, fence, store_forward;
	uint32_t store_buffer, loads_in_flight;
	bool merge_stores;
	double smt_slowdown;
};

struct topology_settings {
	uint32_t sockets, cores_per_socket, cores_per_die, cores_per_cluster, smt;
	int line; /* index into lines */
};

struct range_settings {
	struct duration min, median, max, home_away;
};

struct hand_off_settings {
	double clock;
	struct duration same_core;
	struct range_settings at[DISTANCES];
};

struct by_home_settings {
	struct duration owner, requester;
};

struct dirty_settings {
	struct duration within[DISTANCE_CROSS];
	struct by_home_settings cross;
};

struct distance_settings {
	struct duration at[DISTANCES];
};

struct dram_settings {
	struct duration local, remote;
};

struct transfer_settings {
	struct hand_off_settings hand_off;
	struct dirty_settings dirty;
	struct distance_settings clean, upgrade;
	struct duration invalidate_serial, home_occupancy, far_occupancy, retain;
	bool migratory;
	double scale;
};

struct link_settings {
	const char *bandwidth;
};

struct settings {
	const char *machine, *about;
	double clock;
	struct topology_settings topology;
	struct core_settings core;
	struct cache_settings llc;
	struct dram_settings dram;
	struct transfer_settings transfer;
	struct link_settings link;
	int discipline, protocol, s_eviction, home, atomics;
	uint32_t batch;
	double bias;
	const struct node *sources, *assumed, *published;
};

/* Of `atomics`, in this order. */
enum atomic_choice { CHOICE_NEAR, CHOICE_FAR, CHOICE_FAR_ADDS };

/* Reads a machine file, checks what one key alone cannot show, and fills in what is not given.
 * False with *error at the place of the mistake. */
bool machine_settings_read(const struct node *root, struct settings *settings, struct error *error);

/* All of them as JSON, but for sources and published figures, and for distances that the machine
 * lacks. */
json_t *machine_settings_json(const struct settings *settings);

/* Where the cores are. */
struct topology machine_settings_topology(const struct settings *settings);

/* For how long an owner has a line that others wait for, in ns at that clock: until the operation
 * that is under way when `retain` ends. */
double machine_settings_visit(const struct settings *settings, double clock);

/* What of a hand-off is transfer, in ns: it does not depend on the core clock. */
double machine_settings_moving(const struct settings *settings, struct duration hand_off);

static inline uint32_t line_bytes(const struct settings *settings)
{
	return 32u << settings->topology.line;
}

#endif
