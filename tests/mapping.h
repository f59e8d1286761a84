/* SPDX-License-Identifier: BSD-2-Clause */
/* mapping.h - how the kernel has mapped a byte of this process */
#ifndef ORIEL_TESTS_MAPPING_H
#define ORIEL_TESTS_MAPPING_H

#include <stdint.h>
#include <stdio.h>

/* Returns 's' for a shared mapping, 'p' for a private one, and 0 if nothing is mapped there. */
static inline char mapping_kind(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t from, to, at = (uintptr_t)address;
	char line[512], kind, found = 0;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*3c%c", &from, &to, &kind) == 3 && from <= at && at < to)
			found = kind;
	}
	if (maps)
		fclose(maps);
	return found;
}

#endif
