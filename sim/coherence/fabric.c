/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coherence/fabric.h"
#include "engine/random.h"
#include <math.h>
#include <stdlib.h>

/* ---- distances ------------------------------------------------------------------------------ */

enum distance topology_distance(const struct topology *topology, uint32_t a, uint32_t b)
{
	if (a / topology->cores_per_socket != b / topology->cores_per_socket)
		return DISTANCE_CROSS;
	if (topology->cores_per_cluster &&
	    a / topology->cores_per_cluster == b / topology->cores_per_cluster)
		return DISTANCE_CLUSTER;
	if (topology->cores_per_die && a / topology->cores_per_die == b / topology->cores_per_die)
		return DISTANCE_DIE;
	return DISTANCE_SOCKET;
}

/* A level has pairs of its own where it holds more cores than the level below. */
bool topology_has(const struct topology *topology, enum distance distance)
{
	uint32_t cluster = topology->cores_per_cluster, die = topology->cores_per_die;
	uint32_t below_die = cluster ? cluster : 1, below_socket = die ? die : below_die;

	switch (distance) {
	case DISTANCE_CLUSTER:
		return cluster > 1;
	case DISTANCE_DIE:
		return die > below_die;
	case DISTANCE_SOCKET:
		return topology->cores_per_socket > below_socket;
	default:
		return topology->sockets > 1;
	}
}

/* ---- how far pairs of one distance lie apart ------------------------------------------------ */

/* Tiles of a mesh, row by row, as near to a square as can be. */
static uint32_t mesh_distance(uint32_t a, uint32_t b, uint32_t side)
{
	uint32_t ax = a % side, ay = a / side, bx = b % side, by = b / side;

	return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

/* Hops between two cores: on the mesh of a socket, or, across sockets, from each to the edge where
 * the link is. */
static uint32_t hops(const struct fabric *fabric, uint32_t a, uint32_t b)
{
	uint32_t n = fabric->topology.cores_per_socket, side = (uint32_t)ceil(sqrt(n));

	if (a / n == b / n)
		return mesh_distance(a % n, b % n, side);
	return mesh_distance(a % n, 0, side) + mesh_distance(b % n, 0, side);
}

enum { HOPS_MAX = 4 * 32 }; /* two ways over a mesh of 1024 tiles */

/* Of the pairs at one distance: how many lie so many hops apart, and the fewest and the most. */
struct hop_counts {
	uint32_t count[HOPS_MAX], least, most;
};

static struct hop_counts count_hops(const struct fabric *fabric, enum distance distance)
{
	struct hop_counts counts = { .least = 0, .most = HOPS_MAX - 1 };

	for (uint32_t a = 0; a < fabric->cores; a++)
		for (uint32_t b = 0; b < fabric->cores; b++)
			if (a != b && fabric_distance(fabric, a, b) == distance)
				counts.count[hops(fabric, a, b)]++;
	while (counts.least < counts.most && !counts.count[counts.least])
		counts.least++;
	while (counts.most > counts.least && !counts.count[counts.most])
		counts.most--;
	return counts;
}

/* Where `h` lies between the fewest and the most hops, bent by a power. */
static double placed(uint32_t h, const struct hop_counts *counts, double power)
{
	return counts->most > counts->least
		       ? pow((double)(h - counts->least) / (counts->most - counts->least), power)
		       : 0;
}

/* The power with which the mean over all pairs is where the mean of the spread is. */
static double bend(const struct hop_counts *counts, double wanted)
{
	double low = 1.0 / 64, high = 64;

	for (int step = 0; step < 60; step++) {
		double power = sqrt(low * high), sum = 0, pairs = 0;

		for (uint32_t h = counts->least; h <= counts->most; h++) {
			sum += counts->count[h] * placed(h, counts, power);
			pairs += counts->count[h];
		}
		if (sum / pairs > wanted)
			low = power;
		else
			high = power;
	}
	return sqrt(low * high);
}

/* Lays the pairs at one distance between low and high by their hops: the nearest at low, the
 * farthest at high, their mean at the mean. */
static void spread_by_hops(struct fabric *fabric, enum distance distance,
			   const struct spread *spread, double cycles_per_ns)
{
	struct hop_counts counts = count_hops(fabric, distance);
	double range = spread->high - spread->low, power;
	uint32_t n = fabric->cores;

	if (counts.most == counts.least)
		return;
	power = bend(&counts, (spread->mean - spread->low) / range);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			double ns = spread->low - spread->mean;

			if (a == b || fabric_distance(fabric, a, b) != distance)
				continue;
			ns += range * placed(hops(fabric, a, b), &counts, power);
			fabric->pairs[(size_t)a * n + b].offset =
				(int32_t)lround(ns * cycles_per_ns);
		}
}

/* What a pair of cores has drawn, -1 to 1, the same both ways. */
static double lot(uint32_t a, uint32_t b)
{
	struct random random = random_stream(a < b ? a : b, "pair", a < b ? b : a);

	return 2 * random_real(&random) - 1;
}

/* Where cores of a die or a cluster lie in it is not known: its pairs lie between low and high by
 * chance, half of them below the mean. */
static void spread_by_lot(struct fabric *fabric, enum distance distance,
			  const struct spread *spread, double cycles_per_ns)
{
	uint32_t n = fabric->cores;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			double drawn = lot(a, b);
			double reach = drawn < 0 ? spread->mean - spread->low
						 : spread->high - spread->mean;

			if (a != b && fabric_distance(fabric, a, b) == distance)
				fabric->pairs[(size_t)a * n + b].offset =
					(int32_t)lround(drawn * reach * cycles_per_ns);
		}
}

static void spread_pairs(struct fabric *fabric, enum distance distance, const struct spread *spread,
			 double cycles_per_ns)
{
	if (spread->high <= spread->low)
		return;
	if (distance == DISTANCE_CLUSTER || distance == DISTANCE_DIE)
		spread_by_lot(fabric, distance, spread, cycles_per_ns);
	else
		spread_by_hops(fabric, distance, spread, cycles_per_ns);
}

static bool make_pairs(struct fabric *fabric, const struct fabric_timing *t)
{
	uint32_t n = fabric->cores;

	fabric->pairs = calloc((size_t)n * n, sizeof(*fabric->pairs));
	if (!fabric->pairs)
		return false;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			fabric->pairs[(size_t)a * n + b].distance =
				(uint8_t)topology_distance(&fabric->topology, a, b);
	for (int d = 0; d < DISTANCES; d++)
		if (topology_has(&fabric->topology, (enum distance)d))
			spread_pairs(fabric, (enum distance)d, &t->hand_off[d],
				     t->scale * t->clock * 1e-9);
	return true;
}

/* ---- legs ----------------------------------------------------------------------------------- */

/* Cycles left of `ns` when `spent` cycles of it are on other legs. */
static uint64_t rest(double ns, double clock, uint64_t spent, const char *what, struct error *error)
{
	double cycles = round(ns * clock * 1e-9) - (double)spent;

	if (cycles >= 1)
		return (uint64_t)cycles;
	error_set(error,
		  "%s: %g ns leave less than a cycle for the answer once the way to the home (%llu "
		  "cycles) is taken off",
		  what, ns, (unsigned long long)spent);
	return 1;
}

/* For how many cycles an owner has a line that others wait for: until the operation that is under
 * way when `retain` ends. */
static uint64_t visit_cycles(const struct fabric_timing *t)
{
	uint64_t operations =
		t->locked_cmpxchg ? (t->retain + t->locked_cmpxchg - 1) / t->locked_cmpxchg : 0;

	return (operations ? operations : 1) * t->locked_cmpxchg;
}

static void derive_distance(struct fabric *fabric, const struct fabric_timing *t, int d,
			    uint64_t leg, struct error *error)
{
	double clock = t->clock, scale = t->scale;
	uint64_t visit = visit_cycles(t);

	for (int home = 0; home < HOME_PLACES; home++) {
		double away = home == HOMED_ELSEWHERE ? t->away[d] : 0;
		double dirty = t->dirty[d][home == HOMED_AT_REQUESTER];

		fabric->own[d][home] =
			rest((t->hand_off[d].mean + away) * scale, clock, visit, "hand_off", error);
		fabric->read[d][home] =
			rest((dirty + away) * scale, clock, 2 * leg, "transfer.dirty", error);
	}
	fabric->clean[d] = rest(t->clean[d] * scale, clock, leg, "transfer.clean", error);
	fabric->share[d] = fabric->clean[d] > leg ? fabric->clean[d] - leg : 1;
	fabric->ack[d] = rest(t->upgrade[d] * scale, clock, 2 * leg, "upgrade", error);
	if (t->hand_off[d].low * scale * clock * 1e-9 < (double)visit + 1)
		error_set(error, "hand_off: its shortest is less than the locked operations that "
				 "it contains");
}

/* Write-backs travel within a socket even where it has a single core. */
static bool matters(const struct fabric *fabric, enum distance distance)
{
	return distance == DISTANCE_SOCKET || topology_has(&fabric->topology, distance);
}

static void derive(struct fabric *fabric, const struct fabric_timing *t, struct error *error)
{
	double clock = t->clock;
	/* Half of an LLC hit is the way to the line's order point and on to a cache; the other half
	 * brings the data. With it, a hand-off of 48 ns on Skylake-SP gives 48 - 7.8 + 9.8 = 50 ns
	 * for an isolated transfer, as MLC measures. */
	uint64_t leg = (uint64_t)fmax(1, round(t->llc * clock * 1e-9 / 4));

	fabric->request = fabric->forward = leg;
	for (int d = 0; d < DISTANCES; d++)
		if (matters(fabric, (enum distance)d))
			derive_distance(fabric, t, d, leg, error);
	fabric->dram[0] = rest(t->dram_local, clock, leg, "dram", error);
	fabric->dram[1] = rest(t->dram_remote, clock, leg, "dram", error);
	fabric->llc = fabric->grant = rest(t->llc, clock, leg, "llc", error);
	fabric->invalidate_serial = (uint64_t)round(t->invalidate_serial * clock * 1e-9);
	fabric->home_occupancy = (uint64_t)round(t->home_occupancy * clock * 1e-9);
	fabric->far_occupancy = (uint64_t)round(t->far_occupancy * clock * 1e-9);
	fabric->retain = t->retain;
	fabric->link_cycles = t->link_bandwidth > 0 ? fabric->line / t->link_bandwidth * clock : 0;
}

static void stretch(struct fabric *fabric, uint64_t leg, int32_t nearest, int32_t farthest)
{
	int64_t least = (int64_t)leg + nearest;
	uint64_t most = leg + (uint64_t)farthest;

	least = least < 1 ? 1 : least;
	if (least < (int64_t)fabric->lookahead)
		fabric->lookahead = (uint64_t)least;
	if (most > fabric->longest)
		fabric->longest = most;
}

/* The least of all legs, for how far a core may run ahead, and the most, for how long anything can
 * take. */
static void find_extremes(struct fabric *fabric)
{
	int32_t nearest[DISTANCES] = { 0 }, farthest[DISTANCES] = { 0 };

	for (size_t k = 0; k < (size_t)fabric->cores * fabric->cores; k++) {
		const struct fabric_pair *pair = &fabric->pairs[k];
		int32_t *low = &nearest[pair->distance], *high = &farthest[pair->distance];

		*low = pair->offset < *low ? pair->offset : *low;
		*high = pair->offset > *high ? pair->offset : *high;
	}
	fabric->lookahead = fabric->longest = fabric->request;
	stretch(fabric, fabric->llc, 0, 0);
	stretch(fabric, fabric->dram[0], 0, 0);
	stretch(fabric, fabric->dram[1], 0, 0);
	for (int d = 0; d < DISTANCES; d++) {
		if (!matters(fabric, (enum distance)d))
			continue;
		stretch(fabric, fabric->clean[d], 0, 0);
		stretch(fabric, fabric->ack[d], nearest[d], farthest[d]);
		for (int home = 0; home < HOME_PLACES; home++) {
			stretch(fabric, fabric->own[d][home], nearest[d], farthest[d]);
			stretch(fabric, fabric->read[d][home], nearest[d], farthest[d]);
		}
	}
}

struct fabric *fabric_new(const struct topology *topology, uint32_t line,
			  const struct fabric_timing *timing, struct error *error)
{
	struct fabric *fabric = calloc(1, sizeof(*fabric));
	uint32_t sockets = topology->sockets;

	if (!fabric) {
		error_set(error, "out of memory");
		return NULL;
	}
	fabric->topology = *topology;
	fabric->cores = sockets * topology->cores_per_socket;
	fabric->line = line;
	derive(fabric, timing, error);
	fabric->link_free = calloc((size_t)sockets * sockets, sizeof(*fabric->link_free));
	if (!make_pairs(fabric, timing) || !fabric->link_free)
		error_set(error, "out of memory");
	if (error->text[0]) {
		fabric_free(fabric);
		return NULL;
	}
	find_extremes(fabric);
	return fabric;
}

void fabric_free(struct fabric *fabric)
{
	if (!fabric)
		return;
	free(fabric->pairs);
	free(fabric->link_free);
	free(fabric);
}

/* ---- answers -------------------------------------------------------------------------------- */

static const struct fabric_pair *pair_of(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	return &fabric->pairs[(size_t)from * fabric->cores + to];
}

/* All answers between two caches share the pair's distance. */
static uint64_t with_offset(uint64_t leg, const struct fabric_pair *pair)
{
	int64_t cycles = (int64_t)leg + pair->offset;

	return cycles < 1 ? 1 : (uint64_t)cycles;
}

static enum home_place home_place(const struct fabric *fabric, uint32_t from, uint32_t to,
				  uint32_t home)
{
	if (home == fabric_socket(fabric, to))
		return HOMED_AT_REQUESTER;
	return home == fabric_socket(fabric, from) ? HOMED_AT_OWNER : HOMED_ELSEWHERE;
}

uint64_t fabric_own(const struct fabric *fabric, uint32_t from, uint32_t to, uint32_t home)
{
	const struct fabric_pair *pair = pair_of(fabric, from, to);

	return with_offset(fabric->own[pair->distance][home_place(fabric, from, to, home)], pair);
}

uint64_t fabric_read(const struct fabric *fabric, uint32_t from, uint32_t to, uint32_t home)
{
	const struct fabric_pair *pair = pair_of(fabric, from, to);

	return with_offset(fabric->read[pair->distance][home_place(fabric, from, to, home)], pair);
}

uint64_t fabric_ack(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	const struct fabric_pair *pair = pair_of(fabric, from, to);

	return with_offset(fabric->ack[pair->distance], pair);
}

/* In a cluster it is the shared cache that keeps the data, wherever the home is. */
uint64_t fabric_write_back(const struct fabric *fabric, uint32_t from, uint32_t home)
{
	if (topology_has(&fabric->topology, DISTANCE_CLUSTER))
		return fabric->read[DISTANCE_CLUSTER][HOMED_AT_OWNER];
	return fabric->read[fabric_socket(fabric, from) != home ? DISTANCE_CROSS : DISTANCE_SOCKET]
			   [HOMED_AT_OWNER];
}

uint64_t fabric_link_wait(struct fabric *fabric, uint32_t from_socket, uint32_t to_socket,
			  uint64_t now)
{
	if (from_socket == to_socket || fabric->link_cycles == 0)
		return 0;
	double *free_at = &fabric->link_free[from_socket * fabric->topology.sockets + to_socket];
	double start = fmax(*free_at, (double)now);

	*free_at = start + fabric->link_cycles;
	return (uint64_t)(start - (double)now);
}
