// SPDX-License-Identifier: BSD-2-Clause
/* job.h - the life of a job: its ranks, how it ends, and with which status */
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

/* A job goes through these in order; it may skip some. */
enum job_phase {
	JOB_RUNNING, /* ranks start and run */
	JOB_GRACE,   /* a rank has failed; the others have time to finish */
	JOB_ENDING,  /* SIGTERM was sent to all */
	JOB_KILLING, /* SIGKILL was sent to all */
	JOB_LINGER,  /* every rank has ended; processes they started may still write for a moment */
	JOB_SWEEP,   /* all is killed; waits until no child is left */
	JOB_DRAIN,   /* writes the output that has been read */
};

/* An ended process that has not been handled yet. */
struct job_end {
	int rank;
	int wait_status; /* from waitpid */
};

struct job {
	struct ev_loop *loop;
	const struct options *options;
	struct spawn_plan plan;
	uint8_t secret[BOOT_SECRET_BYTES];
	int strangers; /* that the server has descriptors for */
	struct guard guard;
	struct server *server;
	struct output *output;
	struct input input;
	pid_t *pids;          /* of each rank; 0: not started, or ended */
	struct job_end *ends; /* room for all ranks */
	int started_count;    /* ranks 0 to started_count - 1 have started */
	int ended_count;      /* ranks that have ended or will never start */
	enum job_phase phase;
	bool has_status;
	int status;
	int interrupt_count; /* SIGINT and SIGTERM received */
	ev_timer spawner;
	ev_timer phase_timer; /* limits the present phase */
	ev_timer limit_timer; /* --timeout */
};

/*
 * Prepares the job. The caller has filled in loop, options, guard, secret and plan (except server
 * and stdin). Returns 0, or -1 with a message.
 */
int job_open(struct job *job);

/*
 * Starts the ranks once the loop runs. The loop ends with the job; status is then the launcher's
 * exit status.
 */
void job_begin(struct job *job);

void job_close(struct job *job);

/* Handles SIGCHLD. */
void job_reap(struct job *job);

/*
 * Handles SIGINT and SIGTERM: the first is passed on, the second kills the ranks, a later one ends
 * the launcher at once.
 */
void job_interrupt(struct job *job, int number);

/* Sends a signal to the ranks' groups. */
void job_signal(const struct job *job, int number);

#endif
