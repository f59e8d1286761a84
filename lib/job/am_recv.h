// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_recv.h - active messages that peers send here to be applied: the target's side
 *
 * DESIGN NOTES
 *
 * Each peer that has ever sent a message has a ring here (layout.h), which it writes; am_send.h is
 * its side. Messages are taken in order, by their stamps, and applied by the handler, which knows
 * windows and operations and refuses what makes no sense. One mutex, am->lock, is held for that,
 * whatever ring or window: so operations of this kind are atomic among themselves, and a rank that
 * dies anywhere leaves none half applied and nothing locked: a message without its stamp is none.
 *
 * Who applies:
 *
 *   a thread that waits in a call   looks at the rings in every turn (am_poll)
 *   the service thread              when a wakeup has come (wakeup.h), and for TAIL_NS after the last
 *                                   message where processors are free
 *
 * The answer, struct am_ack, goes behind the results and the answer before, once for all messages
 * that were found.
 *
 * A message whose elements somebody else is changing, and does not finish with, waits in its ring,
 * and those behind it: whoever looks next tries again, the service thread every millisecond.
 *
 * Wakeups. A sender has one to spend, and gets it back (`rested`) when this side is about to look
 * no more. A wakeup costs this side a switch to the service thread, so while threads of the program
 * poll it is not given back; the service thread looks every millisecond whether they still do. In
 * the moment in which it is given back a message may be on its way that was sent without one: so
 * the rings are looked at again behind the answer and LOOKS_AFTER times more, and a sender that
 * waits wakes us again when the answer finds it with messages not applied.
 *
 * `list` grows at its head, by the service thread, and is read by all; a ring is never taken away.
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

/* The ring of one peer. */
struct am_receiver {
	struct peer *peer;
	struct am_receiver *next;
	struct am *slots;
	uint8_t *data;
	uint64_t taken;      /* messages; this and the rest are guarded by am->lock */
	uint64_t refused[2]; /* as in struct am_ack */
	uint64_t acked;      /* of taken */
};

#define AM_LATER (-1000) /* no verdict: what it changes is held by somebody else: it is to be applied at another look */

/* What applies messages; there is one in the library, above this folder. */
struct am_handler {
	/*
	 * Apply a message: a copy of it, and the ring's data of AM_DATA_BYTES, which the sender may be
	 * changing. Results go to `result`, of AM_LARGEST_BYTES. Their size; or the message is refused,
	 * and nothing has been done: a negative enum am_verdict; or AM_LATER, and nothing has been
	 * done either. With am->lock.
	 */
	int (*apply)(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result);
};

extern const struct am_handler am_handler;

struct am_service {
	pthread_mutex_t lock;
	const struct am_handler *handler;
	void *result;   /* of the message being applied */
	void **windows; /* by slot: struct oriel_win, for the handler */
	uint32_t window_capacity;
	struct am_receiver *list;   /* rings; read by am_poll */
	struct am_receiver *cursor; /* where am_poll goes on; any thread, by atomic load and store */
	uint64_t polled;      /* turns in which threads of the program have looked; any thread, now and then one lost */
	uint64_t polled_seen; /* of them, when the service thread last looked; it alone, as the rest */
	bool may_spin;        /* a processor is free for the service thread; set by oriel_init */
	bool welcoming;       /* peers wait for their ring */
	bool later;           /* the task is under way */
	int looks;            /* more for the task to take */
	struct task task;
};

void am_open(struct oriel_job *job, const struct am_handler *handler);
void am_close(struct oriel_job *job);

/* For turns of waits: apply what has come. `list` is not NULL. */
void am_poll_rings(struct oriel_job *job, struct am_receiver *list);

static inline void am_poll(struct oriel_job *job, struct am_service *am)
{
	struct am_receiver *list = __atomic_load_n(&am->list, __ATOMIC_ACQUIRE); /* pairs with am_receiver_open */

	if (__builtin_expect(list != NULL, 0))
		am_poll_rings(job, list);
}

/* A window of ours may be named by messages, or may not be any more. ERRORS: ORIEL_ERR_MEMORY. */
int am_enter_window(struct oriel_job *job, uint32_t slot, void *win);
void am_leave_window(struct oriel_job *job, uint32_t slot);

/*
 * Apply everything that a peer has sent before something that has been seen, such as its flag.
 * Whether that is done: otherwise it is to be called again.
 */
bool am_drain_ring(struct am_receiver *ring);

/* Apply what has come, of all peers. Whether there was anything, or is still. */
bool am_drain_all(struct am_service *am);

/* Service thread: make a ring for a peer. False for want of memory. */
bool am_receiver_open(struct peer *peer);

/* Service thread: the peer may wake us again. */
void am_receiver_rest(struct peer *peer);

/* Service thread: the descriptor of a device's wakeups is readable. In am_wakeup.c. */
void am_woken(struct oriel_job *job);

#endif
