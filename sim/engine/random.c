/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/random.h"
#include <math.h>

/* splitmix64 (Steele, Lea, Flood, 2014): spreads a seed over a generator's whole state. */
static uint64_t spread(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct random random_stream(uint64_t seed, const char *name, uint64_t index)
{
	uint64_t x = 0xcbf29ce484222325u; /* FNV-1a over the name */
	struct random random;

	for (; *name; name++)
		x = (x ^ (uint8_t)*name) * 0x100000001b3u;
	x ^= seed;
	x = spread(&x) ^ index;
	for (int k = 0; k < 4; k++)
		random.state[k] = spread(&x);
	return random;
}

static uint64_t rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t random_next(struct random *random)
{
	uint64_t *s = random->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t random_below(struct random *random, uint64_t bound)
{
	uint64_t reject = -bound % bound; /* 2^64 mod bound: the tail that would bias */
	uint64_t x;

	do
		x = random_next(random);
	while (x < reject);
	return x % bound;
}

double random_real(struct random *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53;
}

double random_exponential(struct random *random, double mean)
{
	return -mean * log1p(-random_real(random));
}
