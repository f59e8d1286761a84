/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meet.h - a barrier of the job's ranks that no library sees, by a file that they map
 *
 * What a rank waits here is outside of the library, so that it is in no account of waits.
 */
#ifndef ORIEL_TESTS_WAITS_MEET_H
#define ORIEL_TESTS_WAITS_MEET_H

void meet_open(const char *folder, int ranks);
void meet(void);

#endif
