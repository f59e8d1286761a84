// SPDX-License-Identifier: BSD-2-Clause
/*
 * tell.h - what the library tells on standard error, where a user has asked for it (ORIEL_VERBOSE)
 *
 * The library is silent otherwise, but for the watchdog's line. The wish is the process's, so it is
 * read by each oriel_init and kept here.
 */
#ifndef ORIEL_TELL_H
#define ORIEL_TELL_H

/* Read ORIEL_VERBOSE. ERRORS: ORIEL_ERR_ARG. */
int tell_open(void);

/* One line, "oriel: rank 3: " in front, if it is wanted. */
void tell(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, of what is the process's and no job's: "oriel: process 4711: ". */
void tell_of_process(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
