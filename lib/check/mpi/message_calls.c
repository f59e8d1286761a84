// SPDX-License-Identifier: BSD-2-Clause
/*
 * message_calls.c - messages and requests; see calls.h
 *
 * DESIGN NOTES
 *
 * Messages of one sender with one tag and communicator are received in their order. So the judge
 * finds the sender's clock by counting. Where another receive might have taken an earlier one, the
 * later message is taken to be the one: that orders more.
 */
#include <stdlib.h>

#include "check/mpi/calls.h"

#define CALLS(X)                                                                                                   \
	X(Send)                                                                                                        \
	X(Bsend)                                                                                                       \
	X(Rsend)                                                                                                       \
	X(Ssend)                                                                                                       \
	X(Isend)                                                                                                       \
	X(Ibsend)                                                                                                      \
	X(Irsend) X(Issend) X(Recv) X(Irecv) X(Sendrecv) X(Sendrecv_replace) X(Send_init) X(Bsend_init) X(Rsend_init)  \
		X(Ssend_init) X(Recv_init) X(Start) X(Startall) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Wait) X(Waitall) \
			X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status) X(Request_free) \
				X(Cancel)

#include "check/mpi/next.h"

_Thread_local int inside;
_Thread_local struct current current;
bool has_threads, is_one_thread;
_Thread_local bool may_call;

/* ---- sending ---- */

static struct trace_event send_event(const struct comm *comm, int dest, int tag)
{
	return (struct trace_event){
		.kind = TRACE_SEND, .object = comm->id, .rank = comm_world_rank(comm, dest), .id = (uint64_t)(uint32_t)tag
	};
}

/* A message may leave from here on. Returns the communicator, or NULL: nothing is recorded. */
static const struct comm *begin_send(struct place place, MPI_Comm handle, int dest, int tag)
{
	const struct comm *comm;

	if (!call_begin() || dest == MPI_PROC_NULL)
		return NULL;
	thread_check(place);
	comm = comm_find(handle);
	if (comm)
		trace_add(place, send_event(comm, dest, tag));
	else
		trace_unknown(place);
	return comm;
}

static int end_send(int rc)
{
	call_end();
	return rc;
}

/* A synchronous send has returned: the receiver has begun to receive. */
static struct trace_event synchronous_event(const struct comm *comm, int dest)
{
	return (struct trace_event){ .kind = TRACE_SEND_MET, .object = comm->id, .rank = comm_world_rank(comm, dest) };
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	begin_send(HERE("MPI_Send"), comm, dest, tag);
	return end_send(next.Send(buf, count, datatype, dest, tag, comm));
}
TAKEN(Send);

int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	begin_send(HERE("MPI_Bsend"), comm, dest, tag);
	return end_send(next.Bsend(buf, count, datatype, dest, tag, comm));
}
TAKEN(Bsend);

int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	begin_send(HERE("MPI_Rsend"), comm, dest, tag);
	return end_send(next.Rsend(buf, count, datatype, dest, tag, comm));
}
TAKEN(Rsend);

int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	const struct comm *known = begin_send(HERE("MPI_Ssend"), comm, dest, tag);
	int rc = next.Ssend(buf, count, datatype, dest, tag, comm);

	if (known && rc == MPI_SUCCESS)
		trace_add(HERE("MPI_Ssend"), synchronous_event(known, dest));
	return end_send(rc);
}
TAKEN(Ssend);

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	begin_send(HERE("MPI_Isend"), comm, dest, tag);
	return end_send(next.Isend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Isend);

int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	begin_send(HERE("MPI_Ibsend"), comm, dest, tag);
	return end_send(next.Ibsend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Ibsend);

int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	begin_send(HERE("MPI_Irsend"), comm, dest, tag);
	return end_send(next.Irsend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Irsend);

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	const struct comm *known = begin_send(HERE("MPI_Issend"), comm, dest, tag);
	int rc = next.Issend(buf, count, datatype, dest, tag, comm, request);

	if (known && rc == MPI_SUCCESS)
		request_add(*request, (struct request){ .is_active = true,
		                                        .place = HERE("MPI_Issend"),
		                                        .event = synchronous_event(known, dest) });
	return end_send(rc);
}
TAKEN(Issend);

/* ---- receiving ---- */

static const struct comm *begin_receive(struct place place, MPI_Comm handle, int source)
{
	const struct comm *comm;

	if (!call_begin() || source == MPI_PROC_NULL)
		return NULL;
	thread_check(place);
	comm = comm_find(handle);
	if (comm)
		trace_add(place, (struct trace_event){ .kind = TRACE_RECEIVE, .rank = -1 });
	else
		trace_unknown(place);
	return comm;
}

void message_received(struct place place, const struct comm *comm, int source, int tag)
{
	struct trace_event event = {
		.kind = TRACE_RECEIVED, .object = comm->id, .rank = comm_world_rank(comm, source), .id = (uint64_t)(uint32_t)tag
	};

	event.base = has_threads ? UINT32_MAX : requests_compatible(comm, source, tag);
	if (event.rank >= 0)
		trace_add(place, event);
}

/* A message of the source is awaited, until wait_end. */
static void await(struct place place, const struct comm *comm, int source)
{
	struct trace_wait wait = { .kind = AWAIT_NONE };

	if (comm)
		wait = (struct trace_wait){ .kind = AWAIT_MESSAGE,
			                        .object = comm->id,
			                        .rank = source == MPI_ANY_SOURCE ? -1 : comm_world_rank(comm, source),
			                        .size = (uint32_t)comm->size };
	if (wait.rank < 0 && source != MPI_ANY_SOURCE)
		wait.kind = AWAIT_NONE;
	wait_begin(place, wait);
}

static int end_receive(struct place place, const struct comm *comm, const MPI_Status *status, int rc)
{
	if (comm && rc == MPI_SUCCESS)
		message_received(place, comm, status->MPI_SOURCE, status->MPI_TAG);
	call_end();
	return rc;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known = begin_receive(HERE("MPI_Recv"), comm, source);
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	await(HERE("MPI_Recv"), known, source);
	return end_receive(HERE("MPI_Recv"), known, to, awaited(next.Recv(buf, count, datatype, source, tag, comm, to)));
}
TAKEN(Recv);

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	const struct comm *known = begin_receive(HERE("MPI_Irecv"), comm, source);
	int rc = next.Irecv(buf, count, datatype, source, tag, comm, request);

	if (known && rc == MPI_SUCCESS)
		request_add(*request, (struct request){ .kind = REQUEST_RECEIVE,
		                                        .is_active = true,
		                                        .place = HERE("MPI_Irecv"),
		                                        .comm = known,
		                                        .source = source,
		                                        .tag = tag });
	call_end();
	return rc;
}
TAKEN(Irecv);

/* Both of a send and a receive are one call: it is counted as one inside of the other. */
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	begin_send(HERE("MPI_Sendrecv"), comm, dest, sendtag);
	call_end();
	known = begin_receive(HERE("MPI_Sendrecv"), comm, source);
	await(HERE("MPI_Sendrecv"), known, source);
	return end_receive(HERE("MPI_Sendrecv"), known, to,
	                   awaited(next.Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
	                                         source, recvtag, comm, to)));
}
TAKEN(Sendrecv);

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	begin_send(HERE("MPI_Sendrecv_replace"), comm, dest, sendtag);
	call_end();
	known = begin_receive(HERE("MPI_Sendrecv_replace"), comm, source);
	return end_receive(HERE("MPI_Sendrecv_replace"), known, to,
	                   next.Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, to));
}
TAKEN(Sendrecv_replace);

/* ---- probing: what comes with the message is known from here on ---- */

static void probed(struct place place, const struct comm *comm, const MPI_Status *status)
{
	struct trace_event event = { .kind = TRACE_PROBED,
		                         .object = comm->id,
		                         .rank = comm_world_rank(comm, status->MPI_SOURCE),
		                         .id = (uint64_t)(uint32_t)status->MPI_TAG };

	if (event.rank >= 0)
		trace_add(place, event);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known = begin_receive(HERE("MPI_Probe"), comm, source);
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc;

	await(HERE("MPI_Probe"), known, source);
	rc = awaited(next.Probe(source, tag, comm, to));
	if (known && rc == MPI_SUCCESS)
		probed(HERE("MPI_Probe"), known, to);
	call_end();
	return rc;
}
TAKEN(Probe);

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	bool is_recorded = call_begin() && source != MPI_PROC_NULL;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc = next.Iprobe(source, tag, comm, flag, to);
	const struct comm *known = is_recorded && rc == MPI_SUCCESS && *flag ? comm_find(comm) : NULL;

	if (known)
		probed(HERE("MPI_Iprobe"), known, to);
	call_end();
	return rc;
}
TAKEN(Iprobe);

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	const struct comm *known = begin_receive(HERE("MPI_Mprobe"), comm, source);
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	await(HERE("MPI_Mprobe"), known, source);
	return end_receive(HERE("MPI_Mprobe"), known, to, awaited(next.Mprobe(source, tag, comm, message, to)));
}
TAKEN(Mprobe);

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	bool is_recorded = call_begin() && source != MPI_PROC_NULL;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc = next.Improbe(source, tag, comm, flag, message, to);
	const struct comm *known = is_recorded && rc == MPI_SUCCESS && *flag ? comm_find(comm) : NULL;

	if (known)
		trace_add(HERE("MPI_Improbe"), (struct trace_event){ .kind = TRACE_RECEIVE, .rank = -1 });
	return end_receive(HERE("MPI_Improbe"), known, to, rc);
}
TAKEN(Improbe);

/* ---- persistent requests ---- */

static int add_persistent_send(struct place place, MPI_Comm handle, int dest, int tag, bool is_synchronous,
                               const MPI_Request *request, int rc)
{
	const struct comm *comm = inside == 1 && trace_is_on() && dest != MPI_PROC_NULL ? comm_find(handle) : NULL;
	struct request added = { .is_persistent = true, .place = place };

	call_end();
	if (!comm || rc != MPI_SUCCESS)
		return rc;
	added.begin = send_event(comm, dest, tag);
	if (is_synchronous)
		added.event = synchronous_event(comm, dest);
	request_add(*request, added);
	return rc;
}

int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Send_init"), comm, dest, tag, false, request,
	                           next.Send_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Send_init);

int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Bsend_init"), comm, dest, tag, false, request,
	                           next.Bsend_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Bsend_init);

int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Rsend_init"), comm, dest, tag, false, request,
	                           next.Rsend_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Rsend_init);

int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Ssend_init"), comm, dest, tag, true, request,
	                           next.Ssend_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Ssend_init);

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	const struct comm *known = call_begin() && source != MPI_PROC_NULL ? comm_find(comm) : NULL;
	int rc = next.Recv_init(buf, count, datatype, source, tag, comm, request);

	if (known && rc == MPI_SUCCESS)
		request_add(*request, (struct request){ .kind = REQUEST_RECEIVE,
		                                        .is_persistent = true,
		                                        .place = HERE("MPI_Recv_init"),
		                                        .comm = known,
		                                        .source = source,
		                                        .tag = tag });
	call_end();
	return rc;
}
TAKEN(Recv_init);

int MPI_Start(MPI_Request *request)
{
	int rc;

	if (call_begin())
		request_start(*request);
	rc = next.Start(request);
	call_end();
	return rc;
}
TAKEN(Start);

int MPI_Startall(int count, MPI_Request array_of_requests[])
{
	bool is_recorded = call_begin();
	int rc;

	for (int i = 0; is_recorded && i < count; i++)
		request_start(array_of_requests[i]);
	rc = next.Startall(count, array_of_requests);
	call_end();
	return rc;
}
TAKEN(Startall);

/* A receive that ends unseen is not counted, and a later one may have its handle. */
int MPI_Request_free(MPI_Request *request)
{
	int rc;

	if (call_begin() && request_remove(*request))
		trace_unproven();
	rc = next.Request_free(request);
	call_end();
	return rc;
}
TAKEN(Request_free);

/* A message that may have been cancelled cannot be counted. */
int MPI_Cancel(MPI_Request *request)
{
	int rc;

	if (call_begin())
		trace_unknown(HERE("MPI_Cancel"));
	rc = next.Cancel(request);
	call_end();
	return rc;
}
TAKEN(Cancel);

/* ---- waiting and testing ---- */

#define FEW 32

/* The handles before a call, since the call sets them to MPI_REQUEST_NULL, and statuses for it. */
struct handles {
	MPI_Request few[FEW];
	MPI_Status few_statuses[FEW];
	MPI_Request *list; /* NULL: nothing is recorded */
	MPI_Status *statuses;
};

static void keep_handles(struct handles *handles, struct place place, const MPI_Request list[], int count,
                         MPI_Status *statuses)
{
	bool is_recorded = call_begin() && count > 0;

	handles->statuses = statuses;
	handles->list = NULL;
	if (!is_recorded)
		return;
	handles->list = count <= FEW ? handles->few : malloc((size_t)count * sizeof(*list));
	if (statuses == MPI_STATUSES_IGNORE)
		handles->statuses = count <= FEW ? handles->few_statuses : malloc((size_t)count * sizeof(*handles->statuses));
	if (!handles->list || !handles->statuses) {
		trace_unknown(place);
		handles->list = NULL;
		handles->statuses = statuses;
		return;
	}
	memcpy(handles->list, list, (size_t)count * sizeof(*list));
}

static int drop_handles(struct handles *handles, const MPI_Status *statuses, int rc)
{
	if (handles->list && handles->list != handles->few)
		free(handles->list);
	if (handles->statuses != statuses && handles->statuses != handles->few_statuses)
		free(handles->statuses);
	call_end();
	return rc;
}

/* Returns false after an error: it is not known what has ended. */
static bool has_ended(const struct handles *handles, struct place place, int rc)
{
	if (handles->list && rc != MPI_SUCCESS)
		trace_unknown(place);
	return handles->list && rc == MPI_SUCCESS;
}

static void end_one(const struct handles *handles, int index, int status)
{
	if (index != MPI_UNDEFINED)
		request_end(handles->list[index], &handles->statuses[status]);
}

static void end_some(const struct handles *handles, int count, const int indices[])
{
	for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
		end_one(handles, indices ? indices[i] : i, i);
}

/* Shows the wait for a receive. */
static void await_request(struct place place, const struct handles *handles)
{
	struct request receive;

	if (handles->list && requests_one_receive(handles->list[0], &receive))
		await(place, receive.comm, receive.source);
	else
		await(place, NULL, 0);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Wait"), request, 1, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
	await_request(HERE("MPI_Wait"), &handles);
	rc = awaited(next.Wait(request, handles.list ? handles.statuses : status));
	if (has_ended(&handles, HERE("MPI_Wait"), rc))
		end_one(&handles, 0, 0);
	return drop_handles(&handles, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, rc);
}
TAKEN(Wait);

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Test"), request, 1, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
	rc = next.Test(request, flag, handles.list ? handles.statuses : status);
	if (has_ended(&handles, HERE("MPI_Test"), rc) && *flag)
		end_one(&handles, 0, 0);
	return drop_handles(&handles, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, rc);
}
TAKEN(Test);

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Request_get_status"), &request, 1,
	             status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
	rc = next.Request_get_status(request, flag, handles.list ? handles.statuses : status);
	if (has_ended(&handles, HERE("MPI_Request_get_status"), rc) && *flag)
		end_one(&handles, 0, 0);
	return drop_handles(&handles, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, rc);
}
TAKEN(Request_get_status);

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Waitall"), array_of_requests, count, array_of_statuses);
	rc = next.Waitall(count, array_of_requests, handles.statuses);
	if (has_ended(&handles, HERE("MPI_Waitall"), rc))
		end_some(&handles, count, NULL);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Waitall);

int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Testall"), array_of_requests, count, array_of_statuses);
	rc = next.Testall(count, array_of_requests, flag, handles.statuses);
	if (has_ended(&handles, HERE("MPI_Testall"), rc) && *flag)
		end_some(&handles, count, NULL);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Testall);

int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
	struct handles handles;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc;

	keep_handles(&handles, HERE("MPI_Waitany"), array_of_requests, count, to);
	rc = next.Waitany(count, array_of_requests, index, to);
	if (has_ended(&handles, HERE("MPI_Waitany"), rc))
		end_one(&handles, *index, 0);
	return drop_handles(&handles, to, rc);
}
TAKEN(Waitany);

int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
	struct handles handles;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc;

	keep_handles(&handles, HERE("MPI_Testany"), array_of_requests, count, to);
	rc = next.Testany(count, array_of_requests, index, flag, to);
	if (has_ended(&handles, HERE("MPI_Testany"), rc) && *flag)
		end_one(&handles, *index, 0);
	return drop_handles(&handles, to, rc);
}
TAKEN(Testany);

int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Waitsome"), array_of_requests, incount, array_of_statuses);
	rc = next.Waitsome(incount, array_of_requests, outcount, array_of_indices, handles.statuses);
	if (has_ended(&handles, HERE("MPI_Waitsome"), rc))
		end_some(&handles, *outcount, array_of_indices);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Waitsome);

int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Testsome"), array_of_requests, incount, array_of_statuses);
	rc = next.Testsome(incount, array_of_requests, outcount, array_of_indices, handles.statuses);
	if (has_ended(&handles, HERE("MPI_Testsome"), rc))
		end_some(&handles, *outcount, array_of_indices);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Testsome);
