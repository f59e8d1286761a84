/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operation.h - put, get and accumulate operations between datatypes of any kind
 *
 * DESIGN NOTES
 *
 * An operation that is one piece on all sides is one plain call of Oriel. Any other is cut, with a
 * cursor per side, into rows (op/row.h), and pieces for Oriel's vector calls.
 */
#ifndef ORIEL_MPI_OPERATION_H
#define ORIEL_MPI_OPERATION_H

#include <mpi.h>

#include "mpi/type/datatype.h"
#include "mpi/win/window.h"

enum operation_kind { OPERATION_PUT, OPERATION_GET, OPERATION_ACCUMULATE, OPERATION_GET_ACCUMULATE };

/* One side's arguments; the target's `addr` is NULL. */
struct side {
	void *addr;
	MPI_Count count;
	MPI_Datatype type;
	const struct datatype *known; /* set by operation_do */
};

struct operation {
	enum operation_kind kind;
	const struct window *window;
	int rank;
	MPI_Aint disp;
	struct side origin;
	struct side result; /* of get_accumulate */
	struct side target;
	MPI_Op op;
};

/* Returns the operation's offset in the target's window. */
static inline size_t operation_offset(const struct operation *operation)
{
	return window_offset(operation->window, operation->rank, operation->disp);
}

/* Returns MPI_SUCCESS if the rank is a member, or operation_do's error. */
int operation_member(const struct window *window, int rank, const char *call);

/* Returns MPI_SUCCESS if MPI defines the operation on the datatype, or operation_do's error. */
int operation_barred(const struct window *window, const struct datatype *datatype, enum oriel_op op, const char *call);

/* Returns MPI_SUCCESS, or an error that the window's handler lets it return. */
int operation_do(struct operation *operation);

/* Carries out an operation in pieces. The sides are known. Returns 0 or Oriel's error. */
int transfer(const struct operation *operation, size_t size_bytes, size_t target_offset, enum oriel_op op);

/*
 * request.c: requests of MPI_Rput and its like
 *
 * DESIGN NOTES
 *
 * An operation that is complete when its call returns has a complete request of the MPI's own. Any
 * other has a generalized request, which the layer lists. Calls that wait for requests or test them
 * first complete those that have ended, and are the MPI's own while the list is empty. A request
 * that the program frees early stays listed until it is complete.
 */

/*
 * Makes a request for what has been issued to that rank; MPI_PROC_NULL: nothing. Returns as
 * operation_do does.
 */
int request_make(const struct window *window, int rank, MPI_Request *request);

/* Reports, once, an operation with a request in an epoch of fence or start. */
void request_tell_active(void);

/* Tests all outstanding requests; also before a window's free, which forgets its requests. */
void requests_look(void);

#endif
