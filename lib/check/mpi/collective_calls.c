// SPDX-License-Identifier: BSD-2-Clause
/*
 * collective_calls.c - collective calls, by the flow of their data; see calls.h
 *
 * All members make the collective calls of a communicator in one order, so a call's number names it
 * on all of them. A call of neighbours counts as one of all members.
 */
#include "check/mpi/calls.h"
#include "mpi/type/element.h"

#define CALLS_OF_MPI_3(X)                                                                                          \
	X(Barrier)                                                                                                     \
	X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv)       \
		X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter_block) X(Reduce_scatter) X(Scan) X(Exscan)            \
			X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv)                \
				X(Neighbor_alltoallw) X(Ibarrier) X(Ibcast) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv)        \
					X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce) X(Iallreduce) \
						X(Ireduce_scatter_block) X(Ireduce_scatter) X(Iscan) X(Iexscan) X(Ineighbor_allgather)     \
							X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv)                   \
								X(Ineighbor_alltoallw)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X)                                                                                             \
	X(Bcast_c)                                                                                                        \
	X(Gather_c) X(Gatherv_c) X(Scatter_c) X(Scatterv_c) X(Allgather_c) X(Allgatherv_c) X(Alltoall_c) X(Alltoallv_c)   \
		X(Alltoallw_c) X(Reduce_c) X(Allreduce_c) X(Reduce_scatter_block_c) X(Reduce_scatter_c) X(Scan_c) X(Exscan_c) \
			X(Neighbor_allgather_c) X(Neighbor_allgatherv_c) X(Neighbor_alltoall_c) X(Neighbor_alltoallv_c)           \
				X(Neighbor_alltoallw_c) X(Ibcast_c) X(Igather_c) X(Igatherv_c) X(Iscatter_c) X(Iscatterv_c)           \
					X(Iallgather_c) X(Iallgatherv_c) X(Ialltoall_c) X(Ialltoallv_c) X(Ialltoallw_c) X(Ireduce_c)      \
						X(Iallreduce_c) X(Ireduce_scatter_block_c) X(Ireduce_scatter_c) X(Iscan_c) X(Iexscan_c)       \
							X(Ineighbor_allgather_c) X(Ineighbor_allgatherv_c) X(Ineighbor_alltoall_c)                \
								X(Ineighbor_alltoallv_c) X(Ineighbor_alltoallw_c)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

/* ---- what a member learns ---- */

static struct trace_event event_of(enum trace_kind kind, const struct comm *comm, uint64_t number)
{
	return (struct trace_event){
		.kind = kind, .object = comm->id, .rank = -1, .id = number, .size_bytes = (uint64_t)comm->size
	};
}

static struct trace_event leave_of(const struct comm *comm, uint64_t number, enum flow flow, int root)
{
	struct trace_event event = event_of(TRACE_LEAVE, comm, number);

	if (flow == FLOW_FROM_ROOT || (flow == FLOW_TO_ROOT && comm->rank != root)) {
		event.flags = flow == FLOW_FROM_ROOT ? LEAVE_ONE : LEAVE_NONE;
		event.base = (uint64_t)root;
	}
	if (flow == FLOW_UPWARDS) {
		event.flags = LEAVE_LOWER;
		event.base = (uint64_t)comm->rank;
	}
	return event;
}

struct collective collective_begin(struct place place, MPI_Comm handle, enum flow flow, int root)
{
	struct collective collective = { .place = place };
	struct comm *comm;
	struct trace_event enter;
	uint64_t number;

	if (!call_begin())
		return collective;
	thread_check(place);
	comm = comm_find(handle);
	if (!comm) {
		trace_unknown(place);
		return collective;
	}
	number = __atomic_add_fetch(&comm->collectives, 1, __ATOMIC_RELAXED);
	enter = event_of(TRACE_ENTER, comm, number);
	enter.flags = flow == FLOW_FROM_ROOT || flow == FLOW_UPWARDS ? ENTER_BY_MEMBER : 0;
	enter.base = (uint64_t)comm->rank;
	enter.unit_bytes = flow == FLOW_FROM_ROOT || flow == FLOW_TO_ROOT ? (uint64_t)root + 1 : 0;
	trace_add(place, enter);
	collective.leave = leave_of(comm, number, flow, root);
	collective.is_recorded = true;
	collective.rank = comm->ranks[comm->rank];
	collective.root = comm_world_rank(comm, root);
	collective.size = comm->size;
	return collective;
}

/* The call cannot return before the root has begun it, or all have if that is -1. */
static void await(struct collective *collective, int root)
{
	if (!collective->is_recorded)
		return;
	collective->waits = true;
	wait_begin(collective->place, (struct trace_wait){ .kind = AWAIT_COLLECTIVE,
	                                                   .object = collective->leave.object,
	                                                   .number = collective->leave.id + 1,
	                                                   .rank = root,
	                                                   .size = (uint32_t)collective->size });
}

/* To ask for the size of a datatype that is not valid is an error, which may end the program. */
static bool has_bytes(int count, MPI_Datatype type)
{
	return count > 0 && type != MPI_DATATYPE_NULL && element_of_named(type) != ELEMENT_NONE;
}

/* Data flow from all members to this one. */
static void await_all(struct collective *collective, int count, MPI_Datatype type)
{
	if (collective->is_recorded && has_bytes(count, type))
		await(collective, -1);
}

static void await_root(struct collective *collective, int count, MPI_Datatype type)
{
	if (collective->is_recorded && collective->rank != collective->root && has_bytes(count, type))
		await(collective, collective->root);
}

static void await_at_root(struct collective *collective, int count, MPI_Datatype type)
{
	if (collective->rank == collective->root)
		await_all(collective, count, type);
}

int collective_end(const struct collective *collective, int rc)
{
	if (collective->waits)
		wait_end();
	if (collective->is_recorded && rc == MPI_SUCCESS)
		trace_add(collective->place, collective->leave);
	else if (collective->is_recorded)
		trace_unknown(collective->place);
	call_end();
	return rc;
}

int collective_start(const struct collective *collective, const MPI_Request *request, int rc)
{
	if (collective->is_recorded && rc == MPI_SUCCESS)
		request_add(*request,
		            (struct request){ .is_active = true, .place = collective->place, .event = collective->leave });
	else if (collective->is_recorded)
		trace_unknown(collective->place);
	call_end();
	return rc;
}

/* ---- the calls ---- */

int MPI_Barrier(MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Barrier"), comm, FLOW_ALL, 0);

	await(&call, -1);
	return collective_end(&call, next.Barrier(comm));
}
TAKEN(Barrier);

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Bcast"), comm, FLOW_FROM_ROOT, root);

	await_root(&call, count, datatype);
	return collective_end(&call, next.Bcast(buffer, count, datatype, root, comm));
}
TAKEN(Bcast);

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Gather"), comm, FLOW_TO_ROOT, root);

	await_at_root(&call, recvcount, recvtype);
	return collective_end(&call, next.Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Gather);

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Gatherv"), comm, FLOW_TO_ROOT, root);

	return collective_end(&call, next.Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                          comm));
}
TAKEN(Gatherv);

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Scatter"), comm, FLOW_FROM_ROOT, root);

	await_root(&call, recvcount, recvtype);
	return collective_end(&call, next.Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Scatter);

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Scatterv"), comm, FLOW_FROM_ROOT, root);

	return collective_end(&call, next.Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
	                                           root, comm));
}
TAKEN(Scatterv);

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Allgather"), comm, FLOW_ALL, 0);

	await_all(&call, recvcount, recvtype);
	return collective_end(&call, next.Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Allgather);

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Allgatherv"), comm, FLOW_ALL, 0);

	return collective_end(&call,
	                      next.Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}
TAKEN(Allgatherv);

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Alltoall"), comm, FLOW_ALL, 0);

	await_all(&call, recvcount, recvtype);
	return collective_end(&call, next.Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Alltoall);

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Alltoallv"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                            recvtype, comm));
}
TAKEN(Alltoallv);

int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                  void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Alltoallw"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                            recvtypes, comm));
}
TAKEN(Alltoallw);

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Reduce"), comm, FLOW_TO_ROOT, root);

	await_at_root(&call, count, datatype);
	return collective_end(&call, next.Reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}
TAKEN(Reduce);

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Allreduce"), comm, FLOW_ALL, 0);

	await_all(&call, count, datatype);
	return collective_end(&call, next.Allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Allreduce);

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Reduce_scatter_block"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}
TAKEN(Reduce_scatter_block);

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Reduce_scatter"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm));
}
TAKEN(Reduce_scatter);

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Scan"), comm, FLOW_UPWARDS, 0);

	return collective_end(&call, next.Scan(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Scan);

int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Exscan"), comm, FLOW_UPWARDS, 0);

	return collective_end(&call, next.Exscan(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Exscan);

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_allgather"), comm, FLOW_ALL, 0);

	return collective_end(&call,
	                      next.Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_allgather);

int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_allgatherv"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                      recvtype, comm));
}
TAKEN(Neighbor_allgatherv);

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_alltoall"), comm, FLOW_ALL, 0);

	return collective_end(&call,
	                      next.Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_alltoall);

int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_alltoallv"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                     rdispls, recvtype, comm));
}
TAKEN(Neighbor_alltoallv);

int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_alltoallw"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                     rdispls, recvtypes, comm));
}
TAKEN(Neighbor_alltoallw);

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ibarrier"), comm, FLOW_ALL, 0);

	return collective_start(&call, request, next.Ibarrier(comm, request));
}
TAKEN(Ibarrier);

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ibcast"), comm, FLOW_FROM_ROOT, root);

	return collective_start(&call, request, next.Ibcast(buffer, count, datatype, root, comm, request));
}
TAKEN(Ibcast);

int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Igather"), comm, FLOW_TO_ROOT, root);

	return collective_start(&call, request,
	                        next.Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                     request));
}
TAKEN(Igather);

int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Igatherv"), comm, FLOW_TO_ROOT, root);

	return collective_start(&call, request,
	                        next.Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                      comm, request));
}
TAKEN(Igatherv);

int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iscatter"), comm, FLOW_FROM_ROOT, root);

	return collective_start(&call, request,
	                        next.Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                      request));
}
TAKEN(Iscatter);

int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iscatterv"), comm, FLOW_FROM_ROOT, root);

	return collective_start(&call, request,
	                        next.Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
	                                       comm, request));
}
TAKEN(Iscatterv);

int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iallgather"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request));
}
TAKEN(Iallgather);

int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iallgatherv"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
	                                         request));
}
TAKEN(Iallgatherv);

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ialltoall"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request));
}
TAKEN(Ialltoall);

int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ialltoallv"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                        recvtype, comm, request));
}
TAKEN(Ialltoallv);

int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ialltoallw"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                        recvtypes, comm, request));
}
TAKEN(Ialltoallw);

int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ireduce"), comm, FLOW_TO_ROOT, root);

	return collective_start(&call, request, next.Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request));
}
TAKEN(Ireduce);

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iallreduce"), comm, FLOW_ALL, 0);

	return collective_start(&call, request, next.Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iallreduce);

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ireduce_scatter_block"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter_block);

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ireduce_scatter"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter);

int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iscan"), comm, FLOW_UPWARDS, 0);

	return collective_start(&call, request, next.Iscan(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iscan);

int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iexscan"), comm, FLOW_UPWARDS, 0);

	return collective_start(&call, request, next.Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iexscan);

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_allgather"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                 request));
}
TAKEN(Ineighbor_allgather);

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_allgatherv"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                  recvtype, comm, request));
}
TAKEN(Ineighbor_allgatherv);

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_alltoall"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                request));
}
TAKEN(Ineighbor_alltoall);

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_alltoallv"), comm, FLOW_ALL, 0);

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
	struct collective call = collective_begin(HERE("MPI_Ineighbor_alltoallw"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                 rdispls, recvtypes, comm, request));
}
TAKEN(Ineighbor_alltoallw);

#if MPI_VERSION >= 4

/* ---- calls of MPI-4 ---- */

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Bcast_c"), comm, FLOW_FROM_ROOT, root);

	return collective_end(&call, next.Bcast_c(buffer, count, datatype, root, comm));
}
TAKEN(Bcast_c);

int MPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Gather_c"), comm, FLOW_TO_ROOT, root);

	return collective_end(&call, next.Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Gather_c);

int MPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Gatherv_c"), comm, FLOW_TO_ROOT, root);

	return collective_end(&call, next.Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                            root, comm));
}
TAKEN(Gatherv_c);

int MPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Scatter_c"), comm, FLOW_FROM_ROOT, root);

	return collective_end(&call,
	                      next.Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TAKEN(Scatter_c);

int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Scatterv_c"), comm, FLOW_FROM_ROOT, root);

	return collective_end(&call, next.Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
	                                             root, comm));
}
TAKEN(Scatterv_c);

int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Allgather_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Allgather_c);

int MPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Allgatherv_c"), comm, FLOW_ALL, 0);

	return collective_end(&call,
	                      next.Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}
TAKEN(Allgatherv_c);

int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Alltoall_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Alltoall_c);

int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Alltoallv_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                              recvtype, comm));
}
TAKEN(Alltoallv_c);

int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Alltoallw_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                              recvtypes, comm));
}
TAKEN(Alltoallw_c);

int MPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Reduce_c"), comm, FLOW_TO_ROOT, root);

	return collective_end(&call, next.Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm));
}
TAKEN(Reduce_c);

int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Allreduce_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Allreduce_c);

int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Reduce_scatter_block_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm));
}
TAKEN(Reduce_scatter_block_c);

int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Reduce_scatter_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm));
}
TAKEN(Reduce_scatter_c);

int MPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Scan_c"), comm, FLOW_UPWARDS, 0);

	return collective_end(&call, next.Scan_c(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Scan_c);

int MPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Exscan_c"), comm, FLOW_UPWARDS, 0);

	return collective_end(&call, next.Exscan_c(sendbuf, recvbuf, count, datatype, op, comm));
}
TAKEN(Exscan_c);

int MPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_allgather_c"), comm, FLOW_ALL, 0);

	return collective_end(&call,
	                      next.Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_allgather_c);

int MPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                              MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_allgatherv_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                        recvtype, comm));
}
TAKEN(Neighbor_allgatherv_c);

int MPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_alltoall_c"), comm, FLOW_ALL, 0);

	return collective_end(&call,
	                      next.Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TAKEN(Neighbor_alltoall_c);

int MPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_alltoallv_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
	                                                       rdispls, recvtype, comm));
}
TAKEN(Neighbor_alltoallv_c);

int MPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct collective call = collective_begin(HERE("MPI_Neighbor_alltoallw_c"), comm, FLOW_ALL, 0);

	return collective_end(&call, next.Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                       rdispls, recvtypes, comm));
}
TAKEN(Neighbor_alltoallw_c);

int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ibcast_c"), comm, FLOW_FROM_ROOT, root);

	return collective_start(&call, request, next.Ibcast_c(buffer, count, datatype, root, comm, request));
}
TAKEN(Ibcast_c);

int MPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Igather_c"), comm, FLOW_TO_ROOT, root);

	return collective_start(&call, request,
	                        next.Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                       request));
}
TAKEN(Igather_c);

int MPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Igatherv_c"), comm, FLOW_TO_ROOT, root);

	return collective_start(&call, request,
	                        next.Igatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
	                                        comm, request));
}
TAKEN(Igatherv_c);

int MPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iscatter_c"), comm, FLOW_FROM_ROOT, root);

	return collective_start(&call, request,
	                        next.Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
	                                        request));
}
TAKEN(Iscatter_c);

int MPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iscatterv_c"), comm, FLOW_FROM_ROOT, root);

	return collective_start(&call, request,
	                        next.Iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
	                                         comm, request));
}
TAKEN(Iscatterv_c);

int MPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iallgather_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                          request));
}
TAKEN(Iallgather_c);

int MPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iallgatherv_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Iallgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
	                                           comm, request));
}
TAKEN(Iallgatherv_c);

int MPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ialltoall_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                         request));
}
TAKEN(Ialltoall_c);

int MPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ialltoallv_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
	                                          recvtype, comm, request));
}
TAKEN(Ialltoallv_c);

int MPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ialltoallw_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
	                                          recvtypes, comm, request));
}
TAKEN(Ialltoallw_c);

int MPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ireduce_c"), comm, FLOW_TO_ROOT, root);

	return collective_start(&call, request, next.Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request));
}
TAKEN(Ireduce_c);

int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iallreduce_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request, next.Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iallreduce_c);

int MPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ireduce_scatter_block_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter_block_c);

int MPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ireduce_scatter_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request));
}
TAKEN(Ireduce_scatter_c);

int MPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iscan_c"), comm, FLOW_UPWARDS, 0);

	return collective_start(&call, request, next.Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iscan_c);

int MPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Iexscan_c"), comm, FLOW_UPWARDS, 0);

	return collective_start(&call, request, next.Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request));
}
TAKEN(Iexscan_c);

int MPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_allgather_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                   request));
}
TAKEN(Ineighbor_allgather_c);

int MPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_allgatherv_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
	                                                    recvtype, comm, request));
}
TAKEN(Ineighbor_allgatherv_c);

int MPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_alltoall_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
	                                                  request));
}
TAKEN(Ineighbor_alltoall_c);

int MPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct collective call = collective_begin(HERE("MPI_Ineighbor_alltoallv_c"), comm, FLOW_ALL, 0);

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
	struct collective call = collective_begin(HERE("MPI_Ineighbor_alltoallw_c"), comm, FLOW_ALL, 0);

	return collective_start(&call, request,
	                        next.Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
	                                                   rdispls, recvtypes, comm, request));
}
TAKEN(Ineighbor_alltoallw_c);

#endif
