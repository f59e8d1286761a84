/* SPDX-License-Identifier: BSD-2-Clause */
/* flatten.h - the layout of a datatype, from its contents */
#ifndef ORIEL_MPI_FLATTEN_H
#define ORIEL_MPI_FLATTEN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/type/element.h"
#include "mpi/type/layout.h"

struct flattening {
	struct layout_maker maker;
	bool whole_pairs;        /* in: pairs are elements, gaps included */
	enum oriel_type element; /* out: the element type */
	uint32_t barred;         /* out: as element_barred returns it */
	bool mixed;              /* out: several types, or one that Oriel does not have */
};

/* Sets maker.failed on failure. */
const struct layout *flatten(struct flattening *flattening, MPI_Datatype type);

/* True extents are not needed: a layout has them. */
ptrdiff_t extent_of(MPI_Datatype type);

#endif
