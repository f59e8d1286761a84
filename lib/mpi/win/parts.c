// SPDX-License-Identifier: BSD-2-Clause
/* parts.c - memory attached to a dynamic window, or of a shared one */
#include "mpi/job/real_mpi.h"
#include "mpi/win/error.h"
#include "mpi/win/window.h"

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct window *window = window_of(win);

	if (!window)
		return real_mpi.Win_attach(win, base, size);
	if (size < 0)
		return error_on_window(window, MPI_ERR_SIZE, "MPI_Win_attach", "the size is negative");
	return error_of_call(window, oriel_win_attach(window->win, base, (size_t)size));
}
TAKEN(Win_attach);

int MPI_Win_detach(MPI_Win win, const void *base)
{
	struct window *window = window_of(win);

	return window ? error_of_call(window, oriel_win_detach(window->win, base)) : real_mpi.Win_detach(win, base);
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
		return real_mpi.Win_shared_query(win, rank, size, disp_unit, baseptr);
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
		return real_mpi.Win_shared_query_c(win, rank, size, disp_unit, baseptr);
	return query(window, rank, size, disp_unit, baseptr);
}
TAKEN(Win_shared_query_c);
#endif
