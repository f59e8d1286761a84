// SPDX-License-Identifier: BSD-2-Clause
/*
 * job.h - the life of a job: its ranks, how it ends, and with which status
 *
 * The one place where processes, connections, output and timers meet.
 */
#ifndef ORIEL_LAUNCHER_JOB_H
#define ORIEL_LAUNCHER_JOB_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launcher/guard.h"
#include "launcher/input.h"
#include "launcher/options.h"
#include "launcher/output.h"
#include "launcher/server.h"
#include "launcher/spawn.h"
#include "wire/proof.h"

/* In this order; a job never goes back, but may leave phases out. */
enum job_phase {
	JOB_RUNNING, /* ranks are started and run */
	JOB_GRACE,   /* a rank has failed; the others have time to finish */
	JOB_ENDING,  /* SIGTERM was sent to all */
	JOB_KILLING, /* SIGKILL was sent to all */
	JOB_LINGER,  /* every rank has ended; what they started may still write, for a moment */
	JOB_SWEEP,   /* everything left was killed; waits until no child is left */
	JOB_DRAIN,   /* writes what has been read */
};

/* A process that has ended and was not looked at yet. */
struct job_end {
	int rank;
	int wait_status; /* as of waitpid */
};

struct job {
	struct ev_loop *loop;
	const struct options *options;
	struct spawn_plan plan;
	uint8_t secret[BOOT_SECRET_BYTES];
	struct guard guard;
	struct server *server;
	struct output *output;
	struct input input;
	pid_t *pids;          /* of each rank; 0: not started, or has ended */
	struct job_end *ends; /* room for all ranks */
	int started_count;    /* ranks 0 to started_count - 1 have been started */
	int ended_count;      /* ranks that have ended or will never be started */
	enum job_phase phase;
	bool has_status; /* something has decided the exit status */
	int status;
	int interrupt_count; /* SIGINT and SIGTERM received */
	ev_timer spawner;
	ev_timer phase_timer; /* when the present phase has lasted long enough */
	ev_timer limit_timer; /* --timeout */
};

/*
 * Prepares; loop, options, guard, secret and plan (but for server and stdin) are filled in. Returns
 * 0, or -1 having said why.
 */
int job_open(struct job *job);

/*
 * Start the ranks once the loop runs. The loop ends when the job is over; then status is the
 * launcher's exit status.
 */
void job_begin(struct job *job);

void job_close(struct job *job);

/* SIGCHLD: some processes have ended. */
void job_reap(struct job *job);

/*
 * SIGINT or SIGTERM: passed on the first time, the second time the ranks are killed, later the
 * launcher ends at once.
 */
void job_interrupt(struct job *job, int number);

/* Send a signal to everything the ranks run. */
void job_signal(const struct job *job, int number);

#endif
