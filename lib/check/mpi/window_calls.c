// SPDX-License-Identifier: BSD-2-Clause
/* window_calls.c - MPI's one-sided calls; see calls.h */
#include <stdlib.h>

#include "check/mpi/collective.h"
#include "check/mpi/types.h"
#include "mpi/type/element.h"

#define CALLS_OF_MPI_3(X)                                                                                             \
	X(Put)                                                                                                            \
	X(Get)                                                                                                            \
	X(Accumulate)                                                                                                     \
	X(Get_accumulate) X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate) X(Fetch_and_op) X(Compare_and_swap)           \
		X(Win_fence) X(Win_post) X(Win_start) X(Win_complete) X(Win_wait) X(Win_test) X(Win_lock) X(Win_unlock)       \
			X(Win_lock_all) X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) \
				X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_free) X(Win_set_name) \
					X(Free_mem)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X)                                                                                           \
	X(Put_c)                                                                                                        \
	X(Get_c)                                                                                                        \
	X(Accumulate_c)                                                                                                 \
	X(Get_accumulate_c) X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c) X(Win_create_c) X(Win_allocate_c) \
		X(Win_allocate_shared_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

static struct window *window_of(MPI_Win win)
{
	return win == MPI_WIN_NULL ? NULL : window_find((uint64_t)(uintptr_t)win);
}

/* Returns the member's rank in MPI_COMM_WORLD. */
static int rank_of(const struct window *window, int member)
{
	return member >= 0 && member < window->count ? window->ranks[member] : -1;
}

/* Begins a call. Returns the window, or NULL: the call is not recorded. */
static struct window *begin(struct place here, MPI_Win win)
{
	struct window *window = call_begin() ? window_of(win) : NULL;

	if (!window)
		return NULL;
	current = (struct current){ here, window->key };
	thread_check(here);
	return window;
}

static uint16_t why_refused(int class)
{
	if (class == MPI_ERR_RMA_SYNC)
		return REFUSED_SYNC;
	if (class == MPI_ERR_RMA_RANGE)
		return REFUSED_RANGE;
	if (class == MPI_ERR_ARG || class == MPI_ERR_RANK || class == MPI_ERR_OP || class == MPI_ERR_TYPE ||
	    class == MPI_ERR_COUNT || class == MPI_ERR_DISP || class == MPI_ERR_RMA_FLAVOR)
		return REFUSED_ARGUMENT;
	return 0;
}

void window_refused(struct place place, uint64_t key, int class)
{
	uint16_t why = why_refused(class);

	if (why)
		trace_add(place, (struct trace_event){ .kind = TRACE_REFUSED, .flags = why, .object = key, .rank = -1 });
}

/* Ends a call of the window with this key, if any. A call that has failed may have done a part. */
static int leave(struct place here, uint64_t key, int rc)
{
	int class = MPI_SUCCESS;

	if (key && rc != MPI_SUCCESS) {
		PMPI_Error_class(rc, &class);
		window_refused(here, key, class);
		trace_unknown(here);
	}
	call_end();
	return rc;
}

static uint64_t key_of(const struct window *window)
{
	return window ? window->key : 0;
}

/* ---- operations ---- */

struct operation {
	MPI_Win win;
	int rank;
	MPI_Aint disp;
	enum trace_access access;
	struct side target, read, written; /* count 0: nothing */
	struct side compared;
	enum oriel_op op;
	uint64_t key; /* 0: it is not recorded */
	uint64_t request;
};

/* Returns whether each side has one piece at most, of as many bytes as the target's. */
static bool is_plain(const struct trace_event *event, const struct type_pieces *pieces)
{
	if (event->of.request || event->of.target_pieces != 1 || event->of.read_pieces > 1 ||
	    event->of.written_pieces > 1 || pieces->list[0].first != 0)
		return false;
	for (size_t i = 1; i < pieces->count; i++) {
		if (pieces->list[i].bytes != pieces->list[0].bytes || pieces->list[i].first == 0)
			return false;
	}
	return true;
}

static void add_plain(struct place here, struct trace_event event, const struct type_pieces *pieces)
{
	const struct trace_piece *list = pieces->list;
	uint32_t written_at = 1 + event.of.read_pieces;

	trace_plain(here, event, list[0].bytes, event.of.read_pieces ? list[1].first : 0,
	            event.of.written_pieces ? list[written_at].first : 0);
}

static void add_operation(struct place here, const struct operation *operation, const struct window *window)
{
	struct trace_event event = { .kind = TRACE_OPERATION,
		                         .flags = OPERATION_OFFSETS,
		                         .object = window->key,
		                         .rank = rank_of(window, operation->rank),
		                         .of = { .request = operation->request,
		                                 .access = (uint8_t)operation->access,
		                                 .op = (uint8_t)operation->op,
		                                 .disp = (uint64_t)operation->disp } };
	struct type_pieces pieces;

	if (event.rank < 0)
		return;
	if (operation->access == ACCESS_ACCUMULATE || operation->access == ACCESS_FETCH)
		event.of.type = type_element(operation->target.type);
	pieces_begin(&pieces);
	event.of.target_pieces = pieces_add_side(&pieces, &operation->target);
	if (operation->op != ORIEL_NO_OP)
		event.of.read_pieces = pieces_add_side(&pieces, &operation->read) + pieces_add_side(&pieces, &operation->compared);
	event.of.written_pieces = pieces_add_side(&pieces, &operation->written);
	if (pieces.too_many)
		event.of.target_pieces = event.of.read_pieces = event.of.written_pieces = 0;
	if (is_plain(&event, &pieces))
		add_plain(here, event, &pieces);
	else if (pieces.count || pieces.too_many)
		trace_add_with(here, event, pieces.list, pieces.count);
	pieces_end(&pieces);
}

/* What the operations of a kind access. `own` is the origin's memory. */

static struct operation put_of(MPI_Win win, int rank, MPI_Aint disp, struct side target, struct side own)
{
	return (struct operation){ win, rank, disp, ACCESS_PUT, .target = target, .read = own };
}

static struct operation get_of(MPI_Win win, int rank, MPI_Aint disp, struct side target, struct side own)
{
	return (struct operation){ win, rank, disp, ACCESS_GET, .target = target, .written = own };
}

static struct operation accumulate_of(MPI_Win win, int rank, MPI_Aint disp, struct side target, struct side own,
                                      MPI_Op op)
{
	return (
		struct operation){ win, rank, disp, ACCESS_ACCUMULATE, .target = target, .read = own, .op = element_op(op) };
}

static struct operation fetch_of(MPI_Win win, int rank, MPI_Aint disp, struct side target, struct side own,
                                 struct side result, MPI_Op op)
{
	return (struct operation){
		win, rank, disp, ACCESS_FETCH, .target = target, .read = own, .written = result, .op = element_op(op)
	};
}

/* Begins an operation. If it has a request, that says when it is over for the origin. */
static void operation_begin(struct place here, struct operation *operation, bool has_request)
{
	static uint64_t requests;
	const struct window *window = begin(here, operation->win);

	if (!window || operation->rank == MPI_PROC_NULL)
		return;
	operation->key = window->key;
	if (has_request)
		operation->request = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
	add_operation(here, operation, window);
}

static int operation_end(struct place here, const struct operation *operation, const MPI_Request *request, int rc)
{
	if (operation->key && operation->request && rc == MPI_SUCCESS)
		request_add(*request, (struct request){ .is_active = true,
		                                        .place = here,
		                                        .event = { .kind = TRACE_REQUEST_DONE,
		                                                   .object = operation->key,
		                                                   .rank = -1,
		                                                   .id = operation->request } });
	return leave(here, operation->key, rc);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct operation operation = put_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Put"), &operation, false);
	return operation_end(HERE("MPI_Put"), &operation, NULL,
	                     next.Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                              target_datatype, win));
}
TAKEN(Put);

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct operation operation = get_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Get"), &operation, false);
	return operation_end(HERE("MPI_Get"), &operation, NULL,
	                     next.Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                              target_datatype, win));
}
TAKEN(Get);

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct operation operation =
		accumulate_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                  side_of(origin_addr, origin_count, origin_datatype), op);

	operation_begin(HERE("MPI_Accumulate"), &operation, false);
	return operation_end(HERE("MPI_Accumulate"), &operation, NULL,
	                     next.Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                     target_count, target_datatype, op, win));
}
TAKEN(Accumulate);

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct operation operation = fetch_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                      side_of(origin_addr, origin_count, origin_datatype),
	                                      side_of(result_addr, result_count, result_datatype), op);

	operation_begin(HERE("MPI_Get_accumulate"), &operation, false);
	return operation_end(HERE("MPI_Get_accumulate"), &operation, NULL,
	                     next.Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
	                                         result_datatype, target_rank, target_disp, target_count, target_datatype,
	                                         op, win));
}
TAKEN(Get_accumulate);

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct operation operation = put_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Rput"), &operation, true);
	return operation_end(HERE("MPI_Rput"), &operation, request,
	                     next.Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                               target_datatype, win, request));
}
TAKEN(Rput);

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct operation operation = get_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Rget"), &operation, true);
	return operation_end(HERE("MPI_Rget"), &operation, request,
	                     next.Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                               target_datatype, win, request));
}
TAKEN(Rget);

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
	struct operation operation =
		accumulate_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                  side_of(origin_addr, origin_count, origin_datatype), op);

	operation_begin(HERE("MPI_Raccumulate"), &operation, true);
	return operation_end(HERE("MPI_Raccumulate"), &operation, request,
	                     next.Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                      target_count, target_datatype, op, win, request));
}
TAKEN(Raccumulate);

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	struct operation operation = fetch_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                      side_of(origin_addr, origin_count, origin_datatype),
	                                      side_of(result_addr, result_count, result_datatype), op);

	operation_begin(HERE("MPI_Rget_accumulate"), &operation, true);
	return operation_end(HERE("MPI_Rget_accumulate"), &operation, request,
	                     next.Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
	                                          result_datatype, target_rank, target_disp, target_count, target_datatype,
	                                          op, win, request));
}
TAKEN(Rget_accumulate);

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	struct operation operation = fetch_of(win, target_rank, target_disp, side_of(NULL, 1, datatype),
	                                      side_of(origin_addr, 1, datatype), side_of(result_addr, 1, datatype), op);

	operation_begin(HERE("MPI_Fetch_and_op"), &operation, false);
	return operation_end(HERE("MPI_Fetch_and_op"), &operation, NULL,
	                     next.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win));
}
TAKEN(Fetch_and_op);

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	struct operation operation = { .win = win, .rank = target_rank, .disp = target_disp, .access = ACCESS_FETCH };

	operation.target = side_of(NULL, 1, datatype);
	operation.read = side_of(origin_addr, 1, datatype);
	operation.compared = side_of(compare_addr, 1, datatype);
	operation.written = side_of(result_addr, 1, datatype);
	operation_begin(HERE("MPI_Compare_and_swap"), &operation, false);
	return operation_end(HERE("MPI_Compare_and_swap"), &operation, NULL,
	                     next.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
	                                           target_disp, win));
}
TAKEN(Compare_and_swap);

/* ---- epochs ---- */

/* Records an event of the window; member -1: of all members, or of none. */
static void add_call(struct place here, const struct window *window, enum trace_kind kind, int member, uint16_t flags)
{
	if (window)
		trace_add(here, (struct trace_event){ .kind = kind,
		                                      .flags = flags,
		                                      .object = window->key,
		                                      .rank = member < 0 ? -1 : rank_of(window, member) });
}

/* Begins a call, and records an event before it is made; kind 0: none. */
static const struct window *enter(struct place here, MPI_Win win, enum trace_kind kind, int member)
{
	const struct window *window = begin(here, win);

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
	return leave(here, key_of(window), rc);
}

static uint16_t fence_flags(int assertions)
{
	return (uint16_t)((assertions & MPI_MODE_NOPRECEDE ? FENCE_NOPRECEDE : 0) |
	                  (assertions & MPI_MODE_NOSUCCEED ? FENCE_NOSUCCEED : 0) |
	                  (assertions & MPI_MODE_NOPUT ? FENCE_NOPUT : 0));
}

int MPI_Win_fence(int assertions, MPI_Win win)
{
	struct window *window = begin(HERE("MPI_Win_fence"), win);
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
	return leave(HERE("MPI_Win_fence"), key_of(window), rc);
}
TAKEN(Win_fence);

/* Records an event of the window for each rank of the group, and one for none if it is empty. */
static const struct window *enter_group(struct place here, MPI_Win win, enum trace_kind kind, uint16_t flags,
                                        MPI_Group group)
{
	const struct window *window = begin(here, win);
	int count = 0, *ranks = window ? comm_ranks_of(group, &count) : NULL;

	if (window && !ranks)
		trace_unknown(here);
	if (ranks && count == 0)
		add_call(here, window, kind, -1, 0);
	for (int i = 0; ranks && i < count; i++)
		trace_add(here, (struct trace_event){
							.kind = kind, .flags = flags, .object = window->key, .rank = ranks[i], .id = (uint64_t)i });
	free(ranks);
	return window;
}

int MPI_Win_post(MPI_Group group, int assertions, MPI_Win win)
{
	const struct window *window =
		enter_group(HERE("MPI_Win_post"), win, TRACE_POST, assertions & MPI_MODE_NOPUT ? POST_NOPUT : 0, group);

	return leave(HERE("MPI_Win_post"), key_of(window), next.Win_post(group, assertions, win));
}
TAKEN(Win_post);

int MPI_Win_start(MPI_Group group, int assertions, MPI_Win win)
{
	const struct window *window =
		enter_group(HERE("MPI_Win_start"), win, TRACE_START, assertions & MPI_MODE_NOCHECK ? START_NOCHECK : 0, group);

	return leave(HERE("MPI_Win_start"), key_of(window), next.Win_start(group, assertions, win));
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
		                       .rank = window ? rank_of(window, rank) : -1 };
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

/* ---- windows ---- */

static void add_name(struct place here, const struct window *window, const char *name)
{
	trace_name(here, (struct trace_event){ .kind = TRACE_WINDOW_NAME, .object = window->key, .rank = -1 }, name);
}

static bool has_key(MPI_Info info, const char *key)
{
	int length, found = 0;

	return PMPI_Info_get_valuelen(info, key, &length, &found) == MPI_SUCCESS && found;
}

/* Returns whether the layer has made the window. The MPI may have, whose locks need not wait. */
static bool is_oriel(MPI_Win win)
{
	MPI_Info info;
	bool found;

	if (PMPI_Win_get_info(win, &info) != MPI_SUCCESS)
		return false;
	found = has_key(info, "share") && has_key(info, "accumulate_ordering") && has_key(info, "accumulate_ops") &&
	        has_key(info, "mpi_accumulate_granularity");
	PMPI_Info_free(&info);
	return found;
}

/* A window's creation is a collective call, too. */
static struct collective begin_making(struct place here, MPI_Comm comm)
{
	struct collective making = collective_begin(here, comm, FLOW_ALL, 0);

	if (making.is_recorded)
		trace_add(here, (struct trace_event){ .kind = TRACE_MEET, .rank = -1 });
	return making;
}

static int end_making(struct collective *making, MPI_Comm handle, const MPI_Win *win, struct trace_event event, int rc)
{
	const struct comm *comm = making->is_recorded && rc == MPI_SUCCESS ? comm_find(handle) : NULL;
	struct window *window = NULL;

	if (comm)
		window = window_add((uint64_t)(uintptr_t)*win, hash_mix(comm->id, making->leave.id), comm->ranks, comm->size);
	if (window && event.flags & WINDOW_CREATED)
		memory_watch(window->key, event.base, event.size_bytes);
	if (window) {
		window->is_oriel = is_oriel(*win);
		event.kind = TRACE_WINDOW;
		event.flags |= WINDOW_OF_MPI;
		event.object = window->key;
		event.rank = -1;
		trace_ranks(making->place, event, window->ranks, window->count);
	} else if (making->is_recorded) {
		trace_unknown(making->place);
	}
	return collective_end(making, rc);
}

static struct trace_event part_of(const void *base, MPI_Aint size, MPI_Aint unit, uint16_t flags)
{
	return (struct trace_event){
		.flags = flags, .base = (uint64_t)(uintptr_t)base, .size_bytes = (uint64_t)size, .unit_bytes = (uint64_t)unit
	};
}

/* The MPI stores the address of its memory there, if the call succeeds. */
static struct trace_event allocated_part(void *base, MPI_Aint size, MPI_Aint unit, uint16_t flags, int rc)
{
	void *memory = NULL;

	if (rc == MPI_SUCCESS)
		memcpy(&memory, base, sizeof(memory));
	return part_of(memory, size, unit, flags);
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_create"), comm);

	return end_making(&making, comm, win, part_of(base, size, disp_unit, WINDOW_CREATED),
	                  next.Win_create(base, size, disp_unit, info, comm, win));
}
TAKEN(Win_create);

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_allocate"), comm);
	int rc = next.Win_allocate(size, disp_unit, info, comm, baseptr, win);

	return end_making(&making, comm, win, allocated_part(baseptr, size, disp_unit, 0, rc), rc);
}
TAKEN(Win_allocate);

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_allocate_shared"), comm);
	int rc = next.Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);

	return end_making(&making, comm, win, allocated_part(baseptr, size, disp_unit, WINDOW_SHARED, rc), rc);
}
TAKEN(Win_allocate_shared);

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_create_dynamic"), comm);

	return end_making(&making, comm, win, part_of(NULL, 0, 1, WINDOW_DYNAMIC),
	                  next.Win_create_dynamic(info, comm, win));
}
TAKEN(Win_create_dynamic);

/* A program may free windows in MPI_Finalize, when the attributes of MPI_COMM_SELF are deleted. */
int MPI_Win_free(MPI_Win *win)
{
	MPI_Win freed = *win;
	bool is_own = call_begin();
	struct window *window = freed == MPI_WIN_NULL ? NULL : window_take((uint64_t)(uintptr_t)freed);
	struct trace_event event = { .kind = TRACE_WINDOW_FREE, .rank = -1 };
	int rc;

	if (window) {
		memory_unwatch(window->key);
		event.object = window->key;
		event.size_bytes = (uint64_t)window->count;
		trace_add(HERE("MPI_Win_free"), event);
		event.kind = TRACE_ENTER;
	}
	if (window && is_own) {
		current = (struct current){ HERE("MPI_Win_free"), window->key };
		trace_add(HERE("MPI_Win_free"), event);
	}
	window_await(HERE("MPI_Win_free"), is_own ? window : NULL,
	             (struct trace_wait){
					 .kind = AWAIT_COLLECTIVE, .flags = AWAIT_FREE, .number = event.id + 1, .rank = -1 });
	rc = awaited(next.Win_free(win));
	event.kind = TRACE_LEAVE;
	if (window && is_own && rc == MPI_SUCCESS)
		trace_add(HERE("MPI_Win_free"), event);
	if (window && rc == MPI_SUCCESS)
		window_drop(window);
	else if (window)
		window_put_back(window);
	return leave(HERE("MPI_Win_free"), is_own ? event.object : 0, rc);
}
TAKEN(Win_free);

int MPI_Free_mem(void *base)
{
	int rc;

	if (call_begin() && base)
		memory_freed(HERE("MPI_Free_mem"), (uint64_t)(uintptr_t)base, 0);
	rc = next.Free_mem(base);
	call_end();
	return rc;
}
TAKEN(Free_mem);

int MPI_Win_set_name(MPI_Win win, const char *name)
{
	const struct window *window = call_begin() ? window_of(win) : NULL;
	int rc = next.Win_set_name(win, name);

	if (window && rc == MPI_SUCCESS)
		add_name(HERE("MPI_Win_set_name"), window, name);
	call_end();
	return rc;
}
TAKEN(Win_set_name);

#if MPI_VERSION >= 4

/* ---- forms for large counts ---- */

int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct operation operation = put_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Put_c"), &operation, false);
	return operation_end(HERE("MPI_Put_c"), &operation, NULL,
	                     next.Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                                target_datatype, win));
}
TAKEN(Put_c);

int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct operation operation = get_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Get_c"), &operation, false);
	return operation_end(HERE("MPI_Get_c"), &operation, NULL,
	                     next.Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                                target_datatype, win));
}
TAKEN(Get_c);

int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct operation operation =
		accumulate_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                  side_of(origin_addr, origin_count, origin_datatype), op);

	operation_begin(HERE("MPI_Accumulate_c"), &operation, false);
	return operation_end(HERE("MPI_Accumulate_c"), &operation, NULL,
	                     next.Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                       target_count, target_datatype, op, win));
}
TAKEN(Accumulate_c);

int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
	struct operation operation = fetch_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                      side_of(origin_addr, origin_count, origin_datatype),
	                                      side_of(result_addr, result_count, result_datatype), op);

	operation_begin(HERE("MPI_Get_accumulate_c"), &operation, false);
	return operation_end(HERE("MPI_Get_accumulate_c"), &operation, NULL,
	                     next.Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
	                                           result_datatype, target_rank, target_disp, target_count, target_datatype,
	                                           op, win));
}
TAKEN(Get_accumulate_c);

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	struct operation operation = put_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Rput_c"), &operation, true);
	return operation_end(HERE("MPI_Rput_c"), &operation, request,
	                     next.Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                                 target_datatype, win, request));
}
TAKEN(Rput_c);

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	struct operation operation = get_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                    side_of(origin_addr, origin_count, origin_datatype));

	operation_begin(HERE("MPI_Rget_c"), &operation, true);
	return operation_end(HERE("MPI_Rget_c"), &operation, request,
	                     next.Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                                 target_datatype, win, request));
}
TAKEN(Rget_c);

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request *request)
{
	struct operation operation =
		accumulate_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                  side_of(origin_addr, origin_count, origin_datatype), op);

	operation_begin(HERE("MPI_Raccumulate_c"), &operation, true);
	return operation_end(HERE("MPI_Raccumulate_c"), &operation, request,
	                     next.Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                        target_count, target_datatype, op, win, request));
}
TAKEN(Raccumulate_c);

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
	struct operation operation = fetch_of(win, target_rank, target_disp, side_of(NULL, target_count, target_datatype),
	                                      side_of(origin_addr, origin_count, origin_datatype),
	                                      side_of(result_addr, result_count, result_datatype), op);

	operation_begin(HERE("MPI_Rget_accumulate_c"), &operation, true);
	return operation_end(HERE("MPI_Rget_accumulate_c"), &operation, request,
	                     next.Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
	                                            result_datatype, target_rank, target_disp, target_count,
	                                            target_datatype, op, win, request));
}
TAKEN(Rget_accumulate_c);

int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_create_c"), comm);

	return end_making(&making, comm, win, part_of(base, size, disp_unit, WINDOW_CREATED),
	                  next.Win_create_c(base, size, disp_unit, info, comm, win));
}
TAKEN(Win_create_c);

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_allocate_c"), comm);
	int rc = next.Win_allocate_c(size, disp_unit, info, comm, baseptr, win);

	return end_making(&making, comm, win, allocated_part(baseptr, size, disp_unit, 0, rc), rc);
}
TAKEN(Win_allocate_c);

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                              MPI_Win *win)
{
	struct collective making = begin_making(HERE("MPI_Win_allocate_shared_c"), comm);
	int rc = next.Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);

	return end_making(&making, comm, win, allocated_part(baseptr, size, disp_unit, WINDOW_SHARED, rc), rc);
}
TAKEN(Win_allocate_shared_c);

#endif
