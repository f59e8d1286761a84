// SPDX-License-Identifier: BSD-2-Clause
/* oriel_calls.c - calls of the job, and what those of windows have in common; see oriel_calls.h */
#include <stdlib.h>

#include "check/front/oriel_calls.h"
#include "see/front/group_ranks.h"
#include "see/tool.h"

#define CALLS(X) X(init) X(finalize) X(barrier) X(group_shared)

#include "check/front/next.h"

#define JOB_OBJECT 1 /* of oriel_barrier */

static oriel_job *job;     /* the last that was opened */
static oriel_group *world; /* of it */

/* ---- begin ---- */

static void ignore_blocked(const struct tool_blocked *blocked)
{
	(void)blocked;
}

static void ignore_unblocked(uint64_t now_ns)
{
	(void)now_ns;
}

/* The functions behind this library have been found. */
__attribute__((constructor)) static void attach(void)
{
	static const struct tool tool = {
		.version = TOOL_VERSION, .job_opened = trace_job, .blocked = ignore_blocked, .unblocked = ignore_unblocked
	};

	if (next.init)
		oriel_tool_attach(&tool);
}

/* ---- calls of a window ---- */

/* Returns why a call was refused, or 0: it failed for another reason, or has succeeded. */
static uint16_t why_refused(int rc)
{
	if (rc == ORIEL_ERR_SYNC)
		return REFUSED_SYNC;
	if (rc == ORIEL_ERR_RANGE)
		return REFUSED_RANGE;
	if (rc == ORIEL_ERR_ARG || rc == ORIEL_ERR_RANK || rc == ORIEL_ERR_ACCESS || rc == ORIEL_ERR_OP ||
	    rc == ORIEL_ERR_KIND)
		return REFUSED_ARGUMENT;
	return 0;
}

void add_refused(struct place here, const struct window *window, int member, int rc)
{
	uint16_t why = why_refused(rc);

	if (window && why)
		trace_add(here,
		          (struct trace_event){
					  .kind = TRACE_REFUSED, .flags = why, .object = window->key, .rank = rank_of(window, member) });
}

int leave_failed(struct place here, const oriel_win *win, int rc)
{
	if (win)
		add_refused(here, window_of(win), -1, rc);
	trace_unknown(here);
	return rc;
}

void add_call(struct place here, const oriel_win *win, enum trace_kind kind, int member, uint16_t flags,
                     uint64_t id)
{
	struct window *window = window_of(win);

	if (window)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
		                                      .flags = flags,
		                                      .object = window->key,
		                                      .rank = member < 0 ? -1 : rank_of(window, member),
		                                      .id = id });
}

int leave_with(struct place here, const oriel_win *win, enum trace_kind kind, int member, uint16_t flags, int rc)
{
	if (rc == 0)
		add_call(here, win, kind, member, flags, 0);
	else
		add_refused(here, window_of(win), member, rc);
	return rc;
}

int leave_ended(struct place here, const oriel_win *win, enum trace_kind kind, int member, int rc)
{
	if (rc == 0)
		add_call(here, win, kind, member, 0, 0);
	return leave(here, win, rc);
}

int *ranks_of(const oriel_group *group, int count)
{
	return group_ranks(group, world, count);
}

void begin_making(struct place here)
{
	trace_add(here, (struct trace_event){ .kind = TRACE_MEET, .rank = -1 });
}

/* ---- the job ---- */

int oriel_init(const struct oriel_options *options, oriel_job **opened)
{
	int rc;

	trace_open();
	watch_prepare();
	rc = next.init(options, opened);
	if (rc)
		return rc;
	job = *opened;
	trace_join(JOB_OBJECT);
	if (!options || options->timeout_ms <= 0)
		trace_watch(true);
	if (oriel_group_world(job, &world))
		trace_unknown(HERE("oriel_init"));
	return rc;
}

static void add_collective(struct place here, enum trace_kind kind, uint64_t object, uint64_t number, int count)
{
	trace_add(here,
	          (struct trace_event){
				  .kind = (uint16_t)kind, .object = object, .rank = -1, .id = number, .size_bytes = (uint64_t)count });
}

int oriel_barrier(oriel_job *of)
{
	static uint64_t barriers;
	uint64_t number = __atomic_add_fetch(&barriers, 1, __ATOMIC_RELAXED);
	int size = oriel_size(of), rc;

	add_collective(HERE("oriel_barrier"), TRACE_ENTER, JOB_OBJECT, number, size);
	wait_begin(HERE("oriel_barrier"), (struct trace_wait){ .kind = AWAIT_COLLECTIVE,
	                                                       .object = JOB_OBJECT,
	                                                       .number = number + 1,
	                                                       .rank = -1,
	                                                       .size = (uint32_t)size });
	rc = awaited(next.barrier(of));
	if (rc == 0)
		add_collective(HERE("oriel_barrier"), TRACE_LEAVE, JOB_OBJECT, number, size);
	return leave(HERE("oriel_barrier"), NULL, rc);
}

int oriel_group_shared(const oriel_group *group, oriel_group **newgroup)
{
	int rc, count = oriel_group_size(group), *ranks;

	begin_making(HERE("oriel_group_shared"));
	rc = next.group_shared(group, newgroup);
	ranks = rc == 0 && count > 0 ? ranks_of(group, count) : NULL;
	if (ranks)
		trace_ranks(HERE("oriel_group_shared"), (struct trace_event){ .kind = TRACE_MET, .rank = -1 }, ranks, count);
	free(ranks);
	return rc;
}

int oriel_finalize(oriel_job **closed)
{
	int rc;

	if (world)
		oriel_group_free(&world);
	watch_ended(true);
	rc = next.finalize(closed);
	if (rc == 0)
		trace_end();
	else
		watch_ended(false);
	return rc;
}
