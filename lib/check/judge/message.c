// SPDX-License-Identifier: BSD-2-Clause
/* See view.h. */
#include <stdlib.h>

#include "check/judge/view.h"

#define PLACES 65536 /* of the table of streams */

/* ---- collective calls ---- */

/* Several threads may have begun such calls. */
static void note_begin(struct clock **clock, int rank)
{
	struct clock *before = *clock;

	*clock = clock_joined(clock_keep(rank), before);
	clock_drop(before);
}

static void take_meet(int rank)
{
	note_begin(&replaying.ranks[rank].meeting, rank);
}

/* All have begun the call. A rank that has begun another one since is known until there. */
static void take_met(const struct trace_event *event, int rank, const struct trace_piece pieces[])
{
	for (uint64_t i = 0; i < event->id && i < (uint64_t)event->count * TRACE_ROOM_PIECES; i++) {
		if (pieces[i].first < (uint64_t)replaying.traces->size)
			clock_join(rank, replaying.ranks[pieces[i].first].meeting);
	}
}

static struct slot_name member_slot(const struct trace_event *event, uint64_t member)
{
	return (struct slot_name){ .kind = SLOT_MEMBER, .object = event->object, .a = event->id, .b = member };
}

static struct slot_name collective_slot(const struct trace_event *event)
{
	return (struct slot_name){ .kind = SLOT_COLLECTIVE, .object = event->object, .a = event->id };
}

static void take_enter(const struct trace_event *event, int rank)
{
	slot_release(collective_slot(event), rank);
	if (event->flags & ENTER_BY_MEMBER)
		slot_release(member_slot(event, event->base), rank);
}

static void take_leave(const struct trace_event *event, int rank)
{
	if (event->flags == 0)
		slot_acquire(collective_slot(event), rank);
	if (event->flags == LEAVE_ONE || event->flags == LEAVE_PART)
		slot_acquire(member_slot(event, event->base), rank);
	for (uint64_t member = 0; event->flags == LEAVE_LOWER && member < event->base; member++)
		slot_acquire(member_slot(event, member), rank);
	if (event->flags == LEAVE_PART || !slot_leave(collective_slot(event), event->size_bytes))
		return;
	for (uint64_t member = 0; event->flags != 0 && member < event->size_bytes; member++)
		slot_remove(member_slot(event, member));
}

/* ---- messages ---- */

/* Messages of one sender to one receiver, with one communicator and tag, which keep their order. */
struct stream {
	struct slot_name name; /* of the next message to be sent */
	uint64_t received;
	struct sent *sent; /* messages that have not been received, the latest first */
	struct stream *next;
};

/* A message that is read from buffers of its sender until it is received, or the send is done. */
struct sent {
	uint64_t number;
	struct access *access;
	struct sent *next;
};

static struct stream *streams[PLACES];

static struct stream *stream_of(const struct trace_event *event, int sender, int receiver)
{
	struct slot_name name = {
		.kind = SLOT_MESSAGE, .object = event->object, .a = (uint64_t)sender << 32 | (uint32_t)receiver, .b = event->id
	};
	struct stream **place = &streams[(name.object ^ name.a * 31 ^ name.a >> 32 ^ name.b * 7) % PLACES], *stream;

	for (stream = *place; stream; stream = stream->next) {
		if (stream->name.object == name.object && stream->name.a == name.a && stream->name.b == name.b)
			return stream;
	}
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		program_fail("out of memory");
	stream->name = name;
	stream->next = *place;
	*place = stream;
	return stream;
}

static void add_sent(struct stream *stream, struct access *access)
{
	struct sent *sent = access ? malloc(sizeof(*sent)) : NULL;

	if (!access)
		return;
	if (!sent)
		program_fail("out of memory");
	access->kept++;
	*sent = (struct sent){ stream->name.c, access, stream->sent };
	stream->sent = sent;
}

/* Which of the messages of several threads is which is not known. */
static bool is_mixed(const struct stream *stream)
{
	return clock_is_split((int)(stream->name.a >> 32)) || clock_is_split((int)(uint32_t)stream->name.a);
}

static struct slot_name whole_slot(const struct stream *stream)
{
	struct slot_name name = stream->name;

	name.kind = SLOT_STREAM;
	name.c = 0;
	return name;
}

static void take_send(struct stream *stream, const struct trace_event *event, int rank)
{
	slot_release(stream->name, rank);
	if (is_mixed(stream))
		slot_release(whole_slot(stream), rank);
	add_sent(stream, sent_access(rank, event->base));
	stream->name.c++;
}

/* The rank has received the messages up to this number. */
static void end_sent(struct stream *stream, uint64_t number, int rank, uint32_t site)
{
	struct sent **at = &stream->sent, *sent;

	while ((sent = *at)) {
		if (sent->number > number && !is_mixed(stream)) {
			at = &sent->next;
			continue;
		}
		*at = sent->next;
		end_sent_access(sent->access, rank, site);
		let_go(sent->access);
		free(sent);
	}
}

/* The rank knows what the sender did before its message of this number, or before its last one. */
static void learn_of_message(const struct stream *stream, uint64_t number, int rank)
{
	struct slot_name name = stream->name;

	if (stream->name.c == 0)
		return;
	name.c = number < stream->name.c ? number : stream->name.c - 1;
	slot_acquire(is_mixed(stream) ? whole_slot(stream) : name, rank);
}

/* An earlier message is not needed any more: a later one says at least as much. */
static void take_received(struct stream *stream, const struct trace_event *event, int rank)
{
	struct slot_name name = stream->name;

	learn_of_message(stream, stream->received + event->base, rank);
	end_sent(stream, stream->received + event->base, rank, event->site);
	name.c = stream->received++;
	if (name.c + 1 < stream->name.c)
		slot_remove(name);
}

static void take_point_to_point(const struct trace_event *event, int rank)
{
	if (event->kind == TRACE_RECEIVE)
		note_begin(&replaying.ranks[rank].receiving, rank);
	if (event->rank < 0)
		return;
	if (event->kind == TRACE_SEND)
		take_send(stream_of(event, rank, event->rank), event, rank);
	if (event->kind == TRACE_SEND_MET)
		clock_join(rank, replaying.ranks[event->rank].receiving);
	if (event->kind == TRACE_RECEIVED)
		take_received(stream_of(event, event->rank, rank), event, rank);
	if (event->kind == TRACE_PROBED)
		learn_of_message(stream_of(event, event->rank, rank), UINT64_MAX, rank);
}

/* ---- events ---- */

void take_message(const struct trace_event *event, int rank, const struct trace_piece pieces[])
{
	if (event->kind == TRACE_MEET)
		take_meet(rank);
	if (event->kind == TRACE_WINDOW || event->kind == TRACE_MET)
		take_met(event, rank, pieces);
	if (event->kind == TRACE_ENTER)
		take_enter(event, rank);
	if (event->kind == TRACE_LEAVE)
		take_leave(event, rank);
	if (event->kind >= TRACE_SEND && event->kind <= TRACE_PROBED)
		take_point_to_point(event, rank);
}
