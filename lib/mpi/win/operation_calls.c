// SPDX-License-Identifier: BSD-2-Clause
/*
 * operation_calls.c - MPI's calls of operations; see operation.h
 *
 * DESIGN NOTES
 *
 * Put, get, accumulate and get_accumulate have a fast path and a general path. The fast path is
 * MPI_X itself. It takes a plain call that matches the thread's call cache (call_cache.h), without
 * any look-up. The general path is X_any. It looks up the window and the datatype, and fills the
 * cache if the call is plain. X_any is a function of its own with the parameters of MPI_X, so that
 * MPI_X ends with a jump to it. Inlined, it would make MPI_X save six registers that the fast path
 * does not need: MPI_Put had 57 instructions instead of 33 (gcc 12, x86-64).
 *
 * Parameters have the names and the order of the standard. The forms for large counts (_c) differ
 * from the others in the type of the counts, and in the MPI's own function, which they call if the
 * window is the MPI's own. The functions that all forms share take counts of type MPI_Count.
 */
#include <stdint.h>

#include "mpi/job/real_mpi.h"
#include "mpi/win/call_cache.h"
#include "mpi/win/error.h"
#include "mpi/win/operation.h"

/* copy_cache is for put and get, accumulate_cache for accumulate and get_accumulate. */
static _Thread_local struct call_cache copy_cache __attribute__((tls_model("initial-exec")));
static _Thread_local struct call_cache accumulate_cache __attribute__((tls_model("initial-exec")));

/* Put and get share code. The origin of a put is const: it is not written to. */
static inline void *writable(const void *addr)
{
	return (void *)(uintptr_t)addr;
}

/* ---- operations as operation_do takes them ---- */

static inline struct operation copy_operation(enum operation_kind kind, const void *origin_addr, MPI_Count origin_count,
                                              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                              MPI_Count target_count, MPI_Datatype target_datatype,
                                              const struct window *window)
{
	return (struct operation){
		.kind = kind,
		.window = window,
		.rank = target_rank,
		.disp = target_disp,
		.origin = { writable(origin_addr), origin_count, origin_datatype, NULL },
		.target = { NULL, target_count, target_datatype, NULL },
	};
}

static inline struct operation accumulate_operation(const void *origin_addr, MPI_Count origin_count,
                                                    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                                    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                                                    const struct window *window)
{
	return (struct operation){
		.kind = OPERATION_ACCUMULATE,
		.window = window,
		.rank = target_rank,
		.disp = target_disp,
		.origin = { writable(origin_addr), origin_count, origin_datatype, NULL },
		.target = { NULL, target_count, target_datatype, NULL },
		.op = op,
	};
}

static inline struct operation get_accumulate_operation(const void *origin_addr, MPI_Count origin_count,
                                                        MPI_Datatype origin_datatype, void *result_addr,
                                                        MPI_Count result_count, MPI_Datatype result_datatype,
                                                        int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                                        MPI_Datatype target_datatype, MPI_Op op,
                                                        const struct window *window)
{
	return (struct operation){
		.kind = OPERATION_GET_ACCUMULATE,
		.window = window,
		.rank = target_rank,
		.disp = target_disp,
		.origin = { writable(origin_addr), origin_count, origin_datatype, NULL },
		.result = { result_addr, result_count, result_datatype, NULL },
		.target = { NULL, target_count, target_datatype, NULL },
		.op = op,
	};
}

/* ---- Oriel's calls for a plain operation, whose window and datatype are in the cache ---- */

static inline int result_of(const struct call_cache *cache, int rc)
{
	return rc ? error_of_oriel_on(cache->handle, rc) : MPI_SUCCESS;
}

static inline int cached_copy(enum operation_kind kind, const void *origin_addr, MPI_Count count, int target_rank,
                              size_t offset)
{
	const size_t size_bytes = (size_t)count * copy_cache.each;

	if (kind == OPERATION_GET)
		return result_of(&copy_cache,
		                 oriel_get(copy_cache.win, writable(origin_addr), size_bytes, target_rank, offset));
	return result_of(&copy_cache, oriel_put(copy_cache.win, origin_addr, size_bytes, target_rank, offset));
}

static inline int cached_accumulate(const void *origin_addr, MPI_Count count, int target_rank, size_t offset)
{
	const struct call_cache *cache = &accumulate_cache;

	return result_of(cache, oriel_accumulate(cache->win, origin_addr, (size_t)count * cache->each, cache->element,
	                                         cache->oriel_op, target_rank, offset));
}

static inline int cached_get_accumulate(const void *origin_addr, void *result_addr, MPI_Count count, int target_rank,
                                        size_t offset)
{
	const struct call_cache *cache = &accumulate_cache;

	return result_of(cache, oriel_get_accumulate(cache->win, origin_addr, result_addr, (size_t)count * cache->each,
	                                             cache->element, cache->oriel_op, target_rank, offset));
}

static inline size_t cached_offset(const struct call_cache *cache, MPI_Aint target_disp)
{
	return window_bytes(target_disp, cache->unit);
}

/* ---- the general path, when the window has been found ---- */

static inline int copy(enum operation_kind kind, const void *origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, const struct window *window)
{
	const struct datatype *known = plain_datatype(window, datatype_known(origin_datatype), origin_count,
	                                              origin_datatype, target_rank, target_count, target_datatype);

	if (!known) {
		struct operation operation = copy_operation(kind, origin_addr, origin_count, origin_datatype, target_rank,
		                                            target_disp, target_count, target_datatype, window);

		return operation_do(&operation);
	}
	call_cache_fill(&copy_cache, window, origin_datatype, known->size_bytes);
	return cached_copy(kind, origin_addr, origin_count, target_rank, window_offset(window, target_rank, target_disp));
}

/*
 * Fills the cache for a plain accumulate; false: Oriel lacks its elements or its operation. `known`
 * is the datatype of a plain operation, or NULL.
 */
static inline bool cache_accumulate(const struct window *window, MPI_Datatype datatype, const struct datatype *known,
                                    MPI_Op op)
{
	const enum oriel_op oriel_op = element_op(op);

	if (!known || known->free_element == ELEMENT_NONE || !oriel_op || oriel_op == ORIEL_NO_OP)
		return false;
	call_cache_fill(&accumulate_cache, window, datatype, known->element_count);
	accumulate_cache.op = op;
	accumulate_cache.oriel_op = oriel_op;
	accumulate_cache.element = known->element;
	return true;
}

static inline int accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                             MPI_Datatype target_datatype, MPI_Op op, const struct window *window)
{
	const struct datatype *known = plain_datatype(window, datatype_known(origin_datatype), origin_count,
	                                              origin_datatype, target_rank, target_count, target_datatype);

	if (!cache_accumulate(window, origin_datatype, known, op)) {
		struct operation operation = accumulate_operation(origin_addr, origin_count, origin_datatype, target_rank,
		                                                  target_disp, target_count, target_datatype, op, window);

		return operation_do(&operation);
	}
	return cached_accumulate(origin_addr, origin_count, target_rank, window_offset(window, target_rank, target_disp));
}

static inline int get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                 void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                                 int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, MPI_Op op, const struct window *window)
{
	const struct datatype *known = plain_datatype(window, datatype_known(origin_datatype), origin_count,
	                                              origin_datatype, target_rank, target_count, target_datatype);

	if (!cache_accumulate(window, origin_datatype, known, op) || result_datatype != origin_datatype ||
	    result_count != origin_count) {
		struct operation operation = get_accumulate_operation(origin_addr, origin_count, origin_datatype, result_addr,
		                                                      result_count, result_datatype, target_rank, target_disp,
		                                                      target_count, target_datatype, op, window);

		return operation_do(&operation);
	}
	return cached_get_accumulate(origin_addr, result_addr, origin_count, target_rank,
	                             window_offset(window, target_rank, target_disp));
}

/* Carries out an operation and makes its request. */
static int start(struct operation *operation, MPI_Request *request)
{
	int rc = operation_do(operation);

	if (window_is_active(operation->window))
		request_tell_active();
	return rc ? rc : request_make(operation->window, operation->rank, request);
}

/* ---- the calls ---- */

static __attribute__((noinline)) int put_any(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                             int target_rank, MPI_Aint target_disp, int target_count,
                                             MPI_Datatype target_datatype, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                    target_datatype, win);
	return copy(OPERATION_PUT, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	            target_datatype, window);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (call_cache_matches(&copy_cache, win, origin_count, origin_datatype, target_rank, target_count, target_datatype))
		return cached_copy(OPERATION_PUT, origin_addr, origin_count, target_rank,
		                   cached_offset(&copy_cache, target_disp));
	return put_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
	               win);
}
TAKEN(Put);

static __attribute__((noinline)) int get_any(void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                             int target_rank, MPI_Aint target_disp, int target_count,
                                             MPI_Datatype target_datatype, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                    target_datatype, win);
	return copy(OPERATION_GET, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	            target_datatype, window);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (call_cache_matches(&copy_cache, win, origin_count, origin_datatype, target_rank, target_count, target_datatype))
		return cached_copy(OPERATION_GET, origin_addr, origin_count, target_rank,
		                   cached_offset(&copy_cache, target_disp));
	return get_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
	               win);
}
TAKEN(Get);

static __attribute__((noinline)) int accumulate_any(const void *origin_addr, int origin_count,
                                                    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                                    int target_count, MPI_Datatype target_datatype, MPI_Op op,
                                                    MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                           target_datatype, op, win);
	return accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                  target_datatype, op, window);
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (call_cache_matches(&accumulate_cache, win, origin_count, origin_datatype, target_rank, target_count,
	                       target_datatype) &&
	    accumulate_cache.op == op)
		return cached_accumulate(origin_addr, origin_count, target_rank, cached_offset(&accumulate_cache, target_disp));
	return accumulate_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                      target_datatype, op, win);
}
TAKEN(Accumulate);

static __attribute__((noinline)) int get_accumulate_any(const void *origin_addr, int origin_count,
                                                        MPI_Datatype origin_datatype, void *result_addr,
                                                        int result_count, MPI_Datatype result_datatype, int target_rank,
                                                        MPI_Aint target_disp, int target_count,
                                                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
		                               result_datatype, target_rank, target_disp, target_count, target_datatype, op,
		                               win);
	return get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
	                      target_rank, target_disp, target_count, target_datatype, op, window);
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (call_cache_matches(&accumulate_cache, win, origin_count, origin_datatype, target_rank, target_count,
	                       target_datatype) &&
	    accumulate_cache.op == op && result_datatype == origin_datatype && result_count == origin_count)
		return cached_get_accumulate(origin_addr, result_addr, origin_count, target_rank,
		                             cached_offset(&accumulate_cache, target_disp));
	return get_accumulate_any(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
	                          target_rank, target_disp, target_count, target_datatype, op, win);
}
TAKEN(Get_accumulate);

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_PUT, origin_addr, origin_count, origin_datatype, target_rank,
	                                            target_disp, target_count, target_datatype, window);

	if (!window)
		return real_mpi.Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                     target_datatype, win, request);
	return start(&operation, request);
}
TAKEN(Rput);

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_GET, origin_addr, origin_count, origin_datatype, target_rank,
	                                            target_disp, target_count, target_datatype, window);

	if (!window)
		return real_mpi.Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                     target_datatype, win, request);
	return start(&operation, request);
}
TAKEN(Rget);

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = accumulate_operation(origin_addr, origin_count, origin_datatype, target_rank,
	                                                  target_disp, target_count, target_datatype, op, window);

	if (!window)
		return real_mpi.Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                            target_datatype, op, win, request);
	return start(&operation, request);
}
TAKEN(Raccumulate);

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation =
		get_accumulate_operation(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
	                             target_rank, target_disp, target_count, target_datatype, op, window);

	if (!window)
		return real_mpi.Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
		                                result_datatype, target_rank, target_disp, target_count, target_datatype, op,
		                                win, request);
	return start(&operation, request);
}
TAKEN(Rget_accumulate);

/* ---- the forms for large counts ---- */
#if MPI_VERSION >= 4

static __attribute__((noinline)) int put_c_any(const void *origin_addr, MPI_Count origin_count,
                                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                               MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                      target_datatype, win);
	return copy(OPERATION_PUT, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	            target_datatype, window);
}

int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (call_cache_matches(&copy_cache, win, origin_count, origin_datatype, target_rank, target_count, target_datatype))
		return cached_copy(OPERATION_PUT, origin_addr, origin_count, target_rank,
		                   cached_offset(&copy_cache, target_disp));
	return put_c_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                 target_datatype, win);
}
TAKEN(Put_c);

static __attribute__((noinline)) int get_c_any(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                               MPI_Datatype target_datatype, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                      target_datatype, win);
	return copy(OPERATION_GET, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	            target_datatype, window);
}

int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (call_cache_matches(&copy_cache, win, origin_count, origin_datatype, target_rank, target_count, target_datatype))
		return cached_copy(OPERATION_GET, origin_addr, origin_count, target_rank,
		                   cached_offset(&copy_cache, target_disp));
	return get_c_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                 target_datatype, win);
}
TAKEN(Get_c);

static __attribute__((noinline)) int accumulate_c_any(const void *origin_addr, MPI_Count origin_count,
                                                      MPI_Datatype origin_datatype, int target_rank,
                                                      MPI_Aint target_disp, MPI_Count target_count,
                                                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                             target_datatype, op, win);
	return accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                  target_datatype, op, window);
}

int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (call_cache_matches(&accumulate_cache, win, origin_count, origin_datatype, target_rank, target_count,
	                       target_datatype) &&
	    accumulate_cache.op == op)
		return cached_accumulate(origin_addr, origin_count, target_rank, cached_offset(&accumulate_cache, target_disp));
	return accumulate_c_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
	                        target_datatype, op, win);
}
TAKEN(Accumulate_c);

static __attribute__((noinline)) int get_accumulate_c_any(const void *origin_addr, MPI_Count origin_count,
                                                          MPI_Datatype origin_datatype, void *result_addr,
                                                          MPI_Count result_count, MPI_Datatype result_datatype,
                                                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return real_mpi.Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
		                                 result_datatype, target_rank, target_disp, target_count, target_datatype, op,
		                                 win);
	return get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
	                      target_rank, target_disp, target_count, target_datatype, op, window);
}

int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
	if (call_cache_matches(&accumulate_cache, win, origin_count, origin_datatype, target_rank, target_count,
	                       target_datatype) &&
	    accumulate_cache.op == op && result_datatype == origin_datatype && result_count == origin_count)
		return cached_get_accumulate(origin_addr, result_addr, origin_count, target_rank,
		                             cached_offset(&accumulate_cache, target_disp));
	return get_accumulate_c_any(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
	                            target_rank, target_disp, target_count, target_datatype, op, win);
}
TAKEN(Get_accumulate_c);

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_PUT, origin_addr, origin_count, origin_datatype, target_rank,
	                                            target_disp, target_count, target_datatype, window);

	if (!window)
		return real_mpi.Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                       target_datatype, win, request);
	return start(&operation, request);
}
TAKEN(Rput_c);

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_GET, origin_addr, origin_count, origin_datatype, target_rank,
	                                            target_disp, target_count, target_datatype, window);

	if (!window)
		return real_mpi.Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                       target_datatype, win, request);
	return start(&operation, request);
}
TAKEN(Rget_c);

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = accumulate_operation(origin_addr, origin_count, origin_datatype, target_rank,
	                                                  target_disp, target_count, target_datatype, op, window);

	if (!window)
		return real_mpi.Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
		                              target_count, target_datatype, op, win, request);
	return start(&operation, request);
}
TAKEN(Raccumulate_c);

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation =
		get_accumulate_operation(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
	                             target_rank, target_disp, target_count, target_datatype, op, window);

	if (!window)
		return real_mpi.Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
		                                  result_datatype, target_rank, target_disp, target_count, target_datatype, op,
		                                  win, request);
	return start(&operation, request);
}
TAKEN(Rget_accumulate_c);

#endif

/* ---- operations of one element ---- */

/* Returns NULL if the datatype has not been used so far, or the rank is wrong. */
static inline const struct datatype *plain_element(const struct window *window, MPI_Datatype type, int rank)
{
	const struct datatype *known = datatype_known(type);

	return known && rank >= 0 && rank < window->rank_count ? known : NULL;
}

static int refuse_element(const struct window *window, const char *call)
{
	return error_on_window(window, MPI_ERR_TYPE, call, "the datatype is no predefined one of those that the call takes");
}

static __attribute__((noinline)) int fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                                                  int target_rank, MPI_Aint target_disp, MPI_Op op,
                                                  const struct window *window)
{
	const struct datatype *known = datatype_of(datatype);
	int rc;

	if (!known || known->single == ELEMENT_NONE)
		return refuse_element(window, "MPI_Fetch_and_op");
	if (!element_op(op))
		return error_on_window(window, MPI_ERR_OP, "MPI_Fetch_and_op", "the operation is none of MPI's own");
	rc = operation_barred(window, known, element_op(op), "MPI_Fetch_and_op");
	if (rc || target_rank == MPI_PROC_NULL)
		return rc;
	rc = operation_member(window, target_rank, "MPI_Fetch_and_op");
	if (rc)
		return rc;
	rc = oriel_fetch_and_op(window->win, origin_addr, result_addr, known->single, element_op(op), target_rank,
	                        window_offset(window, target_rank, target_disp));
	return error_of_call(window, rc);
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	const struct window *window = window_of(win);
	const struct datatype *known = window ? plain_element(window, datatype, target_rank) : NULL;
	const enum oriel_type element = known ? known->free_single : ELEMENT_NONE;
	const enum oriel_op oriel_op = element_op(op);

	if (!window)
		return real_mpi.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
	if (element == ELEMENT_NONE || !oriel_op)
		return fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, window);
	return error_of_call(window, oriel_fetch_and_op(window->win, origin_addr, result_addr, element, oriel_op,
	                                                target_rank, window_offset(window, target_rank, target_disp)));
}
TAKEN(Fetch_and_op);

static __attribute__((noinline)) int compare_and_swap(const void *origin_addr, const void *compare_addr,
                                                      void *result_addr, MPI_Datatype datatype, int target_rank,
                                                      MPI_Aint target_disp, const struct window *window)
{
	const struct datatype *known = datatype_of(datatype);
	int rc;

	if (!known || known->swapped == ELEMENT_NONE)
		return refuse_element(window, "MPI_Compare_and_swap");
	if (target_rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	rc = operation_member(window, target_rank, "MPI_Compare_and_swap");
	if (rc)
		return rc;
	rc = oriel_compare_and_swap(window->win, origin_addr, compare_addr, result_addr, known->swapped, target_rank,
	                            window_offset(window, target_rank, target_disp));
	return error_of_call(window, rc);
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	const struct window *window = window_of(win);
	const struct datatype *known = window ? plain_element(window, datatype, target_rank) : NULL;
	const enum oriel_type element = known ? known->swapped : ELEMENT_NONE;

	if (!window)
		return real_mpi.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp,
		                                 win);
	if (element == ELEMENT_NONE)
		return compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, window);
	return error_of_call(window, oriel_compare_and_swap(window->win, origin_addr, compare_addr, result_addr, element,
	                                                    target_rank, window_offset(window, target_rank, target_disp)));
}
TAKEN(Compare_and_swap);
