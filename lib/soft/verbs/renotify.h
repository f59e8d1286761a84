// SPDX-License-Identifier: BSD-2-Clause
/* Re-notification of peers that do not answer. See renotify.c. */
#ifndef SOFT_RENOTIFY_H
#define SOFT_RENOTIFY_H

#include "soft/verbs/core.h"

/* Wake the peers that have owed an answer for too long; a thread that polls in vain calls this. */
void soft_renotify(struct soft_core *core);

#endif
