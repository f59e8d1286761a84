// SPDX-License-Identifier: BSD-2-Clause
/*
 * guard.h - leaves no process behind, whichever process dies
 *
 * Each rank leads a process group, which its children belong to. The guard is a small process that
 * kills these groups when the launcher ends, in whatever way.
 */
#ifndef ORIEL_LAUNCHER_GUARD_H
#define ORIEL_LAUNCHER_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard {
	pid_t pid;            /* the guard process; 0 once it has been reaped */
	int pipe_fd;          /* held open by the launcher only; its end wakes the guard */
	volatile int *groups; /* shared memory: process group of each rank; 0: none */
	int size;
};

/*
 * Starts the guard, before any rank and any descriptor it must not inherit. Returns 0, or -1 with a
 * message.
 */
int guard_start(struct guard *guard, int size);

/* Sets a rank's process group; 0: it has no processes left. */
void guard_set_group(struct guard *guard, int rank, pid_t group);
pid_t guard_group(const struct guard *guard, int rank);

/* Lets the guard kill the remaining groups and end. The caller must still wait for it. */
void guard_dismiss(struct guard *guard);

void guard_free(struct guard *guard);

/*
 * Sends SIGKILL to every child of this process but the guard: orphans that left their rank's group.
 */
void guard_kill_adopted(const struct guard *guard);

#endif
