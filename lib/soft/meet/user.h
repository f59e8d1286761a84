// SPDX-License-Identifier: BSD-2-Clause
/* Whether the process at the other end of a socket is this user's. See user.c. */
#ifndef SOFT_USER_H
#define SOFT_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "soft/base/export.h"

/* Returns whether it is, and sets its number; false if that cannot be told. */
SOFT_EXPORT bool softverbs_same_user(int sock, pid_t *pid);
/* Returns whether /proc shows processes by the numbers that this process knows them by. */
bool soft_proc_is_own(void);

#endif
