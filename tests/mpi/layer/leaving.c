// SPDX-License-Identifier: BSD-2-Clause
/*
 * leaving.c - windows while MPI_Finalize deletes what hangs at MPI_COMM_SELF
 *
 * That is the first that it does, and MPI still works there. Callbacks are called last set first,
 * and each tells its case.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, size;
static MPI_Win kept, kept_of_world;
static int *kept_memory, *memory_of_world, *allocated, told;

static void tell(int held, const char *name)
{
	int all = 0;

	told++;
	MPI_Reduce(&held, &all, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%sok %s\n", all ? "" : "not ", name);
}

/* Each kind of epoch on a window of one rank. */
static int use_alone(MPI_Win win, const int *memory)
{
	int number = 50 + rank, one = 1, got = -1;
	MPI_Request request;

	MPI_Win_fence(0, win);
	MPI_Put(&number, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_flush(0, win);
	MPI_Rget(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock(0, win);
	return got == number + 1 && memory[1] == number + 1;
}

static int make_and_free(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int held, own_memory[4] = { 0 }, *memory;
	MPI_Win win;

	(void)comm, (void)keyval, (void)value, (void)extra;
	MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
	held = use_alone(win, memory);
	MPI_Win_free(&win);
	MPI_Win_create(own_memory, sizeof(own_memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win);
	held &= use_alone(win, own_memory);
	MPI_Win_free(&win);
	tell(held && win == MPI_WIN_NULL, "W7_made_while_leaving");
	return MPI_SUCCESS;
}

static int free_kept(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int held;

	(void)comm, (void)keyval, (void)value, (void)extra;
	held = use_alone(kept, kept_memory) && allocated[0] == rank;
	MPI_Win_free(&kept);
	MPI_Free_mem(allocated);
	tell(held && kept == MPI_WIN_NULL, "W7_freed_while_leaving");
	return MPI_SUCCESS;
}

static int free_kept_of_world(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int number = 70 + rank;

	(void)comm, (void)keyval, (void)value, (void)extra;
	MPI_Win_fence(0, kept_of_world);
	MPI_Put(&number, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, kept_of_world);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, kept_of_world);
	tell(memory_of_world[0] == 70 + (rank + size - 1) % size, "W7_of_all_freed_while_leaving");
	MPI_Win_free(&kept_of_world);
	return MPI_SUCCESS;
}

static void hang(MPI_Comm_delete_attr_function *callback)
{
	int keyval;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &kept_memory, &kept);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory_of_world, &kept_of_world);
	MPI_Alloc_mem(sizeof(int), MPI_INFO_NULL, &allocated);
	allocated[0] = rank;
	hang(make_and_free);
	hang(free_kept);
	hang(free_kept_of_world);
	MPI_Finalize();
	return told != 3;
}
