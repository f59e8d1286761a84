// SPDX-License-Identifier: BSD-2-Clause
/*
 * qp.h - queue pairs
 *
 * `lock` protects the members whose comments say nothing else. A queue pair's requests are carried
 * out in order: tail <= exec <= head, see requester.c.
 */
#ifndef SOFT_QP_H
#define SOFT_QP_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/base/limits.h"
#include "soft/base/list.h"
#include "soft/base/lock.h"
#include "soft/state/shm.h"

struct soft_core;
struct soft_out;
struct soft_routes;

/* A ring of waiting receives, of a queue pair or shared: rq.c. Its owner locks it. */

/* A receive work request in the ring. */
struct soft_rwqe {
	uint64_t wr_id;
	uint32_t nsge;
	struct ibv_sge sge[];
};

struct soft_rq {
	uint8_t *ring;
	size_t stride;  /* bytes per soft_rwqe */
	uint32_t size;  /* a power of two, or 0 */
	uint32_t limit; /* entries that the caller knows of */
	uint32_t max_sge;
	uint32_t head, tail;
};

/* The receive of a message. */
struct soft_rx {
	uint64_t wr_id;
	uint32_t nsge;
	struct ibv_sge sge[SOFT_MAX_SGE];
};

static inline struct soft_rwqe *soft_rwqe(const struct soft_rq *rq, uint32_t index)
{
	return (struct soft_rwqe *)(void *)(rq->ring + (size_t)(index & (rq->size - 1)) * rq->stride);
}

/* Returns 0 or ENOMEM. */
int soft_rq_init(struct soft_rq *rq, uint32_t wr, uint32_t sge);
void soft_rq_fini(struct soft_rq *rq);
/* Returns 0 or an errno value. */
int soft_rq_put(struct soft_rq *rq, const struct ibv_recv_wr *wr);
/* Takes the oldest receive. Returns false if there is none. */
bool soft_rq_pop(struct soft_rq *rq, struct soft_rx *rx);

/* Puts back the receive taken last; nothing may have been put or taken since. */
static inline void soft_rq_untake(struct soft_rq *rq)
{
	rq->tail--;
}

/* A send work request in the queue; inline data takes the place of the ranges. */
struct soft_wqe {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;  /* IBV_SEND_* */
	union {
		uint64_t raddr;
		struct shm_header header; /* of a datagram */
	};
	uint32_t rkey;   /* or the number of the queue pair that a datagram goes to */
	uint32_t imm;    /* immediate in network order, or key to invalidate */
	uint64_t length; /* bytes, all ranges */
	uint32_t nsge;
	uint32_t placed; /* adversary: carried out before its turn, not complete */
	union {
		struct {
			uint64_t compare_add, swap;
		};
		struct {
			struct ibv_mw *mw;
			struct ibv_mw_bind_info bind;
		};
		struct { /* of a datagram */
			struct shm_address address;
			uint32_t qkey;
		};
	};
	struct ibv_sge sge[];
};

/* Why the send queue waits. */
enum soft_stall {
	SOFT_GO,
	SOFT_WAIT_TIMER, /* refused; try again when the timer runs out */
	SOFT_WAIT_DRAIN, /* refused; requests after it are still unanswered */
	SOFT_WAIT_ROOM,  /* the pipe is full */
	SOFT_WAIT_PEER,  /* for the answer to the hello, or a look-up */
	SOFT_PEER_GONE,  /* no answer will come */
};

/*
 * A synchronous request: one operation without an element of the queue (move.c), in parts that each
 * fit into a request. The members are written under the lock; the waiting caller reads `state` and
 * `count` without it.
 */
enum soft_sync_state {
	SOFT_SYNC_NONE, /* or its caller has given up */
	SOFT_SYNC_PENDING,
	SOFT_SYNC_DONE,
	SOFT_SYNC_REFUSED,
};

struct soft_sync_req {
	_Atomic uint32_t state; /* enum soft_sync_state */
	_Atomic uint32_t count; /* parts answered so far, ever, without last ones */
	uint32_t epoch;         /* the queue pair's when the first part was sent */
	uint32_t part;          /* bytes of each part but the last */
	uint64_t length;        /* bytes, all parts */
	uint32_t seen;          /* the `count` that the caller has seen */
	uint64_t sent;          /* bytes put into the pipe; only the caller writes it */
	uint64_t answered;      /* bytes of answered parts */
	uint8_t *here;          /* where a read's data go; NULL: a write */
	bool busy;              /* sent, and the result not taken yet; under qp->lock */
	uint32_t refusal;       /* enum shm_status of a failed request; SHM_ACK: none */
};

struct soft_qp {
	struct ibv_qp_ex ex; /* begins with the ibv_qp */
	struct soft_lock lock;
	uint32_t index; /* in segment->qp[] */
	struct shm_qp *shm;
	_Atomic uint32_t state; /* enum ibv_qp_state; written under lock */
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	uint64_t send_ops;     /* IBV_QP_EX_WITH_* */
	uint32_t last_opcode;  /* the last legal one, in the order of enum ibv_wr_opcode */
	uint32_t coalesce_max; /* bytes of the largest coalesced write (coalesce.c); 0: none */
	bool sig_all;
	bool has_ex;

	/* send queue: tail <= exec <= head; released <= tail follows what the caller has polled */
	uint8_t *sq;
	size_t sq_stride; /* bytes per soft_wqe */
	uint32_t sq_size; /* a power of two, or 0 */
	uint32_t sq_head, sq_exec, sq_tail;
	_Atomic uint32_t sq_released; /* written by ibv_poll_cq under the lock of the completion queue */
	uint32_t inflight;            /* requests in the pipe without response */
	uint64_t part_done;           /* bytes of the message at sq_exec that are in the pipe */
	enum soft_stall stall;
	uint32_t retries_left, rnr_left;
	uint32_t by_ring; /* index of a request that has to go by ring, if at exec */
	bool by_ring_known;
	uint32_t ring_rkey; /* the next `ring_left` small writes with this key go by ring */
	uint32_t ring_left;
	uint32_t timed;           /* index of the last timed request, if timed_since */
	uint32_t timed_requests;  /* how many are timed */
	uint64_t timed_since;     /* ticks; 0: none is timed */
	bool resync;              /* the next request starts over */
	uint64_t deadline_ns;     /* SOFT_WAIT_TIMER */
	uint64_t cut_ns;          /* when the connection breaks: death or adversary; 0: never */
	_Atomic bool unheard;     /* accepts no peer's requests: path cut, or for datagrams */
	bool delayed;             /* adversary: the request at exec has had its delay */
	uint64_t give_up_ns;      /* the silent peer's RETRY_EXC time; 0: not silent */
	struct soft_list timer;   /* in core->timers */
	struct soft_list waiting; /* in pipe->waiting */

	/* wr_start .. wr_complete */
	uint32_t wr_head;
	int wr_err;

	struct soft_sync_req sync_req;
	uint32_t epoch; /* responses to requests of an earlier one are void */

	/* receive queue and responder */
	struct soft_rq rq;
	struct soft_rx rx; /* the receive of the current message */
	bool rx_drop;      /* after a refusal: drop until the requester starts over */
	bool rx_active;    /* in the middle of a message that comes in parts */
	bool rx_again;     /* it starts over, since its data could not be fetched */
	uint64_t rx_done;  /* bytes of it */
	bool comm_est;     /* COMM_EST raised */
	bool last_wqe;     /* LAST_WQE_REACHED raised */
	bool peer_idle;    /* seen idle since the gate was closed */

	struct soft_out *out;       /* pipe to the peer, once known */
	struct soft_out *awaited;   /* until then: the pipe whose answer is awaited, or NULL */
	const struct shm_qp *peer;  /* its queue pair in its segment */
	uint32_t async_raised;      /* events that were queued; under the context's event lock */
	struct soft_routes *routes; /* of a queue pair for datagrams, which has no pipe; or NULL */
};

static inline struct soft_qp *soft_qp(struct ibv_qp *qp)
{
	return (struct soft_qp *)qp;
}

static inline struct soft_wqe *soft_wqe(const struct soft_qp *qp, uint32_t index)
{
	return (struct soft_wqe *)(void *)(qp->sq + (size_t)(index & (qp->sq_size - 1)) * qp->sq_stride);
}

static inline enum ibv_qp_state soft_qp_state(struct soft_qp *qp)
{
	return (enum ibv_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

/*
 * The thread that takes the answer, sends, or gives up; pairs with soft_sync_load: the data are in
 * place.
 */
static inline void soft_sync_store(struct soft_sync_req *sync, enum soft_sync_state state)
{
	atomic_store_explicit(&sync->state, state, memory_order_release);
}

/* The waiting thread; pairs with soft_sync_store. */
static inline enum soft_sync_state soft_sync_load(struct soft_sync_req *sync)
{
	return (enum soft_sync_state)atomic_load_explicit(&sync->state, memory_order_acquire);
}

/* The thread that takes an answer; pairs with soft_sync_counted. */
static inline void soft_sync_count(struct soft_sync_req *sync)
{
	uint32_t count = atomic_load_explicit(&sync->count, memory_order_relaxed);

	atomic_store_explicit(&sync->count, count + 1, memory_order_relaxed);
}

/* The waiting thread: a number that changes while the peer makes progress. A hint. */
static inline uint32_t soft_sync_counted(struct soft_sync_req *sync)
{
	return atomic_load_explicit(&sync->count, memory_order_relaxed);
}

/* Returns the bytes of the part that begins at byte `from`. */
static inline uint32_t soft_sync_part(const struct soft_sync_req *sync, uint64_t from)
{
	uint64_t left = sync->length - from;

	return left < sync->part ? (uint32_t)left : sync->part;
}

/* Returns whether a queue pair in this state accepts its peer's requests. */
static inline bool soft_qp_connected(enum ibv_qp_state state)
{
	return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

/* Returns whether all posted requests are carried out, so that the next one can be immediate. */
static inline bool soft_qp_idle(struct soft_qp *qp)
{
	return qp->sq_exec == qp->sq_head && qp->stall == SOFT_GO && qp->inflight == 0 && qp->out &&
	       soft_qp_state(qp) == IBV_QPS_RTS;
}

/* Returns whether a send queue that ends at `head` has room for one more. Under qp->lock. */
static inline bool soft_sq_room(struct soft_qp *qp, uint32_t head)
{
	return head - atomic_load_explicit(&qp->sq_released, memory_order_acquire) < qp->attr.cap.max_send_wr;
}

struct ibv_qp *soft_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* The state of a queue pair, which changes are legal, and what peers see of it: qp_state.c. */

/* Returns 0 if the state machine allows this change with these attributes, or an errno value. */
int soft_qp_check_modify(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask);
/* Publishes the peers' rights, from state and attributes. Under qp->lock. */
void soft_qp_publish(struct soft_qp *qp);
/* Sets and publishes the state. Under qp->lock. */
void soft_qp_set_state(struct soft_qp *qp, enum ibv_qp_state state);

/* One timer per queue pair. The engine runs them: timer.c. */

void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns);
/* Sets the timer unless it is set already. */
void soft_timer_set_if_none(struct soft_qp *qp, uint64_t deadline_ns);
void soft_timer_clear(struct soft_qp *qp);
/*
 * Takes a queue pair whose timer is due off the list. Returns NULL and the next deadline if there
 * is none.
 */
struct soft_qp *soft_timer_take(struct soft_core *core, uint64_t now_ns, uint64_t *next_ns);

#endif
