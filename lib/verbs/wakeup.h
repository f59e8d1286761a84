// SPDX-License-Identifier: BSD-2-Clause
/*
 * wakeup.h - peers wake the service thread of this process
 *
 * DESIGN NOTES
 *
 * While no thread polls, a peer sends a write with an immediate (wire_word, wire_wake). It takes a
 * receive of this side's queue pair. The completion makes a descriptor readable, which the service
 * thread watches. All queue pairs of a device share one completion queue for that.
 *
 * Each queue pair has one receive, posted before the connection is made and again when its
 * completion has been taken. A peer sends no second immediate before the first was seen (am_recv.h:
 * `rested`). So an immediate finds its receive, and each queue pair has at most one completion in
 * the queue, and one of a broken one that it replaces.
 *
 * The completion queue doubles when it is full. If the device refuses, so is the connection.
 *
 * Threads other than the service thread only make, take and close.
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
	uint32_t pairs; /* whose receives complete there */
	uint32_t room;  /* for so many */
};

/* Sets *wakeup on success only. ERRORS: ORIEL_ERR_DEVICE, ORIEL_ERR_MEMORY. */
int wakeup_open(struct wakeup **wakeup, const struct verbs_functions *functions, struct ibv_context *context);
void wakeup_close(struct wakeup *wakeup, const struct verbs_functions *functions);

/*
 * Count a queue pair before it is made, and no longer after it is gone. ERRORS: ORIEL_ERR_DEVICE,
 * with errno.
 */
int wakeup_add_pair(struct wakeup *wakeup, const struct verbs_functions *functions);
void wakeup_drop_pair(struct wakeup *wakeup);

/*
 * Posts a receive to the queue pair; `id` comes back with its completion. False: there is no room.
 */
bool wakeup_receive(struct ibv_qp *qp, uint64_t id);

/* Makes the descriptor unreadable until the next completion. */
void wakeup_rearm(const struct wakeup *wakeup, const struct verbs_functions *functions);

/* Takes the next immediates: the ids of their receives, which are to be posted again. 0: none. */
uint32_t wakeup_take(const struct wakeup *wakeup, uint64_t ids[WAKEUP_BATCH]);

#endif
