/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * datatype.h - what the layer knows of a datatype, from its first use until it is freed
 *
 * DESIGN NOTES
 *
 * A datatype's layout is made from its envelope and contents, all the way down. It is kept in a table by the handle; an
 * attribute of the datatype, whose delete callback is called when it is freed, takes it out again. Predefined
 * datatypes stay.
 *
 * There are two layouts of one datatype. That of its bytes has no gaps of C's pairs in it (MPI_SHORT_INT), since put
 * must not touch these. That of its elements has whole pairs, as Oriel's accumulate takes them. Only where a datatype is made
 * of one predefined type does it have the second, and only with gaps is it another than the first.
 */
#ifndef ORIEL_MPI_DATATYPE_H
#define ORIEL_MPI_DATATYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/element.h"
#include "mpi/layout.h"
#include "mpi/table.h"

struct datatype {
	size_t size_bytes; /* of one, without gaps */
	ptrdiff_t extent_bytes;
	bool dense;              /* any number of them is one piece that begins at the address given */
	enum oriel_type element; /* ELEMENT_NONE: of several, or of one that Oriel does not have */
	enum oriel_type single;  /* the element of a predefined datatype; ELEMENT_NONE: calls of one element refuse it */
	enum oriel_type swapped; /* of one that compare_and_swap takes */
	uint32_t barred;         /* of what Oriel would do with the element, as ELEMENT_OP */
	enum oriel_type free_element, free_single; /* the same where nothing is barred, or else ELEMENT_NONE */
	size_t element_bytes;                      /* with the gaps of a pair */
	size_t element_count;                      /* in one of the datatype */
	const struct layout *bytes;
	const struct layout *elements;
	struct layout_maker maker;
};

extern struct table datatypes __attribute__((visibility("hidden")));
extern _Thread_local struct table_last datatype_last __attribute__((tls_model("initial-exec")));

/* Look at it, and keep what is found. NULL: not committed, no memory, nested too deep, or MPI_DATATYPE_NULL. */
const struct datatype *datatype_learn(MPI_Datatype handle);

/* NULL: not used so far. */
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
