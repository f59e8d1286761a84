// SPDX-License-Identifier: BSD-2-Clause
/* Completion channels. */
#ifndef SOFT_CHANNEL_H
#define SOFT_CHANNEL_H

#include <infiniband/verbs.h>
#include <pthread.h>

#include "soft/verbs/cq.h"

struct soft_channel {
	struct ibv_comp_channel base;
	pthread_mutex_t lock;
	struct soft_list ready; /* soft_cq.event */
};

/* Under no lock of the queue: its event waits to be fetched. */
void soft_channel_raise(struct soft_cq *cq);
/* A queue that goes away takes its unfetched event along and waits for the fetched ones. */
void soft_channel_forget(struct soft_cq *cq);

#endif
