// SPDX-License-Identifier: BSD-2-Clause
/* epoch_calls.c - calls that open and close epochs of MPI's windows, and flushes; see calls.h */
#include <stdlib.h>

#include "check/mpi/calls.h"

#define CALLS(X)                                                                                                     \
	X(Win_fence)                                                                                                     \
	X(Win_post)                                                                                                      \
	X(Win_start) X(Win_complete) X(Win_wait) X(Win_test) X(Win_lock) X(Win_unlock) X(Win_lock_all) X(Win_unlock_all) \
		X(Win_flush) X(Win_flush_local) X(Win_flush_all) X(Win_flush_local_all) X(Win_sync)

#include "check/mpi/next.h"

/* Records an event of the window; member -1: of all members, or of none. */
static void add_call(struct place here, const struct window *window, enum trace_kind kind, int member, uint16_t flags)
{
	if (window)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
		                                      .flags = flags,
		                                      .object = window->key,
		                                      .rank = member < 0 ? -1 : window_rank(window, member) });
}

/* Begins a call, and records an event before it is made; kind 0: none. */
static const struct window *enter(struct place here, MPI_Win win, enum trace_kind kind, int member)
{
	const struct window *window = window_begin(here, win);

	if (kind)
		add_call(here, window, kind, member, 0);
	return window;
}

/* Ends a call, and records an event after it. */
static int leave_with(struct place here, const struct window *window, enum trace_kind kind, int member, uint16_t flags,
                      int rc)
{
	if (rc == MPI_SUCCESS)
		add_call(here, window, kind, member, flags);
	return window_leave(here, window_key(window), rc);
}

static uint16_t fence_flags(int assertions)
{
	return (uint16_t)((assertions & MPI_MODE_NOPRECEDE ? FENCE_NOPRECEDE : 0) |
	                  (assertions & MPI_MODE_NOSUCCEED ? FENCE_NOSUCCEED : 0) |
	                  (assertions & MPI_MODE_NOPUT ? FENCE_NOPUT : 0));
}

int MPI_Win_fence(int assertions, MPI_Win win)
{
	struct window *window = window_begin(HERE("MPI_Win_fence"), win);
	struct trace_event event = { .kind = TRACE_FENCE, .rank = -1 };
	int rc;

	if (window) {
		event.object = window->key;
		event.id = ++window->fences;
		event.flags = fence_flags(assertions);
		trace_add(HERE("MPI_Win_fence"), event);
	}
	window_await(HERE("MPI_Win_fence"), window,
	             (struct trace_wait){ .kind = event.flags & FENCE_NOPRECEDE ? AWAIT_NONE : AWAIT_FENCE,
	                                  .number = event.id,
	                                  .rank = -1 });
	rc = awaited(next.Win_fence(assertions, win));
	event.kind = TRACE_FENCE_END;
	if (window && rc == MPI_SUCCESS)
		trace_add(HERE("MPI_Win_fence"), event);
	return window_leave(HERE("MPI_Win_fence"), window_key(window), rc);
}
TAKEN(Win_fence);

/* Records an event of the window for each rank of the group, and one for none if it is empty. */
static const struct window *enter_group(struct place here, MPI_Win win, enum trace_kind kind, uint16_t flags,
                                        MPI_Group group)
{
	const struct window *window = window_begin(here, win);
	int count = 0, *ranks = window ? comm_ranks_of(group, &count) : NULL;

	if (window && !ranks)
		trace_unknown(here);
	if (ranks && count == 0)
		add_call(here, window, kind, -1, 0);
	for (int i = 0; ranks && i < count; i++)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
		                                      .flags = flags,
		                                      .object = window->key,
		                                      .rank = ranks[i],
		                                      .id = (uint64_t)i });
	free(ranks);
	return window;
}

int MPI_Win_post(MPI_Group group, int assertions, MPI_Win win)
{
	const struct window *window =
		enter_group(HERE("MPI_Win_post"), win, TRACE_POST, assertions & MPI_MODE_NOPUT ? POST_NOPUT : 0, group);

	return window_leave(HERE("MPI_Win_post"), window_key(window), next.Win_post(group, assertions, win));
}
TAKEN(Win_post);

int MPI_Win_start(MPI_Group group, int assertions, MPI_Win win)
{
	const struct window *window =
		enter_group(HERE("MPI_Win_start"), win, TRACE_START, assertions & MPI_MODE_NOCHECK ? START_NOCHECK : 0, group);

	return window_leave(HERE("MPI_Win_start"), window_key(window), next.Win_start(group, assertions, win));
}
TAKEN(Win_start);

int MPI_Win_complete(MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_complete"), win, TRACE_COMPLETE, -1);

	window_await(HERE("MPI_Win_complete"), window, (struct trace_wait){ .kind = AWAIT_POST, .rank = -1 });
	return leave_with(HERE("MPI_Win_complete"), window, TRACE_COMPLETE_END, -1, 0, awaited(next.Win_complete(win)));
}
TAKEN(Win_complete);

int MPI_Win_wait(MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_wait"), win, 0, -1);

	window_await(HERE("MPI_Win_wait"), window, (struct trace_wait){ .kind = AWAIT_COMPLETE, .rank = -1 });
	return leave_with(HERE("MPI_Win_wait"), window, TRACE_WAIT_END, -1, 0, awaited(next.Win_wait(win)));
}
TAKEN(Win_wait);

int MPI_Win_test(MPI_Win win, int *flag)
{
	const struct window *window = enter(HERE("MPI_Win_test"), win, 0, -1);
	int rc = next.Win_test(win, flag);

	if (rc == MPI_SUCCESS && *flag)
		add_call(HERE("MPI_Win_test"), window, TRACE_WAIT_END, -1, 0);
	call_end();
	return rc;
}
TAKEN(Win_test);

int MPI_Win_lock(int type, int rank, int assertions, MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_lock"), win, 0, -1);
	uint16_t flags = (uint16_t)((type == MPI_LOCK_EXCLUSIVE ? LOCK_EXCLUSIVE : 0) |
	                            (assertions & MPI_MODE_NOCHECK ? LOCK_NOCHECK : 0));
	struct trace_wait wait = { .kind = flags & LOCK_NOCHECK || rank == MPI_PROC_NULL ? AWAIT_NONE : AWAIT_UNLOCK,
		                       .flags = flags & LOCK_EXCLUSIVE ? AWAIT_EXCLUSIVE : 0,
		                       .rank = window ? window_rank(window, rank) : -1 };
	int rc;

	window_await(HERE("MPI_Win_lock"), window, wait);
	rc = awaited(next.Win_lock(type, rank, assertions, win));
	return leave_with(HERE("MPI_Win_lock"), rank == MPI_PROC_NULL ? NULL : window, TRACE_LOCK, rank, flags, rc);
}
TAKEN(Win_lock);

int MPI_Win_unlock(int rank, MPI_Win win)
{
	const struct window *window =
		enter(HERE("MPI_Win_unlock"), rank == MPI_PROC_NULL ? MPI_WIN_NULL : win, TRACE_UNLOCK, rank);

	return leave_with(HERE("MPI_Win_unlock"), window, TRACE_UNLOCK_END, rank, 0, next.Win_unlock(rank, win));
}
TAKEN(Win_unlock);

int MPI_Win_lock_all(int assertions, MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_lock_all"), win, 0, -1);

	return leave_with(HERE("MPI_Win_lock_all"), window, TRACE_LOCK_ALL, -1,
	                  assertions & MPI_MODE_NOCHECK ? LOCK_NOCHECK : 0, next.Win_lock_all(assertions, win));
}
TAKEN(Win_lock_all);

int MPI_Win_unlock_all(MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_unlock_all"), win, TRACE_UNLOCK_ALL, -1);

	return leave_with(HERE("MPI_Win_unlock_all"), window, TRACE_UNLOCK_END, -1, 0, next.Win_unlock_all(win));
}
TAKEN(Win_unlock_all);

int MPI_Win_flush(int rank, MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_flush"), rank == MPI_PROC_NULL ? MPI_WIN_NULL : win, 0, -1);

	return leave_with(HERE("MPI_Win_flush"), window, TRACE_FLUSH, rank, 0, next.Win_flush(rank, win));
}
TAKEN(Win_flush);

int MPI_Win_flush_local(int rank, MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_flush_local"), rank == MPI_PROC_NULL ? MPI_WIN_NULL : win, 0, -1);

	return leave_with(HERE("MPI_Win_flush_local"), window, TRACE_FLUSH, rank, FLUSH_LOCAL,
	                  next.Win_flush_local(rank, win));
}
TAKEN(Win_flush_local);

int MPI_Win_flush_all(MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_flush_all"), win, 0, -1);

	return leave_with(HERE("MPI_Win_flush_all"), window, TRACE_FLUSH, -1, 0, next.Win_flush_all(win));
}
TAKEN(Win_flush_all);

int MPI_Win_flush_local_all(MPI_Win win)
{
	const struct window *window = enter(HERE("MPI_Win_flush_local_all"), win, 0, -1);

	return leave_with(HERE("MPI_Win_flush_local_all"), window, TRACE_FLUSH, -1, FLUSH_LOCAL,
	                  next.Win_flush_local_all(win));
}
TAKEN(Win_flush_local_all);

int MPI_Win_sync(MPI_Win win)
{
	const struct window *window = window_begin(HERE("MPI_Win_sync"), win);

	if (window)
		trace_sync();
	return window_leave(HERE("MPI_Win_sync"), window_key(window), next.Win_sync(win));
}
TAKEN(Win_sync);
