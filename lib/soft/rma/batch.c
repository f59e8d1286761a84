// SPDX-License-Identifier: BSD-2-Clause
/*
 * A batch: writes that are posted together, carried out by one system call.
 *
 * DESIGN NOTES
 *
 * process_vm_writev finds the peer, checks the right to access it and locks its page tables once
 * for all ranges. So a doorbell's writes to the peer's private memory, up to the first other
 * request, share a call. Each write is checked as if it came alone (direct.c). The kernel carries
 * out ranges in order and returns how many bytes it moved. A request that it did not complete is
 * carried out alone; repeating a write does no harm.
 *
 * If stores are not ordered (SOFT_STORES_IN_ORDER), each write is carried out alone: the system
 * call has no fence between its ranges.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/rma/copy.h"
#include "soft/rma/direct.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	BATCH_WRITES = 16,
	BATCH_BYTES = 16384, /* of one write: larger ones gain nothing */
};

/* Each write comes from one range. */
struct batch {
	uint32_t n;
	uint32_t ranges_here; /* the last word of a write has its own (copy.c) */
	uint32_t ranges;      /* at the peer: contiguous writes share one */
	struct iovec here[2 * BATCH_WRITES], there[BATCH_WRITES];
};

static bool is_part(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_WRITE && wr->num_sge == 1 && wr->sg_list->length > 0 &&
	       wr->sg_list->length <= BATCH_BYTES;
}

static void add_there(struct batch *batch, uint64_t addr, size_t length)
{
	struct iovec *last = &batch->there[batch->ranges];

	if (batch->ranges > 0 && (uintptr_t)last[-1].iov_base + last[-1].iov_len == addr) {
		last[-1].iov_len += length;
		return;
	}
	*last = (struct iovec){ (void *)(uintptr_t)addr, length };
	batch->ranges++;
}

/* Returns false if the write is no part of the batch. The caller is busy. */
static bool add(struct soft_qp *qp, const struct ibv_send_wr *wr, struct batch *batch)
{
	struct iovec *here = &batch->here[batch->ranges_here];
	size_t length = wr->sg_list->length;
	const struct soft_span span = { wr->wr.rdma.remote_addr, length, wr->wr.rdma.rkey };
	uint64_t there;

	if (!soft_posted_ranges(qp, wr, length, here) || !soft_direct_by_call(qp, span, &there))
		return false;
	add_there(batch, there, length);
	batch->ranges_here += soft_last_apart(here, 1, length);
	batch->n++;
	return true;
}

static void gather(struct soft_qp *qp, const struct ibv_send_wr *wr, struct batch *batch)
{
	while (wr && batch->n < BATCH_WRITES && soft_sq_room(qp, qp->sq_head + batch->n) && is_part(wr) &&
	       add(qp, wr, batch))
		wr = wr->next;
}

static void done(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	soft_send_done_at_once(qp, wr->wr_id, wr->opcode, wr->send_flags, wr->sg_list->length);
}

struct ibv_send_wr *soft_batch(struct soft_qp *qp, struct ibv_send_wr *wr)
{
	struct batch batch = { .n = 0 };
	uint64_t moved = 0;

	if (!SOFT_STORES_IN_ORDER || !is_part(wr) || !is_part(wr->next))
		return wr;
	if (soft_direct_begin(qp, IBV_WR_RDMA_WRITE))
		gather(qp, wr, &batch);
	if (batch.n > 1)
		moved = soft_vm_writev(qp->out->peer.pid, batch.here, batch.ranges_here, batch.there, batch.ranges);
	soft_direct_end(qp);
	for (; moved && moved >= wr->sg_list->length; wr = wr->next) {
		moved -= wr->sg_list->length;
		done(qp, wr);
	}
	return wr;
}
