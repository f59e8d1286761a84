// SPDX-License-Identifier: BSD-2-Clause
/* Requests that were refused or not heard. All under qp->lock. */
#ifndef SOFT_REFUSE_H
#define SOFT_REFUSE_H

#include <stdint.h>

#include "soft/verbs/qp.h"

/* No receive was posted: once more after what the peer's timer (an index of the table) says. */
void soft_refused_rnr(struct soft_qp *qp, uint32_t timer);
/* The peer may not fetch the data: once more at once, with the data in the requests. */
void soft_refused_fetch(struct soft_qp *qp);
/* A NIC would hear nothing and try retry_cnt times more. */
void soft_refused_silence(struct soft_qp *qp);
/* All answered after a refusal: go on now or when the time has come. */
void soft_refused_drained(struct soft_qp *qp);

#endif
