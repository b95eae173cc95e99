/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine files: what the file says, defaults by rule, checks that one key alone cannot show, and
 * the same in the simulator's terms. */
#include "machine/machine_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_LIMIT = 256, NUMBER_LIMIT = 32 };

/* ---- the file as C -------------------------------------------------------------------------- */

struct cache_settings {
	uint64_t size;
	uint32_t ways;
	struct duration latency;
};

struct core_settings {
	struct cache_settings l1, l2;
	struct duration locked_rmw, fence, store_forward;
	uint32_t store_buffer, loads_in_flight;
	double smt_slowdown;
};

struct topology_settings {
	uint32_t sockets, cores_per_socket, smt;
	int line; /* index into lines */
};

struct range_settings {
	struct duration min, median, max;
};

struct hand_off_settings {
	double clock;
	struct range_settings same, cross;
};

struct by_home_settings {
	struct duration owner, requester;
};

struct dirty_settings {
	struct duration same;
	struct by_home_settings cross;
};

struct distance_settings {
	struct duration same, cross; /* of dram: local, remote */
};

struct transfer_settings {
	struct hand_off_settings hand_off;
	struct dirty_settings dirty;
	struct distance_settings clean, upgrade;
	struct duration invalidate_serial, home_occupancy;
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
	struct distance_settings dram;
	struct transfer_settings transfer;
	struct link_settings link;
	int discipline, protocol, s_eviction, home, atomics;
	uint32_t batch;
	const struct node *sources, *assumed, *published;
};

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
	{ "fence", VALUE_DURATION, AT(core_settings, fence), NEEDED, TIME },
	{ "store_buffer", VALUE_COUNT, AT(core_settings, store_buffer), NEEDED,
	  RANGE(1, STORES_MAX) },
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
	{ "smt", VALUE_COUNT, AT(topology_settings, smt), NEEDED, RANGE(1, 8) },
	{ "line", VALUE_CHOICE, AT(topology_settings, line), NEEDED, .choices = lines },
	{ .name = NULL },
};

static const struct key dram_keys[] = {
	{ "local", VALUE_DURATION, AT(distance_settings, same), NEEDED, TIME },
	{ "remote", VALUE_DURATION, AT(distance_settings, cross), TIME },
	{ .name = NULL },
};

static const struct key range_keys[] = {
	{ "min", VALUE_DURATION, AT(range_settings, min), TIME },
	{ "median", VALUE_DURATION, AT(range_settings, median), NEEDED, TIME },
	{ "max", VALUE_DURATION, AT(range_settings, max), TIME },
	{ .name = NULL },
};

static const struct key hand_off_keys[] = {
	{ "clock", VALUE_FREQUENCY, AT(hand_off_settings, clock), CLOCK },
	{ "same_socket", VALUE_MAP, AT(hand_off_settings, same), NEEDED, .keys = range_keys },
	{ "cross_socket", VALUE_MAP, AT(hand_off_settings, cross), .keys = range_keys },
	{ .name = NULL },
};

static const struct key by_home_keys[] = {
	{ "home_at_owner", VALUE_DURATION, AT(by_home_settings, owner), TIME },
	{ "home_at_requester", VALUE_DURATION, AT(by_home_settings, requester), TIME },
	{ .name = NULL },
};

static const struct key dirty_keys[] = {
	{ "same_socket", VALUE_DURATION, AT(dirty_settings, same), TIME },
	{ "cross_socket", VALUE_MAP, AT(dirty_settings, cross), .keys = by_home_keys },
	{ .name = NULL },
};

static const struct key distance_keys[] = {
	{ "same_socket", VALUE_DURATION, AT(distance_settings, same), TIME },
	{ "cross_socket", VALUE_DURATION, AT(distance_settings, cross), TIME },
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
	{ "scale", VALUE_REAL, AT(transfer_settings, scale), RANGE(0.01, 100) },
	{ .name = NULL },
};

static const struct key link_keys[] = {
	{ "bandwidth", VALUE_STRING, AT(link_settings, bandwidth), NEEDED },
	{ .name = NULL },
};

/* Each in the order of the simulator's enumeration. */
static const char *const disciplines[] = { "random", "fifo", "socket_batch", NULL };

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
	{ "protocol", VALUE_CHOICE, AT(settings, protocol), .choices = protocol_kind_names },
	{ "s_eviction", VALUE_CHOICE, AT(settings, s_eviction), NEEDED, .choices = eviction_names },
	{ "home", VALUE_CHOICE, AT(settings, home), NEEDED, .choices = home_kind_names },
	{ "atomics", VALUE_CHOICE, AT(settings, atomics), .choices = atomics_names },
	{ "sources", VALUE_NODE, AT(settings, sources), NEEDED },
	{ "assumed", VALUE_NODE, AT(settings, assumed), OPTIONAL },
	{ "published", VALUE_NODE, AT(settings, published), OPTIONAL },
	{ .name = NULL },
};

static const struct key figure_keys[] = {
	{ "figure", VALUE_STRING, AT(machine_figure, figure), NEEDED },
	{ "threads", VALUE_COUNT, AT(machine_figure, threads), RANGE(1, MACHINE_CPUS_MAX) },
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

static bool topology_is_sound(const struct node *root, const struct topology_settings *topology,
			      struct error *error)
{
	uint64_t cores = (uint64_t)topology->sockets * topology->cores_per_socket;

	if (cores > FABRIC_CORES_MAX)
		return node_error(node_at(root, "topology.cores_per_socket"), error,
				  "%llu cores in all, expected at most %d",
				  (unsigned long long)cores, FABRIC_CORES_MAX);
	if (cores * topology->smt > MACHINE_CPUS_MAX)
		return node_error(node_at(root, "topology.smt"), error,
				  "%llu CPUs in all, expected at most %d",
				  (unsigned long long)cores * topology->smt, MACHINE_CPUS_MAX);
	return true;
}

/* A latency that must not round to nothing: a loop that spins on it would never end. */
static bool takes_time(const struct node *root, const char *path, struct duration duration,
		       double clock, struct error *error)
{
	return duration_cycles(duration, clock) >= 1 ||
	       node_error(node_at(root, path), error, "less than a cycle, expected one or more");
}

static uint32_t line_bytes(const struct settings *settings)
{
	return 32u << settings->topology.line;
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
	return takes_time(root, "core.locked_rmw", core->locked_rmw, settings->clock, error) &&
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

static bool distances_read(const struct node *root, struct settings *settings, struct error *error)
{
	static const char missing[] = "key '%s' is missing, expected it with several sockets";
	struct hand_off_settings *hand_off = &settings->transfer.hand_off;
	double *clock = &hand_off->clock;
	bool several = settings->topology.sockets > 1;

	if (several && isnan(settings->dram.cross.value))
		return node_error(node_get(root, "dram"), error, missing, "remote");
	if (several && isnan(hand_off->cross.median.value))
		return node_error(node_at(root, "transfer.hand_off"), error, missing,
				  "cross_socket");
	if (isnan(hand_off->cross.median.value))
		hand_off->cross = hand_off->same;
	fill(&settings->dram.cross, settings->dram.same);
	*clock = isnan(*clock) ? settings->clock : *clock;
	return range_read(root, "transfer.hand_off.same_socket", &hand_off->same, *clock, error) &&
	       range_read(root, "transfer.hand_off.cross_socket", &hand_off->cross, *clock, error);
}

/* What of a hand-off is transfer, in ns: it does not depend on the core clock. */
static double moving_ns(const struct settings *settings, struct duration hand_off)
{
	double clock = settings->transfer.hand_off.clock;

	return duration_ns(hand_off, clock) - duration_ns(settings->core.locked_rmw, clock);
}

/* The rule of the header for whole transactions that the file does not give. */
static void fill_transactions(struct settings *settings)
{
	struct transfer_settings *transfer = &settings->transfer;
	double half = duration_ns(settings->llc.latency, settings->clock) / 2;
	struct duration same = { moving_ns(settings, transfer->hand_off.same.median) + half,
				 false };
	struct duration cross = { moving_ns(settings, transfer->hand_off.cross.median) + half,
				  false };

	fill(&transfer->dirty.same, same);
	fill(&transfer->dirty.cross.owner, cross);
	fill(&transfer->dirty.cross.requester, cross);
	fill(&transfer->clean.same, same);
	fill(&transfer->clean.cross, cross);
	fill(&transfer->upgrade.same, same);
	fill(&transfer->upgrade.cross, cross);
}

static bool settings_read(const struct node *root, struct settings *settings, struct error *error)
{
	const struct duration none = { .value = NAN };
	const struct distance_settings absent = { none, none };
	const struct range_settings no_range = { none, none, none };

	*settings = (struct settings){ .dram = absent, .batch = 8 };
	settings->transfer = (struct transfer_settings){ .hand_off = { NAN, no_range, no_range },
							 .dirty = { none, { none, none } },
							 .clean = absent,
							 .upgrade = absent,
							 .scale = 1 };
	if (!schema_read(root, setting_keys, settings, error))
		return false;
	if (!topology_is_sound(root, &settings->topology, error) ||
	    !cache_is_sound(root, "core.l1", true, &settings->core.l1, settings, error) ||
	    !cache_is_sound(root, "core.l2", true, &settings->core.l2, settings, error) ||
	    !cache_is_sound(root, "llc", false, &settings->llc, settings, error) ||
	    !core_is_sound(root, settings, error) || !distances_read(root, settings, error))
		return false;
	fill_transactions(settings);
	return notes_read(root, settings->sources, error) &&
	       notes_read(root, settings->assumed, error) && sourced(root, "", settings, error) &&
	       published_read(settings->published, error);
}

/* ---- in the simulator's terms --------------------------------------------------------------- */

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
	double rmw = duration_ns(settings->core.locked_rmw, settings->clock);

	return (struct spread){ .low = moving_ns(settings, range->min) + rmw,
				.mean = moving_ns(settings, range->median) + rmw,
				.high = moving_ns(settings, range->max) + rmw };
}

#define NS(duration) duration_ns(duration, clock)
static void timing_fill(const struct settings *settings, struct fabric_timing *timing)
{
	const struct transfer_settings *transfer = &settings->transfer;
	double clock = settings->clock;

	*timing = (struct fabric_timing){
		.clock = clock,
		.scale = transfer->scale,
		.llc = NS(settings->llc.latency),
		.dram_local = NS(settings->dram.same),
		.dram_remote = NS(settings->dram.cross),
		.hand_off = { spread_of(settings, &transfer->hand_off.same),
			      spread_of(settings, &transfer->hand_off.cross) },
		.dirty = { { NS(transfer->dirty.same), NS(transfer->dirty.same) },
			   { NS(transfer->dirty.cross.owner),
			     NS(transfer->dirty.cross.requester) } },
		.clean = { NS(transfer->clean.same), NS(transfer->clean.cross) },
		.upgrade = { NS(transfer->upgrade.same), NS(transfer->upgrade.cross) },
		.invalidate_serial = NS(transfer->invalidate_serial),
		.home_occupancy = NS(transfer->home_occupancy),
		.locked_rmw = duration_cycles(settings->core.locked_rmw, clock),
	};
}

static struct cache_geometry geometry_of(const struct settings *settings,
					 const struct cache_settings *cache)
{
	return (struct cache_geometry){
		.sets = (uint32_t)(cache->size / (cache->ways * line_bytes(settings))),
		.ways = cache->ways,
		.latency = duration_cycles(cache->latency, settings->clock),
	};
}

/* Figures at odds with each other show when the fabric derives its legs; its message starts with
 * the name of the figure. */
static bool timing_is_sound(const struct node *root, const struct machine_config *config,
			    struct error *error)
{
	struct error trouble = { "" };
	struct fabric *fabric =
		fabric_new(config->sockets, 1, config->coherence.line, &config->timing, &trouble);
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

bool machine_file_read(const struct node *root, struct machine_config *config, struct error *error)
{
	struct settings settings;

	if (!settings_read(root, &settings, error))
		return false;
	const struct core_settings *core = &settings.core;
	struct cache_geometry llc = geometry_of(&settings, &settings.llc);

	*config = (struct machine_config){
		.name = settings.machine,
		.clock = settings.clock,
		.sockets = settings.topology.sockets,
		.cores_per_socket = settings.topology.cores_per_socket,
		.smt = settings.topology.smt,
		.coherence = { .line = line_bytes(&settings),
			       .l1 = geometry_of(&settings, &core->l1),
			       .l2 = geometry_of(&settings, &core->l2),
			       .llc_sets = llc.sets,
			       .llc_ways = llc.ways,
			       .protocol = (enum protocol_kind)settings.protocol,
			       .eviction = (enum s_eviction)settings.s_eviction,
			       .home = (enum home_kind)settings.home,
			       .atomics = (enum atomics)settings.atomics,
			       .discipline = (enum discipline)settings.discipline,
			       .batch = settings.batch,
			       .seed = 1 },
		.locked_rmw = duration_cycles(core->locked_rmw, settings.clock),
		.fence = duration_cycles(core->fence, settings.clock),
		.store_forward = duration_cycles(core->store_forward, settings.clock),
		.store_buffer = core->store_buffer,
		.loads_in_flight = core->loads_in_flight,
		.smt_slowdown = core->smt_slowdown,
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
	json_t *json;

	if (!machine_file_read(root, &config, error) || !settings_read(root, &settings, error))
		return NULL;
	json = schema_json(setting_keys, &settings);
	json_object_del(json, "sources");
	json_object_del(json, "assumed");
	json_object_del(json, "published");
	return json;
}
