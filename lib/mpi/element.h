/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * element.h - MPI's predefined datatypes and operations as Oriel's
 */
#ifndef ORIEL_MPI_ELEMENT_H
#define ORIEL_MPI_ELEMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oriel.h"

#define ELEMENT_NONE ((enum oriel_type)0)

/* By its handle; ELEMENT_NONE: it is not in the list. */
enum oriel_type element_of_named(MPI_Datatype type);

/*
 * What is barred of what Oriel does with its type: a bit for each of enum oriel_op, and one for compare_and_swap. Nothing is of bytes
 * and characters, which both MPIs add up although the standard does not.
 */
#define ELEMENT_OP(op) (UINT32_C(1) << (op))
#define ELEMENT_SWAP ELEMENT_OP(0)
uint32_t element_barred(MPI_Datatype named);

/* Of MPI_Type_create_f90_*, by combiner and size. */
enum oriel_type element_of_f90(int combiner, size_t size_bytes);

/*
 * Where the index of a pair lies that has a gap before or behind it: bytes of the value, offset of the index. False: it has
 * no gap, or is no pair.
 */
bool element_gap(enum oriel_type element, size_t *value_bytes, size_t *index_offset);

/* MPI's operations, each at its hash or in the next free place; filled at load. No handle is 0. */
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

/* 0: MPI's operation is none that Oriel has. */
static inline enum oriel_op element_op(MPI_Op op)
{
	size_t i = element_op_hash(op);

	while (element_ops[i].op != op && element_ops[i].oriel)
		i = (i + 1) % ELEMENT_OPS;
	return element_ops[i].oriel;
}

#endif
