/* SPDX-License-Identifier: BSD-2-Clause */
/* types.h - the bytes of datatypes, as pieces of a trace */
#ifndef ORIEL_CHECK_MPI_TYPES_H
#define ORIEL_CHECK_MPI_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "check/trace.h"

/* Memory that a call names. */
struct side {
	const void *address;
	MPI_Count count; /* 0: nothing */
	MPI_Datatype type;
};

static inline struct side side_of(const void *address, MPI_Count count, MPI_Datatype type)
{
	return (struct side){ address, count, type };
}

/* Pieces of one operation: those of the target, then those that are read, then those written. */
struct type_pieces {
	struct trace_piece few[8];
	struct trace_piece *list;
	size_t count, capacity;
	bool too_many;
};

void pieces_begin(struct type_pieces *pieces);
void pieces_end(struct type_pieces *pieces);

/* Adds `count` of the datatype from an address, or an offset. Returns how many pieces these are. */
uint32_t pieces_add(struct type_pieces *pieces, uint64_t first, MPI_Count count, MPI_Datatype type);

static inline uint32_t pieces_add_side(struct type_pieces *pieces, const struct side *side)
{
	return pieces_add(pieces, (uint64_t)(uintptr_t)side->address, side->count, side->type);
}

/* Leaves this number of bytes, and drops what is behind them. */
void pieces_cut(struct type_pieces *pieces, uint64_t bytes);

/* Returns how far elements of the datatype lie apart. */
ptrdiff_t type_extent(MPI_Datatype type);

/* Returns the element (enum oriel_type) that all of the datatype is made of, or 0. */
uint8_t type_element(MPI_Datatype type);

#endif
