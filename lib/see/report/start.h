/* SPDX-License-Identifier: BSD-2-Clause */
/* start.h - runs a program with the front preloaded */
#ifndef ORIEL_SEE_START_H
#define ORIEL_SEE_START_H

#include <stdbool.h>

/*
 * Notes what is wanted of a job: the formats of a profile, and the file of a timeline. NULL: none.
 * Ends the program if there is no such format.
 */
void start_note(const char *formats, const char *timeline);

/* Executes the program. Ends this one with a message if it cannot. */
void start(char **program) __attribute__((noreturn));

/* Returns whether a format was noted, or, if none was, is one of FORMATS_DEFAULT. */
bool start_wants(const char *format);

/* Returns the file of the timeline, or NULL. */
const char *start_timeline(void);

#endif
