// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls.c - how many system calls a command takes, with all processes and threads that it starts
 *
 * The command runs traced (ptrace). Not counted are calls of those who wait or wake each other: how
 * often they do depends on how busy the machine is. Printed with two numbers: "calls 6120
 * membarrier 340". Ends as the command does.
 *
 * usage: budget-calls COMMAND [ARGUMENTS]
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                                   \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | \
	 PTRACE_O_TRACEEXEC)
#define SYSCALL_STOP (SIGTRAP | 0x80)

static long calls, barriers;

static bool waits(unsigned long long number)
{
	static const long waiting[] = { SYS_sched_yield, SYS_futex,        SYS_nanosleep, SYS_clock_nanosleep,
		                            SYS_epoll_pwait, SYS_epoll_pwait2, SYS_ppoll,     SYS_restart_syscall,
		                            SYS_wait4,
#ifdef SYS_epoll_wait
		                            SYS_epoll_wait,  SYS_poll
#endif
	};

	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		if (number == (unsigned long long)waiting[i])
			return true;
	}
	return false;
}

static void count(pid_t thread)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	calls += !waits(info.entry.nr);
	barriers += info.entry.nr == SYS_membarrier;
}

/* Let it go on after a stop, with the signal that it was stopped for unless that is ptrace's own. */
static void go_on(pid_t thread, int status)
{
	int signal = WSTOPSIG(status);
	bool own = status >> 16 || signal == SYSCALL_STOP || signal == SIGSTOP; /* new threads begin with SIGSTOP */

	if (signal == SYSCALL_STOP)
		count(thread);
	ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)(own ? 0 : signal));
}

/* The command's status. */
static int follow(pid_t command)
{
	int status, result = 1;
	pid_t thread;

	while ((thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (thread > 0 && WIFSTOPPED(status))
			go_on(thread, status);
		else if (thread == command)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	return result;
}

static void become(char **argv)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	int status, result;
	pid_t command;

	if (argc < 2)
		return 2;
	command = fork();
	if (command == 0)
		become(argv + 1);
	if (command < 0 || waitpid(command, &status, __WALL) != command ||
	    ptrace(PTRACE_SETOPTIONS, command, NULL, (void *)OPTIONS) != 0) {
		perror("budget-calls: the command cannot be traced");
		return 77;
	}
	ptrace(PTRACE_SYSCALL, command, NULL, NULL);
	result = follow(command);
	printf("calls %ld membarrier %ld\n", calls, barriers);
	return result;
}
