// SPDX-License-Identifier: BSD-2-Clause
/*
 * guard.h - nothing stays behind, whoever dies
 *
 * Each rank is the leader of a process group of its own, which what it starts belongs to. The guard
 * is a small process that knows these groups and kills them when the launcher is no more, however
 * it went.
 */
#ifndef ORIEL_LAUNCHER_GUARD_H
#define ORIEL_LAUNCHER_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard {
	pid_t pid;            /* the guard process; 0 once it was dismissed */
	int pipe_fd;          /* held open by the launcher alone; its end is the signal */
	volatile int *groups; /* shared memory: process group of each rank, 0: none */
	int size;
};

/*
 * Start the guard, before any rank and any descriptor it should not inherit. Returns 0, or -1
 * having said why.
 */
int guard_start(struct guard *guard, int size);

/* A rank's process group exists now; or (0) none of its processes is left. */
void guard_set_group(struct guard *guard, int rank, pid_t group);
pid_t guard_group(const struct guard *guard, int rank);

/* Let the guard kill the groups that are left, and end. It remains to be waited for. */
void guard_dismiss(struct guard *guard);

void guard_free(struct guard *guard);

/*
 * SIGKILL every child of this process: orphans that left their rank's group and were adopted. The
 * guard is none of them.
 */
void guard_kill_adopted(const struct guard *guard);

#endif
