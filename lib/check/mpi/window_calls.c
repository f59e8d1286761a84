// SPDX-License-Identifier: BSD-2-Clause
/* window_calls.c - the making and the end of MPI's windows; see calls.h */
#include "check/front/loads.h"
#include "check/mpi/collective.h"
#include "see/tool.h"

#define CALLS_OF_MPI_3(X)                                                                                    \
	X(Win_create)                                                                                            \
	X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_shared_query) X(Win_free) X(Free_mem) \
		X(Win_set_name)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X) X(Win_create_c) X(Win_allocate_c) X(Win_allocate_shared_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

/* ---- numbers ---- */

/* Oriel's number of the window that the thread makes; 0: none yet. */
static _Thread_local uint64_t new_number __attribute__((tls_model("initial-exec")));

static void ignore_job(const char *job, int rank, int size)
{
	(void)job, (void)rank, (void)size;
}

static void ignore_blocked(const struct tool_blocked *blocked)
{
	(void)blocked;
}

static void ignore_unblocked(uint64_t now_ns)
{
	(void)now_ns;
}

static void take_number(uint64_t number)
{
	new_number = number;
}

__attribute__((constructor)) static void attach(void)
{
	static const struct tool tool = { .version = TOOL_VERSION,
		                              .job_opened = ignore_job,
		                              .blocked = ignore_blocked,
		                              .unblocked = ignore_unblocked,
		                              .window_numbered = take_number };

	oriel_tool_attach(&tool);
}

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

	new_number = 0;
	if (making.is_recorded)
		trace_add(here, (struct trace_event){ .kind = TRACE_MEET, .rank = -1 });
	return making;
}

/* Other members' parts may be used without a query, since all parts lie behind each other. */
static void add_parts(struct place here, MPI_Win win, const struct window *window, int own)
{
	for (int member = 0; member < window->count; member++) {
		MPI_Aint size_bytes = 0;
		void *base = NULL;
		int unit;

		if (member == own || next.Win_shared_query(win, member, &size_bytes, &unit, &base) != MPI_SUCCESS ||
		    size_bytes == 0)
			continue;
		trace_add(here, (struct trace_event){ .kind = TRACE_PART,
		                                      .object = window->key,
		                                      .rank = window_rank(window, member),
		                                      .base = (uint64_t)(uintptr_t)base,
		                                      .size_bytes = (uint64_t)size_bytes });
	}
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
		trace_add(making->place,
		          (struct trace_event){ .kind = TRACE_NUMBER, .object = window->key, .rank = -1, .id = new_number });
		if (loads_are_on && event.flags & WINDOW_SHARED)
			add_parts(making->place, *win, window, comm->rank);
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
		current = (struct current){ .place = HERE("MPI_Win_free"), .key = window->key };
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
	return window_leave(HERE("MPI_Win_free"), is_own ? event.object : 0, rc);
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
