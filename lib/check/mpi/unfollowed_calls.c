// SPDX-License-Identifier: BSD-2-Clause
/* unfollowed_calls.c - calls that may order ranks in a way that is not followed; see calls.h */
#include "check/mpi/calls.h"

#define CALLS_OF_MPI_3(X)                                                                                \
	X(Comm_idup)                                                                                         \
	X(Comm_spawn) X(Comm_spawn_multiple) X(Comm_accept) X(Comm_connect) X(Comm_join) X(Intercomm_create) \
		X(Intercomm_merge)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X) \
	X(Bsend_c) X(Bsend_init_c) X(Ibsend_c) X(Irecv_c) X(Irsend_c) X(Isend_c) X(Issend_c) X(Recv_c) \
	X(Recv_init_c) X(Rsend_c) X(Rsend_init_c) X(Send_c) X(Send_init_c) X(Sendrecv_c) \
	X(Sendrecv_replace_c) X(Ssend_c) X(Ssend_init_c) X(Psend_init) X(Precv_init) X(Isendrecv) \
	X(Isendrecv_c) X(Isendrecv_replace) X(Isendrecv_replace_c) X(Comm_idup_with_info) \
	X(Comm_create_from_group) X(Intercomm_create_from_groups)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

static void call_unknown(struct place place)
{
	if (inside == 0)
		trace_unknown(place);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	call_unknown(HERE("MPI_Comm_idup"));
	return next.Comm_idup(comm, newcomm, request);
}
TAKEN(Comm_idup);

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *intercomm, int array_of_errcodes[])
{
	call_unknown(HERE("MPI_Comm_spawn"));
	return next.Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}
TAKEN(Comm_spawn);

int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[],
                            const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                            int array_of_errcodes[])
{
	call_unknown(HERE("MPI_Comm_spawn_multiple"));
	return next.Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root,
	                                comm, intercomm, array_of_errcodes);
}
TAKEN(Comm_spawn_multiple);

int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	call_unknown(HERE("MPI_Comm_accept"));
	return next.Comm_accept(port_name, info, root, comm, newcomm);
}
TAKEN(Comm_accept);

int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	call_unknown(HERE("MPI_Comm_connect"));
	return next.Comm_connect(port_name, info, root, comm, newcomm);
}
TAKEN(Comm_connect);

int MPI_Comm_join(int fd, MPI_Comm *intercomm)
{
	call_unknown(HERE("MPI_Comm_join"));
	return next.Comm_join(fd, intercomm);
}
TAKEN(Comm_join);

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                         MPI_Comm *newintercomm)
{
	call_unknown(HERE("MPI_Intercomm_create"));
	return next.Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
}
TAKEN(Intercomm_create);

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
	call_unknown(HERE("MPI_Intercomm_merge"));
	return next.Intercomm_merge(intercomm, high, newintracomm);
}
TAKEN(Intercomm_merge);

#if MPI_VERSION >= 4

int MPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	call_unknown(HERE("MPI_Bsend_c"));
	return next.Bsend_c(buf, count, datatype, dest, tag, comm);
}
TAKEN(Bsend_c);

int MPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
	call_unknown(HERE("MPI_Bsend_init_c"));
	return next.Bsend_init_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Bsend_init_c);

int MPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
	call_unknown(HERE("MPI_Ibsend_c"));
	return next.Ibsend_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Ibsend_c);

int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Request *request)
{
	call_unknown(HERE("MPI_Irecv_c"));
	return next.Irecv_c(buf, count, datatype, source, tag, comm, request);
}
TAKEN(Irecv_c);

int MPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
	call_unknown(HERE("MPI_Irsend_c"));
	return next.Irsend_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Irsend_c);

int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
	call_unknown(HERE("MPI_Isend_c"));
	return next.Isend_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Isend_c);

int MPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
	call_unknown(HERE("MPI_Issend_c"));
	return next.Issend_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Issend_c);

int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Status *status)
{
	call_unknown(HERE("MPI_Recv_c"));
	return next.Recv_c(buf, count, datatype, source, tag, comm, status);
}
TAKEN(Recv_c);

int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
	call_unknown(HERE("MPI_Recv_init_c"));
	return next.Recv_init_c(buf, count, datatype, source, tag, comm, request);
}
TAKEN(Recv_init_c);

int MPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	call_unknown(HERE("MPI_Rsend_c"));
	return next.Rsend_c(buf, count, datatype, dest, tag, comm);
}
TAKEN(Rsend_c);

int MPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
	call_unknown(HERE("MPI_Rsend_init_c"));
	return next.Rsend_init_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Rsend_init_c);

int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	call_unknown(HERE("MPI_Send_c"));
	return next.Send_c(buf, count, datatype, dest, tag, comm);
}
TAKEN(Send_c);

int MPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
	call_unknown(HERE("MPI_Send_init_c"));
	return next.Send_init_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Send_init_c);

int MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Status *status)
{
	call_unknown(HERE("MPI_Sendrecv_c"));
	return next.Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
	                       comm, status);
}
TAKEN(Sendrecv_c);

int MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                           int recvtag, MPI_Comm comm, MPI_Status *status)
{
	call_unknown(HERE("MPI_Sendrecv_replace_c"));
	return next.Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
}
TAKEN(Sendrecv_replace_c);

int MPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	call_unknown(HERE("MPI_Ssend_c"));
	return next.Ssend_c(buf, count, datatype, dest, tag, comm);
}
TAKEN(Ssend_c);

int MPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
	call_unknown(HERE("MPI_Ssend_init_c"));
	return next.Ssend_init_c(buf, count, datatype, dest, tag, comm, request);
}
TAKEN(Ssend_init_c);

int MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Psend_init"));
	return next.Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}
TAKEN(Psend_init);

int MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Precv_init"));
	return next.Precv_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}
TAKEN(Precv_init);

int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
	call_unknown(HERE("MPI_Isendrecv"));
	return next.Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
	                      comm, request);
}
TAKEN(Isendrecv);

int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Request *request)
{
	call_unknown(HERE("MPI_Isendrecv_c"));
	return next.Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
	                        comm, request);
}
TAKEN(Isendrecv_c);

int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request *request)
{
	call_unknown(HERE("MPI_Isendrecv_replace"));
	return next.Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
}
TAKEN(Isendrecv_replace);

int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                            int recvtag, MPI_Comm comm, MPI_Request *request)
{
	call_unknown(HERE("MPI_Isendrecv_replace_c"));
	return next.Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
}
TAKEN(Isendrecv_replace_c);

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
	call_unknown(HERE("MPI_Comm_idup_with_info"));
	return next.Comm_idup_with_info(comm, info, newcomm, request);
}
TAKEN(Comm_idup_with_info);

int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
                               MPI_Comm *newcomm)
{
	call_unknown(HERE("MPI_Comm_create_from_group"));
	return next.Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
}
TAKEN(Comm_create_from_group);

int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
                                     const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                     MPI_Comm *newintercomm)
{
	call_unknown(HERE("MPI_Intercomm_create_from_groups"));
	return next.Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag, info,
	                                         errhandler, newintercomm);
}
TAKEN(Intercomm_create_from_groups);

#endif
