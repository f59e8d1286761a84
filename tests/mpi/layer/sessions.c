// SPDX-License-Identifier: BSD-2-Clause
/*
 * sessions.c - windows on a session's communicator: the MPI's own while there is no MPI_COMM_WORLD,
 * which Oriel's job is made of, and Oriel's when there is.
 */
#include <mpi.h>
#include <stdio.h>

#ifdef MPI_SESSION_NULL /* MPI-4, and Open MPI 5, which calls itself 3.1 */

/* MPICH's own windows are wrong where memory is not aligned to 16 bytes. */
#define BYTES 64

static int use_window(MPI_Comm comm)
{
	int rank, size, number, *memory, held;
	MPI_Win win;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Win_allocate(BYTES, sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
	number = 10 + rank;
	MPI_Win_fence(0, win);
	MPI_Put(&number, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	held = *memory == 10 + (rank + size - 1) % size;
	MPI_Win_free(&win);
	return held;
}

static MPI_Comm comm_of(MPI_Session session)
{
	MPI_Group group;
	MPI_Comm comm;

	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "oriel", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	return comm;
}

static void tell(MPI_Comm comm, int held, const char *name)
{
	int all, rank;

	MPI_Comm_rank(comm, &rank);
	MPI_Reduce(&held, &all, 1, MPI_INT, MPI_LAND, 0, comm);
	if (rank == 0)
		printf("%sok %s\n", all ? "" : "not ", name);
}

int main(int argc, char **argv)
{
	MPI_Session session;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	comm = comm_of(session);
	tell(comm, use_window(comm), "W6_session_alone");
	MPI_Comm_free(&comm);
	MPI_Init(&argc, &argv);
	comm = comm_of(session);
	tell(comm, use_window(comm) && use_window(MPI_COMM_WORLD), "W6_session_and_world");
	MPI_Comm_free(&comm);
	MPI_Finalize();
	MPI_Session_finalize(&session);
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
