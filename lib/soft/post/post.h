// SPDX-License-Identifier: BSD-2-Clause
/* Work requests are posted. */
#ifndef SOFT_POST_H
#define SOFT_POST_H

#include <infiniband/verbs.h>

#include "soft/state/qp.h"

int soft_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int soft_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

#endif
