// SPDX-License-Identifier: BSD-2-Clause
/* Pipes, both ends, and places for requests. */
#ifndef SOFT_PIPE_H
#define SOFT_PIPE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/peer/peer.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

struct soft_in;
struct soft_rmap;

/* When a peer without an answer is notified again (pipe.c). */
struct soft_renotify_timer {
	bool waits;           /* requests were unanswered at the last check, */
	uint64_t answered;    /* when this many responses had been taken */
	uint64_t wakeup_ns;   /* of the next wakeup */
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
	_Atomic bool answered;    /* the members above are known, not only the slot */
	_Atomic bool dead;
	int sock;
	struct soft_in *back; /* came with the answer, or NULL */
	struct shm_pipe *shm;
	struct soft_lock tx;
	uint64_t req_head;          /* under tx */
	uint32_t chunk;             /* of the request being filled; under tx */
	_Atomic uint64_t resp_tail; /* written under core->progress */
	struct soft_list waiting;   /* soft_qp.waiting, under tx */
	struct soft_rmap *rmap;     /* SHM_MRS entries, pages come with use */
	uint32_t rmap_top;          /* entries ever used; under map_lock */
	pthread_mutex_t map_lock;
	_Atomic uint32_t refs;                     /* core->out[], queue pairs, slots of routes */
	_Atomic bool deaf;                         /* datagrams have waited too long (datagram.c) */
	struct soft_renotify_timer renotify_timer; /* under core->progress */
	_Atomic uint64_t calls_until;              /* ticks until which no synchronous request is sent (proto.c) */
};

/* Pipe from a process that sends requests to this one. */
struct soft_in {
	struct soft_peer peer;
	bool can_vm;
	int sock;
	struct soft_out *back; /* went with the answer, or NULL */
	struct shm_pipe *shm;
	uint64_t req_tail, resp_head; /* under core->progress */
	uint64_t req_seen;            /* to be carried out in this round */
};

/*
 * Stores how many responses have been taken. Under core->progress. Pairs with soft_out_has_room and
 * soft_out_chunk: the places and chunks of these may be reused.
 */
static inline void soft_out_took(struct soft_out *out, uint64_t responses)
{
	atomic_store_explicit(&out->resp_tail, responses, memory_order_release);
}

/* Under out->tx. Pairs with soft_out_took. */
static inline bool soft_out_has_room(const struct soft_out *out)
{
	return out->req_head - atomic_load_explicit(&out->resp_tail, memory_order_acquire) < SHM_RING;
}

/*
 * Returns the chunk of the next request; there is room. Under out->tx. Pairs with soft_out_took:
 * the chunk may be that of a request answered since soft_out_has_room.
 */
static inline uint32_t soft_out_chunk(const struct soft_out *out)
{
	uint64_t answered = atomic_load_explicit(&out->resp_tail, memory_order_acquire);

	return shm_chunk_of(out->req_head, out->req_head - answered);
}

/*
 * Returns a place for the queue pair's next request, and its chunk; or NULL: the pipe is full, and
 * the queue pair waits for room. out->tx is held until soft_pipe_commit or soft_pipe_cancel. All
 * three under qp->lock.
 */
struct shm_req *soft_pipe_begin(struct soft_qp *qp, uint8_t **chunk);
/* Adds source and destination to the request at sq_exec, and publishes it. */
void soft_pipe_commit(struct soft_qp *qp, struct shm_req *req);
void soft_pipe_cancel(struct soft_qp *qp);

#endif
