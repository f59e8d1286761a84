// SPDX-License-Identifier: BSD-2-Clause
/* spawn.h - starting a rank: environment, descriptors, process group, exec. */
#ifndef ORIEL_LAUNCHER_SPAWN_H
#define ORIEL_LAUNCHER_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "launcher/options.h"

struct spawn_plan {
	const struct options *options;
	const char *server;        /* the launcher's address, in the form of address.h */
	int secret_fd;             /* sealed memfd, close-on-exec in the launcher */
	int stdin_fd;              /* for rank 0; close-on-exec in the launcher */
	int empty_fd;              /* for the other ranks; close-on-exec in the launcher */
	bool has_raised;           /* the limit of descriptors, */
	struct rlimit descriptors; /* which the launcher found so */
	sigset_t signal_mask;      /* as the launcher found it */
};

struct spawned {
	pid_t pid;  /* also its process group */
	int out_fd; /* its stdout, non-blocking */
	int err_fd; /* its stderr, non-blocking */
};

/* Returns a sealed memfd with the secret, numbered out of the ranks' way, or -1 with a message. */
int spawn_secret_fd(const uint8_t *secret);

/*
 * Starts a rank. Returns 0 once it runs the program; otherwise, with a message, the exit status of
 * the job (126, 127: the program; 1: the machine).
 */
int spawn_rank(const struct spawn_plan *plan, int rank, struct spawned *spawned);

#endif
