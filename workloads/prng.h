/* The driver's own random numbers (splitmix64), the same on every libc. */
#pragma once

#include <stdint.h>

struct prng {
	uint64_t state;
};

static inline uint64_t prng_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Starts stream `stream` of a seed. Both are mixed: neighbouring states of
 * splitmix64 give the same sequence, one step apart. */
static inline void prng_seed(struct prng *prng, uint64_t seed, uint64_t stream)
{
	prng->state = prng_mix(seed ^ prng_mix(stream + 1));
}

static inline uint64_t prng_next(struct prng *prng)
{
	prng->state += UINT64_C(0x9e3779b97f4a7c15);
	return prng_mix(prng->state);
}

/* Uniform in [0, limit); limit is at least 1. Draws again where a plain
 * remainder would favour small numbers. */
static inline uint64_t prng_below(struct prng *prng, uint64_t limit)
{
	uint64_t unfair = (UINT64_MAX % limit + 1) % limit;
	uint64_t value;

	do
		value = prng_next(prng);
	while (value > UINT64_MAX - unfair);
	return value % limit;
}
