// SPDX-License-Identifier: BSD-2-Clause
/* dynamic.c - memory of dynamic windows. */
#include "mpi/error.h"
#include "mpi/real_mpi.h"
#include "mpi/window.h"

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct window *window = window_of(win);

	if (!window)
		return real_mpi.Win_attach(win, base, size);
	if (size < 0)
		return error_on_window(window, MPI_ERR_SIZE, "MPI_Win_attach: the size is negative");
	return error_of_call(window, oriel_win_attach(window->win, base, (size_t)size));
}
TAKEN(Win_attach);

int MPI_Win_detach(MPI_Win win, const void *base)
{
	struct window *window = window_of(win);

	return window ? error_of_call(window, oriel_win_detach(window->win, base)) : real_mpi.Win_detach(win, base);
}
TAKEN(Win_detach);
