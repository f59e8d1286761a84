// SPDX-License-Identifier: BSD-2-Clause
/* oriel_epoch_calls.c - flushes, epochs and signals of oriel.h; see oriel_calls.h */
#include <stdlib.h>

#include "check/front/oriel_calls.h"

#define CALLS(X)                                                                                              \
	X(win_flush) X(win_flush_local) X(win_iflush) X(win_iflush_local) X(request_wait) X(request_test)         \
		X(win_post) X(win_start) X(win_complete) X(win_wait) X(win_test) X(win_fence) X(win_lock)             \
			X(win_unlock) X(win_lock_all) X(win_unlock_all) X(win_sync) X(signal) X(signal_wait)              \
				X(signal_test) X(signal_until)

#include "check/front/next.h"

/* ---- flushes ---- */

int oriel_win_flush(oriel_win *win, int target_rank)
{
	return leave_with(HERE("oriel_win_flush"), win, TRACE_FLUSH, target_rank, 0, next.win_flush(win, target_rank));
}

int oriel_win_flush_local(oriel_win *win, int target_rank)
{
	return leave_with(HERE("oriel_win_flush_local"), win, TRACE_FLUSH, target_rank, FLUSH_LOCAL,
	                  next.win_flush_local(win, target_rank));
}

/*
 * Requests are copied by programs, and their numbers change. So requests of one window, target and
 * scope count as one: when one is done, all before are.
 */
static uint64_t request_id(const oriel_request *request)
{
	return hash_mix(hash_mix((uint64_t)(uintptr_t)request->win, (uint64_t)(uint32_t)request->target_rank),
	                (uint64_t)(uint32_t)request->scope);
}

static int leave_request(struct place here, oriel_win *win, int target_rank, uint16_t flags,
                         const oriel_request *request, int rc)
{
	if (rc == 0)
		add_call(here, win, TRACE_REQUEST, target_rank, flags, request_id(request));
	return rc;
}

int oriel_win_iflush(oriel_win *win, int target_rank, oriel_request *request)
{
	return leave_request(HERE("oriel_win_iflush"), win, target_rank, 0, request,
	                     next.win_iflush(win, target_rank, request));
}

int oriel_win_iflush_local(oriel_win *win, int target_rank, oriel_request *request)
{
	return leave_request(HERE("oriel_win_iflush_local"), win, target_rank, FLUSH_LOCAL, request,
	                     next.win_iflush_local(win, target_rank, request));
}

int oriel_request_wait(oriel_request *request)
{
	oriel_request before = request ? *request : (oriel_request){ 0 };
	int rc = next.request_wait(request);

	if (rc == 0)
		add_call(HERE("oriel_request_wait"), before.win, TRACE_REQUEST_DONE, -1, 0, request_id(&before));
	return rc;
}

int oriel_request_test(oriel_request *request, int *flag)
{
	oriel_request before = request ? *request : (oriel_request){ 0 };
	int rc = next.request_test(request, flag);

	if (rc == 0 && *flag)
		add_call(HERE("oriel_request_test"), before.win, TRACE_REQUEST_DONE, -1, 0, request_id(&before));
	return rc;
}

/* ---- epochs ---- */

/* Records an event of the window for each rank of the group, and one for none if it is empty. */
static void add_group(struct place here, const oriel_win *win, enum trace_kind kind, uint16_t flags,
                      const oriel_group *group)
{
	struct window *window = window_of(win);
	int count = oriel_group_size(group), *ranks = window && count > 0 ? ranks_of(group, count) : NULL;

	if (window && count != 0 && !ranks)
		trace_unknown(here);
	if (window && count == 0)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind, .object = window->key, .rank = -1 });
	for (int i = 0; ranks && i < count; i++)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
		                                      .flags = flags,
		                                      .object = window->key,
		                                      .rank = ranks[i],
		                                      .id = (uint64_t)i });
	free(ranks);
}

int oriel_win_post(oriel_win *win, const oriel_group *group, int assertions)
{
	add_group(HERE("oriel_win_post"), win, TRACE_POST, assertions & ORIEL_MODE_NOPUT ? POST_NOPUT : 0, group);
	return leave(HERE("oriel_win_post"), win, next.win_post(win, group, assertions));
}

int oriel_win_start(oriel_win *win, const oriel_group *group, int assertions)
{
	add_group(HERE("oriel_win_start"), win, TRACE_START, assertions & ORIEL_MODE_NOCHECK ? START_NOCHECK : 0, group);
	return leave(HERE("oriel_win_start"), win, next.win_start(win, group, assertions));
}

int oriel_win_complete(oriel_win *win)
{
	add_call(HERE("oriel_win_complete"), win, TRACE_COMPLETE, -1, 0, 0);
	window_await(HERE("oriel_win_complete"), window_of(win), (struct trace_wait){ .kind = AWAIT_POST, .rank = -1 });
	return leave_ended(HERE("oriel_win_complete"), win, TRACE_COMPLETE_END, -1, awaited(next.win_complete(win)));
}

int oriel_win_wait(oriel_win *win)
{
	window_await(HERE("oriel_win_wait"), window_of(win), (struct trace_wait){ .kind = AWAIT_COMPLETE, .rank = -1 });
	return leave_with(HERE("oriel_win_wait"), win, TRACE_WAIT_END, -1, 0, awaited(next.win_wait(win)));
}

int oriel_win_test(oriel_win *win, int *flag)
{
	int rc = next.win_test(win, flag);

	if (rc == 0 && *flag)
		add_call(HERE("oriel_win_test"), win, TRACE_WAIT_END, -1, 0, 0);
	return rc;
}

int oriel_win_fence(oriel_win *win, int assertions)
{
	struct window *window = window_of(win);
	uint64_t number = window ? ++window->fences : 0;
	uint16_t flags = (uint16_t)((assertions & ORIEL_MODE_NOPRECEDE ? FENCE_NOPRECEDE : 0) |
	                            (assertions & ORIEL_MODE_NOSUCCEED ? FENCE_NOSUCCEED : 0) |
	                            (assertions & ORIEL_MODE_NOPUT ? FENCE_NOPUT : 0));
	int rc;

	add_call(HERE("oriel_win_fence"), win, TRACE_FENCE, -1, flags, number);
	window_await(HERE("oriel_win_fence"), window,
	             (struct trace_wait){
					 .kind = flags & FENCE_NOPRECEDE ? AWAIT_NONE : AWAIT_FENCE, .number = number, .rank = -1 });
	rc = awaited(next.win_fence(win, assertions));
	if (rc == 0)
		add_call(HERE("oriel_win_fence"), win, TRACE_FENCE_END, -1, flags, number);
	return leave(HERE("oriel_win_fence"), win, rc);
}

int oriel_win_lock(oriel_win *win, enum oriel_lock_type type, int target_rank, int assertions)
{
	uint16_t flags = (uint16_t)((type == ORIEL_LOCK_EXCLUSIVE ? LOCK_EXCLUSIVE : 0) |
	                            (assertions & ORIEL_MODE_NOCHECK ? LOCK_NOCHECK : 0));
	const struct window *window = window_of(win);
	struct trace_wait wait = { .kind = flags & LOCK_NOCHECK ? AWAIT_NONE : AWAIT_UNLOCK,
		                       .flags = flags & LOCK_EXCLUSIVE ? AWAIT_EXCLUSIVE : 0,
		                       .rank = window ? rank_of(window, target_rank) : -1 };

	window_await(HERE("oriel_win_lock"), window, wait);
	return leave_with(HERE("oriel_win_lock"), win, TRACE_LOCK, target_rank, flags,
	                  awaited(next.win_lock(win, type, target_rank, assertions)));
}

int oriel_win_unlock(oriel_win *win, int target_rank)
{
	add_call(HERE("oriel_win_unlock"), win, TRACE_UNLOCK, target_rank, 0, 0);
	return leave_ended(HERE("oriel_win_unlock"), win, TRACE_UNLOCK_END, target_rank, next.win_unlock(win, target_rank));
}

int oriel_win_lock_all(oriel_win *win, int assertions)
{
	return leave_with(HERE("oriel_win_lock_all"), win, TRACE_LOCK_ALL, -1,
	                  assertions & ORIEL_MODE_NOCHECK ? LOCK_NOCHECK : 0, next.win_lock_all(win, assertions));
}

int oriel_win_unlock_all(oriel_win *win)
{
	add_call(HERE("oriel_win_unlock_all"), win, TRACE_UNLOCK_ALL, -1, 0, 0);
	return leave_ended(HERE("oriel_win_unlock_all"), win, TRACE_UNLOCK_END, -1, next.win_unlock_all(win));
}

int oriel_win_sync(oriel_win *win)
{
	trace_sync();
	return next.win_sync(win);
}

/* ---- signals ---- */

int oriel_signal(oriel_win *win, int target_rank, uint32_t signal, uint64_t value, enum oriel_signal_op op)
{
	const struct window *window = window_of(win);

	if (window && rank_of(window, target_rank) >= 0)
		add_call(HERE("oriel_signal"), win, TRACE_SIGNAL, target_rank, 0, signal);
	return leave(HERE("oriel_signal"), win, next.signal(win, target_rank, signal, value, op));
}

/* More signals are not followed. */
static struct trace_wait signals_wanted(uint32_t first, uint32_t count, uint32_t flags)
{
	return (struct trace_wait){ .kind = count > 0 && count <= WAITS_SIGNALS ? AWAIT_SIGNAL : AWAIT_NONE,
		                        .flags = flags,
		                        .number = first,
		                        .rank = -1,
		                        .count = count };
}

int oriel_signal_wait(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value)
{
	int rc;

	window_await(HERE("oriel_signal_wait"), window_of(win), signals_wanted(first, count, 0));
	rc = awaited(next.signal_wait(win, first, count, signal, value));
	if (rc == 0)
		add_call(HERE("oriel_signal_wait"), win, TRACE_SIGNAL_TAKEN, -1, 0, *signal);
	return rc;
}

int oriel_signal_test(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value, int *flag)
{
	int rc = next.signal_test(win, first, count, signal, value, flag);

	if (rc == 0 && *flag)
		add_call(HERE("oriel_signal_test"), win, TRACE_SIGNAL_TAKEN, -1, 0, *signal);
	return rc;
}

int oriel_signal_until(oriel_win *win, uint32_t signal, uint64_t value)
{
	int rc;

	window_await(HERE("oriel_signal_until"), window_of(win), signals_wanted(signal, 1, AWAIT_UNTIL));
	rc = awaited(next.signal_until(win, signal, value));
	if (rc == 0)
		add_call(HERE("oriel_signal_until"), win, TRACE_SIGNAL_TAKEN, -1, SIGNAL_UNTIL, signal);
	return rc;
}
