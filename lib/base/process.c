// SPDX-License-Identifier: BSD-2-Clause
/* See process.h. */
#include "base/process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/order.h"
#include "base/util.h"

#ifndef SYS_pidfd_open /* headers before Linux 5.3 */
#define SYS_pidfd_open 434
#endif

#define STAT_BYTES 1024

/* Fields of proc(5)'s stat, counted from the state. */
#define THREADS_FIELD 17
#define START_FIELD 19

uint64_t process_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

struct status {
	char state;
	uint64_t threads;
	uint64_t started_ns; /* rounded down */
};

/* Returns whether /proc is not that of another process namespace. */
static bool proc_is_own(void)
{
	char number[24];
	ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

	if (length < 0)
		return false;
	number[length] = '\0';
	return atoi(number) == getpid();
}

/*
 * Returns the text behind the process's name, which may hold anything: the state, one letter, and
 * further fields. NULL: it cannot be read.
 */
static const char *read_stat(pid_t pid, char text[STAT_BYTES])
{
	char path[32];
	const char *end = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (fgets(text, STAT_BYTES, file))
		end = strrchr(text, ')');
	fclose(file);
	return end && end[1] == ' ' && end[2] ? end + 2 : NULL;
}

char process_state(pid_t pid)
{
	char text[STAT_BYTES];
	const char *state = read_stat(pid, text);

	return state && *state >= 'A' && *state <= 'z' ? *state : '?';
}

/* `at` is the state, field 0. */
static uint64_t field_of(const char *at, int field)
{
	uint64_t value = 0;

	for (int i = 0; at && i < field; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%" SCNu64, &value) != 1)
		return 0;
	return value;
}

static bool read_status(pid_t pid, struct status *status)
{
	char text[STAT_BYTES];
	const char *state = proc_is_own() ? read_stat(pid, text) : NULL;

	if (!state)
		return false;
	*status = (struct status){ *state, field_of(state, THREADS_FIELD),
		                       field_of(state, START_FIELD) * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK)) };
	return true;
}

/* Returns 1: it has ended, 0: not, -1: the system lacks (before Linux 5.3) or forbids the call. */
static int ended_by_pidfd(pid_t pid)
{
	static uint32_t missing; /* state_store: the call is not tried again */
	struct pollfd poll_fd = { .events = POLLIN };
	int ended;

	if (state_load(&missing))
		return -1;
	poll_fd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (poll_fd.fd < 0 && errno == ENOSYS)
		state_store(&missing, 1); /* pairs with the load above */
	if (poll_fd.fd < 0)
		return errno == ESRCH ? 1 : -1;
	ended = poll(&poll_fd, 1, 0) == 1; /* a process that was not waited for has ended too */
	close(poll_fd.fd);
	return ended;
}

bool process_ended(pid_t pid, uint64_t known_ns)
{
	struct status status = { 0 };
	int ended = ended_by_pidfd(pid);
	bool found = ended != 1 && read_status(pid, &status);

	if (ended < 0 && !found)
		return kill(pid, 0) != 0 && errno == ESRCH;
	if (ended < 0) /* an ended first thread is a zombie too while others live */
		ended = status.state == 'Z' && status.threads <= 1;
	return ended || (known_ns && status.started_ns > known_ns);
}
