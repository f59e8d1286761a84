// SPDX-License-Identifier: BSD-2-Clause
/* Re-notification of peers that do not answer. See renotify.c. */
#ifndef SOFT_RENOTIFY_H
#define SOFT_RENOTIFY_H

#include "soft/state/core.h"

/* Wakes the peers that owe an answer for too long; called after empty polls. */
void soft_renotify(struct soft_core *core);

#endif
