// SPDX-License-Identifier: BSD-2-Clause
/* wire_pair.h - the queue pair of a connection, and the completion queue of its sends */
#ifndef ORIEL_WIRE_PAIR_H
#define ORIEL_WIRE_PAIR_H

#include <infiniband/verbs.h>
#include <stdint.h>

#define WIRE_INLINE_WANTED 220 /* bytes, asked of the device */

struct device;
struct rdma_cm_id;

struct wire_pair {
	struct ibv_cq *cq;
	uint32_t inline_max; /* bytes that the device granted */
};

/*
 * Makes both for a cm_id, which owns the queue pair on success. wakeup_take returns `peer` when it
 * wakes us. ERRORS: ORIEL_ERR_DEVICE.
 */
int wire_make_pair(const struct device *device, struct rdma_cm_id *id, uint64_t peer, struct wire_pair *pair);
void wire_drop_pair(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair);

#endif
