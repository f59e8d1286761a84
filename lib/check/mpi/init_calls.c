// SPDX-License-Identifier: BSD-2-Clause
/*
 * init_calls.c - collective calls that are made once and started many times; see collective.h
 *
 * Open MPI 4 has them by names of its own.
 */
#include "check/mpi/collective.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_NAMES_OF_MPI_4 1
#elif defined(OMPI_MAJOR_VERSION)
#include <mpi-ext.h>
#endif

#if defined(HAS_NAMES_OF_MPI_4) || defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)

#ifdef HAS_NAMES_OF_MPI_4
#define NAME(name) MPI_##name
#define OTHER_NAME(name) PMPI_##name
#define TEXT(name) "MPI_" #name
#else
#define NAME(name) MPIX_##name
#define OTHER_NAME(name) PMPIX_##name
#define TEXT(name) "MPIX_" #name
#endif
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X) \
	X(Bcast_init_c) X(Gather_init_c) X(Gatherv_init_c) X(Scatter_init_c) X(Scatterv_init_c) \
	X(Allgather_init_c) X(Allgatherv_init_c) X(Alltoall_init_c) X(Alltoallv_init_c) X(Alltoallw_init_c) \
	X(Reduce_init_c) X(Allreduce_init_c) X(Reduce_scatter_block_init_c) X(Reduce_scatter_init_c) \
	X(Scan_init_c) X(Exscan_init_c) X(Neighbor_allgather_init_c) X(Neighbor_allgatherv_init_c) \
	X(Neighbor_alltoall_init_c) X(Neighbor_alltoallv_init_c) X(Neighbor_alltoallw_init_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) \
	X(Barrier_init) X(Bcast_init) X(Gather_init) X(Gatherv_init) X(Scatter_init) X(Scatterv_init) \
	X(Allgather_init) X(Allgatherv_init) X(Alltoall_init) X(Alltoallv_init) X(Alltoallw_init) X(Reduce_init) \
	X(Allreduce_init) X(Reduce_scatter_block_init) X(Reduce_scatter_init) X(Scan_init) X(Exscan_init) \
	X(Neighbor_allgather_init) X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init) \
	X(Neighbor_alltoallv_init) X(Neighbor_alltoallw_init) \
	CALLS_OF_MPI_4(X)
#define NEXT_TYPE(name) __typeof__(NAME(name))
#define NEXT_TEXT(name) "P" TEXT(name)

#include "check/mpi/next.h"

/* Follows the definition of such a call. */
#define TAKEN_HERE(name) extern __typeof__(NAME(name)) OTHER_NAME(name) __attribute__((alias(TEXT(name))))

static const struct data no_data;

int NAME(Barrier_init)(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Barrier_init)), comm, FLOW_ALL, 0, no_data, no_data);

	return collective_init(&call, request, next.Barrier_init(comm, info, request));
}
TAKEN_HERE(Barrier_init);

int NAME(Bcast_init)(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Bcast_init)), comm, FLOW_FROM_ROOT, root,
	                                   one_block(buffer, count, datatype), one_block(buffer, count, datatype));

	return collective_init(&call, request, next.Bcast_init(buffer, count, datatype, root, comm, info, request));
}
TAKEN_HERE(Bcast_init);

int NAME(Gather_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Gather_init)), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                        info, request));
}
TAKEN_HERE(Gather_init);

int NAME(Gatherv_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                       const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Gatherv_init)), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	              blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_init(&call, request,
	                       next.Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                         comm, info, request));
}
TAKEN_HERE(Gatherv_init);

int NAME(Scatter_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Scatter_init)), comm, FLOW_FROM_ROOT, root, block_of_each(sendbuf, sendcount, sendtype),
	              one_block(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                         info, request));
}
TAKEN_HERE(Scatter_init);

int NAME(Scatterv_init)(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                        void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Scatterv_init)), comm, FLOW_FROM_ROOT, root, blocks(sendbuf, sendcounts, displs, sendtype),
	              one_block(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
	                                          comm, info, request));
}
TAKEN_HERE(Scatterv_init);

int NAME(Allgather_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Allgather_init)), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                           request));
}
TAKEN_HERE(Allgather_init);

int NAME(Allgatherv_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Allgatherv_init)), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	              blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_init(&call, request,
	                       next.Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                            comm, info, request));
}
TAKEN_HERE(Allgatherv_init);

int NAME(Alltoall_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Alltoall_init)), comm, FLOW_ALL, 0, block_of_each(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                          request));
}
TAKEN_HERE(Alltoall_init);

int NAME(Alltoallv_init)(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Alltoallv_init)), comm, FLOW_ALL, 0, blocks(sendbuf, sendcounts, sdispls, sendtype),
	              blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_init(&call, request,
	                       next.Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                           recvtype, comm, info, request));
}
TAKEN_HERE(Alltoallv_init);

int NAME(Alltoallw_init)(const void *sendbuf, const int sendcounts[], const int sdispls[],
                         const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
                         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Alltoallw_init)), comm, FLOW_ALL, 0, typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	              typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_init(&call, request,
	                       next.Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                           recvtypes, comm, info, request));
}
TAKEN_HERE(Alltoallw_init);

int NAME(Reduce_init)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Reduce_init)), comm, FLOW_TO_ROOT, root,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request));
}
TAKEN_HERE(Reduce_init);

int NAME(Allreduce_init)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Allreduce_init)), comm, FLOW_ALL, 0,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request));
}
TAKEN_HERE(Allreduce_init);

int NAME(Reduce_scatter_block_init)(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Reduce_scatter_block_init)), comm, FLOW_ALL, 0, block_of_each(sendbuf, recvcount, datatype),
	              one_block(recvbuf, recvcount, datatype));

	return collective_init(&call, request,
	                       next.Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
	                                                      request));
}
TAKEN_HERE(Reduce_scatter_block_init);

int NAME(Reduce_scatter_init)(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Reduce_scatter_init)), comm, FLOW_ALL, 0, blocks(sendbuf, recvcounts, NULL, datatype),
	              own_block(recvbuf, recvcounts, datatype));

	return collective_init(&call, request,
	                       next.Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request));
}
TAKEN_HERE(Reduce_scatter_init);

int NAME(Scan_init)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Scan_init)), comm, FLOW_UPWARDS, 0,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request, next.Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request));
}
TAKEN_HERE(Scan_init);

int NAME(Exscan_init)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Exscan_init)), comm, FLOW_FROM_LOWER, 0,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request));
}
TAKEN_HERE(Exscan_init);

int NAME(Neighbor_allgather_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_allgather_init)), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
	                                                    comm, info, request));
}
TAKEN_HERE(Neighbor_allgather_init);

int NAME(Neighbor_allgatherv_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_allgatherv_init)), comm, FLOW_NEIGHBORS, 0,
	              one_block(sendbuf, sendcount, sendtype), blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                     recvtype, comm, info, request));
}
TAKEN_HERE(Neighbor_allgatherv_init);

int NAME(Neighbor_alltoall_init)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_alltoall_init)), comm, FLOW_NEIGHBORS, 0,
	              block_of_each(sendbuf, sendcount, sendtype), block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                   info, request));
}
TAKEN_HERE(Neighbor_alltoall_init);

int NAME(Neighbor_alltoallv_init)(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_alltoallv_init)), comm, FLOW_NEIGHBORS, 0,
	              blocks(sendbuf, sendcounts, sdispls, sendtype), blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                    rdispls, recvtype, comm, info, request));
}
TAKEN_HERE(Neighbor_alltoallv_init);

int NAME(Neighbor_alltoallw_init)(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                  MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Neighbor_alltoallw_init)), comm, FLOW_NEIGHBORS, 0,
	                                   typed_blocks_of_neighbors(sendbuf, sendcounts, sdispls, sendtypes),
	                                   typed_blocks_of_neighbors(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_init(&call, request,
	                       next.Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                    rdispls, recvtypes, comm, info, request));
}
TAKEN_HERE(Neighbor_alltoallw_init);

#if MPI_VERSION >= 4

/* ---- forms for large counts ---- */

int NAME(Bcast_init_c)(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Bcast_init_c)), comm, FLOW_FROM_ROOT, root,
	                                   one_block(buffer, count, datatype), one_block(buffer, count, datatype));

	return collective_init(&call, request, next.Bcast_init_c(buffer, count, datatype, root, comm, info, request));
}
TAKEN_HERE(Bcast_init_c);

int NAME(Gather_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Gather_init_c)), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                          info, request));
}
TAKEN_HERE(Gather_init_c);

int NAME(Gatherv_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Gatherv_init_c)), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	              large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_init(&call, request,
	                       next.Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                           root, comm, info, request));
}
TAKEN_HERE(Gatherv_init_c);

int NAME(Scatter_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Scatter_init_c)), comm, FLOW_FROM_ROOT, root, block_of_each(sendbuf, sendcount, sendtype),
	              one_block(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                           info, request));
}
TAKEN_HERE(Scatter_init_c);

int NAME(Scatterv_init_c)(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                          MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                          MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Scatterv_init_c)), comm, FLOW_FROM_ROOT, root,
	              large_blocks(sendbuf, sendcounts, displs, sendtype), one_block(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
	                                            root, comm, info, request));
}
TAKEN_HERE(Scatterv_init_c);

int NAME(Allgather_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Allgather_init_c)), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                             request));
}
TAKEN_HERE(Allgather_init_c);

int NAME(Allgatherv_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Allgatherv_init_c)), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	              large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_init(&call, request,
	                       next.Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                              comm, info, request));
}
TAKEN_HERE(Allgatherv_init_c);

int NAME(Alltoall_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Alltoall_init_c)), comm, FLOW_ALL, 0, block_of_each(sendbuf, sendcount, sendtype),
	              block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
	                                            request));
}
TAKEN_HERE(Alltoall_init_c);

int NAME(Alltoallv_init_c)(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                           MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Alltoallv_init_c)), comm, FLOW_ALL, 0, large_blocks(sendbuf, sendcounts, sdispls, sendtype),
	              large_blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_init(&call, request,
	                       next.Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                             recvtype, comm, info, request));
}
TAKEN_HERE(Alltoallv_init_c);

int NAME(Alltoallw_init_c)(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Alltoallw_init_c)), comm, FLOW_ALL, 0,
	                                   large_typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	                                   large_typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_init(&call, request,
	                       next.Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                             recvtypes, comm, info, request));
}
TAKEN_HERE(Alltoallw_init_c);

int NAME(Reduce_init_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Reduce_init_c)), comm, FLOW_TO_ROOT, root,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, request));
}
TAKEN_HERE(Reduce_init_c);

int NAME(Allreduce_init_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Allreduce_init_c)), comm, FLOW_ALL, 0,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request));
}
TAKEN_HERE(Allreduce_init_c);

int NAME(Reduce_scatter_block_init_c)(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Reduce_scatter_block_init_c)), comm, FLOW_ALL, 0,
	              block_of_each(sendbuf, recvcount, datatype), one_block(recvbuf, recvcount, datatype));

	return collective_init(&call, request,
	                       next.Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
	                                                        request));
}
TAKEN_HERE(Reduce_scatter_block_init_c);

int NAME(Reduce_scatter_init_c)(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Reduce_scatter_init_c)), comm, FLOW_ALL, 0,
	              large_blocks(sendbuf, recvcounts, NULL, datatype), large_own_block(recvbuf, recvcounts, datatype));

	return collective_init(&call, request,
	                       next.Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request));
}
TAKEN_HERE(Reduce_scatter_init_c);

int NAME(Scan_init_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Scan_init_c)), comm, FLOW_UPWARDS, 0,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request));
}
TAKEN_HERE(Scan_init_c);

int NAME(Exscan_init_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Exscan_init_c)), comm, FLOW_FROM_LOWER, 0,
	                                   one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_init(&call, request,
	                       next.Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request));
}
TAKEN_HERE(Exscan_init_c);

int NAME(Neighbor_allgather_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_allgather_init_c)), comm, FLOW_NEIGHBORS, 0,
	              one_block(sendbuf, sendcount, sendtype), block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
	                                                      comm, info, request));
}
TAKEN_HERE(Neighbor_allgather_init_c);

int NAME(Neighbor_allgatherv_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                     MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_allgatherv_init_c)), comm, FLOW_NEIGHBORS, 0,
	              one_block(sendbuf, sendcount, sendtype), large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                       recvtype, comm, info, request));
}
TAKEN_HERE(Neighbor_allgatherv_init_c);

int NAME(Neighbor_alltoall_init_c)(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
	struct collective call =
		data_init(HERE(TEXT(Neighbor_alltoall_init_c)), comm, FLOW_NEIGHBORS, 0,
	              block_of_each(sendbuf, sendcount, sendtype), block_of_each(recvbuf, recvcount, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
	                                                     comm, info, request));
}
TAKEN_HERE(Neighbor_alltoall_init_c);

int NAME(Neighbor_alltoallv_init_c)(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Neighbor_alltoallv_init_c)), comm, FLOW_NEIGHBORS, 0,
	                                   large_blocks(sendbuf, sendcounts, sdispls, sendtype),
	                                   large_blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_init(&call, request,
	                       next.Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                      rdispls, recvtype, comm, info, request));
}
TAKEN_HERE(Neighbor_alltoallv_init_c);

int NAME(Neighbor_alltoallw_init_c)(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
	struct collective call = data_init(HERE(TEXT(Neighbor_alltoallw_init_c)), comm, FLOW_NEIGHBORS, 0,
	                                   large_typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	                                   large_typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_init(&call, request,
	                       next.Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                      rdispls, recvtypes, comm, info, request));
}
TAKEN_HERE(Neighbor_alltoallw_init_c);

#endif

#endif
