// SPDX-License-Identifier: BSD-2-Clause
/*
 * oriel_calls.c - liboriel-see.so: the calls of oriel.h, in front of liboriel.so; see call.h
 *
 * LD_PRELOAD puts it there (oriel-see). Calls that neither move data nor wait are not taken.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "see/front/behind.h"
#include "oriel.h"
#include "base/util.h"
#include "see/front/call.h"
#include "see/front/group_ranks.h"

/* The place in the program that the function it stands in was called from. */
#define HERE __builtin_return_address(0)

#define CALLS(X)                                                                                                      \
	X(put)                                                                                                            \
	X(get)                                                                                                            \
	X(putv)                                                                                                           \
	X(getv) X(accumulate) X(get_accumulate) X(fetch_and_op) X(compare_and_swap) X(accumulatev) X(get_accumulatev)     \
		X(win_flush) X(win_flush_local) X(win_iflush) X(win_iflush_local) X(request_wait) X(request_test) X(win_post) \
			X(win_start) X(win_complete) X(win_wait) X(win_test) X(win_fence) X(win_lock) X(win_unlock)               \
				X(win_lock_all) X(win_unlock_all) X(win_sync) X(signal) X(signal_wait) X(signal_test) X(signal_until) \
					X(win_attach) X(win_detach) X(win_set_hints) X(mem_register) X(mem_deregister) X(win_create)      \
						X(win_allocate) X(win_allocate_shared) X(win_create_dynamic) X(win_free) X(win_set_name)      \
							X(init) X(finalize) X(barrier)

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(oriel_##name) *name;
	CALLS(X)
#undef X
} next;

static bool has_begun; /* oriel_init was called */
static pid_t loaded_by;

__attribute__((constructor)) static void find_all(void)
{
	loaded_by = getpid();
#define X(name) find_behind("oriel_" #name, &next.name);
	CALLS(X)
#undef X
	if (next.init)
		waits_attach();
}

static oriel_group *world; /* of the last job that was opened */

static uint64_t handle_of(const oriel_win *win)
{
	return (uint64_t)(uintptr_t)win;
}

static uint64_t bytes_of(const struct oriel_origin_piece pieces[], int count)
{
	uint64_t bytes = 0;

	for (int i = 0; pieces && i < count; i++)
		bytes += pieces[i].size_bytes;
	return bytes;
}

static uint64_t bytes_of_targets(const struct oriel_target_piece pieces[], int count)
{
	uint64_t bytes = 0;

	for (int i = 0; pieces && i < count; i++)
		bytes += pieces[i].size_bytes;
	return bytes;
}

/* ---- operations ---- */

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	struct call call = call_enter_at("oriel_put", handle_of(win), target_rank, target_disp, size_bytes, HERE);

	return call_leave(&call, next.put(win, origin, size_bytes, target_rank, target_disp));
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	struct call call = call_enter_at("oriel_get", handle_of(win), target_rank, target_disp, size_bytes, HERE);

	return call_leave(&call, next.get(win, origin, size_bytes, target_rank, target_disp));
}

int oriel_putv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	struct call call = call_enter_to("oriel_putv", handle_of(win), target_rank, bytes_of(origin, origin_count), HERE);

	return call_leave(&call, next.putv(win, origin, origin_count, target_rank, target, target_count));
}

int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	struct call call = call_enter_to("oriel_getv", handle_of(win), target_rank, bytes_of(origin, origin_count), HERE);

	return call_leave(&call, next.getv(win, origin, origin_count, target_rank, target, target_count));
}

int oriel_accumulate(oriel_win *win, const void *origin, size_t count, enum oriel_type type, enum oriel_op op,
                     int target_rank, size_t target_disp)
{
	struct call call = call_enter_at("oriel_accumulate", handle_of(win), target_rank, target_disp,
	                                 count * oriel_type_bytes(type), HERE);

	return call_leave(&call, next.accumulate(win, origin, count, type, op, target_rank, target_disp));
}

int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp)
{
	struct call call =
		call_enter_to("oriel_get_accumulate", handle_of(win), target_rank, count * oriel_type_bytes(type), HERE);

	return call_leave(&call, next.get_accumulate(win, origin, result, count, type, op, target_rank, target_disp));
}

int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp)
{
	struct call call = call_enter_to("oriel_fetch_and_op", handle_of(win), target_rank, oriel_type_bytes(type), HERE);

	return call_leave(&call, next.fetch_and_op(win, origin, result, type, op, target_rank, target_disp));
}

int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp)
{
	struct call call =
		call_enter_to("oriel_compare_and_swap", handle_of(win), target_rank, oriel_type_bytes(type), HERE);

	return call_leave(&call, next.compare_and_swap(win, origin, compare, result, type, target_rank, target_disp));
}

int oriel_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, enum oriel_type type,
                      enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	struct call call =
		call_enter_to("oriel_accumulatev", handle_of(win), target_rank, bytes_of_targets(target, target_count), HERE);

	return call_leave(&call, next.accumulatev(win, origin, origin_count, type, op, target_rank, target, target_count));
}

int oriel_get_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count,
                          const struct oriel_origin_piece result[], int result_count, enum oriel_type type,
                          enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	struct call call = call_enter_to("oriel_get_accumulatev", handle_of(win), target_rank,
	                                 bytes_of_targets(target, target_count), HERE);

	return call_leave(&call, next.get_accumulatev(win, origin, origin_count, result, result_count, type, op,
	                                              target_rank, target, target_count));
}

/* ---- completion ---- */

int oriel_win_flush(oriel_win *win, int target_rank)
{
	struct call call = call_enter_to("oriel_win_flush", handle_of(win), target_rank, 0, HERE);

	return call_leave(&call, next.win_flush(win, target_rank));
}

int oriel_win_flush_local(oriel_win *win, int target_rank)
{
	struct call call = call_enter_to("oriel_win_flush_local", handle_of(win), target_rank, 0, HERE);

	return call_leave(&call, next.win_flush_local(win, target_rank));
}

int oriel_win_iflush(oriel_win *win, int target_rank, oriel_request *request)
{
	struct call call = call_enter_to("oriel_win_iflush", handle_of(win), target_rank, 0, HERE);

	return call_leave(&call, next.win_iflush(win, target_rank, request));
}

int oriel_win_iflush_local(oriel_win *win, int target_rank, oriel_request *request)
{
	struct call call = call_enter_to("oriel_win_iflush_local", handle_of(win), target_rank, 0, HERE);

	return call_leave(&call, next.win_iflush_local(win, target_rank, request));
}

int oriel_request_wait(oriel_request *request)
{
	struct call call = call_enter("oriel_request_wait", NO_WINDOW, 0, HERE);

	return call_leave(&call, next.request_wait(request));
}

int oriel_request_test(oriel_request *request, int *flag)
{
	struct call call = call_enter("oriel_request_test", NO_WINDOW, 0, HERE);

	return call_leave(&call, next.request_test(request, flag));
}

/* ---- groups ---- */

/* The call opens an epoch. Gives the group's ranks to epochs_post or epochs_started. */
static void take_group(const struct call *call, const oriel_group *group,
                       void (*take)(const struct call *call, int *ranks, int count))
{
	int count;

	if (!epochs_are_counted(call))
		return;
	count = oriel_group_size(group);
	if (count >= 0)
		take(call, group_ranks(group, world, count), count);
}

/* ---- epochs ---- */

int oriel_win_post(oriel_win *win, const oriel_group *group, int assertions)
{
	struct call call = call_enter("oriel_win_post", handle_of(win), 0, HERE);
	int rc;

	call_begins(&call, EVENT_POST);
	take_group(&call, group, epochs_post);
	rc = next.win_post(win, group, assertions);
	if (rc)
		epochs_cancel_post(&call);
	return call_leave(&call, rc);
}

int oriel_win_start(oriel_win *win, const oriel_group *group, int assertions)
{
	struct call call = call_enter("oriel_win_start", handle_of(win), 0, HERE);
	int rc = next.win_start(win, group, assertions);

	if (rc == 0)
		take_group(&call, group, epochs_started);
	return call_leave(&call, rc);
}

int oriel_win_complete(oriel_win *win)
{
	struct call call = call_enter("oriel_win_complete", handle_of(win), 0, HERE);

	call_begins(&call, EVENT_COMPLETE);
	epochs_complete(&call);
	return call_leave(&call, next.win_complete(win));
}

int oriel_win_wait(oriel_win *win)
{
	struct call call = call_enter("oriel_win_wait", handle_of(win), 0, HERE);

	return call_leave(&call, next.win_wait(win));
}

int oriel_win_test(oriel_win *win, int *flag)
{
	struct call call = call_enter("oriel_win_test", handle_of(win), 0, HERE);

	return call_leave(&call, next.win_test(win, flag));
}

int oriel_win_fence(oriel_win *win, int assertions)
{
	struct call call = call_enter("oriel_win_fence", handle_of(win), 0, HERE);

	call_begins(&call, EVENT_FENCE);
	if (assertions)
		meeting_cancel();
	return call_leave(&call, next.win_fence(win, assertions));
}

int oriel_win_lock(oriel_win *win, enum oriel_lock_type type, int target_rank, int assertions)
{
	struct call call = call_enter_to("oriel_win_lock", handle_of(win), target_rank, 0, HERE);

	return call_leave(&call, next.win_lock(win, type, target_rank, assertions));
}

int oriel_win_unlock(oriel_win *win, int target_rank)
{
	struct call call = call_enter_to("oriel_win_unlock", handle_of(win), target_rank, 0, HERE);

	notes_add_unlock(call_window(&call), call.target, call.begun);
	return call_leave(&call, next.win_unlock(win, target_rank));
}

int oriel_win_lock_all(oriel_win *win, int assertions)
{
	struct call call = call_enter("oriel_win_lock_all", handle_of(win), 0, HERE);

	return call_leave(&call, next.win_lock_all(win, assertions));
}

int oriel_win_unlock_all(oriel_win *win)
{
	struct call call = call_enter("oriel_win_unlock_all", handle_of(win), 0, HERE);

	notes_add_unlock(call_window(&call), call.target, call.begun);
	return call_leave(&call, next.win_unlock_all(win));
}

int oriel_win_sync(oriel_win *win)
{
	struct call call = call_enter("oriel_win_sync", handle_of(win), 0, HERE);

	return call_leave(&call, next.win_sync(win));
}

/* ---- signals ---- */

int oriel_signal(oriel_win *win, int target_rank, uint32_t signal, uint64_t value, enum oriel_signal_op op)
{
	struct call call = call_enter_to("oriel_signal", handle_of(win), target_rank, sizeof(value), HERE);

	signal_begins(&call, target_rank);
	return call_leave(&call, next.signal(win, target_rank, signal, value, op));
}

int oriel_signal_wait(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value)
{
	struct call call = call_enter("oriel_signal_wait", handle_of(win), 0, HERE);

	return call_leave(&call, next.signal_wait(win, first, count, signal, value));
}

int oriel_signal_test(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value, int *flag)
{
	struct call call = call_enter("oriel_signal_test", handle_of(win), 0, HERE);

	return call_leave(&call, next.signal_test(win, first, count, signal, value, flag));
}

int oriel_signal_until(oriel_win *win, uint32_t signal, uint64_t value)
{
	struct call call = call_enter("oriel_signal_until", handle_of(win), 0, HERE);

	return call_leave(&call, next.signal_until(win, signal, value));
}

/* ---- memory ---- */

int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes)
{
	struct call call = call_enter("oriel_win_attach", handle_of(win), size_bytes, HERE);

	return call_leave(&call, next.win_attach(win, base, size_bytes));
}

int oriel_win_detach(oriel_win *win, const void *base)
{
	struct call call = call_enter("oriel_win_detach", handle_of(win), 0, HERE);

	return call_leave(&call, next.win_detach(win, base));
}

int oriel_win_set_hints(oriel_win *win, const struct oriel_hint hints[])
{
	struct call call = call_enter("oriel_win_set_hints", handle_of(win), 0, HERE);

	return call_leave(&call, next.win_set_hints(win, hints));
}

int oriel_mem_register(oriel_job *job, void *base, size_t size_bytes, oriel_mem **mem)
{
	struct call call = call_enter("oriel_mem_register", NO_WINDOW, size_bytes, HERE);

	return call_leave(&call, next.mem_register(job, base, size_bytes, mem));
}

int oriel_mem_deregister(oriel_mem **mem)
{
	struct call call = call_enter("oriel_mem_deregister", NO_WINDOW, 0, HERE);

	return call_leave(&call, next.mem_deregister(mem));
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

static struct creation enter(const char *name, uint64_t unit, const oriel_group *group, const void *caller)
{
	struct creation creation = { name, caller, call_enter_early(), NULL, oriel_group_size(group), unit };

	if (part_of_process() && creation.count > 0)
		creation.ranks = group_ranks(group, world, creation.count);
	creation_begins(&creation.call, creation.ranks, creation.count);
	return creation;
}

/* Records the creation as a call of the window that it has made. */
static int leave(struct creation *creation, const char *kind, oriel_win *const *win, int rc)
{
	uint64_t handle = NO_WINDOW;

	if (rc == 0 && creation->ranks) {
		handle = handle_of(*win);
		window_add(handle, kind, creation->unit, creation->ranks, creation->count);
	}
	call_find(&creation->call, creation->name, handle, creation->caller);
	call_leave(&creation->call, rc);
	free(creation->ranks);
	return rc;
}

int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win)
{
	struct creation creation = enter("oriel_win_create", disp_unit_bytes, group, HERE);

	return leave(&creation, "created", win, next.win_create(base, size_bytes, disp_unit_bytes, hints, group, win));
}

int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win)
{
	struct creation creation = enter("oriel_win_allocate", disp_unit_bytes, group, HERE);

	return leave(&creation, "allocated", win, next.win_allocate(size_bytes, disp_unit_bytes, hints, group, base, win));
}

int oriel_win_allocate_shared(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                              oriel_group *group, void **base, oriel_win **win)
{
	struct creation creation = enter("oriel_win_allocate_shared", disp_unit_bytes, group, HERE);

	return leave(&creation, "shared", win,
	             next.win_allocate_shared(size_bytes, disp_unit_bytes, hints, group, base, win));
}

int oriel_win_create_dynamic(const struct oriel_hint hints[], oriel_group *group, oriel_win **win)
{
	struct creation creation = enter("oriel_win_create_dynamic", 1, group, HERE);

	return leave(&creation, "dynamic", win, next.win_create_dynamic(hints, group, win));
}

int oriel_win_free(oriel_win **win)
{
	oriel_win *freed = win ? *win : NULL;
	struct call call = call_enter("oriel_win_free", handle_of(freed), 0, HERE);
	int rc;

	removal_begins(&call);
	rc = next.win_free(win);
	call_leave(&call, rc);
	if (rc == 0)
		window_remove(handle_of(freed));
	return rc;
}

int oriel_win_set_name(oriel_win *win, const char *name)
{
	int rc = next.win_set_name(win, name);

	if (rc == 0)
		window_name(handle_of(win), name);
	return rc;
}

/* ---- the job ---- */

int oriel_init(const struct oriel_options *options, oriel_job **opened)
{
	struct call call;
	int rc;

	has_begun = true;
	part_open();
	call = call_enter("oriel_init", NO_WINDOW, 0, HERE);
	rc = call_leave(&call, next.init(options, opened));
	if (rc == 0 && oriel_group_world(*opened, &world))
		world = NULL;
	return rc;
}

int oriel_barrier(oriel_job *of)
{
	struct call call = call_enter("oriel_barrier", NO_WINDOW, 0, HERE);

	call_begins(&call, EVENT_COLLECTIVE);
	return call_leave(&call, next.barrier(of));
}

int oriel_finalize(oriel_job **closed)
{
	struct call call = call_enter("oriel_finalize", NO_WINDOW, 0, HERE);
	int rc;

	call_begins(&call, EVENT_COLLECTIVE);
	meeting_cancel();
	if (world)
		oriel_group_free(&world);
	rc = call_leave(&call, next.finalize(closed));
	if (rc == 0)
		report_at_end();
	return rc;
}

/* ---- a program of MPI ---- */

static bool is_first_rank(void)
{
	const char *rank = getenv("PMIX_RANK");

	if (!rank)
		rank = getenv("PMI_RANK");
	return !rank || strcmp(rank, "0") == 0;
}

/* It makes none of these calls, so that there is no profile. */
__attribute__((destructor)) static void look_for_mpi(void)
{
	if (!has_begun && getpid() == loaded_by && is_first_rank() && dlsym(RTLD_DEFAULT, "MPI_Init"))
		fputs("oriel: rank 0: there is no profile: the program makes no call of oriel.h, and is linked with MPI: "
		      "oriel-mpi --profile records it\n",
		      stderr);
}
