// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unreliable connections (UC).
 *
 * DESIGN NOTES They are reliable ones whose requester is told nothing: requests go the same ways,
 * directly or through the pipe, and are answered, because the pipe counts answers. But whatever the
 * answer is, the request is done (answer.c), also where there is nobody to answer (requester.c) or
 * no longer (peer_events.c); the queue pair stays as it is.
 *
 * The responder drops what a reliable one would refuse, with the rest of that message: rx_drop lasts until the first
 * part of the next one, not until the requester starts over. A receive that was taken for a message that broke off,
 * or is too small, serves the next message; one of a shared queue is completed with an error. Only what is the
 * responder's own fault, a receive whose memory is not registered, makes its queue pair fail.
 *
 * Their writes are not coalesced: the answer to a coalesced request tells which of its pieces were
 * done, and a refusal would not.
 * A peer that is stopped delays completions, as it does for a reliable connection.
 */
#ifndef SOFT_UNRELIABLE_H
#define SOFT_UNRELIABLE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "soft/verbs/qp.h"

static inline bool soft_is_unreliable(const struct soft_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_UC;
}

#endif
