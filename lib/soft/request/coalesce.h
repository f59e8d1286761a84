// SPDX-License-Identifier: BSD-2-Clause
/* Small writes that travel together. Under qp->lock. See coalesce.c. */
#ifndef SOFT_COALESCE_H
#define SOFT_COALESCE_H

#include <stdbool.h>

#include "soft/state/qp.h"

enum {
	SOFT_COALESCE_MAX = 256, /* bytes of a write that travels with others */
};

/* May this request travel with others? */
bool soft_may_coalesce(const struct soft_qp *qp, const struct soft_wqe *wqe);
/*
 * The request at exec, and what may go with it, into the pipe; false if the queue has to wait or
 * has failed.
 */
bool soft_coalesce_push(struct soft_qp *qp);

#endif
