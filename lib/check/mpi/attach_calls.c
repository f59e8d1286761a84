// SPDX-License-Identifier: BSD-2-Clause
/* attach_calls.c - MPI's calls that attach memory to dynamic windows; see calls.h */
#include "check/mpi/calls.h"

#define CALLS(X) X(Win_attach) X(Win_detach)

#include "check/mpi/next.h"

/* Begins a call. Returns the window, or NULL: it is not recorded. */
static struct window *begin(struct place here, MPI_Win win)
{
	struct window *window = call_begin() && win != MPI_WIN_NULL ? window_find((uint64_t)(uintptr_t)win) : NULL;

	if (window)
		thread_check(here);
	return window;
}

static void add(struct place here, enum trace_kind kind, const struct window *window, const void *base, MPI_Aint size)
{
	trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
	                                      .object = window->key,
	                                      .rank = -1,
	                                      .base = (uint64_t)(uintptr_t)base,
	                                      .size_bytes = (uint64_t)size });
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	const struct window *window = begin(HERE("MPI_Win_attach"), win);
	int rc = next.Win_attach(win, base, size);

	if (window && rc == MPI_SUCCESS)
		add(HERE("MPI_Win_attach"), TRACE_ATTACH, window, base, size);
	call_end();
	return rc;
}
TAKEN(Win_attach);

int MPI_Win_detach(MPI_Win win, const void *base)
{
	const struct window *window = begin(HERE("MPI_Win_detach"), win);
	int rc;

	if (window)
		add(HERE("MPI_Win_detach"), TRACE_DETACH, window, base, 0);
	rc = next.Win_detach(win, base);
	call_end();
	return rc;
}
TAKEN(Win_detach);
