// SPDX-License-Identifier: BSD-2-Clause
/* A poll that finds nothing drains the pipes; a thread that is about to sleep requests wakeups. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "soft/base/adversary.h"
#include "soft/base/lock.h"
#include "soft/engine/engine.h"
#include "soft/peer/peer.h"
#include "soft/queue/cq.h"
#include "soft/state/core.h"
#include "soft/verbs/device.h"

enum {
	IDLE_POLLS = 64,      /* empty polls before SHM_POLLED */
	RENOTIFY_EVERY = 512, /* empty polls between two notifications of silent peers */
	SAID_EVERY = 4,       /* empty polls: reading the clock costs as much as one */
};

static int take(struct soft_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int n = 0;

	if (soft_adversary.on && soft_adversary_late())
		return 0;
	soft_lock(&cq->lock);
	while (n < num_entries && soft_cq_entries(cq) != 0) {
		const struct soft_cqe *cqe = &cq->ring[cq->tail & (cq->size - 1)];

		wc[n++] = cqe->wc;
		soft_cq_release_room(cqe);
		atomic_store_explicit(&cq->tail, cq->tail + 1, memory_order_relaxed);
	}
	soft_unlock(&cq->lock);
	return n;
}

void soft_cq_idle(struct soft_cq *cq)
{
	uint32_t idle = atomic_load_explicit(&cq->idle_polls, memory_order_relaxed);

	soft_progress(soft_core);
	if (soft_looks(soft_core) % SAID_EVERY == 0)
		soft_say_spinning(soft_core);
	if (soft_looks(soft_core) % RENOTIFY_EVERY == 0)
		soft_renotify(soft_core);
	if (idle < IDLE_POLLS)
		atomic_store_explicit(&cq->idle_polls, idle + 1, memory_order_relaxed);
	else
		soft_attention_polled(soft_core);
}

int soft_poll_cq(struct ibv_cq *base, int num_entries, struct ibv_wc *wc)
{
	struct soft_cq *cq = soft_cq(base);

	if (num_entries < 0 || cq->overrun)
		return cq->overrun && soft_cq_entries(cq) ? take(cq, num_entries, wc) : -1;
	if (soft_cq_entries(cq) == 0) {
		soft_cq_idle(cq);
		if (soft_cq_entries(cq) == 0)
			return 0;
	}
	return take(cq, num_entries, wc);
}

int soft_req_notify_cq(struct ibv_cq *base, int solicited_only)
{
	struct soft_cq *cq = soft_cq(base);

	if (soft_call_fails(__func__))
		return ENOMEM;
	soft_cq_arm(cq, solicited_only);
	atomic_store_explicit(&cq->idle_polls, 0, memory_order_relaxed);
	/* The caller is about to sleep. */
	soft_attention_wakeup(soft_core);
	return 0;
}
