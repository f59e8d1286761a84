// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child made by fork starts anew.
 *
 * DESIGN NOTES
 *
 * A child has no engine thread, and the shared memory belongs to the parent. It closes the sockets,
 * whose end reports the parent's death to peers; its first ibv_open_device makes a new state. Data
 * that other threads were changing may be inconsistent in the child, and so may locks. fork holds
 * the locks of the two tables that the child uses; the child makes all others anew.
 *
 * Objects made before the fork are the parent's. A child may destroy them, as libraries do when a
 * process exits, but not use them: each leads to its state, of which the child has a private copy.
 */
#include <pthread.h>

#include "soft/base/base.h"
#include "soft/engine/engine.h"
#include "soft/engine/pipes.h"
#include "soft/mem/mr.h"
#include "soft/peer/peer.h"
#include "soft/peer/reserve_fd.h"
#include "soft/state/loop.h"

/* In this order: soft_core_get watches descriptors. The child's thread holds both, too. */
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

/* At load time, before any fork. Without memory, a child's calls fail. */
__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(before, let_go, in_child);
}
