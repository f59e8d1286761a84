// SPDX-License-Identifier: BSD-2-Clause
/*
 * wakeup.h - peers wake the service thread of this process
 *
 * DESIGN NOTES
 *
 * What peers write is seen by whoever polls. For the time when nobody does, a peer sends a write
 * with an immediate (wire_word, wire_wake): it takes a receive of this side's queue pair, and its
 * completion makes a descriptor readable, which the service thread's loop watches. All queue pairs
 * of a device share one completion queue for that; receives have no memory.
 *
 * Each queue pair has one receive, posted before the connection is made and again when its
 * completion has been taken. A peer therefore sends one immediate, and no other before it has been
 * told that the first was seen (am_recv.h: `rested`): an immediate always finds its receive, and
 * the completion queue never overflows, since each queue pair has one completion in it at most, and
 * one more of a broken one that it replaces.
 *
 * The completion queue is made for few queue pairs and grows with those that there are, whatever the
 * size of the job: to twice as many before there is one too many. A device that refuses that refuses
 * the connection, and who waits for it is told why.
 *
 * All by the service thread, but for making and closing.
 */
#ifndef ORIEL_WAKEUP_H
#define ORIEL_WAKEUP_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct verbs_functions;

#define WAKEUP_BATCH 16

struct wakeup {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint32_t pairs; /* queue pairs whose receives end there */
	uint32_t room;  /* for so many */
};

/* *wakeup is set on success only. ERRORS: ORIEL_ERR_DEVICE, ORIEL_ERR_MEMORY. */
int wakeup_open(struct wakeup **wakeup, const struct verbs_functions *functions, struct ibv_context *context);
void wakeup_close(struct wakeup *wakeup, const struct verbs_functions *functions);

/* One queue pair more or less; before it is made, after it is gone. ERRORS: ORIEL_ERR_DEVICE, with errno. */
int wakeup_add_pair(struct wakeup *wakeup, const struct verbs_functions *functions);
void wakeup_drop_pair(struct wakeup *wakeup);

/* One receive for the queue pair; `id` comes back with its completion. False for want of room. */
bool wakeup_receive(struct ibv_qp *qp, uint64_t id);

/*
 * The next immediates that have come, WAKEUP_BATCH at most: whose, in ids. Their receives are to be
 * posted again. 0: none; the descriptor tells of the next one. By one thread.
 */
uint32_t wakeup_take(const struct wakeup *wakeup, const struct verbs_functions *functions, uint64_t ids[WAKEUP_BATCH]);

#endif
