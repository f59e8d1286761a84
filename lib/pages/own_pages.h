// SPDX-License-Identifier: BSD-2-Clause
/*
 * own_pages.h - whether memory of the program fills pages of its own, which may be mapped anew
 *
 * DESIGN NOTES
 *
 * Pages can be exchanged in place if they are private and anonymous, and hold nothing but the
 * memory in question: other threads and forked children know nothing of the exchange. If the memory
 * begins or ends within a page, the rest may be malloc's. glibc maps large pieces by themselves,
 * with a header of 16 bytes in front and nothing behind; and for memory that begins with a page
 * (posix_memalign) the header in front says where the piece ends. If other data look like such a
 * header, neighbours are moved, too.
 *
 * /proc/self/smaps shows pages that are locked, watched, or kept from children, as libibverbs does
 * with registered ones.
 */
#ifndef ORIEL_OWN_PAGES_H
#define ORIEL_OWN_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_range {
	uintptr_t first; /* address */
	size_t size_bytes;
};

/* Returns the pages that the memory lies in. */
struct page_range pages_of(const void *base, size_t size_bytes);

/*
 * Returns NULL, or why the pages of size_bytes > 0 cannot be exchanged, as the end of "it is ...".
 */
const char *own_pages_hindrance(const void *base, size_t size_bytes);

/* This process's mappings, as /proc/self/maps and smaps list them */

#define MAPPING_LINE_BYTES 512

struct mapping {
	uintptr_t start, end;
	char rights[5]; /* "rw-p" */
	uint64_t inode;
	char name[MAPPING_LINE_BYTES];
};

/* Reads a line of the files; false if it describes no mapping. */
bool mapping_parse(const char *line, struct mapping *mapping);

/* Returns whether the mapping is private and of no file: no other process can make it shorter. */
bool mapping_is_own(const struct mapping *mapping);

/*
 * Sets *around to the whole mappings that have some of the pages. Returns false if they do not
 * cover the pages, are not all the process's own, or cannot be read.
 */
bool mappings_around(const struct page_range *pages, struct page_range *around);

/* Calls `visit` for the part in the pages of each of the process's own mappings. */
void mappings_visit(const struct page_range *pages, void (*visit)(void *arg, const struct page_range *part), void *arg);

#endif
