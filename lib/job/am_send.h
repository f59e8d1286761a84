// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_send.h - sending active messages to a peer: the sender's side of a ring
 *
 * DESIGN NOTES
 *
 * A message is an operation that its target carries out. It goes into a ring at the target
 * (layout.h), which the sender alone writes: operands first, then the slot without its stamp, then
 * the stamp, which is the message's number. The stamp is a word of the protocol's own: a plain
 * write in every mode; where the device does not place writes in order (flag_mode), what is before
 * it is waited for. The target takes messages by their stamps, in order, and answers with struct
 * am_ack, behind the results, into our area. Results land in registered memory; they are copied to
 * where the program wants them by whoever sees the answer, in a call of the program's.
 *
 * Room: a slot, and contiguous bytes in the ring's data for what does not fit the slot. Results use
 * the same place in the memory for results, so there is one account of both. It is free again when
 * the message is applied and its result copied out.
 *
 *   the ring   made by the target when it is woken for the first time; its place is written into our
 *              area (am_ring). Until then am_send says "not now".
 *   a wakeup   goes with a stamp where the one before has been answered (`rested`), see am_recv.h.
 *              Who waits for a message wakes the target again if that has gone to rest with messages of
 *              ours unseen: the answer to the wakeup and the message have met on their way.
 *
 * A message that the target refuses has had no effect and has no result; what it was about goes to
 * its window's deferred errors (deferred_error.h), and the calls that complete messages tell it.
 *
 * All of it is guarded by `lock`, which is taken after win->lock and before wire->lock; a thread
 * may look at `applied` without. Of a dead peer nothing is taken any more: the program has its
 * memory back by then (am_sender_cut).
 */
#ifndef ORIEL_AM_SEND_H
#define ORIEL_AM_SEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/layout.h"
#include "verbs/slab.h"

struct peer;
struct deferred_errors;

/* What a message is about, for the error text if its target refuses it (deferred_error.h). */
struct am_subject {
	struct deferred_errors *deferred_errors; /* the window's */
	const void *win;
	const char *call;
	uint64_t disp_bytes;
	uint64_t limit_bytes; /* of the target's memory, as far as this rank knows */
	int rank;             /* in the window's group */
	uint32_t size_bytes;  /* of the elements at the target; 0: it is an addition to signal disp_bytes */
};

/* How a result gets to where the program wants it, where not all of its bytes are to be written. */
typedef void am_copy(uint8_t type, void *to, const void *from, uint32_t size_bytes);

/* What a message that is under way uses. */
struct am_outstanding {
	am_copy *copy;         /* NULL: memcpy */
	void *result;          /* where the program wants it; NULL: nowhere */
	uint32_t result_bytes; /* 0: the message has no result */
	uint32_t at;           /* as in struct am */
	uint32_t data_end;     /* data_tail once it is free */
	uint8_t type;          /* for copy */
	struct am_subject subject;
};

struct am_sender {
	pthread_mutex_t lock;
	uint64_t sent;      /* messages */
	uint64_t applied;   /* of them, results included; read by counter_load */
	uint64_t wakes;     /* wakeups sent */
	uint64_t rested;    /* and answered */
	uint32_t data_head; /* bytes of ring data ever taken, and freed */
	uint32_t data_tail;
	struct piece results; /* AM_RESULTS_BYTES; addr NULL before the first message with a result */
	struct am_outstanding places[AM_SLOTS];
};

/* A message to be sent. */
struct am_message {
	struct am am;     /* but for what the ring knows: data_at, stamp */
	const void *data; /* message.data_bytes of it, AM_LARGEST_BYTES at the most */
	void *result;
	uint32_t result_bytes; /* likewise */
	am_copy *copy;         /* NULL: memcpy */
	bool behind_gets;      /* it is placed when what was read before has been */
	struct am_subject subject;
};

/* What has been sent. */
struct am_sent {
	uint64_t number;  /* of the message */
	uint64_t request; /* of the last work request of it */
};

/*
 * Send a message to a peer that is up and not this rank itself; *data is free on return, the result
 * is there when am_progress says so. 1: sent; 0: there is no room now, or no ring yet: call again,
 * and poll the wire meanwhile. ERRORS: ORIEL_ERR_PEER (no text), ORIEL_ERR_MEMORY.
 */
int am_send(struct peer *peer, const struct am_message *message, struct am_sent *sent);

/*
 * One turn of a wait for message `number`, or for room. Whether the message is applied, its result
 * there.
 */
bool am_progress(struct peer *peer, uint64_t number);

/* Whether message `number` is known to be applied, its result there. */
bool am_is_applied(const struct peer *peer, uint64_t number);

/*
 * After a look: whether a message of a window for some of the bytes of its memory there from `from`
 * up to `to` is under way.
 */
bool am_covers(struct peer *peer, const void *win, uint64_t from, uint64_t to);

/*
 * The peer is dead: from now on no result is copied and no error noted, also by threads that are at
 * it.
 */
void am_sender_cut(struct peer *peer);

void am_sender_free(struct am_sender *out);

#endif
