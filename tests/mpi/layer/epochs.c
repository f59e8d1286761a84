// SPDX-License-Identifier: BSD-2-Clause
/* epochs.c - synchronisation of every kind, requests, and the progress of the rest of MPI meanwhile. */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

#define LARGE (4 << 20)

static MPI_Win win;
static int *memory;

static void open_window(void)
{
	MPI_Win_allocate(400, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, 400);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

static MPI_Group group_of(int rank)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &rank, &group);
	MPI_Group_free(&world);
	return group;
}

static void post_to(int rank)
{
	MPI_Group group = group_of(rank);

	MPI_Win_post(group, 0, win);
	MPI_Group_free(&group);
}

static void start_to(int rank)
{
	MPI_Group group = group_of(rank);

	MPI_Win_start(group, 0, win);
	MPI_Group_free(&group);
}

static void P1_post_start_complete_wait(void)
{
	for (int i = 0; i < 20; i++) {
		int number = 10 * layer_rank + i, done = 0;

		post_to(layer_left());
		start_to(layer_right());
		MPI_Put(&number, 1, MPI_INT, layer_right(), 2, 1, MPI_INT, win);
		MPI_Win_complete(win);
		if (i % 2)
			MPI_Win_wait(win);
		else
			while (!done)
				MPI_Win_test(win, &done);
		EXPECT(memory[2] == 10 * layer_left() + i);
	}
}

/* A group whose handle was another's a moment ago. */
static void P9_groups_made_again(void)
{
	for (int i = 0; i < 10; i++) {
		int to = i % 2 ? layer_right() : layer_left(), from = i % 2 ? layer_left() : layer_right();
		int number = 1000 * layer_rank + i;

		post_to(from);
		start_to(to);
		MPI_Put(&number, 1, MPI_INT, to, 3, 1, MPI_INT, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
		EXPECT(memory[3] == 1000 * from + i);
	}
}

static void L4_exclusive(void)
{
	int number;

	memory[5] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 10; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(&number, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		number++;
		MPI_Put(&number, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_rank, 0, win);
	EXPECT(layer_rank != 0 || memory[5] == 10 * layer_size);
	MPI_Win_unlock(layer_rank, win);
}

/* All hold the lock of rank 0 at once. */
static void L1_shared(void)
{
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_unlock(0, win);
}

/* A test does not wait: the origin begins when it learns that the test has been made. */
static void P8_test_returns(void)
{
	int number = 70 + layer_rank, done = 1;

	post_to(layer_left());
	MPI_Win_test(win, &done);
	EXPECT(!done);
	MPI_Barrier(MPI_COMM_WORLD);
	start_to(layer_right());
	MPI_Put(&number, 1, MPI_INT, layer_right(), 9, 1, MPI_INT, win);
	MPI_Win_complete(win);
	for (done = 0; !done;)
		MPI_Win_test(win, &done);
	EXPECT(memory[9] == 70 + layer_left());
}

static void L13_flushes(void)
{
	int number = 3 + layer_rank, back = 0;

	MPI_Win_lock_all(0, win);
	MPI_Put(&number, 1, MPI_INT, layer_right(), 6, 1, MPI_INT, win);
	MPI_Win_flush_local(layer_right(), win);
	MPI_Win_flush_all(win);
	MPI_Get(&back, 1, MPI_INT, layer_right(), 6, 1, MPI_INT, win);
	MPI_Win_flush_local_all(win);
	EXPECT(back == 3 + layer_rank);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
}

static void I4_proc_null(void)
{
	int number = 1, result = 7;
	MPI_Request request;

	MPI_Win_lock_all(0, win);
	MPI_Put(&number, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Get(&result, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Fetch_and_op(&number, &result, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win);
	MPI_Rput(&number, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_flush(MPI_PROC_NULL, win);
	MPI_Win_unlock_all(win);
	MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
	MPI_Win_unlock(MPI_PROC_NULL, win);
	EXPECT(result == 7);
}

/* Each of the calls that complete requests, in arrays with those of messages. */
static void R1_requests(void)
{
	int number = 50 + layer_rank, back[4], message[2] = { 0 }, index, flag = 0, count = 0, indices[3];
	MPI_Request requests[3];
	MPI_Status statuses[3];

	MPI_Win_lock_all(0, win);
	MPI_Rput(&number, 1, MPI_INT, layer_right(), 7, 1, MPI_INT, win, &requests[0]);
	MPI_Irecv(&message[0], 1, MPI_INT, layer_left(), 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&number, 1, MPI_INT, layer_right(), 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Waitall(3, requests, statuses);
	EXPECT(message[0] == 50 + layer_left() && statuses[1].MPI_SOURCE == layer_left());
	MPI_Win_flush_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++)
		MPI_Rget(&back[i], 1, MPI_INT, layer_right(), 7, 1, MPI_INT, win, &requests[i]);
	MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
	EXPECT(index >= 0 && index < 3 && requests[index] == MPI_REQUEST_NULL && back[index] == 50 + layer_rank);
	MPI_Waitsome(3, requests, &count, indices, statuses);
	EXPECT(count >= 1);
	while (!flag)
		MPI_Testall(3, requests, &flag, statuses);
	EXPECT(back[0] == back[1] && back[1] == back[2] && requests[0] == MPI_REQUEST_NULL);
	MPI_Raccumulate(&number, 1, MPI_INT, layer_right(), 8, 1, MPI_INT, MPI_REPLACE, win, &requests[0]);
	for (flag = 0; !flag;)
		MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
	MPI_Rget_accumulate(NULL, 0, MPI_INT, &back[3], 1, MPI_INT, layer_right(), 8, 1, MPI_INT, MPI_NO_OP, win,
	                    &requests[0]);
	for (flag = 0; !flag;)
		MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	EXPECT(back[3] == 50 + layer_rank);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Those that test one of several. */
static void R1_requests_tested(void)
{
	int back[3] = { -1, -1, -1 }, index, flag = 0, count = 0, indices[3];
	MPI_Request requests[3];
	MPI_Status statuses[3];

	memory[10] = 60 + layer_rank;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 3; i++)
		MPI_Rget(&back[i], 1, MPI_INT, layer_right(), 10, 1, MPI_INT, win, &requests[i]);
	while (!flag)
		MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
	EXPECT(index >= 0 && index < 3 && back[index] == 60 + layer_right());
	for (int left = 2; left > 0; left -= count)
		for (count = 0; count == 0;)
			MPI_Testsome(3, requests, &count, indices, statuses);
	EXPECT(back[0] == back[1] && back[1] == back[2]);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* A request, and a message that comes only when it has been waited for: and the other way round. */
static void R3_waits_for_what_others_do(void)
{
	int number = 1, got = 0;
	MPI_Request requests[2];

	MPI_Win_lock_all(0, win);
	MPI_Irecv(&got, 1, MPI_INT, layer_left(), 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Rput(&number, 1, MPI_INT, layer_right(), 9, 1, MPI_INT, win, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Send(&number, 1, MPI_INT, layer_right(), 2, MPI_COMM_WORLD);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	EXPECT(got == 1);
	MPI_Win_unlock_all(win);
}

/* A large message that its sender has only begun arrives while the sender waits for its window. */
static void E3_message_while_waiting(void)
{
	char *large = calloc(1, LARGE);
	MPI_Request request;

	if (layer_size > 1 && layer_rank == 0) {
		post_to(1);
		MPI_Isend(large, LARGE, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
		MPI_Win_wait(win);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if (layer_rank == 1) {
		start_to(0);
		MPI_Recv(large, LARGE, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_complete(win);
	}
	free(large);
}

/* The last case: rank 0 goes on to MPI_Finalize while its message is on the way. */
static char *last_message;

static void E1_message_while_leaving(void)
{
	MPI_Request request;

	last_message = calloc(1, LARGE);
	if (layer_size > 1 && layer_rank == 0) {
		MPI_Isend(last_message, LARGE, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &request);
		MPI_Request_free(&request);
	}
}

/* Behind the last reduction: rank 0 is in MPI_Finalize by now, or soon. */
static int receive_late(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	if (layer_rank == 1)
		MPI_Recv(last_message, LARGE, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return MPI_SUCCESS;
}

static void E1_window_freed_while_leaving(void)
{
	int keyval;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receive_late, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	MPI_Comm_free_keyval(&keyval);
}

static const struct layer_case cases[] = {
	{ "P1_open", open_window },
	{ "P1_post_start_complete_wait", P1_post_start_complete_wait },
	{ "P9_groups_made_again", P9_groups_made_again },
	{ "L4_exclusive", L4_exclusive },
	{ "L1_shared", L1_shared },
	{ "P8_test_returns", P8_test_returns },
	{ "L13_flushes", L13_flushes },
	{ "I4_proc_null", I4_proc_null },
	{ "R1_requests", R1_requests },
	{ "R1_requests_tested", R1_requests_tested },
	{ "R3_waits_for_what_others_do", R3_waits_for_what_others_do },
	{ "E3_message_while_waiting", E3_message_while_waiting },
	{ "P1_close", close_window },
	{ "E1_window_freed_while_leaving", E1_window_freed_while_leaving },
	{ "E1_message_while_leaving", E1_message_while_leaving },
};

LAYER_MAIN(cases)
