// SPDX-License-Identifier: BSD-2-Clause
/* run_epoch.c - post, start, flush, wait, fence */
#include "run.h"

#include <sched.h>

void run_post(struct run *run)
{
	const struct event *event = &run->event;
	oriel_group *group = make_group(run, event->count, event->group);

	must(run, oriel_win_post(run->win[event->win], group, event->assertions[event->rank]), "oriel_win_post");
	must(run, oriel_group_free(&group), "oriel_group_free");
	run->closed[event->win] = false;
}

void run_start(struct run *run)
{
	const struct event *event = &run->event;
	oriel_group *group = make_group(run, event->count, event->group);

	must(run, oriel_win_start(run->win[event->win], group, event->assertions[event->rank]), "oriel_win_start");
	must(run, oriel_group_free(&group), "oriel_group_free");
}

void run_flush(struct run *run)
{
	const struct event *event = &run->event;
	int target = event->target < 0 ? ORIEL_RANK_ALL : member(run, event->win, event->target);

	if (event->local)
		must(run, oriel_win_flush_local(run->win[event->win], target), "oriel_win_flush_local");
	else
		must(run, oriel_win_flush(run->win[event->win], target), "oriel_win_flush");
	finish_ops(run);
}

void run_test(struct run *run)
{
	int w = run->event.win, flag = -1;

	if (run->closed[w]) {
		if (oriel_win_test(run->win[w], &flag) != ORIEL_ERR_SYNC)
			stop(run, "oriel_win_test after true was not refused");
		return;
	}
	must(run, oriel_win_test(run->win[w], &flag), "oriel_win_test");
	run->closed[w] = flag;
}

void run_wait(struct run *run)
{
	int w = run->event.win;

	if (run->event.by_test) {
		while (!run->closed[w]) {
			run_test(run);
			sched_yield();
		}
	} else if (!run->closed[w]) {
		must(run, oriel_win_wait(run->win[w]), "oriel_win_wait");
	}
	run->closed[w] = true;
	compare_window(run);
}

void run_fence(struct run *run)
{
	const struct event *event = &run->event;

	must(run, oriel_win_fence(run->win[event->win], event->assertions[run->job->rank]), "oriel_win_fence");
	finish_ops(run);
	compare_window(run);
}
