// SPDX-License-Identifier: BSD-2-Clause
/*
 * service.h - the thread that makes connections and reads peers' directories, and sleeps otherwise
 * (but for a look every two seconds whether it can still hear of anybody)
 *
 * It runs a libev loop over the rdma_cm channel, the device's asynchronous events, the bootstrap's
 * descriptor, a wake-up from other threads, and a timer that is on only while something is under
 * way. It is never on the data path: a rank that computes can still be connected to, and a post
 * flag for a peer not yet connected is sent from here.
 */
#ifndef ORIEL_SERVICE_H
#define ORIEL_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct peer;
struct service;

/* Start the thread. ERRORS: ORIEL_ERR_MEMORY; ORIEL_ERR_BOOTSTRAP: libev is missing. */
int service_start(struct oriel_job *job);

/* Once goodbyes have been said (goodbye.h): leave the bootstrap, disconnect, end the thread. */
void service_stop(struct oriel_job *job);

/* Ask the launcher to end the job. Any thread; blocks until the service thread has sent it. */
int service_abort(struct oriel_job *job, int status, const char *reason);

/* What the bootstrap must have been opened with; the argument is the struct oriel_job. */
extern const struct boot_events job_boot_events;

#endif
