// SPDX-License-Identifier: BSD-2-Clause
/*
 * move_worth.h - whether it has paid to move some memory, by what moving took and how long it
 * stayed
 *
 * DESIGN NOTES
 *
 * A program that makes and frees windows on the same memory in a loop must not copy it twice each
 * time. So what moving took is set beside how long the memory then stayed: where that was less than
 * MOVE_PAYS times as long, the next time it is not moved, after the same again the next two times,
 * and so on up to MOVE_SKIPS_MAX. In a long loop of short windows a move is rare then, and one
 * whose windows begin to live longer is found out.
 *
 * Of the last MOVE_MEMOS pieces; what is not known is worth it. Not thread-safe: share_in_place.c
 * has the lock.
 */
#ifndef ORIEL_MOVE_WORTH_H
#define ORIEL_MOVE_WORTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own_pages.h"

#define MOVE_PAYS 10
#define MOVE_SKIPS_MAX 64
#define MOVE_MEMOS 64

/* Whether to move the pages now. */
bool move_is_worth(const struct page_range *pages);

/* They have been moved there and back, which took cost_ns of stay_ns from begin to end. */
void move_took(const struct page_range *pages, uint64_t cost_ns, uint64_t stay_ns);

#endif
