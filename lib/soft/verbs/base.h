// SPDX-License-Identifier: BSD-2-Clause
/* Time, chance and order: what everything else stands on. */
#ifndef SOFT_BASE_H
#define SOFT_BASE_H

#include <stdbool.h>
#include <stdint.h>

/* The clock of all deadlines; CLOCK_MONOTONIC. */
uint64_t soft_now_ns(void);
/* Unpredictable to other processes. */
uint32_t soft_random(void);
/* In a child: draw other numbers than the parent does. */
void soft_random_forked(void);
/*
 * Ask the kernel for heavy barriers, once; false where it has none, and then whoever relies on one
 * fences himself.
 */
bool soft_barrier_register(void);
/*
 * Make every other thread's and process's memory accesses ordered against ours; see shm_busy_enter.
 */
void soft_heavy_barrier(void);

/* The next power of two that is not below n. */
static inline uint32_t soft_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

#endif
