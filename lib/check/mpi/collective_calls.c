// SPDX-License-Identifier: BSD-2-Clause
/* collective_calls.c - collective calls that return when they are done; see collective.h */
#include "check/mpi/collective.h"

#define CALLS_OF_MPI_3(X)                                                                                        \
	X(Barrier)                                                                                                   \
	X(Bcast)                                                                                                     \
	X(Gather)                                                                                                    \
	X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce) \
		X(Allreduce) X(Reduce_scatter_block) X(Reduce_scatter) X(Scan) X(Exscan) X(Neighbor_allgather)           \
			X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv) X(Neighbor_alltoallw)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X)                                                                                             \
	X(Bcast_c)                                                                                                        \
	X(Gather_c)                                                                                                       \
	X(Gatherv_c)                                                                                                      \
	X(Scatter_c) X(Scatterv_c) X(Allgather_c) X(Allgatherv_c) X(Alltoall_c) X(Alltoallv_c) X(Alltoallw_c) X(Reduce_c) \
		X(Allreduce_c) X(Reduce_scatter_block_c) X(Reduce_scatter_c) X(Scan_c) X(Exscan_c) X(Neighbor_allgather_c)    \
			X(Neighbor_allgatherv_c) X(Neighbor_alltoall_c) X(Neighbor_alltoallv_c) X(Neighbor_alltoallw_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

int MPI_Barrier(MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Barrier"), comm, FLOW_ALL, 0);

	collective_waits(&call);
	return collective_end(&call, next.Barrier(comm));
}
TAKEN(Barrier);

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Bcast"), comm, FLOW_FROM_ROOT, root,
	                                    one_block(buffer, count, datatype), one_block(buffer, count, datatype));

	return collective_end(&call, next.Bcast(buffer, count, datatype, root, comm));
}
TAKEN(Bcast);

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Gather"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Gather);

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Gatherv"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_end(&call, next.Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                          comm));
}
TAKEN(Gatherv);

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Scatter"), comm, FLOW_FROM_ROOT, root, block_of_each(sendbuf, sendcount, sendtype),
	               one_block(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Scatter);

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Scatterv"), comm, FLOW_FROM_ROOT, root, blocks(sendbuf, sendcounts, displs, sendtype),
	               one_block(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
	                                           root, comm));
}
TAKEN(Scatterv);

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Allgather"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Allgather);

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Allgatherv"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_end(&call,
	                      next.Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}
TAKEN(Allgatherv);

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Alltoall"), comm, FLOW_ALL, 0, block_of_each(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Alltoall);

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Alltoallv"), comm, FLOW_ALL, 0, blocks(sendbuf, sendcounts, sdispls, sendtype),
	               blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_end(&call, next.Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                            recvtype, comm));
}
TAKEN(Alltoallv);

int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                  void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Alltoallw"), comm, FLOW_ALL, 0, typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	               typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_end(&call, next.Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                            recvtypes, comm));
}
TAKEN(Alltoallw);

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Reduce"), comm, FLOW_TO_ROOT, root,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}
TAKEN(Reduce);

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Allreduce"), comm, FLOW_ALL, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Allreduce);

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Reduce_scatter_block"), comm, FLOW_ALL, 0, block_of_each(sendbuf, recvcount, datatype),
	               one_block(recvbuf, recvcount, datatype));

	return collective_end(&call, next.Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}
TAKEN(Reduce_scatter_block);

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Reduce_scatter"), comm, FLOW_ALL, 0, blocks(sendbuf, recvcounts, NULL, datatype),
	               own_block(recvbuf, recvcounts, datatype));

	return collective_end(&call, next.Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm));
}
TAKEN(Reduce_scatter);

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Scan"), comm, FLOW_UPWARDS, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Scan(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Scan);

int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Exscan"), comm, FLOW_FROM_LOWER, 0,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Exscan(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Exscan);

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_allgather"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call,
	                      next.Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_allgather);

int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_allgatherv"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_end(&call, next.Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                      recvtype, comm));
}
TAKEN(Neighbor_allgatherv);

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_alltoall"), comm, FLOW_NEIGHBORS, 0, block_of_each(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call,
	                      next.Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_alltoall);

int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_alltoallv"), comm, FLOW_NEIGHBORS, 0,
	               blocks(sendbuf, sendcounts, sdispls, sendtype), blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_end(&call, next.Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                     rdispls, recvtype, comm));
}
TAKEN(Neighbor_alltoallv);

int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Neighbor_alltoallw"), comm, FLOW_NEIGHBORS, 0,
	                                    typed_blocks_of_neighbors(sendbuf, sendcounts, sdispls, sendtypes),
	                                    typed_blocks_of_neighbors(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_end(&call, next.Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                     rdispls, recvtypes, comm));
}
TAKEN(Neighbor_alltoallw);

#if MPI_VERSION >= 4

/* ---- forms for large counts ---- */

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Bcast_c"), comm, FLOW_FROM_ROOT, root,
	                                    one_block(buffer, count, datatype), one_block(buffer, count, datatype));

	return collective_end(&call, next.Bcast_c(buffer, count, datatype, root, comm));
}
TAKEN(Bcast_c);

int MPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Gather_c"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Gather_c);

int MPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Gatherv_c"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_end(&call, next.Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                            root, comm));
}
TAKEN(Gatherv_c);

int MPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Scatter_c"), comm, FLOW_FROM_ROOT, root, block_of_each(sendbuf, sendcount, sendtype),
	               one_block(recvbuf, recvcount, recvtype));

	return collective_end(&call,
	                      next.Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Scatter_c);

int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Scatterv_c"), comm, FLOW_FROM_ROOT, root,
	               large_blocks(sendbuf, sendcounts, displs, sendtype), one_block(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
	                                             root, comm));
}
TAKEN(Scatterv_c);

int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Allgather_c"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Allgather_c);

int MPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Allgatherv_c"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_end(&call,
	                      next.Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}
TAKEN(Allgatherv_c);

int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Alltoall_c"), comm, FLOW_ALL, 0, block_of_each(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call, next.Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Alltoall_c);

int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Alltoallv_c"), comm, FLOW_ALL, 0, large_blocks(sendbuf, sendcounts, sdispls, sendtype),
	               large_blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_end(&call, next.Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                              recvtype, comm));
}
TAKEN(Alltoallv_c);

int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Alltoallw_c"), comm, FLOW_ALL, 0,
	                                    large_typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	                                    large_typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_end(&call, next.Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                              recvtypes, comm));
}
TAKEN(Alltoallw_c);

int MPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Reduce_c"), comm, FLOW_TO_ROOT, root,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm));
}
TAKEN(Reduce_c);

int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Allreduce_c"), comm, FLOW_ALL, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Allreduce_c);

int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Reduce_scatter_block_c"), comm, FLOW_ALL, 0, block_of_each(sendbuf, recvcount, datatype),
	               one_block(recvbuf, recvcount, datatype));

	return collective_end(&call, next.Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm));
}
TAKEN(Reduce_scatter_block_c);

int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Reduce_scatter_c"), comm, FLOW_ALL, 0, large_blocks(sendbuf, recvcounts, NULL, datatype),
	               large_own_block(recvbuf, recvcounts, datatype));

	return collective_end(&call, next.Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm));
}
TAKEN(Reduce_scatter_c);

int MPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Scan_c"), comm, FLOW_UPWARDS, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Scan_c(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Scan_c);

int MPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Exscan_c"), comm, FLOW_FROM_LOWER, 0,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_end(&call, next.Exscan_c(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Exscan_c);

int MPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_allgather_c"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call,
	                      next.Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_allgather_c);

int MPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                              MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_allgatherv_c"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_end(&call, next.Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                        recvtype, comm));
}
TAKEN(Neighbor_allgatherv_c);

int MPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call =
		data_begin(HERE("MPI_Neighbor_alltoall_c"), comm, FLOW_NEIGHBORS, 0,
	               block_of_each(sendbuf, sendcount, sendtype), block_of_each(recvbuf, recvcount, recvtype));

	return collective_end(&call,
	                      next.Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_alltoall_c);

int MPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Neighbor_alltoallv_c"), comm, FLOW_NEIGHBORS, 0,
	                                    large_blocks(sendbuf, sendcounts, sdispls, sendtype),
	                                    large_blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_end(&call, next.Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                       rdispls, recvtype, comm));
}
TAKEN(Neighbor_alltoallv_c);

int MPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct collective call = data_begin(HERE("MPI_Neighbor_alltoallw_c"), comm, FLOW_NEIGHBORS, 0,
	                                    large_typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	                                    large_typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_end(&call, next.Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                       rdispls, recvtypes, comm));
}
TAKEN(Neighbor_alltoallw_c);

#endif
