/* SPDX-License-Identifier: BSD-2-Clause */
/* accumulates.h - what multi_accumulate.c, multi_elements.c and multi_concurrent.c have in common */
#ifndef ORIEL_TESTS_ACCUMULATES_H
#define ORIEL_TESTS_ACCUMULATES_H

#include "multi.h"

/* Opens a zeroed window of allocated memory over the case's ranks. */
static inline void open_allocated(struct multi *m, struct multi_window *w, size_t size_bytes,
                                  const struct oriel_hint *hints)
{
	multi_window_open_as(m, w, size_bytes, hints, true);
}

/*
 * Returns how often: over a card, where each time is a request and cards are emulated, a hundredth.
 * Alike on all ranks.
 */
static inline int turns(int many)
{
	return multi_over_card() ? (many + 99) / 100 : many;
}

/* Adds the value to the element, and returns what it was. */
static inline int64_t fetch_add(struct multi *m, oriel_win *win, int64_t value, int rank, size_t disp)
{
	int64_t old = -1;

	CHECK_OK(m, oriel_fetch_and_op(win, &value, &old, ORIEL_INT64, ORIEL_SUM, rank, disp));
	CHECK_OK(m, oriel_win_flush(win, rank));
	return old;
}

#endif
