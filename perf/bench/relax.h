// SPDX-License-Identifier: BSD-2-Clause
/* relax.h - tells the processor that a loop polls memory, as lib's cpu_relax does */
#ifndef ORIEL_PERF_RELAX_H
#define ORIEL_PERF_RELAX_H

static inline void perf_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

#endif
