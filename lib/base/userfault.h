// SPDX-License-Identifier: BSD-2-Clause
/* userfault.h - a userfaultfd(2), as much of one as this process may have */
#ifndef ORIEL_USERFAULT_H
#define ORIEL_USERFAULT_H

#include <stdint.h>

/*
 * Open one with these features, which is closed by exec and whose reads do not wait; *offered becomes
 * what the system has. It catches all faults, or those of this process's own instructions where it may
 * not have more. 0 or an errno value: EPERM, ENOSYS, EINVAL: this system does not let us.
 */
int userfault_open(uint64_t features, uint64_t *offered, int *fd);

#endif
