// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_watch.h - whether pages of the program are still those that they were
 *
 * DESIGN NOTES
 *
 * Code that keeps something about memory that the program may unmap, move, discard, or map anew (a
 * card's registration of it) asks here before each use. The mappings are registered with a
 * userfaultfd(2) for the events of such changes, and for write protection, which is never switched
 * on. A thread, the reader, reads the events and marks the ranges that they hit.
 *
 * Order. A call such as munmap(2) returns when its event has been read, before the reader has
 * marked anything; and another thread may get the same addresses before the event can even be read,
 * since the kernel makes it after the change. So a user first asks the kernel whether an unread
 * change is under way: UFFDIO_WRITEPROTECT returns EAGAIN while there is one, and otherwise refuses
 * the empty range that it is given. Then the user waits for the batch of events that the reader has
 * in hand; a batch is marked as begun before its first event is read. After that the marks show
 * every change that another call had made before. The library requires Linux 5.18.
 *
 * A change while the memory is in use is the program's fault. madvise(2) reports before its pages
 * go: a thread must not discard memory while another one begins to use it.
 *
 * The reader never allocates, frees, or waits for a lock: a thread that unmaps may hold any,
 * malloc's too, and waits for the reader. So its table has a fixed size, and consists of atomic
 * words.
 *
 * Whole mappings are watched: a part would become a mapping of its own, and mremap(2) of the whole
 * would fail. Only private memory without a file is watched: a file's content can vanish without an
 * event. MADV_GUARD_INSTALL (Linux 6.13) and shmat(2) with SHM_REMAP make no event.
 *
 * A child made by fork closes the descriptor before fork returns. Another child that does not call
 * exec holds it open. No call of the parent may then wait for a reader that has ended, so the
 * mappings are given back before the reader ends.
 */
#ifndef ORIEL_PAGE_WATCH_H
#define ORIEL_PAGE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/own_pages.h"

#define PAGE_WATCH_MAX 256 /* ranges */
#define PAGE_WATCH_NONE (-1)

/* Begin and end a use; the first starts the reader. page_watch_open returns 0 or an errno value. */
int page_watch_open(void);
void page_watch_close(void);

/*
 * Watches pages as a new range, which changes from now on hit. Returns its number, or
 * PAGE_WATCH_NONE: they are not the process's own, other code watches them, or there are too many
 * ranges.
 */
int page_watch_begin(const struct page_range *pages);
void page_watch_end(int range);

/*
 * Returns whether all changes before this call are known; false: too much is under way, and
 * page_watch_is_same says nothing.
 */
bool page_watch_settled(void);

/* Returns whether no change has hit the range. */
bool page_watch_is_same(int range);

/* Returns how often ranges have been hit. */
uint64_t page_watch_hits(void);

/*
 * Stops watching the pages, and watches nothing new until page_watch_resume, so that the caller can
 * map or watch them itself. All their ranges are hit.
 */
void page_watch_pause(const struct page_range *pages);
void page_watch_resume(void);

#endif
