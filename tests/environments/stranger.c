// SPDX-License-Identifier: BSD-2-Clause
/*
 * stranger.c - a process beside a job on softverbs: does it get in, and what may it write?
 *
 *   environments-stranger enter UID         says hello at each socket that queue pairs of this user listen on; prints
 *                                           "sockets: N", and "let in" for each that has answered with descriptors
 *   environments-stranger write UID         the same, and prints "writes the segment" for each that can be mapped to
 *                                           be written, straight or opened anew
 *   environments-stranger take UID FILE     takes all names of queue pairs of that user, creates FILE, and holds them
 *                                           until its input ends
 *   environments-stranger take-ports UID FILE PART  likewise half of those of the connection manager at 127.0.0.1: PART is 0 or 1
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "soft/peer/peer.h"
#include "soft/state/shm.h"

#define FIRST_PORT 32768
#define PORTS 28232
#define SLOTS 4096

static int memory(size_t size)
{
	int fd = memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		perror("memfd");
	return fd;
}

static int call(const char *name, size_t length)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(addr.sun_path + 1, name, length);
	if (connect(sock, (struct sockaddr *)&addr, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
		return sock;
	close(sock);
	return -1;
}

static void say_hello(int sock)
{
	int fds[SOFT_HELLO_FDS] = { memory(sizeof(struct shm_segment)), memory(sizeof(struct shm_bell)),
		                        eventfd(0, EFD_CLOEXEC), memory(sizeof(struct shm_pipe)) };
	struct soft_hello hello = { .magic = SHM_MAGIC, .abi = SHM_ABI };
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	struct iovec iov = { &hello, sizeof(hello) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
	sendmsg(sock, &msg, MSG_NOSIGNAL); /* the other side may have closed: it then answers nothing */
	for (int i = 0; i < SOFT_HELLO_FDS; i++)
		close(fds[i]);
}

/* The segment's descriptor, or -1: the other side closes what it does not let in. */
static int answered_segment(int sock)
{
	struct soft_hello hello;
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(SOFT_HELLO_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { &hello, sizeof(hello) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control)
	};
	ssize_t got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg = got > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	int fd;

	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

static bool maps_for_writing(int fd)
{
	return mmap(NULL, sizeof(struct shm_segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

static bool can_write(int fd)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	return maps_for_writing(fd) || (again >= 0 && (maps_for_writing(again) || pwrite(again, "", 1, 0) == 1)) ||
	       pwrite(fd, "", 1, 0) == 1;
}

static void visit(const char *name, bool write)
{
	int sock = call(name, strlen(name)), segment;

	if (sock < 0)
		return;
	say_hello(sock);
	segment = answered_segment(sock);
	if (segment >= 0)
		printf("let in\n");
	if (segment >= 0 && write && can_write(segment))
		printf("writes the segment\n");
	close(sock);
}

/* Sockets as the kernel lists them: the name is last in the line, behind an @. */
static void visit_all(const char *uid, bool write)
{
	FILE *list = fopen("/proc/net/unix", "re");
	char line[512], start[64];
	int sockets = 0;

	snprintf(start, sizeof(start), "@softverbs-%s-qp-", uid);
	while (list && fgets(line, sizeof(line), list)) {
		char *name = strstr(line, start);

		if (!name || !strstr(line, " 00010000 "))
			continue;
		name[strcspn(name, "\n")] = '\0';
		sockets++;
		visit(name + 1, write);
	}
	if (list)
		fclose(list);
	printf("sockets: %d\n", sockets);
}

static bool take(const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	memcpy(addr.sun_path + 1, name, strlen(name));
	/* One that listens: a process that connects to it meets a stranger. */
	return sock >= 0 && bind(sock, (struct sockaddr *)&addr, length) == 0 && listen(sock, 16) == 0;
}

static void hold(int taken, const char *file)
{
	char byte;

	printf("took %d\n", taken);
	fflush(stdout);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static void raise_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void take_slots(const char *uid, const char *file)
{
	char name[64];
	int taken = 0;

	for (int slot = 1; slot < SLOTS; slot++) {
		snprintf(name, sizeof(name), "softverbs-%s-qp-%d-", uid, slot);
		taken += take(name);
	}
	hold(taken, file);
}

static void take_ports(const char *uid, const char *file, int part)
{
	const int first = FIRST_PORT + part * PORTS / 2;
	char name[64];
	int taken = 0;

	for (int port = first; port < first + PORTS / 2; port++) {
		snprintf(name, sizeof(name), "softverbs-%s-cm106-%d-127.0.0.1", uid, port);
		taken += take(name);
	}
	hold(taken, file);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	raise_limit();
	if (strcmp(argv[1], "take") == 0)
		take_slots(argv[2], argv[3]);
	else if (strcmp(argv[1], "take-ports") == 0)
		take_ports(argv[2], argv[3], atoi(argv[4]));
	else
		visit_all(argv[2], strcmp(argv[1], "write") == 0);
	return 0;
}
