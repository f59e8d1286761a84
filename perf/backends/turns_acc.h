// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns_acc.h - turns of accumulates and atomics, made of a backend's steps
 *
 * DESIGN NOTES Included after turns.h and turns_lock.h. The steps:
 *
 *   accumulate(turn, to, at)   sum of elements, from `at` of the origin to `at` of this rank's zone
 *   fetch_and_add(turn, to)    words_of(turn)->operand to the word at word_disp(); needs a flush
 *   swap(turn, to)             compare_and_swap likewise
 */
#ifndef ORIEL_PERF_TURNS_ACC_H
#define ORIEL_PERF_TURNS_ACC_H

#include "backends/turns_lock.h"

static inline int accumulate_all(const struct perf_turn *turn)
{
	for (long i = 0; i < turn->operations; i++) {
		if (accumulate(turn, target_rank(turn), slot_at(turn, i)))
			return 1;
	}
	return 0;
}

static int acc_flush(const struct perf_turn *turn)
{
	return !is_target(turn) && (accumulate_all(turn) || flush_one(target_rank(turn)));
}

static int acc_lock(const struct perf_turn *turn)
{
	int to = target_rank(turn);

	return !is_target(turn) && (lock(turn, to) || accumulate_all(turn) || unlock(turn, to));
}

static int fop_flush(const struct perf_turn *turn)
{
	int to = target_rank(turn);

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		if (fetch_and_add(turn, to) || flush_one(to))
			return 1;
	}
	return 0;
}

static int fop_lock(const struct perf_turn *turn)
{
	int to = target_rank(turn);

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		if (lock(turn, to) || fetch_and_add(turn, to) || unlock(turn, to))
			return 1;
	}
	return 0;
}

static int cas_flush(const struct perf_turn *turn)
{
	int to = target_rank(turn);

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		if (swap(turn, to) || flush_one(to))
			return 1;
		expect_next(words_of(turn));
	}
	return 0;
}

static int cas_lock(const struct perf_turn *turn)
{
	int to = target_rank(turn);

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		if (lock(turn, to) || swap(turn, to) || unlock(turn, to))
			return 1;
		expect_next(words_of(turn));
	}
	return 0;
}

static perf_turn_fn turn_of_accumulates(enum perf_pattern pattern, enum perf_sync sync)
{
	if (sync != SYNC_FLUSH && sync != SYNC_LOCK && sync != SYNC_LOCK_ALL)
		return NULL;
	switch (pattern) {
	case PATTERN_ACC:
	case PATTERN_ACC_BW:
		return sync == SYNC_LOCK ? acc_lock : acc_flush;
	case PATTERN_FOP:
		return sync == SYNC_LOCK ? fop_lock : fop_flush;
	case PATTERN_CAS:
		return sync == SYNC_LOCK ? cas_lock : cas_flush;
	default:
		return NULL;
	}
}

#endif
