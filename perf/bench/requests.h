// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.h - this process's work requests, doorbells and completions
 *
 * requests.c defines rdma_create_qp for all code that is linked statically, such as Oriel. Accesses
 * to mapped memory do not count, nor requests to a device that is built into the library.
 */
#ifndef ORIEL_PERF_REQUESTS_H
#define ORIEL_PERF_REQUESTS_H

#include <infiniband/verbs.h>

struct requests {
	long posted;
	long doorbells; /* lists of work requests posted */
	long completions;
	long reads; /* among those posted */
	long atomics;
};

/* Counts for a device whose queue pairs are made otherwise. Must precede the first post. */
void requests_watch(struct ibv_context *context);

/* Returns the counts of all threads so far. */
struct requests requests_so_far(void);

#endif
