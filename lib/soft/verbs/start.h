// SPDX-License-Identifier: BSD-2-Clause
/* The record of the process is made, and owns numbers of queue pairs. */
#ifndef SOFT_START_H
#define SOFT_START_H

#include "soft/verbs/core.h"

/* The process's core, made on first use; NULL and errno when that fails. */
struct soft_core *soft_core_get(void);
/*
 * Around a fork: the core stays as it is, in the child too until it is let go. _forked, in the child and
 * before that: soft_core_get makes another one.
 */
void soft_core_hold(void);
void soft_core_let_go(void);
void soft_core_forked(void);
/* Take another block of queue pair numbers. Under table_lock. 0 or an errno value. */
int soft_slot_take(struct soft_core *core);

#endif
