/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coherence/fabric.h"
#include <math.h>
#include <stdlib.h>

/* Tiles of a mesh, row by row, as near to a square as can be. */
static uint32_t mesh_distance(uint32_t a, uint32_t b, uint32_t side)
{
	uint32_t ax = a % side, ay = a / side, bx = b % side, by = b / side;

	return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

/* Hops between two cores: on the mesh of a socket, or, across sockets, from each to the edge where
 * the link is. */
static uint32_t hops(const struct fabric *fabric, uint32_t a, uint32_t b, uint32_t side)
{
	uint32_t n = fabric->cores_per_socket;

	if (a / n == b / n)
		return mesh_distance(a % n, b % n, side);
	return mesh_distance(a % n, 0, side) + mesh_distance(b % n, 0, side);
}

enum { HOPS_MAX = 4 * 32 }; /* two ways over a mesh of 1024 tiles */

/* How many pairs lie so many hops apart. */
static void count_hops(const struct fabric *fabric, bool across, uint32_t side,
		       uint32_t count[HOPS_MAX])
{
	for (uint32_t a = 0; a < fabric->cores; a++)
		for (uint32_t b = 0; b < fabric->cores; b++)
			if (a != b &&
			    across == (fabric_socket(fabric, a) != fabric_socket(fabric, b)))
				count[hops(fabric, a, b, side)]++;
}

/* Where `h` lies between the fewest and the most hops, bent by a power. */
static double placed(uint32_t h, uint32_t least, uint32_t most, double power)
{
	return most > least ? pow((double)(h - least) / (most - least), power) : 0;
}

/* The power with which the mean over all pairs is where the mean of the spread is. */
static double bend(const uint32_t count[HOPS_MAX], uint32_t least, uint32_t most, double wanted)
{
	double low = 1.0 / 64, high = 64;

	for (int step = 0; step < 60; step++) {
		double power = sqrt(low * high), sum = 0, pairs = 0;

		for (uint32_t h = least; h <= most; h++) {
			sum += count[h] * placed(h, least, most, power);
			pairs += count[h];
		}
		if (sum / pairs > wanted)
			low = power;
		else
			high = power;
	}
	return sqrt(low * high);
}

/* Lays pairs between low and high by their hops: the nearest at low, the farthest at high, their
 * mean at the mean. */
static int32_t *spread_pairs(const struct fabric *fabric, bool across, const struct spread *spread,
			     double scale, double clock)
{
	uint32_t n = fabric->cores, side = (uint32_t)ceil(sqrt(fabric->cores_per_socket));
	uint32_t count[HOPS_MAX] = { 0 }, least = 0, most = HOPS_MAX - 1;
	int32_t *offset = calloc((size_t)n * n, sizeof(*offset));
	double range = spread->high - spread->low, power;

	count_hops(fabric, across, side, count);
	while (least < most && !count[least])
		least++;
	while (most > least && !count[most])
		most--;
	if (!offset || range <= 0 || most == least)
		return offset;
	power = bend(count, least, most, (spread->mean - spread->low) / range);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			double ns = spread->low - spread->mean;

			if (a == b ||
			    across != (fabric_socket(fabric, a) != fabric_socket(fabric, b)))
				continue;
			ns += range * placed(hops(fabric, a, b, side), least, most, power);
			offset[(size_t)a * n + b] = (int32_t)lround(ns * scale * clock * 1e-9);
		}
	return offset;
}

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

static void derive(struct fabric *fabric, const struct fabric_timing *t, struct error *error)
{
	double clock = t->clock, scale = t->scale;
	/* Half of an LLC hit is the way to the line's order point and on to a cache; the other half
	 * brings the data. With it, a hand-off of 48 ns on Skylake-SP gives 48 - 7.8 + 9.8 = 50 ns
	 * for an isolated transfer, as MLC measures. */
	uint64_t leg = (uint64_t)fmax(1, round(t->llc * clock * 1e-9 / 4));
	uint64_t way = 2 * leg;

	fabric->request = fabric->forward = leg;
	for (int across = 0; across < 2; across++) {
		fabric->own[across] = rest(t->hand_off[across].mean * scale, clock, t->locked_rmw,
					   "hand_off", error);
		fabric->clean[across] =
			rest(t->clean[across] * scale, clock, leg, "transfer.clean", error);
		fabric->share[across] =
			fabric->clean[across] > leg ? fabric->clean[across] - leg : 1;
		fabric->ack[across] =
			rest(t->upgrade[across] * scale, clock, way, "upgrade", error);
		for (int home = 0; home < 2; home++)
			fabric->read[across][home] = rest(t->dirty[across][home] * scale, clock,
							  way, "transfer.dirty", error);
		fabric->dram[across] =
			rest(across ? t->dram_remote : t->dram_local, clock, leg, "dram", error);
	}
	fabric->llc = fabric->grant = rest(t->llc, clock, leg, "llc", error);
	fabric->invalidate_serial = (uint64_t)round(t->invalidate_serial * clock * 1e-9);
	fabric->home_occupancy = (uint64_t)round(t->home_occupancy * clock * 1e-9);
	fabric->link_cycles = t->link_bandwidth > 0 ? fabric->line / t->link_bandwidth * clock : 0;
}

/* The least of all legs, for how far a core may run ahead, and the most, for how long anything can
 * take. */
static void find_extremes(struct fabric *fabric)
{
	size_t pairs = (size_t)fabric->cores * fabric->cores;
	uint64_t least = fabric->request, most = least;

	for (int across = 0; across < 2; across++) {
		const uint64_t home[] = { fabric->clean[across], fabric->dram[across],
					  fabric->llc };
		const uint64_t caches[] = { fabric->own[across], fabric->ack[across],
					    fabric->read[across][0], fabric->read[across][1] };
		int32_t nearest = 0, farthest = 0;

		for (size_t k = 0; k < pairs; k++) {
			int32_t offset = fabric->own_offset[across][k];

			nearest = offset < nearest ? offset : nearest;
			farthest = offset > farthest ? offset : farthest;
		}
		for (int k = 0; k < 3; k++) {
			least = home[k] < least ? home[k] : least;
			most = home[k] > most ? home[k] : most;
		}
		for (int k = 0; k < 4; k++) {
			int64_t cycles = (int64_t)caches[k] + nearest;
			uint64_t far = caches[k] + (uint64_t)farthest;

			least = cycles < (int64_t)least ? (uint64_t)(cycles < 1 ? 1 : cycles)
							: least;
			most = far > most ? far : most;
		}
	}
	fabric->lookahead = least;
	fabric->longest = most;
}

struct fabric *fabric_new(uint32_t sockets, uint32_t cores_per_socket, uint32_t line,
			  const struct fabric_timing *timing, struct error *error)
{
	struct fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric) {
		error_set(error, "out of memory");
		return NULL;
	}
	fabric->sockets = sockets;
	fabric->cores_per_socket = cores_per_socket;
	fabric->cores = sockets * cores_per_socket;
	fabric->line = line;
	derive(fabric, timing, error);
	for (int across = 0; across < 2; across++) {
		fabric->own_offset[across] = spread_pairs(fabric, across, &timing->hand_off[across],
							  timing->scale, timing->clock);
		if (timing->hand_off[across].low * timing->scale * timing->clock * 1e-9 <
		    (double)timing->locked_rmw + 1)
			error_set(error, "hand_off: its shortest is less than the locked RMW that "
					 "it contains");
	}
	fabric->link_free = calloc((size_t)sockets * sockets, sizeof(*fabric->link_free));
	if (!fabric->own_offset[0] || !fabric->own_offset[1] || !fabric->link_free)
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
	free(fabric->own_offset[0]);
	free(fabric->own_offset[1]);
	free(fabric->link_free);
	free(fabric);
}

static bool is_across(const struct fabric *fabric, uint32_t a, uint32_t b)
{
	return fabric_socket(fabric, a) != fabric_socket(fabric, b);
}

/* All answers between two caches share the pair's distance. */
static uint64_t with_offset(const struct fabric *fabric, uint64_t leg, bool across, uint32_t from,
			    uint32_t to)
{
	int64_t cycles =
		(int64_t)leg + fabric->own_offset[across][(size_t)from * fabric->cores + to];

	return cycles < 1 ? 1 : (uint64_t)cycles;
}

uint64_t fabric_own(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	bool across = is_across(fabric, from, to);

	return with_offset(fabric, fabric->own[across], across, from, to);
}

uint64_t fabric_read(const struct fabric *fabric, uint32_t from, uint32_t to, uint32_t home)
{
	bool across = is_across(fabric, from, to);

	return with_offset(fabric, fabric->read[across][fabric_socket(fabric, to) == home], across,
			   from, to);
}

uint64_t fabric_ack(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	bool across = is_across(fabric, from, to);

	return with_offset(fabric, fabric->ack[across], across, from, to);
}

uint64_t fabric_write_back(const struct fabric *fabric, uint32_t from, uint32_t home)
{
	return fabric->read[fabric_socket(fabric, from) != home][0];
}

uint64_t fabric_link_wait(struct fabric *fabric, uint32_t from_socket, uint32_t to_socket,
			  uint64_t now)
{
	if (from_socket == to_socket || fabric->link_cycles == 0)
		return 0;
	double *free_at = &fabric->link_free[from_socket * fabric->sockets + to_socket];
	double start = fmax(*free_at, (double)now);

	*free_at = start + fabric->link_cycles;
	return (uint64_t)(start - (double)now);
}
