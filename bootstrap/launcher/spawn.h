// SPDX-License-Identifier: BSD-2-Clause
/* spawn.h - starting a rank: environment, descriptors, process group, exec. */
#ifndef ORIEL_LAUNCHER_SPAWN_H
#define ORIEL_LAUNCHER_SPAWN_H

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "launcher/options.h"

/* What all ranks have in common. */
struct spawn_plan {
	const struct options *options;
	const char *server;        /* where the launcher listens, as address.h has it */
	int secret_fd;             /* sealed memfd, close-on-exec in the launcher */
	int stdin_fd;              /* what rank 0 reads; close-on-exec in the launcher */
	int null_fd;               /* what the others read */
	struct rlimit descriptors; /* as the launcher found it */
	sigset_t signal_mask;      /* likewise */
};

/* A rank that has been started. */
struct spawned {
	pid_t pid;  /* also the number of its process group */
	int out_fd; /* to read its stdout from, not blocking */
	int err_fd; /* its stderr */
};

/* A sealed memfd with the secret, numbered high enough to be out of the ranks' way. -1: having said why. */
int spawn_secret_fd(const uint8_t *secret);

/*
 * Start a rank. Returns once the program runs in it: 0, or the exit status for a job that could not
 * be started (126, 127: the program; 1: the machine), having said why.
 */
int spawn_rank(const struct spawn_plan *plan, int rank, struct spawned *spawned);

#endif
