// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_exchange.h - exchanges pages for others with the same bytes, unnoticed by other threads
 *
 * DESIGN NOTES
 *
 * The pages are copied into a new mapping, and mremap(2) puts it in their place. For the processor
 * that is one step: readers see the old bytes or the new ones, which are equal. Writers must not
 * change copied bytes before that: userfaultfd(2) protects the old pages, and a thread that writes
 * sleeps in its page fault until the exchange, and writes to the new ones. Only existing pages can
 * be protected, so private pages are read first. Pages of zeroes are not copied: untouched memory
 * takes no new pages.
 *
 * The calling thread blocks signals meanwhile: a handler that wrote into the pages would wait for
 * itself.
 *
 * A process without rights (CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd) may catch only the
 * faults of its own instructions. A system call that writes into the pages for another thread at
 * that moment then fails (EFAULT); one that reads does not. That is why nothing but the program's
 * one piece of memory may lie in the pages (own_pages.h). A device or a system call that already
 * uses the old pages goes on with them.
 *
 * Shared memory can be protected since Linux 5.19. Before, moved pages could not be moved back, so
 * none are moved.
 */
#ifndef ORIEL_PAGE_EXCHANGE_H
#define ORIEL_PAGE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/own_pages.h"

/*
 * Puts the mapping `fresh`, of the same size and zeroed, in place of the pages, with their bytes.
 * `file` is the memory file whose beginning the pages are, or -1 for private memory. fresh is gone
 * then; on failure it stays mapped, with any bytes. Returns 0 or an errno value; EPERM, ENOSYS,
 * EINVAL: the system does not allow it.
 */
int page_exchange(const struct page_range *pages, int file, void *fresh);

/* Returns 0 if that is possible here, as far as is known before it is tried, or an errno value. */
int page_exchange_try(void);

/* userfault.c: a userfaultfd(2), with as much as this process may have */

/*
 * Opens one with these features; exec closes it, and its reads do not wait. *offered becomes what
 * the system has. It catches all faults, or only those of this process's own instructions if it may
 * not catch more. Returns 0 or an errno value; EPERM, ENOSYS, EINVAL: the system does not allow it.
 */
int userfault_open(uint64_t features, uint64_t *offered, int *fd);

#endif
