// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns_lock.h - turns with lock and unlock, made of a backend's steps
 *
 * DESIGN NOTES Included after turns.h. The steps:
 *
 *   lock(turn, to)     of type turn->lock
 *   unlock(turn, to)
 */
#ifndef ORIEL_PERF_TURNS_LOCK_H
#define ORIEL_PERF_TURNS_LOCK_H

#include "backends/turns.h"

static inline int lock_partners(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (lock(turn, rank))
			return 1;
	}
	return 0;
}

static inline int unlock_partners(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (unlock(turn, rank))
			return 1;
	}
	return 0;
}

static inline int put_marked_locked(const struct perf_turn *turn)
{
	int to = 1 - turn->rank;

	turn->origin[turn->size_bytes - 1] = turn->mark;
	return lock(turn, to) || put(turn, to, 0) || unlock(turn, to);
}

static int put_lat_lock(const struct perf_turn *turn)
{
	if (turn->rank == 0 && put_marked_locked(turn))
		return 1;
	for (long spins = 0; !mark_is_there(turn); spins++)
		look(spins);
	return turn->rank == 1 && put_marked_locked(turn);
}

static int get_lat_lock(const struct perf_turn *turn)
{
	return turn->rank == 0 && (lock_partners(turn) || with_each(turn, true) || unlock_partners(turn));
}

static int put_bw_lock(const struct perf_turn *turn)
{
	return turn->rank == 0 && (lock_partners(turn) || batch(turn, false) || unlock_partners(turn));
}

static int get_bw_lock(const struct perf_turn *turn)
{
	return turn->rank == 0 && (lock_partners(turn) || batch(turn, true) || unlock_partners(turn));
}

static int bibw_lock(const struct perf_turn *turn)
{
	return lock_partners(turn) || batch(turn, false) || unlock_partners(turn);
}

static int lock_alone(const struct perf_turn *turn)
{
	int to = target_rank(turn);

	if (is_target(turn))
		return 0;
	return lock(turn, to) || (turn->size_bytes > 0 && put(turn, to, 0)) || unlock(turn, to);
}

static perf_turn_fn turn_of_locks(enum perf_pattern pattern)
{
	switch (pattern) {
	case PATTERN_PUT_LAT:
		return put_lat_lock;
	case PATTERN_GET_LAT:
		return get_lat_lock;
	case PATTERN_PUT_BW:
		return put_bw_lock;
	case PATTERN_GET_BW:
		return get_bw_lock;
	case PATTERN_PUT_BIBW:
		return bibw_lock;
	case PATTERN_LOCK:
		return lock_alone;
	default:
		return NULL;
	}
}

#endif
