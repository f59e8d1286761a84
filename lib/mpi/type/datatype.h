/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * datatype.h - what the layer knows of a datatype, from its first use until it is freed
 *
 * DESIGN NOTES
 *
 * A datatype's layout is made from its envelope and contents, recursively, and kept in a table by
 * handle. An attribute's delete callback removes it.
 *
 * A datatype has two layouts. That of its bytes leaves out the gaps of C's pairs (MPI_SHORT_INT),
 * which put must not touch. That of its elements has whole pairs, for accumulate, of one predefined
 * type.
 */
#ifndef ORIEL_MPI_DATATYPE_H
#define ORIEL_MPI_DATATYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/job/table.h"
#include "mpi/type/element.h"
#include "mpi/type/layout.h"

struct datatype {
	size_t size_bytes; /* without gaps */
	ptrdiff_t extent_bytes;
	bool dense;                                /* any number of them is one piece, at the given address */
	enum oriel_type element;                   /* ELEMENT_NONE: several, or unknown */
	enum oriel_type single;                    /* of a predefined datatype, or ELEMENT_NONE */
	enum oriel_type swapped;                   /* for compare_and_swap, or ELEMENT_NONE */
	uint32_t barred;                           /* see element_barred */
	enum oriel_type free_element, free_single; /* ELEMENT_NONE if anything is barred */
	size_t element_bytes;                      /* with the gap of a pair */
	size_t element_count;                      /* in one of the datatype */
	const struct layout *bytes;
	const struct layout *elements;
	struct layout_maker maker;
};

extern struct table datatypes __attribute__((visibility("hidden")));
extern _Thread_local struct table_last datatype_last __attribute__((tls_model("initial-exec")));

/* Learns a datatype. Returns NULL for a reason that datatype_why_not gives. */
const struct datatype *datatype_learn(MPI_Datatype handle);

const char *datatype_why_not(MPI_Datatype handle);

/* Returns NULL if the datatype has not been used. */
static inline const struct datatype *datatype_known(MPI_Datatype handle)
{
	return table_find_again(&datatypes, &datatype_last, TABLE_KEY(handle));
}

static inline const struct datatype *datatype_of(MPI_Datatype handle)
{
	const struct datatype *known = datatype_known(handle);

	return known ? known : datatype_learn(handle);
}

#endif
