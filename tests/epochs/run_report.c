// SPDX-License-Identifier: BSD-2-Clause
/* run_report.c - what a rank prints: its events, what differs, and a call that fails */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define DIFFERENCES_PRINTED 3

void run_describe(const struct run *run, char *text)
{
	char line[LINE_BYTES];

	event_print(&run->plan, &run->event, line, sizeof(line));
	snprintf(text, TEXT_BYTES, "seed %llu: step %d, rank %d, window %d: [%s]", (unsigned long long)run->seed,
	         run->event.step, run->job->rank, run->event.win, line);
}

void stop(const struct run *run, const char *format, ...)
{
	char text[TEXT_BYTES], why[600];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	run_describe(run, text);
	printf("not ok %s: %s\n", text, why);
	fflush(stdout);
	_exit(1);
}

void must(const struct run *run, int rc, const char *call)
{
	if (rc < 0)
		stop(run, "%s gave %d: %s", call, rc, oriel_last_error());
}

void difference(struct run *run, const char *what, int region, size_t offset, int expected, int got)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	const struct range *range = &win->part[run->job->rank].range;
	char text[TEXT_BYTES];

	if (++run->differences > DIFFERENCES_PRINTED)
		return;
	run_describe(run, text);
	printf("not ok %s: %s: region %d offset %zu", text, what, region, offset);
	if (win->live && range->region == region && offset - range->offset < range->size_bytes)
		printf(" (window offset %zu)", offset - range->offset);
	printf(": expected 0x%02x, got 0x%02x\n", (unsigned)expected, (unsigned)got);
	fflush(stdout);
}

void run_print(const struct run *run)
{
	char line[LINE_BYTES];

	event_print(&run->plan, &run->event, line, sizeof(line));
	printf("seed %llu rank %d: %s\n", (unsigned long long)run->seed, run->job->rank, line);
	fflush(stdout);
}
