// SPDX-License-Identifier: BSD-2-Clause
/* The state of a queue pair: which changes are legal, and what peers see of it. */
#ifndef SOFT_QP_STATE_H
#define SOFT_QP_STATE_H

#include <infiniband/verbs.h>

#include "soft/state/qp.h"

/* Returns 0 if the state machine allows this change with these attributes, or an errno value. */
int soft_qp_check_modify(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask);
/* Publishes the peers' rights, from state and attributes. Under qp->lock. */
void soft_qp_publish(struct soft_qp *qp);
/* Sets and publishes the state. Under qp->lock. */
void soft_qp_set_state(struct soft_qp *qp, enum ibv_qp_state state);

#endif
