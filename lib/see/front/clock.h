/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - the clock that calls are measured by
 *
 * It is the processor's counter if that runs at one rate on all processors, also while they sleep;
 * else CLOCK_MONOTONIC, which takes twice as long. The counter's rate is found from CLOCK_MONOTONIC
 * at the ends of the part.
 */
#ifndef ORIEL_SEE_CLOCK_H
#define ORIEL_SEE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* Set when the part is made. */
extern bool clock_is_counter __attribute__((visibility("hidden")));

static inline bool clock_has_counter(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8); /* "invariant TSC" */
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

static inline uint64_t clock_ticks(void)
{
	return clock_is_counter ? clock_counter() : now_ns();
}

/*
 * Returns the time of CLOCK_MONOTONIC at a reading, of this machine, a moment ago. A thread reads
 * both clocks together about every millisecond; in between it only computes.
 */
uint64_t clock_ns(uint64_t ticks);

#define CLOCK_TRIES 3

/* Reads both clocks at one time. The shortest of some tries counts: a thread may be interrupted. */
static inline void clock_read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = clock_ticks(), now = now_ns(), apart = clock_ticks() - before;

		if (apart >= least)
			continue;
		least = apart;
		*ticks = before + apart / 2;
		*ns = now;
	}
}

#endif
