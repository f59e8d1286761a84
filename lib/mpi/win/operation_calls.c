// SPDX-License-Identifier: BSD-2-Clause
/*
 * operation_calls.c - MPI's calls of operations (operation.h)
 *
 * DESIGN NOTES
 *
 * Put, get, accumulate and get_accumulate have a fast path, MPI_X itself, for a plain call that
 * matches the thread's call cache (call_cache.h). The general path, `run`, looks up the window and
 * the datatype, and fills the cache if the call is plain. It is not inlined, and takes a struct
 * operation: otherwise MPI_X saves registers for it.
 *
 * Forms for large counts (_c) have other counts, and another pass_X for the MPI's own windows.
 */
#include <stdint.h>

#include "mpi/job/real_mpi.h"
#include "mpi/win/call_cache.h"
#include "mpi/win/error.h"
#include "mpi/win/operation.h"

static _Thread_local struct call_cache copy_cache __attribute__((tls_model("initial-exec")));
static _Thread_local struct call_cache accumulate_cache __attribute__((tls_model("initial-exec")));

/* The origin of a put is const: it is not written to. */
static inline void *writable(const void *addr)
{
	return (void *)(uintptr_t)addr;
}

/* ---- operations as operation_do takes them, without the window ---- */

static inline struct side side_of(const void *addr, MPI_Count count, MPI_Datatype datatype)
{
	return (struct side){ writable(addr), count, datatype, NULL };
}

/* Leaves what put and get do not use unset, which saves the fast path four registers. */
static inline struct operation copy_operation(enum operation_kind kind, struct side origin, int target_rank,
                                              MPI_Aint target_disp, struct side target)
{
	struct operation operation;

	operation.kind = kind;
	operation.rank = target_rank;
	operation.disp = target_disp;
	operation.origin = origin;
	operation.target = target;
	return operation;
}

static inline struct operation accumulate_operation(struct side origin, int target_rank, MPI_Aint target_disp,
                                                    struct side target, MPI_Op op)
{
	struct operation operation = copy_operation(OPERATION_ACCUMULATE, origin, target_rank, target_disp, target);

	operation.op = op;
	return operation;
}

static inline struct operation get_accumulate_operation(struct operation accumulate, struct side result)
{
	accumulate.kind = OPERATION_GET_ACCUMULATE;
	accumulate.result = result;
	return accumulate;
}

/* ---- Oriel's calls for a plain operation that the cache matches ---- */

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

/* ---- the general path ---- */

static int copy(struct operation *operation)
{
	const struct datatype *known = plain_datatype(operation);

	if (!known)
		return operation_do(operation);
	call_cache_fill(&copy_cache, operation->window, operation->origin.type, known->size_bytes);
	return cached_copy(operation->kind, operation->origin.addr, operation->origin.count, operation->rank,
	                   operation_offset(operation));
}

/* Fills the cache; false: the operation is not plain, or Oriel lacks it or its elements. */
static bool cache_accumulate(const struct operation *operation)
{
	const struct datatype *known = plain_datatype(operation);
	const enum oriel_op oriel_op = element_op(operation->op);

	if (!known || known->free_element == ELEMENT_NONE || !oriel_op || oriel_op == ORIEL_NO_OP)
		return false;
	call_cache_fill(&accumulate_cache, operation->window, operation->origin.type, known->element_count);
	accumulate_cache.op = operation->op;
	accumulate_cache.oriel_op = oriel_op;
	accumulate_cache.element = known->element;
	return true;
}

static int accumulate(struct operation *operation)
{
	const struct side *origin = &operation->origin, *result = &operation->result;

	if (!cache_accumulate(operation))
		return operation_do(operation);
	if (operation->kind == OPERATION_ACCUMULATE)
		return cached_accumulate(origin->addr, origin->count, operation->rank, operation_offset(operation));
	if (result->type != origin->type || result->count != origin->count)
		return operation_do(operation);
	return cached_get_accumulate(origin->addr, result->addr, origin->count, operation->rank,
	                             operation_offset(operation));
}

/* Calls the MPI's own function. */
typedef int pass(const struct operation *operation, MPI_Win win);

static int run(struct operation *operation, MPI_Win win, pass *pass)
{
	operation->window = window_of(win);
	if (!operation->window)
		return window_error(win) ?: pass(operation, win);
	return operation->kind <= OPERATION_GET ? copy(operation) : accumulate(operation);
}

static int start(struct operation *operation, const struct window *window, MPI_Request *request)
{
	int rc;

	operation->window = window;
	rc = operation_do(operation);
	if (window_is_active(window))
		request_tell_active();
	return rc ? rc : request_make(window, operation->rank, request);
}

/* ---- the calls ---- */

static int pass_put(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Put(operation->origin.addr, (int)operation->origin.count, operation->origin.type, operation->rank,
	                    operation->disp, (int)operation->target.count, operation->target.type, win);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (!(call_cache_matches(&copy_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count))) {
		struct operation operation =
			copy_operation(OPERATION_PUT, side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                   side_of(NULL, target_count, target_datatype));

		return run(&operation, win, pass_put);
	}
	return cached_copy(OPERATION_PUT, origin_addr, origin_count, target_rank, cached_offset(&copy_cache, target_disp));
}
TAKEN(Put);

static int pass_get(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Get(operation->origin.addr, (int)operation->origin.count, operation->origin.type, operation->rank,
	                    operation->disp, (int)operation->target.count, operation->target.type, win);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (!(call_cache_matches(&copy_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count))) {
		struct operation operation =
			copy_operation(OPERATION_GET, side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                   side_of(NULL, target_count, target_datatype));

		return run(&operation, win, pass_get);
	}
	return cached_copy(OPERATION_GET, origin_addr, origin_count, target_rank, cached_offset(&copy_cache, target_disp));
}
TAKEN(Get);

static int pass_accumulate(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Accumulate(operation->origin.addr, (int)operation->origin.count, operation->origin.type,
	                           operation->rank, operation->disp, (int)operation->target.count, operation->target.type,
	                           operation->op, win);
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (!(call_cache_matches(&accumulate_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count) && accumulate_cache.op == op)) {
		struct operation operation =
			accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                         side_of(NULL, target_count, target_datatype), op);

		return run(&operation, win, pass_accumulate);
	}
	return cached_accumulate(origin_addr, origin_count, target_rank, cached_offset(&accumulate_cache, target_disp));
}
TAKEN(Accumulate);

static int pass_get_accumulate(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Get_accumulate(operation->origin.addr, (int)operation->origin.count, operation->origin.type,
	                               operation->result.addr, (int)operation->result.count, operation->result.type,
	                               operation->rank, operation->disp, (int)operation->target.count,
	                               operation->target.type, operation->op, win);
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (!(call_cache_matches(&accumulate_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count) && accumulate_cache.op == op && result_datatype == origin_datatype &&
	      result_count == origin_count)) {
		struct operation operation =
			accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                         side_of(NULL, target_count, target_datatype), op);

		operation = get_accumulate_operation(operation, side_of(result_addr, result_count, result_datatype));
		return run(&operation, win, pass_get_accumulate);
	}
	return cached_get_accumulate(origin_addr, result_addr, origin_count, target_rank,
	                             cached_offset(&accumulate_cache, target_disp));
}
TAKEN(Get_accumulate);

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_PUT, side_of(origin_addr, origin_count, origin_datatype),
	                                            target_rank, target_disp, side_of(NULL, target_count, target_datatype));

	if (!window)
		return window_error(win)
		           ?: real_mpi.Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                            target_datatype, win, request);
	return start(&operation, window, request);
}
TAKEN(Rput);

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_GET, side_of(origin_addr, origin_count, origin_datatype),
	                                            target_rank, target_disp, side_of(NULL, target_count, target_datatype));

	if (!window)
		return window_error(win)
		           ?: real_mpi.Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		                            target_datatype, win, request);
	return start(&operation, window, request);
}
TAKEN(Rget);

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank,
	                                                  target_disp, side_of(NULL, target_count, target_datatype), op);

	if (!window)
		return window_error(win)
		           ?: real_mpi.Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
		                                   target_count, target_datatype, op, win, request);
	return start(&operation, window, request);
}
TAKEN(Raccumulate);

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank,
	                                                  target_disp, side_of(NULL, target_count, target_datatype), op);

	if (!window)
		return window_error(win)
		           ?: real_mpi.Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
		                                       result_datatype, target_rank, target_disp, target_count, target_datatype,
		                                       op, win, request);
	operation = get_accumulate_operation(operation, side_of(result_addr, result_count, result_datatype));
	return start(&operation, window, request);
}
TAKEN(Rget_accumulate);

/* ---- the forms for large counts ---- */
#if MPI_VERSION >= 4

static int pass_put_c(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Put_c(operation->origin.addr, operation->origin.count, operation->origin.type, operation->rank,
	                      operation->disp, operation->target.count, operation->target.type, win);
}

int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (!(call_cache_matches(&copy_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count))) {
		struct operation operation =
			copy_operation(OPERATION_PUT, side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                   side_of(NULL, target_count, target_datatype));

		return run(&operation, win, pass_put_c);
	}
	return cached_copy(OPERATION_PUT, origin_addr, origin_count, target_rank, cached_offset(&copy_cache, target_disp));
}
TAKEN(Put_c);

static int pass_get_c(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Get_c(operation->origin.addr, operation->origin.count, operation->origin.type, operation->rank,
	                      operation->disp, operation->target.count, operation->target.type, win);
}

int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	if (!(call_cache_matches(&copy_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count))) {
		struct operation operation =
			copy_operation(OPERATION_GET, side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                   side_of(NULL, target_count, target_datatype));

		return run(&operation, win, pass_get_c);
	}
	return cached_copy(OPERATION_GET, origin_addr, origin_count, target_rank, cached_offset(&copy_cache, target_disp));
}
TAKEN(Get_c);

static int pass_accumulate_c(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Accumulate_c(operation->origin.addr, operation->origin.count, operation->origin.type,
	                             operation->rank, operation->disp, operation->target.count, operation->target.type,
	                             operation->op, win);
}

int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (!(call_cache_matches(&accumulate_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count) && accumulate_cache.op == op)) {
		struct operation operation =
			accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                         side_of(NULL, target_count, target_datatype), op);

		return run(&operation, win, pass_accumulate_c);
	}
	return cached_accumulate(origin_addr, origin_count, target_rank, cached_offset(&accumulate_cache, target_disp));
}
TAKEN(Accumulate_c);

static int pass_get_accumulate_c(const struct operation *operation, MPI_Win win)
{
	return real_mpi.Get_accumulate_c(operation->origin.addr, operation->origin.count, operation->origin.type,
	                                 operation->result.addr, operation->result.count, operation->result.type,
	                                 operation->rank, operation->disp, operation->target.count, operation->target.type,
	                                 operation->op, win);
}

int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
	if (!(call_cache_matches(&accumulate_cache, win, origin_datatype, target_datatype, target_rank) &&
	      counts_match(origin_count, target_count) && accumulate_cache.op == op && result_datatype == origin_datatype &&
	      result_count == origin_count)) {
		struct operation operation =
			accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
		                         side_of(NULL, target_count, target_datatype), op);

		operation = get_accumulate_operation(operation, side_of(result_addr, result_count, result_datatype));
		return run(&operation, win, pass_get_accumulate_c);
	}
	return cached_get_accumulate(origin_addr, result_addr, origin_count, target_rank,
	                             cached_offset(&accumulate_cache, target_disp));
}
TAKEN(Get_accumulate_c);

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_PUT, side_of(origin_addr, origin_count, origin_datatype),
	                                            target_rank, target_disp, side_of(NULL, target_count, target_datatype));

	if (!window)
		return window_error(win)
		           ?: real_mpi.Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
		                              target_count, target_datatype, win, request);
	return start(&operation, window, request);
}
TAKEN(Rput_c);

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = copy_operation(OPERATION_GET, side_of(origin_addr, origin_count, origin_datatype),
	                                            target_rank, target_disp, side_of(NULL, target_count, target_datatype));

	if (!window)
		return window_error(win)
		           ?: real_mpi.Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
		                              target_count, target_datatype, win, request);
	return start(&operation, window, request);
}
TAKEN(Rget_c);

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank,
	                                                  target_disp, side_of(NULL, target_count, target_datatype), op);

	if (!window)
		return window_error(win)
		           ?: real_mpi.Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
		                                     target_count, target_datatype, op, win, request);
	return start(&operation, window, request);
}
TAKEN(Raccumulate_c);

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
	const struct window *window = window_of(win);
	struct operation operation = accumulate_operation(side_of(origin_addr, origin_count, origin_datatype), target_rank,
	                                                  target_disp, side_of(NULL, target_count, target_datatype), op);

	if (!window)
		return window_error(win)
		           ?: real_mpi.Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
		                                         result_datatype, target_rank, target_disp, target_count,
		                                         target_datatype, op, win, request);
	operation = get_accumulate_operation(operation, side_of(result_addr, result_count, result_datatype));
	return start(&operation, window, request);
}
TAKEN(Rget_accumulate_c);

#endif

/* ---- operations of one element ---- */

/* Returns NULL if the datatype has not been used, or the rank is wrong. */
static inline const struct datatype *plain_element(const struct window *window, MPI_Datatype type, int rank)
{
	const struct datatype *known = datatype_known(type);

	return known && rank >= 0 && rank < window->rank_count ? known : NULL;
}

static struct operation element_operation(const struct window *window, struct side origin, void *result_addr,
                                          int target_rank, MPI_Aint target_disp)
{
	return (struct operation){
		.window = window, .rank = target_rank, .disp = target_disp, .origin = origin, .result.addr = result_addr
	};
}

static int refuse_element(const struct window *window, const char *call)
{
	return error_on_window(window, MPI_ERR_TYPE, call,
	                       "the datatype is no predefined one of those that the call takes");
}

static int fetch_and_op(const struct operation *operation)
{
	const struct window *window = operation->window;
	const struct datatype *known = datatype_of(operation->origin.type);
	const enum oriel_op op = element_op(operation->op);
	int rc;

	if (!known || known->single == ELEMENT_NONE)
		return refuse_element(window, "MPI_Fetch_and_op");
	if (!op)
		return error_on_window(window, MPI_ERR_OP, "MPI_Fetch_and_op", "the operation is none of MPI's own");
	rc = operation_barred(window, known, op, "MPI_Fetch_and_op");
	if (rc || operation->rank == MPI_PROC_NULL)
		return rc;
	rc = operation_member(window, operation->rank, "MPI_Fetch_and_op");
	if (rc)
		return rc;
	rc = oriel_fetch_and_op(window->win, operation->origin.addr, operation->result.addr, known->single, op,
	                        operation->rank, operation_offset(operation));
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
		return window_error(win)
		           ?: real_mpi.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
	if (element == ELEMENT_NONE || !oriel_op) {
		struct operation operation =
			element_operation(window, side_of(origin_addr, 1, datatype), result_addr, target_rank, target_disp);

		operation.op = op;
		return fetch_and_op(&operation);
	}
	return error_of_call(window, oriel_fetch_and_op(window->win, origin_addr, result_addr, element, oriel_op,
	                                                target_rank, window_offset(window, target_rank, target_disp)));
}
TAKEN(Fetch_and_op);

static int compare_and_swap(const struct operation *operation, const void *compare_addr)
{
	const struct window *window = operation->window;
	const struct datatype *known = datatype_of(operation->origin.type);
	int rc;

	if (!known || known->swapped == ELEMENT_NONE)
		return refuse_element(window, "MPI_Compare_and_swap");
	if (operation->rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	rc = operation_member(window, operation->rank, "MPI_Compare_and_swap");
	if (rc)
		return rc;
	rc = oriel_compare_and_swap(window->win, operation->origin.addr, compare_addr, operation->result.addr,
	                            known->swapped, operation->rank, operation_offset(operation));
	return error_of_call(window, rc);
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	const struct window *window = window_of(win);
	const struct datatype *known = window ? plain_element(window, datatype, target_rank) : NULL;
	const enum oriel_type element = known ? known->swapped : ELEMENT_NONE;

	if (!window)
		return window_error(win)
		           ?: real_mpi.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
		                                        target_disp, win);
	if (element == ELEMENT_NONE) {
		struct operation operation =
			element_operation(window, side_of(origin_addr, 1, datatype), result_addr, target_rank, target_disp);

		return compare_and_swap(&operation, compare_addr);
	}
	return error_of_call(window, oriel_compare_and_swap(window->win, origin_addr, compare_addr, result_addr, element,
	                                                    target_rank, window_offset(window, target_rank, target_disp)));
}
TAKEN(Compare_and_swap);
