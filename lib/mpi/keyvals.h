/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyvals.h - which attributes a program has set on a window
 *
 * DESIGN NOTES
 *
 * The MPI keeps attributes, with the window's proxy. But their delete callbacks may use the window's
 * memory and its handle, so they are called before anything of the window is freed, and the proxy
 * goes last. Here stands which keyvals have been set and not deleted since, in their order: the
 * latest is deleted first. The MPI is not asked whether an attribute is still there: its keyval may
 * have been freed, which Open MPI ends a program for. What a callback deletes meanwhile comes
 * behind it: MPICH ends a program that deletes an attribute of a window while it is in
 * MPI_Win_delete_attr.
 */
#ifndef ORIEL_MPI_KEYVALS_H
#define ORIEL_MPI_KEYVALS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Changed under one lock for all windows. */
struct keyvals {
	int *list;
	size_t count;
	size_t capacity;
	bool used;     /* ever */
	bool deleting; /* a thread is in keyvals_delete, the one that frees the window */
};

bool keyvals_none(const struct keyvals *keyvals);

/*
 * It becomes the last. Where there is no memory for it, its callback is called when the proxy is
 * freed.
 */
void keyvals_add(struct keyvals *keyvals, int keyval);

/* The attribute has been deleted. */
void keyvals_forget(struct keyvals *keyvals, int keyval);

bool keyvals_has(const struct keyvals *keyvals, int keyval);

/*
 * Delete the attributes of the proxy, the last first. An error that a callback gives ends it; that
 * attribute stays.
 */
int keyvals_delete(struct keyvals *keyvals, MPI_Win handle);

void keyvals_release(struct keyvals *keyvals);

#endif
