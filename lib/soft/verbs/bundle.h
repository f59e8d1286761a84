// SPDX-License-Identifier: BSD-2-Clause
/* Small writes that travel together. Under qp->lock. */
#ifndef SOFT_BUNDLE_H
#define SOFT_BUNDLE_H

#include <stdbool.h>

#include "soft/verbs/qp.h"

enum {
	SOFT_BUNDLED_MAX = 256, /* bytes of a write that travels with others */
};

bool soft_bundle_may(const struct soft_qp *qp, const struct soft_wqe *wqe);
/*
 * The request at exec, and what may go with it, into the pipe; false if the queue has to wait or
 * has failed.
 */
bool soft_bundle_push(struct soft_qp *qp);

#endif
