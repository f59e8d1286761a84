/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contents.h - the call that has made a datatype, and its arguments
 *
 * DESIGN NOTES
 *
 * MPI tells the arguments by their sorts: integers, addresses, large counts (of calls of MPI-4, in place of both) and datatypes.
 * Here they stand as the calls without large counts have them, whichever has been used: integers, as wide as large counts are,
 * and addresses.
 */
#ifndef ORIEL_MPI_CONTENTS_H
#define ORIEL_MPI_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct contents {
	int combiner;
	size_t type_count;
	MPI_Aint *integers;
	MPI_Aint *addresses;
	MPI_Datatype *types;
};

/* 0, or -1: no memory. contents_free in any case. */
int contents_read(MPI_Datatype type, struct contents *contents);

void contents_free(struct contents *contents);

/* Whether it is one of MPI's own, which nobody frees: MPI_INT, say, and what MPI_Type_create_f90_real gives. */
bool contents_predefined(MPI_Datatype type);
bool contents_is_f90(int combiner);

#endif
