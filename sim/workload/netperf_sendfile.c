/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models/netperf.c set up: a chain of cgroups, one per-CPU area a cpu, pairs of threads with their
 * sockets. */
#include "models/netperf.h"
#include "workload/workload.h"
#include <math.h>
#include <stdio.h>

enum { PAGE_BYTES = 4096, LEVELS_MAX = 64, UNLIMITED_SHIFT = 40 };

struct settings {
	uint32_t pairs, levels, batch, window, sends_per_buffer;
	int propagate, placement;
	bool socket_pressure_walk;
	struct duration work;
	double receive_share, jitter, defer_receive, defer_ack, truesize_scale;
	struct {
		uint32_t level;
		uint64_t min, low;
	} protect;
	const char *model;
};

#define PLACE_OF(member) offsetof(struct settings, member)

static const char *const propagate_choices[] = { "always", "on_change", "never", NULL };

static const struct key protect_keys[] = {
	{ .name = "level",
	  .type = VALUE_COUNT,
	  .offset = PLACE_OF(protect.level) - PLACE_OF(protect),
	  .max = LEVELS_MAX },
	{ .name = "min", .type = VALUE_SIZE, .offset = PLACE_OF(protect.min) - PLACE_OF(protect) },
	{ .name = "low", .type = VALUE_SIZE, .offset = PLACE_OF(protect.low) - PLACE_OF(protect) },
	{ 0 },
};

static const struct key keys[] = {
	{ .name = "model", .type = VALUE_STRING, .offset = PLACE_OF(model) },
	{ .name = "pairs",
	  .type = VALUE_COUNT,
	  .offset = PLACE_OF(pairs),
	  .min = 1,
	  .max = MACHINE_CPUS_MAX / 2 },
	{ .name = "levels", .type = VALUE_COUNT, .offset = PLACE_OF(levels), .max = LEVELS_MAX },
	{ .name = "batch",
	  .type = VALUE_COUNT,
	  .offset = PLACE_OF(batch),
	  .min = 1,
	  .max = 1 << 20 },
	{ .name = "propagate",
	  .type = VALUE_CHOICE,
	  .offset = PLACE_OF(propagate),
	  .choices = propagate_choices },
	{ .name = "socket_pressure_walk",
	  .type = VALUE_BOOL,
	  .offset = PLACE_OF(socket_pressure_walk) },
	{ .name = "protect", .type = VALUE_MAP, .offset = PLACE_OF(protect), .keys = protect_keys },
	{ .name = "work", .type = VALUE_DURATION, .offset = PLACE_OF(work), .max = 1e9 },
	{ .name = "receive_share",
	  .type = VALUE_REAL,
	  .offset = PLACE_OF(receive_share),
	  .max = 10 },
	{ .name = "jitter", .type = VALUE_REAL, .offset = PLACE_OF(jitter), .max = 1 },
	{ .name = "sends_per_buffer",
	  .type = VALUE_COUNT,
	  .offset = PLACE_OF(sends_per_buffer),
	  .min = 1,
	  .max = 64 },
	{ .name = "defer_receive",
	  .type = VALUE_REAL,
	  .offset = PLACE_OF(defer_receive),
	  .max = 1 },
	{ .name = "defer_ack", .type = VALUE_REAL, .offset = PLACE_OF(defer_ack), .max = 1 },
	{ .name = "truesize_scale",
	  .type = VALUE_REAL,
	  .offset = PLACE_OF(truesize_scale),
	  .min = 0.01,
	  .max = 100 },
	{ .name = "window",
	  .type = VALUE_COUNT,
	  .offset = PLACE_OF(window),
	  .min = 1,
	  .max = 1 << 16 },
	{ .name = "placement",
	  .type = VALUE_CHOICE,
	  .offset = PLACE_OF(placement),
	  .choices = placement_names },
	{ 0 },
};

static const struct settings defaults = {
	.pairs = 36,
	.levels = 3,
	.batch = 32,
	.window = 8,
	.sends_per_buffer = 1,
	.propagate = PROPAGATE_ALWAYS,
	.socket_pressure_walk = true,
	.work = { .value = 3776 },
	.receive_share = 1,
	.jitter = 0.2,
	.truesize_scale = 1,
};

/* ---- objects -------------------------------------------------------------------------------- */

#define COUNTER_FIELD(member, field, or_else)                                          \
	{                                                                              \
#member "." #field, or_else, offsetof(struct mem_cgroup, member.field) \
	}
#define COUNTER(member)                                                                         \
	COUNTER_FIELD(member, usage, #member ".count"),                                         \
		COUNTER_FIELD(member, max, #member ".limit"), COUNTER_FIELD(member, min, NULL), \
		COUNTER_FIELD(member, low, NULL), COUNTER_FIELD(member, high, NULL),            \
		COUNTER_FIELD(member, emin, NULL), COUNTER_FIELD(member, min_usage, NULL),      \
		COUNTER_FIELD(member, children_min_usage, NULL),                                \
		COUNTER_FIELD(member, elow, NULL), COUNTER_FIELD(member, low_usage, NULL),      \
		COUNTER_FIELD(member, children_low_usage, NULL),                                \
		COUNTER_FIELD(member, watermark, NULL),                                         \
		COUNTER_FIELD(member, local_watermark, NULL),                                   \
		COUNTER_FIELD(member, failcnt, NULL), COUNTER_FIELD(member, parent, NULL),      \
		COUNTER_FIELD(member, protection_support, NULL),                                \
		COUNTER_FIELD(member, track_failcnt, NULL)

static const struct binding memcg_bindings[] = {
	{ "css.parent", NULL, offsetof(struct mem_cgroup, css.parent) },
	COUNTER(memory),
	COUNTER(swap),
	{ "high", NULL, offsetof(struct mem_cgroup, high) },
	{ "socket_pressure", NULL, offsetof(struct mem_cgroup, socket_pressure) },
	{ "vmstats_percpu", "stat", offsetof(struct mem_cgroup, vmstats_percpu) },
	{ 0 },
};

static const struct binding stock_bindings[] = {
	{ "cached", NULL, offsetof(struct memcg_cpu, cached) },
	{ "nr_pages", NULL, offsetof(struct memcg_cpu, nr_pages) },
	{ 0 },
};

static const struct binding percpu_bindings[] = {
	{ "stat", NULL, offsetof(struct memcg_cpu, stat) },
	{ "stats_updates", NULL, offsetof(struct memcg_cpu, stats_updates) },
	{ "reserve", NULL, offsetof(struct memcg_cpu, reserve) },
	{ 0 },
};

static const struct binding shared_bindings[] = {
	{ "jiffies", NULL, offsetof(struct memcg_shared, jiffies) },
	{ "stats_flush_threshold", NULL, offsetof(struct memcg_shared, stats_flush_threshold) },
	{ "memory_allocated", NULL, offsetof(struct memcg_shared, memory_allocated) },
	{ "online_cpus", NULL, offsetof(struct memcg_shared, online_cpus) },
	{ 0 },
};

static const struct binding socket_bindings[] = {
	{ "forward_alloc", NULL, offsetof(struct socket, forward_alloc) },
	{ 0 },
};

/* Makes a handle of `size` bytes for a new object of a struct. */
static void *make(struct build *build, const char *structure, const char *otherwise,
		  const char *name, uint32_t align, uint32_t socket, const struct binding *bindings,
		  size_t size, struct error *error)
{
	const struct layout *layout = build_layout(build, structure, otherwise, error);
	void *handle = layout ? build_memory(build, size, error) : NULL;
	uint32_t number;

	if (!handle)
		return NULL;
	number = memory_place(&build->memory, layout, name, align, socket, error);
	if (error->text[0] || !memory_bind(&build->memory, number, bindings, handle, error))
		return NULL;
	return handle;
}

static void set_counter(struct build *build, struct page_counter *counter,
			struct page_counter *parent)
{
	const struct place *unlimited[] = { &counter->max, &counter->high };

	for (int k = 0; k < 2; k++)
		if (unlimited[k]->size)
			memory_set(&build->memory, unlimited[k], 1ull << UNLIMITED_SHIFT);
	memory_set(&build->memory, &counter->parent, (uintptr_t)parent);
	if (counter->protection_support.size)
		memory_set(&build->memory, &counter->protection_support, 1);
}

/* Usage far above both protections, and protections in force, as the maintainers' exchange about
 * the published test says. */
static void protect(struct build *build, const struct settings *settings,
		    struct page_counter *counter)
{
	uint64_t min = settings->protect.min / PAGE_BYTES, low = settings->protect.low / PAGE_BYTES;

	counter->has_protection = min || low;
	if (!counter->min.size)
		return;
	memory_set(&build->memory, &counter->min, min);
	memory_set(&build->memory, &counter->low, low);
	memory_set(&build->memory, &counter->min_usage, min);
	memory_set(&build->memory, &counter->low_usage, low);
}

enum { START_PAGES = 1 << 20 };

/* What the settings make the model touch must be in the layout: kernel versions differ. */
static bool has_fields(struct build *build, const struct settings *settings,
		       const struct mem_cgroup *memcg, struct error *error)
{
	bool protects = settings->propagate != PROPAGATE_NEVER;
	const struct page_counter *counter = &memcg->memory;
	const struct {
		const char *name;
		const struct place *place;
		bool needed;
		const char *setting;
	} fields[] = {
		{ "css.parent", &memcg->css.parent, true, "every setting" },
		{ "memory.usage", &counter->usage, true, "every setting" },
		{ "memory.max", &counter->max, true, "every setting" },
		{ "memory.parent", &counter->parent, true, "every setting" },
		{ "memory.watermark", &counter->watermark, true, "every setting" },
		{ "memory.failcnt", &counter->failcnt, true, "every setting" },
		{ "vmstats_percpu", &memcg->vmstats_percpu, true, "every setting" },
		{ "memory.min", &counter->min, protects, "propagate" },
		{ "memory.low", &counter->low, protects, "propagate" },
		{ "memory.min_usage", &counter->min_usage, protects, "propagate" },
		{ "memory.low_usage", &counter->low_usage, protects, "propagate" },
		{ "memory.children_min_usage", &counter->children_min_usage, protects,
		  "propagate" },
		{ "memory.children_low_usage", &counter->children_low_usage, protects,
		  "propagate" },
		{ "socket_pressure", &memcg->socket_pressure, settings->socket_pressure_walk,
		  "socket_pressure_walk" },
		{ "memory.high", &counter->high, memcg->swap.high.size != 0,
		  "swap.high beside it" },
		{ "high", &memcg->high, memcg->swap.high.size == 0, "no swap.high" },
	};

	for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++) {
		const struct node *choice = node_get(build->layouts, "mem_cgroup");

		if (!fields[k].needed || fields[k].place->size)
			continue;
		return choice ? node_error(choice, error, "the layout has no %s, which %s asks for",
					   fields[k].name, fields[k].setting)
			      : error_set(error, "the layout of mem_cgroup has no %s",
					  fields[k].name);
	}
	return true;
}

/* Level 0 is the root, which has counters too. */
static struct mem_cgroup *make_cgroup(struct build *build, const struct settings *settings,
				      uint32_t level, struct mem_cgroup *parent,
				      struct error *error)
{
	char name[16];

	snprintf(name, sizeof(name),
		 level == 0    ? "root"
		 : level <= 26 ? "%c"
			       : "level %u",
		 level <= 26 ? 'A' + level - 1 : level);
	struct mem_cgroup *memcg = make(build, "mem_cgroup", "mem_cgroup-6.0-rc1", name, PAGE_BYTES,
					0, memcg_bindings, sizeof(*memcg), error);
	if (!memcg)
		return NULL;
	if (!has_fields(build, settings, memcg, error))
		return NULL;
	memory_set(&build->memory, &memcg->css.parent, (uintptr_t)parent);
	set_counter(build, &memcg->memory, parent ? &parent->memory : NULL);
	if (memcg->swap.usage.size)
		set_counter(build, &memcg->swap, parent ? &parent->swap : NULL);
	memory_set(&build->memory, &memcg->memory.usage, START_PAGES);
	memory_set(&build->memory, &memcg->memory.watermark, 2 * START_PAGES);
	if (memcg->memory.local_watermark.size)
		memory_set(&build->memory, &memcg->memory.local_watermark, 2 * START_PAGES);
	if (level && level == settings->protect.level)
		protect(build, settings, &memcg->memory);
	return memcg;
}

static struct mem_cgroup *make_hierarchy(struct build *build, const struct settings *settings,
					 struct error *error)
{
	struct mem_cgroup *memcg = NULL;

	for (uint32_t level = 0; level <= settings->levels; level++)
		if (!(memcg = make_cgroup(build, settings, level, memcg, error)))
			return NULL;
	return memcg;
}

static struct memcg_cpu *make_cpu(struct build *build, uint32_t cpu, struct error *error)
{
	uint32_t line = build->machine->config.coherence.line, socket = build_socket(build, cpu);
	struct memcg_cpu *area, *rest;
	char name[24];

	snprintf(name, sizeof(name), "cpu %u", cpu);
	area = make(build, "memcg_stock_pcp", "memcg_stock_pcp-6.0-rc1", name, line, socket,
		    stock_bindings, sizeof(*area), error);
	rest = area ? make(build, "memcg_percpu", "memcg_percpu", name, line, socket,
			   percpu_bindings, sizeof(*rest), error)
		    : NULL;
	if (!rest)
		return NULL;
	area->stat = rest->stat;
	area->stats_updates = rest->stats_updates;
	area->reserve = rest->reserve;
	return area;
}

static bool make_pair(struct build *build, const struct netperf_pair *common, uint32_t k,
		      struct error *error)
{
	uint32_t line = build->machine->config.coherence.line,
		 cpu[2] = { build_cpu(build, 2 * k), build_cpu(build, 2 * k + 1) };
	struct netperf_pair *pair = build_memory(build, sizeof(*pair), error);
	struct random random =
		random_stream(build->machine->config.coherence.seed, "netperf.pair", k);
	char name[2][24];

	if (!pair)
		return false;
	*pair = *common;
	pair->seed = random_next(&random);
	snprintf(name[0], sizeof(name[0]), "sender %u", k);
	snprintf(name[1], sizeof(name[1]), "receiver %u", k);
	pair->send_cpu = make_cpu(build, cpu[0], error);
	pair->receive_cpu = pair->send_cpu ? make_cpu(build, cpu[1], error) : NULL;
	if (!pair->receive_cpu)
		return false;
	pair->send_socket =
		make(build, "socket", "socket-model", name[0], line, build_socket(build, cpu[0]),
		     socket_bindings, sizeof(struct socket), error);
	pair->receive_socket =
		make(build, "socket", "socket-model", name[1], line, build_socket(build, cpu[1]),
		     socket_bindings, sizeof(struct socket), error);
	if (!pair->send_socket || !pair->receive_socket)
		return false;
	pair->sender = machine_thread(build->machine, cpu[0], netperf_send, pair, error);
	pair->receiver =
		pair->sender ? machine_thread(build->machine, cpu[1], netperf_receive, pair, error)
			     : NULL;
	return pair->receiver != NULL;
}

static struct netperf_rules rules_of(const struct settings *settings, double clock)
{
	double work = (double)duration_cycles(settings->work, clock);

	return (struct netperf_rules){
		.memcg = { .counter = { .propagate = (enum propagate)settings->propagate },
			   .batch = settings->batch,
			   .reserve = 256,
			   .socket_pressure_walk = settings->socket_pressure_walk },
		.sends_per_buffer = settings->sends_per_buffer,
		.defer_receive = settings->defer_receive,
		.defer_ack = settings->defer_ack,
		.truesize_scale = settings->truesize_scale,
		.send_work = work,
		.receive_work = work * settings->receive_share,
		.jitter = settings->jitter,
		.window = settings->window,
	};
}

static bool build_netperf(struct build *build, const void *from, struct error *error)
{
	const struct settings *settings = from;
	struct netperf_rules *rules = build_memory(build, sizeof(*rules), error);
	struct netperf_pair common = { .rules = rules };

	if (!rules)
		return false;
	build->placement = (enum placement)settings->placement;
	*rules = rules_of(settings, build->machine->config.clock);
	common.shared = make(build, "memcg_shared", "memcg_shared", "all", 64, 0, shared_bindings,
			     sizeof(*common.shared), error);
	if (!common.shared)
		return false;
	/* Above the number of cpus, as it is but for the moments after a flush: then nobody adds to
	 * it. */
	memory_set(&build->memory, &common.shared->stats_flush_threshold, 2 * MACHINE_CPUS_MAX);
	memory_set(&build->memory, &common.shared->online_cpus, 2 * settings->pairs);
	memory_set(&build->memory, &common.shared->jiffies, 1000);
	if (settings->levels && !(common.memcg = make_hierarchy(build, settings, error)))
		return false;
	for (uint32_t k = 0; k < settings->pairs; k++)
		if (!make_pair(build, &common, k, error))
			return false;
	return true;
}

static const char *const operations[] = { "send", "receive", NULL };

static const char *const structs[] = { "mem_cgroup",   "memcg_stock_pcp", "memcg_percpu",
				       "memcg_shared", "socket",          NULL };

const struct workload_model workload_netperf_sendfile = {
	.name = "netperf_sendfile",
	.about = "pairs of netperf TCP_SENDFILE over loopback in a memory cgroup: socket memory "
		 "charged and given back",
	.keys = keys,
	.size = sizeof(struct settings),
	.defaults = &defaults,
	.operations = operations,
	.structs = structs,
	.build = build_netperf,
};
