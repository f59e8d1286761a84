// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_other_calls.c - MPI's calls that wait and are not one-sided: they are shown on the board, and
 * not recorded; see call.h
 */
#include <mpi.h>

#include "see/front/call.h"
#include "see/front/mpi_behind.h"

#define CALLS(X) \
	X(Barrier)   \
	X(Bcast)     \
	X(Reduce)    \
	X(Allreduce) \
	X(Gather)    \
	X(Allgather) \
	X(Scatter)   \
	X(Alltoall)  \
	X(Send)      \
	X(Ssend)     \
	X(Recv)      \
	X(Sendrecv)  \
	X(Probe)     \
	X(Wait)      \
	X(Waitall)   \
	X(Waitany)   \
	X(Waitsome)

#define X(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));
CALLS(X)
#undef X

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(MPI_##name) *name;
	CALLS(X)
#undef X
} next;

__attribute__((constructor)) static void find_all(void)
{
#define X(name) find_behind("PMPI_" #name, &next.name);
	CALLS(X)
#undef X
}

int MPI_Barrier(MPI_Comm comm)
{
	outside_begin("MPI_Barrier", HERE);
	return outside_end(next.Barrier(comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	outside_begin("MPI_Bcast", HERE);
	return outside_end(next.Bcast(buffer, count, datatype, root, comm));
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	outside_begin("MPI_Reduce", HERE);
	return outside_end(next.Reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	outside_begin("MPI_Allreduce", HERE);
	return outside_end(next.Allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	outside_begin("MPI_Gather", HERE);
	return outside_end(next.Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
	outside_begin("MPI_Allgather", HERE);
	return outside_end(next.Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	outside_begin("MPI_Scatter", HERE);
	return outside_end(next.Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
	outside_begin("MPI_Alltoall", HERE);
	return outside_end(next.Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	outside_begin("MPI_Send", HERE);
	return outside_end(next.Send(buf, count, datatype, dest, tag, comm));
}

int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	outside_begin("MPI_Ssend", HERE);
	return outside_end(next.Ssend(buf, count, datatype, dest, tag, comm));
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	outside_begin("MPI_Recv", HERE);
	return outside_end(next.Recv(buf, count, datatype, source, tag, comm, status));
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	outside_begin("MPI_Sendrecv", HERE);
	return outside_end(next.Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
	                                 recvtag, comm, status));
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	outside_begin("MPI_Probe", HERE);
	return outside_end(next.Probe(source, tag, comm, status));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	outside_begin("MPI_Wait", HERE);
	return outside_end(next.Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
	outside_begin("MPI_Waitall", HERE);
	return outside_end(next.Waitall(count, requests, statuses));
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	outside_begin("MPI_Waitany", HERE);
	return outside_end(next.Waitany(count, requests, index, status));
}

int MPI_Waitsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[])
{
	outside_begin("MPI_Waitsome", HERE);
	return outside_end(next.Waitsome(count, requests, found, indices, statuses));
}
