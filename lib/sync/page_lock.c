// SPDX-License-Identifier: BSD-2-Clause
/* See page_lock.h. */
#include "sync/page_lock.h"

#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/order.h"
#include "base/process.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"

#define TURNS 100 /* longer than changing a page takes */

int page_locks_open(struct oriel_job *job)
{
	struct page_locks *page_locks = &job->page_locks;

	page_locks->process = (process_clock_ns() / NS_PER_SECOND + 1) << 32 | (uint32_t)getpid();
	page_locks->updaters = min_u32((uint32_t)job->size, UPDATERS_MAX - 1) + 1;
	page_locks->has_barrier = heavy_barrier_join();
	return slab_alloc(&job->slabs, sizeof(struct page_lock_table) + page_locks->updaters * sizeof(struct updates),
	                  &page_locks->piece);
}

/* Returns this rank's place at the peer, or NULL. */
static struct updates *own_updates(const struct peer *peer, struct page_lock_table *table)
{
	const struct page_locks *page_locks = &peer->job->page_locks;
	uint32_t place = peer->direct.self ? 0 : peer->remote_neighbour + 1;

	if (!page_locks->has_barrier || place >= page_locks->updaters)
		return NULL;
	flag_store(&table->updates[place].process, page_locks->process); /* pairs with updates_are_over in atomic_mode.c */
	return &table->updates[place];
}

void page_locks_map(struct peer *peer)
{
	struct page_lock_table *table;

	if (peer_page_locks(peer) || !peer->remote_page_locks.addr)
		return;
	table = (void *)direct_word(&peer->direct, peer->remote_page_locks);
	__atomic_store_n(&peer->page_locks, table, __ATOMIC_RELEASE); /* pairs with peer_page_locks */
	if (table)
		__atomic_store_n(&peer->updates, own_updates(peer, table),
		                 __ATOMIC_RELEASE); /* pairs with peer_updates_there */
}

bool page_holder_ended(uint64_t process)
{
	return process_ended((pid_t)(uint32_t)process, (process >> 32) * NS_PER_SECOND);
}

static bool take_from_dead(struct page_lock *page_lock, uint64_t process)
{
	uint64_t holder = flag_load(&page_lock->holder); /* pairs with page_unlock */

	if (holder != 0 && !page_holder_ended(holder))
		return false;
	return holder_change(&page_lock->holder, holder, process);
}

bool page_trylock_held(struct page_lock *page_lock, uint64_t process)
{
	for (int i = 0; i < TURNS; i++) {
		if (flag_load(&page_lock->holder) == 0 && holder_change(&page_lock->holder, 0, process))
			return true;
		cpu_relax();
	}
	sched_yield(); /* the holder may want this processor */
	return take_from_dead(page_lock, process);
}
