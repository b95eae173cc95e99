/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine files: what the file says, defaults by rule, checks that one key alone cannot show. */
#include "machine/machine_settings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_LIMIT = 256 };

#define AT(type, member) offsetof(struct type, member)
#define NEEDED           .required = true
#define OPTIONAL         .required = false
#define RANGE(low, high) .min = (low), .max = (high)
#define CLOCK            RANGE(1e6, 1e11)
/* A million of either unit is no machine's latency, and leaves run times far within 64 bits. */
#define TIME RANGE(0, 1e6)

static const struct key cache_keys[] = {
	{ "size", VALUE_SIZE, AT(cache_settings, size), NEEDED, RANGE(1, 1 << 30) },
	{ "ways", VALUE_COUNT, AT(cache_settings, ways), NEEDED, RANGE(1, 128) },
	{ "latency", VALUE_DURATION, AT(cache_settings, latency), NEEDED, TIME },
	{ .name = NULL },
};

static const struct key core_keys[] = {
	{ "l1", VALUE_MAP, AT(core_settings, l1), NEEDED, .keys = cache_keys },
	{ "l2", VALUE_MAP, AT(core_settings, l2), NEEDED, .keys = cache_keys },
	{ "locked_rmw", VALUE_DURATION, AT(core_settings, locked_rmw), NEEDED, TIME },
	{ "locked_cmpxchg", VALUE_DURATION, AT(core_settings, locked_cmpxchg), TIME },
	{ "fence", VALUE_DURATION, AT(core_settings, fence), NEEDED, TIME },
	{ "store_buffer", VALUE_COUNT, AT(core_settings, store_buffer), NEEDED,
	  RANGE(1, STORES_MAX) },
	{ "merge_stores", VALUE_BOOL, AT(core_settings, merge_stores), OPTIONAL },
	{ "store_forward", VALUE_DURATION, AT(core_settings, store_forward), NEEDED, TIME },
	{ "loads_in_flight", VALUE_COUNT, AT(core_settings, loads_in_flight), NEEDED,
	  RANGE(1, GROUP_MAX) },
	{ "smt_slowdown", VALUE_REAL, AT(core_settings, smt_slowdown), NEEDED, RANGE(1, 8) },
	{ .name = NULL },
};

/* From 32 bytes on, each twice the one before. */
static const char *const lines[] = { "32 B", "64 B", "128 B", NULL };

static const struct key topology_keys[] = {
	{ "sockets", VALUE_COUNT, AT(topology_settings, sockets), NEEDED,
	  RANGE(1, FABRIC_SOCKETS_MAX) },
	{ "cores_per_socket", VALUE_COUNT, AT(topology_settings, cores_per_socket), NEEDED,
	  RANGE(1, FABRIC_CORES_MAX) },
	{ "cores_per_die", VALUE_COUNT, AT(topology_settings, cores_per_die), OPTIONAL,
	  RANGE(0, FABRIC_CORES_MAX) },
	{ "cores_per_cluster", VALUE_COUNT, AT(topology_settings, cores_per_cluster), OPTIONAL,
	  RANGE(0, FABRIC_CORES_MAX) },
	{ "smt", VALUE_COUNT, AT(topology_settings, smt), NEEDED, RANGE(1, 8) },
	{ "line", VALUE_CHOICE, AT(topology_settings, line), NEEDED, .choices = lines },
	{ .name = NULL },
};

static const struct key dram_keys[] = {
	{ "local", VALUE_DURATION, AT(dram_settings, local), NEEDED, TIME },
	{ "remote", VALUE_DURATION, AT(dram_settings, remote), TIME },
	{ .name = NULL },
};

static const struct key range_keys[] = {
	{ "min", VALUE_DURATION, AT(range_settings, min), TIME },
	{ "median", VALUE_DURATION, AT(range_settings, median), NEEDED, TIME },
	{ "max", VALUE_DURATION, AT(range_settings, max), TIME },
	{ "home_away", VALUE_DURATION, AT(range_settings, home_away), TIME },
	{ .name = NULL },
};

static const struct key hand_off_keys[] = {
	{ "clock", VALUE_FREQUENCY, AT(hand_off_settings, clock), CLOCK },
	{ "same_core", VALUE_DURATION, AT(hand_off_settings, same_core), TIME },
	{ "same_cluster", VALUE_MAP, AT(hand_off_settings, at[DISTANCE_CLUSTER]),
	  .keys = range_keys },
	{ "same_die", VALUE_MAP, AT(hand_off_settings, at[DISTANCE_DIE]), .keys = range_keys },
	{ "same_socket", VALUE_MAP, AT(hand_off_settings, at[DISTANCE_SOCKET]),
	  .keys = range_keys },
	{ "cross_socket", VALUE_MAP, AT(hand_off_settings, at[DISTANCE_CROSS]),
	  .keys = range_keys },
	{ .name = NULL },
};

static const struct key by_home_keys[] = {
	{ "home_at_owner", VALUE_DURATION, AT(by_home_settings, owner), TIME },
	{ "home_at_requester", VALUE_DURATION, AT(by_home_settings, requester), TIME },
	{ .name = NULL },
};

static const struct key dirty_keys[] = {
	{ "same_cluster", VALUE_DURATION, AT(dirty_settings, within[DISTANCE_CLUSTER]), TIME },
	{ "same_die", VALUE_DURATION, AT(dirty_settings, within[DISTANCE_DIE]), TIME },
	{ "same_socket", VALUE_DURATION, AT(dirty_settings, within[DISTANCE_SOCKET]), TIME },
	{ "cross_socket", VALUE_MAP, AT(dirty_settings, cross), .keys = by_home_keys },
	{ .name = NULL },
};

static const struct key distance_keys[] = {
	{ "same_cluster", VALUE_DURATION, AT(distance_settings, at[DISTANCE_CLUSTER]), TIME },
	{ "same_die", VALUE_DURATION, AT(distance_settings, at[DISTANCE_DIE]), TIME },
	{ "same_socket", VALUE_DURATION, AT(distance_settings, at[DISTANCE_SOCKET]), TIME },
	{ "cross_socket", VALUE_DURATION, AT(distance_settings, at[DISTANCE_CROSS]), TIME },
	{ .name = NULL },
};

static const struct key transfer_keys[] = {
	{ "hand_off", VALUE_MAP, AT(transfer_settings, hand_off), NEEDED, .keys = hand_off_keys },
	{ "dirty", VALUE_MAP, AT(transfer_settings, dirty), .keys = dirty_keys },
	{ "clean", VALUE_MAP, AT(transfer_settings, clean), .keys = distance_keys },
	{ "upgrade", VALUE_MAP, AT(transfer_settings, upgrade), .keys = distance_keys },
	{ "invalidate_serial", VALUE_DURATION, AT(transfer_settings, invalidate_serial), NEEDED,
	  TIME },
	{ "home_occupancy", VALUE_DURATION, AT(transfer_settings, home_occupancy), NEEDED, TIME },
	{ "far_occupancy", VALUE_DURATION, AT(transfer_settings, far_occupancy), TIME },
	{ "retain", VALUE_DURATION, AT(transfer_settings, retain), TIME },
	{ "migratory", VALUE_BOOL, AT(transfer_settings, migratory), OPTIONAL },
	{ "scale", VALUE_REAL, AT(transfer_settings, scale), RANGE(0.01, 100) },
	{ .name = NULL },
};

static const struct key link_keys[] = {
	{ "bandwidth", VALUE_STRING, AT(link_settings, bandwidth), NEEDED },
	{ .name = NULL },
};

/* Each in the order of the simulator's enumeration. */
static const char *const disciplines[] = { "random", "fifo", "socket_batch", "biased", NULL };

static const char *const atomic_choices[] = { "near", "far", "far_adds", NULL };

static const struct key setting_keys[] = {
	{ "machine", VALUE_STRING, AT(settings, machine), NEEDED },
	{ "about", VALUE_STRING, AT(settings, about), NEEDED },
	{ "clock", VALUE_FREQUENCY, AT(settings, clock), NEEDED, CLOCK },
	{ "topology", VALUE_MAP, AT(settings, topology), NEEDED, .keys = topology_keys },
	{ "core", VALUE_MAP, AT(settings, core), NEEDED, .keys = core_keys },
	{ "llc", VALUE_MAP, AT(settings, llc), NEEDED, .keys = cache_keys },
	{ "dram", VALUE_MAP, AT(settings, dram), NEEDED, .keys = dram_keys },
	{ "transfer", VALUE_MAP, AT(settings, transfer), NEEDED, .keys = transfer_keys },
	{ "link", VALUE_MAP, AT(settings, link), .keys = link_keys },
	{ "discipline", VALUE_CHOICE, AT(settings, discipline), NEEDED, .choices = disciplines },
	{ "batch", VALUE_COUNT, AT(settings, batch), RANGE(1, 10000) },
	{ "bias", VALUE_REAL, AT(settings, bias), RANGE(0.001, 1e6) },
	{ "protocol", VALUE_CHOICE, AT(settings, protocol), .choices = protocol_kind_names },
	{ "s_eviction", VALUE_CHOICE, AT(settings, s_eviction), NEEDED, .choices = eviction_names },
	{ "home", VALUE_CHOICE, AT(settings, home), NEEDED, .choices = home_kind_names },
	{ "atomics", VALUE_CHOICE, AT(settings, atomics), .choices = atomic_choices },
	{ "sources", VALUE_NODE, AT(settings, sources), NEEDED },
	{ "assumed", VALUE_NODE, AT(settings, assumed), OPTIONAL },
	{ "published", VALUE_NODE, AT(settings, published), OPTIONAL },
	{ .name = NULL },
};

const char *const figure_at_names[] = { "median", "min", "p10", "p90", "max", NULL };

static const struct key figure_keys[] = {
	{ "figure", VALUE_STRING, AT(machine_figure, figure), NEEDED },
	{ "threads", VALUE_COUNT, AT(machine_figure, threads), RANGE(1, MACHINE_CPUS_MAX) },
	{ "at", VALUE_CHOICE, AT(machine_figure, at), .choices = figure_at_names },
	{ "value", VALUE_NODE, AT(machine_figure, value), NEEDED },
	{ "set", VALUE_NODE, AT(machine_figure, set), OPTIONAL },
	{ "part", VALUE_STRING, AT(machine_figure, part), OPTIONAL },
	{ "source", VALUE_STRING, AT(machine_figure, source), NEEDED },
	{ "input", VALUE_BOOL, AT(machine_figure, input), OPTIONAL },
	{ .name = NULL },
};

/* ---- sources -------------------------------------------------------------------------------- */

static bool covered(const struct node *notes, const char *path)
{
	for (const struct node *note = notes ? notes->first : NULL; note; note = note->next) {
		size_t length = strlen(note->key);

		if (!strncmp(note->key, path, length) && (!path[length] || path[length] == '.'))
			return true;
	}
	return false;
}

/* Every scalar below `map` has a source, or is marked as assumed. What an override has put there is
 * the business of whoever overrode it. */
static bool sourced(const struct node *map, const char *prefix, const struct settings *settings,
		    struct error *error)
{
	for (const struct node *child = map->first; child; child = child->next) {
		char path[PATH_LIMIT];

		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", child->key);
		if (!strcmp(path, "machine") || !strcmp(path, "about") ||
		    child == settings->sources || child == settings->assumed ||
		    child == settings->published ||
		    strcmp(child->file, settings->sources->file) != 0)
			continue;
		if (child->kind == NODE_MAP) {
			if (!sourced(child, path, settings, error))
				return false;
		} else if (!covered(settings->sources, path) && !covered(settings->assumed, path)) {
			return node_key_error(child, error,
					      "'%s' has no source, expected one under "
					      "'sources', or a reason under 'assumed'",
					      path);
		}
	}
	return true;
}

static bool notes_read(const struct node *root, const struct node *notes, struct error *error)
{
	if (!notes)
		return true;
	if (notes->kind != NODE_MAP)
		return node_expected(notes, VALUE_MAP, error);
	for (const struct node *note = notes->first; note; note = note->next) {
		const char *text;

		if (!scalar_read(note, &(struct key){ .type = VALUE_STRING }, &text, error))
			return false;
		if (!node_at(root, note->key))
			return node_key_error(note, error,
					      "no such key here, expected one that "
					      "the file sets");
	}
	return true;
}

static bool published_read(const struct node *list, struct error *error)
{
	struct machine_figure figure;

	if (list && list->kind != NODE_LIST)
		return node_error(list, error, "expected a list of {figure: NAME, value: X, ...}");
	for (const struct node *entry = list ? list->first : NULL; entry; entry = entry->next)
		if (!machine_file_figure(entry, &figure, error))
			return false;
	return true;
}

bool machine_file_figure(const struct node *entry, struct machine_figure *figure,
			 struct error *error)
{
	*figure = (struct machine_figure){ 0 };
	if (!schema_read(entry, figure_keys, figure, error))
		return false;
	return !figure->set || figure->set->kind == NODE_MAP ||
	       node_expected(figure->set, VALUE_MAP, error);
}

/* ---- checks and defaults -------------------------------------------------------------------- */

static void fill(struct duration *duration, struct duration by_default)
{
	if (isnan(duration->value))
		*duration = by_default;
}

/* A level holds whole ones of the level below. */
static bool levels_nest(const struct node *root, const char *inner, uint32_t cores, uint32_t outer,
			struct error *error)
{
	const struct node *node = node_at(root, inner);

	return !cores || !outer || outer % cores == 0 ||
	       node_error(node, error, "%u, expected a divisor of the %u cores of the next level",
			  cores, outer);
}

static bool topology_is_sound(const struct node *root, const struct topology_settings *topology,
			      struct error *error)
{
	uint32_t die = topology->cores_per_die, socket = topology->cores_per_socket;
	uint64_t cores = (uint64_t)topology->sockets * topology->cores_per_socket;

	if (cores > FABRIC_CORES_MAX)
		return node_error(node_at(root, "topology.cores_per_socket"), error,
				  "%llu cores in all, expected at most %d",
				  (unsigned long long)cores, FABRIC_CORES_MAX);
	if (cores * topology->smt > MACHINE_CPUS_MAX)
		return node_error(node_at(root, "topology.smt"), error,
				  "%llu CPUs in all, expected at most %d",
				  (unsigned long long)cores * topology->smt, MACHINE_CPUS_MAX);
	return levels_nest(root, "topology.cores_per_die", die, socket, error) &&
	       levels_nest(root, "topology.cores_per_cluster", topology->cores_per_cluster,
			   die ? die : socket, error);
}

/* A latency that must not round to nothing: a loop that spins on it would never end. */
static bool takes_time(const struct node *root, const char *path, struct duration duration,
		       double clock, struct error *error)
{
	return duration_cycles(duration, clock) >= 1 ||
	       node_error(node_at(root, path), error, "less than a cycle, expected one or more");
}

/* A private cache finds its set by a mask, the LLC by division. */
static bool cache_is_sound(const struct node *root, const char *path, bool mask,
			   const struct cache_settings *cache, const struct settings *settings,
			   struct error *error)
{
	uint32_t way = cache->ways * line_bytes(settings);
	uint64_t sets = cache->size / way;
	const struct node *map = node_at(root, path), *size = node_get(map, "size");

	if (cache->size % way)
		return node_error(size, error, "expected a multiple of %u B: %u ways of %u B", way,
				  cache->ways, line_bytes(settings));
	if (mask && (sets & (sets - 1)))
		return node_error(size, error, "%llu sets, expected a power of two",
				  (unsigned long long)sets);
	return takes_time(map, "latency", cache->latency, settings->clock, error);
}

static bool core_is_sound(const struct node *root, const struct settings *settings,
			  struct error *error)
{
	const struct core_settings *core = &settings->core;

	if (core->l1.size > core->l2.size)
		return node_error(node_at(root, "core.l1.size"), error,
				  "more than the L2, expected at most its size");
	if (core->l2.ways <= settings->topology.smt)
		return node_error(node_at(root, "core.l2.ways"), error,
				  "%u ways for %u threads, expected more ways than threads",
				  core->l2.ways, settings->topology.smt);
	if (duration_cycles(core->l1.latency, settings->clock) >
	    duration_cycles(core->l2.latency, settings->clock))
		return node_error(node_at(root, "core.l2.latency"), error,
				  "shorter than the L1's, expected at least that");
	if (duration_cycles(core->locked_cmpxchg, settings->clock) <
	    duration_cycles(core->locked_rmw, settings->clock))
		return node_error(node_at(root, "core.locked_cmpxchg"), error,
				  "shorter than locked_rmw, expected at least that");
	return takes_time(root, "core.locked_rmw", core->locked_rmw, settings->clock, error) &&
	       takes_time(root, "core.locked_cmpxchg", core->locked_cmpxchg, settings->clock,
			  error) &&
	       takes_time(root, "core.store_forward", core->store_forward, settings->clock, error);
}

static bool range_read(const struct node *root, const char *path, struct range_settings *range,
		       double clock, struct error *error)
{
	const struct node *map = node_at(root, path);

	fill(&range->min, range->median);
	fill(&range->max, range->median);
	if (duration_ns(range->min, clock) > duration_ns(range->median, clock))
		return node_error(node_get(map, "min"), error,
				  "more than the median, expected at most that");
	if (duration_ns(range->max, clock) < duration_ns(range->median, clock))
		return node_error(node_get(map, "max"), error,
				  "less than the median, expected at least that");
	return true;
}

/* Each distance under transfer: its key, and what needs it. */
static const struct {
	const char *key, *needed_with;
} distance_table[DISTANCES] = {
	[DISTANCE_CLUSTER] = { "same_cluster", "several cores in a cluster" },
	[DISTANCE_DIE] = { "same_die", "several clusters in a die" },
	[DISTANCE_SOCKET] = { "same_socket", "several dies, clusters or cores in a socket" },
	[DISTANCE_CROSS] = { "cross_socket", "several sockets" },
};

/* A distance that the topology has needs a hand-off. One that it lacks takes the next farther one's,
 * or the next nearer one's where there is none: nothing depends on it. */
static bool hand_offs_read(const struct node *root, const struct topology *topology,
			   struct settings *settings, struct error *error)
{
	struct hand_off_settings *hand_off = &settings->transfer.hand_off;
	const struct node *map = node_at(root, "transfer.hand_off");
	struct range_settings *fallback = NULL;

	for (int d = 0; d < DISTANCES; d++) {
		struct range_settings *range = &hand_off->at[d];
		char path[PATH_LIMIT];

		snprintf(path, sizeof(path), "transfer.hand_off.%s", distance_table[d].key);
		if (isnan(range->median.value)) {
			if (d == DISTANCE_SOCKET ? !fallback && topology->sockets == 1
						 : topology_has(topology, (enum distance)d))
				return node_error(
					map, error, "key '%s' is missing, expected it with %s",
					distance_table[d].key, distance_table[d].needed_with);
		} else if (!range_read(root, path, range, hand_off->clock, error)) {
			return false;
		} else {
			fallback = range;
		}
	}
	for (int d = DISTANCES - 1; d >= 0; d--) {
		struct range_settings *range = &hand_off->at[d];

		if (isnan(range->median.value))
			*range = *fallback;
		fallback = range;
	}
	return true;
}

static bool distances_read(const struct node *root, const struct topology *topology,
			   struct settings *settings, struct error *error)
{
	double *clock = &settings->transfer.hand_off.clock;

	if (topology->sockets > 1 && isnan(settings->dram.remote.value))
		return node_error(node_get(root, "dram"), error,
				  "key 'remote' is missing, expected it with several sockets");
	fill(&settings->dram.remote, settings->dram.local);
	*clock = isnan(*clock) ? settings->clock : *clock;
	return hand_offs_read(root, topology, settings, error);
}

double machine_settings_visit(const struct settings *settings, double clock)
{
	double operation = duration_ns(settings->core.locked_cmpxchg, clock);
	double operations = ceil(duration_ns(settings->transfer.retain, clock) / operation - 1e-9);

	return fmax(1, operations) * operation;
}

double machine_settings_moving(const struct settings *settings, struct duration hand_off)
{
	double clock = settings->transfer.hand_off.clock;

	return duration_ns(hand_off, clock) - machine_settings_visit(settings, clock);
}

/* The rule of the header for whole transactions that the file does not give. */
static void fill_transactions(struct settings *settings)
{
	struct transfer_settings *transfer = &settings->transfer;
	double half = duration_ns(settings->llc.latency, settings->clock) / 2;

	for (int d = 0; d < DISTANCES; d++) {
		struct duration rule = {
			machine_settings_moving(settings, transfer->hand_off.at[d].median) + half,
			false
		};

		if (d == DISTANCE_CROSS) {
			fill(&transfer->dirty.cross.owner, rule);
			fill(&transfer->dirty.cross.requester, rule);
		} else {
			fill(&transfer->dirty.within[d], rule);
		}
		fill(&transfer->clean.at[d], rule);
		fill(&transfer->upgrade.at[d], rule);
	}
	fill(&transfer->far_occupancy, transfer->home_occupancy);
	fill(&transfer->hand_off.same_core, settings->core.locked_rmw);
}

/* Nothing is set that the schema leaves alone where a key is absent. */
static void settings_init(struct settings *settings)
{
	static const struct duration none = { .value = NAN };
	struct transfer_settings *transfer = &settings->transfer;

	*settings = (struct settings){ .dram = { none, none }, .batch = 8, .bias = 1 };
	transfer->scale = 1;
	transfer->retain = (struct duration){ 0, false };
	transfer->far_occupancy = none;
	transfer->hand_off.clock = NAN;
	transfer->hand_off.same_core = none;
	settings->core.locked_cmpxchg = none;
	transfer->dirty.cross = (struct by_home_settings){ none, none };
	for (int d = 0; d < DISTANCES; d++) {
		transfer->hand_off.at[d] = (struct range_settings){ none, none, none, none };
		if (d != DISTANCE_CROSS)
			transfer->dirty.within[d] = none;
		transfer->clean.at[d] = transfer->upgrade.at[d] = none;
	}
}

struct topology machine_settings_topology(const struct settings *settings)
{
	const struct topology_settings *topology = &settings->topology;

	return (struct topology){ topology->sockets, topology->cores_per_socket,
				  topology->cores_per_die, topology->cores_per_cluster };
}

bool machine_settings_read(const struct node *root, struct settings *settings, struct error *error)
{
	struct topology topology;

	settings_init(settings);
	if (!schema_read(root, setting_keys, settings, error))
		return false;
	topology = machine_settings_topology(settings);
	fill(&settings->core.locked_cmpxchg, settings->core.locked_rmw);
	if (!topology_is_sound(root, &settings->topology, error) ||
	    !cache_is_sound(root, "core.l1", true, &settings->core.l1, settings, error) ||
	    !cache_is_sound(root, "core.l2", true, &settings->core.l2, settings, error) ||
	    !cache_is_sound(root, "llc", false, &settings->llc, settings, error) ||
	    !core_is_sound(root, settings, error) ||
	    !distances_read(root, &topology, settings, error))
		return false;
	fill_transactions(settings);
	return notes_read(root, settings->sources, error) &&
	       notes_read(root, settings->assumed, error) && sourced(root, "", settings, error) &&
	       published_read(settings->published, error);
}

/* ---- as JSON -------------------------------------------------------------------------------- */

/* Forgets what stands for distances that the machine lacks. */
static void blank_distances(struct settings *settings)
{
	const struct topology topology = machine_settings_topology(settings);
	struct transfer_settings *transfer = &settings->transfer;
	const struct duration none = { NAN, false };

	for (int d = 0; d < DISTANCES; d++) {
		if (topology_has(&topology, (enum distance)d))
			continue;
		transfer->hand_off.at[d] = (struct range_settings){ none, none, none, none };
		transfer->clean.at[d] = transfer->upgrade.at[d] = none;
		if (d == DISTANCE_CROSS)
			transfer->dirty.cross = (struct by_home_settings){ none, none };
		else
			transfer->dirty.within[d] = none;
	}
}

json_t *machine_settings_json(const struct settings *settings)
{
	struct settings shown = *settings;
	json_t *json;

	blank_distances(&shown);
	json = schema_json(setting_keys, &shown);
	json_object_del(json, "sources");
	json_object_del(json, "assumed");
	json_object_del(json, "published");
	return json;
}
