// SPDX-License-Identifier: BSD-2-Clause
/* run_lock.c - passive target epochs: phases, locks, sections under a lock */
#include "run.h"

#include <sched.h>
#include <string.h>

void run_phase(struct run *run)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	const struct plan_part *part = &run->plan.win[run->event.win].part[run->job->rank];

	if (is_member(run, run->event.win) && part->block.size_bytes > 0)
		plan_block_fill(run->bytes[part->block.region] + part->block.offset, part->block_count);
	if (is_member(run, run->event.win) && arena->count > 0)
		elements_fill(arena->type, run->bytes[arena->range.region] + arena->range.offset, arena->range.size_bytes,
		              arena->seed);
	must(run, oriel_barrier(run->job->handle), "oriel_barrier");
}

void run_phase_end(struct run *run)
{
	bool atomics = run->plan.atomics[run->event.win].count > 0;

	if (atomics)
		publish_results(run);
	must(run, oriel_barrier(run->job->handle), "oriel_barrier");
	if (is_member(run, run->event.win))
		close_arena(run);
	if (atomics)
		must(run, oriel_barrier(run->job->handle), "oriel_barrier");
	if (!is_member(run, run->event.win))
		return;
	must(run, oriel_win_sync(run->win[run->event.win]), "oriel_win_sync");
	finish_ops(run);
	compare_window(run);
}

void run_lock(struct run *run)
{
	const struct event *event = &run->event;
	enum oriel_lock_type type = event->exclusive ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED;

	must(run,
	     oriel_win_lock(run->win[event->win], type, member(run, event->win, event->target),
	                    event->assertions[event->rank]),
	     "oriel_win_lock");
}

void run_unlock(struct run *run)
{
	must(run, oriel_win_unlock(run->win[run->event.win], member(run, run->event.win, run->event.target)),
	     "oriel_win_unlock");
	finish_ops(run);
}

/* The block is whole; with the exclusive lock it becomes the next one, in two steps. */
static void visit_block(struct run *run, uint8_t block[PLAN_BLOCK_BYTES])
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[run->event.target];
	size_t at = base_disp(run, run->event.win, run->event.target) +
	            (part->block.offset - part->range.offset) / part->unit,
		   half = PLAN_BLOCK_BYTES / 2;
	int target = member(run, run->event.win, run->event.target);
	oriel_win *win = run->win[run->event.win];
	uint64_t count;

	must(run, oriel_get(win, block, PLAN_BLOCK_BYTES, target, at), "oriel_get");
	must(run, oriel_win_flush(win, target), "oriel_win_flush");
	memcpy(&count, block, sizeof(count));
	if (!plan_block_is_whole(block))
		stop(run, "the block under the lock is torn, count %llu", (unsigned long long)count);
	if (!run->event.exclusive)
		return;
	plan_block_fill(block, count + 1);
	must(run, oriel_put(win, block, half / part->unit * part->unit, target, at), "oriel_put");
	sched_yield();
	must(run,
	     oriel_put(win, block + half / part->unit * part->unit, PLAN_BLOCK_BYTES - half / part->unit * part->unit,
	               target, at + half / part->unit),
	     "oriel_put");
}

void run_section(struct run *run)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	uint8_t block[PLAN_BLOCK_BYTES];

	run_lock(run);
	if (win->part[run->event.target].block.size_bytes > 0)
		visit_block(run, block);
	for (int i = 0; i < run->event.section_count; i++)
		run_op(run, run->event.section[i]);
	run_atomics(run);
	run_unlock(run);
}
