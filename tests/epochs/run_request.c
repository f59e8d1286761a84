// SPDX-License-Identifier: BSD-2-Clause
/* run_request.c - flushes that a request completes */
#include "run.h"

#include <sched.h>

void run_iflush(struct run *run)
{
	const struct event *event = &run->event;
	int target = event->target < 0 ? ORIEL_RANK_ALL : member(run, event->win, event->target);
	oriel_request *request = &run->request[event->request];

	if (event->local)
		must(run, oriel_win_iflush_local(run->win[event->win], target, request), "oriel_win_iflush_local");
	else
		must(run, oriel_win_iflush(run->win[event->win], target, request), "oriel_win_iflush");
}

bool run_request_test(struct run *run)
{
	oriel_request *request = &run->request[run->event.request], copy = *request;
	int flag = -1;

	must(run, oriel_request_test(run->event.step % 2 ? request : &copy, &flag), "oriel_request_test");
	if (flag != 0 && flag != 1)
		stop(run, "oriel_request_test gave flag %d", flag);
	return flag;
}

void run_request_wait(struct run *run)
{
	while (run->event.by_test && !run_request_test(run))
		sched_yield();
	if (!run->event.by_test)
		must(run, oriel_request_wait(&run->request[run->event.request]), "oriel_request_wait");
	finish_ops(run);
}
