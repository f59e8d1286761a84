// SPDX-License-Identifier: BSD-2-Clause
/* random.h - the test's own numbers (splitmix64), so that a seed means the same on every machine. */
#ifndef ORIEL_TESTS_EPOCHS_RANDOM_H
#define ORIEL_TESTS_EPOCHS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 to n - 1; n > 0. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)((rng_next(rng) >> 32) * n >> 32);
}

/* True in `part` of `whole` cases. */
static inline bool rng_chance(struct rng *rng, uint32_t part, uint32_t whole)
{
	return rng_below(rng, whole) < part;
}

/* Bytes that differ from position to position and from seed to seed. */
void random_fill(uint8_t *to, size_t size_bytes, uint64_t seed);

#endif
