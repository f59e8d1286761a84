// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.h - how many work requests this process has posted that read another's memory, or change it atomically
 *
 * requests.c defines rdma_create_qp, which the backend calls, and what it is linked with statically, Oriel among
 * it. What is done to mapped memory is not counted, and nothing of a device that is built into the library.
 */
#ifndef ORIEL_PERF_REQUESTS_H
#define ORIEL_PERF_REQUESTS_H

/* By all threads, so far. */
long reads_so_far(void);
long atomics_so_far(void);

#endif
