/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proxy_win.h - the MPI's own windows that stand behind the program's handles; see window.h
 *
 * DESIGN NOTES
 *
 * Making a proxy costs up to 20 us (Open MPI 4.1), more than the rest of a window. So proxies of
 * freed windows are reset and kept for later ones: no name, the default error handler. A proxy that
 * has had attributes is not kept: when the MPI frees it, it deletes those that the layer may not
 * know of.
 */
#ifndef ORIEL_MPI_PROXY_WIN_H
#define ORIEL_MPI_PROXY_WIN_H

#include <mpi.h>
#include <stdbool.h>

/* Returns MPI_SUCCESS or the MPI's own error. */
int proxy_win_take(MPI_Win *handle);

/* Keeps or frees the proxy; *handle becomes MPI_WIN_NULL. */
int proxy_win_give(MPI_Win *handle, bool had_attributes);

/* Frees the proxies that are kept. */
void proxy_wins_release(void);

#endif
