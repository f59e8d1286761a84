// SPDX-License-Identifier: BSD-2-Clause
/*
 * ticks.h - cheap time stamps
 *
 * The clock is the time stamp counter if its rate is constant (invariant TSC), else CLOCK_MONOTONIC
 * in nanoseconds. The counter is measured against CLOCK_MONOTONIC over the run, at least
 * TICKS_BASE_NS.
 */
#ifndef ORIEL_PERF_TICKS_H
#define ORIEL_PERF_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define TICKS_BASE_NS 20000000u

extern bool ticks_are_tsc;

static inline uint64_t ticks_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	if (ticks_are_tsc)
		return __rdtsc();
#endif
	return ticks_clock_ns();
}

/* Selects the clock and begins to measure its rate. */
void ticks_begin(void);

/* Returns microseconds a tick, after a long enough measurement. */
double ticks_us(void);

#endif
