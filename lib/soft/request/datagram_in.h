// SPDX-License-Identifier: BSD-2-Clause
/* Unreliable datagrams, the receiver's side. See datagram_in.c. */
#ifndef SOFT_DATAGRAM_IN_H
#define SOFT_DATAGRAM_IN_H

#include <stdint.h>

#include "soft/state/qp.h"
#include "soft/state/shm.h"

/*
 * A request for a queue pair for datagrams, of a process that owns the number it comes from; a copy
 * of it, and where its data is. Delivered or dropped. Under qp->lock.
 */
void soft_datagram_take(struct soft_qp *qp, const struct shm_req *req, const uint8_t *data);

#endif
