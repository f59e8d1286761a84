// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns_signal.h - the turn with a signal, made of a backend's steps
 *
 * DESIGN NOTES Included after turns.h. The steps:
 *
 *   put_signal(turn, to)   ordered behind earlier puts to that rank; does not wait
 *   await_signal(turn)     of the other rank
 */
#ifndef ORIEL_PERF_TURNS_SIGNAL_H
#define ORIEL_PERF_TURNS_SIGNAL_H

#include "backends/turns.h"

static inline int put_and_signal(const struct perf_turn *turn)
{
	int to = 1 - turn->rank;

	return put(turn, to, 0) || put_signal(turn, to);
}

static int signal_lat(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return put_and_signal(turn) || await_signal(turn);
	return await_signal(turn) || put_and_signal(turn);
}

#endif
