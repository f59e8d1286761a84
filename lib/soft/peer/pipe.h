// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipes: requests one way, responses the other. Both ends, and places for requests.
 */
#ifndef SOFT_PIPE_H
#define SOFT_PIPE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/list.h"
#include "soft/base/lock.h"
#include "soft/peer/peer.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

struct soft_rmap;

/* When the peer is notified again, because it answers no request (renotify.c). */
struct soft_renotify_timer {
	bool waits;           /* requests were unanswered at the last check, */
	uint64_t answered;    /* when this many responses had been taken */
	uint64_t wakeup_ns;   /* the peer is woken then */
	uint64_t interval_ns; /* between two wakeups */
};

/* Pipe to a process that this one sends requests to. */
struct soft_out {
	struct soft_peer peer;
	uint32_t slot; /* by which the peer was found */
	bool self;
	bool has_proc;            /* /proc/PID is the peer */
	bool can_vm;              /* process_vm_readv works on the peer */
	_Atomic bool peer_can_vm; /* process_vm_readv works for the peer */
	_Atomic bool answered;    /* the members before this one are known, not only the slot */
	_Atomic bool dead;
	int sock;
	struct shm_pipe *shm;
	struct soft_lock tx;
	uint64_t req_head;                         /* under tx */
	uint32_t chunk;                            /* of the request that is being filled; under tx */
	_Atomic uint64_t resp_tail;                /* written under core->progress */
	struct soft_list waiting;                  /* soft_qp.waiting, under tx */
	struct soft_rmap *rmap;                    /* SHM_MRS entries, pages come with use */
	uint32_t rmap_top;                         /* entries of rmap ever used; under map_lock */
	pthread_mutex_t map_lock;                  /* one mapper at a time */
	_Atomic uint32_t refs;                     /* core->out[], queue pairs, slots of routes */
	_Atomic bool deaf;                         /* datagrams have waited too long (datagram.c) */
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
 * Stores how many responses have been taken. Under core->progress. Pairs with soft_out_has_room and
 * soft_out_chunk: the places and chunks of these responses and of their requests, which the
 * responder has read, may be reused.
 */
static inline void soft_out_took(struct soft_out *out, uint64_t responses)
{
	atomic_store_explicit(&out->resp_tail, responses, memory_order_release);
}

/* Returns whether there is room for one more request. Under out->tx. Pairs with soft_out_took. */
static inline bool soft_out_has_room(const struct soft_out *out)
{
	return out->req_head - atomic_load_explicit(&out->resp_tail, memory_order_acquire) < SHM_RING;
}

/*
 * Returns the chunk of the next request; there is room. Under out->tx. Pairs with soft_out_took, as
 * soft_out_has_room does: more requests may have been answered since that call, and the chunk may
 * have been one of theirs.
 */
static inline uint32_t soft_out_chunk(const struct soft_out *out)
{
	uint64_t answered = atomic_load_explicit(&out->resp_tail, memory_order_acquire);

	return shm_chunk_of(out->req_head, out->req_head - answered);
}

/*
 * Returns a place for the next request of a queue pair, and its chunk; or NULL: the pipe is full,
 * and the queue pair waits for room. out->tx is held until soft_pipe_commit or soft_pipe_cancel.
 * All three under qp->lock.
 */
struct shm_req *soft_pipe_begin(struct soft_qp *qp, uint8_t **chunk);
/* Adds source and destination to the filled request at sq_exec, and publishes it. */
void soft_pipe_commit(struct soft_qp *qp, struct shm_req *req);
void soft_pipe_cancel(struct soft_qp *qp);

#endif
