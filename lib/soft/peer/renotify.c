// SPDX-License-Identifier: BSD-2-Clause
/*
 * Repeated notification of peers that owe an answer. A peer with polling threads is not woken for a
 * request. But they may have just stopped, and the engine checks only now and then (engine.c). So
 * the waiting thread wakes the engine, at intervals that double.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/base/lock.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/state/core.h"

enum {
	INTERVAL_NS = 100000, /* before the first wakeup; doubles with each one */
	INTERVAL_MAX_NS = 1000000,
};

static bool owes(struct soft_out *out, uint64_t answered)
{
	bool some;

	soft_lock(&out->tx);
	some = out->req_head != answered;
	soft_unlock(&out->tx);
	return some;
}

static void renotify(struct soft_out *out, uint64_t now)
{
	uint64_t answered = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);
	struct soft_renotify_timer *timer = &out->renotify_timer;
	bool waits = owes(out, answered);

	if (!waits || !timer->waits || answered != timer->answered) {
		*timer = (struct soft_renotify_timer){ waits, answered, now + INTERVAL_NS, INTERVAL_NS };
		return;
	}
	if (now < timer->wakeup_ns)
		return;
	soft_peer_wake(&out->peer);
	timer->interval_ns = timer->interval_ns < INTERVAL_MAX_NS ? 2 * timer->interval_ns : INTERVAL_MAX_NS;
	timer->wakeup_ns = now + timer->interval_ns;
}

void soft_renotify(struct soft_core *core)
{
	uint64_t now = soft_now_ns();

	if (!soft_trylock(&core->progress))
		return;
	for (uint32_t i = 0; i < core->nout; i++)
		if (atomic_load(&core->out[i]->answered) && !atomic_load(&core->out[i]->dead))
			renotify(core->out[i], now);
	soft_unlock(&core->progress);
}
