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
