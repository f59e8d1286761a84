/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slowness.h - limits in time on a machine that is slow
 *
 * TESTS_SLOWNESS says how many times slower than usual the machine is (tests/slowness measures it).
 * A limit that is multiplied by it catches what never ends, and says nothing of how busy the
 * machine is.
 */
#ifndef ORIEL_TESTS_SLOWNESS_H
#define ORIEL_TESTS_SLOWNESS_H

#include <stdlib.h>

static inline int slowness(void)
{
	const char *given = getenv("TESTS_SLOWNESS");
	int times = given ? atoi(given) : 1;

	return times > 1 ? times : 1;
}

#endif
