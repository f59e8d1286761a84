// SPDX-License-Identifier: BSD-2-Clause
/* Completion channels. */
#ifndef SOFT_CHANNEL_H
#define SOFT_CHANNEL_H

#include <infiniband/verbs.h>
#include <pthread.h>

#include "soft/queue/cq.h"

struct soft_channel {
	struct ibv_comp_channel base;
	pthread_mutex_t lock;
	struct soft_list ready; /* soft_cq.event */
};

/* Queues the event of a completion queue. The caller holds no lock of the queue. */
void soft_channel_raise(struct soft_cq *cq);
/* Before the end of a queue: drops its unfetched event and waits for acknowledgements of others. */
void soft_channel_forget(struct soft_cq *cq);

#endif
