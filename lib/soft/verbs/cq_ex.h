// SPDX-License-Identifier: BSD-2-Clause
/* Completion queues with the start_poll interface. */
#ifndef SOFT_CQ_EX_H
#define SOFT_CQ_EX_H

#include <infiniband/verbs.h>

int soft_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
struct ibv_cq_ex *soft_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

#endif
