// SPDX-License-Identifier: BSD-2-Clause
/*
 * puts.c TURNS CALL... - rank 0 makes each call so many times under callgrind, which writes a file
 * of instructions for each call.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

static double number = 1, before, numbers[256];
static MPI_Datatype vector; /* every other double */
static MPI_Datatype list;   /* 64 doubles, with gaps of one and two in turn */

static void put(MPI_Win win)
{
	MPI_Put(&number, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
}

static void get(MPI_Win win)
{
	MPI_Get(&before, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
}

static void flush(MPI_Win win)
{
	MPI_Win_flush(1, win);
}

static void accumulate(MPI_Win win)
{
	MPI_Accumulate(&number, 1, MPI_DOUBLE, 1, 1, 1, MPI_DOUBLE, MPI_SUM, win);
}

static void get_accumulate(MPI_Win win)
{
	MPI_Get_accumulate(&number, 1, MPI_DOUBLE, &before, 1, MPI_DOUBLE, 1, 1, 1, MPI_DOUBLE, MPI_SUM, win);
}

static void fetch_and_op(MPI_Win win)
{
	MPI_Fetch_and_op(&number, &before, MPI_DOUBLE, 1, 2, MPI_SUM, win);
}

static void compare_and_swap(MPI_Win win)
{
	static long zero, there;

	MPI_Compare_and_swap(&zero, &zero, &there, MPI_LONG, 1, 3, win);
}

static void put_list(MPI_Win win)
{
	MPI_Put(numbers, 1, list, 1, 0, 1, list, win);
}

static void put_vector(MPI_Win win)
{
	MPI_Put(numbers, 1, vector, 1, 0, 1, vector, win);
}

static void put_request(MPI_Win win)
{
	MPI_Request request;

	MPI_Rput(&number, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void allocate(MPI_Aint bytes)
{
	void *memory;

	MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
	MPI_Free_mem(memory);
}

static void allocate_little(MPI_Win win)
{
	(void)win;
	allocate(8);
}

static void allocate_much(MPI_Win win)
{
	(void)win;
	allocate(1 << 20);
}

static const struct {
	const char *name;
	void (*call)(MPI_Win win);
} calls[] = {
	{ "MPI_Put", put },
	{ "MPI_Get", get },
	{ "MPI_Win_flush", flush },
	{ "MPI_Accumulate", accumulate },
	{ "MPI_Get_accumulate", get_accumulate },
	{ "MPI_Fetch_and_op", fetch_and_op },
	{ "MPI_Compare_and_swap", compare_and_swap },
	{ "MPI_Put_64_blocks", put_vector },
	{ "MPI_Put_64_in_a_list", put_list },
	{ "MPI_Rput", put_request },
	{ "MPI_Alloc_mem_8_B", allocate_little },
	{ "MPI_Alloc_mem_1_MiB", allocate_much },
};

/* Counts `turns` calls of `name`, after as many that are not counted: those pay for first uses. */
static void count(const char *name, int turns, MPI_Win win)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		for (int turn = 0; turn < turns; turn++)
			calls[i].call(win);
		CALLGRIND_ZERO_STATS;
		for (int turn = 0; turn < turns; turn++)
			calls[i].call(win);
		CALLGRIND_DUMP_STATS_AT(name);
	}
}

static void make_list(void)
{
	int places[64];

	for (int i = 0; i < 64; i++)
		places[i] = 2 * i + i / 2;
	MPI_Type_create_indexed_block(64, 1, places, MPI_DOUBLE, &list);
	MPI_Type_commit(&list);
}

int main(int argc, char **argv)
{
	double *memory;
	MPI_Win win;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(sizeof(numbers), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Type_vector(64, 1, 2, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	make_list();
	MPI_Win_lock_all(0, win);
	for (int i = 2; rank == 0 && i < argc; i++)
		count(argv[i], atoi(argv[1]), win);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Type_free(&vector);
	MPI_Type_free(&list);
	MPI_Finalize();
	return 0;
}
