/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proxy_win.h - windows of the MPI's own that stand behind the program's handles; see window.h
 *
 * DESIGN NOTES
 *
 * Making a proxy costs up to 20 us (Open MPI 4.1), more than all the rest of a window. So those of
 * windows that the program frees are kept for its next windows, as new: without a name, with the
 * handler that windows begin with. A proxy that has had attributes is not kept, since the MPI
 * deletes what the layer may not know of when the proxy is freed.
 */
#ifndef ORIEL_MPI_PROXY_WIN_H
#define ORIEL_MPI_PROXY_WIN_H

#include <mpi.h>
#include <stdbool.h>

/* MPI_SUCCESS, or the MPI's own error. */
int proxy_win_take(MPI_Win *handle);

/* It becomes MPI_WIN_NULL. */
int proxy_win_give(MPI_Win *handle, bool had_attributes);

/* Free those that are kept. */
void proxy_wins_release(void);

#endif
