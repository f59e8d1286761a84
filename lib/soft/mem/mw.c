// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory windows, types 1 and 2B: keys that grant a part of a region, and that work requests bind
 * and invalidate. A bound window has an entry in the table of keys, as a region.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "soft/base/adversary.h"
#include "soft/mem/key.h"
#include "soft/mem/mr.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

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
