// SPDX-License-Identifier: BSD-2-Clause
/*
 * tool.c - a profiling tool, in a shared library that the program is linked with, sees the calls
 * that Oriel serves
 *
 * The library (libtool.so) is made of this too: it counts the calls and goes on to their other names.
 */
#include <mpi.h>

#include "layer.h"

struct tool_counts {
	int inits, puts, waits, windows;
};

extern struct tool_counts tool_counts;

#ifdef TOOL_LIBRARY

struct tool_counts tool_counts;

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	tool_counts.inits++;
	return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp, int count,
            MPI_Datatype type, MPI_Win win)
{
	tool_counts.puts++;
	return PMPI_Put(origin, origin_count, origin_type, rank, disp, count, type, win);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	tool_counts.waits++;
	return PMPI_Wait(request, status);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
	tool_counts.windows++;
	return PMPI_Win_allocate(size, unit, info, comm, base, win);
}

#else

static void E6_calls_reach_the_tool(void)
{
	int *memory, one = 1;
	MPI_Request request;
	MPI_Win win;

	MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&one, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	EXPECT(memory[0] == 1);
	MPI_Win_lock_all(0, win);
	MPI_Rput(&one, 1, MPI_INT, layer_right(), 1, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	EXPECT(tool_counts.inits == 1 && tool_counts.windows == 1 && tool_counts.puts == 1 && tool_counts.waits == 1);
}

static const struct layer_case cases[] = {
	{ "E6_calls_reach_the_tool", E6_calls_reach_the_tool },
};
LAYER_MAIN(cases)

#endif
