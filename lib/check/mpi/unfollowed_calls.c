// SPDX-License-Identifier: BSD-2-Clause
/* unfollowed_calls.c - calls that may order ranks in a way that is not followed; see calls.h */
#include "check/mpi/calls.h"

#define CALLS_OF_MPI_3(X)                                                                                \
	X(Comm_idup)                                                                                         \
	X(Comm_spawn) X(Comm_spawn_multiple) X(Comm_accept) X(Comm_connect) X(Comm_join) X(Intercomm_create) \
		X(Intercomm_merge)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X)                                                                                              \
	X(Barrier_init)                                                                                                    \
	X(Bcast_init) X(Gather_init) X(Gatherv_init) X(Scatter_init) X(Scatterv_init) X(Allgather_init) X(Allgatherv_init) \
		X(Alltoall_init) X(Alltoallv_init) X(Alltoallw_init) X(Reduce_init) X(Allreduce_init)                          \
			X(Reduce_scatter_block_init) X(Reduce_scatter_init) X(Scan_init) X(Exscan_init) X(Neighbor_allgather_init) \
				X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init) X(Neighbor_alltoallv_init)                       \
					X(Neighbor_alltoallw_init) X(Bcast_init_c) X(Gather_init_c) X(Gatherv_init_c) X(Scatter_init_c)    \
						X(Scatterv_init_c) X(Allgather_init_c) X(Allgatherv_init_c) X(Alltoall_init_c)                 \
							X(Alltoallv_init_c) X(Alltoallw_init_c) X(Reduce_init_c) X(Allreduce_init_c)               \
								X(Reduce_scatter_block_init_c) X(Reduce_scatter_init_c) X(Scan_init_c)                 \
									X(Exscan_init_c) X(Neighbor_allgather_init_c) X(Neighbor_allgatherv_init_c)        \
										X(Neighbor_alltoall_init_c) X(Neighbor_alltoallv_init_c)                       \
											X(Neighbor_alltoallw_init_c) X(Bsend_c) X(Bsend_init_c) X(Ibsend_c)        \
												X(Irecv_c) X(Irsend_c) X(Isend_c) X(Issend_c) X(Recv_c) X(Recv_init_c) \
													X(Rsend_c) X(Rsend_init_c) X(Send_c) X(Send_init_c) X(Sendrecv_c)  \
														X(Sendrecv_replace_c) X(Ssend_c) X(Ssend_init_c) X(Psend_init) \
															X(Precv_init) X(Isendrecv) X(Isendrecv_c)                  \
																X(Isendrecv_replace) X(Isendrecv_replace_c)            \
																	X(Comm_idup_with_info) X(Comm_create_from_group)   \
																		X(Intercomm_create_from_groups)
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

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Barrier_init"));
	return next.Barrier_init(comm, info, request);
}
TAKEN(Barrier_init);

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request)
{
	call_unknown(HERE("MPI_Bcast_init"));
	return next.Bcast_init(buffer, count, datatype, root, comm, info, request);
}
TAKEN(Bcast_init);

int MPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Gather_init"));
	return next.Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
}
TAKEN(Gather_init);

int MPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
	call_unknown(HERE("MPI_Gatherv_init"));
	return next.Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
	                         request);
}
TAKEN(Gatherv_init);

int MPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Scatter_init"));
	return next.Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
}
TAKEN(Scatter_init);

int MPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
	call_unknown(HERE("MPI_Scatterv_init"));
	return next.Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
	                          request);
}
TAKEN(Scatterv_init);

int MPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Allgather_init"));
	return next.Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}
TAKEN(Allgather_init);

int MPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
	call_unknown(HERE("MPI_Allgatherv_init"));
	return next.Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
	                            request);
}
TAKEN(Allgatherv_init);

int MPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Alltoall_init"));
	return next.Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}
TAKEN(Alltoall_init);

int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Alltoallv_init"));
	return next.Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	                           info, request);
}
TAKEN(Alltoallv_init);

int MPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                       void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Alltoallw_init"));
	return next.Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	                           info, request);
}
TAKEN(Alltoallw_init);

int MPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Reduce_init"));
	return next.Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}
TAKEN(Reduce_init);

int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Allreduce_init"));
	return next.Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
TAKEN(Allreduce_init);

int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Reduce_scatter_block_init"));
	return next.Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request);
}
TAKEN(Reduce_scatter_block_init);

int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Reduce_scatter_init"));
	return next.Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request);
}
TAKEN(Reduce_scatter_init);

int MPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Scan_init"));
	return next.Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
TAKEN(Scan_init);

int MPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Exscan_init"));
	return next.Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
TAKEN(Exscan_init);

int MPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_allgather_init"));
	return next.Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                    request);
}
TAKEN(Neighbor_allgather_init);

int MPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_allgatherv_init"));
	return next.Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
	                                     info, request);
}
TAKEN(Neighbor_allgatherv_init);

int MPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_alltoall_init"));
	return next.Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}
TAKEN(Neighbor_alltoall_init);

int MPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                                void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_alltoallv_init"));
	return next.Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	                                    comm, info, request);
}
TAKEN(Neighbor_alltoallv_init);

int MPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_alltoallw_init"));
	return next.Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                    recvtypes, comm, info, request);
}
TAKEN(Neighbor_alltoallw_init);

int MPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
	call_unknown(HERE("MPI_Bcast_init_c"));
	return next.Bcast_init_c(buffer, count, datatype, root, comm, info, request);
}
TAKEN(Bcast_init_c);

int MPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
	call_unknown(HERE("MPI_Gather_init_c"));
	return next.Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
}
TAKEN(Gather_init_c);

int MPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Gatherv_init_c"));
	return next.Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
	                           request);
}
TAKEN(Gatherv_init_c);

int MPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
	call_unknown(HERE("MPI_Scatter_init_c"));
	return next.Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
}
TAKEN(Scatter_init_c);

int MPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Scatterv_init_c"));
	return next.Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
	                            request);
}
TAKEN(Scatterv_init_c);

int MPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Allgather_init_c"));
	return next.Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}
TAKEN(Allgather_init_c);

int MPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Allgatherv_init_c"));
	return next.Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
	                              request);
}
TAKEN(Allgatherv_init_c);

int MPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Alltoall_init_c"));
	return next.Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}
TAKEN(Alltoall_init_c);

int MPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Alltoallv_init_c"));
	return next.Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	                             info, request);
}
TAKEN(Alltoallv_init_c);

int MPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
	call_unknown(HERE("MPI_Alltoallw_init_c"));
	return next.Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	                             info, request);
}
TAKEN(Alltoallw_init_c);

int MPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Reduce_init_c"));
	return next.Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}
TAKEN(Reduce_init_c);

int MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Allreduce_init_c"));
	return next.Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
TAKEN(Allreduce_init_c);

int MPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Reduce_scatter_block_init_c"));
	return next.Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request);
}
TAKEN(Reduce_scatter_block_init_c);

int MPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Reduce_scatter_init_c"));
	return next.Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request);
}
TAKEN(Reduce_scatter_init_c);

int MPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Scan_init_c"));
	return next.Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
TAKEN(Scan_init_c);

int MPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Exscan_init_c"));
	return next.Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
TAKEN(Exscan_init_c);

int MPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_allgather_init_c"));
	return next.Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                      request);
}
TAKEN(Neighbor_allgather_init_c);

int MPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_allgatherv_init_c"));
	return next.Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
	                                       info, request);
}
TAKEN(Neighbor_allgatherv_init_c);

int MPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_alltoall_init_c"));
	return next.Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                     request);
}
TAKEN(Neighbor_alltoall_init_c);

int MPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_alltoallv_init_c"));
	return next.Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                      recvtype, comm, info, request);
}
TAKEN(Neighbor_alltoallv_init_c);

int MPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                  MPI_Info info, MPI_Request *request)
{
	call_unknown(HERE("MPI_Neighbor_alltoallw_init_c"));
	return next.Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                      recvtypes, comm, info, request);
}
TAKEN(Neighbor_alltoallw_init_c);

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
