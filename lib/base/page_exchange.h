// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_exchange.h - other pages in place of some, with the same bytes, unnoticed by other threads
 *
 * DESIGN NOTES
 *
 * The pages are copied into a new mapping, and mremap(2) puts it in their place: for the processor
 * that is one step, readers see the old bytes or the new ones, which are equal. Writers must not
 * change what has been copied before that: userfaultfd(2) protects the old pages against writing,
 * and a thread that writes sleeps in its page fault. When the pages have been exchanged and the
 * userfaultfd is closed it wakes, and writes to the new ones. Only pages that are
 * there can be protected, so private pages are read first. Pages of zeroes are not copied: untouched
 * memory takes no new pages.
 *
 * This thread has no signals meanwhile: a handler that wrote into the pages would wait for itself.
 *
 * A process without rights (CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd) may catch the faults of
 * its own instructions only. A system call that writes into the pages for another thread at that
 * very moment then fails (EFAULT); one that reads them does not. That is why nothing but the
 * program's one piece of memory may lie in the pages (own_pages.h). And who has the old pages in
 * hand, a device or a system call that has begun, goes on with them.
 *
 * Since Linux 5.19 also shared memory can be protected; before, what has been moved there could not
 * be moved back, and nothing is.
 */
#ifndef ORIEL_PAGE_EXCHANGE_H
#define ORIEL_PAGE_EXCHANGE_H

#include <stdbool.h>

#include "base/own_pages.h"

/*
 * Put the mapping `fresh`, of the same size and zeroed, in place of the pages, with their bytes. `file` is the memory file
 * that the pages begin, or -1 for private memory. fresh is gone then; where it fails it stays mapped, with any bytes.
 * 0 or an errno value: EPERM, ENOSYS, EINVAL: this system does not let us.
 */
int page_exchange(const struct page_range *pages, int file, void *fresh);

/* Whether that is possible here, as far as is known before it is tried: 0 or an errno value. */
int page_exchange_try(void);

#endif
