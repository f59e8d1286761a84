/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - what the layer knows of a window
 *
 * DESIGN NOTES
 *
 * The program's handle is a proxy's: the MPI's own window for this rank alone, without memory and
 * communication (proxy_win.h). It brings names, attributes, error handlers and Fortran handles. A
 * handle that is not in the table belongs to a window of the MPI's.
 *
 * Oriel's windows have displacement unit 1 here: offsets in datatypes need not be multiples of the
 * program's. The members' units are kept by rank only if they differ.
 */
#ifndef ORIEL_MPI_WINDOW_H
#define ORIEL_MPI_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/job/table.h"
#include "mpi/win/keyvals.h"
#include "oriel.h"

/* The group of the latest epoch, as Oriel's, for the next one. One thread opens such epochs. */
struct last_group {
	MPI_Group group;
	oriel_group *members; /* or NULL */
	uint64_t freed;       /* groups_freed then: a freed handle may become another's */
};

#define HINTS_REPORTED 3

struct window {
	oriel_win *win;
	MPI_Win handle;
	MPI_Group group;
	oriel_group *members; /* borrowed from Oriel's window */
	int rank_count;
	MPI_Aint unit;   /* 0: see units */
	MPI_Aint *units; /* by rank, or NULL */
	void *base;
	MPI_Aint size_bytes;
	int own_unit;
	int flavor;
	int model;
	struct last_group posted;
	struct last_group started;
	struct keyvals keyvals;        /* the program's attributes */
	bool active;                   /* see window_is_active */
	bool reported[HINTS_REPORTED]; /* hints that the layer only reports (hints.c) */
};

extern struct table windows __attribute__((visibility("hidden")));
extern _Thread_local struct table_last window_last __attribute__((tls_model("initial-exec")));

/* Returns NULL if the window is the MPI's, or freed. */
static inline struct window *window_of(MPI_Win handle)
{
	return table_find_again(&windows, &window_last, TABLE_KEY(handle));
}

/* Returns MPI_SUCCESS, or raises an error: the window has been freed. */
int window_error(MPI_Win handle);

/* Returns whether the latest epoch is a fence's or start's, for messages. */
static inline bool window_is_active(const struct window *window)
{
	return __atomic_load_n(&window->active, __ATOMIC_RELAXED);
}

static inline void window_set_active(struct window *window, bool active)
{
	__atomic_store_n(&window->active, active, __ATOMIC_RELAXED);
}

static inline MPI_Aint window_unit(const struct window *window, int rank)
{
	return window->unit ? window->unit : window->units[rank];
}

/*
 * Returns a displacement in bytes. Oriel refuses more than PTRDIFF_MAX, which negative and
 * overflowing ones become.
 */
static inline size_t window_bytes(MPI_Aint disp, MPI_Aint unit)
{
	ptrdiff_t bytes;

	return (size_t)(__builtin_mul_overflow(disp, unit, &bytes) ? PTRDIFF_MIN : bytes);
}

static inline size_t window_offset(const struct window *window, int rank, MPI_Aint disp)
{
	return window_bytes(disp, window_unit(window, rank));
}

/* attribute.c: the predefined attributes, which the layer answers */

/* Sets the attribute's value as Fortran's number; false: it is not predefined. */
bool attribute_number(const struct window *window, int keyval, MPI_Aint *number);

/*
 * hints.c: an MPI_Info as Oriel's hints: the keys that Oriel knows, with usable values
 *
 * Unusable values are left out, as MPI demands. So are two hints on which members must agree, if
 * they differ. Hints of which Oriel would make errors of calls are only reported as they were set.
 */

#define HINTS_MAX 5
#define HINT_VALUE_MAX 63

struct hints {
	struct oriel_hint list[HINTS_MAX + 1];
	char values[HINTS_MAX][HINT_VALUE_MAX + 1];
};

void hints_read(MPI_Info info, struct hints *hints);

/* Stores the values of the hints that are only reported. */
void hints_keep_reported(MPI_Info info, bool reported[HINTS_REPORTED]);

/* Returns the hints on which members must agree, as a number; hints_drop_agreed drops them. */
long hints_agreed(const struct hints *hints);
void hints_drop_agreed(struct hints *hints);

#endif
