// SPDX-License-Identifier: BSD-2-Clause
/* qp.h - queue pairs. `lock` protects the members whose comments say nothing else. */
#ifndef SOFT_QP_H
#define SOFT_QP_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/state/shm.h"

struct soft_core;
struct soft_out;
struct soft_routes;

/* A ring of waiting receives, of a queue pair or shared: qp_state.c. Its owner locks it. */

struct soft_rwqe {
	uint64_t wr_id;
	uint32_t nsge;
	struct ibv_sge sge[];
};

struct soft_rq {
	uint8_t *ring;
	size_t stride;  /* bytes per soft_rwqe */
	uint32_t size;  /* a power of two, or 0 */
	uint32_t limit; /* entries that the caller may use */
	uint32_t max_sge;
	uint32_t head, tail;
};

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
/* Returns false if there is no receive. */
bool soft_rq_pop(struct soft_rq *rq, struct soft_rx *rx);

/* Puts back the receive taken last, directly after that. */
static inline void soft_rq_untake(struct soft_rq *rq)
{
	rq->tail--;
}

/* A send work request; inline data take the place of the ranges. */
struct soft_wqe {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;  /* IBV_SEND_* */
	union {
		uint64_t raddr;
		struct shm_header header; /* of a datagram */
	};
	uint32_t rkey;   /* or the number of a datagram's target */
	uint32_t imm;    /* in network order, or key to invalidate */
	uint64_t length; /* bytes, all ranges */
	uint32_t nsge;
	uint32_t placed; /* adversary: carried out before its turn */
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

enum soft_stall {
	SOFT_GO,
	SOFT_WAIT_TIMER, /* refused; try again at deadline_ns */
	SOFT_WAIT_DRAIN, /* refused; later requests are still unanswered */
	SOFT_WAIT_ROOM,  /* the pipe is full */
	SOFT_WAIT_PEER,  /* for its hello, or a look-up */
	SOFT_PEER_GONE,
};

/*
 * A synchronous request (move.c), in parts that each fit into a request. The waiting caller reads
 * `state` and `count` without the lock.
 */
enum soft_sync_state {
	SOFT_SYNC_NONE, /* or its caller has given up */
	SOFT_SYNC_PENDING,
	SOFT_SYNC_DONE,
	SOFT_SYNC_REFUSED,
};

struct soft_sync_req {
	_Atomic uint32_t state; /* enum soft_sync_state */
	_Atomic uint32_t count; /* answered parts, ever, without last ones */
	uint32_t epoch;         /* the queue pair's at the first part */
	uint32_t part;          /* bytes of each part but the last */
	uint64_t length;        /* bytes, all parts */
	uint32_t seen;          /* the `count` that the caller has seen */
	uint64_t sent;          /* bytes in the pipe; only the caller writes it */
	uint64_t answered;      /* bytes */
	uint8_t *here;          /* where a read's data go; NULL: a write */
	bool busy;              /* until the result is taken; under qp->lock */
	uint32_t failure;       /* enum shm_status; SHM_ACK: none */
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
	uint32_t last_opcode;  /* last legal one */
	uint32_t coalesce_max; /* bytes of the largest coalesced write (coalesce.c); 0: none */
	bool sig_all;
	bool has_ex;

	/* send queue: released <= tail <= exec <= head (requester.c) */
	uint8_t *sq;
	size_t sq_stride; /* bytes per soft_wqe */
	uint32_t sq_size; /* a power of two, or 0 */
	uint32_t sq_head, sq_exec, sq_tail;
	_Atomic uint32_t sq_released; /* polled by the caller; written under the completion queue's lock */
	uint32_t inflight;            /* unanswered requests in the pipe */
	uint64_t part_done;           /* bytes of the message at sq_exec in the pipe */
	enum soft_stall stall;
	uint32_t retries_left, rnr_left;
	uint32_t by_ring; /* index of a request that must go by ring */
	bool by_ring_known;
	uint32_t ring_rkey; /* the next `ring_left` small writes with this key go by ring */
	uint32_t ring_left;
	bool resync;              /* the next request starts over */
	uint64_t deadline_ns;     /* SOFT_WAIT_TIMER */
	uint64_t cut_ns;          /* when the connection breaks; 0: never */
	_Atomic bool unheard;     /* accepts no requests: path cut, or datagrams */
	bool delayed;             /* adversary: the request at exec has had its delay */
	uint64_t give_up_ns;      /* the silent peer's RETRY_EXC time; 0: not silent */
	struct soft_list timer;   /* in core->timers */
	struct soft_list waiting; /* in pipe->waiting */

	/* for ibv_wr_* */
	uint32_t wr_head;
	int wr_err;

	struct soft_sync_req sync_req;
	uint32_t epoch; /* responses to earlier ones are void */

	struct soft_rq rq;
	struct soft_rx rx; /* of the current message */
	bool rx_drop;      /* after a refusal, until the requester starts over */
	bool rx_active;    /* in a message of several parts */
	bool rx_again;     /* it starts over, as its data could not be fetched */
	uint64_t rx_done;  /* bytes */
	bool comm_est;
	bool last_wqe;
	bool peer_idle; /* seen idle since the gate was closed */

	struct soft_out *out;       /* to the peer, once known */
	struct soft_out *awaited;   /* until then: the pipe whose answer is awaited, or NULL */
	const struct shm_qp *peer;  /* its queue pair in its segment */
	uint32_t async_raised;      /* queued events; under the context's event lock */
	struct soft_routes *routes; /* of datagrams, which have no pipe; or NULL */
};

static inline struct soft_qp *soft_qp(struct ibv_qp *qp)
{
	return (struct soft_qp *)qp;
}

static inline struct soft_wqe *soft_wqe(const struct soft_qp *qp, uint32_t index)
{
	return (struct soft_wqe *)(void *)(qp->sq + (size_t)(index & (qp->sq_size - 1)) * qp->sq_stride);
}

/* Without the lock; NULL: no pipe. The caller keeps the queue pair. Pairs with soft_qp_set_out. */
static inline struct soft_out *soft_qp_out(const struct soft_qp *qp)
{
	return __atomic_load_n(&qp->out, __ATOMIC_ACQUIRE);
}

/* Under the lock; pairs with soft_qp_out. */
static inline void soft_qp_set_out(struct soft_qp *qp, struct soft_out *out)
{
	__atomic_store_n(&qp->out, out, __ATOMIC_RELEASE);
}

static inline enum ibv_qp_state soft_qp_state(struct soft_qp *qp)
{
	return (enum ibv_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

/* Pairs with soft_sync_load: the data are in place. */
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

/* Returns a number that changes while the peer makes progress. A hint. */
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

/* Returns whether a queue pair in this state accepts requests. */
static inline bool soft_qp_connected(enum ibv_qp_state state)
{
	return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

/* Returns whether all requests are carried out, so that the next one can be immediate. */
static inline bool soft_qp_idle(struct soft_qp *qp)
{
	return qp->sq_exec == qp->sq_head && qp->stall == SOFT_GO && qp->inflight == 0 && qp->out &&
	       soft_qp_state(qp) == IBV_QPS_RTS;
}

/* Returns whether there is room behind `head`. Under qp->lock. */
static inline bool soft_sq_room(struct soft_qp *qp, uint32_t head)
{
	return head - atomic_load_explicit(&qp->sq_released, memory_order_acquire) < qp->attr.cap.max_send_wr;
}

struct ibv_qp *soft_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* The state machine, and what peers see of it: qp_state.c. */

/* Returns 0 if the change is legal, or an errno value. */
int soft_qp_check_modify(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask);
/* Publishes the peers' rights. Under qp->lock. */
void soft_qp_publish(struct soft_qp *qp);
/* Under qp->lock. */
void soft_qp_set_state(struct soft_qp *qp, enum ibv_qp_state state);

/* One timer per queue pair; the engine runs them: loop.c. */

void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns);
void soft_timer_set_if_none(struct soft_qp *qp, uint64_t deadline_ns);
void soft_timer_clear(struct soft_qp *qp);
/*
 * Takes a queue pair whose timer is due off the list. If there is none, returns NULL and the next
 * deadline.
 */
struct soft_qp *soft_timer_take(struct soft_core *core, uint64_t now_ns, uint64_t *next_ns);

#endif
