/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told.h - how long after a loss a rank may be told of it: 5 s (rule E6), or FAULT_TOLD_MS where processors are emulated
 *
 * The last of four ranks is told after 3 to 4 s in emulation with nothing beside it, and later beside others. What shall
 * show there is that each rank is told, by its own call.
 */
#ifndef ORIEL_TESTS_TOLD_H
#define ORIEL_TESTS_TOLD_H

#include <stdint.h>
#include <stdlib.h>

static inline int64_t told_limit_ms(void)
{
	const char *given = getenv("FAULT_TOLD_MS");

	return given ? strtoll(given, NULL, 10) : 5000;
}

#endif
