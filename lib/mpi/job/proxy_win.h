/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proxy_win.h - the MPI's own windows that stand behind the program's handles (window.h)
 *
 * DESIGN NOTES
 *
 * Making a proxy costs more than the rest of a window. So proxies of freed windows are kept, with
 * no name and the default error handler. A proxy that has had attributes is not kept: the layer may
 * not know of all.
 */
#ifndef ORIEL_MPI_PROXY_WIN_H
#define ORIEL_MPI_PROXY_WIN_H

#include <mpi.h>
#include <stdbool.h>

/* Returns MPI_SUCCESS or the MPI's own error. */
int proxy_win_take(MPI_Win *handle);

/* Keeps or frees the proxy; *handle becomes MPI_WIN_NULL. */
int proxy_win_give(MPI_Win *handle, bool had_attributes);

bool proxy_win_is_kept(MPI_Win handle);

/* Frees the kept proxies. */
void proxy_wins_release(void);

#endif
