// SPDX-License-Identifier: BSD-2-Clause
/*
 * ticks.h - cheap time stamps
 *
 * The processor's time stamp counter where it runs at one rate through all its states (invariant
 * TSC), otherwise CLOCK_MONOTONIC in nanoseconds. The counter's rate is measured against
 * CLOCK_MONOTONIC over the whole run, at least TICKS_BASE_NS.
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

/* Find the clock to use; the measurement of its rate begins here. */
void ticks_begin(void);

/* Microseconds a tick. Waits until the base is long enough. */
double ticks_us(void);

#endif
