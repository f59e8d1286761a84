// SPDX-License-Identifier: BSD-2-Clause
/*
 * Large writes and reads that both sides carry out.
 *
 * DESIGN NOTES One processor does not fill the memory's bandwidth, nor does it hold a megabyte in its own cache;
 * and a peer that sits in ibv_poll_cq has nothing better to do. So the requester cuts the transfer into
 * pieces, and lets the responder take some of them:
 *
 *   requester   writes the job, opens it, takes pieces and copies until none is left; then it waits until the
 *               responder is done with those that it took
 *   responder   whenever it looks into its pipes, takes pieces and copies
 *
 * Who takes a piece is settled by compare-exchange of one word; the job does not change while the responder
 * has a piece of it. So one that was late, and takes a piece of the next job, is right as well. A responder
 * that does not look costs nothing, one that lost its processor in the middle of a piece is waited for, as it
 * is where somebody withdraws a key (key.c), until it has done it or is dead: what it holds cannot be called back.
 * So only calls of the program share, on queue pairs that wait for no answer; who takes answers goes on.
 * The responder trusts nothing: keys are checked as for a request, and what it may not or cannot do it says that
 * it has missed. Then the requester does all of it again by itself. It copies by its own view of its memory: a
 * program that registers what it may not touch gets the signal that it would get for touching it.
 *
 * The last bytes of a write come when everything else is there: programs look at these (soft_copy).
 *
 * The responder reaches the requester's memory as that reaches its: mapped, where a key of the requester's
 * grants it, or by system call. It never waits for a lock of a queue pair: whoever holds that may be waiting
 * for the other side's help in the same way.
 */
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/verbs/adversary.h"
#include "soft/verbs/copy.h"
#include "soft/verbs/core.h"
#include "soft/verbs/direct.h"
#include "soft/verbs/key.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/peer.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/progress.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/reach.h"
#include "soft/verbs/share.h"
#include "soft/verbs/shm.h"
#include "soft/verbs/way.h"

enum {
	PIECES = 16,           /* about so many, */
	PIECE_MIN = 32 << 10,  /* but none smaller than so many bytes, */
	PIECE_MAX = 128 << 10, /* or larger */
	PAGE = 4096,
	ALONE_PIECE = 32 << 10, /* bytes */
	HELP_MOST = 64,         /* pieces in one look into the pipes */
	TURNS_PER_LOOK = 256,   /* while waiting for a peer: between looks whether it is alive */
};

/* ---- what both do ---- */

/* Memory of the other process, from here. */
struct there {
	pid_t pid;
	uint8_t *at;   /* where it is mapped; NULL: by system call, */
	uint64_t addr; /* at this address there */
};

/* Write or read some of it, `from` bytes in. */
static bool copy(const struct there *there, uint64_t from, uint8_t *here, uint64_t length, bool write)
{
	struct iovec iov = { here, length };

	if (!there->at)
		return (write ? soft_vm_write : soft_vm_read)(there->pid, there->addr + from, &iov, 1, length) == 0;
	soft_copy(write ? there->at + from : here, write ? here : there->at + from, length);
	return true;
}

/* ---- requester ---- */

/* How this side's memory is named, if peers may do what the responder would. */
static void name_here(const struct soft_qp *qp, const struct soft_rdma *op, struct shm_job *job)
{
	uint32_t access = op->opcode == IBV_WR_RDMA_WRITE ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	const struct shm_mr *mr;

	job->here = (uintptr_t)op->iov->iov_base;
	if (!op->lkey)
		return;
	mr = &soft_core->seg->mr[soft_key_place(soft_core->seg, op->lkey)];
	job->iova = job->here - mr->addr + mr->iova;
	if (mr->file_fd >= 0 &&
	    soft_key_find(soft_core->seg, op->lkey, qp->ex.qp_base.pd->handle, 0, job->iova, op->length, access))
		job->lkey = op->lkey;
}

static uint32_t piece_of(uint64_t length)
{
	uint64_t piece = length / PIECES / PAGE * PAGE;

	return (uint32_t)(piece < PIECE_MIN ? PIECE_MIN : piece > PIECE_MAX ? PIECE_MAX : piece);
}

/* A job that the responder has nothing of any more. */
struct share {
	struct shm_share *shm;
	uint32_t piece; /* bytes */
	uint32_t pieces;
	uint64_t helped, missed; /* before it */
};

static struct share open_job(const struct soft_qp *qp, const struct soft_rdma *op, uint64_t length)
{
	struct shm_share *shm = &qp->out->shm->share;
	struct share share = {
		.shm = shm, .piece = piece_of(length), .helped = shm_share_helped(shm), .missed = shm_share_missed(shm)
	};

	shm->job = (struct shm_job){ .opcode = op->opcode,
		                         .dst_qpn = qp->attr.dest_qp_num,
		                         .src_qpn = qp->ex.qp_base.qp_num,
		                         .rkey = op->rkey,
		                         .raddr = op->raddr,
		                         .length = length,
		                         .piece = share.piece };
	name_here(qp, op, &shm->job);
	share.pieces = (uint32_t)((length + share.piece - 1) / share.piece);
	shm_share_open(shm, share.pieces);
	soft_peer_notify(&qp->out->peer);
	return share;
}

/* The responder is done with so many pieces, or dead: then false. *late: it took longer than an answer may. */
static bool wait_help(const struct soft_out *out, const struct share *share, uint32_t pieces, uint64_t patience_ticks,
                      bool *late)
{
	uint64_t since = shm_ticks();
	uint32_t turns = 0;

	*late = false;
	while (shm_share_helped(share->shm) != share->helped + pieces) {
		if (!*late) {
			soft_cpu_relax();
			*late = shm_ticks() - since > patience_ticks;
		} else if (++turns % TURNS_PER_LOOK == 0 && soft_out_gone(out)) {
			return false;
		} else {
			sched_yield();
		}
	}
	return true;
}

/* The pieces that are left to the requester, `own` in number. False: not all are in place. */
static bool own_pieces(const struct share *share, const struct soft_rdma *op, const struct there *there,
                       uint64_t length, uint32_t *own)
{
	bool done = true;
	uint32_t n;

	for (*own = 0; shm_share_take(share->shm, true, &n); ++*own) {
		uint64_t from = (uint64_t)n * share->piece, left = length - from;

		/* What the other side has written is not believed. */
		if (n >= share->pieces)
			return false;
		done &= copy(there, from, (uint8_t *)op->iov->iov_base + from, left < share->piece ? left : share->piece,
		             op->opcode == IBV_WR_RDMA_WRITE);
	}
	return done;
}

/* The first bytes. False: not everything is in place. */
static bool by_both(struct soft_qp *qp, const struct soft_rdma *op, const struct there *there, uint64_t length,
                    enum soft_way_kind kind, bool *late)
{
	struct share share = open_job(qp, op, length);
	uint32_t own;
	bool done = own_pieces(&share, op, there, length, &own);
	uint64_t patience_ticks;

	/* What the answer to a chunk may take, for each that a piece has. */
	patience_ticks = soft_way_patience_ticks(kind, op->length) * (share.piece / SHM_CHUNK);
	if (!wait_help(qp->out, &share, share.pieces - own, patience_ticks, late))
		return false;
	return done && shm_share_missed(share.shm) == share.missed;
}

static bool may_be_shared(const struct soft_qp *qp, const struct soft_rdma *op)
{
	return (op->opcode == IBV_WR_RDMA_WRITE || op->opcode == IBV_WR_RDMA_READ) && op->nsge == 1 && !qp->out->self &&
	       op->posted && !qp->inflight && !soft_adversary.on && soft_peer_spins(&qp->out->peer);
}

/* Where the peer has this byte of its memory. */
static uint64_t addr_there(const struct soft_rdma *op, const struct shm_mr *mr)
{
	return mr->addr + (op->raddr - mr->iova);
}

/* All but the last word, which comes when that is there: programs look at it. */
static uint64_t first_of(uint64_t length)
{
	return length - soft_last_bytes(length);
}

static bool copy_last(const struct soft_rdma *op, const struct there *there, uint64_t first)
{
	return copy(there, first, (uint8_t *)op->iov->iov_base + first, op->length - first,
	            op->opcode == IBV_WR_RDMA_WRITE);
}

/* What is written after a write must not be seen before it, nor what is read after a read be older. */
static bool ended(struct soft_qp *qp, bool done)
{
	soft_unlock(&qp->out->sharing);
	atomic_thread_fence(memory_order_acq_rel);
	return done;
}

static bool share(struct soft_qp *qp, const struct soft_rdma *op, const struct there *there, enum soft_way_kind kind,
                  bool timed)
{
	uint64_t since = shm_ticks(), first = first_of(op->length);
	bool late, done = by_both(qp, op, there, first, kind, &late) && copy_last(op, there, first);

	if (late || !done)
		soft_way_lost(kind, op->length);
	else if (timed)
		soft_way_took(kind, SOFT_BY_BOTH, op->length, shm_ticks() - since, 1);
	return done;
}

/* As the caller would do it: upwards and downwards in turn, since what it has ended with is still in the cache the next time. */
static void copy_in_turn(const struct soft_rdma *op, const struct there *there, uint64_t length)
{
	static _Atomic bool downwards; /* a hint */
	const bool down = atomic_load_explicit(&downwards, memory_order_relaxed);
	const uint64_t pieces = (length + ALONE_PIECE - 1) / ALONE_PIECE;

	atomic_store_explicit(&downwards, !down, memory_order_relaxed);
	for (uint64_t i = 0; i < pieces; i++) {
		uint64_t from = (down ? pieces - 1 - i : i) * ALONE_PIECE, left = length - from;

		copy(there, from, (uint8_t *)op->iov->iov_base + from, left < ALONE_PIECE ? left : ALONE_PIECE,
		     op->opcode == IBV_WR_RDMA_WRITE);
	}
}

/* Memory that is mapped. False: the caller is to do it. */
static bool alone(const struct soft_rdma *op, const struct there *there, bool timed)
{
	uint64_t since = shm_ticks(), first = first_of(op->length);

	if (!timed)
		return false;
	copy_in_turn(op, there, first);
	copy_last(op, there, first);
	soft_way_took(SOFT_WAY_LARGE_MAPPED, SOFT_ALONE, op->length, shm_ticks() - since, 1);
	return true;
}

bool soft_share_large(struct soft_qp *qp, const struct soft_rdma *op, const struct shm_mr *mr, void *at)
{
	const struct there there = { qp->out->peer.pid, at, addr_there(op, mr) };
	bool timed;

	if (!may_be_shared(qp, op) || !soft_trylock(&qp->out->sharing))
		return false;
	if (soft_way_next(SOFT_WAY_LARGE_MAPPED, op->length, &timed) == SOFT_BY_BOTH)
		return ended(qp, share(qp, op, &there, SOFT_WAY_LARGE_MAPPED, timed));
	return ended(qp, alone(op, &there, timed));
}

bool soft_share_private(struct soft_qp *qp, const struct soft_rdma *op, const struct shm_mr *mr, bool timed)
{
	const struct there there = { qp->out->peer.pid, NULL, addr_there(op, mr) };

	if (!may_be_shared(qp, op) || !soft_trylock(&qp->out->sharing))
		return false;
	return ended(qp, share(qp, op, &there, soft_kind_of(op), timed));
}

/* ---- responder ---- */

/* Our memory that the job names, if the requester may do that to it. */
static void *target_of(struct soft_core *core, const struct soft_in *in, struct soft_qp *qp, const struct shm_job *job)
{
	bool write = job->opcode == IBV_WR_RDMA_WRITE;
	uint32_t access = write ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
	const struct shm_mr *mr;

	if (!soft_qp_connected(soft_qp_state(qp)) || qp->unheard || qp->attr.dest_qp_num != job->src_qpn ||
	    shm_qpn_index(in->peer.seg, job->src_qpn) < 0)
		return NULL;
	if (!(qp->attr.qp_access_flags & access) || (!write && !qp->attr.max_dest_rd_atomic))
		return NULL;
	mr = soft_key_find(core->seg, job->rkey, qp->ex.qp_base.pd->handle, qp->ex.qp_base.qp_num, job->raddr, job->length,
	                   access);
	return mr ? (void *)(uintptr_t)(mr->addr + (job->raddr - mr->iova)) : NULL;
}

/* The requester's memory as it is reached from here. We are busy. */
static bool find_there(struct soft_qp *qp, const struct soft_in *in, const struct shm_job *job, struct there *there)
{
	uint32_t access = job->opcode == IBV_WR_RDMA_WRITE ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	const struct shm_mr *mr;
	void *at;

	*there = (struct there){ in->peer.pid, NULL, job->here };
	mr = job->lkey && qp->out && qp->peer && qp->out->peer.pid == in->peer.pid
	         ? soft_reach_region(qp, job->lkey, job->iova, job->length, access)
	         : NULL;
	if (mr && soft_reach_of(qp->out, mr, job->iova, &at) == SOFT_REACH_MAPPED)
		there->at = at;
	return there->at || in->can_vm;
}

/* A piece of it. Under qp->lock. */
static bool carry_out(struct soft_core *core, const struct soft_in *in, struct soft_qp *qp, const struct shm_job *job,
                      uint32_t n)
{
	uint64_t from = (uint64_t)n * job->piece, left = job->length - from;
	uint8_t *here = target_of(core, in, qp, job);
	struct there there;
	bool done;

	if (!here || from >= job->length)
		return false;
	shm_busy_enter(qp->shm, in->peer.full_fence);
	done = find_there(qp, in, job, &there) &&
	       copy(&there, from, here + from, left < job->piece ? left : job->piece, job->opcode != IBV_WR_RDMA_WRITE);
	shm_busy_leave(qp->shm);
	return done;
}

/* The queue pair that the job is about, locked, unless it is another job's when there is a piece. NULL: not now. */
static struct soft_qp *lock_qp(struct soft_core *core, const struct soft_in *in)
{
	int index = shm_qpn_index(core->seg, shm_share_dst_qpn(&in->shm->share));
	struct soft_qp *qp = index < 0 ? NULL : core->qp[index];

	return qp && soft_trylock(&qp->lock) ? qp : NULL;
}

/* Take the next piece; false: there is none, or the queue pair is in other hands. */
static bool help(struct soft_core *core, const struct soft_in *in)
{
	struct shm_share *share = &in->shm->share;
	struct soft_qp *qp = lock_qp(core, in);
	uint32_t n;
	bool taken;

	if (!qp)
		return false;
	taken = shm_share_take(share, false, &n);
	if (taken) {
		const struct shm_job job = share->job;

		shm_share_done(share, job.dst_qpn == qp->ex.qp_base.qp_num && carry_out(core, in, qp, &job, n));
	}
	soft_unlock(&qp->lock);
	return taken;
}

void soft_share_help(struct soft_core *core, struct soft_in *in)
{
	int pieces = 0;

	if (!shm_share_is_open(&in->shm->share))
		return;
	while (pieces < HELP_MOST && help(core, in))
		pieces++;
	soft_count_served(core, (uint64_t)pieces);
}
