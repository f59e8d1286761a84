/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyvals.h - which attributes a program has set on a window
 *
 * DESIGN NOTES
 *
 * The MPI keeps the attributes with the window's proxy. Their delete callbacks may use the window,
 * so they run first, the latest before others, and the proxy is freed last. The layer does not ask
 * whether an attribute still exists: if its keyval has been freed, Open MPI ends the program. An
 * attribute that a callback deletes waits: MPICH ends a program that deletes one during
 * MPI_Win_delete_attr.
 */
#ifndef ORIEL_MPI_KEYVALS_H
#define ORIEL_MPI_KEYVALS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct keyvals {
	int *list;
	size_t count;
	size_t capacity;
	bool used;     /* an attribute has been set */
	bool deleting; /* a thread is in keyvals_delete */
};

bool keyvals_none(const struct keyvals *keyvals);

/* Adds the latest keyval. Without memory for it, its callback runs when the proxy is freed. */
void keyvals_add(struct keyvals *keyvals, int keyval);

/* Its attribute has been deleted. */
void keyvals_forget(struct keyvals *keyvals, int keyval);

bool keyvals_has(const struct keyvals *keyvals, int keyval);

/*
 * Deletes the proxy's attributes, the latest first. If a callback returns an error, stops and
 * returns it; that attribute stays.
 */
int keyvals_delete(struct keyvals *keyvals, MPI_Win handle);

void keyvals_release(struct keyvals *keyvals);

#endif
