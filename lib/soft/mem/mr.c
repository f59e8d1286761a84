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
#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/mem/key.h"
#include "soft/mem/mr.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
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

/*
 * Memory windows, types 1 and 2B: keys that grant a part of a region, and that work requests bind
 * and invalidate. A bound window has an entry in the table of keys, as a region.
 */

struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct soft_mw *mw;
	int place;

	if (soft_call_fails(__func__)) {
		errno = ENOMEM;
		return NULL;
	}
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
		errno = EINVAL;
		return NULL;
	}
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	place = soft_key_alloc(soft_core);
	if (place < 0) {
		free(mw);
		return NULL;
	}
	mw->place = (uint32_t)place;
	mw->base.context = pd->context;
	mw->base.pd = pd;
	mw->base.type = type;
	mw->base.handle = mw->place;
	mw->base.rkey = soft_key_make(soft_core, mw->place);
	soft_core->window[mw->place] = mw;
	atomic_fetch_add(&soft_pd(pd)->users, 1);
	return &mw->base;
}

/* Releases the region; the window's key has been withdrawn. */
static void invalidated(struct soft_mw *mw)
{
	if (mw->mr)
		atomic_fetch_sub(&mw->mr->windows, 1);
	mw->mr = NULL;
}

static void unbind(struct soft_mw *mw)
{
	struct soft_core *core = soft_context(mw->base.context)->core;

	soft_key_withdraw(core, &core->seg->mr[mw->place]);
	invalidated(mw);
}

int soft_dealloc_mw(struct ibv_mw *base)
{
	struct soft_core *core = soft_context(base->context)->core;
	struct soft_mw *mw = (struct soft_mw *)base;

	unbind(mw);
	core->window[mw->place] = NULL;
	soft_key_free(core, mw->place);
	atomic_fetch_sub(&soft_pd(base->pd)->users, 1);
	free(mw);
	return 0;
}

static bool may_bind(const struct soft_mw *mw, const struct ibv_mw_bind_info *info)
{
	const struct soft_mr *mr = (const struct soft_mr *)info->mr;
	const struct shm_mr *entry = &soft_core->seg->mr[mr->place];
	unsigned int changes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	if (mr->base.pd != mw->base.pd || !(mr->access & IBV_ACCESS_MW_BIND))
		return false;
	if (info->mw_access_flags & changes && !(mr->access & IBV_ACCESS_LOCAL_WRITE))
		return false;
	return info->addr >= entry->iova && info->length <= entry->length &&
	       info->addr - entry->iova <= entry->length - info->length;
}

static void fill(struct soft_mw *mw, const struct ibv_mw_bind_info *info, uint32_t qpn)
{
	const struct soft_mr *mr = (const struct soft_mr *)info->mr;
	const struct shm_mr *region = &soft_core->seg->mr[mr->place];
	struct shm_mr *entry = &soft_core->seg->mr[mw->place];
	uint64_t inside = info->addr - region->iova;

	entry->pd = region->pd;
	entry->access = info->mw_access_flags | SHM_ACCESS_WINDOW;
	entry->qpn = qpn;
	entry->iova = info->mw_access_flags & IBV_ACCESS_ZERO_BASED ? 0 : info->addr;
	entry->length = info->length;
	entry->addr = region->addr + inside;
	entry->file_fd = region->file_fd;
	entry->file_offset = region->file_offset + inside;
	entry->file_inode = region->file_inode;
	entry->serial = soft_key_serial(soft_core);
}

int soft_mw_bind(struct soft_qp *qp, struct ibv_mw *base, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct soft_mw *mw = (struct soft_mw *)base;
	struct shm_mr *entry = &soft_core->seg->mr[mw->place];
	bool type2 = base->type == IBV_MW_TYPE_2;

	if (base->pd != qp->ex.qp_base.pd)
		return EPERM;
	/* A type 2 window is bound once, and only its owner's eight bits of the key may change. */
	if (type2 && (shm_mr_key(entry) != 0 || (rkey ^ base->rkey) & ~0xffu || !info->length))
		return EINVAL;
	if (info->length && !may_bind(mw, info))
		return EINVAL;
	unbind(mw);
	if (!info->length)
		return 0;
	mw->mr = (struct soft_mr *)info->mr;
	mw->qpn = type2 ? qp->ex.qp_base.qp_num : 0;
	atomic_fetch_add(&mw->mr->windows, 1);
	fill(mw, info, mw->qpn);
	base->rkey = rkey;
	shm_mr_publish(entry, rkey);
	return 0;
}

bool soft_mw_invalidate(struct soft_core *core, uint32_t key, uint32_t pd, uint32_t qpn)
{
	struct shm_mr *mr = &core->seg->mr[soft_key_place(core->seg, key)];

	/* A queue pair can invalidate only windows that are bound through it. */
	if (shm_mr_key(mr) != key || !(mr->access & SHM_ACCESS_WINDOW) || mr->qpn != qpn || mr->pd != pd)
		return false;
	soft_key_withdraw(core, mr);
	invalidated(core->window[soft_key_place(core->seg, key)]);
	return true;
}
