// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child made by fork starts from nothing.
 *
 * DESIGN NOTES What a child inherits is of no use to it: the engine thread is not there, and what is
 * mapped and written to others belongs to the parent. So it closes what the parent's peers would
 * take for the parent (sockets, by whose end they learn of its death), forgets the rest, and its
 * first ibv_open_device makes a record of its own. The parent notices nothing. What other threads
 * were changing at that moment may be half changed in the child, locks included: those two tables
 * that the child looks into are held during the fork, all other locks are made anew.
 *
 * Objects made before the fork are the parent's; a child that uses one gets what it deserves. But it may
 * destroy them, as libraries do when a process ends by exit: each knows the record that it is in, the
 * child's copy of which is shared with nobody. (A card's would be the parent's, which loses them.)
 */
#include <pthread.h>

#include "soft/verbs/backing.h"
#include "soft/verbs/base.h"
#include "soft/verbs/loop.h"
#include "soft/verbs/peer.h"
#include "soft/verbs/pipe_out.h"
#include "soft/verbs/procmap.h"
#include "soft/verbs/reserve_fd.h"
#include "soft/verbs/start.h"

/* In this order: soft_core_get watches descriptors. Who forks holds both in the child too. */
static void before(void)
{
	soft_core_hold();
	soft_loop_hold();
}

static void let_go(void)
{
	soft_loop_let_go();
	soft_core_let_go();
}

static void in_child(void)
{
	soft_loop_forked();
	soft_core_forked();
	let_go();
	soft_reserve_fd_forked();
	soft_out_forked();
	soft_peer_forked();
	soft_backing_forked();
	soft_procmap_forked();
	soft_random_forked();
}

/* From the start: no fork can come before it. Where there is no memory for it a child fails as it would have. */
__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(before, let_go, in_child);
}
