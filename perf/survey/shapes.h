/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes.h - what a transfer consists of: doubles one after the other, or as a derived datatype has
 * them; or elements that are no doubles
 */
#ifndef ORIEL_PERF_SHAPES_H
#define ORIEL_PERF_SHAPES_H

#include <mpi.h>
#include <sys/uio.h>

enum { SHAPE_SPAN = 4 }; /* a shape of n doubles lies within the first SHAPE_SPAN * n + 16 */

struct shape {
	MPI_Datatype type;
	int count;
	MPI_Op op; /* of accumulates */
	int skew;  /* bytes from the target's displacement to the first element */
};

/* Returns the shape of that name for so many bytes; count 0 if there is no such shape. */
struct shape shape_make(const char *name, int bytes);
void shape_free(struct shape *shape);

/*
 * Writes where the shape's pieces lie in memory at `base`; `list` has room for `doubles` of them.
 * Returns how many there are.
 */
int shape_pieces(const char *name, int doubles, void *base, struct iovec *list);
#endif
