// SPDX-License-Identifier: BSD-2-Clause
/*
 * own_pages.h - whether memory of the program fills pages of its own, which may be mapped anew
 *
 * DESIGN NOTES
 *
 * Pages can be exchanged in place if they are private and anonymous, and hold nothing but the
 * memory in question: other threads and forked children know nothing of the exchange. Pages that
 * the memory fills from first to last byte qualify. If it begins or ends within a page, the rest
 * may be malloc's: glibc maps large pieces by themselves, with a header of 16 bytes in front and
 * nothing behind; and for memory that begins with a page (posix_memalign) the header in front says
 * where the piece ends. If other data look like such a header, down to an end within the mapping,
 * neighbours are moved too.
 *
 * /proc/self/smaps shows pages that are locked, watched, or kept from children (as libibverbs does
 * with what it has registered, after ibv_fork_init).
 */
#ifndef ORIEL_OWN_PAGES_H
#define ORIEL_OWN_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Whole pages. */
struct page_range {
	uintptr_t first; /* address */
	size_t size_bytes;
};

/* Returns the pages that the memory lies in. */
struct page_range pages_of(const void *base, size_t size_bytes);

/*
 * Returns NULL, or why they cannot be exchanged, as the end of a sentence: "it is ...". size_bytes
 * is not 0.
 */
const char *own_pages_hindrance(const void *base, size_t size_bytes);

#endif
