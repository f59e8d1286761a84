// SPDX-License-Identifier: BSD-2-Clause
/*
 * share_in_place.h - memory of the program, moved into memory files in place, and back
 *
 * DESIGN NOTES
 *
 * A device that shares memory maps what lies in a memory file; what the program has allocated
 * itself is private. On request its pages are exchanged for those of a memory file with the same
 * bytes (page_exchange.h), where they are the memory's alone (own_pages.h). It is a *piece* then,
 * and stays one as long as somebody holds it: whoever asked for it, and each registration of any of
 * its bytes, whose peers may have mapped the file. When the last one lets go the pages are
 * exchanged for private ones again, so that the program gets back what it had: for its children,
 * for madvise, for realloc. Where that cannot be done (no memory, or userfaultfd has been forbidden
 * since) the file is mapped privately in their place, which is one step too: then only
 * madvise(2) with MADV_DONTNEED, which shows the file's bytes, is different, and it is not moved again.
 * Where not even that can be done (no memory for the mapping), the memory stays mapped as it is, by this
 * process alone, and is no piece any more: nothing of it is in the table that could be taken for what
 * the program has there later. It is not moved again, and children do not have it; ORIEL_VERBOSE tells.
 *
 * Forked children. The mapping is not inherited (MADV_DONTFORK), so that no child writes into the
 * memory of its parent, however it was made. One that was made by fork(3) gets a private copy in
 * its place, before fork returns: the parent makes the copy before it forks, since afterwards it
 * goes on changing the memory. Between the two no mutex of this file is free, and no piece changes.
 * Where there is no memory for the copy, the child maps the file privately: what it writes is its
 * own, and what it has not written may change, or become 0.
 *
 * The table is the process's, as addresses are; jobs come and go.
 */
#ifndef ORIEL_SHARE_IN_PLACE_H
#define ORIEL_SHARE_IN_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#define SHARED_PIECES_MAX 1024 /* each has a descriptor */
#define SHARE_WHY_BYTES 256

/*
 * Make [base, base + size_bytes) a part of a piece, held by the caller; if_worth: unless it has not
 * paid before (move_worth.h). NULL, or why it stays as it is, as the end of a sentence: "it is
 * ..."; nothing has changed then. size_bytes is not 0. The text is constant, or in `room`.
 */
const char *share_in_place(void *base, size_t size_bytes, bool if_worth, char room[SHARE_WHY_BYTES]);

/* Whether they are parts of one. */
bool is_shared_in_place(const void *base, size_t size_bytes);

/*
 * Hold all pieces that have some of the bytes; false if there are none. Who holds some, or has them
 * by share_in_place, lets go of them by the same bytes.
 */
bool share_hold(const void *base, size_t size_bytes);
void share_let_go(const void *base, size_t size_bytes);

#endif
