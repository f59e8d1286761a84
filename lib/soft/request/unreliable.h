// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unreliable connections (UC).
 *
 * DESIGN NOTES
 *
 * They are like reliable connections whose requester gets no errors. Requests take the same routes,
 * directly or through the pipe, and are answered, because the pipe counts answers. But any answer
 * completes the request (answer.c), and so does a peer that does not exist (requester.c) or has
 * died (peer_events.c); the queue pair's state does not change.
 *
 * The responder drops requests that a reliable one would refuse, with the rest of that message:
 * rx_drop lasts until the first part of the next message, not until the requester starts over. The
 * receive of a message that was cut off, or that is too small, is for the next message; one of a
 * shared queue is completed with an error. The responder's queue pair fails only by its own error:
 * a receive whose memory is not registered.
 *
 * Their writes are not coalesced: the answer to a coalesced request says which of its pieces were
 * carried out, and a refusal would not. A stopped peer delays completions, as for a reliable
 * connection.
 */
#ifndef SOFT_UNRELIABLE_H
#define SOFT_UNRELIABLE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "soft/state/qp.h"

static inline bool soft_is_unreliable(const struct soft_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_UC;
}

#endif
