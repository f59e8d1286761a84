// SPDX-License-Identifier: BSD-2-Clause
/* util.h - small things: time, bounds, array growth. */
#ifndef ORIEL_UTIL_H
#define ORIEL_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline size_t round_up(size_t value, size_t step)
{
	return (value + step - 1) / step * step;
}

/* Returns the smallest r with 2^r >= value; value >= 1. */
static inline int log2_up(uint64_t value)
{
	return value <= 1 ? 0 : 64 - __builtin_clzll(value - 1);
}

/*
 * Makes room for at least `need` elements in *array, doubling. False: out of memory; *array is as
 * before.
 */
bool grow_array(void *array, uint32_t *capacity, uint32_t need, size_t element_bytes);

#endif
