// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that the process at the other end of a socket belongs to this user.
 *
 * DESIGN NOTES
 *
 * The kernel reports the other user's id in this process's user namespace. It shows all users
 * without a number there as one id, the overflow id (65534). If this process has that id too, equal
 * ids prove nothing, unless the namespace has a number for every user.
 *
 * Otherwise the other process is this user's if its user namespace can be read in /proc, which the
 * kernel permits between processes of one user only, and is that of this process. Process numbers
 * are reused, so the process must still be alive after the check.
 */
#include "soft/meet/meet.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

#define USUAL_OVERFLOW_ID 65534u
#define ALL_USERS 4294967295u

/* One for all namespaces; 0: not read yet. */
static _Atomic unsigned int overflow_id;

static unsigned int read_overflow_id(void)
{
	FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");
	unsigned int id;

	if (!file)
		return USUAL_OVERFLOW_ID;
	if (fscanf(file, "%u", &id) != 1)
		id = USUAL_OVERFLOW_ID;
	fclose(file);
	return id;
}

static bool is_overflow_id(uid_t id)
{
	unsigned int overflow = atomic_load(&overflow_id);

	if (!overflow) {
		overflow = read_overflow_id();
		atomic_store(&overflow_id, overflow);
	}
	return id == overflow;
}

static bool numbers_all_users(void)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned long inside = 1, outside = 1, count = 0;
	bool all;

	if (!file)
		return false;
	all = fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
	      count == ALL_USERS;
	fclose(file);
	return all;
}

bool soft_proc_is_own(void)
{
	char number[24];
	ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

	if (length < 0)
		return false;
	number[length] = '\0';
	return atoi(number) == getpid();
}

/* Returns a descriptor of the process, readable once it has ended; or -1. */
static int open_process(int sock, pid_t pid)
{
	int fd;
	socklen_t length = sizeof(fd);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &length) == 0)
		return fd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static bool is_alive(int process)
{
	struct pollfd end = { .fd = process, .events = POLLIN };

	return poll(&end, 1, 0) == 0;
}

static bool has_own_namespace(pid_t pid)
{
	struct stat own, its;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return soft_proc_is_own() && stat(path, &its) == 0 && stat("/proc/self/ns/user", &own) == 0 &&
	       its.st_dev == own.st_dev && its.st_ino == own.st_ino;
}

static bool proves_user(int sock, pid_t pid)
{
	int process = open_process(sock, pid);
	bool proved;

	if (process < 0)
		return false;
	proved = has_own_namespace(pid) && is_alive(process);
	close(process);
	return proved;
}

bool softverbs_same_user(int sock, pid_t *pid)
{
	struct ucred cred;
	socklen_t length = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &length) != 0 || cred.uid != geteuid())
		return false;
	*pid = cred.pid;
	return !is_overflow_id(cred.uid) || numbers_all_users() || proves_user(sock, cred.pid);
}

/*
 * Sockets by which processes of one user find each other.
 *
 * DESIGN NOTES
 *
 * Names are abstract, so nothing is left behind. They contain the user's id, but any user can take
 * them. A process that finds all taken listens in a directory that only its user can enter
 * (directory.c); the number tells which of the two it is.
 */

/* Fills *addr; returns its length. */
static socklen_t abstract(struct sockaddr_un *addr, struct softverbs_name name)
{
	int n;

	addr->sun_family = AF_UNIX;
	addr->sun_path[0] = '\0';
	n = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "softverbs-%u-%s-%u-%s", geteuid(), name.kind,
	             name.number, name.where);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int softverbs_bind(int sock, struct softverbs_name name)
{
	struct sockaddr_un addr;

	return bind(sock, (struct sockaddr *)&addr, abstract(&addr, name)) == 0 ? 0 : errno;
}

int softverbs_connect(int sock, struct softverbs_name name)
{
	struct sockaddr_un addr;
	pid_t pid;

	if (connect(sock, (struct sockaddr *)&addr, abstract(&addr, name)) != 0)
		return errno;
	return softverbs_same_user(sock, &pid) ? 0 : ESTALE;
}

static void file_of(char *file, struct softverbs_name name)
{
	snprintf(file, SOFT_FILE_BYTES, "%s-%u-%s", name.kind, name.number, name.where);
}

int softverbs_bind_file(int sock, struct softverbs_name name)
{
	char file[SOFT_FILE_BYTES];

	file_of(file, name);
	return soft_directory_bind(sock, file);
}

int softverbs_connect_file(int sock, struct softverbs_name name)
{
	char file[SOFT_FILE_BYTES];
	pid_t pid;
	int err;

	file_of(file, name);
	err = soft_directory_connect(sock, file);
	if (err)
		return err == ENOENT ? ECONNREFUSED : err;
	return softverbs_same_user(sock, &pid) ? 0 : ESTALE;
}
