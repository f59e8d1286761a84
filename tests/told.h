/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told.h - how long after a loss a rank may be told of it: 5 s (rule E6), but three times that by emulated processors
 *
 * The last of four ranks is told after 3 to 4 s in emulation with nothing beside it, and later beside others. What shall
 * show there is that each rank is told, by its own call.
 */
#ifndef ORIEL_TESTS_TOLD_H
#define ORIEL_TESTS_TOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* QEMU's translation says so in the name of its processors. */
static inline bool told_by_emulation(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "QEMU TCG");
	if (file)
		fclose(file);
	return found;
}

static inline int64_t told_limit_ms(void)
{
	return told_by_emulation() ? 15000 : 5000;
}

#endif
