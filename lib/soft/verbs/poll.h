// SPDX-License-Identifier: BSD-2-Clause
/* Polling a completion queue. */
#ifndef SOFT_POLL_H
#define SOFT_POLL_H

#include <infiniband/verbs.h>

#include "soft/queue/cq.h"

int soft_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int soft_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* After an empty poll: carries out peers' requests, and announces that a thread polls. */
void soft_cq_idle(struct soft_cq *cq);

#endif
