// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_watch.h - whether pages of the program are still those that they were
 *
 * DESIGN NOTES
 *
 * Who keeps something about memory that the program may unmap, move, discard, or map anew (a card's
 * registration of it) asks here each time before he uses it. The kernel tells such changes: the mappings
 * are registered with a userfaultfd(2) for its events, and for protection against writing, which is never
 * switched on, so that page faults cost what they did. A thread of its own reads the events and marks
 * the ranges that they hit.
 *
 * What returns first. A call such as munmap(2) returns when its event has been read, which is before the
 * thread has marked anything; and another thread may have got the same addresses anew before the event
 * can even be read, since the kernel makes it behind the change. So who asks first asks the kernel
 * whether a change is under way that nobody has read: UFFDIO_WRITEPROTECT says EAGAIN as long as there
 * is one, and looks at that before its argument; where there is none it refuses the empty range that it
 * is given. Then he waits for the batch of events that the thread has in hand, if it has one; it is
 * marked as begun before the first is read. Behind that the marks tell of every change that another
 * call had made before. The kernel counts changes since 5.15 (before, one hid the other); a feature
 * that came with 5.18 is wanted, as there is none of 5.15.
 *
 * A change that is made while somebody uses the memory is the program's fault; what is promised is that
 * nothing of before is found by who asks after it. madvise(2) is told before its pages go: memory must not
 * be discarded in one thread while another one begins to use it.
 *
 * The thread that reads never allocates, frees, or waits for a lock: who unmaps may hold any, malloc's
 * too, and waits for the thread. So what it looks at is a table of fixed size, made of atomic words.
 *
 * Whole mappings are watched, not only the pages that are asked about: a part would become a mapping of
 * its own, and mremap(2) of the whole would fail. Only private memory without a file: what a file holds
 * can vanish without an event. And no event is made by MADV_GUARD_INSTALL (Linux 6.13) and by shmat(2)
 * with SHM_REMAP.
 *
 * The descriptor. In a child made by fork it is closed before fork returns, and nothing is watched there.
 * A child that was made otherwise and does not call exec holds it open: that must not leave a call of the parent
 * waiting for a thread that has ended, so the mappings are given back before that thread ends.
 */
#ifndef ORIEL_PAGE_WATCH_H
#define ORIEL_PAGE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own_pages.h"

#define PAGE_WATCH_MAX 256 /* ranges */
#define PAGE_WATCH_NONE (-1)

/* Begin and end of a use; the first starts the thread. 0 or an errno value: this system does not let us. */
int page_watch_open(void);
void page_watch_close(void);

/*
 * Watch pages of the caller's, as a new range: its number, or PAGE_WATCH_NONE where that cannot be: they are
 * not the process's own, somebody else watches them, there are too many ranges. Changes from now on hit it.
 */
int page_watch_begin(const struct page_range *pages);
void page_watch_end(int range);

/*
 * Whether all changes are known that were made before this call; false: too much is under way. It comes
 * before page_watch_is_same, without which that says nothing.
 */
bool page_watch_settled(void);

/* Whether no change has hit the range. */
bool page_watch_is_same(int range);

/* How often a range has been hit: when this changes, some are of no use any more. */
uint64_t page_watch_hits(void);

/*
 * Watch nothing of the pages, and nothing new until page_watch_resume: somebody wants to map them anew or watch
 * them himself. All their ranges are hit.
 */
void page_watch_pause(const struct page_range *pages);
void page_watch_resume(void);

#endif
