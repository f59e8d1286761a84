// SPDX-License-Identifier: BSD-2-Clause
/*
 * core.h - the state of the process
 *
 * DESIGN NOTES
 *
 * A process has one `struct soft_core`, from the opening of the first device (start.c) to its end:
 * the segment and bell that peers map (shm.h), the pipes, and the tables of queue pairs and keys.
 *
 * There are two ways to carry out an operation:
 *   direct    RDMA writes, reads and atomics on memory of the peer that this process can map or
 *             reach with process_vm_writev: the posting thread, immediately (direct.c).
 *   by ring   all others: a request goes into the pipe, a thread of the peer in ibv_poll_cq or its
 *             engine carries it out (responder.c), and a response comes back (answer.c).
 * A queue pair's requests are carried out in order: a direct operation waits until all requests
 * before it are answered.
 *
 * Locks, in the order in which they may be nested:
 *   core->progress   the thread that drains the pipes; ibv_poll_cq uses trylock
 *   qp->lock         send queue, receive queue, state
 *   srq->lock
 *   pipe->tx         room in the pipe, waiting list
 *   cq->lock
 *   channel->lock, context's event lock, core->timer_lock: leaves
 * core->table_lock (creation and destruction of objects) is held only outside all of them.
 *
 * A static function of type int returns 0 or an errno value, or a descriptor, unless its comment
 * says otherwise.
 */
#ifndef SOFT_CORE_H
#define SOFT_CORE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/state/shm.h"

struct soft_in;
struct soft_mw;
struct soft_out;
struct soft_qp;

struct soft_core {
	struct shm_segment *seg;  /* own; peers read it */
	struct shm_bell *bell;    /* own; peers ring it */
	int seg_fd, bell_fd;      /* for peers to map */
	int slot_sock[SHM_SLOTS]; /* peers connect to them */
	int wakeup_fd;            /* eventfd on which the engine sleeps */
	bool no_membarrier;
	struct soft_lock progress;            /* held by the thread that drains the pipes */
	_Atomic uint32_t looks;               /* empty polls, a hint; under progress */
	_Atomic uint64_t served;              /* peers' requests and pieces; under progress */
	_Atomic uint64_t bell_seen;           /* last ring that was read; under progress */
	struct soft_out *out[SOFT_MAX_PIPES]; /* under progress */
	uint32_t nout;
	struct soft_in *in[SOFT_MAX_PIPES]; /* under progress */
	uint32_t nin;
	_Atomic uint32_t connecting; /* slot of the peer being connected to; 0: none */
	pthread_mutex_t table_lock;
	struct soft_qp *_Atomic qp[SHM_QPS]; /* set under table_lock, cleared under progress too */
	_Atomic uint32_t qp_top;             /* indices below it have been used */
	uint32_t qp_hint;                    /* where find_index begins; under table_lock */
	uint32_t mr_top, mr_free_count;      /* first unused place, reusable places; under table_lock */
	uint32_t *mr_free;
	uint32_t mr_serial;              /* under table_lock */
	struct soft_mw *window[SHM_MRS]; /* by place */
	_Atomic uint32_t pd_serial, object_serial;
	struct soft_lock timer_lock;
	struct soft_list timers; /* soft_qp.timer */
};

/* NULL until the first device is opened. A caller with an object need not check. */
extern struct soft_core *soft_core SOFT_HIDDEN;

struct soft_context {
	struct verbs_context vctx; /* ends with the ibv_context that callers hold */
	struct soft_core *core;    /* of its objects; in a child not always soft_core */
	pthread_mutex_t event_lock;
	struct soft_list events; /* soft_event.list, not yet fetched */
};

static inline struct soft_context *soft_context(struct ibv_context *context)
{
	return soft_container(context, struct soft_context, vctx.context);
}

/* Asynchronous events: async.c. */
struct soft_event {
	struct soft_list list; /* in context->events */
	struct ibv_async_event event;
};

/*
 * Queues an event and counts it in *raised, under the context's event lock. Without memory the
 * event is lost.
 */
void soft_async_raise(struct ibv_context *context, const struct ibv_async_event *event, uint32_t *raised);
void soft_async_qp(struct soft_qp *qp, enum ibv_event_type type);
/*
 * Drops unfetched events of an object. Returns how many of its others take acknowledgements, for
 * soft_async_await.
 */
uint32_t soft_async_forget(struct ibv_context *context, const void *element, uint32_t *raised);
void soft_async_await(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed, uint32_t expected);

/* Descriptors that the engine watches: loop.c. */

typedef void soft_engine_fn(void *arg);

/* Returns 0 or an errno value. */
int soft_loop_open(void);
void soft_loop_close(void);
/*
 * Around a fork: keeps the table unchanged until soft_loop_let_go. Before that, the child calls
 * soft_loop_forked, which closes the watched descriptors and watches none.
 */
void soft_loop_hold(void);
void soft_loop_let_go(void);
void soft_loop_forked(void);
/* For the engine: waits for one event until until_ns (UINT64_MAX: for ever), and serves it. */
void soft_loop_turn(uint64_t now_ns, uint64_t until_ns);

/* Calls fn(arg) on the engine thread whenever fd is readable. Returns 0 or an errno value. */
SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg);
/* Changes the function without missing an event; the current one calls this. */
SOFT_EXPORT void softverbs_watch_on(int fd, soft_engine_fn *fn, void *arg);
/* Returns when no call of fn is running or will follow; fn itself may call this. */
SOFT_EXPORT void softverbs_unwatch(int fd);

/* Wakes the engine that sleeps on this eventfd. */
void soft_wake(int fd);
/* Makes the engine check its timers. */
void soft_engine_wake(void);

#endif
