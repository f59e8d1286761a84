// SPDX-License-Identifier: BSD-2-Clause
/* An open device. */
#ifndef SOFT_CONTEXT_H
#define SOFT_CONTEXT_H

#include <infiniband/verbs.h>
#include <pthread.h>

#include "soft/base/list.h"
#include "soft/state/core.h"

struct soft_context {
	struct verbs_context vctx; /* its last field is the ibv_context that callers hold */
	struct soft_core *core;    /* that its objects are in: in a child not always soft_core */
	pthread_mutex_t event_lock;
	struct soft_list events; /* soft_event.list, not yet fetched */
};

static inline struct soft_context *soft_context(struct ibv_context *context)
{
	return soft_container(context, struct soft_context, vctx.context);
}

#endif
