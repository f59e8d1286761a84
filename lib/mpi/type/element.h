/* SPDX-License-Identifier: BSD-2-Clause */
/* element.h - MPI's predefined datatypes and operations as Oriel's */
#ifndef ORIEL_MPI_ELEMENT_H
#define ORIEL_MPI_ELEMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oriel.h"

#define ELEMENT_NONE ((enum oriel_type)0)

/* Returns the element of a predefined datatype, or ELEMENT_NONE. */
enum oriel_type element_of_named(MPI_Datatype type);

/* Returns MPI_DATATYPE_NULL if none has it. */
MPI_Datatype element_named(enum oriel_type element);

/*
 * Returns operations that Oriel has for the type but MPI does not define: a bit for each of enum
 * oriel_op, and one for compare_and_swap. Bytes and characters have none: both MPIs add them.
 */
#define ELEMENT_OP(op) (UINT32_C(1) << (op))
#define ELEMENT_SWAP ELEMENT_OP(0)
uint32_t element_barred(MPI_Datatype named);

enum oriel_type element_of_f90(int combiner, size_t size_bytes);

/* Returns the size of a pair's value and the offset of its index; false: no gap, or no pair. */
bool element_gap(enum oriel_type element, size_t *value_bytes, size_t *index_offset);

/* MPI's operations, hashed with linear probing; filled at load. No handle is 0. */
#define ELEMENT_OPS 64
struct element_op {
	MPI_Op op;
	enum oriel_op oriel;
};
extern struct element_op element_ops[ELEMENT_OPS] __attribute__((visibility("hidden")));

static inline size_t element_op_hash(MPI_Op op)
{
	const uintptr_t handle = (uintptr_t)op;

	return (size_t)(handle ^ handle >> 8) % ELEMENT_OPS;
}

/* Returns 0 if Oriel does not have the operation. */
static inline enum oriel_op element_op(MPI_Op op)
{
	size_t i = element_op_hash(op);

	while (element_ops[i].op != op && element_ops[i].oriel)
		i = (i + 1) % ELEMENT_OPS;
	return element_ops[i].oriel;
}

#endif
