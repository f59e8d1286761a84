// SPDX-License-Identifier: BSD-2-Clause
/*
 * Protection domains and memory regions.
 *
 * DESIGN NOTES
 *
 * A region on demand (IBV_ACCESS_ON_DEMAND) is like any other. The implicit one, address NULL and
 * length SIZE_MAX, covers the address space as it is when a request is carried out. It grants peers
 * nothing: this process carries out their requests by ring, and has to know that the memory exists.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "soft/base/adversary.h"
#include "soft/base/export.h"
#include "soft/base/limits.h"
#include "soft/base/lock.h"
#include "soft/base/memory.h"
#include "soft/mem/key.h"
#include "soft/mem/mr.h"
#include "soft/state/core.h"
#include "soft/state/shm.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum {
	REMOTE_CHANGES = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	ACCESS_KNOWN = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	               IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
	               IBV_ACCESS_HUGETLB,
};

SOFT_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct soft_pd *pd = soft_call_fails(__func__) ? NULL : calloc(1, sizeof(*pd));

	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	pd->base.context = context;
	pd->base.handle = atomic_fetch_add(&soft_core->pd_serial, 1) + 1;
	return &pd->base;
}

SOFT_EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (atomic_load(&soft_pd(pd)->users) != 0)
		return soft_result(EBUSY);
	free(soft_pd(pd));
	return 0;
}

/* Returns whether the rights are legal: peers may change memory only if this process may. */
static bool access_valid(unsigned int access)
{
	if (access & ~((unsigned int)ACCESS_KNOWN | IBV_ACCESS_OPTIONAL_RANGE))
		return false;
	return !(access & REMOTE_CHANGES) || access & IBV_ACCESS_LOCAL_WRITE;
}

static bool is_implicit(const void *addr, size_t length, unsigned int access)
{
	return access & IBV_ACCESS_ON_DEMAND && !addr && length == SIZE_MAX;
}

static int find_backing(struct soft_mr *mr, const void *addr, size_t length, uint64_t iova, unsigned int access)
{
	if (!is_implicit(addr, length, access))
		return soft_backing_find(addr, length, access, &mr->file_fd, &mr->file_offset);
	mr->file_fd = -1;
	if (access & SOFT_ACCESS_PEERS)
		return EOPNOTSUPP;
	return iova ? EINVAL : 0;
}

/* Writes the table's entry, the key last. */
static void publish(struct soft_mr *mr, uint64_t iova, uint32_t key)
{
	struct shm_mr *entry = &soft_core->seg->mr[mr->place];

	entry->pd = mr->base.pd->handle;
	entry->access = mr->access;
	entry->qpn = 0;
	entry->iova = iova;
	entry->length = mr->base.length;
	entry->addr = (uintptr_t)mr->base.addr;
	entry->file_fd = mr->file_fd;
	entry->file_offset = mr->file_offset;
	entry->file_inode = mr->file_fd < 0 ? 0 : soft_memory_inode(mr->file_fd);
	entry->serial = soft_key_serial(soft_core);
	shm_mr_publish(entry, key);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                            unsigned int access)
{
	struct soft_mr *mr;
	int place, err;

	if (!access_valid(access)) {
		errno = access & ~((unsigned int)ACCESS_KNOWN | IBV_ACCESS_OPTIONAL_RANGE) ? EOPNOTSUPP : EINVAL;
		return NULL;
	}
	if (iova + length < iova) {
		errno = EINVAL;
		return NULL;
	}
	mr = soft_call_fails(__func__) ? NULL : calloc(1, sizeof(*mr));
	if (!mr) {
		errno = ENOMEM;
		return NULL;
	}
	err = find_backing(mr, addr, length, iova, access);
	if (err) {
		errno = err;
		goto err_free;
	}
	place = soft_key_alloc(soft_core);
	if (place < 0)
		goto err_put;
	mr->place = (uint32_t)place;
	mr->access = access;
	mr->base.context = pd->context;
	mr->base.pd = pd;
	mr->base.addr = addr;
	mr->base.length = length;
	mr->base.handle = mr->place;
	mr->base.lkey = mr->base.rkey = soft_key_make(soft_core, mr->place);
	atomic_fetch_add(&soft_pd(pd)->users, 1);
	publish(mr, iova, mr->base.lkey);
	return &mr->base;

err_put:
	soft_backing_put(mr->file_fd);
err_free:
	free(mr);
	return NULL;
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	uint64_t iova = access & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)addr;

	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

/* On return neither a peer uses the key, nor a thread of this process for a peer. */
static void withdraw(struct soft_core *core, struct shm_mr *entry)
{
	soft_key_withdraw(core, entry);
	soft_lock(&core->progress);
	soft_unlock(&core->progress);
}

SOFT_EXPORT int ibv_dereg_mr(struct ibv_mr *base)
{
	struct soft_core *core = soft_context(base->context)->core;
	struct soft_mr *mr = (struct soft_mr *)base;

	if (atomic_load(&mr->windows) != 0)
		return soft_result(EBUSY);
	/* Peers do not use a key that grants them nothing. */
	if (mr->access & SOFT_ACCESS_PEERS)
		withdraw(core, &core->seg->mr[mr->place]);
	else
		shm_mr_withdraw(&core->seg->mr[mr->place]);
	soft_key_free(core, mr->place);
	soft_backing_put(mr->file_fd);
	atomic_fetch_sub(&soft_pd(base->pd)->users, 1);
	free(mr);
	return 0;
}

/* Changes nothing before all arguments have been checked. */
SOFT_EXPORT int ibv_rereg_mr(struct ibv_mr *base, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct soft_mr *mr = (struct soft_mr *)base;
	struct shm_mr *entry = &soft_core->seg->mr[mr->place];
	bool move = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	unsigned int rights = flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned int)access : mr->access;
	void *to = move ? addr : base->addr;
	size_t size = move ? length : base->length;
	uint64_t offset;
	int fd;

	if (soft_call_fails(__func__)) {
		errno = ENOMEM;
		return IBV_REREG_MR_ERR_CMD;
	}
	if (flags & ~(IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS) ||
	    !access_valid(rights) || atomic_load(&mr->windows) != 0 || (flags & IBV_REREG_MR_CHANGE_PD && !pd)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	errno = soft_backing_find(to, size, rights, &fd, &offset);
	if (errno)
		return IBV_REREG_MR_ERR_INPUT;
	withdraw(soft_core, entry);
	soft_backing_put(mr->file_fd);
	mr->file_fd = fd;
	mr->file_offset = offset;
	mr->access = rights;
	base->addr = to;
	base->length = size;
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		atomic_fetch_sub(&soft_pd(base->pd)->users, 1);
		atomic_fetch_add(&soft_pd(pd)->users, 1);
		base->pd = pd;
	}
	publish(mr, move ? (uintptr_t)to : entry->iova, base->lkey);
	return 0;
}
