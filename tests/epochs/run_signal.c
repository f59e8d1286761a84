// SPDX-License-Identifier: BSD-2-Clause
/* run_signal.c - signals: waits for them, and their values in the end */
#include "run.h"

#include <sched.h>

/* Take one of a range that has the wanted one in it. */
static bool take_signal(struct run *run)
{
	uint32_t first = run->event.signal / 2, count = PLAN_SIGNALS - first, which = PLAN_SIGNALS;
	oriel_win *win = run->win[run->event.win];
	uint64_t value, *taken;
	int flag = 1;

	if (run->event.way == SIGNAL_TEST)
		must(run, oriel_signal_test(win, first, count, &which, &value, &flag), "oriel_signal_test");
	else
		must(run, oriel_signal_wait(win, first, count, &which, &value), "oriel_signal_wait");
	if (!flag)
		return false;
	if (which < first || which >= PLAN_SIGNALS)
		stop(run, "signal %u is none of %u to %u", which, first, PLAN_SIGNALS - 1);
	taken = &run->taken[run->event.win][which];
	if (value < *taken)
		stop(run, "signal %u has gone back from %llu to %llu", which, (unsigned long long)*taken,
		     (unsigned long long)value);
	*taken = value;
	return true;
}

void run_signal_wait(struct run *run)
{
	const struct event *event = &run->event;
	uint64_t value;

	while (event->way != SIGNAL_UNTIL && run->taken[event->win][event->signal] < event->value) {
		if (!take_signal(run))
			sched_yield();
	}
	if (event->way == SIGNAL_UNTIL)
		must(run, oriel_signal_until(run->win[event->win], event->signal, event->value), "oriel_signal_until");
	must(run, oriel_signal_read(run->win[event->win], event->signal, &value), "oriel_signal_read");
	if (value < event->value || value < run->taken[event->win][event->signal])
		stop(run, "signal %u is %llu after a wait for %llu", event->signal, (unsigned long long)value,
		     (unsigned long long)event->value);
}

void check_signals(struct run *run)
{
	const struct plan_part *part = &run->event.freed.part[run->job->rank];
	uint64_t value;

	for (uint32_t i = 0; i < PLAN_SIGNALS; i++) {
		must(run, oriel_signal_read(run->win[run->event.win], i, &value), "oriel_signal_read");
		if (value != part->signal_set[i] + part->signal_added[i])
			stop(run, "signal %u is %llu in the end, not %llu + %llu", i, (unsigned long long)value,
			     (unsigned long long)part->signal_set[i], (unsigned long long)part->signal_added[i]);
	}
}
