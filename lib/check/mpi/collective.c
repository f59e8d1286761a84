// SPDX-License-Identifier: BSD-2-Clause
/* See collective.h. */
#include "check/mpi/collective.h"

#include <stdlib.h>

#include "mpi/type/element.h"

/* ---- what a member learns ---- */

static struct trace_event event_of(enum trace_kind kind, const struct comm *comm, uint64_t number)
{
	return (struct trace_event){
		.kind = (uint16_t)kind, .object = comm->id, .rank = -1, .id = number, .size_bytes = (uint64_t)comm->size
	};
}

static bool is_upwards(enum flow flow)
{
	return flow == FLOW_UPWARDS || flow == FLOW_FROM_LOWER;
}

static struct trace_event enter_of(const struct comm *comm, uint64_t number, enum flow flow, int root)
{
	struct trace_event event = event_of(TRACE_ENTER, comm, number);

	event.flags = flow == FLOW_FROM_ROOT || flow == FLOW_NEIGHBORS || is_upwards(flow) ? ENTER_BY_MEMBER : 0;
	event.base = (uint64_t)comm->rank;
	event.unit_bytes = flow == FLOW_FROM_ROOT || flow == FLOW_TO_ROOT ? (uint64_t)root + 1 : 0;
	return event;
}

static struct trace_event leave_of(const struct comm *comm, uint64_t number, enum flow flow, int root)
{
	struct trace_event event = event_of(TRACE_LEAVE, comm, number);

	if (flow == FLOW_FROM_ROOT || (flow == FLOW_TO_ROOT && comm->rank != root)) {
		event.flags = flow == FLOW_FROM_ROOT ? LEAVE_ONE : LEAVE_NONE;
		event.base = (uint64_t)root;
	}
	if (is_upwards(flow)) {
		event.flags = LEAVE_LOWER;
		event.base = (uint64_t)comm->rank;
	}
	if (flow == FLOW_NEIGHBORS)
		event.flags = LEAVE_NEIGHBORS;
	if (flow == FLOW_NONE)
		event.flags = LEAVE_NONE;
	return event;
}

/* There is an event for each neighbour. */
void collective_leave(struct place place, const struct comm *comm, struct trace_event leave)
{
	struct trace_event learn = leave;

	learn.flags = LEAVE_PART;
	for (int i = 0; leave.flags == LEAVE_NEIGHBORS && i < comm->sources.count; i++) {
		learn.base = (uint64_t)comm->sources.members[i];
		if (comm->sources.members[i] >= 0)
			trace_add(place, learn);
	}
	trace_add(place, leave);
}

/* ---- what a member reads and writes ---- */

typedef void add_call(struct buffers *buffers, const struct side *side);

static MPI_Count count_of(const struct data *data, int member)
{
	return data->large_counts ? data->large_counts[member] : data->counts[member];
}

/* Returns the block of a member. So many elements lie before it, if nothing else is said. */
static struct side block_of(const struct data *data, int member, MPI_Count before)
{
	MPI_Datatype type = data->types ? data->types[member] : data->type;
	MPI_Count count = data->shape == SHAPE_COUNTS ? count_of(data, member) : data->count;
	ptrdiff_t offset = data->displs ? data->displs[member] : data->large_displs ? data->large_displs[member] : before;

	if (!data->types)
		offset *= type_extent(type);
	return side_of((const void *)((uintptr_t)data->address + (uintptr_t)offset), count, type);
}

/* Adds the blocks of all members, or that of member `only`, without that of `except`; -1: none. */
static void add_blocks(struct buffers *buffers, add_call *add, const struct data *data, int members, int only,
                       int except)
{
	MPI_Count before = 0;

	for (int member = 0; member < members; member++) {
		struct side block = block_of(data, member, before);

		before += block.count;
		if (member != except && (only < 0 || member == only))
			add(buffers, &block);
	}
}

static void add_data(struct buffers *buffers, add_call *add, const struct data *data, const struct comm *comm,
                     int except)
{
	MPI_Count blocks = data->shape == SHAPE_EACH ? comm->size : 1;
	struct side whole = side_of(data->address, blocks * data->count, data->type);

	if (data->is_own)
		whole.count = count_of(data, comm->rank);
	if (data->is_own || data->shape == SHAPE_ONE || (data->shape == SHAPE_EACH && except < 0))
		add(buffers, &whole);
	else
		add_blocks(buffers, add, data, comm->size, -1, except);
}

/* Adds the data of neighbours: one block for all of them, or one for each. */
static void add_data_of(struct buffers *buffers, add_call *add, const struct data *data,
                        const struct neighbors *neighbors)
{
	MPI_Count before = 0;

	for (int i = 0; i < neighbors->count; i++) {
		struct side block = block_of(data, i, before);

		before += data->shape == SHAPE_ONE ? 0 : block.count;
		if (neighbors->members[i] >= 0)
			add(buffers, &block);
		if (neighbors->members[i] >= 0 && data->shape == SHAPE_ONE)
			return;
	}
}

static bool is_root(const struct collective *call)
{
	return call->comm->rank == call->root;
}

/* Data that is in place lies where its result will be. */
static void add_in_place(struct buffers *buffers, const struct collective *call)
{
	struct data data = call->sent;

	if (call->sent.shape == SHAPE_ONE && call->received.shape != SHAPE_ONE) {
		add_blocks(buffers, buffers_read, &call->received, call->comm->size, call->comm->rank, -1);
		return;
	}
	if (call->received.shape != SHAPE_ONE && !call->received.is_own)
		data = call->received;
	data.address = call->received.address;
	add_data(buffers, buffers_read, &data, call->comm, -1);
}

static void add_read(struct buffers *buffers, const struct collective *call)
{
	if (call->flow == FLOW_FROM_ROOT && !is_root(call))
		return;
	if (call->flow == FLOW_NEIGHBORS)
		add_data_of(buffers, buffers_read, &call->sent, &call->comm->destinations);
	else if (call->sent.address == MPI_IN_PLACE)
		add_in_place(buffers, call);
	else
		add_data(buffers, buffers_read, &call->sent, call->comm, -1);
}

static bool is_written(const struct collective *call)
{
	if (call->flow == FLOW_FROM_ROOT) /* a broadcast's root keeps its data; one may scatter in place */
		return !is_root(call) ||
		       (call->received.address != call->sent.address && call->received.address != MPI_IN_PLACE);
	return !(call->flow == FLOW_TO_ROOT && !is_root(call)) && !(call->flow == FLOW_FROM_LOWER && call->comm->rank == 0);
}

static void add_written(struct buffers *buffers, const struct collective *call)
{
	bool has_own_block = call->sent.address == MPI_IN_PLACE && call->sent.shape == SHAPE_ONE;

	if (call->flow == FLOW_NEIGHBORS)
		add_data_of(buffers, buffers_write, &call->received, &call->comm->sources);
	else if (is_written(call))
		add_data(buffers, buffers_write, &call->received, call->comm, has_own_block ? call->comm->rank : -1);
}

/* ---- waiting ---- */

/* The call's end needs that the member has begun it; -1: that all have. */
static void need(struct collective *call, int member)
{
	call->wait = (struct trace_wait){ .kind = AWAIT_COLLECTIVE,
		                              .object = call->leave.object,
		                              .number = call->leave.id + 1,
		                              .rank = member < 0 ? -1 : comm_world_rank(call->comm, member),
		                              .size = (uint32_t)call->comm->size };
}

static void begin_wait(struct collective *call)
{
	call->waits = true;
	wait_begin(call->place, call->wait);
}

void collective_needs_all(struct collective *call)
{
	if (call->is_recorded)
		need(call, -1);
}

void collective_waits(struct collective *call)
{
	collective_needs_all(call);
	begin_wait(call);
}

/* MPI_Type_size of a datatype that is not valid is an error, which may end the program. */
static bool has_bytes(const struct data *data)
{
	return data->shape != SHAPE_COUNTS && data->count > 0 && data->type != MPI_DATATYPE_NULL &&
	       element_of_named(data->type) != ELEMENT_NONE;
}

/* Data flows to this member. */
static void need_data(struct collective *call)
{
	if (is_upwards(call->flow) || !has_bytes(&call->received))
		return;
	if (call->flow == FLOW_FROM_ROOT && !is_root(call))
		need(call, call->root);
	else if (call->flow == FLOW_ALL || (call->flow == FLOW_TO_ROOT && is_root(call)))
		need(call, -1);
}

/* ---- calls ---- */

/* Begins a call. Other members do not learn of it yet. */
static struct collective open_call(struct place place, MPI_Comm handle, enum flow flow, int root)
{
	struct collective call = { .place = place, .flow = flow, .root = root };

	if (!call_begin())
		return call;
	thread_check(place);
	call.comm = comm_find(handle);
	if (!call.comm) {
		trace_unknown(place);
		return call;
	}
	call.is_recorded = true;
	return call;
}

/* Begins a call that moves data. */
static struct collective open_with_data(struct place place, MPI_Comm handle, enum flow flow, int root, struct data sent,
                                        struct data received)
{
	struct collective call = open_call(place, handle, flow, root);

	call.sent = sent;
	call.received = received;
	return call;
}

static void enter(struct collective *call)
{
	uint64_t number = __atomic_add_fetch(&call->comm->collectives, 1, __ATOMIC_RELAXED);

	trace_add(call->place, enter_of(call->comm, number, call->flow, call->root));
	call->leave = leave_of(call->comm, number, call->flow, call->root);
}

/* The call may return before other members have begun it. */
static void enter_init(struct collective *call)
{
	uint64_t number = __atomic_add_fetch(&call->comm->collectives, 1, __ATOMIC_RELAXED);
	struct trace_event event = enter_of(call->comm, number, call->flow, call->root);

	event.flags = 0;
	trace_add(call->place, event);
	call->leave = leave_of(call->comm, number, FLOW_NONE, 0);
}

struct collective collective_begin(struct place place, MPI_Comm comm, enum flow flow, int root)
{
	struct collective call = open_call(place, comm, flow, root);

	if (call.is_recorded)
		enter(&call);
	return call;
}

/* Without a window nothing can race with what is over at once. */
struct collective data_begin(struct place place, MPI_Comm comm, enum flow flow, int root, struct data sent,
                             struct data received)
{
	struct collective call = open_with_data(place, comm, flow, root, sent, received);
	struct buffers buffers;

	if (!call.is_recorded)
		return call;
	call.has_data = true;
	if (window_was_made()) {
		buffers_begin(&buffers);
		add_read(&buffers, &call);
		buffers_at_once(place, &buffers);
	}
	enter(&call);
	need_data(&call);
	begin_wait(&call);
	return call;
}

/* Lists what the call reads, and what it writes. */
static void begin_both(struct buffers *buffers, const struct collective *call)
{
	buffers_begin(buffers);
	add_read(buffers, call);
	add_written(buffers, call);
}

struct collective data_start(struct place place, MPI_Comm comm, enum flow flow, int root, struct data sent,
                             struct data received)
{
	struct collective call = open_with_data(place, comm, flow, root, sent, received);
	struct buffers buffers;

	if (!call.is_recorded)
		return call;
	call.has_data = true;
	begin_both(&buffers, &call);
	call.buffers = buffers_of_request(place, &buffers);
	enter(&call);
	return call;
}

struct collective data_init(struct place place, MPI_Comm comm, enum flow flow, int root, struct data sent,
                            struct data received)
{
	struct collective call = open_with_data(place, comm, flow, root, sent, received);
	struct buffers buffers;

	if (!call.is_recorded)
		return call;
	begin_both(&buffers, &call);
	call.kept = buffers_keep_all(&buffers);
	enter_init(&call);
	return call;
}

static void leave(const struct collective *call)
{
	struct buffers buffers;

	collective_leave(call->place, call->comm, call->leave);
	if (!call->has_data || !window_was_made())
		return;
	buffers_begin(&buffers);
	add_written(&buffers, call);
	buffers_at_once(call->place, &buffers);
}

int collective_end(const struct collective *call, int rc)
{
	if (call->waits)
		wait_end();
	if (call->is_recorded && rc == MPI_SUCCESS)
		leave(call);
	else if (call->is_recorded)
		trace_unknown(call->place);
	call_end();
	return rc;
}

int collective_start(const struct collective *call, const MPI_Request *request, int rc)
{
	if (call->is_recorded && rc == MPI_SUCCESS)
		request_add(*request, (struct request){ .is_active = true,
		                                        .place = call->place,
		                                        .event = call->leave,
		                                        .comm = call->comm,
		                                        .wait = call->wait,
		                                        .buffers = call->buffers });
	else if (call->is_recorded)
		trace_unknown(call->place);
	call_end();
	return rc;
}

/* The request, whose starts have numbers under a name that this call's number gives them. */
static struct request request_of(const struct collective *call)
{
	uint64_t object = hash_mix(hash_mix(call->leave.object, call->leave.id), 3);
	struct request request = { .is_persistent = true,
		                       .place = call->place,
		                       .begin = enter_of(call->comm, 0, call->flow, call->root),
		                       .event = leave_of(call->comm, 0, call->flow, call->root),
		                       .comm = call->comm,
		                       .kept = call->kept };

	request.begin.object = request.event.object = object;
	return request;
}

int collective_init(const struct collective *call, const MPI_Request *request, int rc)
{
	if (call->is_recorded && rc == MPI_SUCCESS) {
		trace_add(call->place, call->leave);
		request_add(*request, request_of(call));
	} else if (call->is_recorded) {
		free(call->kept);
		trace_unknown(call->place);
	}
	call_end();
	return rc;
}
