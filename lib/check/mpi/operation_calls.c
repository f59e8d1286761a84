// SPDX-License-Identifier: BSD-2-Clause
/* operation_calls.c - MPI's one-sided operations; see calls.h */
#include "check/mpi/calls.h"
#include "mpi/type/element.h"

#define CALLS_OF_MPI_3(X)                                                                             \
	X(Put)                                                                                            \
	X(Get)                                                                                            \
	X(Accumulate) X(Get_accumulate) X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate) X(Fetch_and_op) \
		X(Compare_and_swap)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X) \
	X(Put_c) X(Get_c) X(Accumulate_c) X(Get_accumulate_c) X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

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
		                         .rank = window_rank(window, operation->rank),
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
		event.of.read_pieces =
			pieces_add_side(&pieces, &operation->read) + pieces_add_side(&pieces, &operation->compared);
	event.of.written_pieces = pieces_add_side(&pieces, &operation->written);
	if (pieces.too_many)
		event.of.target_pieces = event.of.read_pieces = event.of.written_pieces = 0;
	if (is_plain(&event, &pieces))
		add_plain(here, event, &pieces);
	else if (pieces.count || pieces.too_many)
		trace_add_with(here, event, pieces.list, pieces.count);
	pieces_end(&pieces);
}

/* The accesses of each kind of operation. `own` is the origin's memory. */

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

/* If an accumulate is refused, its datatypes are named: the target's, and one that differs. */
static void note_sides(const struct operation *operation)
{
	bool has_origin = operation->read.count > 0 && operation->op != ORIEL_NO_OP;

	if (operation->access != ACCESS_ACCUMULATE && operation->access != ACCESS_FETCH)
		return;
	current.target = &operation->target;
	current.origin =
		has_origin && operation->read.type != operation->target.type ? &operation->read : &operation->written;
	if (current.origin->count == 0)
		current.origin = &operation->read;
}

/* Begins an operation. If it has a request, that says when it is over for the origin. */
static void operation_begin(struct place here, struct operation *operation, bool has_request)
{
	static uint64_t requests;
	const struct window *window = window_begin(here, operation->win);

	if (!window || operation->rank == MPI_PROC_NULL)
		return;
	operation->key = window->key;
	note_sides(operation);
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
	return window_leave(here, operation->key, rc);
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

#endif
