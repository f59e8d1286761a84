// SPDX-License-Identifier: BSD-2-Clause
/* Time, random numbers and barriers. */
#ifndef SOFT_BASE_H
#define SOFT_BASE_H

#include <stdbool.h>
#include <stdint.h>

/* The clock of all deadlines; CLOCK_MONOTONIC. */
uint64_t soft_now_ns(void);
/* Returns a number that other processes cannot predict. */
uint32_t soft_random(void);
/* In a forked child: draws other numbers than the parent. */
void soft_random_forked(void);
/*
 * Requests heavy barriers from the kernel. Returns false if it has none: threads must then use
 * fences.
 */
bool soft_barrier_register(void);
/* Orders the memory accesses of all other threads and processes against the caller's. */
void soft_heavy_barrier(void);

/* Returns the smallest power of two that is not below n. */
static inline uint32_t soft_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

#endif
