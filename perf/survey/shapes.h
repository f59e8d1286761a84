/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes.h - where the doubles of a transfer lie: one after the other, or as a derived datatype has
 * them
 */
#ifndef ORIEL_PERF_SHAPES_H
#define ORIEL_PERF_SHAPES_H

#include <mpi.h>
#include <sys/uio.h>

enum { SHAPE_SPAN = 4 }; /* a shape of n doubles lies within the first SHAPE_SPAN * n + 16 */

struct shape {
	MPI_Datatype type;
	int count;
};

/* Returns the shape of that name with `doubles` elements; count 0 if there is no such shape. */
struct shape shape_make(const char *name, int doubles);
void shape_free(struct shape *shape);

/*
 * Writes where the shape's pieces lie in memory at `base`; `list` has room for `doubles` of them.
 * Returns how many there are.
 */
int shape_pieces(const char *name, int doubles, void *base, struct iovec *list);
#endif
