// SPDX-License-Identifier: BSD-2-Clause
/*
 * record_in.h - records that peers send here to be applied: the target's side
 *
 * DESIGN NOTES
 *
 * Each peer that has ever sent a record has a ring here (layout.h), which it writes; record_out.h is
 * its side. Records are taken in order, by their stamps, and applied by the job's applier, which knows
 * windows and operations and refuses what makes no sense. One mutex, records->lock, is held for that,
 * whatever ring or window: so operations of this kind are atomic among themselves, and a rank that
 * dies anywhere leaves none half applied and nothing locked: a record without its stamp is none.
 *
 * Who applies:
 *
 *   a thread that waits in a call   looks at the rings in every turn (records_poll)
 *   the service thread              when a wakeup has come (wakeup.h), and for TAIL_NS after the last
 *                                   record where processors are free
 *
 * The answer, struct record_ack, goes behind the results and the answer before, once for all records
 * that were found.
 *
 * A record whose elements somebody else is changing, and does not finish with, waits in its ring, and
 * those behind it: whoever looks next tries again, the service thread every millisecond.
 *
 * Wakeups. A sender has one to spend, and gets it back (`rested`) when this side is about to look no
 * more. A wakeup costs this side a switch to the service thread, so while threads of the program poll
 * it is not given back; the service thread looks every millisecond whether they still do. In the
 * moment in which it is given back a record may be on its way that was sent without one: so the rings
 * are looked at again behind the answer and LOOKS_AFTER times more, and a sender that waits wakes us
 * again when the answer finds it with records not applied.
 *
 * `list` grows at its head, by the service thread, and is read by all; a ring is never taken away.
 */
#ifndef ORIEL_RECORD_IN_H
#define ORIEL_RECORD_IN_H

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
struct record_in {
	struct peer *peer;
	struct record_in *next;
	struct record *slots;
	uint8_t *data;
	uint64_t taken;      /* records; this and the rest are guarded by records->lock */
	uint64_t refused[2]; /* as in struct record_ack */
	uint64_t told;       /* of taken */
};

#define RECORD_LATER \
	(-1000) /* no verdict: what it changes is held by somebody else: it is to be applied at another look */

/* What applies records; there is one in the library, above this folder. */
struct record_applier {
	/*
	 * Apply a record: a copy of it, and the ring's data of RECORD_DATA_BYTES, which the sender may be
	 * changing. Results go to `result`, of RECORD_LARGEST_BYTES. Their size; or the record is refused,
	 * and nothing has been done: a negative enum record_verdict; or RECORD_LATER, and nothing has been
	 * done either. With records->lock.
	 */
	int (*apply)(struct oriel_job *job, const struct record *record, const uint8_t *data, void *result);
};

extern const struct record_applier record_applier;

struct records {
	pthread_mutex_t lock;
	const struct record_applier *applier;
	void *result;   /* of the record being applied */
	void **windows; /* by slot: struct oriel_win, for the applier */
	uint32_t window_capacity;
	struct record_in *list;   /* rings; read by records_poll */
	struct record_in *cursor; /* where records_poll goes on; any thread, by atomic load and store */
	uint64_t polled;          /* turns in which threads of the program have looked; any thread, now and then one lost */
	uint64_t polled_seen;     /* of them, when the service thread last looked; it alone, as the rest */
	bool may_spin;            /* a processor is free for the service thread; set by oriel_init */
	bool welcoming;           /* peers wait for their ring */
	bool later;               /* the task is under way */
	int looks;                /* more for the task to take */
	struct task task;
};

void records_open(struct oriel_job *job, const struct record_applier *applier);
void records_close(struct oriel_job *job);

/* For turns of waits: apply what has come. `list` is not NULL. */
void records_look(struct oriel_job *job, struct record_in *list);

static inline void records_poll(struct oriel_job *job, struct records *records)
{
	struct record_in *list = __atomic_load_n(&records->list, __ATOMIC_ACQUIRE); /* pairs with record_in_open */

	if (__builtin_expect(list != NULL, 0))
		records_look(job, list);
}

/* A window of ours may be named by records, or may not be any more. ERRORS: ORIEL_ERR_MEMORY. */
int records_enter_window(struct oriel_job *job, uint32_t slot, void *win);
void records_leave_window(struct oriel_job *job, uint32_t slot);

/*
 * Apply everything that a peer has sent before something that has been seen, such as its flag. Whether
 * that is done: otherwise it is to be called again.
 */
bool records_drain_ring(struct record_in *ring);

/* Apply what has come, of all peers. Whether there was anything, or is still. */
bool records_drain_all(struct records *records);

/* Service thread: make a ring for a peer. False for want of memory. */
bool record_in_open(struct peer *peer);

/* Service thread: the peer may wake us again. */
void record_in_rest(struct peer *peer);

/* Service thread: the descriptor of a device's wakeups is readable. In record_wake.c. */
void records_woken(struct oriel_job *job);

#endif
