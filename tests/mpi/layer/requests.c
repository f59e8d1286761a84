// SPDX-License-Identifier: BSD-2-Clause
/* requests.c - requests of operations in arrays beside those of messages, their statuses, and what is open when the epoch ends. */
#include "layer.h"

#include <string.h>

#define PAIRS 4

static MPI_Win win;
static int *memory;
static int sent[PAIRS], received[PAIRS], got[PAIRS], put[PAIRS];
static MPI_Request requests[4 * PAIRS];

static void open_window(void)
{
	MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, 64 * sizeof(int));
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

/* In turns a message in, one out, a put and a get; nothing of them overlaps. */
static void begin(int seed)
{
	for (int i = 0; i < PAIRS; i++) {
		memory[i] = 1000 + layer_rank + i;
		received[i] = got[i] = -1;
		sent[i] = put[i] = seed + 10 * layer_rank + i;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Win_sync(win);
	for (int i = 0; i < PAIRS; i++) {
		MPI_Request *four = requests + 4 * i;

		MPI_Irecv(&received[i], 1, MPI_INT, layer_left(), i, MPI_COMM_WORLD, &four[0]);
		MPI_Rput(&put[i], 1, MPI_INT, layer_right(), PAIRS + i, 1, MPI_INT, win, &four[1]);
		MPI_Isend(&sent[i], 1, MPI_INT, layer_right(), i, MPI_COMM_WORLD, &four[2]);
		MPI_Rget(&got[i], 1, MPI_INT, layer_right(), i, 1, MPI_INT, win, &four[3]);
	}
}

static void end(int seed)
{
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < PAIRS; i++) {
		EXPECT(received[i] == seed + 10 * layer_left() + i);
		EXPECT(got[i] == 1000 + layer_right() + i);
		EXPECT(memory[PAIRS + i] == seed + 10 * layer_left() + i);
	}
	for (int i = 0; i < 4 * PAIRS; i++)
		EXPECT(requests[i] == MPI_REQUEST_NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Of operations no more than the error is defined. */
static void check_status(int index, const MPI_Status *status)
{
	int count = -1;

	if (index % 4 != 0)
		return;
	MPI_Get_count(status, MPI_INT, &count);
	EXPECT(count == 1 && status->MPI_SOURCE == layer_left() && status->MPI_TAG == index / 4);
}

static void R1_waitany_mixed(void)
{
	int index, seen[4 * PAIRS] = { 0 };
	MPI_Status status;

	begin(1);
	for (int left = 4 * PAIRS; left > 0; left--) {
		EXPECT(MPI_Waitany(4 * PAIRS, requests, &index, &status) == MPI_SUCCESS);
		EXPECT(index >= 0 && index < 4 * PAIRS && !seen[index]++);
		check_status(index, &status);
	}
	MPI_Waitany(4 * PAIRS, requests, &index, &status);
	EXPECT(index == MPI_UNDEFINED);
	end(1);
}

static void R1_waitsome_mixed(void)
{
	int count, indices[4 * PAIRS], left = 4 * PAIRS;
	MPI_Status statuses[4 * PAIRS];

	begin(2);
	while (left > 0) {
		EXPECT(MPI_Waitsome(4 * PAIRS, requests, &count, indices, statuses) == MPI_SUCCESS);
		EXPECT(count > 0 && count <= left);
		for (int i = 0; i < count; i++)
			check_status(indices[i], &statuses[i]);
		left -= count;
	}
	MPI_Waitsome(4 * PAIRS, requests, &count, indices, statuses);
	EXPECT(count == MPI_UNDEFINED);
	end(2);
}

static void R1_testall_mixed(void)
{
	MPI_Status statuses[4 * PAIRS];
	int flag = 0;

	begin(3);
	while (!flag)
		EXPECT(MPI_Testall(4 * PAIRS, requests, &flag, statuses) == MPI_SUCCESS);
	for (int i = 0; i < 4 * PAIRS; i++)
		check_status(i, &statuses[i]);
	end(3);
}

static void R1_testany_and_testsome_mixed(void)
{
	int index, flag, count, indices[4 * PAIRS], left = 4 * PAIRS;
	MPI_Status statuses[4 * PAIRS];

	begin(4);
	while (left > 0) {
		MPI_Testany(4 * PAIRS, requests, &index, &flag, statuses);
		left -= flag && index != MPI_UNDEFINED;
		MPI_Testsome(4 * PAIRS, requests, &count, indices, statuses);
		left -= count == MPI_UNDEFINED ? 0 : count;
	}
	end(4);
}

/* The epoch completes the operations; their requests are completed by the program, be it later. */
static void R2_open_at_unlock(void)
{
	MPI_Status statuses[4 * PAIRS];

	begin(5);
	MPI_Win_unlock_all(win);
	MPI_Waitall(4 * PAIRS, requests, statuses);
	MPI_Win_lock_all(0, win);
	end(5);
}

/* Or when the window is gone. */
static void R2_open_at_free(void)
{
	int number = 7 + layer_rank, back[2] = { -1, -1 };
	MPI_Request two[2];
	MPI_Status statuses[2];
	MPI_Win gone;
	int *here;

	MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &here, &gone);
	here[0] = here[1] = number;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, gone);
	MPI_Rget(&back[0], 1, MPI_INT, layer_right(), 0, 1, MPI_INT, gone, &two[0]);
	MPI_Rget(&back[1], 1, MPI_INT, layer_right(), 1, 1, MPI_INT, gone, &two[1]);
	MPI_Win_unlock(layer_right(), gone);
	EXPECT(back[0] == 7 + layer_right() && back[1] == 7 + layer_right());
	MPI_Win_free(&gone);
	EXPECT(MPI_Waitall(2, two, statuses) == MPI_SUCCESS);
	EXPECT(two[0] == MPI_REQUEST_NULL && two[1] == MPI_REQUEST_NULL);
}

static const struct layer_case cases[] = {
	{ "R1_open", open_window },
	{ "R1_waitany_mixed", R1_waitany_mixed },
	{ "R1_waitsome_mixed", R1_waitsome_mixed },
	{ "R1_testall_mixed", R1_testall_mixed },
	{ "R1_testany_and_testsome_mixed", R1_testany_and_testsome_mixed },
	{ "R2_open_at_unlock", R2_open_at_unlock },
	{ "R2_open_at_free", R2_open_at_free },
	{ "R1_close", close_window },
};

LAYER_MAIN(cases)
