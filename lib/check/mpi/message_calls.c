// SPDX-License-Identifier: BSD-2-Clause
/*
 * message_calls.c - messages; see calls.h
 *
 * DESIGN NOTES
 *
 * Messages of one sender with one tag and communicator are received in their order. So the judge
 * finds the sender's clock by counting. Where another receive might have taken an earlier one, the
 * later message is taken to be the one: that orders more.
 */
#include <stdlib.h>

#include "check/mpi/calls.h"

#define CALLS(X)                                                                                                       \
	X(Send)                                                                                                            \
	X(Bsend)                                                                                                           \
	X(Rsend)                                                                                                           \
	X(Ssend)                                                                                                           \
	X(Isend)                                                                                                           \
	X(Ibsend)                                                                                                          \
	X(Irsend)                                                                                                          \
	X(Issend)                                                                                                          \
	X(Recv)                                                                                                            \
	X(Irecv) X(Mrecv) X(Imrecv) X(Sendrecv) X(Sendrecv_replace) X(Send_init) X(Bsend_init) X(Rsend_init) X(Ssend_init) \
		X(Recv_init) X(Start) X(Startall) X(Probe) X(Iprobe) X(Mprobe) X(Improbe)

#include "check/mpi/next.h"

/* ---- sending ---- */

static struct trace_event send_event(const struct comm *comm, int dest, int tag, uint64_t buffers)
{
	return (struct trace_event){ .kind = TRACE_SEND,
		                         .object = comm->id,
		                         .rank = comm_world_rank(comm, dest),
		                         .id = (uint64_t)(uint32_t)tag,
		                         .base = buffers };
}

/* Begins a call. Returns the communicator of its message, or NULL: nothing is recorded. */
static const struct comm *begin_message(struct place place, MPI_Comm handle, int partner)
{
	const struct comm *comm;

	if (!call_begin() || partner == MPI_PROC_NULL)
		return NULL;
	thread_check(place);
	comm = comm_find(handle);
	if (!comm)
		trace_unknown(place);
	return comm;
}

/* A message may leave from here on. Its buffer is read before. */
static const struct comm *begin_send(struct place place, struct side buffer, MPI_Comm handle, int dest, int tag)
{
	const struct comm *comm = begin_message(place, handle, dest);

	if (!comm)
		return NULL;
	buffer_read(place, buffer);
	trace_add(place, send_event(comm, dest, tag, 0));
	return comm;
}

/* Returns the request, whose buffer is read until it is done. */
static struct request begin_request(struct place place, struct side buffer, MPI_Comm handle, int dest, int tag)
{
	struct request request = { .is_active = true, .place = place, .comm = begin_message(place, handle, dest) };

	if (!request.comm)
		return request;
	request.buffers = buffer_sent(place, buffer);
	trace_add(place, send_event(request.comm, dest, tag, request.buffers));
	return request;
}

/* Ends a call that has made a request, if it is recorded. */
static int end_request(const struct request *request, const MPI_Request *handle, int rc)
{
	if (request->comm && rc == MPI_SUCCESS)
		request_add(*handle, *request);
	else if (request->comm)
		buffers_done(request->place, request->buffers);
	call_end();
	return rc;
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

/* Returns the wait for a receive of the latest message. With threads it may be another one. */
static struct trace_wait receiver_wait(const struct comm *comm, int dest, int tag)
{
	struct trace_wait wait = { .kind = AWAIT_NONE };

	if (comm && !has_threads && comm_world_rank(comm, dest) >= 0)
		wait = (struct trace_wait){ .kind = AWAIT_RECEIVER,
			                        .object = comm->id,
			                        .number = trace_sent(comm->id, comm_world_rank(comm, dest), (uint32_t)tag),
			                        .rank = comm_world_rank(comm, dest),
			                        .size = (uint32_t)comm->size,
			                        .tag = (uint32_t)tag };
	return wait;
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	begin_send(HERE("MPI_Send"), side_of(buf, count, datatype), comm, dest, tag);
	return end_send(next.Send(buf, count, datatype, dest, tag, comm));
}
TAKEN(Send);

int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	begin_send(HERE("MPI_Bsend"), side_of(buf, count, datatype), comm, dest, tag);
	return end_send(next.Bsend(buf, count, datatype, dest, tag, comm));
}
TAKEN(Bsend);

int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	begin_send(HERE("MPI_Rsend"), side_of(buf, count, datatype), comm, dest, tag);
	return end_send(next.Rsend(buf, count, datatype, dest, tag, comm));
}
TAKEN(Rsend);

int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	const struct comm *known = begin_send(HERE("MPI_Ssend"), side_of(buf, count, datatype), comm, dest, tag);
	int rc;

	wait_begin(HERE("MPI_Ssend"), receiver_wait(known, dest, tag));
	rc = awaited(next.Ssend(buf, count, datatype, dest, tag, comm));
	if (known && rc == MPI_SUCCESS)
		trace_add(HERE("MPI_Ssend"), synchronous_event(known, dest));
	return end_send(rc);
}
TAKEN(Ssend);

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct request begun = begin_request(HERE("MPI_Isend"), side_of(buf, count, datatype), comm, dest, tag);

	return end_request(&begun, request, next.Isend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Isend);

int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	struct request begun = begin_request(HERE("MPI_Ibsend"), side_of(buf, count, datatype), comm, dest, tag);

	return end_request(&begun, request, next.Ibsend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Ibsend);

int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	struct request begun = begin_request(HERE("MPI_Irsend"), side_of(buf, count, datatype), comm, dest, tag);

	return end_request(&begun, request, next.Irsend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Irsend);

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	struct request begun = begin_request(HERE("MPI_Issend"), side_of(buf, count, datatype), comm, dest, tag);

	if (begun.comm) {
		begun.event = synchronous_event(begun.comm, dest);
		begun.wait = receiver_wait(begun.comm, dest, tag);
	}
	return end_request(&begun, request, next.Issend(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Issend);

/* ---- receiving ---- */

struct trace_event receive_event(const struct comm *comm, int source, int tag)
{
	return (struct trace_event){ .kind = TRACE_RECEIVE,
		                         .object = comm->id,
		                         .rank = source == MPI_ANY_SOURCE ? -1 : comm_world_rank(comm, source),
		                         .id = tag == MPI_ANY_TAG ? WAITS_ANY_TAG : (uint64_t)(uint32_t)tag };
}

static const struct comm *begin_receive(struct place place, MPI_Comm handle, int source, int tag)
{
	const struct comm *comm = begin_message(place, handle, source);

	if (comm)
		trace_add(place, receive_event(comm, source, tag));
	return comm;
}

/* A probe takes no message. */
static const struct comm *begin_probe(struct place place, MPI_Comm handle, int source)
{
	const struct comm *comm = begin_message(place, handle, source);

	if (comm)
		trace_add(place, (struct trace_event){ .kind = TRACE_RECEIVE, .rank = -1 });
	return comm;
}

void message_received(struct place place, const struct comm *comm, int source, int tag, const struct asked *asked)
{
	struct trace_event begun, event = {
		.kind = TRACE_RECEIVED, .object = comm->id, .rank = comm_world_rank(comm, source), .id = (uint64_t)(uint32_t)tag
	};

	if (asked) {
		begun = receive_event(comm, asked->source, asked->tag);
		event.flags = RECEIVED_BEGUN;
		event.unit_bytes = (uint64_t)(begun.rank + 1);
		event.size_bytes = begun.id;
	}

	event.base = has_threads ? UINT32_MAX : requests_compatible(comm, source, tag);
	if (event.rank >= 0)
		trace_add(place, event);
}

struct trace_wait message_wait(const struct comm *comm, int source, int tag)
{
	struct trace_wait wait = { .kind = AWAIT_NONE };

	if (comm)
		wait = (struct trace_wait){ .kind = AWAIT_MESSAGE,
			                        .flags = tag == MPI_ANY_TAG ? AWAIT_ANY_TAG : 0,
			                        .object = comm->id,
			                        .number = 1,
			                        .tag = (uint32_t)tag,
			                        .rank = source == MPI_ANY_SOURCE ? -1 : comm_world_rank(comm, source),
			                        .size = (uint32_t)comm->size };
	if (wait.rank < 0 && source != MPI_ANY_SOURCE)
		wait.kind = AWAIT_NONE;
	return wait;
}

/* A shorter message leaves the buffer's end as it was. */
static void written(struct place place, struct side buffer, const MPI_Status *status)
{
	int bytes = 0;

	if (buffer.count > 0 && PMPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != 0)
		buffer_written(place, buffer, bytes == MPI_UNDEFINED ? UINT64_MAX : (uint64_t)bytes);
}

/* `asked` is NULL if the receive has not been recorded before. */
static int end_receive(struct place place, struct side buffer, const struct comm *comm, const struct asked *asked,
                       const MPI_Status *status, int rc)
{
	if (comm && rc == MPI_SUCCESS) {
		message_received(place, comm, status->MPI_SOURCE, status->MPI_TAG, asked);
		written(place, buffer, status);
	}
	call_end();
	return rc;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known = begin_receive(HERE("MPI_Recv"), comm, source, tag);
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	wait_begin(HERE("MPI_Recv"), message_wait(known, source, tag));
	return end_receive(HERE("MPI_Recv"), side_of(buf, count, datatype), known, &(struct asked){ source, tag }, to,
	                   awaited(next.Recv(buf, count, datatype, source, tag, comm, to)));
}
TAKEN(Recv);

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct request begun = { .kind = REQUEST_RECEIVE,
		                     .is_active = true,
		                     .place = HERE("MPI_Irecv"),
		                     .comm = begin_receive(HERE("MPI_Irecv"), comm, source, tag),
		                     .asked = { source, tag } };

	if (begun.comm)
		begun.buffers = buffer_expected(begun.place, side_of(buf, count, datatype));
	begun.wait = message_wait(begun.comm, source, tag);
	return end_request(&begun, request, next.Irecv(buf, count, datatype, source, tag, comm, request));
}
TAKEN(Irecv);

/* Both of a send and a receive are one call: it is counted as one inside of the other. */
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	begin_send(HERE("MPI_Sendrecv"), side_of(sendbuf, sendcount, sendtype), comm, dest, sendtag);
	call_end();
	known = begin_receive(HERE("MPI_Sendrecv"), comm, source, recvtag);
	wait_begin(HERE("MPI_Sendrecv"), message_wait(known, source, recvtag));
	return end_receive(HERE("MPI_Sendrecv"), side_of(recvbuf, recvcount, recvtype), known,
	                   &(struct asked){ source, recvtag }, to,
	                   awaited(next.Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
	                                         source, recvtag, comm, to)));
}
TAKEN(Sendrecv);

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
	const struct comm *known;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	begin_send(HERE("MPI_Sendrecv_replace"), side_of(buf, count, datatype), comm, dest, sendtag);
	call_end();
	known = begin_receive(HERE("MPI_Sendrecv_replace"), comm, source, recvtag);
	wait_begin(HERE("MPI_Sendrecv_replace"), message_wait(known, source, recvtag));
	return end_receive(HERE("MPI_Sendrecv_replace"), side_of(buf, count, datatype), known,
	                   &(struct asked){ source, recvtag }, to,
	                   awaited(next.Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, to)));
}
TAKEN(Sendrecv_replace);

/* ---- probing: what comes with the message is known from here on ---- */

static const struct side no_buffer = { .count = 0 };

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
	const struct comm *known = begin_probe(HERE("MPI_Probe"), comm, source);
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc;

	wait_begin(HERE("MPI_Probe"), message_wait(known, source, tag));
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
	const struct comm *known = begin_receive(HERE("MPI_Mprobe"), comm, source, tag);
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;

	wait_begin(HERE("MPI_Mprobe"), message_wait(known, source, tag));
	return end_receive(HERE("MPI_Mprobe"), no_buffer, known, &(struct asked){ source, tag }, to,
	                   awaited(next.Mprobe(source, tag, comm, message, to)));
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
	return end_receive(HERE("MPI_Improbe"), no_buffer, known, NULL, to, rc);
}
TAKEN(Improbe);

/* The message was received by the probe: what is left is its buffer. */
int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
	bool is_recorded = call_begin();
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc = next.Mrecv(buf, count, datatype, message, to);

	if (is_recorded && rc == MPI_SUCCESS)
		written(HERE("MPI_Mrecv"), side_of(buf, count, datatype), to);
	call_end();
	return rc;
}
TAKEN(Mrecv);

int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
	struct request begun = { .is_active = true, .place = HERE("MPI_Imrecv") };
	int rc;

	if (call_begin())
		begun.buffers = buffer_expected(begun.place, side_of(buf, count, datatype));
	rc = next.Imrecv(buf, count, datatype, message, request);
	if (begun.buffers && rc == MPI_SUCCESS)
		request_add(*request, begun);
	else
		buffers_done(begun.place, begun.buffers);
	call_end();
	return rc;
}
TAKEN(Imrecv);

/* ---- persistent requests ---- */

static int add_persistent_send(struct place place, struct side buffer, MPI_Comm handle, int dest, int tag,
                               bool is_synchronous, const MPI_Request *request, int rc)
{
	const struct comm *comm = inside == 1 && trace_is_on() && dest != MPI_PROC_NULL ? comm_find(handle) : NULL;
	struct request added = { .is_persistent = true, .place = place };

	call_end();
	if (!comm || rc != MPI_SUCCESS)
		return rc;
	added.begin = send_event(comm, dest, tag, 0);
	added.kept = buffers_keep(buffer, false);
	if (is_synchronous)
		added.event = synchronous_event(comm, dest);
	request_add(*request, added);
	return rc;
}

int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Send_init"), side_of(buf, count, datatype), comm, dest, tag, false, request,
	                           next.Send_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Send_init);

int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Bsend_init"), side_of(buf, count, datatype), comm, dest, tag, false, request,
	                           next.Bsend_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Bsend_init);

int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Rsend_init"), side_of(buf, count, datatype), comm, dest, tag, false, request,
	                           next.Rsend_init(buf, count, datatype, dest, tag, comm, request));
}
TAKEN(Rsend_init);

int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
	call_begin();
	return add_persistent_send(HERE("MPI_Ssend_init"), side_of(buf, count, datatype), comm, dest, tag, true, request,
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
		                                        .kept = buffers_keep(side_of(buf, count, datatype), true),
		                                        .asked = { source, tag },
		                                        .wait = message_wait(known, source, tag) });
	call_end();
	return rc;
}
TAKEN(Recv_init);

int MPI_Start(MPI_Request *request)
{
	int rc;

	if (call_begin())
		request_start(HERE("MPI_Start"), *request);
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
		request_start(HERE("MPI_Startall"), array_of_requests[i]);
	rc = next.Startall(count, array_of_requests);
	call_end();
	return rc;
}
TAKEN(Startall);
