// SPDX-License-Identifier: BSD-2-Clause
/* Requests that were refused or not answered. All under qp->lock. */
#ifndef SOFT_REFUSE_H
#define SOFT_REFUSE_H

#include <stdint.h>

#include "soft/state/qp.h"

/* No receive was posted: retries after the peer's timer, an index of the table. */
void soft_refused_rnr(struct soft_qp *qp, uint32_t timer);
/* The peer cannot fetch the data: retries immediately, with the data in the requests. */
void soft_refused_fetch(struct soft_qp *qp);
/* The peer is not ready: retries retry_cnt times, as a NIC without an answer. */
void soft_refused_silence(struct soft_qp *qp);
/* After a refusal, when the pipe is empty: continues now, or after the delay. */
void soft_refused_drained(struct soft_qp *qp);

#endif
