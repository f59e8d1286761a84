// SPDX-License-Identifier: BSD-2-Clause
/*
 * service.h - the thread that makes connections and reads peers' directories
 *
 * It runs a libev loop over the rdma_cm channels, the devices' asynchronous events, the bootstrap's
 * descriptor, a wakeup from other threads, and a timer while something is under way. It connects to
 * a rank that computes, and sends post flags for peers not yet connected.
 */
#ifndef ORIEL_SERVICE_H
#define ORIEL_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "oriel.h"

struct boot;
struct oriel_job;
struct peer;
struct service;

/* ERRORS: ORIEL_ERR_MEMORY; ORIEL_ERR_BOOTSTRAP: libev is missing. */
int service_start(struct oriel_job *job);

/* Leaves the bootstrap, disconnects, and ends the thread, after goodbyes (goodbye.h). */
void service_stop(struct oriel_job *job);

/* Any thread; returns once the service thread has sent the request. */
int service_abort(struct oriel_job *job, int status, const char *reason);

/* The argument is the struct oriel_job. */
extern const struct boot_events job_boot_events;

/* init.c: what tests with a bootstrap of their own call directly */

/*
 * Joins the job once the bootstrap is open. job, fresh from handle_new, takes over boot; both are
 * released on failure.
 */
int job_open(struct oriel_job *job, struct boot *boot, const struct oriel_options *options);

#endif
