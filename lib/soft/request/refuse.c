// SPDX-License-Identifier: BSD-2-Clause
/*
 * Retries of refused or unanswered requests, after a delay, as often as the queue pair's attributes
 * say. Under qp->lock.
 */
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/request/request.h"
#include "soft/state/qp.h"

enum {
	RETRY_NS = 1000000, /* between two tries with a queue pair that is not ready */
	RNR_INFINITE = 7,
};

/* min_rnr_timer, in units of 10 us */
static const uint32_t rnr_wait[32] = { 65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	                                   48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	                                   2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

static uint64_t ack_timeout_ns(const struct soft_qp *qp)
{
	return qp->attr.timeout ? 4096ull << qp->attr.timeout : 0;
}

/* Starts over from the tail after `wait_ns`, when the pipe is empty. */
static void start_over(struct soft_qp *qp, uint64_t wait_ns)
{
	qp->sq_exec = qp->sq_tail;
	qp->part_done = 0;
	qp->resync = true;
	qp->stall = qp->inflight ? SOFT_WAIT_DRAIN : SOFT_WAIT_TIMER;
	soft_timer_set(qp, soft_now_ns() + wait_ns);
}

void soft_refused_rnr(struct soft_qp *qp, uint32_t timer)
{
	if (qp->attr.rnr_retry != RNR_INFINITE && qp->rnr_left-- == 0) {
		soft_send_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	start_over(qp, rnr_wait[timer % 32] * 10000ull);
}

void soft_refused_fetch(struct soft_qp *qp)
{
	start_over(qp, 0);
}

void soft_refused_silence(struct soft_qp *qp)
{
	uint64_t now = soft_now_ns(), timeout = ack_timeout_ns(qp);

	if (qp->give_up_ns == 0)
		qp->give_up_ns = timeout ? now + timeout * (qp->attr.retry_cnt + 1u) : UINT64_MAX;
	if (now >= qp->give_up_ns || (qp->out && atomic_load(&qp->out->dead))) {
		soft_send_fail(qp, IBV_WC_RETRY_EXC_ERR);
		return;
	}
	start_over(qp, RETRY_NS);
}

void soft_refused_drained(struct soft_qp *qp)
{
	qp->stall = soft_now_ns() >= qp->deadline_ns ? SOFT_GO : SOFT_WAIT_TIMER;
	if (qp->stall == SOFT_WAIT_TIMER)
		soft_timer_set(qp, qp->deadline_ns);
}
