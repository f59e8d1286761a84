/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - a window of the program's: what the layer knows beside Oriel's own
 *
 * DESIGN NOTES
 *
 * The program's handle is that of a proxy: a window of the MPI's own for this rank alone, without
 * memory, which sends nothing when it is made (proxy_win.h). Names, attributes and their keyvals,
 * error handlers and Fortran's handles come with it. What concerns more than this rank is answered
 * by the layer. A handle that is not in the table is that of a window which is the MPI's own
 * altogether.
 *
 * Oriel's windows here have displacement unit 1, since datatypes have offsets that are no multiples of the
 * program's. Those of all members are agreed on when the window is made, with one reduction; they are kept by rank only where
 * they differ.
 */
#ifndef ORIEL_MPI_WINDOW_H
#define ORIEL_MPI_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/keyvals.h"
#include "mpi/table.h"
#include "oriel.h"

/* The group of the latest epoch, as Oriel's: most programs give one again and again. Of the thread that opens such epochs. */
struct last_group {
	MPI_Group group;
	oriel_group *members; /* NULL: none */
	uint64_t freed;       /* groups_freed when it was made: a handle that has been freed may be another group's */
};

#define HINTS_TOLD 3

struct window {
	oriel_win *win;
	MPI_Win handle;
	MPI_Group group;
	oriel_group *members; /* the window's; borrowed */
	int rank_count;
	MPI_Aint unit;   /* of all members; 0: as units says */
	MPI_Aint *units; /* by rank, or NULL */
	void *base;
	MPI_Aint size_bytes;
	int own_unit;
	int flavor;
	int model;
	struct last_group posted;
	struct last_group started;
	struct keyvals keyvals; /* of the attributes that the program has set */
	bool active;            /* window_is_active() */
	bool told[HINTS_TOLD];  /* hints that are told and nothing else: hints.h */
};

extern struct table windows __attribute__((visibility("hidden")));
extern _Thread_local struct table_last window_last __attribute__((tls_model("initial-exec")));

/* NULL: the window is the MPI's own. */
static inline struct window *window_of(MPI_Win handle)
{
	return table_find_again(&windows, &window_last, TABLE_KEY(handle));
}

/* Whether the epoch opened last is one of fence or start, for what is told: no other word is ordered by it. */
static inline bool window_is_active(const struct window *window)
{
	return __atomic_load_n(&window->active, __ATOMIC_RELAXED);
}

static inline void window_set_active(struct window *window, bool active)
{
	__atomic_store_n(&window->active, active, __ATOMIC_RELAXED);
}

/* Of a member. */
static inline MPI_Aint window_unit(const struct window *window, int rank)
{
	return window->unit ? window->unit : window->units[rank];
}

/*
 * A displacement in bytes. Negative ones, and those whose bytes are no number, come out beyond half of what a size_t has, where
 * no window reaches: Oriel refuses them.
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

#endif
