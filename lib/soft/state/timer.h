// SPDX-License-Identifier: BSD-2-Clause
/* One timer per queue pair. The engine runs them. */
#ifndef SOFT_TIMER_H
#define SOFT_TIMER_H

#include <stdint.h>

#include "soft/state/core.h"
#include "soft/state/qp.h"

void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns);
/* Sets the timer unless it is set already. */
void soft_timer_set_if_none(struct soft_qp *qp, uint64_t deadline_ns);
void soft_timer_clear(struct soft_qp *qp);
/*
 * Takes a queue pair whose timer is due off the list. Returns NULL and the next deadline if there
 * is none.
 */
struct soft_qp *soft_timer_take(struct soft_core *core, uint64_t now_ns, uint64_t *next_ns);

#endif
