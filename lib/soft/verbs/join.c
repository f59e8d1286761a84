// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs find their peers: at once, or when a pipe is answered at last (pipe_out.c). */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/core.h"
#include "soft/verbs/datagram.h"
#include "soft/verbs/join.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/qp_state.h"
#include "soft/verbs/requester.h"
#include "soft/verbs/shm.h"

bool soft_join(struct soft_qp *qp, struct soft_out *out)
{
	int index = out ? shm_qpn_index(out->peer.seg, qp->attr.dest_qp_num) : -1;

	/*
	 * A key that is withdrawn waits for all peers (key.c), whatever the queue pairs' own threads
	 * do.
	 */
	pthread_mutex_lock(&soft_core->table_lock);
	qp->out = index < 0 ? NULL : out;
	qp->peer = index < 0 ? NULL : &out->peer.seg->qp[index];
	pthread_mutex_unlock(&soft_core->table_lock);
	return index >= 0;
}

/* If the peer's number turns out not to be there, the pipe is kept as what it awaited in vain. */
static void answered(struct soft_qp *qp, struct soft_out *out)
{
	if (soft_join(qp, out))
		qp->awaited = NULL;
	/* The gate opens, which it does not without a pipe. */
	soft_qp_publish(qp);
	if (qp->stall == SOFT_WAIT_PEER)
		qp->stall = SOFT_GO;
	soft_pump(qp);
}

void soft_out_answered(struct soft_core *core, struct soft_out *out)
{
	for (uint32_t i = 0; i < core->qp_top; i++) {
		struct soft_qp *qp = core->qp[i];

		if (!qp)
			continue;
		soft_lock(&qp->lock);
		if (qp->awaited == out)
			answered(qp, out);
		else if (qp->routes && soft_datagram_answered(qp, out))
			soft_pump(qp);
		soft_unlock(&qp->lock);
	}
}
