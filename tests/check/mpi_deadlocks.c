// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_deadlocks.c CASE stuck|slow - MPI programs that never end, and nearly the same ones that do, late
 *
 * Each case is for four ranks. The calls that a report names stand in lines with the mark STUCK;
 * tests/check/run looks for these, and for the ranks of the circle, which stand behind the case. The
 * slow form waits in the same calls for a while.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/cases.h"
#include "check/mpi_group.h"

#pragma GCC optimize("no-optimize-sibling-calls") /* a line is that of the call */

#define BYTES 64
#define LATE_MS 400

static MPI_Win win;
static int rank;
static uint8_t buffer[8];
static bool is_stuck;

/* The call behind it comes late; or never. */
static bool comes_late(void)
{
	if (!is_stuck)
		nanosleep(&(struct timespec){ 0, LATE_MS * 1000000 }, NULL);
	return !is_stuck;
}

static void post(int origin)
{
	MPI_Group group = group_of(origin);

	MPI_Win_post(group, 0, win);
	MPI_Group_free(&group);
}

static void start(int target)
{
	MPI_Group group = group_of(target);

	MPI_Win_start(group, 0, win);
	MPI_Group_free(&group);
}

static void complete(void)
{
	MPI_Win_complete(win); /* STUCK */
}

static void await_complete(void)
{
	MPI_Win_wait(win); /* STUCK */
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD); /* STUCK */
}

static void fence(void)
{
	MPI_Win_fence(0, win); /* STUCK */
}

static void lock(int target)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win); /* STUCK */
}

static void send(int to)
{
	MPI_Send(buffer, 8, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void receive(int from)
{
	MPI_Recv(buffer, 8, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* STUCK */
}

/* ---- epochs ---- */

static void K29_missed_post(void)
{
	if (rank == 0) {
		start(1);
		MPI_Put(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
		complete();
	}
	if (rank == 1 && comes_late()) {
		post(0);
		await_complete();
	}
	barrier();
}

/* In the circle of three each waits for the next one's complete. */
static void K29_wait_before_complete(void)
{
	if (rank < 3) {
		post((rank + 1) % 3);
		start((rank + 2) % 3);
	}
	if (rank == 1 && comes_late())
		complete();
	if (rank < 3)
		await_complete();
	if (rank < 3 && (rank != 1 || is_stuck))
		complete();
	barrier();
}

static void K29_fence_against_barrier(void)
{
	if (rank != 0 || comes_late())
		barrier();
	fence();
	if (is_stuck)
		barrier();
}

static void K29_fence_once_less(void)
{
	fence();
	if (rank != 3 || comes_late())
		fence();
}

static void K29_locks_of_two(void)
{
	if (rank < 2)
		lock(rank);
	barrier();
	if (rank == 0 && comes_late()) {
		MPI_Win_unlock(0, win);
	} else if (rank < 2) {
		lock(1 - rank);
		MPI_Win_unlock(1 - rank, win);
		MPI_Win_unlock(rank, win);
	}
	barrier();
}

/* ---- messages and collective calls ---- */

/* The message comes behind the complete that its sender waits for. */
static void K29_receive_against_wait(void)
{
	if (rank == 0) {
		start(1);
		if (comes_late())
			complete();
		receive(1);
		if (is_stuck)
			complete();
	}
	if (rank == 1) {
		post(0);
		await_complete();
		send(0);
	}
	barrier();
}

/* A message was received before: it does not count for the one that is missing. */
static void K29_receive_of_any(void)
{
	if (rank == 1)
		send(0);
	if (rank == 0)
		receive(MPI_ANY_SOURCE);
	if (rank == 1 && comes_late())
		send(0);
	if (rank == 0)
		receive(MPI_ANY_SOURCE);
	barrier();
}

/* Two ranks receive from each other before they send. */
static void K29_receives(void)
{
	if (rank == 1 && comes_late())
		send(0);
	if (rank < 2)
		receive(1 - rank);
	if (rank == 0 || (rank == 1 && is_stuck))
		send(1 - rank);
	barrier();
}

/* The receive is waited for. */
static void K29_request_against_barrier(void)
{
	MPI_Request request;

	if (rank == 0) {
		MPI_Irecv(buffer, 8, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* STUCK */
	}
	if (rank == 2 && comes_late())
		send(0);
	barrier();
	if (rank == 2 && is_stuck)
		send(0);
}

static void tagged_receive(int from, int tag)
{
	MPI_Recv(buffer, 8, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* STUCK */
}

/* Each of two waits until the other receives. */
static void K29_synchronous_sends(void)
{
	if (rank == 1 && comes_late())
		receive(0);
	if (rank < 2)
		MPI_Ssend(buffer, 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD); /* STUCK */
	if (rank == 0 || (rank == 1 && is_stuck))
		receive(1 - rank);
	barrier();
}

static void K29_synchronous_requests(void)
{
	MPI_Request request;

	if (rank < 2)
		MPI_Issend(buffer, 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request);
	if (rank == 1 && comes_late())
		receive(0);
	if (rank < 2)
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* STUCK */
	if (rank == 0 || (rank == 1 && is_stuck))
		receive(1 - rank);
	barrier();
}

/* Another message with the tag has been received, and one with another tag is under way. */
static void K29_tags_differ(void)
{
	if (rank == 0) {
		send(1);
		MPI_Send(buffer, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
		MPI_Ssend(buffer, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* STUCK */
	}
	if (rank == 1) {
		receive(0);
		tagged_receive(0, comes_late() ? 0 : 1);
		tagged_receive(0, 2);
	}
	barrier();
}

/* One of four messages is missing. */
static void K29_receives_of_two(void)
{
	MPI_Request requests[4];
	MPI_Status statuses[4];
	uint8_t bytes[4];

	if (rank == 0) {
		for (int i = 0; i < 4; i++)
			MPI_Irecv(&bytes[i], 1, MPI_BYTE, 1 + i / 2, 0, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(4, requests, statuses); /* STUCK */
	}
	for (int i = 0; i < 2 && (rank == 1 || rank == 2); i++) {
		if (rank == 2 && i == 1 && !comes_late())
			receive(0);
		MPI_Send(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
	barrier();
}

static void receive_one(int (*wait_some)(int, MPI_Request *))
{
	MPI_Request requests[2];
	uint8_t bytes[2];
	int done;

	if (rank == 0) {
		for (int i = 0; i < 2; i++)
			MPI_Irecv(&bytes[i], 1, MPI_BYTE, 1 + i, 0, MPI_COMM_WORLD, &requests[i]);
		done = wait_some(2, requests);
		send(1);
		send(2);
		MPI_Wait(&requests[1 - done], MPI_STATUS_IGNORE);
	}
	if (rank == 2 && comes_late())
		MPI_Send(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	if (rank == 1 || rank == 2)
		receive(0);
	if (rank == 1 || (rank == 2 && is_stuck))
		MPI_Send(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	barrier();
}

static int any_of(int count, MPI_Request *requests)
{
	int index;

	MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE); /* STUCK */
	return index;
}

static int some_of(int count, MPI_Request *requests)
{
	MPI_Status statuses[2];
	int done, indices[2];

	MPI_Waitsome(count, requests, &done, indices, statuses); /* STUCK */
	return indices[0];
}

/* Either message would be enough, and neither comes. */
static void K29_receive_of_one(void)
{
	receive_one(any_of);
}

static void K29_receive_of_some(void)
{
	receive_one(some_of);
}

static void K29_request_of_barrier(void)
{
	MPI_Request request;

	if (rank == 1 && !comes_late())
		receive(0);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE); /* STUCK */
	if (rank == 0 && is_stuck)
		send(1);
	barrier();
}

static void K29_broadcast_against_fence(void)
{
	if (rank != 0 || comes_late())
		MPI_Bcast(buffer, 8, MPI_BYTE, 0, MPI_COMM_WORLD); /* STUCK */
	fence();
	if (rank == 0 && is_stuck)
		MPI_Bcast(buffer, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Rank 3 has ended. */
static void K31_end_against_receive(void)
{
	MPI_Win_free(&win);
	if (rank == 3 && comes_late())
		send(0);
	if (rank == 0)
		receive(3);
}

static const struct check_case cases[] = {
	{ "K29_missed_post", K29_missed_post },                         /* 0 1 */
	{ "K29_wait_before_complete", K29_wait_before_complete },       /* 0 1 2 */
	{ "K29_fence_against_barrier", K29_fence_against_barrier },     /* 0 1 */
	{ "K29_fence_once_less", K29_fence_once_less },                 /* 0 3 */
	{ "K29_locks_of_two", K29_locks_of_two },                       /* 0 1 */
	{ "K29_receive_against_wait", K29_receive_against_wait },       /* 0 1 */
	{ "K29_receive_of_any", K29_receive_of_any },                   /* 0 1 */
	{ "K29_receives", K29_receives },                               /* 0 1 */
	{ "K29_request_against_barrier", K29_request_against_barrier }, /* 0 2 */
	{ "K29_synchronous_sends", K29_synchronous_sends },             /* 0 1 */
	{ "K29_synchronous_requests", K29_synchronous_requests },       /* 0 1 */
	{ "K29_tags_differ", K29_tags_differ },                         /* 0 1 */
	{ "K29_receives_of_two", K29_receives_of_two },                 /* 0 2 */
	{ "K29_receive_of_one", K29_receive_of_one },                   /* 0 1 */
	{ "K29_receive_of_some", K29_receive_of_some },                 /* 0 1 */
	{ "K29_request_of_barrier", K29_request_of_barrier },           /* 0 1 */
	{ "K29_broadcast_against_fence", K29_broadcast_against_fence }, /* 0 1 */
	{ "K31_end_against_receive", K31_end_against_receive },         /* 0 */
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	const struct check_case *chosen = argc == 3 ? case_of(cases, argv[1]) : NULL;
	void *base;

	if (!chosen)
		return 2;
	is_stuck = strcmp(argv[2], "stuck") == 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "halo");
	chosen->run();
	if (win != MPI_WIN_NULL)
		MPI_Win_free(&win); /* STUCK */
	MPI_Finalize();
	return 0;
}
