// SPDX-License-Identifier: BSD-2-Clause
/*
 * guard.c - leaves no process behind, whichever process dies; see guard.h
 *
 * DESIGN NOTES Three nets catch what the others miss.
 *
 *   - Ranks have PR_SET_PDEATHSIG: they get SIGKILL when the launcher ends. Their children do not.
 *   - The guard kills the ranks' process groups. It sleeps in a read of a pipe that only the
 *     launcher holds open; the read returns when the launcher ends, even by SIGKILL.
 *   - A process may leave its group (setsid). The launcher, a child subreaper, adopts it when its
 *     parent ends, and kills it at the end of the job, unless the launcher is killed.
 *
 * A group's number is safe to signal while a process is in the group. The launcher takes the number
 * off the list when the group is empty.
 */
#include "launcher/guard.h"

#include "base/process_limit.h"
#include "launcher/say.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range /* headers before Linux 5.9 */
#define SYS_close_range 436
#endif

#define CLOSE_BY_HAND_MAX 65536 /* descriptors to try if the kernel has no close_range */

static size_t groups_bytes(int size)
{
	return (size_t)size * sizeof(int);
}

static void close_all_above(int last)
{
	if (syscall(SYS_close_range, (unsigned)last + 1, ~0u, 0) == 0)
		return;
	for (int fd = last + 1; fd < CLOSE_BY_HAND_MAX; fd++)
		close(fd);
}

/* Makes the pipe descriptor 0 and closes all others, lest the guard hold the user's pipes open. */
static void keep_only(int pipe_fd)
{
	dup2(pipe_fd, 0);
	close_all_above(0);
}

static void wait_for_end_of_pipe(void)
{
	char byte;
	ssize_t got;

	do
		got = read(0, &byte, 1);
	while (got > 0 || (got < 0 && errno == EINTR));
}

static void kill_groups(const volatile int *groups, int size)
{
	for (int rank = 0; rank < size; rank++)
		if (groups[rank] > 1)
			kill(-groups[rank], SIGKILL);
}

static _Noreturn void be_guard(int pipe_fd, const volatile int *groups, int size)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	prctl(PR_SET_NAME, "oriel-guard");
	keep_only(pipe_fd);
	wait_for_end_of_pipe();
	kill_groups(groups, size);
	_exit(0);
}

static int fail(const char *what)
{
	char text[PROCESS_LIMIT_TEXT_BYTES];

	process_limit_text(errno, text, sizeof(text));
	say("cannot start the guard process: %s: %s", what, text);
	return -1;
}

static int fork_guard(struct guard *guard)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return fail("pipe");
	guard->pid = fork();
	if (guard->pid == 0)
		be_guard(ends[0], guard->groups, guard->size);
	close(ends[0]);
	guard->pipe_fd = ends[1];
	if (guard->pid > 0)
		return 0;
	close(ends[1]);
	return fail("fork");
}

int guard_start(struct guard *guard, int size)
{
	void *groups = mmap(NULL, groups_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (groups == MAP_FAILED)
		return fail("mmap");
	guard->groups = groups;
	guard->size = size;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (fork_guard(guard) == 0)
		return 0;
	munmap(groups, groups_bytes(size));
	guard->groups = NULL;
	return -1;
}

void guard_set_group(struct guard *guard, int rank, pid_t group)
{
	guard->groups[rank] = group;
}

pid_t guard_group(const struct guard *guard, int rank)
{
	return guard->groups[rank];
}

void guard_dismiss(struct guard *guard)
{
	if (guard->pipe_fd >= 0)
		close(guard->pipe_fd);
	guard->pipe_fd = -1;
}

void guard_free(struct guard *guard)
{
	guard_dismiss(guard);
	if (guard->groups)
		munmap((void *)guard->groups, groups_bytes(guard->size));
	guard->groups = NULL;
}

/*
 * Returns the parent of a process, or -1. /proc/PID/stat is "PID (NAME) STATE PPID ..."; the name
 * may contain anything.
 */
static pid_t parent_of(const char *pid)
{
	char path[300];
	char line[512];
	const char *after_name;
	FILE *file;
	pid_t parent = -1;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fgets(line, sizeof(line), file) && (after_name = strrchr(line, ')')))
		if (sscanf(after_name, ") %*c %d", &parent) != 1)
			parent = -1;
	fclose(file);
	return parent;
}

void guard_kill_adopted(const struct guard *guard)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t pid;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]) || parent_of(entry->d_name) != getpid())
			continue;
		pid = (pid_t)atoi(entry->d_name);
		if (pid != guard->pid)
			kill(pid, SIGKILL);
	}
	if (proc)
		closedir(proc);
}
