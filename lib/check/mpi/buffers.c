// SPDX-License-Identifier: BSD-2-Clause
/* See buffers.h. */
#include "check/mpi/buffers.h"

#include <stdlib.h>
#include <string.h>

void buffers_begin(struct buffers *buffers)
{
	pieces_begin(&buffers->pieces);
	buffers->read_pieces = buffers->written_pieces = 0;
}

void buffers_read(struct buffers *buffers, const struct side *side)
{
	buffers->read_pieces += pieces_add_side(&buffers->pieces, side);
}

void buffers_write(struct buffers *buffers, const struct side *side)
{
	buffers->written_pieces += pieces_add_side(&buffers->pieces, side);
}

/* Records pieces under this number; 0: the access is over at once. */
static void add(struct place place, const struct trace_piece pieces[], uint32_t reads, uint32_t writes, uint64_t number)
{
	struct trace_event event = { .kind = TRACE_BUFFERS, .rank = -1 };

	if (number == 0 && reads + writes == 1 && pieces[0].bytes <= UINT32_MAX) {
		event.flags = OPERATION_PLAIN;
		event.plain.bytes = (uint32_t)pieces[0].bytes;
		event.plain.sides = reads ? PLAIN_READ : PLAIN_WRITTEN;
		*(reads ? &event.plain.read : &event.plain.written) = pieces[0].first;
		trace_add(place, event);
		return;
	}
	event.of.request = number;
	event.of.read_pieces = reads;
	event.of.written_pieces = writes;
	trace_add_with(place, event, pieces, reads + writes);
}

static uint64_t new_number(void)
{
	static uint64_t numbers;

	return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

/* An event without pieces stands for buffers of too many. */
static uint64_t end(struct place place, struct buffers *buffers, bool has_request)
{
	bool is_empty = buffers->pieces.count == 0 && !buffers->pieces.too_many;
	uint64_t number = has_request && !is_empty ? new_number() : 0;

	if (buffers->pieces.too_many)
		buffers->read_pieces = buffers->written_pieces = 0;
	if (!is_empty)
		add(place, buffers->pieces.list, buffers->read_pieces, buffers->written_pieces, number);
	pieces_end(&buffers->pieces);
	return number;
}

void buffers_at_once(struct place place, struct buffers *buffers)
{
	end(place, buffers, false);
}

uint64_t buffers_of_request(struct place place, struct buffers *buffers)
{
	return end(place, buffers, true);
}

void buffers_done(struct place place, uint64_t number)
{
	if (number)
		trace_add(place, (struct trace_event){ .kind = TRACE_BUFFERS_DONE, .rank = -1, .id = number });
}

/* ---- one buffer ---- */

/* Without a window nothing can race with what is over at once. */
void buffer_read(struct place place, struct side side)
{
	struct buffers buffers;

	if (!window_was_made())
		return;
	buffers_begin(&buffers);
	buffers_read(&buffers, &side);
	buffers_at_once(place, &buffers);
}

void buffer_written(struct place place, struct side side, uint64_t bytes)
{
	struct buffers buffers;

	if (!window_was_made())
		return;
	buffers_begin(&buffers);
	buffers_write(&buffers, &side);
	pieces_cut(&buffers.pieces, bytes);
	buffers.written_pieces = (uint32_t)buffers.pieces.count;
	buffers_at_once(place, &buffers);
}

uint64_t buffer_sent(struct place place, struct side side)
{
	struct buffers buffers;

	buffers_begin(&buffers);
	buffers_read(&buffers, &side);
	return buffers_of_request(place, &buffers);
}

uint64_t buffer_expected(struct place place, struct side side)
{
	struct buffers buffers;

	buffers_begin(&buffers);
	buffers_write(&buffers, &side);
	return buffers_of_request(place, &buffers);
}

/* ---- persistent requests ---- */

struct kept_buffers *buffers_keep_all(struct buffers *buffers)
{
	struct kept_buffers *kept = NULL;
	size_t bytes = buffers->pieces.count * sizeof(struct trace_piece);

	if (buffers->pieces.count && !buffers->pieces.too_many)
		kept = malloc(sizeof(*kept) + bytes);
	if (kept) {
		kept->read_pieces = buffers->read_pieces;
		kept->written_pieces = buffers->written_pieces;
		memcpy(kept->pieces, buffers->pieces.list, bytes);
	}
	pieces_end(&buffers->pieces);
	return kept;
}

struct kept_buffers *buffers_keep(struct side side, bool is_written)
{
	struct buffers buffers;

	buffers_begin(&buffers);
	if (is_written)
		buffers_write(&buffers, &side);
	else
		buffers_read(&buffers, &side);
	return buffers_keep_all(&buffers);
}

uint64_t buffers_restart(struct place place, const struct kept_buffers *kept)
{
	uint64_t number = kept ? new_number() : 0;

	if (kept)
		add(place, kept->pieces, kept->read_pieces, kept->written_pieces, number);
	return number;
}
