// SPDX-License-Identifier: BSD-2-Clause
/*
 * signals.c - signals to the launcher; see signals.h
 *
 * DESIGN NOTES The ranks are not in the launcher's process group, so a Ctrl-C at the terminal
 * reaches only the launcher, which passes it on. A signal that was ignored when the launcher
 * started (nohup) stays ignored. A blocked one is unblocked here, since libev waits for it; the
 * ranks get the mask of before.
 */
#include "launcher/signals.h"

#include <signal.h>

enum { WATCHED_COUNT = 9 };

static const int watched[WATCHED_COUNT] = {
	SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
};

static ev_signal watchers[WATCHED_COUNT];

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int revents)
{
	struct job *job = watcher->data;

	(void)loop;
	(void)revents;
	switch (watcher->signum) {
	case SIGCHLD:
		job_reap(job);
		break;
	case SIGINT:
	case SIGTERM:
		job_interrupt(job, watcher->signum);
		break;
	case SIGTSTP:
		job_signal(job, SIGTSTP);
		raise(SIGSTOP);
		break;
	default:
		job_signal(job, watcher->signum);
	}
}

/*
 * Returns whether to watch a signal. An ignored SIGCHLD would lose the children's status, so
 * SIGCHLD is always watched.
 */
static bool is_wanted(int number)
{
	struct sigaction action;

	return number == SIGCHLD || sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_IGN;
}

static void watch(struct job *job, ev_signal *watcher, int number)
{
	sigset_t set;

	ev_signal_start(job->loop, watcher);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_open(struct job *job)
{
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < WATCHED_COUNT; i++) {
		ev_signal_init(&watchers[i], on_signal, watched[i]);
		watchers[i].data = job;
		if (is_wanted(watched[i]))
			watch(job, &watchers[i], watched[i]);
	}
}

void signals_close(struct job *job)
{
	for (int i = 0; i < WATCHED_COUNT; i++)
		ev_signal_stop(job->loop, &watchers[i]);
}
