// SPDX-License-Identifier: BSD-2-Clause
/* info_child.c - see info_child.h. */
#include "info_child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_S 20

/* It may hang, or outlive its parent: neither keeps anybody waiting. */
static void be_mortal(void)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	alarm(ANSWER_S);
}

static void be_quiet(void)
{
	int nowhere = open("/dev/null", O_RDWR);

	if (nowhere >= 0) {
		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
	}
}

static size_t read_all(int fd, char *text, size_t text_bytes)
{
	size_t got = 0;
	ssize_t n;

	while (got + 1 < text_bytes && (n = read(fd, text + got, text_bytes - 1 - got)) > 0)
		got += (size_t)n;
	return got;
}

void child_answer(void (*write_answer)(const void *arg, char *text, size_t text_bytes), const void *arg, char *text,
                  size_t text_bytes)
{
	int ends[2];
	pid_t child;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (child == 0) {
		be_mortal();
		be_quiet();
		write_answer(arg, text, text_bytes);
		_exit(write(ends[1], text, strlen(text)) < 0);
	}
	close(ends[1]);
	text[child > 0 ? read_all(ends[0], text, text_bytes) : 0] = '\0';
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
}

pid_t child_start(void)
{
	pid_t child = fork();

	if (child == 0)
		be_mortal();
	while (child == 0)
		pause();
	return child;
}

void child_end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
