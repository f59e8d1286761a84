// SPDX-License-Identifier: BSD-2-Clause
/* The device and its port, described. */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

int soft_query_port_ex(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);
int soft_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                         struct ibv_device_attr_ex *attr, size_t size);

#endif
