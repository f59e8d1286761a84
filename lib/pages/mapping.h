// SPDX-License-Identifier: BSD-2-Clause
/* mapping.h - this process's mappings, as /proc/self/maps and smaps list them */
#ifndef ORIEL_MAPPING_H
#define ORIEL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/own_pages.h"

#define MAPPING_LINE_BYTES 512

struct mapping {
	uintptr_t start, end;
	char rights[5]; /* "rw-p" */
	uint64_t inode;
	char name[MAPPING_LINE_BYTES];
};

/*
 * Reads a line; false if it describes no mapping. Such lines may begin with hexadecimal digits too.
 */
bool mapping_parse(const char *line, struct mapping *mapping);

/*
 * Returns whether the memory is the process's own and of no file: no other process can make it
 * shorter.
 */
bool mapping_is_own(const struct mapping *mapping);

/*
 * Sets *around to the whole mappings that have some of the pages. Returns false if they do not
 * cover the pages, are not all the process's own, or cannot be read.
 */
bool mappings_around(const struct page_range *pages, struct page_range *around);

/*
 * Calls `visit` for each of the process's own mappings, with the part of it that lies in the pages.
 */
void mappings_visit(const struct page_range *pages, void (*visit)(void *arg, const struct page_range *part), void *arg);

#endif
