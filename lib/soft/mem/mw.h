// SPDX-License-Identifier: BSD-2-Clause
/* Memory windows. */
#ifndef SOFT_MW_H
#define SOFT_MW_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/mem/mr.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

struct soft_mw {
	struct ibv_mw base;
	uint32_t place;
	struct soft_mr *mr; /* bound to, or NULL */
	uint32_t qpn;       /* type 2: queue pair it is bound through */
};

struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int soft_dealloc_mw(struct ibv_mw *mw);
/* Binds a window for a work request, under qp->lock. Returns 0 or an errno value. */
int soft_mw_bind(struct soft_qp *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info);
/* Invalidates the key of a peer or a work request. Returns false if that is not allowed. */
bool soft_mw_invalidate(struct soft_core *core, uint32_t key, uint32_t pd, uint32_t qpn);

#endif
