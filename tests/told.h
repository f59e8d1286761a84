/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told.h - the longest time from a loss to its error: 5 s (rule E6), and more on a slow machine
 */
#ifndef ORIEL_TESTS_TOLD_H
#define ORIEL_TESTS_TOLD_H

#include <stdint.h>

#include "slowness.h"

static inline int64_t told_limit_ms(void)
{
	return 5000 * (int64_t)slowness();
}

static inline uint64_t told_limit_ns(void)
{
	return (uint64_t)told_limit_ms() * 1000000;
}

#endif
