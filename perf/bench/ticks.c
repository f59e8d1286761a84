// SPDX-License-Identifier: BSD-2-Clause
/* ticks.c - see ticks.h. */
#include "bench/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CPUID_POWER 0x80000007u
#define INVARIANT_TSC (1u << 8)

bool ticks_are_tsc;

static uint64_t begin_ticks, begin_ns;

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && (d & INVARIANT_TSC);
#else
	return false;
#endif
}

void ticks_begin(void)
{
	ticks_are_tsc = tsc_is_invariant();
	begin_ns = ticks_clock_ns();
	begin_ticks = ticks_now();
}

double ticks_us(void)
{
	uint64_t ns;

	if (!ticks_are_tsc)
		return 1e-3;
	do {
		ns = ticks_clock_ns() - begin_ns;
	} while (ns < TICKS_BASE_NS);
	return (double)ns * 1e-3 / (double)(ticks_now() - begin_ticks);
}
