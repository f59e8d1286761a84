// SPDX-License-Identifier: BSD-2-Clause
/* Peers that answer, die or are cut off. See peer_events.c. */
#ifndef SOFT_PEER_EVENTS_H
#define SOFT_PEER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/core.h"
#include "soft/verbs/export.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/qp.h"

/*
 * The queue pair reaches its peer by this pipe from now on, which is answered, or, where the peer's
 * number is not there, and with NULL, by none. Has the pipe been taken? Under qp->lock.
 */
bool soft_attach_pipe(struct soft_qp *qp, struct soft_out *out);
/* The pipe is answered: queue pairs that awaited it go on. Under core->progress. */
void soft_out_answered(struct soft_core *core, struct soft_out *out);
/* The pipe's process has died: queue pairs to it fail, soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out);
/* The time of a queue pair's timer has come. Under core->progress. */
void soft_timer_fired(struct soft_qp *qp);
/*
 * Has the adversary cut the connection of this queue pair of ours? librdmacm's messages get lost
 * then, too.
 */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);

#endif
