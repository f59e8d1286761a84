// SPDX-License-Identifier: BSD-2-Clause
/* Peers that answer, die or are cut off. See peer_events.c. */
#ifndef SOFT_PEER_EVENTS_H
#define SOFT_PEER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/base/export.h"
#include "soft/peer/pipe.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

/*
 * Attaches an answered pipe to a queue pair; none for NULL, or if the peer does not have the
 * number. Returns whether the pipe was taken. Under qp->lock.
 */
bool soft_attach_pipe(struct soft_qp *qp, struct soft_out *out);
/* After the pipe's answer: queue pairs that awaited it continue. Under core->progress. */
void soft_out_answered(struct soft_core *core, struct soft_out *out);
/* After the death of the pipe's process: queue pairs to it fail soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out);
/* Handles a queue pair's timer. Under core->progress. */
void soft_timer_fired(struct soft_qp *qp);
/*
 * Returns whether the adversary has cut the connection of this process's queue pair. librdmacm's
 * messages are then lost, too.
 */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);

#endif
