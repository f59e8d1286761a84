// SPDX-License-Identifier: BSD-2-Clause
/* stripes.c - see stripes.h. */
#include "job/stripes.h"

#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"

#define TURNS 100 /* some microseconds: longer than it takes to change a page */

int stripes_open(struct oriel_job *job)
{
	job->stripes.process = (process_clock_ns() / NS_PER_SECOND + 1) << 32 | (uint32_t)getpid();
	return slab_alloc(&job->slabs, STRIPES * sizeof(struct stripe), &job->stripes.piece);
}

void stripes_map(struct peer *peer)
{
	uint64_t *first;

	if (peer_stripes(peer) || !peer->remote_stripes.addr)
		return;
	first = reach_word(&peer->reach, peer->remote_stripes);
	__atomic_store_n(&peer->stripes, (struct stripe *)(void *)first, __ATOMIC_RELEASE); /* pairs with peer_stripes */
}

static bool take_from_dead(struct stripe *stripe, uint64_t process)
{
	uint64_t holder = flag_load(&stripe->holder); /* pairs with stripe_give */

	if (holder != 0 && !process_ended((pid_t)(uint32_t)holder, (holder >> 32) * NS_PER_SECOND))
		return false;
	return holder_change(&stripe->holder, holder, process);
}

bool stripe_take_held(struct stripe *stripe, uint64_t process)
{
	for (int i = 0; i < TURNS; i++) {
		if (flag_load(&stripe->holder) == 0 && holder_change(&stripe->holder, 0, process))
			return true;
		cpu_relax();
	}
	sched_yield(); /* the holder may want this processor */
	return take_from_dead(stripe, process);
}
