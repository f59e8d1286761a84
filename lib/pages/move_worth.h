// SPDX-License-Identifier: BSD-2-Clause
/*
 * move_worth.h - whether moving some memory has paid, by its cost and by how long the memory stayed
 *
 * DESIGN NOTES
 *
 * A program that makes and frees windows on the same memory in a loop must not copy it twice each
 * time. So the cost of a move is compared with how long the memory then stayed. If that was less
 * than MOVE_PAYS times as long, the next move is skipped, after another short stay the next two,
 * and so on up to MOVE_SKIPS_MAX. A long loop of short windows then moves rarely, and one whose
 * windows begin to live longer is noticed.
 *
 * The last MOVE_MEMOS pieces are remembered; unknown memory is worth a move. Not thread-safe:
 * share_in_place.c has the lock.
 */
#ifndef ORIEL_MOVE_WORTH_H
#define ORIEL_MOVE_WORTH_H

#include <stdbool.h>
#include <stdint.h>

#include "pages/own_pages.h"

#define MOVE_PAYS 10
#define MOVE_SKIPS_MAX 64
#define MOVE_MEMOS 64

/* Returns whether to move the pages now; a no uses up one skip. */
bool move_is_worth(const struct page_range *pages);

/*
 * Notes that the pages were moved there and back, which took cost_ns of stay_ns from begin to end.
 */
void move_took(const struct page_range *pages, uint64_t cost_ns, uint64_t stay_ns);

#endif
