// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipes: requests one way, responses the other. Both ends of it, and a place for a request in it.
 */
#ifndef SOFT_PIPE_H
#define SOFT_PIPE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/list.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/peer.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/shm.h"

struct soft_rmap;

/* When the peer is notified again, because it answers no request (renotify.c). */
struct soft_renotify_timer {
	bool waits;           /* requests were unanswered at the last look, */
	uint64_t answered;    /* when this many responses had been taken */
	uint64_t wakeup_ns;   /* the peer is woken then */
	uint64_t interval_ns; /* between two wakeups */
};

/* Pipe to a process that this one sends requests to. */
struct soft_out {
	struct soft_peer peer;
	uint32_t slot; /* by which it was found */
	bool self;
	bool has_proc;            /* /proc/PID is the peer */
	bool can_vm;              /* process_vm_readv works on the peer */
	_Atomic bool peer_can_vm; /* and the peer can reach us */
	_Atomic bool answered;    /* what comes before this, but for the slot, is known */
	_Atomic bool dead;
	int sock;
	struct shm_pipe *shm;
	struct soft_lock tx;
	uint64_t req_head;          /* under tx */
	uint32_t chunk;             /* of the request that is being filled; under tx */
	_Atomic uint64_t resp_tail; /* written under core->progress */
	struct soft_list waiting;   /* soft_qp.waiting, under tx */
	struct soft_rmap *rmap;     /* SHM_MRS entries, pages come with use */
	uint32_t rmap_top;          /* entries of rmap ever used; under map_lock */
	pthread_mutex_t map_lock;   /* one mapper at a time */
	_Atomic uint32_t refs; /* one for core->out[], one per queue pair that uses or awaits it, or slot of one's routes */
	_Atomic bool deaf;     /* has let datagrams wait for too long: none waits for it until it listens (datagram.c) */
	struct soft_renotify_timer renotify_timer; /* under core->progress */
	_Atomic uint64_t calls_until; /* ticks until which no synchronous request is sent; 0: one may be (proto.c) */
};

/* Pipe from a process that sends requests to this one. */
struct soft_in {
	struct soft_peer peer;
	bool can_vm;
	int sock;
	struct shm_pipe *shm;
	uint64_t req_tail, resp_head; /* under core->progress */
	uint64_t req_seen;            /* requests up to here are carried out in this round */
};

/*
 * Under core->progress: so many responses have been taken. Pairs with soft_out_has_room and soft_out_chunk: their
 * places and chunks, and those of their requests, of which the responder has seen the last, may be used again.
 */
static inline void soft_out_took(struct soft_out *out, uint64_t responses)
{
	atomic_store_explicit(&out->resp_tail, responses, memory_order_release);
}

/* Under out->tx: room for one more request to the peer? Pairs with soft_out_took. */
static inline bool soft_out_has_room(const struct soft_out *out)
{
	return out->req_head - atomic_load_explicit(&out->resp_tail, memory_order_acquire) < SHM_RING;
}

/*
 * Under out->tx, and there is room: the chunk of the next request. Pairs with soft_out_took, as soft_out_has_room does: more may
 * have been answered since that looked, and the chunk be of one of these.
 */
static inline uint32_t soft_out_chunk(const struct soft_out *out)
{
	uint64_t answered = atomic_load_explicit(&out->resp_tail, memory_order_acquire);

	return shm_chunk_of(out->req_head, out->req_head - answered);
}

/*
 * A place for the next request of a queue pair, and its chunk; NULL: the pipe is full, and the
 * queue pair waits for room. Until soft_pipe_commit or soft_pipe_cancel out->tx is held. Under
 * qp->lock, all three.
 */
struct shm_req *soft_pipe_begin(struct soft_qp *qp, uint8_t **chunk);
/* The request at sq_exec is filled: from and to whom it goes is added, and the peer sees it. */
void soft_pipe_commit(struct soft_qp *qp, struct shm_req *req);
void soft_pipe_cancel(struct soft_qp *qp);

#endif
