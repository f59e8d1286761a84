// SPDX-License-Identifier: BSD-2-Clause
/*
 * share_in_place.h - moves memory of the program into memory files in place, and back
 *
 * DESIGN NOTES
 *
 * A device that shares memory maps memory files; what the program has allocated itself is private.
 * On request its pages are exchanged for those of a memory file with the same bytes
 * (page_exchange.h), if they hold nothing else (own_pages.h). The memory is a *piece* then, as long
 * as it has holders: the caller that asked for it, and each registration of any of its bytes, whose
 * peers may have mapped the file. When the last one lets go the pages are exchanged for private
 * ones again, for children, madvise and realloc. If that is not possible (no memory, or userfaultfd
 * has been forbidden since) the file is mapped privately in their place, which is one step too:
 * then only madvise(2) with MADV_DONTNEED differs, which shows the file's bytes. If even that is
 * not possible (no memory for the mapping), the memory stays mapped as it is, by this process
 * alone; children do not have it, and ORIEL_VERBOSE reports it. In both cases it is no piece any
 * more, so that the table has nothing that could be taken for what the program has there later, and
 * it is not moved again.
 *
 * Forked children. The mapping is not inherited (MADV_DONTFORK), so that no child, however made,
 * writes into its parent's memory. A child made by fork(3) gets a private copy in its place, before
 * fork returns. The parent makes the copy before it forks, since it changes the memory afterwards.
 * Between the two the mutex of this file is held, and no piece changes. If there is no memory for
 * the copy, the child maps the file privately: what it writes is its own, and what it has not
 * written may change, or become 0.
 *
 * The table is the process's, as addresses are.
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
 * Makes [base, base + size_bytes) a part of a piece, which the caller holds; if_worth: unless it
 * has not paid before (move_worth.c). Returns NULL, or why it stays as it is, as the end of a
 * sentence: "it is ..."; nothing has changed then. size_bytes is not 0. The text is constant, or in
 * `room`.
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
 * move_worth.c: whether moving some memory has paid, by its cost and by how long the memory stayed
 *
 * DESIGN NOTES
 *
 * A program that makes and frees windows on the same memory in a loop must not copy it twice each
 * time. So the cost of a move is compared with how long the memory then stayed. If that was less
 * than MOVE_PAYS times as long, the next move is skipped, after another short stay the next two,
 * and so on up to MOVE_SKIPS_MAX. A long loop of short windows then moves rarely, and one whose
 * windows begin to live longer is noticed.
 *
 * The last MOVE_MEMOS pieces are remembered; unknown memory is worth a move. Not thread-safe:
 * share_in_place.c has the lock.
 */

#define MOVE_PAYS 10
#define MOVE_SKIPS_MAX 64
#define MOVE_MEMOS 64

/* Returns whether to move the pages now; a no uses up one skip. */
bool move_is_worth(const struct page_range *pages);

/*
 * Notes that the pages were moved there and back, which took cost_ns of stay_ns from begin to end.
 */
void move_took(const struct page_range *pages, uint64_t cost_ns, uint64_t stay_ns);

#endif
