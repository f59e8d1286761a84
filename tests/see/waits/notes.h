/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notes.h - a rank's notes of its own calls, from which judge.py computes the true waits
 *
 * The file is notes.RANK in the folder that the program is given. Its first line is
 *
 *   rank RANK ranks RANKS property NAME causes CAUSE,... rounds ROUNDS delay_ns DELAY
 *
 * and each call adds the line
 *
 *   KIND NAME WINDOW BEGUN_NS ENDED_NS RANKS HINT
 *
 * Times are of CLOCK_MONOTONIC, taken right before and right after the call. RANKS are the ranks
 * that the call concerns, with commas, "*" for all, or "-". HINT is what the property knows of the call.
 */
#ifndef ORIEL_TESTS_WAITS_NOTES_H
#define ORIEL_TESTS_WAITS_NOTES_H

#include <stdint.h>

enum { NOTES_RANKS = 64, NOTES_ALL = -1 };

/* The ranks that a call concerns: count is NOTES_ALL for all of them. */
struct notes_ranks {
	int count;
	int rank[NOTES_RANKS];
};

void notes_open(const char *folder, int rank, const char *first_line);

uint64_t notes_now_ns(void);

/* Writes the line of a call that has just ended. Any thread may call it. */
void notes_call(const char *kind, const char *name, const char *window, uint64_t begun_ns,
                const struct notes_ranks *ranks);

/* The hint of this thread's calls from now on; NULL: none. */
void notes_hint(const char *hint);

void notes_close(void);

#endif
