// SPDX-License-Identifier: BSD-2-Clause
/*
 * share_in_place.h - moves memory of the program into memory files in place, and back
 *
 * DESIGN NOTES
 *
 * A device that shares memory maps memory files; what the program has allocated itself is private.
 * On request its pages are exchanged for those of a memory file with the same bytes
 * (page_exchange.h), if they hold nothing else (own_pages.h). The memory is a *piece* as long as it
 * has holders: the caller that asked for it, and each registration of any of its bytes, whose peers
 * may have mapped the file. When the last one lets go the pages are exchanged for private ones, for
 * children, madvise and realloc. If that is not possible, the file is mapped privately in their
 * place: then MADV_DONTNEED shows the file's bytes. If even that is not possible, the memory stays
 * mapped; children do not have it, and ORIEL_VERBOSE reports it. In both cases it is not moved
 * again.
 *
 * Forked children. The mapping is not inherited (MADV_DONTFORK), so that no child writes into its
 * parent's memory. A child made by fork(3) gets a private copy in its place, before fork returns.
 * The parent makes it before it forks, and holds the mutex of this file meanwhile: no piece
 * changes. If there is no memory for the copy, the child maps the file privately: what it has not
 * written may change, or become 0.
 */
#ifndef ORIEL_SHARE_IN_PLACE_H
#define ORIEL_SHARE_IN_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages/own_pages.h"

#define SHARED_PIECES_MAX 1024 /* each has a descriptor */
#define SHARE_WHY_BYTES 256

/*
 * Makes [base, base + size_bytes), not empty, a part of a piece that the caller holds; if_worth:
 * unless it has not paid before. Returns NULL, or why nothing has changed, as the end of "it is
 * ...". The text is constant, or in `room`.
 */
const char *share_in_place(void *base, size_t size_bytes, bool if_worth, char room[SHARE_WHY_BYTES]);

/* Returns whether all the bytes are parts of one piece. */
bool is_shared_in_place(const void *base, size_t size_bytes);

/*
 * Holds all pieces that have some of the bytes; false if there are none. A holder lets go by the
 * same bytes, also after share_in_place.
 */
bool share_hold(const void *base, size_t size_bytes);
void share_let_go(const void *base, size_t size_bytes);

/*
 * Whether moving some memory has paid
 *
 * DESIGN NOTES
 *
 * A program that makes and frees windows on the same memory in a loop must not copy it each time.
 * If the memory stayed less than MOVE_PAYS times as long as its move took, the next move is
 * skipped, after another short stay the next two, and so on up to MOVE_SKIPS_MAX.
 *
 * The last MOVE_MEMOS pieces are remembered. The caller holds the lock of share_in_place.c.
 */

#define MOVE_PAYS 10
#define MOVE_SKIPS_MAX 64
#define MOVE_MEMOS 64

/* Returns whether to move the pages now. If not, this uses up one skip. */
bool move_is_worth(const struct page_range *pages);

/* Notes that the pages were moved there and back, which took cost_ns of stay_ns. */
void move_took(const struct page_range *pages, uint64_t cost_ns, uint64_t stay_ns);

#endif
