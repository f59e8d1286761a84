// SPDX-License-Identifier: BSD-2-Clause
/* stripes.c - see stripes.h. */
#include "job/stripes.h"

#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/heavy_barrier.h"
#include "base/process.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"

#define TURNS 100 /* some microseconds: longer than it takes to change a page */

int stripes_open(struct oriel_job *job)
{
	struct stripes *stripes = &job->stripes;

	stripes->process = (process_clock_ns() / NS_PER_SECOND + 1) << 32 | (uint32_t)getpid();
	stripes->flights = min_u32((uint32_t)job->size, FLIGHTS_MAX - 1) + 1;
	stripes->has_barrier = heavy_barrier_join();
	return slab_alloc(&job->slabs, sizeof(struct stripe_table) + stripes->flights * sizeof(struct flights),
	                  &stripes->piece);
}

/* Our place at the peer, if there is one. */
static struct flights *own_flights(const struct peer *peer, struct stripe_table *table)
{
	const struct stripes *stripes = &peer->job->stripes;
	uint32_t place = peer->reach.self ? 0 : peer->remote_neighbour + 1;

	if (!stripes->has_barrier || place >= stripes->flights)
		return NULL;
	flag_store(&table->flights[place].process, stripes->process); /* pairs with have_landed in words.c */
	return &table->flights[place];
}

void stripes_map(struct peer *peer)
{
	struct stripe_table *table;

	if (peer_stripes(peer) || !peer->remote_stripes.addr)
		return;
	table = (void *)reach_word(&peer->reach, peer->remote_stripes);
	__atomic_store_n(&peer->stripes, table, __ATOMIC_RELEASE); /* pairs with peer_stripes */
	if (table)
		__atomic_store_n(&peer->flights, own_flights(peer, table),
		                 __ATOMIC_RELEASE); /* pairs with peer_flights_there */
}

bool stripe_process_ended(uint64_t process)
{
	return process_ended((pid_t)(uint32_t)process, (process >> 32) * NS_PER_SECOND);
}

static bool take_from_dead(struct stripe *stripe, uint64_t process)
{
	uint64_t holder = flag_load(&stripe->holder); /* pairs with stripe_give */

	if (holder != 0 && !stripe_process_ended(holder))
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
