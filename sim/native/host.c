/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* sets of CPUs */
#include "native/host.h"
#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MOST = 1 << 16, LINE_USUAL = 64 };

/* ---- topology ------------------------------------------------------------------------------- */

/* The CPUs that the scheduler lets this thread run on. NULL where it does not tell; the caller
 * frees it with CPU_FREE. */
static cpu_set_t *affinity(size_t *size)
{
	for (int cpus = 1024; cpus <= CPUS_MOST; cpus *= 2) {
		cpu_set_t *set = CPU_ALLOC((size_t)cpus);

		*size = CPU_ALLOC_SIZE((size_t)cpus);
		if (!set)
			return NULL;
		CPU_ZERO_S(*size, set);
		if (sched_getaffinity(0, *size, set) == 0)
			return set;
		CPU_FREE(set);
		if (errno != EINVAL)
			return NULL;
	}
	return NULL;
}

/* The cache that the most cores share: the outermost one. */
static hwloc_obj_t last_cache(hwloc_obj_t cpu)
{
	hwloc_obj_t last = NULL;

	for (hwloc_obj_t at = cpu; at; at = at->parent)
		if (hwloc_obj_type_is_dcache(at->type))
			last = at;
	return last;
}

static hwloc_obj_t level_or(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t cpu,
			    hwloc_obj_t otherwise)
{
	hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, cpu);

	return found ? found : otherwise;
}

/* What a CPU lies in, to be told from what its neighbour lies in. */
struct seat {
	hwloc_obj_t core, cluster, die, socket;
};

static struct seat seat_of(hwloc_topology_t topology, hwloc_obj_t cpu)
{
	hwloc_obj_t socket = level_or(topology, HWLOC_OBJ_PACKAGE, cpu,
				      hwloc_get_root_obj(topology)),
		    die = level_or(topology, HWLOC_OBJ_DIE, cpu, socket),
		    core = level_or(topology, HWLOC_OBJ_CORE, cpu, cpu), cache = last_cache(cpu);
	bool shared =
		cache && hwloc_bitmap_weight(cache->cpuset) > hwloc_bitmap_weight(core->cpuset);

	return (struct seat){ core, shared ? cache : die, die, socket };
}

/* Adds a CPU after those there are, in the order of the topology. */
static void add_cpu(struct host *host, hwloc_obj_t cpu, struct seat seat, struct seat before)
{
	struct host_cpu *own = &host->cpus[host->count];
	int node = hwloc_bitmap_first(cpu->nodeset);

	host->cores += !host->count || seat.core != before.core;
	host->clusters += !host->count || seat.cluster != before.cluster;
	host->dies += !host->count || seat.die != before.die;
	host->sockets += !host->count || seat.socket != before.socket;
	*own = (struct host_cpu){ .os = cpu->os_index,
				  .core = host->cores - 1,
				  .cluster = host->clusters - 1,
				  .die = host->dies - 1,
				  .socket = host->sockets - 1,
				  .node = node < 0 ? 0 : (uint32_t)node };
	if (host->count && own[-1].core == own->core)
		own->smt = own[-1].smt + 1;
	host->count++;
}

static struct host_cache cache_of(hwloc_obj_t cache)
{
	const struct hwloc_cache_attr_s *attributes = &cache->attr->cache;

	return (struct host_cache){
		.size = attributes->size,
		.ways = attributes->associativity > 0 ? (uint32_t)attributes->associativity : 0,
	};
}

static void add_caches(struct host *host, hwloc_obj_t cpu)
{
	for (hwloc_obj_t at = cpu; at; at = at->parent) {
		if (!hwloc_obj_type_is_dcache(at->type))
			continue;
		if (at->type == HWLOC_OBJ_L1CACHE)
			host->l1 = cache_of(at);
		else if (at->type == HWLOC_OBJ_L2CACHE)
			host->l2 = cache_of(at);
		else
			host->llc = cache_of(at);
		if (at->attr->cache.linesize)
			host->line = at->attr->cache.linesize;
	}
}

static void fill_names(struct host *host, hwloc_topology_t topology)
{
	hwloc_obj_t holder =
		topology ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0) : NULL;
	const char *model;

	if (topology && !holder)
		holder = hwloc_get_root_obj(topology);
	model = holder ? hwloc_obj_get_info_by_name(holder, "CPUModel") : NULL;
	snprintf(host->model, sizeof(host->model), "%s", model ? model : "");
	if (gethostname(host->name, sizeof(host->name) - 1) || !host->name[0])
		snprintf(host->name, sizeof(host->name), "host");
}

static struct host *host_room(uint32_t cpus, struct error *error)
{
	struct host *host = calloc(1, sizeof(*host));

	if (host) {
		host->line = LINE_USUAL;
		host->cpus = calloc(cpus ? cpus : 1, sizeof(*host->cpus));
	}
	if (host && host->cpus)
		return host;
	host_free(host);
	error_set(error, "out of memory");
	return NULL;
}

/* `allowed` of `size` bytes holds the CPUs that are usable; NULL: all are. */
static struct host *host_within(hwloc_topology_t topology, const cpu_set_t *allowed, size_t size,
				struct error *error)
{
	int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	struct host *host = host_room(count > 0 ? (uint32_t)count : 0, error);
	struct seat before = { 0 };

	for (int k = 0; host && k < count; k++) {
		hwloc_obj_t cpu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)k);
		const struct seat seat = seat_of(topology, cpu);

		if (allowed && !CPU_ISSET_S(cpu->os_index, size, allowed))
			continue;
		if (!host->count)
			add_caches(host, cpu);
		add_cpu(host, cpu, seat, before);
		before = seat;
	}
	if (host) {
		host->known = true;
		fill_names(host, topology);
	}
	return host;
}

/* Without any topology: each CPU is a core, and all are in one socket. */
static struct host *host_unknown(const cpu_set_t *allowed, size_t size, struct error *error)
{
	uint32_t most = allowed ? (uint32_t)size * 8 : 1;
	struct host *host = host_room(most, error);

	if (!host)
		return NULL;
	for (uint32_t os = 0; os < most; os++)
		if (!allowed || CPU_ISSET_S(os, size, allowed)) {
			host->cpus[host->count] =
				(struct host_cpu){ .os = os, .core = host->count };
			host->count++;
		}
	host->cores = host->count;
	host->clusters = host->dies = host->sockets = 1;
	fill_names(host, NULL);
	return host;
}

struct host *host_of_topology(struct hwloc_topology *topology, struct error *error)
{
	return host_within(topology, NULL, 0, error);
}

struct host *host_new(struct error *error)
{
	hwloc_topology_t topology = NULL;
	struct host *host = NULL;
	size_t size = 0;
	cpu_set_t *allowed = affinity(&size);
	bool there = hwloc_topology_init(&topology) == 0, loaded = false;

	if (there)
		loaded = hwloc_topology_set_all_types_filter(topology,
							     HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
			 hwloc_topology_load(topology) == 0;
	/* A topology from a file says nothing of where this process may run. */
	if (loaded && !hwloc_topology_is_thissystem(topology))
		host = host_within(topology, NULL, 0, error);
	else if (loaded)
		host = host_within(topology, allowed, size, error);
	if (!host || !host->count) {
		host_free(host);
		host = host_unknown(allowed, size, error);
	}
	if (there)
		hwloc_topology_destroy(topology);
	if (allowed)
		CPU_FREE(allowed);
	return host;
}

void host_free(struct host *host)
{
	if (!host)
		return;
	free(host->cpus);
	free(host);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Where a CPU stands in an order: by `first`, then by `second`, then by the index. */
struct rank {
	uint32_t first, second, index;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* The index of a core within its socket. */
static uint32_t core_of_socket(const struct host *host, uint32_t index)
{
	uint32_t first = index;

	while (first && host->cpus[first - 1].socket == host->cpus[index].socket)
		first--;
	return host->cpus[index].core - host->cpus[first].core;
}

static bool rank_all(const struct host *host, bool spread, uint32_t *order, struct error *error)
{
	struct rank *ranks = calloc(host->count, sizeof(*ranks));

	if (!ranks)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < host->count; k++)
		ranks[k] =
			(struct rank){ host->cpus[k].smt, spread ? core_of_socket(host, k) : 0, k };
	qsort(ranks, host->count, sizeof(*ranks), by_rank);
	for (uint32_t k = 0; k < host->count; k++)
		order[k] = ranks[k].index;
	free(ranks);
	return true;
}

/* The usable CPUs as a list such as 0-3,8; what does not fit ends in dots. */
static void usable_text(const struct host *host, char *text, size_t size)
{
	size_t used = 0, left = host->count;

	for (uint32_t os = 0; left && os < CPUS_MOST && used + 16 < size; os++) {
		uint32_t last = os, found = 0;

		for (uint32_t k = 0; k < host->count; k++)
			found |= host->cpus[k].os == os;
		if (!found)
			continue;
		for (bool more = true; more; last += more) {
			more = false;
			for (uint32_t k = 0; k < host->count; k++)
				more |= host->cpus[k].os == last + 1;
		}
		used += (size_t)snprintf(text + used, size - used, last > os ? "%s%u-%u" : "%s%u",
					 used ? "," : "", os, last);
		left -= last - os + 1;
		os = last;
	}
	if (left)
		snprintf(text + used, size - used, ",...");
}

static bool add_by_number(const struct host *host, uint32_t os, uint32_t *order, uint32_t *count,
			  struct error *error)
{
	char usable[100];

	for (uint32_t k = 0; k < *count; k++)
		if (host->cpus[order[k]].os == os)
			return error_set(error, "placement: CPU %u twice, expected each once", os);
	for (uint32_t k = 0; k < host->count; k++)
		if (host->cpus[k].os == os) {
			order[(*count)++] = k;
			return true;
		}
	usable_text(host, usable, sizeof(usable));
	return error_set(error, "placement: CPU %u, expected one that may be used here: %s", os,
			 usable);
}

/* A number of at most five digits. */
static bool read_number(const char **text, uint32_t *number)
{
	const char *start = *text;

	for (*number = 0; isdigit((unsigned char)**text) && *text - start < 5; (*text)++)
		*number = *number * 10 + (uint32_t)(**text - '0');
	return *text > start;
}

static bool read_list(const struct host *host, const char *list, uint32_t *order, uint32_t *count,
		      struct error *error)
{
	const char *at = list;

	for (bool more = true; more; at++) {
		uint32_t from, to;
		bool read = read_number(&at, &from);

		to = from;
		if (read && *at == '-') {
			at++;
			read = read_number(&at, &to) && from <= to;
		}
		more = *at == ',';
		if (!read || (*at && !more))
			return error_set(error,
					 "placement '%.60s', expected spread, compact or a list of "
					 "CPUs such as 0,2,4-7",
					 list);
		for (uint32_t os = from; os <= to; os++)
			if (!add_by_number(host, os, order, count, error))
				return false;
	}
	return true;
}

uint32_t *host_order(const struct host *host, const char *placement, uint32_t *count,
		     struct error *error)
{
	uint32_t *order = calloc(host->count, sizeof(*order));
	bool spread = !strcmp(placement, "spread"), done = false;

	*count = 0;
	if (!order) {
		error_set(error, "out of memory");
	} else if (spread || !strcmp(placement, "compact")) {
		*count = host->count;
		done = rank_all(host, spread, order, error);
	} else {
		done = read_list(host, placement, order, count, error);
	}
	if (done)
		return order;
	free(order);
	return NULL;
}

/* ---- binding -------------------------------------------------------------------------------- */

/* Binds to the CPUs from `first` of `count`. */
static bool bind_to(const struct host_cpu *first, uint32_t count, struct error *error)
{
	uint32_t most = 0;
	cpu_set_t *set;
	size_t size;
	int failed;

	for (uint32_t k = 0; k < count; k++)
		most = first[k].os > most ? first[k].os : most;
	size = CPU_ALLOC_SIZE(most + 1);
	set = CPU_ALLOC(most + 1);
	if (!set)
		return error_set(error, "out of memory");
	CPU_ZERO_S(size, set);
	for (uint32_t k = 0; k < count; k++)
		CPU_SET_S(first[k].os, size, set);
	failed = sched_setaffinity(0, size, set) ? errno : 0;
	CPU_FREE(set);
	return !failed || error_set(error, "cannot run on CPU %u: %s", first->os, strerror(failed));
}

bool host_pin(const struct host_cpu *cpu, struct error *error)
{
	return bind_to(cpu, 1, error);
}

bool host_unpin(const struct host *host, struct error *error)
{
	return bind_to(host->cpus, host->count, error);
}
