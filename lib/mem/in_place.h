// SPDX-License-Identifier: BSD-2-Clause
/*
 * in_place.h - moves window memory of the program in place to where peers can map it, on request
 *
 * DESIGN NOTES
 *
 * share_in_place.h cannot know what this job has registered: a card keeps using the pages that it
 * has pinned, and a peer's access by system call could collide with the move. So memory with a
 * registered part stays where it is, unless it was moved before. Of regions of dynamic windows only
 * the number is known. That suffices: few programs attach memory while they create windows of other
 * memory.
 *
 * Threads that register or move the same bytes do so one after the other (mem_table.places): memory
 * registered first stays for all of them, memory moved first is moved for all.
 */
#ifndef ORIEL_IN_PLACE_H
#define ORIEL_IN_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct oriel_job;

/* A window's wish: from its hint, or else from ORIEL_SHARE. */
enum in_place_wish { IN_PLACE_NEVER, IN_PLACE_IF_WORTH, IN_PLACE_ALWAYS };

/*
 * Returns whether the memory has been moved; the caller then holds it. If not, nothing has changed,
 * and ORIEL_VERBOSE reports the reason.
 */
bool in_place_move(struct oriel_job *job, enum in_place_wish wish, void *base, size_t size_bytes);

#endif
