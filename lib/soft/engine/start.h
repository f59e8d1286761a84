// SPDX-License-Identifier: BSD-2-Clause
/* Creation of the process's state, which owns queue pair numbers. */
#ifndef SOFT_START_H
#define SOFT_START_H

#include "soft/state/core.h"

/* Returns the process's core, made at first use; or NULL with errno. */
struct soft_core *soft_core_get(void);
/*
 * Around a fork: the core does not change, in the child, too, until soft_core_let_go. The child
 * calls soft_core_forked before that, after which soft_core_get makes a new core.
 */
void soft_core_hold(void);
void soft_core_let_go(void);
void soft_core_forked(void);
/* Takes another block of queue pair numbers. Under table_lock. Returns 0 or an errno value. */
int soft_slot_take(struct soft_core *core);

#endif
