// SPDX-License-Identifier: BSD-2-Clause
/*
 * buffers.c - buffers of messages and collective calls, as accesses of their rank; see view.h
 *
 * A call that returns when it is done reads before others learn of it, and writes when it has
 * learnt of others: each is over at once. Buffers of a request are accessed until it is done, and
 * those of a message also until it is received.
 */
#include <stdlib.h>

#include "check/judge/view.h"

#define PLACES 4096

/* Buffers of a request that is not done. */
struct pending {
	int rank;
	uint64_t number;
	struct access *read, *written; /* NULL: nothing */
	struct pending *next;
};

static struct pending *table[PLACES];

static struct pending **place_of(int rank, uint64_t number)
{
	struct pending **at = &table[(number * 31 + (uint64_t)rank) % PLACES];

	while (*at && ((*at)->rank != rank || (*at)->number != number))
		at = &(*at)->next;
	return at;
}

static struct end end_of(int rank, uint32_t site)
{
	return (struct end){ clock_index_of_own(rank), clock_step_own(rank), site, replaying.event_ns };
}

static struct access *access_of(const struct trace_event *event, int rank, enum access_how how,
                                const struct trace_piece pieces[], uint32_t count)
{
	struct access access = { .rank = rank,
		                     .owner = rank,
		                     .how = how,
		                     .is_local = true,
		                     .strand = event->strand,
		                     .site = event->site,
		                     .ns = event->ns };

	return count ? access_new(access, pieces, count) : NULL;
}

/* Returns whether other ranks may access a piece by a window. */
static bool is_in_window(const struct access *access)
{
	for (const struct view *view = replaying.ranks[access->rank].views; view; view = view->next_of_rank) {
		if (view->is_dynamic)
			return true;
		for (uint32_t i = 0; i < access->piece_count; i++) {
			const struct trace_piece *piece = &access->pieces[i];

			if (piece->first < view->base + view->size_bytes && view->base < piece->first + piece->bytes)
				return true;
		}
	}
	return false;
}

static void begin_at_once(struct access *access)
{
	if (!access)
		return;
	if (!is_in_window(access)) {
		access_pass(access, clock_keep(access->rank));
		return;
	}
	access_begin(access, clock_keep(access->rank));
	access_end(access, end_of(access->rank, access->site));
}

static void begin(struct access *access)
{
	if (!access)
		return;
	access->kept++;
	access_begin(access, clock_keep(access->rank));
}

static void add(int rank, uint64_t number, struct access *read, struct access *written)
{
	struct pending *added = malloc(sizeof(*added)), **at = place_of(rank, number);

	if (!added)
		program_fail("out of memory");
	*added = (struct pending){ rank, number, read, written, *at };
	*at = added;
	begin(read);
	begin(written);
}

static void take_begin(const struct trace_event *event, int rank, const struct trace_piece pieces[])
{
	struct access *read, *written;

	pieces += event->of.target_pieces;
	read = access_of(event, rank, HOW_LOAD, pieces, event->of.read_pieces);
	written = access_of(event, rank, HOW_STORE, pieces + event->of.read_pieces, event->of.written_pieces);
	replaying.verdict->not_judged += !read && !written;
	if (event->of.request) {
		add(rank, event->of.request, read, written);
	} else {
		begin_at_once(read);
		begin_at_once(written);
	}
}

static void end(struct access *access, int rank, uint32_t site)
{
	if (access)
		access_end(access, end_of(rank, site));
	let_go(access);
}

static void take_done(const struct trace_event *event, int rank)
{
	struct pending **at = place_of(rank, event->id), *done = *at;

	if (!done)
		return;
	*at = done->next;
	end(done->read, rank, event->site);
	end(done->written, rank, event->site);
	free(done);
}

struct access *sent_access(int rank, uint64_t number)
{
	const struct pending *pending = number ? *place_of(rank, number) : NULL;

	return pending ? pending->read : NULL;
}

void end_sent_access(struct access *access, int receiver, uint32_t site)
{
	access_end(access, end_of(receiver, site));
}

void take_buffers(const struct trace_event *event, int rank, const struct trace_piece pieces[])
{
	if (event->kind == TRACE_BUFFERS)
		take_begin(event, rank, pieces);
	if (event->kind == TRACE_BUFFERS_DONE)
		take_done(event, rank);
}
