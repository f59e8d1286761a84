// SPDX-License-Identifier: BSD-2-Clause
/*
 * tell.h - messages of the library on standard error, if the user wants them (ORIEL_VERBOSE)
 *
 * Otherwise the library is silent, except for the watchdog's line. The setting is the process's:
 * each oriel_init reads it, and it is kept here.
 */
#ifndef ORIEL_TELL_H
#define ORIEL_TELL_H

#include <stdbool.h>

/* Reads ORIEL_VERBOSE. ERRORS: ORIEL_ERR_ARG. */
int tell_open(void);

/* Returns whether routes of single operations are wanted too (ORIEL_VERBOSE=2). */
bool tell_has_routes(void);

/* Prints one line, with "oriel: rank 3: " in front, if wanted. */
void tell(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints one line that concerns the process and no job, with "oriel: process 4711: " in front. */
void tell_of_process(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
