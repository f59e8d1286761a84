/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffers.h - buffers of messages and collective calls, as accesses of this process
 *
 * A call that returns when it is done has its buffers recorded at two moments: what is read before
 * other ranks may learn of the call, what is written when they have been learnt of. A request has
 * them recorded when it begins, with a number, and once more when it is done.
 */
#ifndef ORIEL_CHECK_MPI_BUFFERS_H
#define ORIEL_CHECK_MPI_BUFFERS_H

#include "check/front/write.h"
#include "check/mpi/types.h"

/* The memory of one call. All that is read is added first. */
struct buffers {
	struct type_pieces pieces;
	uint32_t read_pieces, written_pieces;
};

void buffers_begin(struct buffers *buffers);
void buffers_read(struct buffers *buffers, const struct side *side);
void buffers_write(struct buffers *buffers, const struct side *side);

/* Records them, if there are any, and ends them. */
void buffers_at_once(struct place place, struct buffers *buffers);

/* Records buffers of a request. Returns their number, or 0: there are none. */
uint64_t buffers_of_request(struct place place, struct buffers *buffers);

/* The request is done. Number 0: it has none. */
void buffers_done(struct place place, uint64_t number);

/* ---- calls with one buffer ---- */

void buffer_read(struct place place, struct side side);

/* So many bytes have come. */
void buffer_written(struct place place, struct side side, uint64_t bytes);

uint64_t buffer_sent(struct place place, struct side side);
uint64_t buffer_expected(struct place place, struct side side);

/* ---- persistent requests, which have the same buffers each time ---- */

struct kept_buffers {
	uint32_t read_pieces, written_pieces;
	struct trace_piece pieces[];
};

/* They return NULL if there is nothing to keep; the caller frees it. The first ends the buffers. */
struct kept_buffers *buffers_keep_all(struct buffers *buffers);
struct kept_buffers *buffers_keep(struct side side, bool is_written);

uint64_t buffers_restart(struct place place, const struct kept_buffers *kept);

#endif
