/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flatten.h - from a datatype's contents to its layout
 */
#ifndef ORIEL_MPI_FLATTEN_H
#define ORIEL_MPI_FLATTEN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/element.h"
#include "mpi/layout.h"

struct flattening {
	struct layout_maker maker;
	bool whole_pairs;        /* in: pairs as elements, gaps and all */
	enum oriel_type element; /* out: the one that it is made of */
	uint32_t barred;         /* out: what must not be done with it, as element_barred tells */
	bool mixed;              /* out: there is more than one, or one that Oriel does not have */
};

/* Sets maker.failed where it cannot. */
const struct layout *flatten(struct flattening *flattening, MPI_Datatype type);

/* True extents of types are not asked for: a layout has them. */
ptrdiff_t extent_of(MPI_Datatype type);

#endif
