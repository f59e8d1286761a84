// SPDX-License-Identifier: BSD-2-Clause
/* icollective_calls.c - collective calls that make a request; see collective.h */
#include "check/mpi/collective.h"

#define CALLS_OF_MPI_3(X)                                                                                      \
	X(Ibarrier)                                                                                                \
	X(Ibcast)                                                                                                  \
	X(Igather)                                                                                                 \
	X(Igatherv) X(Iscatter) X(Iscatterv) X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) \
		X(Ireduce) X(Iallreduce) X(Ireduce_scatter_block) X(Ireduce_scatter) X(Iscan) X(Iexscan)               \
			X(Ineighbor_allgather) X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv)        \
				X(Ineighbor_alltoallw)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X)                                                                                        \
	X(Ibcast_c)                                                                                                  \
	X(Igather_c)                                                                                                 \
	X(Igatherv_c)                                                                                                \
	X(Iscatter_c) X(Iscatterv_c) X(Iallgather_c) X(Iallgatherv_c) X(Ialltoall_c) X(Ialltoallv_c) X(Ialltoallw_c) \
		X(Ireduce_c) X(Iallreduce_c) X(Ireduce_scatter_block_c) X(Ireduce_scatter_c) X(Iscan_c) X(Iexscan_c)     \
			X(Ineighbor_allgather_c) X(Ineighbor_allgatherv_c) X(Ineighbor_alltoall_c) X(Ineighbor_alltoallv_c)  \
				X(Ineighbor_alltoallw_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ibarrier"), comm, FLOW_ALL, 0);

	collective_needs_all(&call);
	return collective_start(&call, request, next.Ibarrier(comm, request));
}
TAKEN(Ibarrier);

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ibcast"), comm, FLOW_FROM_ROOT, root,
	                                    one_block(buffer, count, datatype), one_block(buffer, count, datatype));

	return collective_start(&call, request, next.Ibcast(buffer, count, datatype, root, comm, request));
}
TAKEN(Ibcast);

int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Igather"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                     request));
}
TAKEN(Igather);

int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Igatherv"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_start(&call, request,
	                        next.Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                      comm, request));
}
TAKEN(Igatherv);

int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iscatter"), comm, FLOW_FROM_ROOT, root, block_of_each(sendbuf, sendcount, sendtype),
	               one_block(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                      request));
}
TAKEN(Iscatter);

int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iscatterv"), comm, FLOW_FROM_ROOT, root, blocks(sendbuf, sendcounts, displs, sendtype),
	               one_block(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
	                                       comm, request));
}
TAKEN(Iscatterv);

int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iallgather"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request));
}
TAKEN(Iallgather);

int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iallgatherv"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_start(&call, request,
	                        next.Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
	                                         request));
}
TAKEN(Iallgatherv);

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ialltoall"), comm, FLOW_ALL, 0, block_of_each(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request));
}
TAKEN(Ialltoall);

int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ialltoallv"), comm, FLOW_ALL, 0, blocks(sendbuf, sendcounts, sdispls, sendtype),
	               blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_start(&call, request,
	                        next.Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                        recvtype, comm, request));
}
TAKEN(Ialltoallv);

int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ialltoallw"), comm, FLOW_ALL, 0, typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	               typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_start(&call, request,
	                        next.Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                        recvtypes, comm, request));
}
TAKEN(Ialltoallw);

int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ireduce"), comm, FLOW_TO_ROOT, root,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request));
}
TAKEN(Ireduce);

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Iallreduce"), comm, FLOW_ALL, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iallreduce);

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ireduce_scatter_block"), comm, FLOW_ALL, 0, block_of_each(sendbuf, recvcount, datatype),
	               one_block(recvbuf, recvcount, datatype));

	return collective_start(&call, request,
	                        next.Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter_block);

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ireduce_scatter"), comm, FLOW_ALL, 0, blocks(sendbuf, recvcounts, NULL, datatype),
	               own_block(recvbuf, recvcounts, datatype));

	return collective_start(&call, request,
	                        next.Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter);

int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Iscan"), comm, FLOW_UPWARDS, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Iscan(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iscan);

int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Iexscan"), comm, FLOW_FROM_LOWER, 0,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iexscan);

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_allgather"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                 request));
}
TAKEN(Ineighbor_allgather);

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_allgatherv"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                  recvtype, comm, request));
}
TAKEN(Ineighbor_allgatherv);

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_alltoall"), comm, FLOW_NEIGHBORS, 0, block_of_each(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                request));
}
TAKEN(Ineighbor_alltoall);

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_alltoallv"), comm, FLOW_NEIGHBORS, 0,
	               blocks(sendbuf, sendcounts, sdispls, sendtype), blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                 rdispls, recvtype, comm, request));
}
TAKEN(Ineighbor_alltoallv);

int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ineighbor_alltoallw"), comm, FLOW_NEIGHBORS, 0,
	                                    typed_blocks_of_neighbors(sendbuf, sendcounts, sdispls, sendtypes),
	                                    typed_blocks_of_neighbors(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_start(&call, request,
	                        next.Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                 rdispls, recvtypes, comm, request));
}
TAKEN(Ineighbor_alltoallw);

#if MPI_VERSION >= 4

/* ---- forms for large counts ---- */

int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ibcast_c"), comm, FLOW_FROM_ROOT, root,
	                                    one_block(buffer, count, datatype), one_block(buffer, count, datatype));

	return collective_start(&call, request, next.Ibcast_c(buffer, count, datatype, root, comm, request));
}
TAKEN(Ibcast_c);

int MPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Igather_c"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                       request));
}
TAKEN(Igather_c);

int MPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Igatherv_c"), comm, FLOW_TO_ROOT, root, one_block(sendbuf, sendcount, sendtype),
	               large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_start(&call, request,
	                        next.Igatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                        comm, request));
}
TAKEN(Igatherv_c);

int MPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iscatter_c"), comm, FLOW_FROM_ROOT, root, block_of_each(sendbuf, sendcount, sendtype),
	               one_block(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                        request));
}
TAKEN(Iscatter_c);

int MPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iscatterv_c"), comm, FLOW_FROM_ROOT, root,
	               large_blocks(sendbuf, sendcounts, displs, sendtype), one_block(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
	                                         comm, request));
}
TAKEN(Iscatterv_c);

int MPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iallgather_c"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                          request));
}
TAKEN(Iallgather_c);

int MPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Iallgatherv_c"), comm, FLOW_ALL, 0, one_block(sendbuf, sendcount, sendtype),
	               large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_start(&call, request,
	                        next.Iallgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                           comm, request));
}
TAKEN(Iallgatherv_c);

int MPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ialltoall_c"), comm, FLOW_ALL, 0, block_of_each(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                         request));
}
TAKEN(Ialltoall_c);

int MPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ialltoallv_c"), comm, FLOW_ALL, 0, large_blocks(sendbuf, sendcounts, sdispls, sendtype),
	               large_blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_start(&call, request,
	                        next.Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                          recvtype, comm, request));
}
TAKEN(Ialltoallv_c);

int MPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ialltoallw_c"), comm, FLOW_ALL, 0,
	                                    large_typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	                                    large_typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_start(&call, request,
	                        next.Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                          recvtypes, comm, request));
}
TAKEN(Ialltoallw_c);

int MPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ireduce_c"), comm, FLOW_TO_ROOT, root,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request));
}
TAKEN(Ireduce_c);

int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Iallreduce_c"), comm, FLOW_ALL, 0,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iallreduce_c);

int MPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ireduce_scatter_block_c"), comm, FLOW_ALL, 0, block_of_each(sendbuf, recvcount, datatype),
	               one_block(recvbuf, recvcount, datatype));

	return collective_start(&call, request,
	                        next.Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter_block_c);

int MPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ireduce_scatter_c"), comm, FLOW_ALL, 0, large_blocks(sendbuf, recvcounts, NULL, datatype),
	               large_own_block(recvbuf, recvcounts, datatype));

	return collective_start(&call, request,
	                        next.Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter_c);

int MPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Iscan_c"), comm, FLOW_UPWARDS, 0, one_block(sendbuf, count, datatype),
	                                    one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iscan_c);

int MPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Iexscan_c"), comm, FLOW_FROM_LOWER, 0,
	                                    one_block(sendbuf, count, datatype), one_block(recvbuf, count, datatype));

	return collective_start(&call, request, next.Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iexscan_c);

int MPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_allgather_c"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                   request));
}
TAKEN(Ineighbor_allgather_c);

int MPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_allgatherv_c"), comm, FLOW_NEIGHBORS, 0, one_block(sendbuf, sendcount, sendtype),
	               large_blocks(recvbuf, recvcounts, displs, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                    recvtype, comm, request));
}
TAKEN(Ineighbor_allgatherv_c);

int MPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call =
		data_start(HERE("MPI_Ineighbor_alltoall_c"), comm, FLOW_NEIGHBORS, 0,
	               block_of_each(sendbuf, sendcount, sendtype), block_of_each(recvbuf, recvcount, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                  request));
}
TAKEN(Ineighbor_alltoall_c);

int MPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ineighbor_alltoallv_c"), comm, FLOW_NEIGHBORS, 0,
	                                    large_blocks(sendbuf, sendcounts, sdispls, sendtype),
	                                    large_blocks(recvbuf, recvcounts, rdispls, recvtype));

	return collective_start(&call, request,
	                        next.Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                   rdispls, recvtype, comm, request));
}
TAKEN(Ineighbor_alltoallv_c);

int MPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              MPI_Request *request)
{
	struct collective call = data_start(HERE("MPI_Ineighbor_alltoallw_c"), comm, FLOW_NEIGHBORS, 0,
	                                    large_typed_blocks(sendbuf, sendcounts, sdispls, sendtypes),
	                                    large_typed_blocks(recvbuf, recvcounts, rdispls, recvtypes));

	return collective_start(&call, request,
	                        next.Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                   rdispls, recvtypes, comm, request));
}
TAKEN(Ineighbor_alltoallw_c);

#endif
