// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs_move: RDMA that is complete when the call returns.
 *
 * DESIGN NOTES
 *
 * The checks and the copy are those of a work request. The queue must be empty, so its order is
 * kept.
 *
 * A peer that polls may be faster than a system call (proto.c). Then the caller sends it a
 * synchronous request, which is no element of the queue, and polls for the answer, about as long as
 * a system call would take. Then it posts the operation instead, behind the request in flight
 * (qp->inflight); the same bytes move again. While it polls, it carries out its peers' requests, so
 * two processes may send each other synchronous requests.
 *
 * A large transfer is sent in parts, some ahead of the answers: one side fills chunks while the
 * other empties them. Each answer restarts the time limit.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/engine/engine.h"
#include "soft/extension.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/request/request.h"
#include "soft/rma/copy.h"
#include "soft/rma/direct.h"
#include "soft/rma/proto.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	AHEAD = 8,          /* most unanswered parts */
	PARTS = 8,          /* about this many parts, */
	PART_MIN = 8 << 10, /* but none smaller than this, or larger than a chunk */
	LIMIT_TICKS = 40000,
	BYTES_A_TICK = 4, /* of a system call: the limit grows with the size */
};

static uint32_t part_of(uint64_t length)
{
	uint64_t part = length / PARTS / PART_MIN * PART_MIN;

	return (uint32_t)(part < PART_MIN ? PART_MIN : part > SHM_CHUNK ? SHM_CHUNK : part);
}

/* Under qp->lock. */
static bool may_push(struct soft_qp *qp)
{
	const struct soft_sync_req *sync = &qp->sync_req;

	return sync->sent < sync->length && sync->sent - sync->answered < AHEAD * (uint64_t)sync->part;
}

static void push_parts(struct soft_qp *qp, const struct soft_rdma *op)
{
	while (may_push(qp) && soft_sync_push(qp, op))
		;
}

/* A queue pair has one synchronous request at a time. Under qp->lock. */
static bool begin(struct soft_qp *qp, const struct soft_rdma *op)
{
	struct soft_sync_req *sync = &qp->sync_req;

	if (sync->busy)
		return false;
	sync->here = op->opcode == IBV_WR_RDMA_READ ? op->iov[0].iov_base : NULL;
	sync->epoch = qp->epoch;
	sync->length = op->length;
	sync->part = part_of(op->length);
	sync->sent = sync->answered = 0;
	sync->seen = soft_sync_counted(sync);
	soft_sync_store(sync, SOFT_SYNC_PENDING);
	push_parts(qp, op);
	sync->busy = sync->sent > 0;
	return sync->busy;
}

/* Returns whether the queue pair is unchanged since the first part was sent. Under qp->lock. */
static bool goes_on(struct soft_qp *qp)
{
	return soft_sync_load(&qp->sync_req) == SOFT_SYNC_PENDING && qp->sync_req.epoch == qp->epoch &&
	       qp->sq_exec == qp->sq_head && qp->stall == SOFT_GO && soft_qp_state(qp) == IBV_QPS_RTS;
}

static void push_rest(struct soft_qp *qp, const struct soft_rdma *op)
{
	soft_lock(&qp->lock);
	if (goes_on(qp))
		push_parts(qp, op);
	soft_unlock(&qp->lock);
}

/*
 * Ends the wait: another caller may send. Returns the request's state. `late` is the time that the
 * peer has not answered for, or 0.
 */
static enum soft_sync_state end(struct soft_qp *qp, uint64_t late)
{
	enum soft_sync_state state;

	soft_lock(&qp->lock);
	state = soft_sync_load(&qp->sync_req);
	soft_sync_store(&qp->sync_req, SOFT_SYNC_NONE);
	qp->sync_req.busy = false;
	if (late && qp->out)
		soft_sync_late(qp->out, late);
	soft_unlock(&qp->lock);
	return state;
}

/* Returns whether another part was answered; sends remaining parts then. */
static bool goes_further(struct soft_qp *qp, const struct soft_rdma *op)
{
	uint32_t count = soft_sync_counted(&qp->sync_req);
	bool further = count != qp->sync_req.seen;

	qp->sync_req.seen = count;
	if (further)
		push_rest(qp, op);
	return further;
}

/*
 * Waits for the answers, and sends the remaining parts. Reads the clock before the answers: both
 * sides may have lost their processors meanwhile.
 */
static enum soft_sync_state wait_answers(struct soft_qp *qp, const struct soft_rdma *op)
{
	uint64_t limit_ticks = LIMIT_TICKS + op->length / BYTES_A_TICK, since = shm_ticks();
	enum soft_sync_state state;
	bool over;

	do {
		over = shm_ticks() - since >= limit_ticks;
		soft_progress(soft_core);
		soft_say_spinning(soft_core);
		state = soft_sync_load(&qp->sync_req);
		if (goes_further(qp, op)) {
			since = shm_ticks();
			over = false;
		}
	} while (state == SOFT_SYNC_PENDING && !over);
	return state;
}

/* Returns whether the peer has carried out the request, sent at `since`. */
static bool answered(struct soft_qp *qp, const struct soft_rdma *op, uint64_t since)
{
	bool late = wait_answers(qp, op) == SOFT_SYNC_PENDING;
	uint64_t ticks = shm_ticks() - since;
	bool done = end(qp, late ? ticks : 0) == SOFT_SYNC_DONE;

	if (done && !late)
		soft_sync_took(soft_is_write(op), op->length, SOFT_PROTO_RING, ticks);
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
		                    .iov = &iov };
	struct soft_qp *qp = soft_qp(base);
	enum soft_direct way = SOFT_DIRECT_RING;
	enum ibv_wc_status status;
	uint64_t since = 0;
	bool begun = false;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	if (soft_qp_idle(qp) && (write || qp->attr.max_rd_atomic))
		way = soft_direct(qp, &op, &status);
	if (way == SOFT_DIRECT_SYNC) {
		since = shm_ticks();
		begun = begin(qp, &op);
	}
	soft_unlock(&qp->lock);
	return way == SOFT_DIRECT_DONE || (begun && answered(qp, &op, since)) ? 0 : EOPNOTSUPP;
}

/*
 * softverbs_read_list, softverbs_write_list: many RDMA READs, or WRITEs, of a peer's private memory
 * that are complete when the call returns.
 *
 * DESIGN NOTES
 *
 * A system call checks once the right to access the peer, but walks page tables for each range. So
 * short pieces that lie close together are read as one range, into a buffer.
 */

enum {
	RANGES = 64,      /* of one system call */
	JOINED_MAX = 512, /* bytes of a piece, or between two; less than a page */
	BUFFER = 8 << 10,
};

struct ranges {
	uint32_t n;
	uint64_t bytes;
	struct iovec here[RANGES], there[RANGES];
	size_t ends[RANGES]; /* the piece behind those of a range */
	uint32_t buffered;
	uint8_t buffer[BUFFER];
};

/* Reads a piece with the last range, if that is in the buffer and ends close before it. */
static bool join(struct ranges *ranges, const struct softverbs_piece *piece)
{
	struct iovec *here = &ranges->here[ranges->n - 1], *there = &ranges->there[ranges->n - 1];
	const uint64_t gap = piece->addr - (uintptr_t)there->iov_base - there->iov_len, more = gap + piece->size_bytes;

	if ((uint8_t *)here->iov_base + here->iov_len != ranges->buffer + ranges->buffered || gap > JOINED_MAX ||
	    piece->size_bytes > JOINED_MAX || more > BUFFER - ranges->buffered)
		return false;
	here->iov_len = there->iov_len += more;
	ranges->buffered += (uint32_t)more;
	ranges->bytes += more;
	return true;
}

static void add(struct ranges *ranges, const struct softverbs_piece *piece, bool may_join)
{
	void *here = piece->here;

	if (may_join && piece->size_bytes <= JOINED_MAX && piece->size_bytes <= BUFFER - ranges->buffered) {
		here = ranges->buffer + ranges->buffered;
		ranges->buffered += (uint32_t)piece->size_bytes;
	}
	ranges->here[ranges->n] = (struct iovec){ here, piece->size_bytes };
	ranges->there[ranges->n++] = (struct iovec){ (void *)(uintptr_t)piece->addr, piece->size_bytes };
	ranges->bytes += piece->size_bytes;
}

/*
 * Makes ranges of the first pieces, of one key. All are in its region if the bytes from the first
 * to the last are. Returns how many pieces, or 0 if they are not. The caller is busy.
 */
static size_t gather(struct soft_qp *qp, struct ranges *ranges, const struct softverbs_piece *pieces, size_t count,
                     uint32_t access)
{
	const bool may_join = access == IBV_ACCESS_REMOTE_READ;
	uint64_t from = UINT64_MAX, to = 0, there;
	bool wraps = false;
	size_t i;

	ranges->n = ranges->buffered = 0;
	ranges->bytes = 0;
	for (i = 0; i < count && pieces[i].rkey == pieces->rkey; i++) {
		const uint64_t end = pieces[i].addr + pieces[i].size_bytes;

		if (!may_join || ranges->n == 0 || !join(ranges, &pieces[i])) {
			if (ranges->n == RANGES)
				break;
			add(ranges, &pieces[i], may_join);
		}
		ranges->ends[ranges->n - 1] = i + 1;
		from = pieces[i].addr < from ? pieces[i].addr : from;
		to = end > to ? end : to;
		wraps |= end < pieces[i].addr;
	}
	if (wraps || !soft_direct_reaches(qp, (struct soft_span){ from, to - from, pieces->rkey }, access, &there))
		return 0;
	for (uint32_t range = 0; range < ranges->n; range++)
		ranges->there[range].iov_base = (uint8_t *)ranges->there[range].iov_base + (there - from);
	return i;
}

static void place_pieces(const struct ranges *ranges, const struct softverbs_piece *pieces)
{
	size_t i = 0;

	for (uint32_t range = 0; range < ranges->n; range++) {
		const uint64_t first = pieces[i].addr;
		const uint8_t *here = ranges->here[range].iov_base;

		for (; i < ranges->ends[range]; i++) {
			if (pieces[i].here != here)
				soft_copy(pieces[i].here, here + (pieces[i].addr - first), pieces[i].size_bytes);
		}
	}
}

/* Returns how many pieces one call has read, or 0 if it cannot. The caller is busy. */
static size_t read_some(struct soft_qp *qp, const struct softverbs_piece *pieces, size_t count)
{
	struct ranges ranges;
	size_t some = gather(qp, &ranges, pieces, count, IBV_ACCESS_REMOTE_READ);

	if (some == 0 || soft_vm_readv(qp->out->peer.pid, ranges.here, ranges.n, ranges.there, ranges.n) != ranges.bytes)
		return 0;
	place_pieces(&ranges, pieces);
	return some;
}

/* Under qp->lock; the queue is empty. */
static bool read_all(struct soft_qp *qp, const struct softverbs_piece *pieces, size_t count)
{
	size_t done = 0, some = soft_direct_begin(qp, IBV_WR_RDMA_READ) ? 1 : 0;

	while (some > 0 && done < count) {
		some = read_some(qp, pieces + done, count - done);
		done += some;
	}
	soft_direct_end(qp);
	return some > 0;
}

/* Returns the bytes written. Under qp->lock; the queue is empty. */
static uint64_t write_all(struct soft_qp *qp, const struct softverbs_piece *pieces, size_t count)
{
	bool goes_on = soft_direct_begin(qp, IBV_WR_RDMA_WRITE);
	uint64_t written = 0, moved;
	struct ranges ranges;

	for (size_t done = 0, some; goes_on && done < count; done += some) {
		some = gather(qp, &ranges, pieces + done, count - done, IBV_ACCESS_REMOTE_WRITE);
		if (some == 0)
			break;
		moved = soft_vm_writev(qp->out->peer.pid, ranges.here, ranges.n, ranges.there, ranges.n);
		written += moved;
		goes_on = moved == ranges.bytes;
	}
	atomic_thread_fence(memory_order_acq_rel);
	soft_direct_end(qp);
	return written;
}

SOFT_EXPORT bool softverbs_polls(struct ibv_qp *base)
{
	struct soft_out *out = soft_qp_out(soft_qp(base));

	return !soft_adversary.on && out && soft_peer_spins(&out->peer);
}

SOFT_EXPORT int softverbs_read_list(struct ibv_qp *base, const struct softverbs_piece *pieces, size_t count)
{
	struct soft_qp *qp = soft_qp(base);
	bool done;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	done = soft_qp_idle(qp) && qp->attr.max_rd_atomic && read_all(qp, pieces, count);
	soft_unlock(&qp->lock);
	return done ? 0 : EOPNOTSUPP;
}

SOFT_EXPORT uint64_t softverbs_write_list(struct ibv_qp *base, const struct softverbs_piece *pieces, size_t count)
{
	struct soft_qp *qp = soft_qp(base);
	uint64_t written = 0;

	if (soft_adversary.on)
		return 0;
	soft_lock(&qp->lock);
	if (soft_qp_idle(qp))
		written = write_all(qp, pieces, count);
	soft_unlock(&qp->lock);
	return written;
}

SOFT_EXPORT int softverbs_pull(struct ibv_qp *base, uint64_t addr, void *here, size_t size_bytes)
{
	const struct soft_out *out = soft_qp_out(soft_qp(base));
	struct iovec iov = { here, size_bytes };

	if (soft_adversary.on || !out || !atomic_load(&out->answered) || atomic_load(&out->dead) || !out->can_vm)
		return EOPNOTSUPP;
	return soft_vm_read(out->peer.pid, addr, &iov, 1, size_bytes);
}
