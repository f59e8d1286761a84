// SPDX-License-Identifier: BSD-2-Clause
/*
 * oriel_calls.c - liboriel-check.so: the calls of oriel.h, in front of liboriel.so; see write.h
 *
 * LD_PRELOAD puts it there (oriel-check). Calls that neither move data nor order ranks are not
 * taken.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "see/front/behind.h"
#include "oriel.h"
#include "check/front/loads.h"
#include "check/front/watch.h"
#include "see/tool.h"

#define CALLS(X)                                                                                                   \
	X(put)                                                                                                         \
	X(get)                                                                                                         \
	X(putv)                                                                                                        \
	X(getv)                                                                                                        \
	X(accumulate)                                                                                                  \
	X(get_accumulate)                                                                                              \
	X(fetch_and_op)                                                                                                \
	X(compare_and_swap) X(accumulatev) X(get_accumulatev) X(win_flush) X(win_flush_local) X(win_iflush)            \
		X(win_iflush_local) X(request_wait) X(request_test) X(win_post) X(win_start) X(win_complete) X(win_wait)   \
			X(win_test) X(win_fence) X(win_lock) X(win_unlock) X(win_lock_all) X(win_unlock_all) X(win_sync) X(signal)         \
				X(signal_wait) X(signal_test) X(signal_until) X(win_create) X(win_allocate) X(win_allocate_shared) \
					X(win_create_dynamic) X(win_shared_query) X(win_attach) X(win_detach) X(win_free) X(win_set_name) X(group_shared)    \
						X(init) X(finalize) X(barrier)

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(oriel_##name) *name;
	CALLS(X)
#undef X
} next;

#define HERE(name) ((struct place){ name, __builtin_return_address(0) })
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

__attribute__((constructor)) static void find_all(void)
{
	static const struct tool tool = {
		.version = TOOL_VERSION, .job_opened = trace_job, .blocked = ignore_blocked, .unblocked = ignore_unblocked
	};

#define X(name) find_behind("oriel_" #name, &next.name);
	CALLS(X)
#undef X
	if (next.init)
		oriel_tool_attach(&tool);
}

static struct window *window_of(const oriel_win *win)
{
	return window_find((uint64_t)(uintptr_t)win);
}

/* Returns the member's rank in the job. */
static int rank_of(const struct window *window, int member)
{
	return member >= 0 && member < window->count ? window->ranks[member] : -1;
}

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

/* Records that a call of a window was refused, if it was. */
static void add_refused(struct place here, const struct window *window, int member, int rc)
{
	uint16_t why = why_refused(rc);

	if (window && why)
		trace_add(here,
		          (struct trace_event){
					  .kind = TRACE_REFUSED, .flags = why, .object = window->key, .rank = rank_of(window, member) });
}

/*
 * Ends a call that was recorded before it was made. If it has failed, it may have done a part: what
 * orders accesses from here on is not known.
 */
static int leave(struct place here, const oriel_win *win, int rc)
{
	if (rc >= 0)
		return rc;
	if (win)
		add_refused(here, window_of(win), -1, rc);
	trace_unknown(here);
	return rc;
}

/* ---- operations ---- */

/* Pieces of one operation: those of the target, then those that are read, then those written. */
struct pieces {
	struct trace_piece few[8];
	struct trace_piece *list;
	size_t count;
	bool too_many;
};

static void make_pieces(struct pieces *pieces, size_t count)
{
	pieces->count = 0;
	pieces->too_many = count > TRACE_PIECES_MAX;
	pieces->list = pieces->few;
	if (count > sizeof(pieces->few) / sizeof(pieces->few[0]) && !pieces->too_many)
		pieces->list = malloc(count * sizeof(*pieces->list));
	pieces->too_many |= !pieces->list;
}

static void add_piece(struct pieces *pieces, uint64_t first, uint64_t bytes)
{
	if (!pieces->too_many)
		pieces->list[pieces->count++] = (struct trace_piece){ first, bytes };
}

static void add_memory(struct pieces *pieces, const void *address, uint64_t bytes)
{
	add_piece(pieces, (uint64_t)(uintptr_t)address, bytes);
}

static uint32_t positive(int count)
{
	return count > 0 ? (uint32_t)count : 0;
}

static void add_origins(struct pieces *pieces, const struct oriel_origin_piece list[], int count)
{
	for (uint32_t i = 0; list && i < positive(count); i++)
		add_memory(pieces, list[i].addr, list[i].size_bytes);
}

static void add_targets(struct pieces *pieces, const struct oriel_target_piece list[], int count)
{
	for (uint32_t i = 0; list && i < positive(count); i++)
		add_piece(pieces, list[i].disp, list[i].size_bytes);
}

static void add_pieces(struct place here, oriel_win *win, int target_rank, struct trace_event event,
                       struct pieces *pieces)
{
	struct window *window = window_of(win);

	if (window) {
		event.kind = TRACE_OPERATION;
		event.object = window->key;
		event.rank = rank_of(window, target_rank);
		if (pieces->too_many)
			event.of.target_pieces = event.of.read_pieces = event.of.written_pieces = 0;
		trace_add_with(here, event, pieces->list, pieces->count);
	}
	if (pieces->list != pieces->few)
		free(pieces->list);
}

/* One piece on each side. NULL: that side has none. */
static void add_plain(struct place here, oriel_win *win, int target_rank, uint64_t target_disp, size_t bytes,
                      const void *read, const void *written, struct trace_event event)
{
	struct window *window = window_of(win);

	if (!window)
		return;
	event.object = window->key;
	event.rank = rank_of(window, target_rank);
	event.of.disp = target_disp;
	trace_plain(here, event, bytes, (uint64_t)(uintptr_t)read, (uint64_t)(uintptr_t)written);
}

static struct trace_event copy_event(enum trace_access access)
{
	return (struct trace_event){ .of = { .access = (uint8_t)access } };
}

static struct trace_event element_event(enum trace_access access, enum oriel_type type, enum oriel_op op)
{
	return (struct trace_event){ .of = { .access = (uint8_t)access, .type = (uint8_t)type, .op = (uint8_t)op } };
}

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_put"), win, target_rank, target_disp, size_bytes, origin, NULL, copy_event(ACCESS_PUT));
	return leave(HERE("oriel_put"), win, next.put(win, origin, size_bytes, target_rank, target_disp));
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_get"), win, target_rank, target_disp, size_bytes, NULL, origin, copy_event(ACCESS_GET));
	return leave(HERE("oriel_get"), win, next.get(win, origin, size_bytes, target_rank, target_disp));
}

static void add_vector(struct place here, oriel_win *win, const struct oriel_origin_piece read[], int read_count,
                       const struct oriel_origin_piece written[], int written_count, int target_rank,
                       const struct oriel_target_piece target[], int target_count, struct trace_event event)
{
	struct pieces pieces;

	make_pieces(&pieces, (size_t)positive(read_count) + positive(written_count) + positive(target_count));
	add_targets(&pieces, target, target_count);
	add_origins(&pieces, read, read_count);
	add_origins(&pieces, written, written_count);
	event.of.target_pieces = positive(target_count);
	event.of.read_pieces = positive(read_count);
	event.of.written_pieces = positive(written_count);
	add_pieces(here, win, target_rank, event, &pieces);
}

int oriel_putv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_putv"), win, origin, origin_count, NULL, 0, target_rank, target, target_count,
	           copy_event(ACCESS_PUT));
	return leave(HERE("oriel_putv"), win, next.putv(win, origin, origin_count, target_rank, target, target_count));
}

int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_getv"), win, NULL, 0, origin, origin_count, target_rank, target, target_count,
	           copy_event(ACCESS_GET));
	return leave(HERE("oriel_getv"), win, next.getv(win, origin, origin_count, target_rank, target, target_count));
}

int oriel_accumulate(oriel_win *win, const void *origin, size_t count, enum oriel_type type, enum oriel_op op,
                     int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_accumulate"), win, target_rank, target_disp, count * oriel_type_bytes(type), origin, NULL,
	          element_event(ACCESS_ACCUMULATE, type, op));
	return leave(HERE("oriel_accumulate"), win,
	             next.accumulate(win, origin, count, type, op, target_rank, target_disp));
}

int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_get_accumulate"), win, target_rank, target_disp, count * oriel_type_bytes(type),
	          op == ORIEL_NO_OP ? NULL : origin, result, element_event(ACCESS_FETCH, type, op));
	return leave(HERE("oriel_get_accumulate"), win,
	             next.get_accumulate(win, origin, result, count, type, op, target_rank, target_disp));
}

int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp)
{
	add_plain(HERE("oriel_fetch_and_op"), win, target_rank, target_disp, oriel_type_bytes(type),
	          op == ORIEL_NO_OP ? NULL : origin, result, element_event(ACCESS_FETCH, type, op));
	return leave(HERE("oriel_fetch_and_op"), win,
	             next.fetch_and_op(win, origin, result, type, op, target_rank, target_disp));
}

int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp)
{
	size_t bytes = oriel_type_bytes(type);
	struct trace_event event = element_event(ACCESS_FETCH, type, 0);
	struct pieces pieces;

	make_pieces(&pieces, 4);
	add_piece(&pieces, target_disp, bytes);
	add_memory(&pieces, origin, bytes);
	add_memory(&pieces, compare, bytes);
	add_memory(&pieces, result, bytes);
	event.of.target_pieces = 1;
	event.of.read_pieces = 2;
	event.of.written_pieces = 1;
	add_pieces(HERE("oriel_compare_and_swap"), win, target_rank, event, &pieces);
	return leave(HERE("oriel_compare_and_swap"), win,
	             next.compare_and_swap(win, origin, compare, result, type, target_rank, target_disp));
}

int oriel_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, enum oriel_type type,
                      enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_accumulatev"), win, origin, origin_count, NULL, 0, target_rank, target, target_count,
	           element_event(ACCESS_ACCUMULATE, type, op));
	return leave(HERE("oriel_accumulatev"), win,
	             next.accumulatev(win, origin, origin_count, type, op, target_rank, target, target_count));
}

int oriel_get_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count,
                          const struct oriel_origin_piece result[], int result_count, enum oriel_type type,
                          enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	add_vector(HERE("oriel_get_accumulatev"), win, origin, op == ORIEL_NO_OP ? 0 : origin_count, result, result_count,
	           target_rank, target, target_count, element_event(ACCESS_FETCH, type, op));
	return leave(HERE("oriel_get_accumulatev"), win,
	             next.get_accumulatev(win, origin, origin_count, result, result_count, type, op, target_rank, target,
	                                  target_count));
}

/* ---- calls of a window ---- */

/* Records an event of the window; member -1: of all members, or of none. */
static void add_call(struct place here, const oriel_win *win, enum trace_kind kind, int member, uint16_t flags,
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

/* Records an event after a call, if it has succeeded. A failed one orders nothing. */
static int leave_with(struct place here, const oriel_win *win, enum trace_kind kind, int member, uint16_t flags, int rc)
{
	if (rc == 0)
		add_call(here, win, kind, member, flags, 0);
	else
		add_refused(here, window_of(win), member, rc);
	return rc;
}

/* Ends a call that was recorded before it was made, and whose end is recorded, too. */
static int leave_ended(struct place here, const oriel_win *win, enum trace_kind kind, int member, int rc)
{
	if (rc == 0)
		add_call(here, win, kind, member, 0, 0);
	return leave(here, win, rc);
}

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

/* Returns the group's ranks in its job, or NULL. The caller frees them. */
static int *ranks_of(const oriel_group *group, int count)
{
	int *own = malloc((size_t)count * sizeof(int)), *ranks = malloc((size_t)count * sizeof(int));
	int rc = own && ranks && world ? 0 : -1;

	for (int i = 0; rc == 0 && i < count; i++)
		own[i] = i;
	if (rc == 0)
		rc = oriel_group_translate(group, count, own, world, ranks);
	free(own);
	if (rc == 0)
		return ranks;
	free(ranks);
	return NULL;
}

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

/* ---- windows ---- */

static void add_name(struct place here, const struct window *window, const char *name)
{
	trace_name(here, (struct trace_event){ .kind = TRACE_WINDOW_NAME, .object = window->key, .rank = -1 }, name);
}

/* This process has a mapping of another member's part. */
static void add_part(struct place here, const struct window *window, int member, const void *base, size_t size_bytes)
{
	if (size_bytes > 0 && base)
		trace_add(here, (struct trace_event){ .kind = TRACE_PART,
		                                      .object = window->key,
		                                      .rank = rank_of(window, member),
		                                      .base = (uint64_t)(uintptr_t)base,
		                                      .size_bytes = size_bytes });
}

/* Other members' parts may be used without a query, since all parts lie behind each other. */
static void add_parts(struct place here, oriel_win *win, const struct window *window, int own)
{
	size_t size_bytes, unit_bytes;
	void *base;

	for (int member = 0; member < window->count; member++) {
		if (member != own && next.win_shared_query(win, member, &base, &size_bytes, &unit_bytes) == 0)
			add_part(here, window, member, base, size_bytes);
	}
}

static void add_window(struct place here, oriel_win *win, const oriel_group *group)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	int count = oriel_group_size(group), *ranks = count > 0 ? ranks_of(group, count) : NULL;
	struct window *window = NULL;
	uint16_t flags;

	if (ranks && oriel_win_query(win, &info) == 0)
		window = window_add((uint64_t)(uintptr_t)win, info.number, ranks, count);
	if (window)
		window->is_oriel = true;
	free(ranks);
	if (!window) {
		trace_unknown(here);
		return;
	}
	flags = (uint16_t)((info.kind == ORIEL_WIN_SHARED ? WINDOW_SHARED : 0) |
	                   (info.kind == ORIEL_WIN_DYNAMIC ? WINDOW_DYNAMIC : 0) |
	                   (info.kind == ORIEL_WIN_CREATED ? WINDOW_CREATED : 0));
	if (flags & WINDOW_CREATED)
		memory_watch(window->key, (uint64_t)(uintptr_t)info.base, info.size_bytes);
	trace_ranks(here,
	            (struct trace_event){ .kind = TRACE_WINDOW,
	                                  .flags = flags,
	                                  .object = window->key,
	                                  .rank = -1,
	                                  .base = (uint64_t)(uintptr_t)info.base,
	                                  .size_bytes = info.size_bytes,
	                                  .unit_bytes = info.disp_unit_bytes },
	            window->ranks, window->count);
	if (info.name[0])
		add_name(here, window, info.name);
	if (loads_are_on && flags & WINDOW_SHARED)
		add_parts(here, win, window, oriel_group_rank(group));
}

static void begin_making(struct place here)
{
	trace_add(here, (struct trace_event){ .kind = TRACE_MEET, .rank = -1 });
}

static int leave_making(struct place here, oriel_win *const *win, const oriel_group *group, int rc)
{
	if (rc == 0 && trace_is_on())
		add_window(here, *win, group);
	return rc;
}

int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win)
{
	begin_making(HERE("oriel_win_create"));
	return leave_making(HERE("oriel_win_create"), win, group,
	                    next.win_create(base, size_bytes, disp_unit_bytes, hints, group, win));
}

int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win)
{
	begin_making(HERE("oriel_win_allocate"));
	return leave_making(HERE("oriel_win_allocate"), win, group,
	                    next.win_allocate(size_bytes, disp_unit_bytes, hints, group, base, win));
}

int oriel_win_allocate_shared(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                              oriel_group *group, void **base, oriel_win **win)
{
	begin_making(HERE("oriel_win_allocate_shared"));
	return leave_making(HERE("oriel_win_allocate_shared"), win, group,
	                    next.win_allocate_shared(size_bytes, disp_unit_bytes, hints, group, base, win));
}

int oriel_win_create_dynamic(const struct oriel_hint hints[], oriel_group *group, oriel_win **win)
{
	begin_making(HERE("oriel_win_create_dynamic"));
	return leave_making(HERE("oriel_win_create_dynamic"), win, group, next.win_create_dynamic(hints, group, win));
}

int oriel_win_shared_query(oriel_win *win, int rank, void **base, size_t *size_bytes, size_t *disp_unit_bytes)
{
	int rc = next.win_shared_query(win, rank, base, size_bytes, disp_unit_bytes);
	const struct window *window = rc == 0 && loads_are_on ? window_of(win) : NULL;

	if (window)
		add_part(HERE("oriel_win_shared_query"), window, rank, *base, *size_bytes);
	return rc;
}

static void add_memory_of(struct place here, const oriel_win *win, enum trace_kind kind, const void *base, size_t bytes)
{
	struct window *window = window_of(win);

	if (window)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
		                                      .object = window->key,
		                                      .rank = -1,
		                                      .base = (uint64_t)(uintptr_t)base,
		                                      .size_bytes = bytes });
}

int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes)
{
	int rc = next.win_attach(win, base, size_bytes);

	if (rc == 0)
		add_memory_of(HERE("oriel_win_attach"), win, TRACE_ATTACH, base, size_bytes);
	return rc;
}

int oriel_win_detach(oriel_win *win, const void *base)
{
	add_memory_of(HERE("oriel_win_detach"), win, TRACE_DETACH, base, 0);
	return next.win_detach(win, base);
}

int oriel_win_free(oriel_win **win)
{
	oriel_win *freed = win ? *win : NULL;
	struct window *window = window_take((uint64_t)(uintptr_t)freed);
	struct trace_event event = { .rank = -1 };
	struct place here = HERE("oriel_win_free");
	int rc;

	if (window) {
		memory_unwatch(window->key);
		event.object = window->key;
		event.kind = TRACE_WINDOW_FREE;
		trace_add(here, event);
		event.kind = TRACE_ENTER;
		event.size_bytes = (uint64_t)window->count;
		trace_add(here, event);
	}
	window_await(here, window,
	             (struct trace_wait){
					 .kind = AWAIT_COLLECTIVE, .flags = AWAIT_FREE, .number = event.id + 1, .rank = -1 });
	rc = awaited(next.win_free(win));
	if (window && rc == 0) {
		event.kind = TRACE_LEAVE;
		trace_add(here, event);
		window_drop(window);
	} else if (window) {
		window_put_back(window);
	}
	return leave(here, freed, rc);
}

int oriel_win_set_name(oriel_win *win, const char *name)
{
	int rc = next.win_set_name(win, name);
	struct window *window = rc == 0 ? window_of(win) : NULL;

	if (window)
		add_name(HERE("oriel_win_set_name"), window, name);
	return rc;
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
