// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs_move: RDMA that is over when the call returns.
 *
 * DESIGN NOTES What a NIC cannot do: where one system call moves the data, a completion only tells
 * what the caller could have known. Posting and polling take more than a thousand instructions,
 * which after a system call are all cold. Here the same checks are made and the same copy, and
 * there is nothing to wait for. The order is that of the queue, since nothing may be in it.
 *
 * A peer that looks into its pipes may be sooner than a system call (way.c). It is asked by a request that
 * is no element of the queue, and the caller looks for the answer himself. He does so for a bounded
 * time only (way.c), since the peer may have lost its processor: then he gives up, and what he posts
 * instead comes behind that request, because it is under way (qp->inflight), and does the same again. Who
 * asks carries out meanwhile what others ask of him, so two that ask each other both get their answers.
 *
 * What does not fit into one request is asked for in parts, some of them ahead of the answers, so that one side fills
 * chunks while the other empties them. The bound of the time starts anew
 * with every answer.
 *
 * In adversary mode everything goes by the queue.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/extension.h"
#include "soft/verbs/adversary.h"
#include "soft/verbs/core.h"
#include "soft/verbs/direct.h"
#include "soft/verbs/export.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/progress.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/requester.h"
#include "soft/verbs/shm.h"
#include "soft/verbs/way.h"

enum {
	AHEAD = 8,          /* parts that are asked for before the first of them is answered, at the most */
	PARTS = 8,          /* about so many, */
	PART_MIN = 8 << 10, /* but none smaller than so many bytes, or larger than a chunk */
};

static uint32_t part_of(uint64_t length)
{
	uint64_t part = length / PARTS / PART_MIN * PART_MIN;

	return (uint32_t)(part < PART_MIN ? PART_MIN : part > SHM_CHUNK ? SHM_CHUNK : part);
}

/* May more be asked for? Under qp->lock. */
static bool may_ask(struct soft_qp *qp)
{
	const struct soft_asked *asked = &qp->asked;

	return asked->sent < asked->length && asked->sent - asked->answered < AHEAD * (uint64_t)asked->part;
}

static void ask_more(struct soft_qp *qp, const struct soft_rdma *op)
{
	while (may_ask(qp) && soft_ask(qp, op))
		;
}

/* Nobody else asks meanwhile. Under qp->lock. */
static bool ask(struct soft_qp *qp, const struct soft_rdma *op)
{
	struct soft_asked *asked = &qp->asked;

	if (asked->busy)
		return false;
	asked->here = op->opcode == IBV_WR_RDMA_READ ? op->iov[0].iov_base : NULL;
	asked->epoch = qp->epoch;
	asked->length = op->length;
	asked->part = part_of(op->length);
	asked->sent = asked->answered = 0;
	asked->seen = soft_asked_counted(asked);
	soft_asked_store(asked, SOFT_ASKED);
	ask_more(qp, op);
	asked->busy = asked->sent > 0;
	return asked->busy;
}

/* Is the queue pair as it was when the first part was asked for? Nothing else may have come between. Under qp->lock. */
static bool goes_on(struct soft_qp *qp)
{
	return soft_asked_load(&qp->asked) == SOFT_ASKED && qp->asked.epoch == qp->epoch && qp->sq_exec == qp->sq_head &&
	       qp->stall == SOFT_GO && soft_qp_state(qp) == IBV_QPS_RTS;
}

/* The parts that are left, as far as there is room for them. */
static void ask_rest(struct soft_qp *qp, const struct soft_rdma *op)
{
	soft_lock(&qp->lock);
	if (goes_on(qp))
		ask_more(qp, op);
	soft_unlock(&qp->lock);
}

/* Nobody waits any more, and another may ask. What has become of it by now. */
static enum soft_asked_state stop_asking(struct soft_qp *qp)
{
	enum soft_asked_state state;

	soft_lock(&qp->lock);
	state = soft_asked_load(&qp->asked);
	soft_asked_store(&qp->asked, SOFT_ASKED_NOTHING);
	qp->asked.busy = false;
	soft_unlock(&qp->lock);
	return state;
}

/* Has another part been answered since this was asked last? Then what is left is asked for. */
static bool goes_further(struct soft_qp *qp, const struct soft_rdma *op)
{
	uint32_t count = soft_asked_counted(&qp->asked);
	bool further = count != qp->asked.seen;

	qp->asked.seen = count;
	if (further)
		ask_rest(qp, op);
	return further;
}

/*
 * Wait for the answers, and ask for what is left, as long as the peer goes on answering. The time is looked at before
 * the answers are: whoever had no processor meanwhile looks once more, for the peer may have had one.
 */
static enum soft_asked_state wait_answers(struct soft_qp *qp, const struct soft_rdma *op)
{
	uint64_t patience_ticks = soft_way_patience_ticks(soft_kind_of(op), op->length), since = shm_ticks();
	enum soft_asked_state state;
	bool over;

	do {
		over = shm_ticks() - since >= patience_ticks;
		soft_progress(soft_core);
		soft_say_spinning(soft_core);
		state = soft_asked_load(&qp->asked);
		if (goes_further(qp, op)) {
			since = shm_ticks();
			over = false;
		}
	} while (state == SOFT_ASKED && !over);
	return state;
}

/* The peer was asked at `since`. Has it done it? */
static bool answered(struct soft_qp *qp, const struct soft_rdma *op, uint64_t since)
{
	enum soft_way_kind kind = soft_kind_of(op);
	bool late = wait_answers(qp, op) == SOFT_ASKED;
	uint64_t ticks = shm_ticks() - since;
	bool done = stop_asking(qp) == SOFT_ASKED_DONE;

	if (late)
		soft_way_lost(kind, op->length);
	else if (done)
		soft_way_took(kind, SOFT_BY_RING, op->length, ticks, 1);
	return done;
}

SOFT_EXPORT int softverbs_move(struct ibv_qp *base, uint32_t rkey, uint64_t addr, void *here, size_t size_bytes,
                               bool write)
{
	struct iovec iov = { here, size_bytes };
	struct soft_rdma op = { .opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		                    .nsge = 1,
		                    .rkey = rkey,
		                    .raddr = addr,
		                    .length = size_bytes,
		                    .waits = true,
		                    .posted = true,
		                    .iov = &iov };
	struct soft_qp *qp = soft_qp(base);
	enum soft_direct way = SOFT_DIRECT_RING;
	enum ibv_wc_status status;
	uint64_t since = shm_ticks();
	bool asked;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	if (soft_qp_idle(qp) && (write || qp->attr.max_rd_atomic))
		way = soft_direct(qp, &op, &status);
	asked = way == SOFT_DIRECT_ASK && ask(qp, &op);
	soft_unlock(&qp->lock);
	return way == SOFT_DIRECT_DONE || (asked && answered(qp, &op, since)) ? 0 : EOPNOTSUPP;
}
