// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer whose threads poll is not kicked for a request: they see it. But the one that polled may
 * have stopped just then, to compute, and its engine looks only now and then (engine.c). Whoever
 * waits for the answer notices that none comes, and kicks the engine.
 *
 * A peer that has lost its processor, or is stopped, is kicked too, less and less often; while a
 * kick has not been heard another one costs nothing (soft_peer_kick).
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/base.h"
#include "soft/verbs/core.h"
#include "soft/verbs/hurry.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/peer.h"
#include "soft/verbs/pipe.h"

enum {
	PATIENCE_NS = 100000, /* before the first kick; before each one more twice as long, */
	PATIENCE_MAX_NS = 1000000,
};

static bool owes(struct soft_out *out, uint64_t answered)
{
	bool some;

	soft_lock(&out->tx);
	some = out->req_head != answered;
	soft_unlock(&out->tx);
	return some;
}

static void hurry(struct soft_out *out, uint64_t now)
{
	uint64_t answered = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);
	struct soft_late *late = &out->late;
	bool waits = owes(out, answered);

	if (!waits || !late->waits || answered != late->answered) {
		*late = (struct soft_late){ waits, answered, now + PATIENCE_NS, PATIENCE_NS };
		return;
	}
	if (now < late->kick_ns)
		return;
	soft_peer_kick(&out->peer);
	late->patience_ns = late->patience_ns < PATIENCE_MAX_NS ? 2 * late->patience_ns : PATIENCE_MAX_NS;
	late->kick_ns = now + late->patience_ns;
}

void soft_hurry(struct soft_core *core)
{
	uint64_t now = soft_now_ns();

	if (!soft_trylock(&core->progress))
		return;
	for (uint32_t i = 0; i < core->nout; i++)
		if (atomic_load(&core->out[i]->answered) && !atomic_load(&core->out[i]->dead))
			hurry(core->out[i], now);
	soft_unlock(&core->progress);
}
