/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linger.h - a pause before memory is deregistered, for a network that repeats packets
 *
 * rxe looks again at the memory of a READ that comes a second time, and breaks the connection if
 * that has been deregistered meanwhile. No rank's memory is before every rank has come to the call
 * that frees the window; where each pauses first, all that was doubled or sent again has come.
 * TESTS_LINGER_MS says how long; without it there is no pause.
 */
#ifndef ORIEL_TESTS_LINGER_H
#define ORIEL_TESTS_LINGER_H

#include <stdlib.h>
#include <time.h>

static inline void linger(void)
{
	const char *given = getenv("TESTS_LINGER_MS");
	long pause_ms = given ? strtol(given, NULL, 10) : 0;

	if (pause_ms > 0)
		nanosleep(&(struct timespec){ pause_ms / 1000, pause_ms % 1000 * 1000000 }, NULL);
}

#endif
