// SPDX-License-Identifier: BSD-2-Clause
/* Routes of datagrams, looked up and let go. See datagram_route.c. */
#ifndef SOFT_DATAGRAM_ROUTE_H
#define SOFT_DATAGRAM_ROUTE_H

#include <stdint.h>

#include "soft/state/qp.h"

/*
 * Look up the routes of what this thread has posted, the requests from index `first` on, and send
 * them. Under qp->lock, which is let go and taken again.
 */
void soft_route_and_send(struct soft_qp *qp, uint32_t first);
/* The queue pair is destroyed. */
void soft_routes_free(struct soft_routes *routes);

#endif
