// SPDX-License-Identifier: BSD-2-Clause
/*
 * Coalesced writes: several small work requests travel in one request of the ring, answered once.
 *
 * DESIGN NOTES
 *
 * For a few bytes in a polling peer's private memory the ring is faster than a system call. It
 * costs the cache lines of a request and its answer. Consecutive writes, mostly a put and its flag,
 * share them, as a NIC's writes share a doorbell.
 *
 * The responder carries out the pieces in order and answers how many. If it refuses one, those
 * before it are complete, and the refusal is that one's, as if each had come alone.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/peer/pipe.h"
#include "soft/queue/cq.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

static uint32_t piece_bytes(uint64_t length)
{
	return (uint32_t)(sizeof(struct shm_piece) + (length + 7) / 8 * 8);
}

bool soft_may_coalesce(const struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return wqe->opcode == IBV_WR_RDMA_WRITE && wqe->length > 0 && wqe->length <= qp->coalesce_max && !wqe->placed &&
	       !soft_adversary.on && qp->part_done == 0;
}

/* Returns how many requests from exec on are coalesced; *bytes becomes their size. */
static uint32_t measure(const struct soft_qp *qp, uint32_t *bytes)
{
	uint32_t n = 0;

	*bytes = 0;
	for (uint32_t i = qp->sq_exec; i != qp->sq_head; i++, n++) {
		const struct soft_wqe *wqe = soft_wqe(qp, i);

		if (!soft_may_coalesce(qp, wqe) || (n > 0 && wqe->flags & IBV_SEND_FENCE) ||
		    *bytes + piece_bytes(wqe->length) > SHM_CHUNK)
			break;
		*bytes += piece_bytes(wqe->length);
	}
	return n;
}

/* Returns the next piece's place, or NULL if the local memory is not readable. */
static uint8_t *fill_piece(const struct soft_qp *qp, const struct soft_wqe *wqe, uint8_t *at)
{
	struct shm_piece piece = { .raddr = wqe->raddr, .rkey = wqe->rkey, .length = (uint32_t)wqe->length };
	struct iovec iov[SOFT_MAX_SGE];

	if (!soft_gather(qp, wqe, 0, iov))
		return NULL;
	memcpy(at, &piece, sizeof(piece));
	soft_copy_out(at + sizeof(piece), iov, wqe->flags & IBV_SEND_INLINE ? 1 : wqe->nsge, 0, (size_t)wqe->length);
	return at + piece_bytes(wqe->length);
}

/* Returns the number of filled pieces. */
static uint32_t fill(const struct soft_qp *qp, uint32_t n, uint32_t bytes, struct shm_req *req, uint8_t *chunk)
{
	uint8_t *at = bytes <= SHM_INLINE ? req->data : chunk;
	uint32_t filled = 0;

	while (filled < n) {
		at = fill_piece(qp, soft_wqe(qp, qp->sq_exec + filled), at);
		if (!at)
			break;
		filled++;
	}
	req->opcode = IBV_WR_RDMA_WRITE;
	req->flags = SHM_REQ_FIRST | SHM_REQ_LAST | SHM_REQ_COALESCED | (qp->resync ? SHM_REQ_RESYNC : 0);
	req->nsge = filled;
	req->length = bytes;
	return filled;
}

bool soft_coalesce_push(struct soft_qp *qp)
{
	uint32_t bytes, n = measure(qp, &bytes);
	uint8_t *chunk;
	struct shm_req *req = soft_pipe_begin(qp, &chunk);

	if (!req)
		return false;
	n = fill(qp, n, bytes, req, chunk);
	if (n == 0) {
		soft_pipe_cancel(qp);
		/* It fails in its turn. */
		if (!qp->inflight)
			soft_send_fail(qp, IBV_WC_LOC_PROT_ERR);
		return false;
	}
	soft_pipe_commit(qp, req);
	qp->sq_exec += n;
	return true;
}
