/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine file in the simulator's terms. */
#include "machine/machine_settings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_LIMIT = 32 };

/* Bytes a second; 0 where none is given: no limit. */
static bool bandwidth_read(const struct node *node, double *out, struct error *error)
{
	size_t length = node ? strcspn(node->text, " G") : 0;
	char number[NUMBER_LIMIT];
	struct error ignored = { "" };

	*out = 0;
	if (!node)
		return true;
	if (length < sizeof(number) &&
	    (!strcmp(node->text + length, " GB/s") || !strcmp(node->text + length, "GB/s"))) {
		struct node bare = *node;

		snprintf(number, sizeof(number), "%.*s", (int)length, node->text);
		bare.text = number;
		if (node_real(&bare, 1e-3, 1e6, out, &ignored)) {
			*out *= 1e9;
			return true;
		}
	}
	return node_error(node, error, "'%.60s', expected 0.001 to 1000000 GB/s", node->text);
}

static struct spread spread_of(const struct settings *settings, const struct range_settings *range)
{
	double visit = machine_settings_visit(settings, settings->clock);

	return (struct spread){ .low = machine_settings_moving(settings, range->min) + visit,
				.mean = machine_settings_moving(settings, range->median) + visit,
				.high = machine_settings_moving(settings, range->max) + visit };
}

#define NS(duration) duration_ns(duration, clock)
static void timing_fill_distance(const struct settings *settings, int d,
				 struct fabric_timing *timing)
{
	const struct transfer_settings *transfer = &settings->transfer;
	const struct dirty_settings *dirty = &transfer->dirty;
	const struct range_settings *hand_off = &transfer->hand_off.at[d];
	bool cross = d == DISTANCE_CROSS;
	double clock = settings->clock;

	timing->hand_off[d] = spread_of(settings, hand_off);
	if (!isnan(hand_off->home_away.value))
		timing->away[d] = machine_settings_moving(settings, hand_off->home_away) -
				  machine_settings_moving(settings, hand_off->median);
	timing->dirty[d][0] = NS(cross ? dirty->cross.owner : dirty->within[d]);
	timing->dirty[d][1] = NS(cross ? dirty->cross.requester : dirty->within[d]);
	timing->clean[d] = NS(transfer->clean.at[d]);
	timing->upgrade[d] = NS(transfer->upgrade.at[d]);
}

/* A line taken to be read is kept for an operation on it: that is what it was taken for. */
static uint64_t retain_cycles(const struct settings *settings)
{
	const struct transfer_settings *transfer = &settings->transfer;
	uint64_t retain = duration_cycles(transfer->retain, settings->clock);
	uint64_t operation = duration_cycles(settings->core.locked_cmpxchg, settings->clock);

	return transfer->migratory && retain < operation ? operation : retain;
}

static void timing_fill(const struct settings *settings, struct fabric_timing *timing)
{
	const struct transfer_settings *transfer = &settings->transfer;
	double clock = settings->clock;

	*timing = (struct fabric_timing){
		.clock = clock,
		.scale = transfer->scale,
		.llc = NS(settings->llc.latency),
		.dram_local = NS(settings->dram.local),
		.dram_remote = NS(settings->dram.remote),
		.invalidate_serial = NS(transfer->invalidate_serial),
		.home_occupancy = NS(transfer->home_occupancy),
		.far_occupancy = NS(transfer->far_occupancy),
		.locked_cmpxchg = duration_cycles(settings->core.locked_cmpxchg, clock),
		.retain = retain_cycles(settings),
	};
	for (int d = 0; d < DISTANCES; d++)
		timing_fill_distance(settings, d, timing);
}
#undef NS

static struct cache_geometry geometry_of(const struct settings *settings,
					 const struct cache_settings *cache)
{
	return (struct cache_geometry){
		.sets = (uint32_t)(cache->size / (cache->ways * line_bytes(settings))),
		.ways = cache->ways,
		.latency = duration_cycles(cache->latency, settings->clock),
	};
}

/* The fewest cores that have all the distances. */
static struct topology smallest_like(const struct machine_config *config)
{
	const struct topology full = machine_topology(config);
	struct topology small = { config->sockets > 1 ? 2 : 1, 1, 0, 0 };

	if (topology_has(&full, DISTANCE_CLUSTER))
		small.cores_per_socket = small.cores_per_cluster = 2;
	if (topology_has(&full, DISTANCE_DIE))
		small.cores_per_die = small.cores_per_socket *= 2;
	if (topology_has(&full, DISTANCE_SOCKET))
		small.cores_per_socket *= 2;
	return small;
}

/* Figures at odds with each other show when the fabric derives its legs; its message starts with
 * the name of the figure. */
static bool timing_is_sound(const struct node *root, const struct machine_config *config,
			    struct error *error)
{
	struct error trouble = { "" };
	const struct topology topology = smallest_like(config);
	struct fabric *fabric =
		fabric_new(&topology, config->coherence.line, &config->timing, &trouble);
	char name[NUMBER_LIMIT];
	const struct node *node;

	fabric_free(fabric);
	if (fabric)
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(trouble.text, ":"), trouble.text);
	node = node_at(root, name);
	node = node ? node : node_at(node_get(root, "transfer"), name);
	return node_error(node ? node : node_get(root, "transfer"), error, "%s", trouble.text);
}

/* What an operation takes more, in cycles, on a line that another thread of the core changed. */
static uint64_t sibling_delay(const struct settings *settings)
{
	uint64_t same = duration_cycles(settings->transfer.hand_off.same_core, settings->clock);
	uint64_t alone = duration_cycles(settings->core.locked_rmw, settings->clock);

	return same > alone ? same - alone : 0;
}

bool machine_file_read(const struct node *root, struct machine_config *config, struct error *error)
{
	struct settings settings;

	if (!machine_settings_read(root, &settings, error))
		return false;
	const struct core_settings *core = &settings.core;
	struct cache_geometry llc = geometry_of(&settings, &settings.llc);

	*config = (struct machine_config){
		.name = settings.machine,
		.clock = settings.clock,
		.sockets = settings.topology.sockets,
		.cores_per_socket = settings.topology.cores_per_socket,
		.cores_per_die = settings.topology.cores_per_die,
		.cores_per_cluster = settings.topology.cores_per_cluster,
		.smt = settings.topology.smt,
		.coherence = { .line = line_bytes(&settings),
			       .l1 = geometry_of(&settings, &core->l1),
			       .l2 = geometry_of(&settings, &core->l2),
			       .llc_sets = llc.sets,
			       .llc_ways = llc.ways,
			       .protocol = (enum protocol_kind)settings.protocol,
			       .eviction = (enum s_eviction)settings.s_eviction,
			       .home = (enum home_kind)settings.home,
			       .atomics =
				       settings.atomics == CHOICE_NEAR ? ATOMICS_NEAR : ATOMICS_FAR,
			       .discipline = (enum discipline)settings.discipline,
			       .batch = settings.batch,
			       .bias = settings.bias,
			       .migratory = settings.transfer.migratory,
			       .seed = 1 },
		.locked_rmw = duration_cycles(core->locked_rmw, settings.clock),
		.locked_cmpxchg = duration_cycles(core->locked_cmpxchg, settings.clock),
		.sibling_delay = sibling_delay(&settings),
		.fence = duration_cycles(core->fence, settings.clock),
		.store_forward = duration_cycles(core->store_forward, settings.clock),
		.store_buffer = core->store_buffer,
		.merge_stores = core->merge_stores,
		.loads_in_flight = core->loads_in_flight,
		.smt_slowdown = core->smt_slowdown,
		.far_adds = settings.atomics == CHOICE_FAR_ADDS,
		.run_ahead = true,
	};
	timing_fill(&settings, &config->timing);
	return bandwidth_read(node_at(root, "link.bandwidth"), &config->timing.link_bandwidth,
			      error) &&
	       timing_is_sound(root, config, error);
}

json_t *machine_file_json(const struct node *root, struct error *error)
{
	struct machine_config config;
	struct settings settings;

	if (!machine_file_read(root, &config, error) ||
	    !machine_settings_read(root, &settings, error))
		return NULL;
	return machine_settings_json(&settings);
}
