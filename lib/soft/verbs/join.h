// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs and the pipes to their peers. See join.c. */
#ifndef SOFT_JOIN_H
#define SOFT_JOIN_H

#include <stdbool.h>

#include "soft/verbs/core.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/qp.h"

/*
 * The queue pair reaches its peer by this pipe from now on, which is answered, or, where the peer's
 * number is not there, and with NULL, by none. Has the pipe been taken? Under qp->lock.
 */
bool soft_join(struct soft_qp *qp, struct soft_out *out);
/* The pipe is answered: queue pairs that awaited it go on. Under core->progress. */
void soft_out_answered(struct soft_core *core, struct soft_out *out);

#endif
