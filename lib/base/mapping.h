// SPDX-License-Identifier: BSD-2-Clause
/* mapping.h - what the kernel tells of this process's mappings in /proc/self/maps and smaps */
#ifndef ORIEL_MAPPING_H
#define ORIEL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own_pages.h"

#define MAPPING_LINE_BYTES 512

/* One mapping. */
struct mapping {
	uintptr_t start, end;
	char rights[5]; /* "rw-p" */
	uint64_t inode;
	char name[MAPPING_LINE_BYTES];
};

/* Whether a line is one of a mapping; other lines may begin with hexadecimal digits too. */
bool mapping_parse(const char *line, struct mapping *mapping);

/* Whether its memory is the process's own and of no file: nobody else can make it shorter. */
bool mapping_is_own(const struct mapping *mapping);

/*
 * The whole mappings that have some of the pages, which they cover; false: they do not, or are not all
 * the process's own, or that cannot be read.
 */
bool mappings_around(const struct page_range *pages, struct page_range *around);

/* Call `visit` for each mapping of the process's own that lies in the pages, with what of it lies there. */
void mappings_visit(const struct page_range *pages, void (*visit)(void *arg, const struct page_range *part), void *arg);

#endif
