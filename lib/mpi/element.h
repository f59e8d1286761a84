/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * element.h - MPI's predefined datatypes and operations as Oriel's
 */
#ifndef ORIEL_MPI_ELEMENT_H
#define ORIEL_MPI_ELEMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "oriel.h"

#define ELEMENT_NONE ((enum oriel_type)0)

/* By its handle; ELEMENT_NONE: it is not in the list. */
enum oriel_type element_of_named(MPI_Datatype type);

/* Of MPI_Type_create_f90_*, by combiner and size. */
enum oriel_type element_of_f90(int combiner, size_t size_bytes);

/*
 * Where the index of a pair lies that has a gap before or behind it: bytes of the value, offset of the index. False: it has
 * no gap, or is no pair.
 */
bool element_gap(enum oriel_type element, size_t *value_bytes, size_t *index_offset);

/* 0: MPI's operation is none that Oriel has. */
enum oriel_op element_op(MPI_Op op);

#endif
