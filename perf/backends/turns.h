// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns.h - the turns of backend.h, made of a backend's steps
 *
 * DESIGN NOTES A backend includes this after its steps, which are static functions: the compiler
 * inlines them, and no turn pays for an indirect call. Bare verbs (raw.c) have turns of their own,
 * because they send data and flag in one list.
 *
 * Each step returns 0, or 1 after printing an error. The hub's partners are its neighbours; a
 * neighbour's partner is the hub.
 *
 *   put(turn, to, at)            from `at` of the origin, to `at` of this rank's zone there
 *   get(turn, from, here, at)    to `here`, from `at` of the first zone there
 *   start(turn), complete(turn)  an access epoch with the partners
 *   post(turn), await(turn)      an exposure epoch to them
 *   fence()                      of all ranks
 *   flush_one(to), flush_all()
 *   look(spins)                  after a failed poll, which `spins` others preceded; returns void
 */
#ifndef ORIEL_PERF_TURNS_H
#define ORIEL_PERF_TURNS_H

#include "bench/backend.h"

static inline int with_each(const struct perf_turn *turn, bool gets)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (gets ? get(turn, rank, get_origin(turn, rank), 0) : put(turn, rank, 0))
			return 1;
	}
	return 0;
}

static inline int batch(const struct perf_turn *turn, bool gets)
{
	for (long i = 0; i < turn->operations; i++) {
		size_t at = slot_at(turn, i);

		for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
			if (gets ? get(turn, rank, turn->origin + at, at) : put(turn, rank, at))
				return 1;
		}
	}
	return 0;
}

/* Latencies: an epoch there and an epoch back. */

static inline int expose(const struct perf_turn *turn)
{
	return post(turn) || await(turn);
}

static inline int lat_pscw(const struct perf_turn *turn, bool gets)
{
	if (turn->rank != 0 && expose(turn))
		return 1;
	if (start(turn) || with_each(turn, gets) || complete(turn))
		return 1;
	return turn->rank == 0 && expose(turn);
}

static int put_lat_pscw(const struct perf_turn *turn)
{
	return lat_pscw(turn, false);
}

static int get_lat_pscw(const struct perf_turn *turn)
{
	return lat_pscw(turn, true);
}

static inline int lat_fence(const struct perf_turn *turn, bool gets)
{
	if (turn->rank == 0 && with_each(turn, gets))
		return 1;
	if (fence())
		return 1;
	return (turn->rank != 0 && with_each(turn, gets)) || fence();
}

static int put_lat_fence(const struct perf_turn *turn)
{
	return lat_fence(turn, false);
}

static int get_lat_fence(const struct perf_turn *turn)
{
	return lat_fence(turn, true);
}

static inline int put_marked(const struct perf_turn *turn)
{
	turn->origin[turn->size_bytes - 1] = turn->mark;
	return put(turn, 1 - turn->rank, 0) || flush_one(1 - turn->rank);
}

static int put_lat_flush(const struct perf_turn *turn)
{
	if (turn->rank == 0 && put_marked(turn))
		return 1;
	for (long spins = 0; !mark_is_there(turn); spins++)
		look(spins);
	return turn->rank == 1 && put_marked(turn);
}

static int get_lat_flush(const struct perf_turn *turn)
{
	return turn->rank == 0 && (with_each(turn, true) || flush_all());
}

/* Bandwidths. */

static inline int bw_pscw(const struct perf_turn *turn, bool gets)
{
	if (turn->rank != 0)
		return expose(turn);
	return start(turn) || batch(turn, gets) || complete(turn);
}

static int put_bw_pscw(const struct perf_turn *turn)
{
	return bw_pscw(turn, false);
}

static int get_bw_pscw(const struct perf_turn *turn)
{
	return bw_pscw(turn, true);
}

static int put_bw_fence(const struct perf_turn *turn)
{
	return (turn->rank == 0 && batch(turn, false)) || fence();
}

static int get_bw_fence(const struct perf_turn *turn)
{
	return (turn->rank == 0 && batch(turn, true)) || fence();
}

static int put_bw_flush(const struct perf_turn *turn)
{
	return turn->rank == 0 && (batch(turn, false) || flush_all());
}

static int get_bw_flush(const struct perf_turn *turn)
{
	return turn->rank == 0 && (batch(turn, true) || flush_all());
}

static int bibw_pscw(const struct perf_turn *turn)
{
	return post(turn) || start(turn) || batch(turn, false) || complete(turn) || await(turn);
}

static int bibw_fence(const struct perf_turn *turn)
{
	return batch(turn, false) || fence();
}

static int bibw_flush(const struct perf_turn *turn)
{
	return batch(turn, false) || flush_all();
}

/* Single epochs. */

static int epoch_late(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return expose(turn);
	return start(turn) || put(turn, 0, 0) || complete(turn);
}

static int fence_alone(const struct perf_turn *turn)
{
	if (turn->rank == 0 && turn->size_bytes > 0 && put(turn, 1, 0))
		return 1;
	return fence();
}

static int flush_alone(const struct perf_turn *turn)
{
	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		if (flush_one(target_rank(turn)))
			return 1;
	}
	return 0;
}

/* Returns a pattern's turn, except PATTERN_EXCHANGE and those of turns_*.h. */
static perf_turn_fn turn_of_steps(enum perf_pattern pattern, enum perf_sync sync)
{
	static const perf_turn_fn turns[][3] = {
		[PATTERN_PUT_LAT] = { put_lat_pscw, put_lat_fence, put_lat_flush },
		[PATTERN_GET_LAT] = { get_lat_pscw, get_lat_fence, get_lat_flush },
		[PATTERN_PUT_BW] = { put_bw_pscw, put_bw_fence, put_bw_flush },
		[PATTERN_GET_BW] = { get_bw_pscw, get_bw_fence, get_bw_flush },
		[PATTERN_PUT_BIBW] = { bibw_pscw, bibw_fence, bibw_flush },
		[PATTERN_EPOCH_LATE] = { epoch_late, NULL, NULL },
		[PATTERN_EXCHANGE] = { NULL, NULL, NULL },
		[PATTERN_FENCE] = { NULL, fence_alone, NULL },
		[PATTERN_FLUSH] = { NULL, NULL, flush_alone },
		[PATTERN_SIGNAL] = { NULL, NULL, NULL },
	};

	if (sync == SYNC_LOCK)
		return NULL;
	return turns[pattern][sync == SYNC_LOCK_ALL ? SYNC_FLUSH : sync];
}

#endif
