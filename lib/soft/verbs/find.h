// SPDX-License-Identifier: BSD-2-Clause
/* Routes of datagrams, found and let go. See find.c. */
#ifndef SOFT_FIND_H
#define SOFT_FIND_H

#include <stdint.h>

#include "soft/verbs/qp.h"

/*
 * Send what this thread has posted, the requests from index `first` on, once it is known which process each goes
 * to. Under qp->lock, which is let go and taken again.
 */
void soft_find_and_send(struct soft_qp *qp, uint32_t first);
/* The queue pair is destroyed. */
void soft_routes_free(struct soft_routes *routes);

#endif
