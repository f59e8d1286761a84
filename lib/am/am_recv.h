// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_recv.h - active messages from peers: the target's side
 *
 * DESIGN NOTES
 *
 * Each peer that has sent a message writes a ring here (layout.h); am_send.h is its side. Messages
 * are taken in order, by their stamps. The handler applies or refuses them under am->lock: they are
 * atomic among themselves. A rank that dies leaves none half applied: a message without its stamp
 * does not count.
 *
 * Messages are applied by
 *
 *   a thread that waits in a call   in every turn (am_poll)
 *   the service thread              after a wakeup (wakeup.h), and for TAIL_NS after the last
 *                                   message if processors are free
 *
 * Both take wakeups and make rings: the service thread may lack a processor.
 *
 * The answer, struct am_ack, is written behind the results and the previous answer, once for all
 * messages found. It has the last result if that is small. A message whose elements another thread
 * keeps locked waits in its ring, with those behind it, for the next poll.
 *
 * Wakeups. A sender has one, and gets it back (`rested`) before this side stops polling, but not
 * while threads of the program poll. A message sent without one may be in flight then: so the rings
 * are polled again after the answer, and LOOKS_AFTER times more.
 */
#ifndef ORIEL_AM_RECV_H
#define ORIEL_AM_RECV_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "job/service_queue.h"
#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;
struct peer;

struct am_receiver {
	struct peer *peer;
	struct am_receiver *next;
	struct am *slots;
	uint8_t *data;
	uint64_t taken;      /* guarded by am->lock, as the rest */
	struct am_ack ack;   /* the last answer */
	uint32_t held_bytes; /* of ack.result, which only the answer has */
	bool by_wire;        /* not all of the sender's memory is mapped */
};

#define AM_LATER (-1000) /* another thread holds the elements: to be tried again */

/* The one handler of the library lies above this folder. */
struct am_handler {
	/*
	 * Applies a copy of a message, with the ring's data of AM_DATA_BYTES, which the sender may
	 * change, or those of AM_PULL. Writes the result, of AM_LARGEST_BYTES at most, and returns its
	 * size. A negative enum am_verdict refuses the message; that and AM_LATER leave everything
	 * unchanged. Under am->lock.
	 */
	int (*apply)(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result);
};

extern const struct am_handler am_handler;

struct am_service {
	pthread_mutex_t wakeups; /* guards welcoming, woken, and am_* of peers */
	pthread_mutex_t lock;
	const struct am_handler *handler;
	void *result;
	uint8_t *pulled; /* AM_PULLED_BYTES */
	void **windows; /* by slot: struct oriel_win, for the handler */
	uint32_t window_capacity;
	struct am_receiver *list;   /* grows at its head, under `wakeups`; never shrinks */
	struct am_receiver *cursor; /* where am_poll continues; atomic */
	uint64_t applied;           /* messages */
	uint64_t polled;            /* by threads of the program; a poll may be lost */
	uint64_t polled_seen;       /* at the last check; service thread only, as the rest */
	bool may_spin;              /* a processor is free for the service thread */
	bool welcoming;             /* peers wait for their rings */
	bool woken;                 /* the service thread has wakeups to serve */
	bool later;                 /* the task is queued */
	int looks;                  /* polls that the task still has to make */
	struct task task;
};

void am_open(struct oriel_job *job, const struct am_handler *handler);
void am_close(struct oriel_job *job);

/* Applies arrived messages in a turn. `list` is not NULL. */
void am_poll_rings(struct oriel_job *job, struct am_receiver *list);

static inline void am_poll(struct oriel_job *job, struct am_service *am)
{
	struct am_receiver *list = __atomic_load_n(&am->list, __ATOMIC_ACQUIRE); /* pairs with am_receiver_open */

	if (__builtin_expect(list != NULL, 0))
		am_poll_rings(job, list);
}

/* Lets messages name a window, or no longer. ERRORS: ORIEL_ERR_MEMORY. */
int am_enter_window(struct oriel_job *job, uint32_t slot, void *win);
void am_leave_window(struct oriel_job *job, uint32_t slot);

/* Applies what the peer sent before a flag that the caller has seen. False: call again. */
bool am_drain_ring(struct am_receiver *ring);

/* Applies arrived messages. Returns whether there were any, or some are left. */
bool am_drain_all(struct am_service *am);

/* Writes the place of its ring to the peer; 0, and false: memory is short. */
bool am_receiver_open(struct peer *peer);

/* Take wakeups. The first is called under am->wakeups. */
void am_take_wakeups(struct oriel_job *job);
void am_poll_wakeups(struct oriel_job *job);

/* Gives the peer its wakeup back. Under am->wakeups. */
void am_receiver_rest(struct peer *peer);

/* Handles a device's readable wakeup descriptor. Service thread (am_wakeup.c). */
void am_woken(struct oriel_job *job);

#endif
