// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.h - what this process asks of a verbs device: work requests, doorbells, completions
 *
 * requests.c defines rdma_create_qp, which the backend calls, and what it is linked with statically, Oriel among
 * it. What is done to mapped memory is not counted, and nothing of a device that is built into the library.
 */
#ifndef ORIEL_PERF_REQUESTS_H
#define ORIEL_PERF_REQUESTS_H

#include <infiniband/verbs.h>

struct requests {
	long posted;
	long doorbells; /* lists of work requests posted */
	long completions;
	long reads; /* of what has been posted */
	long atomics;
};

/* A device whose queue pairs are not made by a call of rdma_create_qp from here: before anybody posts. */
void requests_watch(struct ibv_context *context);

/* By all threads, so far. */
struct requests requests_so_far(void);

#endif
