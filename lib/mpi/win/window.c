// SPDX-License-Identifier: BSD-2-Clause
/* window.c - making and freeing windows; see window.h */
#include "mpi/win/window.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/job/job.h"
#include "mpi/job/memory.h"
#include "mpi/job/proxy_win.h"
#include "mpi/job/real_mpi.h"
#include "mpi/win/error.h"
#include "mpi/win/members.h"
#include "mpi/win/operation.h"

/* The MPI carries out the call. No code of MPI's is negative. */
#define PASS_ON (-1)

#define DESCRIPTORS_EACH 8 /* of softverbs, for a peer */

struct table windows = TABLE_INITIAL;
_Thread_local struct table_last window_last;

struct making {
	void *base;
	MPI_Aint size_bytes;
	MPI_Aint unit;
	MPI_Info info;
	MPI_Comm comm;
	int flavor;
	struct hints hints; /* of info, then those that the members agree on */
};

static int refuse(const struct making *making, int class, const char *why)
{
	const char *call = making->flavor == MPI_WIN_FLAVOR_CREATE     ? "MPI_Win_create"
	                   : making->flavor == MPI_WIN_FLAVOR_ALLOCATE ? "MPI_Win_allocate"
	                   : making->flavor == MPI_WIN_FLAVOR_SHARED   ? "MPI_Win_allocate_shared"
	                                                               : "MPI_Win_create_dynamic";
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", call, why);
	return error_on_comm(making->comm, class, text);
}

static int check(const struct making *making)
{
	if (making->size_bytes < 0)
		return refuse(making, MPI_ERR_SIZE, "the size is negative");
	if (making->unit <= 0)
		return refuse(making, MPI_ERR_DISP, "the displacement unit must be positive");
	return MPI_SUCCESS;
}

static void release(struct window *window)
{
	keyvals_release(&window->keyvals);
	free(window->units);
	free(window);
}

/* Stores the members' units. The array exists: from here on no member may fail alone. */
static void keep_units(struct window *window, const struct making *making, bool same)
{
	MPI_Aint mine = making->unit;

	if (!same) {
		PMPI_Allgather(&mine, 1, MPI_AINT, window->units, 1, MPI_AINT, making->comm);
		return;
	}
	window->unit = making->unit;
	free(window->units);
	window->units = NULL;
}

static void drop_hints(struct making *making)
{
	job_tell("hints that are not the same on all members are left out");
	hints_drop_agreed(&making->hints);
}

/*
 * Returns 0 if all members have memory and a handle. One reduction compares handles, units and
 * hints; if the units differ, a second follows.
 */
static int agree_before(struct window *window, struct making *making)
{
	const long agreed = hints_agreed(&making->hints);
	long mine[] = { making->unit, -making->unit, agreed, -agreed, window != NULL }, all[5];

	PMPI_Allreduce(mine, all, 5, MPI_LONG, MPI_MIN, making->comm);
	if (all[2] != -all[3])
		drop_hints(making);
	if (all[4]) {
		keep_units(window, making, all[0] == -all[1]);
		return 0;
	}
	members_forget(making->comm); /* the failed member has none */
	return -1;
}

/*
 * Returns whether making the window is the agreement: all members have a group, so a failed one can
 * take part with the hint "refuse", and a dynamic window has no units.
 */
static bool agrees_by_making(const struct making *making)
{
	return making->flavor == MPI_WIN_FLAVOR_DYNAMIC && members_known(making->comm);
}

static int agree_by_making(struct window *window, const struct making *making)
{
	const struct oriel_hint hints[] = { { "refuse", "true" }, { NULL, NULL } };
	oriel_win *none = NULL;

	if (window) {
		keep_units(window, making, true);
		return 0;
	}
	oriel_win_create_dynamic(hints, members_of_comm(making->comm), &none);
	return -1;
}

/* Returns 0 if all members have what they need, or the making will report the others. */
static int agree(struct window *window, struct making *making, bool by_making)
{
	int rc = by_making ? agree_by_making(window, making) : agree_before(window, making);

	if (rc)
		job_tell("a window is the MPI's own: a member has no memory or no handle for it");
	return rc;
}

static struct window *new_window(MPI_Comm comm)
{
	struct window *window = calloc(1, sizeof(*window));

	if (!window)
		return NULL;
	PMPI_Comm_size(comm, &window->rank_count);
	window->units = malloc((size_t)window->rank_count * sizeof(*window->units));
	if (window->units)
		return window;
	free(window);
	return NULL;
}

/* Makes the window's handle, and adds it to the table. Returns 0 or -1. */
static int make_known(struct window *window, MPI_Comm comm)
{
	if (proxy_win_take(&window->handle))
		return -1;
	if (table_add(&windows, TABLE_KEY(window->handle), window) == 0) {
		PMPI_Comm_group(comm, &window->group);
		return 0;
	}
	proxy_win_give(&window->handle, false);
	return -1;
}

/* Sets the handle to MPI_WIN_NULL. */
static int make_unknown(struct window *window, MPI_Win *handle, bool had_attributes)
{
	table_remove(&windows, TABLE_KEY(window->handle));
	real_mpi.Group_free(&window->group);
	return proxy_win_give(handle, had_attributes);
}

/* Returns whether the part begins at MPI_BOTTOM, with all addresses as memory. */
static bool begins_nowhere(const struct making *making)
{
	if (making->flavor != MPI_WIN_FLAVOR_CREATE || making->base != MPI_BOTTOM || making->size_bytes <= 0)
		return false;
	job_tell("its part of a window begins at MPI_BOTTOM");
	return true;
}

/* Returns whether Oriel would allocate memory while descriptors are short. */
static bool is_too_many(const struct making *making)
{
	if ((making->flavor != MPI_WIN_FLAVOR_ALLOCATE && making->flavor != MPI_WIN_FLAVOR_SHARED) ||
	    !memory_is_short_of_descriptors())
		return false;
	job_tell("half of the descriptors that it may have are in use (ulimit -n)");
	return true;
}

/* Returns whether descriptors are too few for first contact with each member on this machine. */
static bool cannot_contact_all(const struct making *making)
{
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };
	int members, contacts;

	PMPI_Comm_size(making->comm, &members);
	oriel_usage(job.oriel, &usage);
	contacts = (members < job.local_size ? members : job.local_size) - 1 - (int)usage.peers;
	if (contacts <= 0 || memory_has_descriptors(contacts * DESCRIPTORS_EACH))
		return false;
	job_tell("there are too few descriptors for first contact with %d members (ulimit -n), up to %d each", contacts,
	         DESCRIPTORS_EACH);
	return true;
}

/* Does all that may fail on this rank alone, before the members agree. Returns NULL on failure. */
static struct window *prepare(const struct making *making)
{
	oriel_group *group = members_of_comm(making->comm); /* collective the first time */
	bool takes_part = group && !begins_nowhere(making) && !is_too_many(making) && !cannot_contact_all(making);
	struct window *window = takes_part ? new_window(making->comm) : NULL;

	if (window && make_known(window, making->comm)) {
		release(window);
		window = NULL;
	}
	if (!window)
		return NULL;
	window->members = group;
	window->base = making->base;
	window->size_bytes = making->size_bytes;
	window->own_unit = (int)making->unit;
	window->flavor = making->flavor;
	window->model = MPI_WIN_UNIFIED;
	return window;
}

static int open_by_flavor(struct window *window, const struct making *making)
{
	const struct oriel_hint *hints = making->hints.list;
	size_t bytes = (size_t)making->size_bytes;

	switch (making->flavor) {
	case MPI_WIN_FLAVOR_CREATE:
		return oriel_win_create(making->base, bytes, 1, hints, window->members, &window->win);
	case MPI_WIN_FLAVOR_ALLOCATE:
		return oriel_win_allocate(bytes, 1, hints, window->members, &window->base, &window->win);
	case MPI_WIN_FLAVOR_SHARED:
		return oriel_win_allocate_shared(bytes, 1, hints, window->members, &window->base, &window->win);
	default:
		return oriel_win_create_dynamic(hints, window->members, &window->win);
	}
}

/* The first lack of memory is always reported: the MPI may die of it. */
static void tell_left(const struct making *making, int rc)
{
	static bool warned;
	const char *text = job_without_rank(oriel_last_error());
	int rank = -1;

	PMPI_Comm_rank(making->comm, &rank);
	if (rc == ORIEL_ERR_MEMORY && rank == 0 && !__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
		job_warn("a window is the MPI's own: %s", text);
	else
		job_tell("a window is the MPI's own: %s", text);
}

/*
 * All members see this failure, so all may fall back on the MPI (ORIEL_ERR_ROUTE,
 * ORIEL_ERR_SHARED).
 */
static int not_opened(const struct making *making, int rc)
{
	const int class = error_class(rc);
	char text[LANGUAGE_BYTES];

	if (rc == ORIEL_ERR_PEER || rc == ORIEL_ERR_TIMEOUT || rc == ORIEL_ERR_ARG || rc == ORIEL_ERR_KIND)
		return error_on_comm(making->comm, class, language_of_mpi(NULL, oriel_last_error(), text));
	tell_left(making, rc);
	return PASS_ON;
}

static int make_agreed(const struct making *making, struct window *window, MPI_Win *handle)
{
	struct oriel_win_info win_info = { .struct_bytes = sizeof(win_info) };
	int rc = open_by_flavor(window, making);

	if (rc)
		return not_opened(making, rc);
	oriel_win_query(window->win, &win_info);
	window->members = win_info.group;
	hints_keep_reported(making->info, window->reported);
	if (making->flavor == MPI_WIN_FLAVOR_SHARED && making->size_bytes == 0)
		window->base = NULL; /* as MPI_Win_shared_query returns it */
	*handle = window->handle;
	return MPI_SUCCESS;
}

static void discard(struct window *window)
{
	if (!window)
		return;
	make_unknown(window, &window->handle, false);
	release(window);
}

/* A dynamic window's hints need no agreement (agrees_by_making). */
static void read_hints(struct making *making)
{
	hints_read(making->info, &making->hints);
	if (making->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		hints_drop_agreed(&making->hints);
}

static int make_suited(struct making *making, MPI_Win *handle, struct window **made)
{
	struct window *window;
	bool by_making = agrees_by_making(making); /* before prepare() makes a group */
	int rc = check(making);

	if (rc)
		return rc;
	read_hints(making);
	window = prepare(making);
	rc = agree(window, making, by_making) ? PASS_ON : make_agreed(making, window, handle);
	if (rc == MPI_SUCCESS)
		*made = window;
	else
		discard(window);
	return rc;
}

/* Oriel's job needs MPI_Init. */
static bool has_job(void)
{
	if (!job.begun)
		job_tell("a window is the MPI's own: the program has sessions alone, and has not called MPI_Init");
	return job.oriel != NULL;
}

/*
 * Returns MPI_SUCCESS, PASS_ON, or an error for which the communicator's handler has been called.
 */
static int make(struct making *making, MPI_Win *handle, struct window **made)
{
	const char *why;

	if (!has_job() || making->comm == MPI_COMM_NULL)
		return PASS_ON;
	if (members_suit(making->comm, &why))
		return make_suited(making, handle, made);
	job_tell("a window is the MPI's own: %s", why);
	return PASS_ON;
}

/* *(void **)base becomes the memory. */
static int allocate(struct making *making, void *base, MPI_Win *win)
{
	struct window *made;
	int rc = make(making, win, &made);

	if (rc == MPI_SUCCESS)
		*(void **)base = made->base;
	return rc;
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct making making = {
		.base = base, .size_bytes = size, .unit = disp_unit, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_CREATE
	};
	struct window *made;
	int rc = make(&making, win, &made);

	return rc == PASS_ON ? real_mpi.Win_create(base, size, disp_unit, info, comm, win) : rc;
}
TAKEN(Win_create);

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct making making = {
		.size_bytes = size, .unit = disp_unit, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_ALLOCATE
	};
	int rc = allocate(&making, baseptr, win);

	return rc == PASS_ON ? real_mpi.Win_allocate(size, disp_unit, info, comm, baseptr, win) : rc;
}
TAKEN(Win_allocate);

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct making making = {
		.size_bytes = size, .unit = disp_unit, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_SHARED
	};
	int rc = allocate(&making, baseptr, win);

	return rc == PASS_ON ? real_mpi.Win_allocate_shared(size, disp_unit, info, comm, baseptr, win) : rc;
}
TAKEN(Win_allocate_shared);

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct making making = {
		.base = MPI_BOTTOM, .unit = 1, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_DYNAMIC
	};
	struct window *made;
	int rc = make(&making, win, &made);

	return rc == PASS_ON ? real_mpi.Win_create_dynamic(info, comm, win) : rc;
}
TAKEN(Win_create_dynamic);

/* Calls delete callbacks, which may use the window, unless its free will be refused. */
static int delete_attributes(struct window *window)
{
	struct oriel_win_info win_info = { .struct_bytes = sizeof(win_info) };

	if (keyvals_none(&window->keyvals))
		return MPI_SUCCESS;
	oriel_win_query(window->win, &win_info);
	return win_info.free_refused ? MPI_SUCCESS : keyvals_delete(&window->keyvals, window->handle);
}

/* Called once Oriel's window is gone. */
static int free_proxy(struct window *window, MPI_Win *win)
{
	int rc;

	if (window->posted.members)
		oriel_group_free(&window->posted.members);
	if (window->started.members)
		oriel_group_free(&window->started.members);
	rc = make_unknown(window, win, window->keyvals.used);
	release(window);
	return rc;
}

int window_error(MPI_Win handle)
{
	if (!proxy_win_is_kept(handle))
		return MPI_SUCCESS;
	return error_on_comm(MPI_COMM_WORLD, MPI_ERR_WIN, "a call is given a window that has been freed");
}

int MPI_Win_free(MPI_Win *win)
{
	struct window *window = window_of(*win);
	int rc, code;

	if (!window) {
		rc = window_error(*win);
		if (rc)
			return rc;
		proxy_wins_release(); /* the MPI must not take a kept proxy for a window */
		return real_mpi.Win_free(win);
	}
	rc = delete_attributes(window);
	if (rc)
		return rc;
	/*
	 * With its epochs closed, each request is complete or has failed. With epochs open and a member
	 * lost, the next requests_look ends the rest with MPI_ERR_WIN.
	 */
	requests_look();
	rc = oriel_win_free(&window->win);
	code = error_of_call(window, rc);
	if (window->win)
		return code;
	rc = free_proxy(window, win);
	return code ? code : rc;
}
TAKEN(Win_free);

#if MPI_VERSION >= 4
int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct making making = {
		.base = base, .size_bytes = size, .unit = disp_unit, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_CREATE
	};
	struct window *made;
	int rc = make(&making, win, &made);

	return rc == PASS_ON ? real_mpi.Win_create_c(base, size, disp_unit, info, comm, win) : rc;
}
TAKEN(Win_create_c);

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct making making = {
		.size_bytes = size, .unit = disp_unit, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_ALLOCATE
	};
	int rc = allocate(&making, baseptr, win);

	return rc == PASS_ON ? real_mpi.Win_allocate_c(size, disp_unit, info, comm, baseptr, win) : rc;
}
TAKEN(Win_allocate_c);

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                              MPI_Win *win)
{
	struct making making = {
		.size_bytes = size, .unit = disp_unit, .info = info, .comm = comm, .flavor = MPI_WIN_FLAVOR_SHARED
	};
	int rc = allocate(&making, baseptr, win);

	return rc == PASS_ON ? real_mpi.Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win) : rc;
}
TAKEN(Win_allocate_shared_c);
#endif

/* memory attached to a dynamic window, or of a shared one */

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_attach(win, base, size);
	if (size < 0)
		return error_on_window(window, MPI_ERR_SIZE, "MPI_Win_attach", "the size is negative");
	return error_of_call(window, oriel_win_attach(window->win, base, (size_t)size));
}
TAKEN(Win_attach);

int MPI_Win_detach(MPI_Win win, const void *base)
{
	struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_detach(win, base);
	return error_of_call(window, oriel_win_detach(window->win, base));
}
TAKEN(Win_detach);

/* Returns the first rank that has memory, for MPI_PROC_NULL. */
static int first_with_memory(struct window *window)
{
	size_t bytes = 0, unit;
	void *base;

	for (int rank = 0; rank < window->rank_count; rank++)
		if (oriel_win_shared_query(window->win, rank, &base, &bytes, &unit) == 0 && bytes > 0)
			return rank;
	return 0;
}

/* A part of 0 bytes has no address in MPI. */
static int query(struct window *window, int rank, MPI_Aint *size, MPI_Aint *unit, void *baseptr)
{
	void *base = NULL;
	size_t bytes = 0, bytes_unit;
	int rc;

	if (window->flavor != MPI_WIN_FLAVOR_SHARED)
		return error_on_window(window, MPI_ERR_RMA_FLAVOR, "MPI_Win_shared_query", "the window is no shared one");
	if (rank == MPI_PROC_NULL)
		rank = first_with_memory(window);
	rc = oriel_win_shared_query(window->win, rank, &base, &bytes, &bytes_unit);
	if (rc)
		return error_of_call(window, rc);
	*(void **)baseptr = bytes > 0 ? base : NULL;
	*size = (MPI_Aint)bytes;
	*unit = window_unit(window, rank);
	return MPI_SUCCESS;
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
	struct window *window = window_of(win);
	MPI_Aint unit = 0;
	int rc;

	if (!window)
		return window_error(win) ?: real_mpi.Win_shared_query(win, rank, size, disp_unit, baseptr);
	rc = query(window, rank, size, &unit, baseptr);
	if (rc == MPI_SUCCESS)
		*disp_unit = (int)unit;
	return rc;
}
TAKEN(Win_shared_query);

#if MPI_VERSION >= 4
int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr)
{
	struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_shared_query_c(win, rank, size, disp_unit, baseptr);
	return query(window, rank, size, disp_unit, baseptr);
}
TAKEN(Win_shared_query_c);
#endif
