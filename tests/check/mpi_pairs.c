// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_pairs.c CASE racy|free - MPI programs with a race, and nearly the same ones without
 *
 * Each case is for four ranks. Where it has a race, both calls stand in lines with the mark RACE;
 * tests/check/run looks for exactly these.
 */
#include "mpi_pair.h"

#include <unistd.h>

#define LATE_US 50000 /* the others have come by then, which orders nothing */

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#endif

#pragma GCC optimize("no-optimize-sibling-calls") /* a line is that of the call */

static void put(int target, MPI_Aint disp)
{
	MPI_Put(buffer, 8, MPI_BYTE, target, disp, 8, MPI_BYTE, win); /* RACE */
}

static void flushed_put(int target, MPI_Aint disp)
{
	put(target, disp);
	MPI_Win_flush(target, win);
}

static void send(int to, MPI_Comm comm)
{
	MPI_Send(NULL, 0, MPI_BYTE, to, 0, comm);
}

static void receive(int from, MPI_Comm comm)
{
	MPI_Recv(NULL, 0, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
}

/* ---- completion and messages ---- */

static void K9_flush_before_barrier(void)
{
	if (rank == 0)
		put(2, 0);
	if (rank == 0 && !racy)
		MPI_Win_flush(2, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		put(2, 0);
}

static void K13_message(void)
{
	if (rank == 0 && racy)
		send(1, MPI_COMM_WORLD);
	if (rank == 0)
		flushed_put(2, 0);
	if (rank == 0 && !racy)
		send(1, MPI_COMM_WORLD);
	if (rank == 1) {
		receive(0, MPI_COMM_WORLD);
		put(2, 0);
	}
}

static void K13_any_source(void)
{
	MPI_Status status;

	if (rank == 0)
		flushed_put(2, 0);
	if (rank == 0 && !racy)
		send(1, MPI_COMM_WORLD);
	if (rank == 3 && racy)
		send(1, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		put(2, 0);
	}
}

static void K13_waited_receive(void)
{
	MPI_Request request;

	if (rank == 0) {
		flushed_put(2, 0);
		send(1, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
		if (!racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		put(2, 0);
		if (racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* The second of two messages comes from behind the put. */
static void K13_second_message(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int index;

	if (rank == 0) {
		if (racy) {
			send(1, MPI_COMM_WORLD);
			send(1, MPI_COMM_WORLD);
		}
		flushed_put(2, 0);
		if (!racy) {
			send(1, MPI_COMM_WORLD);
			send(1, MPI_COMM_WORLD);
		}
	}
	if (rank == 1) {
		for (int i = 0; i < 2; i++)
			MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
		MPI_Waitall(2, requests, statuses);
		put(2, 0);
	}
}

/* A receive that is cancelled has taken no message. */
static void K13_cancelled_receive(void)
{
	MPI_Request request;

	if (rank == 0 && racy)
		send(1, MPI_COMM_WORLD);
	if (rank == 0)
		flushed_put(2, 0);
	if (rank == 0 && !racy)
		send(1, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Irecv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		receive(0, MPI_COMM_WORLD);
		put(2, 0);
	}
}

static void K13_synchronous_send(void)
{
	if (rank == 0) {
		flushed_put(2, 0);
		receive(1, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		if (racy)
			send(0, MPI_COMM_WORLD);
		else
			MPI_Ssend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		put(2, 0);
	}
}

static void K13_probe(void)
{
	if (rank == 0) {
		if (racy)
			send(1, MPI_COMM_WORLD);
		flushed_put(2, 0);
		if (!racy)
			send(1, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (racy)
			receive(0, MPI_COMM_WORLD);
		put(2, 0);
		if (!racy)
			receive(0, MPI_COMM_WORLD);
	}
}

static void K13_persistent_requests(void)
{
	MPI_Request request;

	if (rank == 0)
		MPI_Send_init(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	if (rank == 1)
		MPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
	for (int i = 0; i < 3 && rank <= 1; i++) {
		if (rank == 0 && i == 2 && !racy)
			flushed_put(2, 0);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (rank == 0 && i == 2 && racy)
			flushed_put(2, 0);
	}
	if (rank == 1)
		put(2, 0);
	if (rank <= 1)
		MPI_Request_free(&request);
}

static void K12_over_three_ranks(void)
{
	if (rank == 0) {
		flushed_put(2, 0);
		send(3, MPI_COMM_WORLD);
	}
	if (rank == 3) {
		if (!racy)
			receive(0, MPI_COMM_WORLD);
		send(1, MPI_COMM_WORLD);
		if (racy)
			receive(0, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		receive(3, MPI_COMM_WORLD);
		put(2, 0);
	}
}

/* A message of the same tag with another communicator says nothing. */
static void K13_duplicate(void)
{
	MPI_Comm other;

	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	if (rank == 0) {
		send(1, other);
		flushed_put(2, 0);
		send(1, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		if (!racy)
			receive(0, MPI_COMM_WORLD);
		receive(0, other);
		put(2, 0);
		if (racy)
			receive(0, MPI_COMM_WORLD);
	}
	MPI_Comm_free(&other);
}

/* ---- collective calls ---- */

static void K13_barrier_of_some(void)
{
	MPI_Comm some;

	MPI_Comm_split(MPI_COMM_WORLD, racy ? rank == 0 : rank >= 2, 0, &some);
	if (rank == 0)
		flushed_put(2, 0);
	MPI_Barrier(some);
	if (rank == 1)
		put(2, 0);
	MPI_Comm_free(&some);
}

/* Calls of two communicators, whose names begin alike, come between each other. */
static void K13_two_communicators(void)
{
	MPI_Request request;
	MPI_Comm part;

	MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? 2 : rank == 1, rank, &part);
	if (rank == 0)
		flushed_put(2, 0);
	if (rank == 2)
		receive(1, MPI_COMM_WORLD);
	if (rank == 1 && !racy)
		receive(0, MPI_COMM_WORLD);
	MPI_Ibarrier(part, &request);
	if (rank == 0)
		send(1, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		put(2, 0);
		send(2, MPI_COMM_WORLD);
	}
	if (rank == 1 && racy)
		receive(0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&part);
}

static void K13_bcast(void)
{
	int first = racy ? 1 : 0, number = 0;

	if (rank == 0)
		flushed_put(2, 0);
	MPI_Bcast(&number, 1, MPI_INT, first, MPI_COMM_WORLD);
	if (rank == 1)
		put(2, 0);
}

static void K13_reduce(void)
{
	int last = racy ? 0 : 1, number = 0, sum;

	if (rank == 0)
		flushed_put(2, 0);
	MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, last, MPI_COMM_WORLD);
	if (rank == 1)
		put(2, 0);
}

static void K13_scan(void)
{
	int number = 0, sum, first = racy ? 1 : 0;

	if (rank == first)
		flushed_put(2, 0);
	MPI_Exscan(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 1 - first)
		put(2, 0);
}

static void K13_ibarrier(void)
{
	MPI_Request request;

	if (rank == 0)
		flushed_put(2, 0);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (!racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 1)
		put(2, 0);
	if (racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- neighbours: data comes from these alone ---- */

/* Each rank has data from the one before it. */
static MPI_Comm ring_of_all(void)
{
	int before = (rank + 3) % 4, behind = (rank + 1) % 4, weight = 1;
	MPI_Comm ring;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &behind, &weight, MPI_INFO_NULL, 0, &ring);
	return ring;
}

static void K13_neighbors_of_a_ring(void)
{
	int number = 0, result;
	MPI_Comm ring = ring_of_all();

	if (rank == 0)
		flushed_put(2, 0);
	if (rank == 3)
		usleep(LATE_US);
	MPI_Neighbor_alltoall(&number, 1, MPI_INT, &result, 1, MPI_INT, ring);
	if (rank == (racy ? 3 : 1))
		put(2, 0);
	MPI_Comm_free(&ring);
}

/* Ranks in a row: the first and the last one have one neighbour. */
static MPI_Comm row_of_all(void)
{
	MPI_Comm row;

	MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ 4 }, (int[]){ 0 }, 0, &row);
	return row;
}

static void K13_neighbors_in_a_row(void)
{
	int number = 0, results[2];
	MPI_Request request;
	MPI_Comm row = row_of_all();

	if (rank == 1)
		flushed_put(3, 0);
	if (rank == 3)
		usleep(LATE_US);
	MPI_Ineighbor_allgather(&number, 1, MPI_INT, results, 1, MPI_INT, row, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == (racy ? 3 : 0))
		put(3, 0);
	MPI_Comm_free(&row);
}

static void K13_neighbors_of_a_graph(void)
{
	const int ends[4] = { 1, 3, 5, 6 }, edges[6] = { 1, 0, 2, 1, 3, 2 }, one[2] = { 1, 1 }, at[2] = { 0, 1 };
	int numbers[2] = { 0 }, results[2];
	MPI_Request request;
	MPI_Comm graph;

	MPI_Graph_create(MPI_COMM_WORLD, 4, ends, edges, 0, &graph);
	MPI_Neighbor_alltoallv_init(numbers, one, at, MPI_INT, results, one, at, MPI_INT, graph, MPI_INFO_NULL, &request);
	if (rank == 1)
		flushed_put(3, 0);
	if (rank == 3)
		usleep(LATE_US);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == (racy ? 3 : 0))
		put(3, 0);
	MPI_Request_free(&request);
	MPI_Comm_free(&graph);
}

/* ---- collective calls that are started ---- */

static void K13_start_of_a_barrier(void)
{
	MPI_Request request;

	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int i = 0; i < 3; i++) {
		if (rank == 0 && i == 2 && !racy)
			flushed_put(2, 0);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (rank == 0 && i == 2 && racy)
			flushed_put(2, 0);
	}
	if (rank == 1)
		put(2, 0);
	MPI_Request_free(&request);
}

/* To make it orders nothing. */
static void K13_start_that_is_missing(void)
{
	MPI_Request request;

	if (rank == 0)
		flushed_put(2, 0);
	if (rank == 1)
		usleep(LATE_US);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int i = 0; i < 2; i++) {
		if (rank == 1 && i == (racy ? 0 : 1))
			put(2, 0);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}

/* Data of the first one comes from rank 0. Rank 1 starts the two in the other order. */
static void K13_starts_in_other_orders(void)
{
	MPI_Request requests[2];
	int numbers[2] = { 0 };

	for (int i = 0; i < 2; i++)
		MPI_Bcast_init(&numbers[i], 1, MPI_INT, 3 * i, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
	if (rank == 0)
		flushed_put(2, 0);
	for (int i = 0; i < 2; i++)
		MPI_Start(&requests[rank == 1 ? 1 - i : i]);
	MPI_Wait(&requests[racy ? 1 : 0], MPI_STATUS_IGNORE);
	if (rank == 1)
		put(2, 0);
	MPI_Waitall(2, requests, (MPI_Status[2]){ { 0 } });
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&requests[i]);
}

/* ---- buffers of messages and collective calls ---- */

static uint8_t other[BYTES];

static void large_put(int target, MPI_Aint disp)
{
	MPI_Put(buffer, 16, MPI_BYTE, target, disp, 16, MPI_BYTE, win); /* RACE */
	MPI_Win_flush(target, win);
}

static void get(int target)
{
	MPI_Get(buffer, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win); /* RACE */
}

static void send_some(int to)
{
	MPI_Send(other, 16, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void receive_some(int from)
{
	MPI_Recv(other, 16, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void K10_send_from_get_buffer(void)
{
	if (rank == 0) {
		get(1);
		if (!racy)
			MPI_Win_flush(1, win);
		MPI_Send(buffer, 8, MPI_BYTE, 2, 0, MPI_COMM_WORLD); /* RACE */
	}
	if (rank == 2)
		receive_some(0);
}

static void exchange(int with)
{
	MPI_Status status;

	MPI_Sendrecv(buffer, 8, MPI_BYTE, with, 0, other, 16, MPI_BYTE, with, 0, MPI_COMM_WORLD, &status); /* RACE */
}

static void K10_exchange_from_get_buffer(void)
{
	if (rank == 0) {
		get(1);
		if (!racy)
			MPI_Win_flush_local(1, win);
		exchange(2);
	}
	if (rank == 2) {
		receive_some(0);
		send_some(0);
	}
}

static void K10_receive_into_put_buffer(void)
{
	MPI_Request request;

	if (rank == 0) {
		put(1, 0);
		if (!racy)
			MPI_Win_flush_local(1, win);
		MPI_Irecv(buffer, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request); /* RACE */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (rank == 2)
		send_some(0);
}

/* A put reads what is received until the wait. */
static void K10_persistent_receive(void)
{
	MPI_Request request;

	if (rank == 0) {
		MPI_Recv_init(buffer, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request);
		MPI_Start(&request); /* RACE */
		if (!racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		put(1, 0);
		if (racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Request_free(&request);
	}
	if (rank == 2)
		send_some(0);
}

static void K10_receive_into_window(void)
{
	if (rank == 1)
		MPI_Recv(base + 128, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RACE */
	if (rank == 2)
		send_some(1);
	if (!racy)
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		large_put(1, 128);
}

static void K10_columns_into_window(void)
{
	MPI_Datatype column;

	MPI_Type_vector(4, 4, 16, MPI_BYTE, &column);
	MPI_Type_commit(&column);
	if (rank == 0)
		MPI_Put(buffer, 16, MPI_BYTE, 1, racy ? 3 : 4, 1, column, win); /* RACE */
	if (rank == 1)
		MPI_Recv(base, 1, column, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RACE */
	if (rank == 2)
		send_some(1);
	MPI_Type_free(&column);
}

/* The message is shorter than the buffer. */
static void K10_short_message(void)
{
	if (rank == 0)
		large_put(1, racy ? 0 : 16);
	if (rank == 1)
		MPI_Recv(base, 64, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RACE */
	if (rank == 2)
		send_some(1);
}

static void K10_matched_message(void)
{
	MPI_Message message;

	if (rank == 0) {
		MPI_Mprobe(2, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		put(1, 0);
		if (!racy)
			MPI_Win_flush(1, win);
		MPI_Mrecv(buffer, 16, MPI_BYTE, &message, MPI_STATUS_IGNORE); /* RACE */
	}
	if (rank == 2)
		send_some(0);
}

static void K10_request_into_window(void)
{
	MPI_Request request;

	if (rank == 1) {
		MPI_Irecv(base, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request); /* RACE */
		if (!racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (rank == 2)
		send_some(1);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		large_put(1, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1 && racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void K10_request_from_window(void)
{
	MPI_Request request;

	if (rank == 1) {
		MPI_Isend(base, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request); /* RACE */
		if (!racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		large_put(1, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1 && racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 2)
		receive_some(1);
}

/* The receiver of a message knows that its buffer was read. */
static void K10_lent_until_received(void)
{
	MPI_Request request;

	if (rank == 1)
		MPI_Isend(base, 16, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request); /* RACE */
	if (rank == 0 && racy)
		large_put(1, 0);
	if (rank == 0)
		receive_some(1);
	if (rank == 0 && !racy)
		large_put(1, 0);
	if (rank == 1)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The owner has seen a word that was put, but not all of 16 bytes. */
static void K10_polled_word(void)
{
	buffer[0] = 1;
	if (rank == 0)
		MPI_Put(buffer, racy ? 16 : 8, MPI_BYTE, 1, 0, racy ? 16 : 8, MPI_BYTE, win); /* RACE */
	if (rank == 0)
		MPI_Win_flush(1, win);
	if (rank == 1) {
		while (*(volatile uint64_t *)base == 0)
			MPI_Win_sync(win);
		MPI_Send(base, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD); /* RACE */
	}
	if (rank == 2)
		receive_some(1);
}

/* A get may see what the owner has stored behind its send. */
static void K10_stored_word(void)
{
	volatile uint64_t word = 0;

	if (rank == 1) {
		MPI_Send(base + 16, 16, MPI_BYTE, 2, 0, MPI_COMM_WORLD); /* RACE */
		*(volatile uint64_t *)base = 1;
		MPI_Win_sync(win);
	}
	if (rank == 2)
		receive_some(1);
	while (rank == 0 && !racy && word == 0) {
		MPI_Get((void *)(uintptr_t)&word, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
		MPI_Win_flush(1, win);
	}
	if (rank == 0)
		large_put(1, 16);
}

/* A leaf writes its buffer, the root reads it. */
static void K10_bcast(void)
{
	if (rank == 1)
		put(2, 0);
	MPI_Bcast(buffer, 8, MPI_BYTE, racy ? 0 : 1, MPI_COMM_WORLD); /* RACE */
}

static void K10_ibcast(void)
{
	MPI_Request request;

	MPI_Ibcast(buffer, 8, MPI_BYTE, 1, MPI_COMM_WORLD, &request); /* RACE */
	if (!racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 0)
		put(2, 0);
	if (racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The root alone has a result. */
static void K10_reduce(void)
{
	if (rank == 0)
		get(1);
	MPI_Reduce(other, buffer, 8, MPI_BYTE, MPI_BOR, racy ? 0 : 2, MPI_COMM_WORLD); /* RACE */
}

/* The first member has none. */
static void K10_exscan(void)
{
	if (rank == (racy ? 1 : 0))
		put(2, 0);
	MPI_Exscan(other, buffer, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD); /* RACE */
}

/* The call reads the put's bytes at its begin. */
static void K10_allreduce_in_place(void)
{
	if (rank == 0)
		large_put(1, 0);
	if (!racy)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, base, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); /* RACE */
}

/* The put goes between two blocks. */
static void K10_gatherv(void)
{
	const int counts[4] = { 8, 8, 8, 8 }, displs[4] = { 0, 32, 64, 96 };

	MPI_Gatherv(other, 8, MPI_BYTE, base, counts, displs, MPI_BYTE, 0, MPI_COMM_WORLD); /* RACE */
	if (rank == 3)
		large_put(0, racy ? 64 : 72);
}

/* The root's own block stays as it is. */
static void K10_gather_in_place(void)
{
	if (rank == 3)
		MPI_Get(buffer, 16, MPI_BYTE, 0, racy ? 16 : 0, 16, MPI_BYTE, win);                            /* RACE */
	MPI_Gather(rank == 0 ? MPI_IN_PLACE : other, 16, MPI_BYTE, base, 16, MPI_BYTE, 0, MPI_COMM_WORLD); /* RACE */
}

static void K10_start_of_a_bcast(void)
{
	MPI_Request request;

	MPI_Bcast_init(buffer, 8, MPI_BYTE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	if (rank == 0 && !racy)
		put(2, 0);
	if (rank == 0 && !racy)
		MPI_Win_flush(2, win);
	MPI_Start(&request); /* RACE */
	if (rank == 0 && racy)
		put(2, 0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
}

/* No rank is before rank 0, so nothing comes into its first block. */
static void K10_neighbors_in_a_row(void)
{
	MPI_Comm row = row_of_all();

	if (rank == 0)
		MPI_Get(buffer + (racy ? 8 : 0), 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win); /* RACE */
	MPI_Neighbor_alltoall(other, 8, MPI_BYTE, buffer, 8, MPI_BYTE, row);       /* RACE */
	MPI_Comm_free(&row);
}

/* ---- datatypes, requests, accumulates ---- */

static void K8_columns(void)
{
	MPI_Datatype column;

	MPI_Type_vector(4, 4, 16, MPI_BYTE, &column);
	MPI_Type_commit(&column);
	if (rank <= 1)
		MPI_Put(buffer, 16, MPI_BYTE, 2, rank == 1 ? racy ? 3 : 4 : 0, 1, column, win); /* RACE */
	MPI_Type_free(&column);
}

static void K9_requests_of_puts(void)
{
	MPI_Request request;

	if (rank == 0) {
		MPI_Rget(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win, &request); /* RACE */
		if (!racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		put(2, 0);
		if (racy)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void K7_types_of_accumulates(void)
{
	uint64_t one = 1;

	if (rank == 0)
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 2, 0, 1, MPI_UINT64_T, MPI_SUM, win); /* RACE */
	if (rank == 1 && racy)
		MPI_Accumulate(&one, 2, MPI_UINT32_T, 2, 0, 2, MPI_UINT32_T, MPI_SUM, win); /* RACE */
	if (rank == 1 && !racy)
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 2, 0, 1, MPI_UINT64_T, MPI_SUM, win);
}

static void K14_ticket_lock(void)
{
	uint64_t one = 1, ticket = 0, serving = 0;

	if (rank > 1)
		return;
	MPI_Fetch_and_op(&one, &ticket, MPI_UINT64_T, 3, 0, MPI_SUM, win);
	MPI_Win_flush(3, win);
	for (bool mine = false; !mine; mine = serving == ticket) {
		MPI_Fetch_and_op(&one, &serving, MPI_UINT64_T, 3, 8, MPI_NO_OP, win);
		MPI_Win_flush(3, win);
	}
	MPI_Put(buffer, 16, MPI_BYTE, 2, 0, 16, MPI_BYTE, win); /* RACE */
	if (!racy)
		MPI_Win_flush(2, win);
	MPI_Accumulate(&one, 1, MPI_UINT64_T, 3, 8, 1, MPI_UINT64_T, MPI_SUM, win);
	MPI_Win_flush(3, win);
}

/* A fetch sees the accumulate: it has taken effect, although its origin has not completed it. */
static void K14_seen_by_a_fetch(void)
{
	uint64_t one = 1, seen = 0;

	if (rank == 1) {
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, MPI_REPLACE, win); /* RACE */
		MPI_Win_flush_local(0, win);
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_flush(0, win);
	}
	if (rank == 0) {
		while (!racy && seen != 1) {
			MPI_Fetch_and_op(NULL, &seen, MPI_UINT64_T, 0, 0, MPI_NO_OP, win);
			MPI_Win_flush(0, win);
		}
		MPI_Put(buffer, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win); /* RACE */
		MPI_Win_flush(0, win);
		MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	}
}

static void K12_polled_flag(void)
{
	uint64_t one = 1;

	if (rank == 0) {
		MPI_Put(buffer, 16, MPI_BYTE, 2, 0, 16, MPI_BYTE, win); /* RACE */
		if (!racy)
			MPI_Win_flush(2, win);
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 1, 0, 1, MPI_UINT64_T, MPI_REPLACE, win);
		MPI_Win_flush(1, win);
	}
	if (rank == 1) {
		while (*(volatile uint64_t *)base == 0)
			MPI_Win_sync(win);
		MPI_Put(buffer, 16, MPI_BYTE, 2, 0, 16, MPI_BYTE, win); /* RACE */
	}
}

/* ---- running them ---- */

static const struct check_case cases[] = {
	{ "K9_flush_before_barrier", K9_flush_before_barrier },
	{ "K13_message", K13_message },
	{ "K13_any_source", K13_any_source },
	{ "K13_waited_receive", K13_waited_receive },
	{ "K13_second_message", K13_second_message },
	{ "K13_cancelled_receive", K13_cancelled_receive },
	{ "K13_synchronous_send", K13_synchronous_send },
	{ "K13_probe", K13_probe },
	{ "K13_persistent_requests", K13_persistent_requests },
	{ "K12_over_three_ranks", K12_over_three_ranks },
	{ "K13_duplicate", K13_duplicate },
	{ "K13_barrier_of_some", K13_barrier_of_some },
	{ "K13_two_communicators", K13_two_communicators },
	{ "K13_bcast", K13_bcast },
	{ "K13_reduce", K13_reduce },
	{ "K13_scan", K13_scan },
	{ "K13_ibarrier", K13_ibarrier },
	{ "K13_neighbors_of_a_ring", K13_neighbors_of_a_ring },
	{ "K13_neighbors_in_a_row", K13_neighbors_in_a_row },
	{ "K13_neighbors_of_a_graph", K13_neighbors_of_a_graph },
	{ "K13_start_of_a_barrier", K13_start_of_a_barrier },
	{ "K13_start_that_is_missing", K13_start_that_is_missing },
	{ "K13_starts_in_other_orders", K13_starts_in_other_orders },
	{ "K10_send_from_get_buffer", K10_send_from_get_buffer },
	{ "K10_exchange_from_get_buffer", K10_exchange_from_get_buffer },
	{ "K10_receive_into_put_buffer", K10_receive_into_put_buffer },
	{ "K10_persistent_receive", K10_persistent_receive },
	{ "K10_receive_into_window", K10_receive_into_window },
	{ "K10_columns_into_window", K10_columns_into_window },
	{ "K10_short_message", K10_short_message },
	{ "K10_matched_message", K10_matched_message },
	{ "K10_request_into_window", K10_request_into_window },
	{ "K10_request_from_window", K10_request_from_window },
	{ "K10_lent_until_received", K10_lent_until_received },
	{ "K10_polled_word", K10_polled_word },
	{ "K10_stored_word", K10_stored_word },
	{ "K10_bcast", K10_bcast },
	{ "K10_ibcast", K10_ibcast },
	{ "K10_reduce", K10_reduce },
	{ "K10_exscan", K10_exscan },
	{ "K10_allreduce_in_place", K10_allreduce_in_place },
	{ "K10_gatherv", K10_gatherv },
	{ "K10_gather_in_place", K10_gather_in_place },
	{ "K10_start_of_a_bcast", K10_start_of_a_bcast },
	{ "K10_neighbors_in_a_row", K10_neighbors_in_a_row },
	{ "K8_columns", K8_columns },
	{ "K9_requests_of_puts", K9_requests_of_puts },
	{ "K7_types_of_accumulates", K7_types_of_accumulates },
	{ "K14_ticket_lock", K14_ticket_lock },
	{ "K14_seen_by_a_fetch", K14_seen_by_a_fetch },
	{ "K12_polled_flag", K12_polled_flag },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return pair_main(argc, argv, cases);
}
