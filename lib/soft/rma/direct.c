// SPDX-License-Identifier: BSD-2-Clause
/*
 * RDMA that the posting thread carries out on the peer's memory.
 *
 * DESIGN NOTES
 *
 * The caller sets its own queue pair's `busy` word, reads the peer's gate and key, accesses the
 * memory, and clears `busy`. A peer that closes its gate or withdraws a key waits for that (key.c).
 * A request that does not pass the checks goes by ring: the peer checks it again, answers, and
 * enters the error state, as a responder has to.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/tsan.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/rma/copy.h"
#include "soft/rma/direct.h"
#include "soft/rma/proto.h"
#include "soft/rma/rmap.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	RING_UNTRIED = 64, /* small writes that go by ring without a try, after one that had to */
};

struct target {
	uint32_t gate;   /* bits that the gate must have */
	uint32_t access; /* rights that the key must grant */
	bool atomic;
};

static struct target target_of(uint32_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return (struct target){ SHM_GATE_WRITE, IBV_ACCESS_REMOTE_WRITE, false };
	case IBV_WR_RDMA_READ:
		return (struct target){ SHM_GATE_READ | SHM_GATE_RD_RES, IBV_ACCESS_REMOTE_READ, false };
	default:
		return (struct target){ SHM_GATE_ATOMIC | SHM_GATE_RD_RES, IBV_ACCESS_REMOTE_ATOMIC, true };
	}
}

static void place(void *at, const void *from, size_t length)
{
	soft_copy(at, from, length);
	if (soft_adversary.on && soft_adversary_twice())
		soft_copy(at, from, length);
}

static void write_mapped(const struct soft_rdma *op, void *at)
{
	if (op->nsge == 1 && soft_adversary.on && soft_adversary_place(at, op->iov[0].iov_base, (size_t)op->length))
		;
	else if (op->nsge == 1)
		place(at, op->iov[0].iov_base, (size_t)op->length);
	else
		soft_copy_out(at, op->iov, op->nsge, 0, (size_t)op->length);
	/* Later stores must not be visible before this request's. */
	atomic_thread_fence(memory_order_release);
}

static void act_mapped(const struct soft_rdma *op, void *at)
{
	uint64_t old;

	switch (op->opcode) {
	case IBV_WR_RDMA_WRITE:
		write_mapped(op, at);
		break;
	case IBV_WR_RDMA_READ:
		soft_copy_in(op->iov, op->nsge, at, 0, (size_t)op->length);
		atomic_thread_fence(memory_order_acquire);
		break;
	default:
		old = soft_atomic(op->opcode, at, op->compare_add, op->swap);
		soft_copy_in(op->iov, op->nsge, &old, 0, sizeof(old));
	}
}

static int by_call(const struct soft_out *out, const struct soft_rdma *op, uint64_t addr, bool timed)
{
	uint64_t since = timed ? shm_ticks() : 0;
	int err = (soft_is_write(op) ? soft_vm_write : soft_vm_read)(out->peer.pid, addr, op->iov, op->nsge, op->length);

	if (timed && err == 0)
		soft_sync_took(soft_is_write(op), op->length, SOFT_PROTO_CALL, shm_ticks() - since);
	return err;
}

/*
 * Returns whether a posted write goes by ring; then the next small ones with this key do. A hint:
 * the peer checks them.
 */
static bool posts_to_ring(struct soft_qp *qp, uint32_t rkey, uint64_t length)
{
	if (!soft_posted_write_by_ring(qp->out, length))
		return false;
	qp->ring_rkey = rkey;
	qp->ring_left = RING_UNTRIED;
	return true;
}

/* Private memory: carries the request out by system call, or leaves it to the peer. */
static enum soft_direct act_vm(struct soft_qp *qp, const struct soft_rdma *op, uint64_t addr,
                               enum ibv_wc_status *status)
{
	bool timed = false;
	int err;

	if (op->waits && soft_sync_proto(qp->out, soft_is_write(op), op->length, &timed) == SOFT_PROTO_RING)
		return SOFT_DIRECT_SYNC;
	if (!op->waits && soft_is_write(op) && posts_to_ring(qp, op->rkey, op->length))
		return SOFT_DIRECT_RING;
	err = by_call(qp->out, op, addr, timed);
	if (err == 0)
		return SOFT_DIRECT_DONE;
	/* The peer is dying, or access was revoked: by ring, where an answer or the death ends it. */
	if (err != EFAULT)
		return SOFT_DIRECT_RING;
	*status = IBV_WC_REM_OP_ERR;
	return SOFT_DIRECT_ERROR;
}

static bool gate_open(const struct soft_qp *qp, const struct target *target)
{
	uint32_t want = SHM_GATE_OPEN | target->gate | qp->ex.qp_base.qp_num;

	return (shm_gate_load(qp->peer) & (SHM_GATE_OPEN | target->gate | SHM_GATE_QPN)) == want;
}

static enum soft_direct act(struct soft_qp *qp, const struct soft_rdma *op, const struct target *target,
                            enum ibv_wc_status *status)
{
	const struct shm_mr *mr;
	void *at;

	/* A request of no bytes needs no key. */
	if (op->length == 0)
		return SOFT_DIRECT_DONE;
	mr = soft_rmap_region(qp, (struct soft_span){ op->raddr, op->length, op->rkey }, target->access);
	if (!mr || (target->atomic && (mr->addr + (op->raddr - mr->iova)) % sizeof(uint64_t)))
		return SOFT_DIRECT_RING;
	switch (soft_rmap_of(qp->out, mr, op->raddr, &at)) {
	case SOFT_RMAP_MAPPED:
		act_mapped(op, at);
		return SOFT_DIRECT_DONE;
	case SOFT_RMAP_VM:
		if (!target->atomic)
			return act_vm(qp, op, mr->addr + (op->raddr - mr->iova), status);
		break;
	case SOFT_RMAP_NONE:
		break;
	}
	return SOFT_DIRECT_RING;
}

static bool begin(struct soft_qp *qp, const struct target *target)
{
	soft_tsan_ignore_begin();
	shm_busy_enter(qp->shm, qp->out->peer.full_fence);
	return gate_open(qp, target);
}

bool soft_direct_begin(struct soft_qp *qp, uint32_t opcode)
{
	struct target target = target_of(opcode);

	return begin(qp, &target);
}

void soft_direct_end(struct soft_qp *qp)
{
	shm_busy_leave(qp->shm);
	soft_tsan_ignore_end();
}

bool soft_direct_reaches(struct soft_qp *qp, struct soft_span span, uint32_t access, uint64_t *there)
{
	const struct shm_mr *mr = soft_rmap_region(qp, span, access);
	void *at;

	if (!mr || soft_rmap_of(qp->out, mr, span.addr, &at) != SOFT_RMAP_VM)
		return false;
	*there = mr->addr + (span.addr - mr->iova);
	return true;
}

bool soft_direct_by_call(struct soft_qp *qp, struct soft_span span, uint64_t *there)
{
	return soft_direct_reaches(qp, span, IBV_ACCESS_REMOTE_WRITE, there) && !posts_to_ring(qp, span.key, span.length);
}

enum soft_direct soft_direct(struct soft_qp *qp, const struct soft_rdma *op, enum ibv_wc_status *status)
{
	struct target target = target_of(op->opcode);
	enum soft_direct result = begin(qp, &target) ? act(qp, op, &target, status) : SOFT_DIRECT_RING;

	soft_direct_end(qp);
	return result;
}
