// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_exchange.h - exchanges pages for others with the same bytes, unnoticed by other threads
 *
 * DESIGN NOTES
 *
 * The pages are copied into a new mapping, which page_move puts in their place in one step: readers
 * see the old bytes or the new ones, which are equal. userfaultfd(2) protects the old pages
 * against writing: a thread that writes sleeps in its page fault until the exchange. Only existing
 * pages can be protected, so private pages are read first. Pages of zeroes are not copied.
 *
 * The calling thread blocks signals meanwhile: a handler that wrote into the pages would wait for
 * itself.
 *
 * A process without rights (CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd) may catch only the
 * faults of its own instructions. A system call that writes into the pages for another thread at
 * that moment then fails (EFAULT). So nothing but the program's one piece of memory may lie in the
 * pages (own_pages.h). A device or a system call that already uses the old pages goes on with them.
 *
 * Shared memory can be protected since Linux 5.19. Before, moved pages could not be moved back, so
 * none are moved.
 */
#ifndef ORIEL_PAGE_EXCHANGE_H
#define ORIEL_PAGE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages/own_pages.h"

/*
 * Puts the mapping `fresh`, of the same size and zeroed, in place of the pages, with their bytes.
 * `file` is the memory file whose first pages they are, or -1 for private memory. On failure fresh
 * stays mapped, with any bytes. Returns 0 or an errno value; EPERM, ENOSYS, EINVAL: the system
 * forbids it.
 */
int page_exchange(const struct page_range *pages, int file, void *fresh);

/* Returns 0 if that seems possible, or an errno value. */
int page_exchange_try(void);

/* Moves a mapping over another one. Returns 0 or an errno value. */
int page_move(void *from, size_t bytes, void *to);

/* A userfaultfd(2) */

/*
 * Opens one with these features, which exec closes, and whose reads do not wait. *offered becomes
 * what the system has. It catches all faults that this process may catch. Returns 0 or an errno
 * value, as page_exchange.
 */
int userfault_open(uint64_t features, uint64_t *offered, int *fd);

#endif
