// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_calls.c - liboriel-see-<mpi>.so: MPI's one-sided calls, in front of oriel-mpi; see call.h
 *
 * LD_PRELOAD puts it in front of the layer, and behind other profiling tools. As the layer does, it
 * defines each call by both names, since Open MPI's Fortran bindings and other tools call PMPI_X.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "see/front/call.h"
#include "see/front/mpi_behind.h"
#include "see/front/mpi_ranks.h"

#define CALLS_OF_MPI_3(X)                                                                                              \
	X(Put)                                                                                                             \
	X(Get)                                                                                                             \
	X(Accumulate)                                                                                                      \
	X(Get_accumulate)                                                                                                  \
	X(Rput)                                                                                                            \
	X(Rget)                                                                                                            \
	X(Raccumulate)                                                                                                     \
	X(Rget_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(Win_fence) X(Win_post) X(Win_start) X(Win_complete)       \
		X(Win_wait) X(Win_test) X(Win_lock) X(Win_unlock) X(Win_lock_all) X(Win_unlock_all) X(Win_flush)               \
			X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_sync) X(Win_attach) X(Win_detach)         \
				X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_free) X(Win_set_name) \
					X(Init) X(Init_thread) X(Finalize)

/* Forms for large counts (MPI-4). */
#if MPI_VERSION >= 4
#define CALLS_LARGE(X)  \
	X(Put_c)            \
	X(Get_c)            \
	X(Accumulate_c)     \
	X(Get_accumulate_c) \
	X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c) X(Win_create_c) X(Win_allocate_c) X(Win_allocate_shared_c)
#else
#define CALLS_LARGE(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_LARGE(X)

#define X(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));
CALLS(X)
#undef X

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(MPI_##name) *name;
	CALLS(X)
#undef X
} next;

__attribute__((constructor)) static void find_all(void)
{
#define X(name) find_behind("PMPI_" #name, &next.name);
	CALLS(X)
#undef X
	waits_attach();
	bindings_find();
}

/* The null window is not recorded. */
static uint64_t handle_of(MPI_Win win)
{
	return (uint64_t)(uintptr_t)win;
}

static uint64_t bytes_of(MPI_Count count, MPI_Datatype datatype)
{
	int size = 0;

	if (count <= 0 || datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size))
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

/* ---- operations ---- */

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct call call = call_enter_at("MPI_Put", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                  target_count, target_datatype, win));
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct call call = call_enter_at("MPI_Get", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                  target_count, target_datatype, win));
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct call call = call_enter_at("MPI_Accumulate", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                         target_count, target_datatype, op, win));
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct call call =
		call_enter_to("MPI_Get_accumulate", handle_of(win), target_rank, bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
	                                             result_datatype, target_rank, target_disp, target_count,
	                                             target_datatype, op, win));
}

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct call call = call_enter_at("MPI_Rput", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                   target_count, target_datatype, win, request));
}

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct call call = call_enter_at("MPI_Rget", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                   target_count, target_datatype, win, request));
}

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
	struct call call =
		call_enter_to("MPI_Raccumulate", handle_of(win), target_rank, bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                          target_count, target_datatype, op, win, request));
}

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	struct call call = call_enter_to("MPI_Rget_accumulate", handle_of(win), target_rank,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
	                                              result_datatype, target_rank, target_disp, target_count,
	                                              target_datatype, op, win, request));
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	struct call call = call_enter_to("MPI_Fetch_and_op", handle_of(win), target_rank, bytes_of(1, datatype), HERE);

	return call_leave(&call, next.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win));
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	struct call call = call_enter_to("MPI_Compare_and_swap", handle_of(win), target_rank, bytes_of(1, datatype), HERE);

	return call_leave(&call, next.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
	                                               target_disp, win));
}

/* ---- epochs and memory ---- */

int MPI_Win_fence(int assertions, MPI_Win win)
{
	struct call call = call_enter("MPI_Win_fence", handle_of(win), 0, HERE);

	call_begins(&call, EVENT_FENCE);
	if (assertions)
		meeting_cancel();
	return call_leave(&call, next.Win_fence(assertions, win));
}

/* The call opens an epoch. Gives the group's ranks to epochs_post or epochs_started. */
static void take_group(const struct call *call, MPI_Group group,
                       void (*take)(const struct call *call, int *ranks, int count))
{
	int count;

	if (epochs_are_counted(call) && group != MPI_GROUP_NULL && PMPI_Group_size(group, &count) == MPI_SUCCESS)
		take(call, mpi_ranks_of(group, count), count);
}

int MPI_Win_post(MPI_Group group, int assertions, MPI_Win win)
{
	struct call call = call_enter("MPI_Win_post", handle_of(win), 0, HERE);
	int rc;

	call_begins(&call, EVENT_POST);
	take_group(&call, group, epochs_post);
	rc = next.Win_post(group, assertions, win);
	if (rc != MPI_SUCCESS)
		epochs_cancel_post(&call);
	return call_leave(&call, rc);
}

int MPI_Win_start(MPI_Group group, int assertions, MPI_Win win)
{
	struct call call = call_enter("MPI_Win_start", handle_of(win), 0, HERE);
	int rc = next.Win_start(group, assertions, win);

	if (rc == MPI_SUCCESS)
		take_group(&call, group, epochs_started);
	return call_leave(&call, rc);
}

int MPI_Win_complete(MPI_Win win)
{
	struct call call = call_enter("MPI_Win_complete", handle_of(win), 0, HERE);

	call_begins(&call, EVENT_COMPLETE);
	epochs_complete(&call);
	return call_leave(&call, next.Win_complete(win));
}

int MPI_Win_wait(MPI_Win win)
{
	struct call call = call_enter("MPI_Win_wait", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_wait(win));
}

int MPI_Win_test(MPI_Win win, int *flag)
{
	struct call call = call_enter("MPI_Win_test", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_test(win, flag));
}

int MPI_Win_lock(int type, int rank, int assertions, MPI_Win win)
{
	struct call call = call_enter_to("MPI_Win_lock", handle_of(win), rank, 0, HERE);

	return call_leave(&call, next.Win_lock(type, rank, assertions, win));
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
	struct call call = call_enter_to("MPI_Win_unlock", handle_of(win), rank, 0, HERE);

	notes_add_unlock(call_window(&call), call.target, call.begun);
	return call_leave(&call, next.Win_unlock(rank, win));
}

int MPI_Win_lock_all(int assertions, MPI_Win win)
{
	struct call call = call_enter("MPI_Win_lock_all", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_lock_all(assertions, win));
}

int MPI_Win_unlock_all(MPI_Win win)
{
	struct call call = call_enter("MPI_Win_unlock_all", handle_of(win), 0, HERE);

	notes_add_unlock(call_window(&call), call.target, call.begun);
	return call_leave(&call, next.Win_unlock_all(win));
}

int MPI_Win_flush(int rank, MPI_Win win)
{
	struct call call = call_enter_to("MPI_Win_flush", handle_of(win), rank, 0, HERE);

	return call_leave(&call, next.Win_flush(rank, win));
}

int MPI_Win_flush_all(MPI_Win win)
{
	struct call call = call_enter("MPI_Win_flush_all", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_flush_all(win));
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
	struct call call = call_enter_to("MPI_Win_flush_local", handle_of(win), rank, 0, HERE);

	return call_leave(&call, next.Win_flush_local(rank, win));
}

int MPI_Win_flush_local_all(MPI_Win win)
{
	struct call call = call_enter("MPI_Win_flush_local_all", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_flush_local_all(win));
}

int MPI_Win_sync(MPI_Win win)
{
	struct call call = call_enter("MPI_Win_sync", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_sync(win));
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct call call = call_enter("MPI_Win_attach", handle_of(win), (uint64_t)size, HERE);

	return call_leave(&call, next.Win_attach(win, base, size));
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
	struct call call = call_enter("MPI_Win_detach", handle_of(win), 0, HERE);

	return call_leave(&call, next.Win_detach(win, base));
}

/* ---- windows ---- */

/* The creation of a window. */
struct creation {
	const char *name;
	const void *caller;
	struct call call;
	int *ranks; /* NULL: not known */
	int count;
	uint64_t unit; /* of displacements, in bytes */
};

static struct creation enter(const char *name, uint64_t unit, MPI_Comm comm, const void *caller)
{
	struct creation creation = { name, caller, call_enter_early(), NULL, 0, unit };
	MPI_Group group;

	if (part_of_process() && comm != MPI_COMM_NULL && PMPI_Comm_group(comm, &group) == MPI_SUCCESS) {
		if (PMPI_Group_size(group, &creation.count) == MPI_SUCCESS)
			creation.ranks = mpi_ranks_of(group, creation.count);
		PMPI_Group_free(&group);
	}
	creation_begins(&creation.call, creation.ranks, creation.count);
	return creation;
}

/* Records the creation as a call of the window that it has made. */
static int leave(struct creation *creation, const char *kind, const MPI_Win *win, int rc)
{
	uint64_t handle = NO_WINDOW;

	if (rc == MPI_SUCCESS && creation->ranks) {
		handle = handle_of(*win);
		window_add(handle, kind, creation->unit, creation->ranks, creation->count);
	}
	call_find(&creation->call, creation->name, handle, creation->caller);
	call_leave(&creation->call, rc);
	free(creation->ranks);
	return rc;
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_create", (uint64_t)disp_unit, comm, HERE);

	return leave(&creation, "created", win, next.Win_create(base, size, disp_unit, info, comm, win));
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_allocate", (uint64_t)disp_unit, comm, HERE);

	return leave(&creation, "allocated", win, next.Win_allocate(size, disp_unit, info, comm, base, win));
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_allocate_shared", (uint64_t)disp_unit, comm, HERE);

	return leave(&creation, "shared", win, next.Win_allocate_shared(size, disp_unit, info, comm, base, win));
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_create_dynamic", 1, comm, HERE);

	return leave(&creation, "dynamic", win, next.Win_create_dynamic(info, comm, win));
}

int MPI_Win_free(MPI_Win *win)
{
	MPI_Win freed = win ? *win : MPI_WIN_NULL;
	struct call call = call_enter("MPI_Win_free", handle_of(freed), 0, HERE);
	int rc;

	removal_begins(&call);
	rc = next.Win_free(win);
	call_leave(&call, rc);
	if (rc == MPI_SUCCESS)
		window_remove(handle_of(freed));
	return rc;
}

int MPI_Win_set_name(MPI_Win win, const char *name)
{
	int rc = next.Win_set_name(win, name);

	if (rc == MPI_SUCCESS)
		window_name(handle_of(win), name);
	return rc;
}

/* ---- the program's begin and end ---- */

static void set_rank(void)
{
	struct part *part = part_of_process();
	int rank, size;

	if (!part || PMPI_Comm_rank(MPI_COMM_WORLD, &rank) || PMPI_Comm_size(MPI_COMM_WORLD, &size))
		return;
	part->header.rank = rank;
	part->header.size = size;
}

int MPI_Init(int *argc, char ***argv)
{
	struct call call;
	int rc;

	part_open();
	call = call_enter("MPI_Init", NO_WINDOW, 0, HERE);
	rc = next.Init(argc, argv);
	set_rank();
	return call_leave(&call, rc);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	struct call call;
	int rc;

	part_open();
	call = call_enter("MPI_Init_thread", NO_WINDOW, 0, HERE);
	rc = next.Init_thread(argc, argv, required, provided);
	set_rank();
	return call_leave(&call, rc);
}

int MPI_Finalize(void)
{
	struct call call = call_enter("MPI_Finalize", NO_WINDOW, 0, HERE);
	int rc;

	call_begins(&call, EVENT_COLLECTIVE);
	meeting_cancel();
	rc = call_leave(&call, next.Finalize());
	report_at_end();
	return rc;
}

#if MPI_VERSION >= 4

/* ---- large counts ---- */

int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct call call = call_enter_at("MPI_Put_c", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                    target_count, target_datatype, win));
}

int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct call call = call_enter_at("MPI_Get_c", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                    target_count, target_datatype, win));
}

int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct call call = call_enter_at("MPI_Accumulate_c", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                           target_count, target_datatype, op, win));
}

int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
	struct call call = call_enter_to("MPI_Get_accumulate_c", handle_of(win), target_rank,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
	                                               result_count, result_datatype, target_rank, target_disp,
	                                               target_count, target_datatype, op, win));
}

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	struct call call = call_enter_at("MPI_Rput_c", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                     target_count, target_datatype, win, request));
}

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
	struct call call = call_enter_at("MPI_Rget_c", handle_of(win), target_rank, (uint64_t)target_disp,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                     target_count, target_datatype, win, request));
}

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request *request)
{
	struct call call =
		call_enter_to("MPI_Raccumulate_c", handle_of(win), target_rank, bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
	                                            target_count, target_datatype, op, win, request));
}

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
	struct call call = call_enter_to("MPI_Rget_accumulate_c", handle_of(win), target_rank,
	                                 bytes_of(target_count, target_datatype), HERE);

	return call_leave(&call, next.Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
	                                                result_count, result_datatype, target_rank, target_disp,
	                                                target_count, target_datatype, op, win, request));
}

int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_create_c", (uint64_t)disp_unit, comm, HERE);

	return leave(&creation, "created", win, next.Win_create_c(base, size, disp_unit, info, comm, win));
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_allocate_c", (uint64_t)disp_unit, comm, HERE);

	return leave(&creation, "allocated", win, next.Win_allocate_c(size, disp_unit, info, comm, base, win));
}

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
	struct creation creation = enter("MPI_Win_allocate_shared_c", (uint64_t)disp_unit, comm, HERE);

	return leave(&creation, "shared", win, next.Win_allocate_shared_c(size, disp_unit, info, comm, base, win));
}

#endif
