// SPDX-License-Identifier: BSD-2-Clause
/* The calls of an open device that have files of their own. */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/queue/cq.h"

/* device.c */

int soft_query_port_ex(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);
int soft_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                         struct ibv_device_attr_ex *attr, size_t size);

/* poll.c */

int soft_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int soft_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* After an empty poll: carries out peers' requests, and announces that a thread polls. */
void soft_cq_idle(struct soft_cq *cq);

/* Completion queues with the start_poll interface: poll.c. */

int soft_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
struct ibv_cq_ex *soft_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

#endif
