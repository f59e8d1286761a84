// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory keys: the table in the segment against which own and foreign requests are checked.
 *
 * DESIGN NOTES
 *
 * The owner publishes an entry by writing its key last, and withdraws it by writing 0. A peer that
 * accesses this process's memory sets its queue pair's `busy` word before it reads the key. So a
 * thread that withdraws a key makes that visible everywhere (soft_heavy_barrier), and then waits
 * until it has seen each connected peer idle once, or dead. After that the memory may be freed.
 *
 * The barrier interrupts every processor, and most withdrawn keys were never used. So a peer
 * publishes the latest serial that it has used (shm_newest_store), and the withdrawal of a later
 * region only reads that.
 *
 * lkey and rkey are the same number: the place in the table, masked by the segment's mask, and
 * random bits. The low eight bits belong to the owner of a type 2 memory window, as in
 * ibv_inc_rkey.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/mem/key.h"
#include "soft/peer/pipe.h"
#include "soft/state/core.h"
#include "soft/state/shm.h"

enum {
	YIELDS_PER_LOOK = 256, /* while waiting for a peer, between checks that it is alive */
};

/* Returns an unused place, or -1 with errno. Under table_lock. */
static int new_place(struct soft_core *core)
{
	int err = core->mr_top == SHM_MRS ? ENOMEM : 0;

	if (!err)
		err = soft_memory_grow(core->seg_fd, offsetof(struct shm_segment, mr), sizeof(struct shm_mr), core->mr_top);
	if (!err)
		return (int)core->mr_top++;
	errno = err;
	return -1;
}

int soft_key_alloc(struct soft_core *core)
{
	int place = -1;

	pthread_mutex_lock(&core->table_lock);
	if (core->mr_free_count > 0)
		place = (int)core->mr_free[--core->mr_free_count];
	else
		place = new_place(core);
	pthread_mutex_unlock(&core->table_lock);
	return place;
}

void soft_key_free(struct soft_core *core, uint32_t place)
{
	pthread_mutex_lock(&core->table_lock);
	core->mr_free[core->mr_free_count++] = place;
	pthread_mutex_unlock(&core->table_lock);
}

uint32_t soft_key_make(struct soft_core *core, uint32_t place)
{
	uint32_t key = (place ^ core->seg->key_mask) << SHM_KEY_BITS | (soft_random() & ((1u << SHM_KEY_BITS) - 1));

	/* 0 means "no key" in the table. */
	return key ? key : 1;
}

uint32_t soft_key_serial(struct soft_core *core)
{
	uint32_t serial;

	pthread_mutex_lock(&core->table_lock);
	serial = ++core->mr_serial;
	if (serial == 0)
		serial = ++core->mr_serial;
	pthread_mutex_unlock(&core->table_lock);
	return serial;
}

void *soft_key_local(uint32_t lkey, uint32_t pd, uint64_t addr, uint64_t length, uint32_t access)
{
	const struct shm_mr *mr = soft_key_find(soft_core->seg, (struct soft_span){ addr, length, lkey }, pd, 0, access);

	if (!mr || mr->access & SHM_ACCESS_WINDOW)
		return NULL;
	return (void *)(uintptr_t)(mr->addr + (addr - mr->iova));
}

/*
 * Reads the descriptors, since the engine sets `dead`, and may wait for the caller. A process that
 * executes another program keeps its number, but not its socket. Raw system call: poll is a
 * cancellation point.
 */
bool soft_out_gone(const struct soft_out *out)
{
	struct pollfd ends[] = { { .fd = out->peer.pidfd, .events = POLLIN }, { .fd = out->sock, .events = POLLRDHUP } };
	struct timespec at_once = { 0, 0 };

	return atomic_load(&out->dead) || syscall(SYS_ppoll, ends, 2, &at_once, NULL, 0) > 0;
}

void soft_wait_peer(const struct soft_out *out, const struct shm_qp *peer)
{
	uint32_t yields = 0;

	while (shm_busy_load(peer)) {
		if (++yields % YIELDS_PER_LOOK == 0 && soft_out_gone(out))
			return;
		sched_yield();
	}
}

/* Waits until no peer accesses this process's memory. */
static void wait_idle(struct soft_core *core)
{
	soft_heavy_barrier();
	pthread_mutex_lock(&core->table_lock);
	for (uint32_t i = 0; i < core->qp_top; i++)
		if (core->qp[i] && core->qp[i]->peer)
			soft_wait_peer(core->qp[i]->out, core->qp[i]->peer);
	pthread_mutex_unlock(&core->table_lock);
}

/* Returns whether a peer may have used the withdrawn key. */
static bool may_be_used(struct soft_core *core, uint32_t serial)
{
	bool used = false;

	pthread_mutex_lock(&core->table_lock);
	for (uint32_t i = 0; !used && i < core->qp_top; i++)
		used = core->qp[i] && core->qp[i]->peer && !shm_serial_is_later(serial, shm_newest_load(core->qp[i]->peer));
	pthread_mutex_unlock(&core->table_lock);
	return used;
}

void soft_key_withdraw(struct soft_core *core, struct shm_mr *mr)
{
	shm_mr_withdraw(mr);
	if (may_be_used(core, mr->serial))
		wait_idle(core);
}
