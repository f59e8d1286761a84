// SPDX-License-Identifier: BSD-2-Clause
/* operation_calls.c - the calls of MPI that are operations; see operation.h. */
#include <stdint.h>

#include "mpi/calls.h"
#include "mpi/error.h"
#include "mpi/operation.h"
#include "mpi/plain.h"
#include "mpi/request.h"

/* The thread's last plain copy and accumulate. */
static _Thread_local struct plain plain_copy __attribute__((tls_model("initial-exec")));
static _Thread_local struct plain plain_accumulate __attribute__((tls_model("initial-exec")));

static int operation_start(struct operation *operation, MPI_Request *request)
{
	int rc = operation_do(operation);

	if (window_is_active(operation->window))
		request_tell_active();
	return rc ? rc : request_make(operation->window, operation->rank, request);
}

#define ADDR(pointer) ((void *)(uintptr_t)(pointer))

/* What every call says, in the order of the standard. */
#define COPY_PARAMS(const_, count_)                                                               \
	const_ void *origin_addr, count_ origin_count, MPI_Datatype origin_datatype, int target_rank, \
		MPI_Aint target_disp, count_ target_count, MPI_Datatype target_datatype
#define COPY_ARGS origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype
#define COPY_OPERATION(kind_)                                                             \
	{                                                                                     \
		.kind = (kind_), .window = window, .rank = target_rank, .disp = target_disp,      \
		.origin = { ADDR(origin_addr), origin_count, origin_datatype, NULL }, .target = { \
			NULL,                                                                         \
			target_count,                                                                 \
			target_datatype,                                                              \
			NULL                                                                          \
		}                                                                                 \
	}
#define GET_ACCUMULATE_PARAMS(count_)                                                                                  \
	const void *origin_addr, count_ origin_count, MPI_Datatype origin_datatype, void *result_addr,                     \
		count_ result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, count_ target_count, \
		MPI_Datatype target_datatype, MPI_Op op
#define GET_ACCUMULATE_ARGS                                                                                           \
	origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, \
		target_count, target_datatype, op
#define GET_ACCUMULATE_OPERATION                                                                      \
	{                                                                                                 \
		.kind = OPERATION_GET_ACCUMULATE, .window = window, .rank = target_rank, .disp = target_disp, \
		.origin = { ADDR(origin_addr), origin_count, origin_datatype, NULL },                         \
		.result = { result_addr, result_count, result_datatype, NULL },                               \
		.target = { NULL, target_count, target_datatype, NULL }, .op = op                             \
	}

/* What is plain, of an accumulate: of elements that Oriel has, by an operation that it has. */
static inline const struct datatype *plain_elements(const struct datatype *known, enum oriel_op op)
{
	return known && known->free_element != ELEMENT_NONE && op && op != ORIEL_NO_OP ? known : NULL;
}

static inline void keep_accumulate(const struct window *window, MPI_Datatype datatype, const struct datatype *known,
                                   MPI_Op op, enum oriel_op oriel_op)
{
	plain_keep(&plain_accumulate, window, datatype, known->element_count);
	plain_accumulate.op = op;
	plain_accumulate.oriel_op = oriel_op;
	plain_accumulate.element = known->element;
}

/*
 * The forms of one operation: with counts of one kind, without a request and with one. What is plain, and on what the
 * thread's last was on, goes straight on.
 */
#define DEFINE_COPY_CALL(name, params, operation_, oriel_call)                                           \
	static __attribute__((noinline)) int name##_any(params, MPI_Win win)                                 \
	{                                                                                                    \
		const struct window *window = window_of(win);                                                    \
		const struct datatype *known = window ? PLAIN(datatype_known(origin_datatype)) : NULL;           \
                                                                                                         \
		if (known) {                                                                                     \
			plain_keep(&plain_copy, window, origin_datatype, known->size_bytes);                         \
			return error_of_call(window, oriel_call(window->win, origin_addr, COPIED_BYTES, COPIED_TO)); \
		}                                                                                                \
		struct operation operation = operation_;                                                         \
                                                                                                         \
		return window ? operation_do(&operation) : own.name(COPY_ARGS, win);                             \
	}                                                                                                    \
	int MPI_##name(params, MPI_Win win)                                                                  \
	{                                                                                                    \
		int rc;                                                                                          \
                                                                                                         \
		if (!AGAIN(&plain_copy))                                                                         \
			return name##_any(COPY_ARGS, win);                                                           \
		rc = oriel_call(plain_copy.win, origin_addr, EACH(&plain_copy), AGAIN_TO(&plain_copy));          \
		return rc ? error_of_oriel_on(win, rc) : MPI_SUCCESS;                                            \
	}                                                                                                    \
	TAKEN(name)
#define DEFINE_ACCUMULATE_CALL(name, count_)                                                                        \
	static __attribute__((noinline)) int name##_any(ACCUMULATE_PARAMS(count_), MPI_Win win)                         \
	{                                                                                                               \
		const struct window *window = window_of(win);                                                               \
		const enum oriel_op oriel_op = window ? element_op(op) : (enum oriel_op)0;                                  \
		const struct datatype *known =                                                                              \
			window ? plain_elements(PLAIN(datatype_known(origin_datatype)), oriel_op) : NULL;                       \
                                                                                                                    \
		if (known) {                                                                                                \
			keep_accumulate(window, origin_datatype, known, op, oriel_op);                                          \
			return error_of_call(window, oriel_accumulate(window->win, origin_addr, ELEMENTS, known->element,       \
			                                              oriel_op, COPIED_TO));                                    \
		}                                                                                                           \
		struct operation operation = ACCUMULATE_OPERATION;                                                          \
                                                                                                                    \
		return window ? operation_do(&operation) : own.name(ACCUMULATE_ARGS, win);                                  \
	}                                                                                                               \
	int MPI_##name(ACCUMULATE_PARAMS(count_), MPI_Win win)                                                          \
	{                                                                                                               \
		int rc;                                                                                                     \
                                                                                                                    \
		if (!AGAIN(&plain_accumulate) || plain_accumulate.op != op)                                                 \
			return name##_any(ACCUMULATE_ARGS, win);                                                                \
		rc = oriel_accumulate(plain_accumulate.win, origin_addr, EACH(&plain_accumulate), plain_accumulate.element, \
		                      plain_accumulate.oriel_op, AGAIN_TO(&plain_accumulate));                              \
		return rc ? error_of_oriel_on(win, rc) : MPI_SUCCESS;                                                       \
	}                                                                                                               \
	TAKEN(name)
#define DEFINE_GET_ACCUMULATE_CALL(name, count_)                                                                     \
	static __attribute__((noinline)) int name##_any(GET_ACCUMULATE_PARAMS(count_), MPI_Win win)                      \
	{                                                                                                                \
		const struct window *window = window_of(win);                                                                \
		const enum oriel_op oriel_op = window ? element_op(op) : (enum oriel_op)0;                                   \
		const struct datatype *known =                                                                               \
			window ? plain_elements(PLAIN(datatype_known(origin_datatype)), oriel_op) : NULL;                        \
		struct operation operation = GET_ACCUMULATE_OPERATION;                                                       \
                                                                                                                     \
		if (known)                                                                                                   \
			keep_accumulate(window, origin_datatype, known, op, oriel_op);                                           \
		return window ? operation_do(&operation) : own.name(GET_ACCUMULATE_ARGS, win);                               \
	}                                                                                                                \
	int MPI_##name(GET_ACCUMULATE_PARAMS(count_), MPI_Win win)                                                       \
	{                                                                                                                \
		int rc;                                                                                                      \
                                                                                                                     \
		if (!AGAIN(&plain_accumulate) || plain_accumulate.op != op || result_datatype != origin_datatype ||          \
		    result_count != origin_count)                                                                            \
			return name##_any(GET_ACCUMULATE_ARGS, win);                                                             \
		rc = oriel_get_accumulate(plain_accumulate.win, origin_addr, result_addr, EACH(&plain_accumulate),           \
		                          plain_accumulate.element, plain_accumulate.oriel_op, AGAIN_TO(&plain_accumulate)); \
		return rc ? error_of_oriel_on(win, rc) : MPI_SUCCESS;                                                        \
	}                                                                                                                \
	TAKEN(name)
#define DEFINE_REQUEST_CALL(name, params, args, operation_)                                  \
	int MPI_##name(params, MPI_Win win, MPI_Request *request)                                \
	{                                                                                        \
		const struct window *window = window_of(win);                                        \
		struct operation operation = operation_;                                             \
                                                                                             \
		return window ? operation_start(&operation, request) : own.name(args, win, request); \
	}                                                                                        \
	TAKEN(name)

#define PLAIN(known) \
	plain_datatype(window, known, origin_count, origin_datatype, target_rank, target_count, target_datatype)
#define AGAIN(kept) plain_again(kept, win, origin_count, origin_datatype, target_rank, target_count, target_datatype)
#define EACH(kept) ((size_t)origin_count * (kept)->each)
#define AGAIN_TO(kept) target_rank, window_bytes(target_disp, (kept)->unit)
#define COPIED_BYTES ((size_t)origin_count * known->size_bytes)
#define ELEMENTS ((size_t)origin_count * known->element_count)
#define COPIED_TO target_rank, window_offset(window, target_rank, target_disp)
#define PUT_OPERATION COPY_OPERATION(OPERATION_PUT)
#define GET_OPERATION COPY_OPERATION(OPERATION_GET)
#define ACCUMULATE_PARAMS(count_) COPY_PARAMS(const, count_), MPI_Op op
#define ACCUMULATE_ARGS COPY_ARGS, op
#define ACCUMULATE_OPERATION                                                                      \
	{                                                                                             \
		.kind = OPERATION_ACCUMULATE, .window = window, .rank = target_rank, .disp = target_disp, \
		.origin = { ADDR(origin_addr), origin_count, origin_datatype, NULL },                     \
		.target = { NULL, target_count, target_datatype, NULL }, .op = op                         \
	}

#define DEFINE_CALLS(suffix, count_)                                                                            \
	DEFINE_COPY_CALL(Put##suffix, COPY_PARAMS(const, count_), PUT_OPERATION, oriel_put);                        \
	DEFINE_COPY_CALL(Get##suffix, COPY_PARAMS(, count_), GET_OPERATION, oriel_get);                             \
	DEFINE_ACCUMULATE_CALL(Accumulate##suffix, count_);                                                         \
	DEFINE_GET_ACCUMULATE_CALL(Get_accumulate##suffix, count_);                                                 \
	DEFINE_REQUEST_CALL(Rput##suffix, COPY_PARAMS(const, count_), COPY_ARGS, PUT_OPERATION);                    \
	DEFINE_REQUEST_CALL(Rget##suffix, COPY_PARAMS(, count_), COPY_ARGS, GET_OPERATION);                         \
	DEFINE_REQUEST_CALL(Raccumulate##suffix, ACCUMULATE_PARAMS(count_), ACCUMULATE_ARGS, ACCUMULATE_OPERATION); \
	DEFINE_REQUEST_CALL(Rget_accumulate##suffix, GET_ACCUMULATE_PARAMS(count_), GET_ACCUMULATE_ARGS,            \
	                    GET_ACCUMULATE_OPERATION)

DEFINE_CALLS(, int);
#if MPI_VERSION >= 4
DEFINE_CALLS(_c, MPI_Count);
#endif

/* Calls of one element, which Oriel takes from where it is at once. NULL: the datatype is not known yet, or there is no such rank. */
static inline const struct datatype *plain_element(const struct window *window, MPI_Datatype type, int rank)
{
	const struct datatype *known = datatype_known(type);

	return known && rank >= 0 && rank < window->rank_count ? known : NULL;
}

static int refuse_element(const struct window *window)
{
	return error_on_window(window, MPI_ERR_TYPE, "the datatype is no predefined one of those that the call takes");
}

static __attribute__((noinline)) int fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                                                  int target_rank, MPI_Aint target_disp, MPI_Op op,
                                                  const struct window *window)
{
	const struct datatype *known = datatype_of(datatype);
	int rc;

	if (!known || known->single == ELEMENT_NONE)
		return refuse_element(window);
	if (!element_op(op))
		return error_on_window(window, MPI_ERR_OP, "MPI_Fetch_and_op: the operation is none of MPI's own");
	rc = operation_barred(window, known, element_op(op));
	if (rc || target_rank == MPI_PROC_NULL)
		return rc;
	rc = operation_member(window, target_rank);
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
		return own.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
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
		return refuse_element(window);
	if (target_rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	rc = operation_member(window, target_rank);
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
		return own.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
	if (element == ELEMENT_NONE)
		return compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, window);
	return error_of_call(window, oriel_compare_and_swap(window->win, origin_addr, compare_addr, result_addr, element,
	                                                    target_rank, window_offset(window, target_rank, target_disp)));
}
TAKEN(Compare_and_swap);
