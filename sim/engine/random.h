/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Named random streams: each consumer draws from a stream of its own, so that adding one does not
 * disturb another. */
#ifndef ENGINE_RANDOM_H
#define ENGINE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state[4];
};

/* A stream fixed by (seed, name, index), e.g. (1, "home.discipline", line number). */
struct random random_stream(uint64_t seed, const char *name, uint64_t index);

/* 64 uniform bits: xoshiro256** (Blackman and Vigna, 2018). */
uint64_t random_next(struct random *random);

/* Uniform in [0, bound), without bias; bound > 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double random_real(struct random *random);

/* Exponential with this mean. */
double random_exponential(struct random *random, double mean);

#endif
