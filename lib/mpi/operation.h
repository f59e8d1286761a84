/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operation.h - put, get and the accumulate family between datatypes of any kind
 *
 * DESIGN NOTES
 *
 * What is one piece on all sides goes to Oriel's plain call at once. Anything else is walked through with a cursor per side:
 * pieces are cut so that they match, and go to Oriel's vector call some hundreds at a time.
 */
#ifndef ORIEL_MPI_OPERATION_H
#define ORIEL_MPI_OPERATION_H

#include <mpi.h>

#include "mpi/datatype.h"
#include "mpi/window.h"

enum operation_kind { OPERATION_PUT, OPERATION_GET, OPERATION_ACCUMULATE, OPERATION_GET_ACCUMULATE };

/* What a call gives for one side: `addr` of the target is none. */
struct side {
	void *addr;
	MPI_Count count;
	MPI_Datatype type;
	const struct datatype *known; /* found by the operation */
};

struct operation {
	enum operation_kind kind;
	const struct window *window;
	int rank;
	MPI_Aint disp;
	struct side origin;
	struct side result; /* get_accumulate only */
	struct side target;
	MPI_Op op;
};

/* MPI_SUCCESS if the rank is a member of the window, or an error as operation_do's. */
int operation_member(const struct window *window, int rank);

/* MPI_SUCCESS if MPI lets the datatype's elements be combined so, or an error as operation_do's. */
int operation_barred(const struct window *window, const struct datatype *datatype, enum oriel_op op);

/* MPI_SUCCESS, or what the window's error handler lets the call return. */
int operation_do(struct operation *operation);

/* Any operation that is not one piece everywhere; sides are known, and the rank is a member. An error of Oriel's, or 0. */
int transfer(const struct operation *operation, size_t size_bytes, size_t target_offset, enum oriel_op op);

#endif
