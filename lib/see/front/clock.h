/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - the clock that calls are measured by: the processor's counter where there is one */
#ifndef ORIEL_SEE_CLOCK_H
#define ORIEL_SEE_CLOCK_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/*
 * Returns the counter. Its rate is found from CLOCK_MONOTONIC at the ends of the part. Linux uses
 * it as its own clock only where it runs evenly on all processors.
 */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
#endif
}

#endif
