// SPDX-License-Identifier: BSD-2-Clause
/*
 * Access to a peer's memory: mapped, if it is a file that this process can open and that cannot
 * shrink, or by system call. The result is cached under the region's serial number. The file is
 * opened as /proc/PID/fd/FD. In a /proc of another process namespace PID is another process, so
 * nothing is opened there, and a file with another inode than its owner has given is not mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/extension.h"
#include "soft/mem/key.h"
#include "soft/peer/pipe.h"
#include "soft/rma/rmap.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

const struct shm_mr *soft_rmap_region(struct soft_qp *qp, struct soft_span span, uint32_t access)
{
	for (;;) {
		const struct shm_mr *mr = soft_key_find(qp->out->peer.seg, span, qp->peer->pd, qp->attr.dest_qp_num, access);

		if (!mr || !shm_serial_is_later(mr->serial, shm_newest_load(qp->shm)))
			return mr;
		shm_newest_store(qp->shm, mr->serial);
	}
}

static void *map_file(int fd, uint64_t inode, uint64_t from, size_t size)
{
	void *map = MAP_FAILED;

	if (soft_memory_inode(fd) == inode && soft_memory_safe(fd, (size_t)from + size))
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
	return map == MAP_FAILED ? NULL : map;
}

void *soft_map_peer(const struct soft_out *out, const struct shm_mr *mr, uint64_t skip, uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = mr->file_offset + skip;
	uint64_t from = at / page * page;
	size_t lead = (size_t)(at - from);
	uint8_t *map;
	char path[64];
	int fd;

	if (mr->file_fd < 0 || !out->has_proc)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", out->peer.pid, mr->file_fd);
	/* Raw system calls: open and close are cancellation points, and qp->lock is held. */
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = map_file(fd, mr->file_inode, from, lead + length);
	syscall(SYS_close, fd);
	return map ? map + lead : NULL;
}

void soft_unmap_peer(void *at, uint64_t length)
{
	size_t lead = (uintptr_t)at % (size_t)sysconf(_SC_PAGESIZE);

	munmap((uint8_t *)at - lead, lead + length);
}

static void map_region(const struct soft_out *out, const struct shm_mr *mr, struct soft_rmap *rmap)
{
	rmap->base = soft_map_peer(out, mr, 0, mr->length);
	rmap->length = mr->length;
	rmap->kind = rmap->base ? SOFT_RMAP_MAPPED : SOFT_RMAP_VM;
}

void soft_rmap_renew(struct soft_out *out, const struct shm_mr *mr, uint32_t place)
{
	struct soft_rmap *rmap = &out->rmap[place];

	pthread_mutex_lock(&out->map_lock);
	if (atomic_load_explicit(&rmap->serial, memory_order_relaxed) != mr->serial) {
		/* The withdrawal of its key waited until no thread used the old mapping. */
		if (rmap->kind == SOFT_RMAP_MAPPED)
			soft_unmap_peer(rmap->base, rmap->length);
		map_region(out, mr, rmap);
		if (out->rmap_top <= place)
			out->rmap_top = place + 1;
		/* Pairs with the load in soft_rmap_of: base and kind are written. */
		atomic_store_explicit(&rmap->serial, mr->serial, memory_order_release);
	}
	pthread_mutex_unlock(&out->map_lock);
}

void soft_rmap_forget(struct soft_out *out)
{
	for (uint32_t i = 0; i < out->rmap_top; i++)
		if (out->rmap[i].kind == SOFT_RMAP_MAPPED)
			soft_unmap_peer(out->rmap[i].base, out->rmap[i].length);
}

/*
 * softverbs_map: a peer's registered memory, mapped for the program to load and store itself.
 *
 * DESIGN NOTES
 *
 * The queue pair, the key and the rights are checked once, as for a work request. The mapping is
 * the caller's, stays until softverbs_unmap, and outlives region, queue pair and peer. Both
 * sides have to agree on its end, as on the deregistration of a region.
 *
 * In adversary mode nothing is mapped, so that all operations use the routes that it disturbs.
 */

/* Returns a key's whole region. The caller is busy. */
static const struct shm_mr *region_of(struct soft_qp *qp, uint32_t rkey, uint32_t access)
{
	const struct shm_mr *mr = &qp->out->peer.seg->mr[soft_key_place(qp->out->peer.seg, rkey)];

	return soft_rmap_region(qp, (struct soft_span){ mr->iova, 0, rkey }, access);
}

static const struct shm_mr *find_region(struct soft_qp *qp, uint32_t rkey, uint32_t access)
{
	uint32_t want = SHM_GATE_OPEN | qp->ex.qp_base.qp_num;
	uint32_t gate = shm_gate_load(qp->peer);

	want |= access & IBV_ACCESS_REMOTE_WRITE ? SHM_GATE_WRITE : 0;
	want |= access & IBV_ACCESS_REMOTE_READ ? SHM_GATE_READ | SHM_GATE_RD_RES : 0;
	if ((gate & want) != want || (gate & SHM_GATE_QPN) != qp->ex.qp_base.qp_num)
		return NULL;
	return region_of(qp, rkey, access);
}

/* Makes a separate mapping: the device's may end with the region. The caller is busy. */
static bool map_for_program(struct soft_qp *qp, uint32_t rkey, uint32_t access, struct softverbs_mapping *mapping)
{
	const struct shm_mr *mr = find_region(qp, rkey, access);

	if (!mr || mr->length == 0)
		return false;
	mapping->addr = mr->iova;
	mapping->size_bytes = mr->length;
	mapping->here = soft_map_peer(qp->out, mr, 0, mr->length);
	return mapping->here;
}

SOFT_EXPORT int softverbs_map(struct ibv_qp *base, uint32_t rkey, unsigned int access,
                              struct softverbs_mapping *mapping)
{
	struct soft_qp *qp = soft_qp(base);
	bool done = false;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	if (soft_qp_state(qp) == IBV_QPS_RTS && qp->out && !qp->out->self) {
		shm_busy_enter(qp->shm, qp->out->peer.full_fence);
		done = map_for_program(qp, rkey, access, mapping);
		shm_busy_leave(qp->shm);
	}
	soft_unlock(&qp->lock);
	return done ? 0 : EOPNOTSUPP;
}

SOFT_EXPORT void softverbs_unmap(const struct softverbs_mapping *mapping)
{
	soft_unmap_peer(mapping->here, mapping->size_bytes);
}
