// SPDX-License-Identifier: BSD-2-Clause
/*
 * forbid.c - a program without some system calls, as under a container's seccomp profile
 *
 *   environments-forbid ERROR CALL[,CALL...] PROGRAM [ARGUMENT...]
 *
 * The calls fail with this number (1: EPERM, 38: ENOSYS). Of fcntl "seals" is what asks for seals
 * and sets them, of socket "unix" what makes Unix sockets.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX 32
#define NUMBER offsetof(struct seccomp_data, nr)
#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n)) /* its low half, where that comes first */

static const struct {
	const char *name;
	long number;
} calls[] = {
	{ "clone3", SYS_clone3 },
	{ "epoll_create1", SYS_epoll_create1 },
	{ "eventfd2", SYS_eventfd2 },
	{ "fallocate", SYS_fallocate },
	{ "ftruncate", SYS_ftruncate },
	{ "futex_waitv", 449 },
	{ "getrandom", SYS_getrandom },
	{ "io_uring_setup", 425 },
	{ "kcmp", SYS_kcmp },
	{ "madvise", SYS_madvise },
	{ "membarrier", SYS_membarrier },
	{ "memfd_create", SYS_memfd_create },
	{ "mremap", SYS_mremap },
	{ "perf_event_open", SYS_perf_event_open },
	{ "pidfd_open", SYS_pidfd_open },
	{ "pidfd_send_signal", SYS_pidfd_send_signal },
	{ "prctl", SYS_prctl },
	{ "preadv2", SYS_preadv2 },
	{ "prlimit64", SYS_prlimit64 },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "process_vm_writev", SYS_process_vm_writev },
	{ "rseq", SYS_rseq },
	{ "sched_setaffinity", SYS_sched_setaffinity },
	{ "setpgid", SYS_setpgid },
	{ "timerfd_create", SYS_timerfd_create },
	{ "userfaultfd", SYS_userfaultfd },
};

static struct sock_filter filter[6 * CALLS_MAX];
static unsigned short length;

static void add(unsigned short code, unsigned int k, unsigned char yes, unsigned char no)
{
	filter[length++] = (struct sock_filter)BPF_JUMP(code, k, yes, no);
}

static void load(size_t offset)
{
	add(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset, 0, 0);
}

/* The next instruction is left out unless what is loaded is this. */
static void only_if(unsigned int value)
{
	add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

static void forbid_argument(long number, size_t argument, unsigned int value, unsigned int result)
{
	load(NUMBER);
	add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 3);
	load(ARGUMENT(argument));
	only_if(value);
	add(BPF_RET | BPF_K, result, 0, 0);
}

static void forbid(const char *name, unsigned int result)
{
	if (strcmp(name, "seals") == 0) {
		forbid_argument(SYS_fcntl, 1, F_GET_SEALS, result);
		forbid_argument(SYS_fcntl, 1, F_ADD_SEALS, result);
		return;
	}
	if (strcmp(name, "unix") == 0) {
		forbid_argument(SYS_socket, 0, AF_UNIX, result);
		return;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		load(NUMBER);
		only_if((unsigned int)calls[i].number);
		add(BPF_RET | BPF_K, result, 0, 0);
		return;
	}
	fprintf(stderr, "forbid: the call %s is not known here\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = filter };
	unsigned int result = argc > 3 ? SECCOMP_RET_ERRNO | (unsigned int)atoi(argv[1]) : 0;

	if (argc <= 3)
		return 2;
	for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ","))
		forbid(name, result);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("forbid: seccomp");
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 2;
}
