// SPDX-License-Identifier: BSD-2-Clause
/* See perfetto.h. The numbers of fields are those of protos/perfetto/trace. */
#include "see/report/perfetto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "see/front/part.h"

enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum sequence_flag { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum descriptor_field {
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT_UUID = 5,
	DESCRIPTOR_COUNTER = 8,
};
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum counter_field { COUNTER_UNIT = 3 };
enum counter_unit { UNIT_SIZE_BYTES = 3 };
enum event_field {
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_PLACE_IID = 34,
	EVENT_FLOW_IDS = 47,
	EVENT_ENDING_FLOW_IDS = 48,
};
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum annotation_field { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_TEXT_IID = 17 };
enum interned_field { INTERNED_IID = 1, INTERNED_TEXT = 2, INTERNED_FUNCTION = 3, INTERNED_LINE = 4 };
enum interned_data_field { NAMES_OF_ANNOTATIONS = 3 };
enum annotation { ANNOTATION_WINDOW = 1, ANNOTATION_RANK, ANNOTATION_BYTES };

/* ---- tracks ---- */

/* Below the rank: 0 is the process, 1 to PART_LANES its lanes, and higher bytes another rank. */
#define COUNTER_TRACK 255

static uint64_t process_track(int rank)
{
	return (uint64_t)(rank + 1) << 32;
}

uint64_t perfetto_thread(int rank, uint32_t lane)
{
	return process_track(rank) + lane + 1;
}

uint64_t perfetto_awaited(int rank, int by_rank)
{
	return process_track(rank) + ((uint64_t)(by_rank + 1) << 8);
}

static uint64_t process_number(int rank)
{
	return ((uint64_t)rank + 1) * PART_LANES;
}

/* ---- packets ---- */

static void write_packet(struct perfetto *to, uint32_t flags)
{
	message_add_number(&to->packet, PACKET_SEQUENCE_ID, (uint64_t)to->rank + 1);
	message_add_number(&to->packet, PACKET_SEQUENCE_FLAGS, flags);
	message_add(&to->entry, TRACE_PACKET, &to->packet);
	fwrite(to->entry.bytes, 1, to->entry.used, to->out);
	to->entry.used = 0;
}

static void begin_event(struct perfetto *to, enum event_type type, uint64_t track)
{
	message_add_number(&to->event, EVENT_TYPE, type);
	message_add_number(&to->event, EVENT_TRACK_UUID, track);
}

static void write_event(struct perfetto *to, uint64_t ns)
{
	message_add_number(&to->packet, PACKET_TIMESTAMP, ns);
	message_add(&to->packet, PACKET_TRACK_EVENT, &to->event);
	write_packet(to, NEEDS_STATE);
}

void perfetto_begin(struct perfetto *to, FILE *out, int rank)
{
	*to = (struct perfetto){ .out = out, .rank = rank };
	perfetto_add_name(to, (enum perfetto_names)NAMES_OF_ANNOTATIONS, ANNOTATION_WINDOW, "window");
	perfetto_add_name(to, (enum perfetto_names)NAMES_OF_ANNOTATIONS, ANNOTATION_RANK, "rank");
	perfetto_add_name(to, (enum perfetto_names)NAMES_OF_ANNOTATIONS, ANNOTATION_BYTES, "bytes");
}

void perfetto_end(struct perfetto *to)
{
	free(to->packet.bytes);
	free(to->event.bytes);
	free(to->names.bytes);
	free(to->entry.bytes);
}

/* ---- names ---- */

void perfetto_add_name(struct perfetto *to, enum perfetto_names kind, uint32_t number, const char *name)
{
	message_add_number(&to->entry, INTERNED_IID, number);
	message_add_text(&to->entry, INTERNED_TEXT, name);
	message_add(&to->names, kind, &to->entry);
}

void perfetto_add_place(struct perfetto *to, uint32_t number, const struct source_place *place)
{
	message_add_number(&to->entry, INTERNED_IID, number);
	message_add_text(&to->entry, INTERNED_TEXT, place->file);
	message_add_text(&to->entry, INTERNED_FUNCTION, place->function);
	if (place->line > 0)
		message_add_number(&to->entry, INTERNED_LINE, (uint64_t)place->line);
	message_add(&to->names, NAMES_OF_PLACES, &to->entry);
}

void perfetto_write_names(struct perfetto *to)
{
	message_add(&to->packet, PACKET_INTERNED_DATA, &to->names);
	write_packet(to, STATE_CLEARED);
}

/* ---- descriptions of tracks ---- */

static void write_description(struct perfetto *to)
{
	message_add(&to->packet, PACKET_TRACK_DESCRIPTOR, &to->event);
	write_packet(to, NEEDS_STATE);
}

static void describe_process(struct perfetto *to, int rank)
{
	char name[32];

	snprintf(name, sizeof(name), "rank %d", rank);
	message_add_number(&to->entry, PROCESS_PID, process_number(rank));
	message_add_text(&to->entry, PROCESS_NAME, name);
	message_add_number(&to->event, DESCRIPTOR_UUID, process_track(rank));
	message_add(&to->event, DESCRIPTOR_PROCESS, &to->entry);
	write_description(to);
}

static void describe_child(struct perfetto *to, uint64_t track, int rank, const char *name)
{
	message_add_number(&to->event, DESCRIPTOR_UUID, track);
	message_add_number(&to->event, DESCRIPTOR_PARENT_UUID, process_track(rank));
	message_add_text(&to->event, DESCRIPTOR_NAME, name);
}

void perfetto_describe_rank(struct perfetto *to)
{
	describe_process(to, to->rank);
	describe_child(to, process_track(to->rank) + COUNTER_TRACK, to->rank, "bytes");
	message_add_number(&to->entry, COUNTER_UNIT, UNIT_SIZE_BYTES);
	message_add(&to->event, DESCRIPTOR_COUNTER, &to->entry);
	write_description(to);
}

void perfetto_describe_lane(struct perfetto *to, uint32_t lane)
{
	char name[32];

	snprintf(name, sizeof(name), lane == PART_LANES - 1 ? "other threads" : "thread %" PRIu32, lane);
	message_add_number(&to->entry, THREAD_PID, process_number(to->rank));
	message_add_number(&to->entry, THREAD_TID, process_number(to->rank) + lane);
	message_add_text(&to->entry, THREAD_NAME, name);
	message_add_number(&to->event, DESCRIPTOR_UUID, perfetto_thread(to->rank, lane));
	message_add_number(&to->event, DESCRIPTOR_PARENT_UUID, process_track(to->rank));
	message_add(&to->event, DESCRIPTOR_THREAD, &to->entry);
	write_description(to);
}

void perfetto_describe_awaited(struct perfetto *to, int rank)
{
	describe_process(to, rank);
	describe_child(to, perfetto_awaited(rank, to->rank), rank, "awaited");
	write_description(to);
}

/* ---- events ---- */

static void annotate(struct perfetto *to, enum annotation name, enum annotation_field kind, uint64_t value)
{
	message_add_number(&to->entry, ANNOTATION_NAME_IID, name);
	message_add_number(&to->entry, kind, value);
	message_add(&to->event, EVENT_ANNOTATIONS, &to->entry);
}

void perfetto_begin_slice(struct perfetto *to, const struct perfetto_slice *slice)
{
	begin_event(to, SLICE_BEGIN, slice->track);
	message_add_number(&to->event, EVENT_NAME_IID, slice->name);
	if (slice->place)
		message_add_number(&to->event, EVENT_PLACE_IID, slice->place);
	if (slice->window)
		annotate(to, ANNOTATION_WINDOW, ANNOTATION_TEXT_IID, slice->window);
	if (slice->rank >= 0)
		annotate(to, ANNOTATION_RANK, ANNOTATION_INT, (uint64_t)slice->rank);
	if (slice->bytes)
		annotate(to, ANNOTATION_BYTES, ANNOTATION_UINT, slice->bytes);
	if (slice->begins_arrow)
		message_add_fixed64(&to->event, EVENT_FLOW_IDS, slice->begins_arrow);
	if (slice->ends_arrow)
		message_add_fixed64(&to->event, EVENT_ENDING_FLOW_IDS, slice->ends_arrow);
	write_event(to, slice->ns);
}

void perfetto_end_slice(struct perfetto *to, uint64_t track, uint64_t ns)
{
	begin_event(to, SLICE_END, track);
	write_event(to, ns);
}

void perfetto_write_mark(struct perfetto *to, uint64_t ns, const char *text)
{
	begin_event(to, INSTANT, process_track(to->rank));
	message_add_text(&to->event, EVENT_NAME, text);
	write_event(to, ns);
}

void perfetto_write_bytes(struct perfetto *to, uint64_t ns, uint64_t bytes)
{
	begin_event(to, COUNTER, process_track(to->rank) + COUNTER_TRACK);
	message_add_number(&to->event, EVENT_COUNTER_VALUE, bytes);
	write_event(to, ns);
}
