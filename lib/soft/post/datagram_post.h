// SPDX-License-Identifier: BSD-2-Clause
/* Datagrams are posted. See datagram_post.c. */
#ifndef SOFT_DATAGRAM_POST_H
#define SOFT_DATAGRAM_POST_H

#include <infiniband/verbs.h>

#include "soft/state/qp.h"

/* Under qp->lock, which is let go where a route is looked up. 0, or an errno value and *bad. */
int soft_datagram_post(struct soft_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

#endif
