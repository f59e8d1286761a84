// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_live.c FIRST COUNT - random MPI programs in which ranks are late; see live.h
 *
 * With an odd first seed threads may call MPI at once, and in some steps another thread of a rank
 * sends the message that one waits for.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/live.h"

#define BYTES 64
#define STEPS 6

static MPI_Win win;
static int rank, size;
static uint64_t state;
static uint8_t buffer[BYTES];
static bool has_threads;

static void late(void)
{
	be_late(&state, rank, size);
}

static void for_one(int (*call)(MPI_Group, int, MPI_Win), int member)
{
	MPI_Group all, group;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &member, &group);
	call(group, 0, win);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

static void send(int to, int tag)
{
	uint8_t byte = 0;

	MPI_Send(&byte, 1, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void receive(int from, int tag)
{
	uint8_t byte;

	MPI_Recv(&byte, 1, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- steps ---- */

static void step_barrier(void)
{
	late();
	MPI_Barrier(MPI_COMM_WORLD);
}

static void step_fence(void)
{
	late();
	MPI_Win_fence(0, win);
	late();
	MPI_Win_fence(0, win);
}

static void step_ring(void)
{
	late();
	for_one(MPI_Win_post, (rank + size - 1) % size);
	late();
	for_one(MPI_Win_start, (rank + 1) % size);
	MPI_Put(buffer, 8, MPI_BYTE, (rank + 1) % size, 0, 8, MPI_BYTE, win);
	late();
	MPI_Win_complete(win);
	MPI_Win_wait(win);
}

static void step_chain(void)
{
	late();
	if (rank > 0) {
		for_one(MPI_Win_start, rank - 1);
		MPI_Win_complete(win);
	}
	late();
	if (rank + 1 < size) {
		for_one(MPI_Win_post, rank + 1);
		MPI_Win_wait(win);
	}
}

/* The origin is in complete, and the target comes to the barrier. */
static void step_post(void)
{
	late();
	if (rank == size - 1) {
		for_one(MPI_Win_start, 0);
		MPI_Win_complete(win);
	}
	if (rank == 0) {
		sleep_ms(LATE_MOST_MS);
		for_one(MPI_Win_post, size - 1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Win_wait(win);
}

static void step_two_locks(void)
{
	int first = (int)draw(&state, (uint32_t)size), second = (int)draw(&state, (uint32_t)size);

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first < second ? first : second, 0, win);
	late();
	if (first != second)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first < second ? second : first, 0, win);
	late();
	if (first != second)
		MPI_Win_unlock(second, win);
	MPI_Win_unlock(first, win);
}

static void step_round(void)
{
	late();
	if (rank > 0)
		receive(rank - 1, 0);
	late();
	send((rank + 1) % size, 0);
	if (rank == 0)
		receive(size - 1, 0);
}

static void step_any(void)
{
	late();
	for (int i = 1; rank == 0 && i < size; i++)
		receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
	if (rank != 0)
		send(0, rank);
}

static void step_requests(void)
{
	MPI_Request requests[2];
	uint8_t out = 0, in;

	MPI_Irecv(&in, 1, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
	late();
	MPI_Isend(&out, 1, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
	late();
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/* A message to the left is synchronous, one to the right is not; both ends wait in any way. */
static void step_synchronous(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size, how = (int)draw(&state, 4), index, count;
	uint8_t out = 0, in[2];
	MPI_Request requests[4];
	MPI_Status statuses[4];
	int indices[4];

	late();
	MPI_Irecv(&in[0], 1, MPI_BYTE, left, 3, MPI_COMM_WORLD, &requests[0]);
	late();
	MPI_Issend(&out, 1, MPI_BYTE, left, 4, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&out, 1, MPI_BYTE, right, 3, MPI_COMM_WORLD, &requests[2]);
	late();
	MPI_Irecv(&in[1], 1, MPI_BYTE, how == 3 ? MPI_ANY_SOURCE : right, 4, MPI_COMM_WORLD, &requests[3]);
	if (how == 1)
		MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
	if (how == 2)
		MPI_Waitsome(4, requests, &count, indices, statuses);
	late();
	MPI_Waitall(4, requests, statuses);
}

static void step_synchronous_send(void)
{
	uint8_t byte = 0;

	late();
	if (rank % 2 == 0 && rank + 1 < size)
		MPI_Ssend(&byte, 1, MPI_BYTE, rank + 1, 5, MPI_COMM_WORLD);
	late();
	if (rank % 2 == 1)
		MPI_Recv(&byte, 1, MPI_BYTE, draw(&state, 2) ? rank - 1 : MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		draw(&state, 2);
}

static void step_barrier_request(void)
{
	MPI_Request request;

	late();
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	late();
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void step_collectives(void)
{
	int root = (int)draw(&state, (uint32_t)size), one = 1, all = 0;

	late();
	MPI_Bcast(buffer, BYTES, MPI_BYTE, root, MPI_COMM_WORLD);
	late();
	MPI_Reduce(&one, &all, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
	late();
	MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void step_split(void)
{
	MPI_Comm half;

	late();
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	late();
	MPI_Barrier(half);
	MPI_Comm_free(&half);
}

static void *help(void *ms)
{
	sleep_ms(*(uint32_t *)ms);
	send(rank, 2);
	return NULL;
}

static void step_threads(void)
{
	uint32_t ms = draw(&state, LATE_MOST_MS);
	pthread_t thread;

	if (!has_threads)
		return;
	if (pthread_create(&thread, NULL, help, &ms))
		exit(1);
	receive(rank, 2);
	pthread_join(thread, NULL);
}

static void (*const steps[])(void) = { step_barrier,        step_fence,
	                                   step_ring,           step_post,
	                                   step_chain,          step_two_locks,
	                                   step_round,          step_any,
	                                   step_requests,       step_collectives,
	                                   step_split,          step_threads,
	                                   step_synchronous,    step_synchronous_send,
	                                   step_barrier_request };

static void run_seed(uint64_t seed)
{
	void *base;

	state = seed;
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	for (int i = 0; i < STEPS; i++) {
		steps[draw(&state, sizeof(steps) / sizeof(steps[0]))]();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	late();
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	int provided;

	MPI_Init_thread(&argc, &argv, first % 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
	has_threads = first % 2 && provided == MPI_THREAD_MULTIPLE;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (uint64_t seed = first; seed < first + count; seed++)
		run_seed(seed);
	MPI_Finalize();
	return 0;
}
