// SPDX-License-Identifier: BSD-2-Clause
/* procmap.h - which mapping lies at an address; see procmap.c */
#ifndef SOFT_PROCMAP_H
#define SOFT_PROCMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct soft_vma {
	uint64_t start, end;
	uint64_t offset; /* of start in its file */
	dev_t dev;
	uint64_t inode; /* 0: no file */
	bool readable, writable, shared;
	char path[256];
};

/* Finds the mapping at `addr`. Returns 0, ENOENT if there is none, or another errno value. */
int soft_procmap(uint64_t addr, struct soft_vma *vma);
/* In a forked child: makes the lock anew. */
void soft_procmap_forked(void);

#endif
