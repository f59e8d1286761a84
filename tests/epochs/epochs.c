// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - see epochs.h
 *
 * Every rank makes the whole plan and runs the whole model, and carries out its own events in
 * between. A difference is printed and does not change what the rank does next, so that no rank
 * hangs because of it.
 */
#include "epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "run.h"

static void delay(uint32_t us)
{
	struct timespec t = { .tv_nsec = (long)us * 1000 };

	nanosleep(&t, NULL);
}

static void register_memory(struct run *run)
{
	const struct event *event = &run->event;
	const struct range *range = &run->plan.mem[event->rank][event->mem].range;

	must(run,
	     oriel_mem_register(run->job->handle, run->bytes[range->region] + range->offset, range->size_bytes,
	                        &run->mem[event->mem]),
	     "oriel_mem_register");
}

static void carry_out(struct run *run)
{
	const struct event *event = &run->event;

	switch (event->kind) {
	case EVENT_CREATE:
		run_create(run);
		break;
	case EVENT_FREE:
		run_free(run);
		break;
	case EVENT_REATTACH:
		run_reattach(run);
		break;
	case EVENT_FENCE:
		run_fence(run);
		break;
	case EVENT_BARRIER:
		must(run, oriel_barrier(run->job->handle), "oriel_barrier");
		break;
	case EVENT_POST:
		run_post(run);
		break;
	case EVENT_START:
		run_start(run);
		break;
	case EVENT_OP:
		run_op(run, run->event.op);
		break;
	case EVENT_ATOMICS:
		run_atomics(run);
		break;
	case EVENT_FLUSH:
		run_flush(run);
		break;
	case EVENT_IFLUSH:
		run_iflush(run);
		break;
	case EVENT_COMPLETE:
		must(run, oriel_win_complete(run->win[event->win]), "oriel_win_complete");
		finish_ops(run);
		break;
	case EVENT_PHASE:
		run_phase(run);
		break;
	case EVENT_PHASE_END:
		run_phase_end(run);
		break;
	case EVENT_LOCK:
		run_lock(run);
		break;
	case EVENT_UNLOCK:
		run_unlock(run);
		break;
	case EVENT_LOCK_ALL:
		must(run, oriel_win_lock_all(run->win[event->win], event->assertions[event->rank]), "oriel_win_lock_all");
		break;
	case EVENT_UNLOCK_ALL:
		must(run, oriel_win_unlock_all(run->win[event->win]), "oriel_win_unlock_all");
		finish_ops(run);
		break;
	case EVENT_SECTION:
		run_section(run);
		break;
	case EVENT_TEST:
		run_test(run);
		break;
	case EVENT_WAIT:
		run_wait(run);
		break;
	case EVENT_SIGNAL_WAIT:
		run_signal_wait(run);
		break;
	case EVENT_REQUEST_TEST:
		run_request_test(run);
		break;
	case EVENT_REQUEST_WAIT:
		run_request_wait(run);
		break;
	case EVENT_STORE:
		random_fill(run->bytes[event->range.region] + event->range.offset, event->range.size_bytes, event->seed);
		break;
	case EVENT_DELAY:
		delay(event->delay_us);
		break;
	case EVENT_REGISTER:
		register_memory(run);
		break;
	case EVENT_DEREGISTER:
		must(run, oriel_mem_deregister(&run->mem[event->mem]), "oriel_mem_deregister");
		break;
	case EVENT_KINDS:
		break;
	}
}

static void run_events(struct run *run, bool part, bool verbose)
{
	while (plan_next(&run->plan, &run->event)) {
		bool mine = event_names(&run->plan, &run->event, run->job->rank);

		if (verbose && mine)
			run_print(run);
		if (mine && (run->event.kind == EVENT_FREE || run->event.kind == EVENT_REATTACH))
			compare_before_free(run);
		if (part)
			model_apply(&run->model, &run->plan, &run->event);
		if (mine)
			carry_out(run);
	}
	if (!plan_over(&run->plan))
		stop(run, "the plan has left something open");
}

int epochs_run(struct job *job, const struct settings *settings, uint64_t seed)
{
	struct run *run = calloc(1, sizeof(*run));
	int differences;
	bool part;

	if (!run) {
		perror("epochs");
		exit(1);
	}
	run->job = job;
	run->seed = seed;
	plan_init(&run->plan, seed, job->size, settings->steps);
	part = plan_takes_part(&run->plan, job->rank);
	if (part) {
		model_init(&run->model, &run->plan);
		update_memory(run);
	}
	run_events(run, part, settings->verbose);
	if (part)
		compare_all(run);
	model_destroy(&run->model);
	differences = run->differences;
	free(run);
	return differences;
}
