// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs, the inside: the objects of one process.
 *
 * DESIGN NOTES There is one `struct soft_core` per process, made when the first device is opened
 * and kept until the process ends: the segment and bell that peers map (shm.h), the engine thread,
 * the links, and the tables of queue pairs and keys. Contexts (ibv_open_device) are thin.
 *
 * Who carries out what:
 *   direct    RDMA write, read and atomics on memory of the peer that this process can map or that
 *             process_vm_writev reaches: by the thread that posts, at once (direct.c).
 *   by ring   sends, immediates, atomics on private memory, and everything where the peer's memory is out of
 *             reach: a request goes into the link, one of the peer's threads (in ibv_poll_cq) or its engine carries
 *             it out (responder.c), a response comes back (requester.c).
 * A queue pair's requests are carried out in order: a direct operation waits until all requests
 * before it are answered.
 *
 * Locks, in the order in which they may be nested:
 *   core->progress   whoever looks into the links; taken by trylock in ibv_poll_cq
 *   qp->lock         send queue, receive queue, state
 *   srq->lock
 *   link->tx         room in the link, waiting list
 *   cq->lock
 *   channel->lock, context's event lock, core->timer_lock: leaves
 * core->table_lock (objects come and go) is never held together with one of them, except outside
 * all of them.
 */
#ifndef SOFT_SOFT_H
#define SOFT_SOFT_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "shm.h"

#define SOFT_HIDDEN __attribute__((visibility("hidden")))
#define SOFT_EXPORT __attribute__((visibility("default")))

enum {
	SOFT_PORT = 1,
	SOFT_MAX_WR = 16384,
	SOFT_MAX_SGE = 16,
	SOFT_MAX_INLINE = 1024,      /* bytes */
	SOFT_COPY_PIECE = 128 << 10, /* bytes */
	SOFT_BUNDLED_MAX = 256,      /* bytes of a write that travels with others */
	SOFT_MAX_CQE = 1 << 20,
	SOFT_MAX_RD_ATOMIC = 128,
	SOFT_MAX_GIDS = 64,
	SOFT_MAX_LINKS = 8192, /* peers in each direction */
};

#define SOFT_MAX_MSG (1u << 31) /* bytes */

/* Rights with which peers may come to a region. */
#define SOFT_ACCESS_PEERS \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

/* ---- a lock that is held for nanoseconds, or by somebody who copies ---- */

struct soft_lock {
	_Atomic uint32_t held;
};

static inline bool soft_trylock(struct soft_lock *lock)
{
	return atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) == 0;
}

/*
 * Only threads of this process wait here; the holder may have lost its core, so give it ours after
 * a while.
 */
static inline void soft_lock(struct soft_lock *lock)
{
	unsigned int spins = 0;

	while (!soft_trylock(lock)) {
		if (++spins % 64 == 0)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

static inline void soft_unlock(struct soft_lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

struct soft_list {
	struct soft_list *next, *prev;
};

static inline void soft_list_init(struct soft_list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool soft_list_empty(const struct soft_list *list)
{
	return list->next == list;
}

static inline void soft_list_add_tail(struct soft_list *list, struct soft_list *item)
{
	item->prev = list->prev;
	item->next = list;
	list->prev->next = item;
	list->prev = item;
}

/* Also right for an item that is in no list but was initialised. */
static inline void soft_list_del(struct soft_list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	soft_list_init(item);
}

#define soft_container(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* ---- objects ---- */

struct soft_event {
	struct soft_list list;
	struct ibv_async_event event;
};

struct soft_context {
	struct verbs_context vctx; /* its last field is the ibv_context that callers hold */
	pthread_mutex_t event_lock;
	struct soft_list events; /* soft_event.list, not yet fetched */
};

struct soft_pd {
	struct ibv_pd base;
	_Atomic uint32_t users; /* memory regions, windows, queue pairs and shared receive queues on it */
};

struct soft_mr {
	struct ibv_mr base;
	uint32_t place; /* in segment->mr[] */
	uint32_t access;
	int file_fd; /* duplicate kept for peers, or -1 */
	uint64_t file_offset;
	_Atomic uint32_t windows; /* memory windows bound to it, and not invalidated */
};

struct soft_mw {
	struct ibv_mw base;
	uint32_t place;
	struct soft_mr *mr; /* bound to, or NULL */
	uint32_t qpn;       /* type 2: queue pair it is bound through */
};

struct soft_channel {
	struct ibv_comp_channel base;
	pthread_mutex_t lock;
	struct soft_list ready; /* soft_cq.event */
};

struct soft_qp;

struct soft_cqe {
	struct ibv_wc wc;
	struct soft_qp *qp;
	uint32_t sq_end; /* send: its send queue gets room back up to here when this is polled */
	uint32_t is_send;
};

struct soft_cq {
	union {
		struct ibv_cq base;
		struct ibv_cq_ex ex;
	};
	struct soft_lock lock;
	struct soft_cqe *ring;
	uint32_t size;               /* entries; a power of two */
	uint32_t limit;              /* entries that may be used: what the caller was told */
	_Atomic uint32_t head, tail; /* written under lock; head - tail entries are there */
	_Atomic uint32_t armed;      /* 0, or enum soft_arm */
	bool overrun;
	bool ignore_overrun;
	_Atomic uint32_t idle_polls; /* that found nothing, in a row; a hint, two threads may lose one */
	uint32_t events_raised;      /* completion events, under the channel's lock */
	uint32_t events_queued;      /* of which not yet fetched */
	uint32_t async_raised;
	_Atomic uint32_t users;  /* queue pairs */
	struct soft_list event;  /* in channel->ready while events_queued */
	struct soft_cqe current; /* start_poll interface: the entry being read */
};

enum soft_arm {
	SOFT_ARM_ANY = 1,
	SOFT_ARM_SOLICITED = 2,
};

/* A receive work request as it waits. */
struct soft_rwqe {
	uint64_t wr_id;
	uint32_t nsge;
	struct ibv_sge sge[];
};

struct soft_rq {
	uint8_t *ring;
	size_t stride;  /* bytes per soft_rwqe */
	uint32_t size;  /* a power of two, or 0 */
	uint32_t limit; /* entries the caller was told */
	uint32_t max_sge;
	uint32_t head, tail;
};

struct soft_srq {
	struct ibv_srq base;
	struct soft_lock lock;
	struct soft_rq rq;
	uint32_t limit_event; /* raise SRQ_LIMIT_REACHED below this many; 0: not armed */
	uint32_t async_raised;
	_Atomic uint32_t users;
};

/* A send work request as it waits; the data of an inline one takes the place of the ranges. */
struct soft_wqe {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;  /* IBV_SEND_* */
	uint64_t raddr;
	uint32_t rkey;
	uint32_t imm;    /* immediate in network order, or key to invalidate */
	uint64_t length; /* bytes, all ranges */
	uint32_t nsge;
	uint32_t placed; /* adversary: carried out before its turn, still to be completed */
	union {
		struct {
			uint64_t compare_add, swap;
		};
		struct {
			struct ibv_mw *mw;
			struct ibv_mw_bind_info bind;
		};
	};
	struct ibv_sge sge[];
};

struct soft_out;
struct soft_in;

/* Why the send queue does not move. */
enum soft_stall {
	SOFT_GO,
	SOFT_WAIT_TIMER, /* refused; try again when the timer runs out */
	SOFT_WAIT_DRAIN, /* refused; requests after it are still unanswered */
	SOFT_WAIT_ROOM,  /* the link is full */
	SOFT_PEER_GONE,  /* nobody will answer any more */
};

struct soft_qp {
	struct ibv_qp_ex ex; /* begins with the ibv_qp */
	struct soft_lock lock;
	uint32_t index; /* in segment->qp[] */
	struct shm_qp *shm;
	_Atomic uint32_t state; /* enum ibv_qp_state; written under lock */
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	uint64_t send_ops; /* IBV_QP_EX_WITH_* */
	bool sig_all;
	bool has_ex;

	/* send queue: tail <= exec <= head; released <= tail follows what the caller has polled */
	uint8_t *sq;
	size_t sq_stride; /* bytes per soft_wqe */
	uint32_t sq_size; /* a power of two, or 0 */
	uint32_t sq_head, sq_exec, sq_tail;
	_Atomic uint32_t sq_released; /* written by ibv_poll_cq under the lock of the completion queue */
	uint32_t inflight;            /* requests in the link without response */
	uint64_t part_done;           /* bytes of the message at sq_exec that are in the link */
	enum soft_stall stall;
	uint32_t retries_left, rnr_left;
	uint32_t by_ring; /* index of a request that was found to have to go by ring, if it is at exec */
	bool by_ring_known;
	uint32_t timed;           /* index of the write by ring that is timed, if timed_since */
	uint64_t timed_since;     /* ticks; 0: none is */
	bool resync;              /* the next request starts over */
	uint64_t deadline_ns;     /* SOFT_WAIT_TIMER */
	uint64_t cut_ns;          /* when the connection breaks: the peer is gone, or the adversary; 0: never */
	_Atomic bool lost;        /* adversary: the path to the peer is gone */
	bool delayed;             /* adversary: the request at exec has had its delay */
	uint64_t give_up_ns;      /* peer silent: RETRY_EXC after this; 0: not silent */
	struct soft_list timer;   /* in core->timers */
	struct soft_list waiting; /* in link->waiting */

	/* wr_start .. wr_complete */
	uint32_t wr_head;
	int wr_err;

	uint32_t epoch; /* responses to requests of an earlier one are void */

	/* receive queue and responder */
	struct soft_rq rq;
	struct {
		uint64_t wr_id;
		uint32_t nsge;
		struct ibv_sge sge[SOFT_MAX_SGE];
	} rx;             /* the receive that the current message goes to */
	bool rx_drop;     /* refused one: drop until the requester starts over */
	bool rx_active;   /* in the middle of a message that comes in parts */
	uint64_t rx_done; /* bytes of it */
	bool comm_est;    /* COMM_EST raised */
	bool last_wqe;    /* LAST_WQE_REACHED raised */

	struct soft_out *out;      /* link to the peer, once known */
	const struct shm_qp *peer; /* its queue pair in its segment */
	uint32_t async_raised;
};

/* How a peer's memory is reached from here. */
enum soft_reach {
	SOFT_REACH_NONE, /* only the owner can: by ring */
	SOFT_REACH_MAPPED,
	SOFT_REACH_VM, /* process_vm_writev */
};

/* A peer's memory region, or the fact that it cannot be mapped, cached under its serial number. */
struct soft_rmap {
	_Atomic uint32_t serial;
	uint32_t reach;  /* enum soft_reach */
	uint8_t *base;   /* SOFT_REACH_MAPPED: where the owner's addr is here */
	uint64_t length; /* bytes of it */
};

/* A process, as seen from here. */
struct soft_peer {
	pid_t pid;
	int pidfd;
	int kick_fd;
	const struct shm_segment *seg;
	struct shm_bell *bell;
	bool full_fence; /* see shm_busy_enter and shm_bell_ring */
};

enum {
	SOFT_SPIN_TICKS = 4000, /* a peer that polled in vain so lately still does */
	SOFT_SAY_TICKS = 1000,  /* how often it says so: peers read the line */
};

/*
 * Does a thread of the peer sit in ibv_poll_cq? It then carries a request out sooner than a system
 * call would. A thread that waits for the data itself does not look into the links. Who polled
 * once, before it does something else, does not sit there: only after many polls is SHM_POLLED
 * said.
 */
static inline bool soft_peer_spins(const struct soft_peer *peer)
{
	return shm_attention_get(peer->seg) == SHM_POLLED &&
	       (int64_t)(shm_ticks() - shm_spin_load(peer->seg)) < SOFT_SPIN_TICKS;
}

/* Link to a process that this one sends requests to. */
struct soft_out {
	struct soft_peer peer;
	uint32_t slot; /* by which it was found */
	bool self;
	bool can_vm;      /* process_vm_readv works on the peer */
	bool peer_can_vm; /* and the peer can reach us */
	_Atomic bool dead;
	int sock;
	struct shm_link *shm;
	struct soft_lock tx;
	uint64_t req_head;          /* under tx */
	_Atomic uint64_t resp_tail; /* written under core->progress */
	struct soft_list waiting;   /* soft_qp.waiting, under tx */
	struct soft_rmap *rmap;     /* SHM_MRS entries, pages come with use */
	uint32_t rmap_top;          /* entries of rmap ever used; under map_lock */
	pthread_mutex_t map_lock;   /* one mapper at a time */
	_Atomic uint32_t refs;      /* one for core->out[], one per queue pair */
};

/* Link from a process that sends requests to this one. */
struct soft_in {
	struct soft_peer peer;
	bool can_vm;
	int sock;
	struct shm_link *shm;
	uint64_t req_tail, resp_head; /* under core->progress */
	uint64_t req_seen;            /* requests up to here are carried out in this round */
};

struct soft_core {
	struct shm_segment *seg;
	struct shm_bell *bell;
	int seg_fd, bell_fd, kick_fd;
	bool no_membarrier;
	struct soft_lock progress;
	_Atomic uint64_t heard; /* the last ring that was listened to, before a look; written under progress */
	struct soft_out *out[SOFT_MAX_LINKS]; /* under progress and table_lock to write, either to read */
	uint32_t nout;
	struct soft_in *in[SOFT_MAX_LINKS];
	uint32_t nin;
	pthread_mutex_t table_lock;
	struct soft_qp *_Atomic qp[SHM_QPS]; /* set under table_lock, cleared under progress too */
	_Atomic uint32_t qp_top;             /* indices below it have been used */
	uint32_t qp_hint;                    /* where to look for a free index */
	uint32_t mr_top, mr_free_count;      /* places never used; places to reuse */
	uint32_t *mr_free;
	uint32_t mr_serial;
	struct soft_mw *window[SHM_MRS]; /* by place, for those who know only the key */
	_Atomic uint32_t pd_serial, object_serial;
	struct soft_lock timer_lock;
	struct soft_list timers; /* soft_qp.timer */
};

extern struct soft_core *soft_core SOFT_HIDDEN;

/* ---- casts ---- */

static inline struct soft_context *soft_context(struct ibv_context *context)
{
	return soft_container(context, struct soft_context, vctx.context);
}

static inline struct soft_pd *soft_pd(struct ibv_pd *pd)
{
	return (struct soft_pd *)pd;
}

static inline struct soft_cq *soft_cq(struct ibv_cq *cq)
{
	return (struct soft_cq *)cq;
}

static inline struct soft_qp *soft_qp(struct ibv_qp *qp)
{
	return (struct soft_qp *)qp;
}

static inline struct soft_srq *soft_srq(struct ibv_srq *srq)
{
	return (struct soft_srq *)srq;
}

static inline struct soft_wqe *soft_wqe(const struct soft_qp *qp, uint32_t index)
{
	return (struct soft_wqe *)(void *)(qp->sq + (size_t)(index & (qp->sq_size - 1)) * qp->sq_stride);
}

static inline struct soft_rwqe *soft_rwqe(const struct soft_rq *rq, uint32_t index)
{
	return (struct soft_rwqe *)(void *)(rq->ring + (size_t)(index & (rq->size - 1)) * rq->stride);
}

static inline enum ibv_qp_state soft_qp_state(struct soft_qp *qp)
{
	return (enum ibv_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

static inline uint32_t soft_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* ---- core.c ---- */

/* The process's core, made on first use; NULL and errno when that fails. */
struct soft_core *soft_core_get(void) SOFT_HIDDEN;
/* Make every other thread's and process's memory accesses ordered against ours; see shm_busy_enter. */
void soft_heavy_barrier(void) SOFT_HIDDEN;
uint64_t soft_now_ns(void) SOFT_HIDDEN;
uint32_t soft_random(void) SOFT_HIDDEN;
/* Number of the queue pair at an index of the segment's table, and back (-1: not ours). */
uint32_t soft_qpn(const struct shm_segment *seg, uint32_t index) SOFT_HIDDEN;
int soft_qpn_index(const struct shm_segment *seg, uint32_t qpn) SOFT_HIDDEN;
/* Take another block of queue pair numbers. 0 or an errno value. */
int soft_slot_take(struct soft_core *core) SOFT_HIDDEN;

/* ---- engine.c: one thread per process; also serves librdmacm ---- */

typedef void soft_engine_fn(void *arg);

int soft_engine_start(struct soft_core *core) SOFT_HIDDEN;
/* Call fn(arg) on the engine thread whenever fd is readable. 0 or an errno value. */
SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg);
/*
 * No call is running and none will follow when this returns, unless called on the engine thread by
 * fn itself.
 */
SOFT_EXPORT void softverbs_unwatch(int fd);
/* Wake the engine that sleeps on this eventfd, a peer's or our own. */
void soft_kick(int fd) SOFT_HIDDEN;
/* The engine looks at its timers again. */
void soft_engine_wake(void) SOFT_HIDDEN;
/* Somebody is about to sleep: peers have to kick from now on. */
void soft_attention_kick(struct soft_core *core) SOFT_HIDDEN;
/* Somebody polls: the engine looks every millisecond and peers need not kick. */
void soft_attention_polled(struct soft_core *core) SOFT_HIDDEN;
void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns) SOFT_HIDDEN;
void soft_timer_clear(struct soft_qp *qp) SOFT_HIDDEN;

/* ---- link.c ---- */

/*
 * A reference to the link to the process that owns a queue pair number, made if need be; NULL if
 * there is none.
 */
struct soft_out *soft_out_get(struct soft_core *core, uint32_t qpn) SOFT_HIDDEN;
void soft_out_put(struct soft_out *out) SOFT_HIDDEN;
void soft_link_accept(void *sock) SOFT_HIDDEN;
/* A poll has found nothing. */
static inline void soft_say_spinning(struct soft_core *core)
{
	uint64_t now = shm_ticks();

	if (now - shm_spin_load(core->seg) > SOFT_SAY_TICKS)
		shm_spin_store(core->seg, now);
}

/* Has it rung since somebody listened? What it rang for may have been seen without. */
static inline bool soft_bell_rung(struct soft_core *core)
{
	return shm_bell_last(core->bell) != atomic_load_explicit(&core->heard, memory_order_relaxed);
}
/* Tell whoever is on the other side that there is something in a link. */
void soft_peer_notify(const struct soft_peer *peer) SOFT_HIDDEN;
/*
 * Look into all links: carry out requests, take responses. Returns at once if there is nothing or
 * somebody else is at it.
 */
void soft_progress(struct soft_core *core) SOFT_HIDDEN;
/* The same, but wait for whoever is at it. */
void soft_progress_now(struct soft_core *core) SOFT_HIDDEN;

/* ---- key.c: the table of memory keys ---- */

/* A place in the table, or -1 with errno. */
int soft_key_alloc(struct soft_core *core) SOFT_HIDDEN;
void soft_key_free(struct soft_core *core, uint32_t place) SOFT_HIDDEN;
/* A new unpredictable key for a place. */
uint32_t soft_key_make(struct soft_core *core, uint32_t place) SOFT_HIDDEN;
uint32_t soft_key_serial(struct soft_core *core) SOFT_HIDDEN;
static inline uint32_t soft_key_place(const struct shm_segment *seg, uint32_t key)
{
	return ((key >> 16) ^ seg->key_mask) & (SHM_MRS - 1);
}
/*
 * Entry of a key if it grants `access` on [addr, addr + length) to a protection domain and queue
 * pair; else NULL.
 */
static inline const struct shm_mr *soft_key_find(const struct shm_segment *seg, uint32_t key, uint32_t pd, uint32_t qpn,
                                                 uint64_t addr, uint64_t length, uint32_t access)
{
	const struct shm_mr *mr = &seg->mr[soft_key_place(seg, key)];

	if (key == 0 || shm_mr_key(mr) != key)
		return NULL;
	if (mr->qpn ? mr->qpn != qpn : mr->pd != pd)
		return NULL;
	if ((mr->access & access) != access)
		return NULL;
	if (addr < mr->iova || length > mr->length || addr - mr->iova > mr->length - length)
		return NULL;
	return mr;
}
/* Local memory behind a range of a work request; NULL: protection error. */
void *soft_key_local(uint32_t lkey, uint32_t pd, uint64_t addr, uint64_t length, uint32_t access) SOFT_HIDDEN;
/* Withdraw a key and wait until no peer acts under it. */
void soft_key_withdraw(struct soft_core *core, struct shm_mr *mr) SOFT_HIDDEN;
/* Wait until no peer acts on this process's memory. */
void soft_wait_idle(struct soft_core *core) SOFT_HIDDEN;
/* Wait until this one does not, or is dead. After soft_heavy_barrier. */
void soft_wait_peer(const struct soft_out *out, const struct shm_qp *peer) SOFT_HIDDEN;
/* Invalidate what a peer or a work request names; false if it may not. */
bool soft_key_invalidate(struct soft_core *core, uint32_t key, uint32_t pd, uint32_t qpn) SOFT_HIDDEN;

/* ---- backing.c ---- */

/*
 * What lies under [addr, addr + length): 0 if it can be registered with these rights, else an errno
 * value. *fd is a reference to a descriptor of the one file behind it that peers can open, or -1,
 * always if peers get no rights; *offset is where addr is in it.
 */
int soft_backing_find(const void *addr, size_t length, unsigned int access, int *fd, uint64_t *offset) SOFT_HIDDEN;
void soft_backing_put(int fd) SOFT_HIDDEN;

/* ---- mw.c ---- */
/* Its key was withdrawn by a work request. */
void soft_mw_invalidated(struct soft_mw *mw) SOFT_HIDDEN;
int soft_mw_bind(struct soft_qp *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info) SOFT_HIDDEN;
struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) SOFT_HIDDEN;
int soft_dealloc_mw(struct ibv_mw *mw) SOFT_HIDDEN;
int soft_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind) SOFT_HIDDEN;

/* ---- cq.c, cq_ex.c, channel.c ---- */
int soft_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc) SOFT_HIDDEN;
/* One entry off the queue; false if it is empty. */
bool soft_cq_pop(struct soft_cq *cq, struct soft_cqe *cqe) SOFT_HIDDEN;
int soft_req_notify_cq(struct ibv_cq *cq, int solicited_only) SOFT_HIDDEN;
struct soft_cq *soft_cq_new(struct ibv_context *context, uint32_t cqe, void *cq_context,
                            struct ibv_comp_channel *channel, uint32_t vector) SOFT_HIDDEN;
struct ibv_cq_ex *soft_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr) SOFT_HIDDEN;
/* false: the queue is full, the entry is lost and CQ_ERR was raised. */
bool soft_cq_push(struct soft_cq *cq, const struct soft_cqe *cqe, bool solicited) SOFT_HIDDEN;
/* Remove entries of a queue pair that goes away. */
void soft_cq_purge(struct soft_cq *cq, const struct soft_qp *qp) SOFT_HIDDEN;
/* A poll found nothing. */
void soft_cq_idle(struct soft_cq *cq) SOFT_HIDDEN;
void soft_channel_raise(struct soft_cq *cq) SOFT_HIDDEN;
/* A queue that goes away takes its unfetched event along and waits for the fetched ones. */
void soft_channel_forget(struct soft_cq *cq) SOFT_HIDDEN;

/* ---- async.c ---- */
void soft_async_raise(struct ibv_context *context, const struct ibv_async_event *event) SOFT_HIDDEN;
void soft_async_qp(struct soft_qp *qp, enum ibv_event_type type) SOFT_HIDDEN;
/* Drop events about an object that were not fetched, and wait for acknowledgements of the others. */
void soft_async_forget(struct ibv_context *context, const void *element, pthread_mutex_t *mutex, pthread_cond_t *cond,
                       const uint32_t *completed, const uint32_t *raised) SOFT_HIDDEN;

/* ---- rq.c, srq.c ---- */
int soft_rq_init(struct soft_rq *rq, uint32_t wr, uint32_t sge) SOFT_HIDDEN;
void soft_rq_fini(struct soft_rq *rq) SOFT_HIDDEN;
/* 0 or an errno value. */
int soft_rq_put(struct soft_rq *rq, const struct ibv_recv_wr *wr) SOFT_HIDDEN;
/*
 * The next receive of a queue pair, from its own or the shared queue, into qp->rx; false if there
 * is none.
 */
bool soft_rq_take(struct soft_qp *qp) SOFT_HIDDEN;
int soft_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) SOFT_HIDDEN;
/* Raise SRQ_LIMIT_REACHED if it is due; srq->lock is held. */
void soft_srq_check_limit(struct soft_srq *srq) SOFT_HIDDEN;

/* ---- qp.c, qp_state.c ---- */
struct ibv_qp *soft_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr) SOFT_HIDDEN;
/* Under qp->lock: to the error state, everything flushed. */
void soft_qp_fail(struct soft_qp *qp) SOFT_HIDDEN;
/* Under qp->lock: a completion of the receive in qp->rx. */
void soft_recv_done(struct soft_qp *qp, struct soft_cqe *cqe, bool solicited) SOFT_HIDDEN;
/*
 * Under qp->lock: the send queue is empty, the responder at the start of a message, late responses
 * are void.
 */
void soft_qp_restart(struct soft_qp *qp) SOFT_HIDDEN;
/* Under qp->lock: what peers may do, from state and attributes. */
void soft_qp_publish(struct soft_qp *qp) SOFT_HIDDEN;
/* 0 if the state machine allows this change with these attributes, else an errno value. */
int soft_qp_check_modify(enum ibv_qp_state from, enum ibv_qp_state to, int mask) SOFT_HIDDEN;

/* ---- post.c, wr.c ---- */
int soft_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) SOFT_HIDDEN;
int soft_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) SOFT_HIDDEN;
void soft_wr_setup(struct soft_qp *qp) SOFT_HIDDEN;
/* Room for n more work requests? Under qp->lock. */
bool soft_sq_room(struct soft_qp *qp, uint32_t head) SOFT_HIDDEN;

/* ---- requester.c: the send queue moves. All under qp->lock ---- */
void soft_pump(struct soft_qp *qp) SOFT_HIDDEN;
/* A direct operation that was not even queued succeeded: it counts as posted and done. */
void soft_send_done_at_once(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags,
                            uint64_t length) SOFT_HIDDEN;
/* The request at the tail fails, and with it the queue pair. */
void soft_send_fail(struct soft_qp *qp, enum ibv_wc_status status) SOFT_HIDDEN;
/* Everything in the send queue is flushed. */
void soft_send_flush(struct soft_qp *qp) SOFT_HIDDEN;
void soft_take_response(struct soft_core *core, struct soft_out *out, const struct shm_resp *resp,
                        const uint8_t *chunk) SOFT_HIDDEN;
/* The link's process is gone: queue pairs to it fail, soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out) SOFT_HIDDEN;
void soft_timer_fired(struct soft_qp *qp) SOFT_HIDDEN;
/*
 * Has the adversary cut the connection of this queue pair of ours? librdmacm's messages get lost
 * then, too.
 */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);
/* Under out->tx: room for one more request to the peer? */
bool soft_out_has_room(const struct soft_out *out) SOFT_HIDDEN;
/* The same; if not, the queue pair waits for it. */
bool soft_ring_room(struct soft_qp *qp) SOFT_HIDDEN;

/* ---- way.c: how a polling peer's private memory is written ---- */
enum {
	SOFT_WAY_MIN = 512, /* bytes; fewer always go by ring */
};
enum soft_way {
	SOFT_BY_RING,
	SOFT_BY_CALL, /* process_vm_writev */
};
/* For the next write of this length; the better one, or one that is to be tried. */
enum soft_way soft_way_next(uint64_t length) SOFT_HIDDEN;
/* The better one, as far as is known. */
enum soft_way soft_way_better(uint64_t length) SOFT_HIDDEN;
/* How long a write that went this way took, in ticks. */
void soft_way_took(enum soft_way way, uint64_t length, uint64_t ticks) SOFT_HIDDEN;

/* ---- bundle.c: small writes that travel together, under qp->lock ---- */
bool soft_bundle_may(const struct soft_qp *qp, const struct soft_wqe *wqe) SOFT_HIDDEN;
/*
 * The request at exec, and what may go with it, into the link; false if the queue has to wait or
 * has failed.
 */
bool soft_bundle_push(struct soft_qp *qp) SOFT_HIDDEN;

/* ---- direct.c ---- */

struct iovec;

/*
 * An RDMA operation, wherever it is described: in a work request that is being posted or in the
 * send queue.
 */
struct soft_rdma {
	uint32_t opcode;
	uint32_t nsge;
	uint32_t rkey;
	uint64_t raddr;
	uint64_t length; /* bytes, all ranges */
	uint64_t compare_add, swap;
	const struct iovec *iov; /* our ranges, checked */
};

enum soft_direct {
	SOFT_DIRECT_DONE,
	SOFT_DIRECT_RING,  /* has to go by ring: out of reach, or refused and the peer must know */
	SOFT_DIRECT_ERROR, /* *status says which */
};
enum soft_direct soft_direct(struct soft_qp *qp, const struct soft_rdma *op, enum ibv_wc_status *status) SOFT_HIDDEN;

/*
 * Map `length` bytes of a peer's region, `skip` bytes in; NULL where its memory is no file that can
 * be opened. The caller is busy, or the region could go meanwhile.
 */
void *soft_map_peer(const struct soft_out *out, const struct shm_mr *mr, uint64_t skip, uint64_t length) SOFT_HIDDEN;
void soft_unmap_peer(void *at, uint64_t length) SOFT_HIDDEN;

static inline bool soft_is_rdma(uint32_t opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* ---- copy.c ---- */

/* Local ranges turned into pointers; false: protection error. */
bool soft_ranges(const struct soft_qp *qp, const struct ibv_sge *sge, uint32_t n, uint32_t access,
                 struct iovec *iov) SOFT_HIDDEN;
/* The same for a work request in the queue, whose data may be inline. */
bool soft_gather(const struct soft_qp *qp, const struct soft_wqe *wqe, uint32_t access, struct iovec *iov) SOFT_HIDDEN;
/*
 * Words are placed in one piece, as a NIC places them; the rest is memcpy's business, in pieces: of
 * a megabyte it takes another way, which is 15 % slower between two caches.
 */
static inline void soft_copy(void *to, const void *from, size_t length)
{
	if (length == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else if (length == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else
		for (size_t done = 0; done < length; done += SOFT_COPY_PIECE)
			memcpy((uint8_t *)to + done, (const uint8_t *)from + done,
			       length - done < SOFT_COPY_PIECE ? length - done : SOFT_COPY_PIECE);
}
/* Copy between our ranges, starting `skip` bytes in, and contiguous memory. */
void soft_copy_out(void *to, const struct iovec *iov, uint32_t n, uint64_t skip, size_t length) SOFT_HIDDEN;
void soft_copy_in(const struct iovec *iov, uint32_t n, const void *from, uint64_t skip, size_t length) SOFT_HIDDEN;
/* The same with another process's memory; 0 or an errno value. */
/* From several ranges there to several here. */
int soft_vm_fetch(pid_t pid, const struct iovec *there, uint32_t nthere, const struct iovec *here, uint32_t nhere,
                  uint64_t skip) SOFT_HIDDEN;
int soft_vm_write(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length) SOFT_HIDDEN;
int soft_vm_read(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length) SOFT_HIDDEN;
uint64_t soft_atomic(uint32_t opcode, uint64_t *word, uint64_t compare_add, uint64_t swap) SOFT_HIDDEN;

/* ---- responder.c ---- */
/* Carry out the request in a place of the ring, and answer. */
void soft_respond(struct soft_core *core, struct soft_in *in, uint32_t at) SOFT_HIDDEN;

/* ---- device.c, gid.c ---- */
int soft_query_port_ex(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size) SOFT_HIDDEN;
int soft_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                         struct ibv_device_attr_ex *attr, size_t size) SOFT_HIDDEN;
__be64 soft_guid(void) SOFT_HIDDEN;
/* The port's addresses, the link-local one first; how many. */
int soft_gids(union ibv_gid *gids, int max) SOFT_HIDDEN;

#endif
