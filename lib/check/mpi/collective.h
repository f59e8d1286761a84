/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collective.h - collective calls, by the flow of their data, and what they read and write
 *
 * All members make the collective calls of a communicator in one order, so a call's number names it
 * on all of them. A call that is made once and started many times is named by its own number and
 * that of the start: members may start two such calls in different orders.
 */
#ifndef ORIEL_CHECK_MPI_COLLECTIVE_H
#define ORIEL_CHECK_MPI_COLLECTIVE_H

#include "check/mpi/calls.h"

/* FLOW_FROM_LOWER: as FLOW_UPWARDS, and the first member gets nothing. FLOW_NONE: none does. */
enum flow { FLOW_ALL, FLOW_FROM_ROOT, FLOW_TO_ROOT, FLOW_UPWARDS, FLOW_FROM_LOWER, FLOW_NEIGHBORS, FLOW_NONE };

enum shape {
	SHAPE_ONE,   /* one block */
	SHAPE_EACH,  /* one for each member or neighbour, with the same count */
	SHAPE_COUNTS /* one for each, with these counts */
};

/* A member sends or receives this. The address may be MPI_IN_PLACE. */
struct data {
	const void *address;
	MPI_Count count;
	MPI_Datatype type;
	enum shape shape;
	bool is_own; /* of SHAPE_COUNTS, this member's block, which is the only one there */
	const int *counts, *displs;
	const MPI_Count *large_counts; /* in place of counts and displs */
	const MPI_Aint *large_displs;
	const MPI_Datatype *types; /* in place of type; displacements are in bytes then */
};

struct collective {
	struct place place;
	struct trace_event leave; /* kind 0: nothing is learnt, or nothing recorded */
	bool is_recorded;
	struct trace_wait wait; /* for its end; AWAIT_NONE: it is not shown */
	bool waits;
	struct comm *comm;
	enum flow flow;
	int root;      /* in the communicator */
	bool has_data; /* it is recorded: */
	struct data sent, received;
	uint64_t buffers;          /* of a call that makes a request */
	struct kept_buffers *kept; /* of one that is started later, or NULL */
};

/* Begins a call whose data is not followed. */
struct collective collective_begin(struct place place, MPI_Comm comm, enum flow flow, int root);

/* Begins a call that returns when its data is there, or one that makes a request. */
struct collective data_begin(struct place place, MPI_Comm comm, enum flow flow, int root, struct data sent,
                             struct data received);
struct collective data_start(struct place place, MPI_Comm comm, enum flow flow, int root, struct data sent,
                             struct data received);

/* Begins a call that makes a persistent request. */
struct collective data_init(struct place place, MPI_Comm comm, enum flow flow, int root, struct data sent,
                            struct data received);

/* All members must have begun the call before it ends. It waits for them, or its request does. */
void collective_waits(struct collective *collective);
void collective_needs_all(struct collective *collective);

/* Ends a call that has returned rc; returns rc. */
int collective_end(const struct collective *collective, int rc);

/* Ends a call that has made a request. */
int collective_start(const struct collective *collective, const MPI_Request *request, int rc);

/* Ends a call that has made a persistent one. */
int collective_init(const struct collective *collective, const MPI_Request *request, int rc);

/* ---- data ---- */

static inline struct data one_block(const void *address, MPI_Count count, MPI_Datatype type)
{
	return (struct data){ .address = address, .count = count, .type = type, .shape = SHAPE_ONE };
}

static inline struct data block_of_each(const void *address, MPI_Count count, MPI_Datatype type)
{
	return (struct data){ .address = address, .count = count, .type = type, .shape = SHAPE_EACH };
}

/* Without displacements the blocks lie one behind the other. */
static inline struct data blocks(const void *address, const int counts[], const int displs[], MPI_Datatype type)
{
	return (struct data){ .address = address, .type = type, .shape = SHAPE_COUNTS, .counts = counts, .displs = displs };
}

static inline struct data large_blocks(const void *address, const MPI_Count counts[], const MPI_Aint displs[],
                                       MPI_Datatype type)
{
	return (struct data){
		.address = address, .type = type, .shape = SHAPE_COUNTS, .large_counts = counts, .large_displs = displs
	};
}

static inline struct data typed_blocks(const void *address, const int counts[], const int displs[],
                                       const MPI_Datatype types[])
{
	return (
		struct data){ .address = address, .shape = SHAPE_COUNTS, .counts = counts, .displs = displs, .types = types };
}

static inline struct data typed_blocks_of_neighbors(const void *address, const int counts[], const MPI_Aint displs[],
                                                    const MPI_Datatype types[])
{
	return (struct data){
		.address = address, .shape = SHAPE_COUNTS, .counts = counts, .large_displs = displs, .types = types
	};
}

static inline struct data large_typed_blocks(const void *address, const MPI_Count counts[], const MPI_Aint displs[],
                                             const MPI_Datatype types[])
{
	return (struct data){
		.address = address, .shape = SHAPE_COUNTS, .large_counts = counts, .large_displs = displs, .types = types
	};
}

static inline struct data own_block(const void *address, const int counts[], MPI_Datatype type)
{
	return (struct data){ .address = address, .type = type, .shape = SHAPE_COUNTS, .is_own = true, .counts = counts };
}

static inline struct data large_own_block(const void *address, const MPI_Count counts[], MPI_Datatype type)
{
	return (
		struct data){ .address = address, .type = type, .shape = SHAPE_COUNTS, .is_own = true, .large_counts = counts };
}

#endif
