/* SPDX-License-Identifier: BSD-2-Clause */
/* flatten.h - the layout of a datatype, from its contents */
#ifndef ORIEL_MPI_FLATTEN_H
#define ORIEL_MPI_FLATTEN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/type/element.h"
#include "mpi/type/layout.h"

struct flattening {
	struct layout_maker maker;
	bool whole_pairs;        /* in: pairs are elements, with gaps */
	enum oriel_type element; /* out */
	uint32_t barred;         /* out: see element_barred */
	bool mixed;              /* out: several types, or one that Oriel lacks */
};

/* Sets maker.failed on failure. */
const struct layout *flatten(struct flattening *flattening, MPI_Datatype type);

/* True extents are not needed: a layout has them. */
ptrdiff_t extent_of(MPI_Datatype type);

/*
 * The call that has made a datatype, and its arguments
 *
 * DESIGN NOTES
 *
 * MPI returns the arguments by kind: integers, addresses, large counts (of MPI-4's calls, in place
 * of both) and datatypes. Here they stand as for calls without large counts.
 */

struct contents {
	int combiner;
	size_t type_count;
	MPI_Aint *integers;
	MPI_Aint *addresses;
	MPI_Datatype *types;
};

/* Returns 0 or -1; contents_free must be called in any case. */
int contents_read(MPI_Datatype type, struct contents *contents);

void contents_free(struct contents *contents);

/* Returns whether the type is MPI's own, also by MPI_Type_create_f90_*, and must not be freed. */
bool contents_predefined(MPI_Datatype type);
bool contents_is_f90(int combiner);

/* Writes the name of a predefined datatype, or of the elements of another; returns text. */
const char *contents_name(MPI_Datatype type, enum oriel_type element, char text[MPI_MAX_OBJECT_NAME]);

#endif
