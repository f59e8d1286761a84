// SPDX-License-Identifier: BSD-2-Clause
/*
 * in_place.h - window memory of the program, moved in place to where peers can map it, on request
 *
 * DESIGN NOTES
 *
 * What share_in_place.h cannot know is what this job has registered already: a network card goes on
 * using the pages that it has pinned, and a peer on its way into the memory by system call could
 * meet the move. So memory of which some is registered stays where it is, unless it has been moved
 * before. Of regions of dynamic windows only their number is known, which is enough: programs that
 * attach memory and create windows of other memory meanwhile are few.
 *
 * Threads that register or move the same bytes at once do so one after the other (mem_table.places):
 * what is registered first stays, for all of them, and what is moved first is moved for all.
 */
#ifndef ORIEL_IN_PLACE_H
#define ORIEL_IN_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct oriel_job;

/* What a window wishes: by its hint, or without one by ORIEL_SHARE. */
enum in_place_wish { IN_PLACE_NEVER, IN_PLACE_IF_WORTH, IN_PLACE_ALWAYS };

/*
 * Whether the memory has been moved, and is held by the caller. Where it is not, ORIEL_VERBOSE tells
 * why; nothing has changed.
 */
bool in_place_move(struct oriel_job *job, enum in_place_wish wish, void *base, size_t size_bytes);

#endif
