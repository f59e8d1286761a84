// SPDX-License-Identifier: BSD-2-Clause
/* userfault.h - a userfaultfd(2), with as much as this process may have */
#ifndef ORIEL_USERFAULT_H
#define ORIEL_USERFAULT_H

#include <stdint.h>

/*
 * Opens one with these features; exec closes it, and its reads do not wait. *offered becomes what
 * the system has. It catches all faults, or only those of this process's own instructions if it may
 * not catch more. Returns 0 or an errno value; EPERM, ENOSYS, EINVAL: the system does not allow it.
 */
int userfault_open(uint64_t features, uint64_t *offered, int *fd);

#endif
