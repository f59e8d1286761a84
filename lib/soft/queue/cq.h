// SPDX-License-Identifier: BSD-2-Clause
/* Completion queues, which this process's threads fill and empty (poll.c). */
#ifndef SOFT_CQ_H
#define SOFT_CQ_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/state/qp.h"

struct soft_cqe {
	struct ibv_wc wc;
	struct soft_qp *qp;
	uint32_t sq_end; /* send: polling it frees the send queue up to here */
	uint32_t is_send;
};

enum soft_arm {
	SOFT_ARM_ANY = 1,
	SOFT_ARM_SOLICITED = 2,
};

struct soft_cq {
	union {
		struct ibv_cq base;
		struct ibv_cq_ex ex;
	};
	struct soft_lock lock;
	struct soft_cqe *ring;
	uint32_t size;               /* entries; a power of two */
	uint32_t limit;              /* usable entries */
	_Atomic uint32_t head, tail; /* written under lock; head - tail entries are there */
	_Atomic uint32_t armed;      /* 0, or enum soft_arm; written under lock */
	uint32_t urgent;             /* number of the last solicited or failed entry; under lock */
	uint32_t notified;           /* number of entries at the last event; under lock */
	bool overrun;
	bool ignore_overrun;
	_Atomic uint32_t idle_polls; /* empty polls in a row; a hint */
	uint32_t events_raised;      /* completion events, under the channel's lock */
	uint32_t events_queued;      /* not yet fetched */
	uint32_t async_raised;       /* queued events; under the context's event lock */
	_Atomic uint32_t users;      /* queue pairs */
	struct soft_list event;      /* in channel->ready while events_queued */
	struct soft_cqe current;     /* start_poll interface: the entry being read */
	uint64_t *stamps;            /* time of each entry, by soft_now_ns; NULL: not requested */
	uint64_t stamp;              /* of the entry being read */
};

static inline struct soft_cq *soft_cq(struct ibv_cq *cq)
{
	return (struct soft_cq *)cq;
}

/*
 * Returns the number of entries; exact under cq->lock, otherwise a hint, ordered before loads of
 * the entries' data.
 */
static inline uint32_t soft_cq_entries(const struct soft_cq *cq)
{
	return atomic_load_explicit(&cq->head, memory_order_acquire) -
	       atomic_load_explicit(&cq->tail, memory_order_relaxed);
}

/* Frees the send queue's room up to this work request. Under cq->lock. */
static inline void soft_cq_release_room(const struct soft_cqe *cqe)
{
	if (cqe->is_send)
		atomic_store_explicit(&cqe->qp->sq_released, cqe->sq_end, memory_order_release);
}

struct soft_cq *soft_cq_new(struct ibv_context *context, uint32_t cqe, void *cq_context,
                            struct ibv_comp_channel *channel, uint32_t vector);
/* Stores each entry's time from now on. Returns false without memory. */
bool soft_cq_keep_stamps(struct soft_cq *cq);
/* Returns false if the queue is full: the entry is lost and CQ_ERR was raised. */
bool soft_cq_push(struct soft_cq *cq, const struct soft_cqe *cqe, bool solicited);
/* Returns false if the queue is empty. */
bool soft_cq_pop(struct soft_cq *cq, struct soft_cqe *cqe);
/* Raises an event for the next entry, or for one that has come since the last event. */
void soft_cq_arm(struct soft_cq *cq, bool solicited_only);
/* Removes the entries of a queue pair that is reset or destroyed. */
void soft_cq_purge(struct soft_cq *cq, const struct soft_qp *qp);

/* cq.c */
struct soft_channel {
	struct ibv_comp_channel base;
	pthread_mutex_t lock;
	struct soft_list ready; /* soft_cq.event */
};

/* The caller holds no lock of the queue. */
void soft_channel_raise(struct soft_cq *cq);
/* Drops a queue's unfetched event and waits for acknowledgements of others. */
void soft_channel_forget(struct soft_cq *cq);

/* Completion of requests: retire.c. All under qp->lock. */

/* Completes the request at the tail. */
void soft_send_done(struct soft_qp *qp);
/* For a direct operation that was never queued. */
void soft_send_done_at_once(struct soft_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags, uint64_t length);
/* Fails the request at the tail, and the queue pair. */
void soft_send_fail(struct soft_qp *qp, enum ibv_wc_status status);
/* Completes the requests in flight of an unreliable connection. */
void soft_send_lose(struct soft_qp *qp);
void soft_send_flush(struct soft_qp *qp);
/* Completes the receive in qp->rx. */
void soft_recv_done(struct soft_qp *qp, struct soft_cqe *cqe, bool solicited);
/* Enters the error state and flushes all requests. */
void soft_qp_fail(struct soft_qp *qp);
/* Empties the send queue, resets the responder to the start of a message, voids late responses. */
void soft_qp_restart(struct soft_qp *qp);

#endif
